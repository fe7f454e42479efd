//! Lancet, a UCI chess engine.
//!
//! *A lancet is a tall, narrow window. The name refers to the narrow windows of alpha-beta search.*
//!
//! The program `lancet` is a thin layer over this library. This example searches a position for its
//! best move:
//!
//! ```
//! use lancet::{Engine, Job, Limits, Position, Settings, Silent, engine::threads};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut engine = Engine::new(Settings::default())?;
//! let fen = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
//! let position = Position::from_fen(fen)?;
//! let limits = Limits { nodes: Some(10_000), ..Limits::default() };
//! let job = Job::new(position.into(), limits);
//! let outcome = threads::run("search", || engine.go(&job, &Silent))?;
//! assert_eq!(outcome.best.unwrap().to_string(), "Ra1-a8");
//! assert_eq!(lancet::chess::score::mate_distance(outcome.info.score), Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to start reading
//!
//! 1. [`chess::score`]: scores, and why a node shifts its window before it searches. The rest of
//!    the search depends on this idea.
//! 2. [`search::tt`]: the transposition table. Its entries have a lower and an upper bound.
//! 3. [`search::prune`]: the pruning rules, as pure functions of a node's properties.
//! 4. `search/interior.rs`: one node of the tree, as numbered steps.
//! 5. [`search::root`]: iterative deepening and aspiration windows.
//! 6. [`engine`]: the owner of the table and the threads.
//!
//! Two other programs use this library. `lancet-lab`, in `src/lab`, runs the algorithms of the
//! alpha-beta family side by side. `lancet-train`, in `src/train`, trains networks.
//!
//! # The layers
//!
//! Each of these folders is a layer. A layer imports only from the layers above it in this list.
//!
//! ```text
//! system   files, memory, a hash, standard streams, command lines, build and processor; no chess
//! chess    scores, positions, legal moves, notation, EPD, PGN, static exchange evaluation
//! eval     material and piece-square tables, the network, mates against a bare king, WDL model
//! play     search limits and reports, time management, opening books, tablebases, limited strength
//! search   transposition table, histories, move ordering, pruning, the tree, the root
//! engine   owns table, threads and network; runs one search at a time
//! tools    commands that use the engine: bench, perft, EPD, analysis, study, explain and others
//! uci      parses commands, prints information
//! ```

pub mod chess;
pub mod engine;
pub mod eval;
pub mod play;
pub mod search;
// Public only for the programs and the tests.
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
