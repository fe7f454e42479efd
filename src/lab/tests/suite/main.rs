//! The tests of the program `lancet-lab` and of its library's public interface.

mod common;

mod lab;

/// The built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lancet-lab");
/// The root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
