//! Lancet, a UCI chess engine.
//!
//! *A lancet is a window: tall, narrow, ending in a point. So is this engine's
//! search.* Imports go one way:
//!
//! ```text
//! score, position <- see, eval, tt, history, clock, report, book, notation, wdl
//!                 <- syzygy, picker, strength <- search <- engine
//!                 <- train <- tools <- lab, uci <- main
//! ```
//!
//! `files`, `memory`, `pages` and `stdio` are what all of them need of the system, `random`
//! of mathematics.

pub mod book;
pub mod clock;
pub mod engine;
pub mod eval;
mod files;
pub mod history;
pub mod lab;
mod memory;
pub mod notation;
mod pages;
pub mod picker;
pub mod position;
mod random;
pub mod report;
pub mod score;
pub mod search;
pub mod see;
mod stdio;
pub mod strength;
pub mod syzygy;
#[cfg(test)]
#[path = "../tests/common/data.rs"]
mod test_data;
pub mod tools;
pub mod train;
pub mod tt;
pub mod uci;
pub mod wdl;
