//! Helpers that these tests share with those of the engine.
#![allow(dead_code, reason = "the engine's tests use the rest")]

#[path = "../../../../tests/suite/common/chess.rs"]
pub mod chess;
#[path = "../../../../tests/suite/common/data.rs"]
pub mod data;
#[path = "../../../../tests/suite/common/desk.rs"]
pub mod desk;
#[path = "../../../../tests/suite/common/feed.rs"]
pub mod feed;
#[path = "../../../../tests/suite/common/mutate.rs"]
pub mod mutate;
#[path = "../../../../tests/suite/common/pages.rs"]
pub mod pages;
#[path = "../../../../tests/suite/common/program.rs"]
pub mod program;
#[path = "../../../../tests/suite/common/shell.rs"]
pub mod shell;
#[path = "../../../../tests/suite/common/tables.rs"]
pub mod tables;
