//! Which build this is, as the package's `build.rs` found it.

#[cfg(target_arch = "x86_64")]
use super::processor::Features;

/// Version, commit, and what it is compiled for, in a few words.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("LANCET_COMMIT"),
    ", ",
    env!("LANCET_LEVEL"),
    ")"
);

/// The rest: for each line what it is about, and what there is to say.
#[must_use]
pub fn details() -> [(&'static str, String); 6] {
    let features = if cfg!(feature = "tune") { "tune" } else { "none" };
    let checks = if cfg!(debug_assertions) { "with" } else { "without" };
    [
        ("Compiler", env!("LANCET_RUSTC").to_owned()),
        ("Target", env!("LANCET_TARGET").to_owned()),
        ("Profile", format!("optimisation {}, {checks} assertions", env!("LANCET_OPT_LEVEL"))),
        ("Features", features.to_owned()),
        ("Compiled for", with_more(env!("LANCET_LEVEL"), env!("LANCET_INSTRUCTIONS"))),
        ("Runs on", processor()),
    ]
}

fn with_more(level: &str, instructions: &str) -> String {
    if instructions.is_empty() { level.to_owned() } else { format!("{level} with {instructions}") }
}

/// The processor at hand.
#[cfg(target_arch = "x86_64")]
fn processor() -> String {
    let here = Features::of_this_processor();
    let level = here.level();
    let more: Vec<_> = here.above(level).iter().map(|feature| feature.name).collect();
    with_more(&format!("x86-64-v{level}"), &more.join(" "))
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> String {
    std::env::consts::ARCH.to_owned()
}
