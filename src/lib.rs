//! Lancet, a UCI chess engine.
//!
//! *A lancet is a window: tall, narrow, ending in a point. So is this engine's
//! search.* The folders are the layers, and each imports only from those above it
//! in this list:
//!
//! ```text
//! system   files, memory, random numbers, standard streams: no chess
//! chess    scores, positions, notation, static exchange evaluation
//! eval     material and piece-square tables, the network, winning chances
//! play     what a search is asked and tells; clock, book, endgame tables, strength
//! search   table, histories, move order, pruning, the tree, the root
//! engine   owns table, threads and network; runs one search at a time
//! train    self-play, files of games, the trainer
//! tools    bench, perft, EPD, analysis: command-line runners over the engine
//! lab      the algorithms of alpha-beta's family side by side; never `search`
//! uci      bytes to commands, information to lines
//! ```

pub mod chess;
pub mod engine;
pub mod eval;
pub mod lab;
pub mod play;
pub mod search;
mod system;
#[cfg(test)]
#[path = "../tests/suite/common/data.rs"]
mod test_data;
pub mod tools;
pub mod train;
pub mod uci;
