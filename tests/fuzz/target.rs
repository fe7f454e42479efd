//! Fuzzes the target that has the same name as this program.
#![no_main]

#[path = "../suite/common/targets.rs"]
mod targets;

#[path = "../../src/train/tests/suite/targets.rs"]
mod games;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut all = targets::ALL.iter().chain(&games::ALL);
    let target = all.find(|(name, _)| *name == env!("CARGO_BIN_NAME"));
    target.expect("each program has the name of a target").1(bytes);
});
