//! Tests of the built program and of the library's public interface. All are modules of one
//! program; `cargo test --test suite uci::` runs those of one module.

mod common;

/// The path of the built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lancet");
/// The root of the repository.
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
