//! Tests of the program `lancet-train` and of the public interface of its library.

mod common;

mod command_line;
mod hostile_files;
mod learn;
mod parsers;
mod resources;
mod targets;
mod train;

/// Path of the built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lancet-train");
/// Root directory of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
