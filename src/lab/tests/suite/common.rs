//! The parts that these tests share with those of the engine.
#![allow(dead_code, reason = "the engine's tests use the rest")]

#[path = "../../../../tests/suite/common/chess.rs"]
pub mod chess;
#[path = "../../../../tests/suite/common/pages.rs"]
pub mod pages;
#[path = "../../../../tests/suite/common/program.rs"]
pub mod program;
