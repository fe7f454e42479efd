//! Tunable constants, one line each. In a normal build they are constants; in a build
//! with the feature `tune` they are UCI options, so that a tuner can set them. Which
//! there are stands with those that they are for.
//!
//! `name: default, min..=max, step`. The step is the perturbation at the end
//! of an SPSA run, about a twentieth of the range; 0 for switches and depth limits, which
//! no tuner moves.

use std::sync::atomic::AtomicI32;

/// One tunable, for listing.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name, also that of the UCI option.
    pub name: &'static str,
    /// Its value in a normal build.
    pub default: i32,
    /// The smallest sensible value.
    pub min: i32,
    /// The largest sensible value.
    pub max: i32,
    /// SPSA's final step; 0 if it is not for a tuner.
    pub step: i32,
    /// Its value now, in builds with the feature `tune`.
    pub value: &'static AtomicI32,
}

/// Defines a function for each tunable, and `ALL` that lists them.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident: $default:literal, $min:literal..=$max:literal, $step:literal;)*) => {
        /// Every tunable.
        pub const ALL: &[$crate::system::tune::Param] = &[$($crate::system::tune::Param {
            name: stringify!($name),
            default: $default,
            min: $min,
            max: $max,
            step: $step,
            value: &values::$name,
        }),*];

        mod values {
            use std::sync::atomic::AtomicI32;
            $(#[allow(non_upper_case_globals)]
            pub static $name: AtomicI32 = AtomicI32::new($default);)*
        }

        $($(#[$doc])*
        #[inline(always)]
        pub fn $name() -> i32 {
            if cfg!(feature = "tune") {
                values::$name.load(std::sync::atomic::Ordering::Relaxed)
            } else {
                $default
            }
        })*
    };
}

pub(crate) use params;
