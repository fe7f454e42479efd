//! The target that has this program's name.
#![no_main]

#[path = "../suite/common/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = targets::ALL.iter().find(|(name, _)| *name == env!("CARGO_BIN_NAME"));
    target.expect("every program is named after a target").1(bytes);
});
