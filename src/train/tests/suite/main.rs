//! The tests of the program `lancet-train` and of its library's public face.

mod common;

mod command_line;
mod hostile_files;
mod learn;
mod parsers;
mod resources;
mod targets;
mod train;

/// The built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lancet-train");
/// Where the sources of all packages are.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
