//! Information about this build, as collected by `build.rs`.

/// Version, commit and processor level of this build.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("LANCET_COMMIT"),
    ", ",
    env!("LANCET_LEVEL"),
    ")"
);

/// Returns further information about the build and the processor that it runs on, as pairs of a
/// title and a text.
pub fn details() -> [(&'static str, String); 6] {
    let features = if cfg!(feature = "tune") { "tune" } else { "none" };
    let level = env!("LANCET_LEVEL");
    let compiled_for = match env!("LANCET_INSTRUCTIONS") {
        "" => level.to_owned(),
        instructions => format!("{level} with {instructions}"),
    };
    let checks = if cfg!(debug_assertions) { "with" } else { "without" };
    [
        ("Compiler", env!("LANCET_RUSTC").to_owned()),
        ("Target", env!("LANCET_TARGET").to_owned()),
        ("Profile", format!("optimisation {}, {checks} assertions", env!("LANCET_OPT_LEVEL"))),
        ("Features", features.to_owned()),
        ("Compiled for", compiled_for),
        ("Runs on", processor()),
    ]
}

/// Returns the x86-64 level of this processor (System V ABI, AMD64 supplement, section 3.1.1).
#[cfg(target_arch = "x86_64")]
fn processor() -> String {
    macro_rules! has {
        ($($name:tt)*) => { [$(is_x86_feature_detected!($name)),*].iter().all(|&here| here) };
    }
    let levels = [
        has!("cmpxchg16b" "popcnt" "sse3" "sse4.1" "sse4.2" "ssse3"),
        has!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "xsave"),
        has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"),
    ];
    format!("x86-64-v{}", 1 + levels.into_iter().take_while(|&has| has).count())
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> String {
    std::env::consts::ARCH.to_owned()
}
