//! The tests of the program `lancet-lab` and of its library's public face.

mod common;

mod lab;

/// The built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lancet-lab");
/// Where the sources of all packages are.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
