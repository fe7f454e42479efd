//! The lab compares the algorithms of the alpha-beta family.
//!
//! `lancet-lab [FILE.epd]` runs the algorithms on the same positions, with the same evaluation and
//! the same move ordering. It checks that the sound ones return the same scores, and prints the
//! cost of each. `lancet-lab explain NAME` explains an algorithm and runs it on a small tree. A
//! game is any type that implements [`Game`](game::Game): for example chess, an explicit tree or
//! tic-tac-toe.
//!
//! The searches import the engine's scores, positions and evaluations, and have a table of their
//! own. The lab never uses the playing search, so that each can check the other.
//!
//! `lancet-lab` is in [`command`], `lancet-lab explain` in `explain.rs`, and `lancet-lab report` in
//! `report.rs`.
//!
//! # Where everything is
//!
//! A search is a combination of independent choices. [`Search::node`] does what every node needs:
//! the table, the end of the game, the window shift, move ordering and counting. The interiors are
//! the loops inside a node. The root drivers are the loops around the search of the root. Neither
//! depends on the other.
//!
//! | topic | description | source | code |
//! | --- | --- | --- | --- |
//! | minimax | the reference, no pruning | Burch 1997 | [`interior.rs`](interior), `minimax` |
//! | stop-at-win | minimax that stops at a winning move | Burch 1997 | [`interior.rs`](interior), `minimax` with `enough` |
//! | fail-hard | alpha-beta | Eppstein 1999 | [`interior.rs`](interior), `fail_hard` |
//! | fail-soft | alpha-beta that returns the best score found | Eppstein 1999 | [`interior.rs`](interior), `fail_soft` |
//! | bounds | alpha-beta that returns (low, up) | Plaat 1996 | [`interior.rs`](interior), `bounds` |
//! | scout | maximin form, null-window test and re-search | Pearl 1980 | [`interior.rs`](interior), `scout_max`, `scout_min` |
//! | own-bounds | each side carries its own lower bound | Burch 1997 | [`interior.rs`](interior), `own_bounds` |
//! | pvs | negamax form, fail-soft (NegaScout) | Eppstein 1999 | [`interior.rs`](interior), `pvs` |
//! | pvs-always | the re-search without `score < beta` | Eppstein 1999 | [`interior.rs`](interior), `pvs` |
//! | pvs-zw | null-window search that takes only depth and alpha | Eppstein 1999 | [`interior.rs`](interior), `zero_window` |
//! | full | one search with the full window | Eppstein 1999 | [`root.rs`](root), [`Root::drive`] |
//! | asp-* | aspiration: full or gradual widening, centred or off-centre, beta to the middle | Eppstein 1999 | [`root.rs`](root), `aspiration` |
//! | window | half the width of the first window | Eppstein 1999 | [`cell.rs`](cell), [`Cell::window`](cell::Cell::window) |
//! | bisection | binary search with null windows | Eppstein 1999 | [`root.rs`](root), `bisection` |
//! | mtdf | MTD(f) between two bounds | Plaat 1996 | [`root.rs`](root), `mtdf` |
//! | mtdf-loop | MTD(f) as one loop without bounds, which is not sound | Eppstein 1999 | [`root.rs`](root), `mtdf_loop` |
//! | table | off, entries of exact depth (also with a strict test), or also deeper entries | Plaat 1996 | [`table.rs`](table), [`Table::probe`] |
//! | entries | two bounds, or one score with a flag | Plaat 1996 | [`table.rs`](table), [`Entries`](table::Entries) |
//! | replacement | deepest, largest subtree, newest, two-level | Breuker 1994 | [`table.rs`](table), [`Table::store`] |
//! | size | number of entries, for every scheme | Breuker 1994 | [`table.rs`](table), [`Table::new`] |
//! | delay | none, mates, loss against CurEval, 31/32; the classical way; five variants with mistakes | Muller 2007 | [`delay.rs`](delay), [`Shift`], and [`Delay`](lancet::chess::score::Delay) |
//! | any monotone function | the window goes through its inverse | Muller 2007 | [`delay.rs`](delay), [`inverse`] |
//! | ordering | none, captures, hash move first | Knuth and Moore 1975 | [`node.rs`](node), `Search::order` |
//! | leaf | static evaluation, quiescence search or network | Beal 1990 | [`chess.rs`](chess), [`Leaf`](chess::Leaf) |
//! | select | null move, late move reductions, whole lines | Donninger 1993 | [`node.rs`](node), [`Selectivity`](node::Selectivity) |
//! | deepening | on, or every depth from an empty table | Slate and Atkin 1977 | [`run.rs`](mod@run), [`Conditions`](run::Conditions) |
//! | replayed tree | the same search with all best moves known | Knuth and Moore 1975 | [`run.rs`](mod@run), [`replay`] |
//! | Knuth-Moore estimate | the smallest tree for the measured branching | Knuth and Moore 1975 | `yardstick.rs`, `knuth_moore` |
//! | 40/30/50, TIE | worked examples | Burch 1997 | `topics.md`, on trees of `tree.rs` |
//! | tic-tac-toe | a complete game; a tie treated as a win | Burch 1997 | [`tictactoe.rs`](tictactoe), [`TicTacToe`](tictactoe::TicTacToe) |
//! | Connect Four, Nim | other games; the values of Nim are known | Bouton 1901 | [`connect_four.rs`](connect_four), [`nim.rs`](nim) |
//! | chess | the positions of the engine | | [`chess.rs`](chess), [`Board`](chess::Board) |
//!
//! # Errors in the sources' listings
//!
//! These errors were found by running the listings. Each, except that of fail-soft, has a test or a
//! worked example.
//!
//! - Fail-hard (Eppstein) tests `score >= alpha`. A move that failed low, with a bound equal to the
//!   best score, then replaces the move that has this score: `explain fail-hard`.
//! - Fail-hard (Eppstein) should return no score above beta, but returns alpha, which may be above
//!   beta: `lab::notes_fail_hard_exceeds_beta`.
//! - Fail-soft (Eppstein) tests `score >= current`, with the same effect on the best move.
//! - Aspiration (Eppstein) opens a side to `WIN`, a score that a search can return. In a won or
//!   lost position it may never end.
//! - PVS (Eppstein) does not raise alpha to the first move's score.
//! - Bisection (Eppstein) may stop when two scores are left.
//! - MTD(f) as a loop (Eppstein) takes an upper bound for the score: `explain mtdf-loop`.
//! - The Scout notes (course notes of unknown authorship) use an upper bound from the table if
//!   `upperbound < alpha` on one page, and if `up <= alpha` on another. The first test does not use
//!   bounds that equal alpha, which null-window searches often return:
//!   `lab::a_strict_test_misses_bounds`.
//! - Alpha-beta (Burch) is by another author, and "may be buggy", as Burch's notes warn. It is
//!   correct if it starts with two lower bounds. If it starts with minus and plus infinity, it
//!   returns minus infinity: `lab::burch_as_printed`. Its only slip is that it calls itself by
//!   another name.
//!
//! # What the lab ignores
//!
//! The lab ignores repetitions and the fifty-move rule. With them, the value of a position would
//! depend on the path to it (see [`chess`]). All scores in the table are relative to their node, so
//! they need no adjustment by ply. The classical score delay is the exception.
//!
//! [`Search::node`]: node::Search::node
//! [`Root::drive`]: root::Root::drive
//! [`Table::probe`]: table::Table::probe
//! [`Table::store`]: table::Table::store
//! [`Table::new`]: table::Table::new
//! [`Shift`]: delay::Shift
//! [`inverse`]: delay::inverse
//! [`replay`]: run::replay
//!
#![doc = include_str!("topics.md")]
//!
//! # A run
//!
//! `lancet-lab --depth 5 --svg plot.svg` on the benchmark positions. The README has the numbers.
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
