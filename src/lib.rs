//! Lancet, a UCI chess engine.
//!
//! *A lancet is a window: tall, narrow, ending in a point. So is this engine's
//! search.* The program `lancet` is a few lines over this library. A position in, the
//! best move out:
//!
//! ```
//! use lancet::{Engine, Job, Limits, Position, Settings, Silent, engine::threads};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut engine = Engine::new(Settings::default())?;
//! let fen = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
//! let position = Position::from_fen(fen, shakmaty::CastlingMode::Standard)?;
//! let limits = Limits { nodes: Some(10_000), ..Limits::default() };
//! let job = Job::new(position.into(), limits);
//! let outcome = threads::run("search", || engine.go(&job, &Silent))?;
//! assert_eq!(outcome.best.unwrap().to_string(), "Ra1-a8");
//! assert_eq!(lancet::chess::score::mate_distance(outcome.info.score), Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to begin reading
//!
//! 1. [`chess::score`]: what a score is, and why a node shifts its window before it
//!    searches. The idea that the rest hangs on.
//! 2. [`search::tt`]: the table, whose entries hold a lower and an upper bound.
//! 3. [`search::prune`]: what is left out, as pure functions of a node's facts.
//! 4. `search/interior.rs`: one node of the tree, as numbered steps.
//! 5. [`search::root`]: iterative deepening and aspiration windows.
//! 6. [`engine`]: what owns the table and the threads.
//!
//! Two programs beside the engine use this library: `lancet-lab`, in `src/lab`, runs every
//! algorithm of alpha-beta's family side by side, and `lancet-train`, in `src/train`, makes
//! networks.
//!
//! # The layers
//!
//! The folders are the layers, and imports go one way: each uses those above it, in this
//! list, and none below.
//!
//! ```text
//! system   files, memory, random numbers, streams, command lines: no chess
//! chess    scores, positions, legal moves, notation, EPD, PGN, static exchange evaluation
//! eval     material and piece-square tables, the network, winning chances
//! play     what a search is asked and tells; clock, books, endgame tables, strength
//! search   table, histories, move order, pruning, the tree, the root
//! engine   owns table, threads and network; runs one search at a time
//! tools    bench, perft, EPD, analysis: command-line runners over the engine
//! uci      bytes to commands, information to lines
//! ```

pub mod chess;
pub mod engine;
pub mod eval;
pub mod play;
pub mod search;
// Public for the programs and the tests alone.
#[doc(hidden)]
pub mod system;
#[doc(hidden)]
pub mod tools;
#[doc(hidden)]
pub mod uci;

pub use chess::{
    position::{Game, Position},
    score::{Bounds, Score, Window},
};
pub use engine::{Engine, Job, Settings};
pub use eval::nnue::Network;
pub use play::{
    limits::{Clock, Limits},
    report::{Bound, Info, Outcome, Reporter, Silent},
    signals::Signals,
};
pub use search::tt::{Entry, Table};
pub use system::version::VERSION;
