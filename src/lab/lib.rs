//! The lab: every algorithm of its sources, side by side.
//!
//! `lancet-lab [FILE.epd]` runs all of them on the same positions, with the
//! same evaluation and the same move ordering, demands that they return the
//! same scores, and shows what each one cost. `lancet-lab explain NAME` says
//! what an algorithm does and works through it on a small tree. A game is
//! anything that implements [`Game`](game::Game): chess, an explicit tree,
//! tic-tac-toe.
//!
//! The searches here import `score`, `position` and evaluations, and have a
//! table of their own; the command around them reads files as the other tools
//! do. The lab never uses the playing search: the two may check each other.
//!
//! `lancet-lab` is in [`command`], `lancet-lab explain` in `explain.rs`, the page of
//! `lancet-lab report` in `report.rs`.
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
//! | minimax | the reference, no pruning | Burch 1997 | [`interior.rs`](interior), `minimax` |
//! | stop-at-win | minimax that stops at a won move | Burch 1997 | [`interior.rs`](interior), `minimax` with `enough` |
//! | fail-hard | alpha-beta | Eppstein 1999, Burch 1997 | [`interior.rs`](interior), `fail_hard` |
//! | fail-soft | alpha-beta that returns the best found | Eppstein 1999 | [`interior.rs`](interior), `fail_soft` |
//! | bounds | alpha-beta that returns (low, up) | Scout notes | [`interior.rs`](interior), `bounds` |
//! | scout | maximin form, null-window test and re-search | Scout notes | [`interior.rs`](interior), `scout_max`, `scout_min` |
//! | own-bounds | each side's own lower bound | Burch 1997 | [`interior.rs`](interior), `own_bounds` |
//! | pvs | negamax form, fail-soft (NegaScout) | Eppstein 1999 | [`interior.rs`](interior), `pvs` |
//! | pvs-always | the re-search without `score < beta` | | [`interior.rs`](interior), `pvs` |
//! | pvs-zw | null windows by depth and alpha alone | Eppstein 1999 | [`interior.rs`](interior), `zero_window` |
//! | full | one search with the full window | Eppstein 1999 | [`root.rs`](root), [`Root::drive`] |
//! | asp-* | aspiration: full or gradual widening, centred or off-centre, beta to the middle | Eppstein 1999 | [`root.rs`](root), `aspiration` |
//! | window | half the first window's width | Eppstein 1999 | [`cell.rs`](cell), [`Cell::window`](cell::Cell::window) |
//! | bisection | binary search with null windows | Eppstein 1999 | [`root.rs`](root), `bisection` |
//! | mtdf | MTD(f) between two bounds | Scout notes | [`root.rs`](root), `mtdf` |
//! | mtdf-loop | MTD(f) as one loop, and what goes wrong with it | Eppstein 1999 | [`root.rs`](root), `mtdf_loop` |
//! | table | off, exact depth, deeper allowed | Scout notes | [`table.rs`](table), [`Table::probe`] |
//! | entries | two bounds, or one with a flag | Scout notes | [`table.rs`](table), [`Entries`](table::Entries) |
//! | replacement | deepest, largest subtree, newest, two-level | Scout notes | [`table.rs`](table), [`Table::store`] |
//! | size | entries, whatever the policy | Scout notes | [`table.rs`](table), [`Table::new`] |
//! | delay | none, mates, loss against CurEval, 31/32; the classical way; four mistakes | Muller 2007 | [`delay.rs`](delay), [`Shift`], and [`Delay`](lancet::chess::score::Delay) |
//! | any monotone function | its inverse on the window | Muller 2007 | [`delay.rs`](delay), [`inverse`] |
//! | ordering | none, captures, the table's move first | | [`node.rs`](node), `Search::order` |
//! | deepening | on, or every depth from nothing | Slate and Atkin 1977 | [`run.rs`](mod@run), [`Conditions`](run::Conditions) |
//! | replayed tree | the same search, all best moves known | | [`run.rs`](mod@run), [`replay`] |
//! | Knuth-Moore bound | the least tree for measured branching | | `yardstick.rs`, `knuth_moore` |
//! | 40/30/50, TIE | worked examples | Burch 1997 | `topics.md`, on trees of `tree.rs` |
//! | tic-tac-toe | a whole game; a tie treated as a win | Burch 1997 | [`tictactoe.rs`](tictactoe), [`TicTacToe`](tictactoe::TicTacToe) |
//! | Connect Four, Nim | games to compare; Nim's values are known | Bouton 1901 | [`connect_four.rs`](connect_four), [`nim.rs`](nim) |
//! | chess | leaves static, quiescence or a network's | | [`chess.rs`](chess), [`Board`](chess::Board) |
//!
//! # What the sources' listings get wrong
//!
//! Found by running them; each is a test or a worked example.
//!
//! - `score >= alpha` (Eppstein) lets a move that failed low, with a bound equal
//!   to the best score, displace the move that has the score: `explain fail-hard`.
//! - Fail-hard (Eppstein) is said to return nothing above beta, and returns the last
//!   move's score: `lab::notes_fail_hard_exceeds_beta`.
//! - Aspiration (Eppstein) opens a side to `WIN`, a score that a search may return: on
//!   a won position it never ends.
//! - PVS (Eppstein) never raises alpha by the first move's score.
//! - Bisection (Eppstein) stops while two scores are left.
//! - MTD(f) as a loop (Eppstein) takes an upper bound for the score, and can run
//!   in circles with a table that takes deeper entries: `explain mtdf-loop`.
//! - The table (the course notes) answers if `upperbound < alpha` on one page and if
//!   `up <= alpha` on another. The first misses every bound that is alpha itself, which
//!   is what a null window is told: `lab::a_strict_test_misses_bounds`.
//! - Alpha-beta (Burch) "may be buggy". It is not, begun with two lower bounds; begun
//!   with minus and plus infinity it returns the former: `lab::burch_as_printed`. Its
//!   one slip is that it calls itself by another name.
//! - Scout (the course notes) gives its first move to alpha-beta with the whole window; its
//!   own remark, "already null window", does not hold there:
//!   `lab::scout_does_not_test_under_its_first_move`. It is kept as written;
//!   [`Interior::Pvs`] is the other reading.
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
//! [`Interior::Pvs`]: interior::Interior::Pvs
//!
#![doc = include_str!("topics.md")]
//!
//! # A run
//!
//! `lancet-lab --depth 5 --svg plot.svg`, over the benchmark positions; the README has the numbers.
//!
#![doc = include_str!("plot.svg")]

pub mod cell;
pub mod chess;
pub mod command;
pub mod connect_four;
pub mod delay;
mod example;
mod explain;
pub mod game;
pub mod interior;
mod manual;
pub mod nim;
pub mod node;
mod output;
mod page;
mod plot;
mod report;
pub mod root;
pub mod run;
mod suite;
pub mod table;
pub mod tictactoe;
mod tree;
mod yardstick;
