//! The lab: every algorithm of the source documents, side by side.
//!
//! `lancet lab [FILE.epd]` runs all of them on the same positions, with the
//! same evaluation and the same move ordering, demands that they return the
//! same scores, and shows what each one cost. `lancet lab explain NAME` says
//! what an algorithm does and works through it on a small tree. A game is
//! anything that implements [`Game`](game::Game): chess, an explicit tree,
//! tic-tac-toe.
//!
//! The searches here import `score`, `position` and evaluations, and have a
//! table of their own; the command around them reads files as the other tools
//! do. The lab never uses the playing search: the two may check each other.
//!
//! # Where everything is
//!
//! A search is put together from independent choices. [`Search::node`] is the
//! frame around every node: table, end of the game, shift, order, count. The
//! interiors are the loops inside that frame, the root drivers the loops
//! outside, and neither knows the other.
//!
//! | row | what | source | where |
//! | --- | --- | --- | --- |
//! | minimax | the reference, no pruning | seeds/003 | [`interior.rs`](interior), `minimax` |
//! | stop-at-win | minimax that stops at a won move | seeds/003 | [`interior.rs`](interior), `minimax` with `enough` |
//! | fail-hard | alpha-beta | seeds/000, 001, 003 | [`interior.rs`](interior), `fail_hard` |
//! | fail-soft | alpha-beta that returns the best found | seeds/000, 001 | [`interior.rs`](interior), `fail_soft` |
//! | bounds | alpha-beta that returns (low, up) | seeds/002 | [`interior.rs`](interior), `bounds` |
//! | scout | maximin form, null-window test and re-search | seeds/002 | [`interior.rs`](interior), `scout_max`, `scout_min` |
//! | pvs | negamax form, fail-soft (NegaScout) | seeds/000, 001 | [`interior.rs`](interior), `pvs` |
//! | full | one search with the full window | seeds/000, 001 | [`root.rs`](root), [`Root::drive`] |
//! | asp-* | aspiration: full or gradual widening, centred or off-centre | seeds/000, 001 | [`root.rs`](root), `aspiration` |
//! | bisection | binary search with null windows | seeds/000, 001 | [`root.rs`](root), `bisection` |
//! | mtdf | MTD(f) between two bounds | seeds/002 | [`root.rs`](root), `mtdf` |
//! | mtdf-loop | MTD(f) as one loop, and what goes wrong with it | seeds/000, 001 | [`root.rs`](root), `mtdf_loop` |
//! | table | off, exact depth, deeper allowed | seeds/002 | [`table.rs`](table), [`Table::probe`] |
//! | replacement | deepest, largest subtree, newest, two-level | seeds/002 | [`table.rs`](table), [`Table::store`] |
//! | size | entries, whatever the policy | seeds/002 | [`table.rs`](table), [`Table::new`] |
//! | delay | none, mates, loss against CurEval, 31/32 | seeds/004 | [`delay.rs`](delay), [`Shift`], and [`Delay`](crate::chess::score::Delay) |
//! | any monotone function | its inverse on the window | seeds/004 | [`delay.rs`](delay), [`inverse`] |
//! | ordering | none, captures, the table's move first | | [`node.rs`](node), `Search::order` |
//! | deepening | on, or every depth from nothing | | [`run.rs`](mod@run), [`Conditions`](run::Conditions) |
//! | replayed tree | the same search, all best moves known | | [`run.rs`](mod@run), [`replay`] |
//! | Knuth-Moore bound | the least tree for measured branching | | [`yardstick.rs`](yardstick), [`knuth_moore`] |
//! | 40/30/50, TIE | worked examples | seeds/003 | [`topics.rs`](topics), on trees of [`tree.rs`](tree) |
//! | tic-tac-toe | a whole game; a tie treated as a win | seeds/003 | [`tictactoe.rs`](tictactoe), [`TicTacToe`](tictactoe::TicTacToe) |
//! | chess | leaves static, quiescence or a network's | | [`chess.rs`](chess), [`Board`](chess::Board) |
//!
//! The sources:
//!
//! - seeds/000 and 001: D. Eppstein, *Variants of Alpha-Beta Search*, ICS 180, Winter 1999
//! - seeds/002: lecture notes on Scout, transposition tables, alpha-beta with bounds, and MTD-f
//! - seeds/003: assignment notes, *Alpha-beta search*
//! - seeds/004: H. G. Muller's post on adjusting scores that a search returns
//!
//! # What the sources' listings get wrong
//!
//! Found by running them; each is a unit test or a worked example.
//!
//! - `score >= alpha` (000, 001) lets a move that failed low, with a bound equal
//!   to the best score, displace the move that has the score: `explain fail-hard`.
//! - PVS (000, 001) never raises alpha by the first move's score.
//! - Bisection (000, 001) stops while two scores are left.
//! - MTD(f) as a loop (000, 001) takes an upper bound for the score, and can run
//!   in circles with a table that takes deeper entries: `explain mtdf-loop`.
//! - Scout (002) gives its first move to alpha-beta with the whole window; its
//!   own remark, "already null window", does not hold there. It is kept as
//!   written; [`Interior::Pvs`] is the other reading.
//!
//! # What is kept out
//!
//! Repetition and the fifty-move rule make values depend on the path to a
//! position; [`chess`] says more. All scores in the table are relative to their
//! node, so no ply goes in or out.
//!
//! [`Search::node`]: node::Search::node
//! [`Root::drive`]: root::Root::drive
//! [`Table::probe`]: table::Table::probe
//! [`Table::store`]: table::Table::store
//! [`Table::new`]: table::Table::new
//! [`Shift`]: delay::Shift
//! [`inverse`]: delay::inverse
//! [`replay`]: run::replay
//! [`knuth_moore`]: yardstick::knuth_moore
//! [`Interior::Pvs`]: interior::Interior::Pvs
//!
//! # A run
//!
//! `lancet lab --depth 5 --svg plot.svg`, over the benchmark positions; the README has the numbers.
//!
#![doc = include_str!("plot.svg")]

pub mod cell;
pub mod chess;
pub mod command;
pub mod delay;
pub mod example;
pub mod explain;
pub mod game;
pub mod interior;
pub mod node;
pub mod output;
pub mod plot;
pub mod root;
pub mod run;
pub mod suite;
pub mod table;
pub mod tictactoe;
pub mod topics;
pub mod tree;
pub mod yardstick;
