//! Tunable constants. In a normal build they are constants. In a build with the feature `tune` they
//! are UCI options, so that a tuner can set them. A layer with such constants lists them in its
//! `params.rs`, one per line:
//!
//! `name: default, min..=max, step`. The step is the perturbation at the end of an SPSA run,
//! usually a twelfth to a fiftieth of the range. It is 0 for switches and depth limits, which
//! tuners do not change.

use std::sync::atomic::AtomicI32;

/// A tunable constant, for listing.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Name of the constant and of its UCI option.
    pub name: &'static str,
    /// The value in a normal build.
    pub default: i32,
    /// The smallest sensible value.
    pub min: i32,
    /// The largest sensible value.
    pub max: i32,
    /// The final step of SPSA; 0 if tuners do not change the constant.
    pub step: i32,
    /// The current value, in builds with the feature `tune`.
    pub value: &'static AtomicI32,
}

/// Defines a function for each tunable constant, and the list `ALL` of all of them.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident: $default:literal, $min:literal..=$max:literal, $step:literal;)*) => {
        /// All tunable constants.
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
