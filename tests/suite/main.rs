//! The tests of what users meet: the built program and the library's public face.
//! One program of modules; `cargo test --test suite uci::` runs those of one module.

mod common;

/// The built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lancet");
/// Where the sources are.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

mod analyse;
mod book;
mod dialogues;
mod docs;
mod doctor;
mod epd;
mod explain;
mod hostile_files;
mod house;
mod parsers;
mod perft;
mod resources;
mod rules;
mod search;
mod session;
mod strength;
mod study;
mod syzygy;
mod uci;
