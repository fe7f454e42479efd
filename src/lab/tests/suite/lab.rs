//! Tests of the lab: every algorithm against brute force on random trees and graphs, for all
//! windows and all score delays; the failures of MTD(f); tic-tac-toe and other games; chess
//! positions; and the program.

use std::collections::BTreeSet;

use crate::common::{
    chess::position,
    pages,
    program::{self, Directory, fail, stderr, succeed},
};
use clap::ValueEnum;
use lancet::{
    chess::score::{Bounds, DECISIVE, INFINITE, MATE, Score, Window},
    system::random::mix,
};
use lancet_lab::{
    cell::{Cell, name},
    chess::{Board, Leaf},
    connect_four::ConnectFour,
    delay::ScoreDelay,
    game::Game,
    interior::Interior,
    nim::Nim,
    node::{Cost, Oracle, Ordering, Search, Selectivity},
    root::{End, Root},
    run::{Conditions, attains, replay, run},
    table::{Entries, Replacement, Table, TableMode},
    tictactoe::TicTacToe,
};

fn interiors() -> impl Iterator<Item = Interior> + Clone {
    Interior::value_variants().iter().copied().filter(|interior| !interior.is_printed())
}

/// Returns the sound delays that brute force can compute: all but the classical way, whose scores
/// are relative to a root.
fn delays() -> impl Iterator<Item = ScoreDelay> {
    let all = ScoreDelay::value_variants().iter().copied();
    all.filter(|&delay| delay.is_sound() && delay != ScoreDelay::Ply)
}

fn sound_roots() -> impl Iterator<Item = Root> {
    Root::value_variants().iter().copied().filter(|root| root.is_sound())
}

/// A random game of a few states that lead to each other. Positions transpose, repeat at other
/// depths, and end. With a large number of `states` it is a tree.
#[derive(Clone, Copy, Debug)]
struct Tangle {
    seed: u64,
    states: u64,
    state: u64,
    max: bool,
}

/// Each game has values near one of these centres, from MAX's point of view. The centres are the
/// limits of the delays, and numbers near which the difference between a number and 31/32 of it
/// changes. The evaluations, which are the pivots of the `loss` delay, are near them too.
const CENTRES: [Score; 9] = [0, -DECISIVE, DECISIVE, -MATE + 3, MATE - 3, -33, 33, -64, 64];

/// Maximum difference of a value from its centre.
const SPREAD: Score = 6;

/// How far the windows of a game extend beyond its values: as far as a delay can move them.
const MARGIN: Score = 6;

impl Tangle {
    fn new(seed: u64, states: u64) -> Tangle {
        Tangle { seed, states, state: 0, max: mix(seed) & 1 == 0 }
    }

    fn random(&self, salt: u64) -> u64 {
        mix(self.seed ^ mix(self.key() ^ mix(salt)))
    }

    /// Returns the centre from MAX's point of view, which is the same in the whole game.
    fn centre(&self) -> Score {
        CENTRES[(mix(self.seed) / 2 % CENTRES.len() as u64) as usize]
    }

    /// Returns the value from the point of view of the side to move.
    fn value(&self) -> Score {
        let offset = (self.random(1) % (2 * SPREAD as u64 + 1)) as Score - SPREAD;
        let value = (self.centre() + offset).clamp(-MATE, MATE);
        if self.max { value } else { -value }
    }

    /// Returns every window around the values.
    fn windows(&self) -> Vec<Window> {
        let centre = if self.max { self.centre() } else { -self.centre() };
        let (low, high) = (centre - SPREAD - MARGIN, centre + SPREAD + MARGIN);
        let (low, high) = (low.max(-INFINITE), high.min(INFINITE));
        let from = |alpha| (alpha + 1..=high).map(move |beta| Window::new(alpha, beta));
        (low..high).flat_map(from).chain([Window::FULL]).collect()
    }
}

impl Game for Tangle {
    type Move = u64;

    fn moves(&self) -> Vec<u64> {
        let count = if self.random(2).is_multiple_of(8) { 0 } else { 1 + self.random(3) % 3 };
        (0..count).map(|i| self.random(4 + i) % self.states).collect()
    }

    fn make(&self, state: u64) -> Tangle {
        Tangle { state, max: !self.max, ..*self }
    }

    fn terminal(&self, moves: &[u64]) -> Option<Score> {
        moves.is_empty().then(|| self.value())
    }

    fn evaluate(&self) -> Score {
        self.value()
    }

    fn key(&self) -> u64 {
        self.state * 2 + u64::from(self.max)
    }

    fn max_to_move(&self) -> bool {
        self.max
    }
}

/// Returns the true score by brute force, without windows, tables and `Search`.
fn brute<G: Game>(p: &G, depth: u32, delay: ScoreDelay) -> Score {
    let moves = p.moves();
    let best = match p.terminal(&moves) {
        Some(value) => value,
        None if depth == 0 => p.evaluate(),
        None => moves.iter().map(|&m| -brute(&p.make(m), depth - 1, delay)).max().unwrap(),
    };
    delay.at(|| p.evaluate()).score(best)
}

fn table(mode: TableMode, entries: Entries) -> Table<u64> {
    Table::new(64, mode, entries, Replacement::TwoLevel)
}

/// Checks every interior and delay on one game for all windows, and returns the number of windows.
fn all_windows(game: Tangle, depth: u32, mode: TableMode, entries: Entries) -> u64 {
    let windows = game.windows();
    for delay in delays() {
        let truth = brute(&game, depth, delay);
        for &window in &windows {
            for interior in interiors() {
                let mut search = Search::new(delay, Ordering::Table, table(mode, entries));
                search.root_depth = depth;
                check(&mut search, &game, interior, window, truth);
            }
        }
    }
    windows.len() as u64
}

/// Searches the root with a window, and compares the result with the true score.
fn check(
    search: &mut Search<Tangle>,
    game: &Tangle,
    interior: Interior,
    window: Window,
    truth: Score,
) {
    let (depth, delay) = (search.root_depth, search.delay);
    let bounds = search.node(interior, game, depth, window);
    let what = || {
        format!("{game:?} depth {depth} {interior:?} {delay:?} {window:?}: {bounds:?}, not {truth}")
    };
    assert!(bounds.lower <= truth && truth <= bounds.upper, "wrong bounds: {}", what());
    let score = bounds.cutoff(window).unwrap_or_else(|| panic!("undecided: {}", what()));
    assert_eq!(score <= window.alpha, truth <= window.alpha, "{}", what());
    assert_eq!(score >= window.beta, truth >= window.beta, "{}", what());
    if window.contains(truth) {
        assert_eq!(bounds, Bounds::exact(truth), "{}", what());
    }
    if score > window.alpha && !game.moves().is_empty() && depth > 0 {
        let best = search.best.unwrap_or_else(|| panic!("no best move: {}", what()));
        let value = -brute(&game.make(best), depth - 1, delay);
        let value = delay.at(|| game.evaluate()).score(value);
        assert!(value >= bounds.lower, "the best move is worth {value}: {}", what());
    }
}

/// Checks all windows of random games until there are `pairs` pairs of a game and a window. Returns
/// the number of pairs.
fn many_windows(pairs: u64) -> u64 {
    let (mut done, mut games) = (0, 0);
    while done < pairs {
        games += 1;
        let depth = 1 + (games % 4) as u32;
        let (states, mode, entries) = match games % 3 {
            0 => (1 << 40, TableMode::Off, Entries::TwoBounds),
            1 => (7, TableMode::Exact, Entries::OneBound),
            _ => (7, TableMode::Exact, Entries::TwoBounds),
        };
        done += all_windows(Tangle::new(games, states), depth, mode, entries);
    }
    done
}

/// The fast part of the next test. Each pair is searched by ten interiors with five delays.
#[test]
fn delays_never_turn_bounds_into_scores() {
    many_windows(40_000);
}

/// A million pairs of a random game and a window: `cargo test --release -p lancet-lab -- --ignored
/// --nocapture`.
#[test]
#[ignore = "minutes; the fast part always runs"]
fn delays_never_turn_bounds_into_scores_a_million_times() {
    let pairs = many_windows(1_000_000);
    println!("{pairs} pairs of game and window, {} searches", pairs * 50);
}

/// Uses one table for all windows and depths. The scores in it are relative to their nodes, so
/// later searches may use the results of earlier ones.
#[test]
fn exact_tables_keep_the_truth() {
    for seed in 0..150 {
        let game = Tangle::new(seed, 9);
        for delay in delays() {
            let policies = Replacement::value_variants();
            let entries = Entries::value_variants();
            let policy = policies[seed as usize % policies.len()];
            let table = Table::new(16, TableMode::Exact, entries[seed as usize / 4 % 2], policy);
            let mut search = Search::new(delay, Ordering::Table, table);
            for depth in 1..6 {
                search.root_depth = depth;
                let truth = brute(&game, depth, delay);
                for (window, interior) in game.windows().into_iter().zip(interiors().cycle()) {
                    check(&mut search, &game, interior, window, truth);
                }
            }
            assert!(search.cost.cutoffs > 0 || game.moves().is_empty(), "the table was used");
        }
    }
}

fn conditions(depth: u32) -> Conditions<'static> {
    Conditions { max_passes: 50, ..Conditions::new(depth) }
}

/// All combinations of interiors, drivers, tables and delays on small tangles, with and without
/// iterative deepening.
#[test]
fn every_sound_cell_finds_the_value() {
    for seed in 0..40 {
        let game = Tangle::new(seed, 9);
        for delay in delays() {
            let truths: Vec<Score> = (0..=5).map(|depth| brute(&game, depth, delay)).collect();
            for interior in interiors() {
                for root in sound_roots() {
                    for (table, entries) in [
                        (TableMode::Off, Entries::TwoBounds),
                        (TableMode::Exact, Entries::TwoBounds),
                        (TableMode::Exact, Entries::OneBound),
                    ] {
                        let size = 16;
                        let cell =
                            Cell { interior, root, table, entries, size, delay, ..Cell::ADVICE };
                        for iterative in [true, false] {
                            let conditions = Conditions { iterative, ..conditions(5) };
                            let found = run(&game, &cell, conditions, Oracle::Silent);
                            for (depth, found) in (1..).zip(&found.depths) {
                                assert_eq!(
                                    found.score, truths[depth],
                                    "seed {seed}, {cell}, depth {depth}, deepening {iterative}"
                                );
                                // With decay, the worst score may be proved without a move.
                                let none = game.moves().is_empty() || delay == ScoreDelay::Decay;
                                assert!(
                                    found.best.is_some() || none,
                                    "{seed}, {cell}, depth {depth}"
                                );
                                if let Some(best) = found.best {
                                    let depth = depth as u32;
                                    assert!(attains(&game, best, delay, depth, found.score));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The share of cutoffs that need the second bound is largest under bisection, which searches on
/// both sides of the score. It is smallest under the full window. With one bound per entry it is 0.
#[test]
fn the_second_bound_helps_bisection_most() {
    let cost = |root, entries| {
        let mut sum = Cost::default();
        for seed in 0..200 {
            let game = Tangle::new(seed, 40);
            let interior = Interior::FailSoft;
            let cell = Cell { interior, root, entries, size: 256, ..Cell::ADVICE };
            sum.add(&run(&game, &cell, conditions(6), Oracle::Silent).cost());
        }
        sum
    };
    let roots = [Root::Full, Root::Mtdf, Root::Bisection];
    let two = roots.map(|root| cost(root, Entries::TwoBounds));
    let one = roots.map(|root| cost(root, Entries::OneBound));
    assert!(one.iter().all(|cost| cost.second_bound == 0));
    let share = two.clone().map(|cost| cost.second_bound as f64 / cost.cutoffs as f64);
    assert!(share[0] < share[1] && share[1] < share[2], "{share:?}");
    assert!(two.iter().zip(&one).all(|(two, one)| two.nodes() <= one.nodes()), "{two:?} {one:?}");
}

/// `attains` accepts exactly the moves that are worth the score.
#[test]
fn best_moves_are_told_from_others() {
    let (mut best, mut other) = (0, 0);
    for seed in 0..300 {
        let game = Tangle::new(seed, 9);
        for delay in delays() {
            let truth = brute(&game, 3, delay);
            for m in game.moves() {
                let inner = -brute(&game.make(m), 2, delay);
                let attained = delay.at(|| game.evaluate()).score(inner) == truth;
                assert_eq!(attains(&game, m, delay, 3, truth), attained, "{seed}");
                *(if attained { &mut best } else { &mut other }) += 1;
            }
        }
    }
    assert!(best > 300 && other > 300, "{best} best moves, {other} others");
}

/// Returns the score and the end of MTD(f).
fn end_of_mtdf<G: Game>(game: &G, cell: &Cell, max_passes: u32, depth: u32) -> (Score, End) {
    let conditions = Conditions { max_passes, ..conditions(depth) };
    let found = run(game, cell, conditions, Oracle::Silent);
    (found.last().score, found.last().end)
}

/// MTD(f) as the lecture notes print it runs in circles here for any number of passes. Two scores
/// lead to each other, and larger subtrees drive the root out of the table, so that its bounds are
/// lost.
#[test]
fn mtdf_loop_runs_in_circles() {
    let cases = [(358, 5, 4, 5), (20, 7, 8, 5), (2569, 7, 4, 6), (1022, 9, 8, 6), (2277, 15, 4, 6)];
    for (seed, states, size, depth) in cases {
        let game = Tangle::new(seed, states);
        let cell = Cell {
            interior: Interior::FailSoft,
            root: Root::MtdfLoop,
            table: TableMode::Deeper,
            replacement: Replacement::Largest,
            size,
            ..Cell::ADVICE
        };
        for max_passes in [200, 5_001] {
            let (_, end) = end_of_mtdf(&game, &cell, max_passes, depth);
            assert_eq!(end, End::Stopped, "seed {seed}");
        }
        // With two bounds it ends after a few passes, at least by crossing.
        let (_, end) = end_of_mtdf(&game, &Cell { root: Root::Mtdf, ..cell }, 60, depth);
        assert_ne!(end, End::Stopped, "seed {seed}");
        // With a table of exact depth it finds the value.
        let exact = Cell { root: Root::Mtdf, table: TableMode::Exact, ..cell };
        let truth = brute(&game, depth, ScoreDelay::None);
        assert_eq!(end_of_mtdf(&game, &exact, 60, depth), (truth, End::Converged));
    }
}

/// Positions where the bounds of MTD(f) cross if the table also uses deeper entries: a pawn ending
/// with many transpositions, WAC.151, WAC.294 and P. McKenzie's endgame 47.
#[test]
fn mtdf_bounds_cross() {
    for (fen, leaf, depth, size) in [
        ("8/8/1p1k4/p1p5/P1P5/1P1K4/8/8 w - - 0 1", Leaf::Static, 7, 1 << 16),
        ("8/3b2kp/4p1p1/pr1n4/N1N4P/1P4P1/1K3P2/3R4 w - - 0 1", Leaf::Quiescence, 5, 1 << 16),
        ("3r3k/1r3p1p/p1pB1p2/8/p1qNP1Q1/P6P/1P4P1/3R3K w - - 0 1", Leaf::Quiescence, 5, 1 << 16),
        ("8/p4k2/1p1p1qp1/1P1P4/P5P1/7P/4Q1K1/2b5 b - - 0 1", Leaf::Static, 6, 4096),
    ] {
        let game = board(fen, leaf);
        for interior in [Interior::FailSoft, Interior::Pvs] {
            let table = TableMode::Deeper;
            let deeper = Cell { interior, root: Root::Mtdf, table, size, ..Cell::ADVICE };
            assert_eq!(end_of_mtdf(&game, &deeper, 400, depth).1, End::Crossed, "{fen}");
            let exact = Cell { table: TableMode::Exact, ..deeper };
            let (score, end) = end_of_mtdf(&game, &exact, 400, depth);
            assert_eq!(end, End::Converged, "{fen}");
            let full = Cell { root: Root::Full, ..exact };
            assert_eq!(end_of_mtdf(&game, &full, 1, depth).0, score, "{fen}");
        }
    }
}

/// WAC.013, 017 and 014: MTD(f) approaches a score far from the guess in more than 50 small steps.
/// It is stopped, but the score is correct.
#[test]
fn mtdf_walks_in_small_steps() {
    for (fen, leaf) in [
        ("5rk1/pp4p1/2n1p2p/2Npq3/2p5/6P1/P3P1BP/R4Q1K w - - 0 1", Leaf::Static),
        ("1k5r/pppbn1pp/4q1r1/1P3p2/2NPp3/1QP5/P4PPP/R1B1R1K1 w - - 0 1", Leaf::Static),
        ("r2rb1k1/pp1q1p1p/2n1p1p1/2bp4/5P2/PP1BPR1Q/1BPN2PP/R5K1 w - - 0 1", Leaf::Quiescence),
    ] {
        let game = board(fen, leaf);
        let cell = Cell { interior: Interior::FailSoft, root: Root::Mtdf, ..Cell::ADVICE };
        let full = Cell { root: Root::Full, ..cell };
        let (truth, _) = end_of_mtdf(&game, &full, 50, 5);
        assert_eq!(end_of_mtdf(&game, &cell, 50, 5), (truth, End::Stopped), "{fen}");
        assert_eq!(end_of_mtdf(&game, &cell, 500, 5), (truth, End::Converged), "{fen}");
    }
}

fn board(fen: &str, leaf: Leaf) -> Board<'static> {
    Board::new(position(fen), leaf, None)
}

const POSITIONS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/8/1p1k4/p1p5/P1P5/1P1K4/8/8 w - - 0 1",
    // Black to move, and a mate in the tree.
    "6k1/5ppp/8/8/8/8/r4PPP/1q2R1K1 b - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

/// Compares chess searches with brute force or, for quiescence leaves, with minimax.
#[test]
fn chess_cells_find_the_value() {
    for fen in POSITIONS {
        for leaf in [Leaf::Static, Leaf::Quiescence] {
            // Without a window, the captures of this position take minutes.
            if leaf == Leaf::Quiescence && fen.starts_with("r3k2r/p1pp") {
                continue;
            }
            let game = board(fen, leaf);
            for delay in delays() {
                let minimax = Cell {
                    interior: Interior::Minimax,
                    root: Root::Full,
                    table: TableMode::Off,
                    delay,
                    ..Cell::ADVICE
                };
                let truth = run(&game, &minimax, conditions(2), Oracle::Silent);
                if leaf == Leaf::Static {
                    assert_eq!(truth.depths[1].score, brute(&game, 2, delay), "{fen}");
                }
                for interior in interiors() {
                    for root in sound_roots() {
                        let cell = Cell { interior, root, delay, size: 4096, ..Cell::ADVICE };
                        if cell.is_exhaustive() && root != Root::Full {
                            continue; // tested on small games
                        }
                        let found = run(&game, &cell, conditions(2), Oracle::Silent);
                        for (found, truth) in found.depths.iter().zip(&truth.depths) {
                            assert_eq!(found.score, truth.score, "{fen} {cell}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn tic_tac_toe_is_a_tie() {
    let solve = |interior| {
        let cell = Cell { interior, root: Root::Full, table: TableMode::Off, ..Cell::ADVICE };
        let conditions = Conditions { iterative: false, ordering: Ordering::None, ..conditions(9) };
        let found = run(&TicTacToe::default(), &cell, conditions, Oracle::Silent);
        assert_eq!(found.last().score, 0, "{interior:?}");
        found.last().cost.nodes()
    };
    // 549,946 is the number of nodes of the whole game tree. The difference between the next two
    // numbers is what treating a tie as a win prunes.
    assert_eq!(solve(Interior::Minimax), 549_946);
    assert_eq!(solve(Interior::StopAtWin), 94_978);
    assert_eq!(solve(Interior::FailSoft), 18_297);
    assert_eq!(solve(Interior::Bounds), 18_297);
    assert!(solve(Interior::Pvs) < 18_297);
    // PVS as the notes print it finds the score. But it does not test the other moves against the
    // first move's score, so it searches nearly all of them twice.
    assert_eq!(solve(Interior::PvsPrinted), 104_714);
}

/// Nim's values are known without a search.
#[test]
fn nim_is_lost_where_the_heaps_sum_to_zero() {
    for position in 0..5 * 5 * 5 {
        let heaps = [position % 5, position / 5 % 5, position / 25];
        let lost = heaps.iter().fold(0, |sum, heap| sum ^ heap) == 0;
        let truth = if lost { -MATE } else { MATE };
        let start = Nim { heaps, max: true };
        for root in sound_roots() {
            let cell = Cell { root, ..Cell::ADVICE };
            let found = run(&start, &cell, conditions(12), Oracle::Silent);
            assert_eq!(found.last().score, truth, "{heaps:?} {root:?}");
        }
    }
}

/// Connect Four on five columns and four rows is a draw, according to J. Tromp's solution.
#[test]
fn connect_four_is_a_draw() {
    let cell = Cell { size: 1 << 20, ..Cell::ADVICE };
    let conditions = Conditions { iterative: false, ..conditions(20) };
    let start = ConnectFour::default();
    let found = run(&start, &cell, conditions, Oracle::Silent);
    assert_eq!(found.last().score, 0);
    // Four in a row, in a column and in both diagonals win; three, or four round the edge, do not.
    let after = |columns: &[u8]| {
        let end = columns.iter().fold(start, |position, &column| position.make(column));
        end.terminal(&end.moves())
    };
    assert_eq!(after(&[0, 0, 1, 1, 2, 2, 3]), Some(-MATE));
    assert_eq!(after(&[0, 1, 0, 1, 0, 1, 0]), Some(-MATE));
    assert_eq!(after(&[0, 1, 1, 2, 2, 3, 2, 3, 3, 4, 3]), Some(-MATE));
    assert_eq!(after(&[4, 3, 3, 2, 2, 1, 2, 1, 1, 0, 1]), Some(-MATE));
    assert_eq!(after(&[0, 1, 0, 1, 0, 1]), None);
    assert_eq!(after(&[0, 0, 0, 0, 1, 1, 1]), None);
    assert_eq!(after(&[1, 0, 1, 0, 0, 4, 0]), None);
}

/// In a tree that becomes narrower towards its end, the number of searches that the table saves
/// matters, and `newest` saves the most. In other trees the size of these searches matters.
#[test]
fn replacement_depends_on_the_tree() {
    fn nodes<G: Game>(start: &G, depth: u32, size: usize) -> [u64; 3] {
        [Replacement::TwoLevel, Replacement::Deepest, Replacement::Newest].map(|replacement| {
            let cell = Cell { root: Root::Full, replacement, size, ..Cell::ADVICE };
            run(start, &cell, conditions(depth), Oracle::Silent).cost().nodes()
        })
    }
    let [two, deepest, newest] = nodes(&Nim::default(), 12, 32);
    assert!(newest < deepest, "Nim: {two} {deepest} {newest}");
    let [two, deepest, newest] = nodes(&ConnectFour::default(), 8, 256);
    assert!(two < newest && deepest < newest, "Connect Four: {two} {deepest} {newest}");
}

/// Runs score delays on small games. An incorrect delay returns wrong scores, and each kind of
/// error has its own count.
#[test]
fn wrong_delays_say_wrong_scores() {
    // Returns the number of wrong scores, and the costs with the other counts.
    let faults = |delay: ScoreDelay| {
        let (mut wrong, mut sum) = (0, Cost::default());
        for seed in 0..400 {
            let game = Tangle::new(seed, 12);
            let cell = Cell { delay, size: 64, ..Cell::ADVICE };
            let found = run(&game, &cell, conditions(5), Oracle::Silent);
            sum.add(&found.cost());
            let truths = (1..).map(|depth| brute(&game, depth, delay.meant()));
            wrong += found.depths.iter().zip(truths).filter(|(d, truth)| d.score != *truth).count();
        }
        (wrong, sum)
    };
    for delay in delays() {
        let (wrong, cost) = faults(delay);
        assert_eq!((wrong, cost.turned), (0, 0), "{delay:?}");
        assert!(cost.across > 0, "scores relative to the node are valid at any distance");
    }
    for delay in [ScoreDelay::MatesPost, ScoreDelay::LossPost, ScoreDelay::DecayNarrow] {
        let (wrong, cost) = faults(delay);
        assert!(wrong > 0 && cost.turned > 0, "{delay:?}: {wrong}, {}", cost.turned);
    }
    // Swapped tests only cost nodes.
    let [right, swapped] = [ScoreDelay::Loss, ScoreDelay::LossSwapped].map(|d| faults(d).1);
    assert!(right.nodes() < swapped.nodes(), "{} {}", right.nodes(), swapped.nodes());
}

/// A tangle whose games end only in mate.
#[derive(Clone, Copy)]
struct Mating(Tangle);

impl Game for Mating {
    type Move = u64;

    fn moves(&self) -> Vec<u64> {
        self.0.moves()
    }

    fn make(&self, state: u64) -> Mating {
        Mating(self.0.make(state))
    }

    fn terminal(&self, moves: &[u64]) -> Option<Score> {
        moves.is_empty().then_some(-MATE)
    }

    fn evaluate(&self) -> Score {
        (self.0.random(1) % 13) as Score - 6
    }

    fn key(&self) -> u64 {
        self.0.key()
    }

    fn max_to_move(&self) -> bool {
        self.0.max
    }
}

/// Checks mates that are counted from the root. With a table that adjusts scores, every depth has
/// the same score as without a table. With a table that does not, a position keeps the score of its
/// first search, even at another distance from the root.
#[test]
fn the_classical_way_needs_its_table() {
    let mut mates = 0;
    for seed in 0..300 {
        let game = Mating(Tangle::new(seed, 12));
        let scores = |table| {
            let cell = Cell { delay: ScoreDelay::Ply, table, size: 64, ..Cell::ADVICE };
            let found = run(&game, &cell, conditions(6), Oracle::Silent);
            found.depths.iter().map(|d| d.score).collect::<Vec<_>>()
        };
        let truth = scores(TableMode::Off);
        mates += truth.iter().filter(|score| score.abs() > DECISIVE).count();
        assert_eq!(scores(TableMode::Exact), truth, "seed {seed}");
    }
    assert!(mates > 300, "{mates} mates");
    // A rook mates in one move, at the root and four plies below a root.
    let game = board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", Leaf::Static);
    let at = |delay| {
        let two = Entries::TwoBounds;
        let table = Table::new(1 << 10, TableMode::Exact, two, Replacement::Newest);
        let mut search = Search::new(delay, Ordering::Table, table);
        [2, 6].map(|root_depth| {
            search.root_depth = root_depth;
            search.score(Interior::Pvs, &game, 2, Window::FULL)
        })
    };
    assert_eq!(at(ScoreDelay::Ply), [MATE - 1, MATE - 5]);
    assert_eq!(at(ScoreDelay::PlyRaw), [MATE - 1, MATE - 1]);
    assert_eq!(at(ScoreDelay::Mates), [MATE - 1, MATE - 1], "the score is relative to the node");
}

#[test]
fn a_mate_is_counted_in_moves() {
    let game = board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", Leaf::Static);
    let mates = Cell { delay: ScoreDelay::Mates, ..Cell::ADVICE };
    let found = run(&game, &mates, conditions(4), Oracle::Silent);
    assert_eq!(found.depths[3].score, MATE - 1, "Ra8 mates, at every depth");
    assert_eq!(found.depths[3].best.map(|m| m.to_string()), Some("Ra1-a8".to_owned()));
}

/// Variants of an algorithm that should search the same tree search the same number of nodes.
#[test]
fn variants_search_the_same_tree() {
    let mut null = 0;
    for seed in 0..300 {
        let game = Tangle::new(seed, 30);
        let cost = |interior, root| {
            let cell = Cell { interior, root, size: 64, ..Cell::ADVICE };
            run(&game, &cell, conditions(5), Oracle::Silent).cost()
        };
        for root in sound_roots() {
            let same = |a, b| {
                let (a, b) = (cost(a, root), cost(b, root));
                assert_eq!((a.nodes(), a.cutoffs), (b.nodes(), b.cutoffs), "{seed} {root:?}");
            };
            same(Interior::Pvs, Interior::PvsZw);
            same(Interior::FailHard, Interior::OwnBounds);
        }
        // With null windows only, fail-soft is PVS.
        let mtdf = [Interior::FailSoft, Interior::PvsZw].map(|i| cost(i, Root::Mtdf));
        if mtdf.iter().all(|cost| cost.null_passes == cost.passes) {
            null += 1;
            assert_eq!(mtdf[0].nodes(), mtdf[1].nodes(), "{seed}");
            assert!(mtdf.iter().all(|cost| cost.null == cost.nodes()), "{seed}");
        }
        assert_eq!(cost(Interior::FailSoft, Root::Full).null_passes, 0);
    }
    assert!(null > 200, "{null}");
}

/// Wikipedia's tree: its value, and the leaves that are not searched.
#[test]
fn the_tree_of_the_encyclopedia() {
    let out = succeed(&["explain", "bounds"]);
    let example = out.split("Example (").nth(1).unwrap();
    assert!(example.contains("result 6, best move"), "{example}");
    assert!(example.contains("leaves 9,"), "{example}");
    for leaf in ["??5", "??9"] {
        assert!(example.contains(&format!("{leaf} not looked at")), "{leaf}: {example}");
    }
}

/// Returns the score of a search of a tangle with a window.
fn searched(interior: Interior, game: &Tangle, depth: u32, window: Window) -> Score {
    let mut search = Search::new(ScoreDelay::None, Ordering::None, Table::off());
    search.root_depth = depth;
    search.score(interior, game, depth, window)
}

/// Fail-hard as the lecture notes print it returns alpha, which can be above beta.
#[test]
fn notes_fail_hard_exceeds_beta() {
    let (mut above, mut below) = (0, 0);
    for seed in 0..500 {
        let game = Tangle::new(seed, 30);
        let truth = brute(&game, 3, ScoreDelay::None);
        for window in [Window::null(truth - 3), Window::null(truth + 3)] {
            let score = searched(Interior::FailHardPrinted, &game, 3, window);
            assert_eq!(score >= window.beta, truth >= window.beta, "but the bound is true");
            above += usize::from(score > window.beta && !game.moves().is_empty());
            below += usize::from(score < window.alpha && !game.moves().is_empty());
        }
    }
    assert!(above > 0 && below == 0, "{above} above beta, {below} below alpha");
}

/// The listing of Burch 1997, started as other listings are, returns minus infinity for every
/// position. (Started with two lower bounds, as `own-bounds`, it is correct:
/// `delays_never_turn_bounds_into_scores`.)
#[test]
fn burch_as_printed() {
    for seed in 0..500 {
        let game = Tangle::new(seed, 30);
        if !game.moves().is_empty() {
            let score = searched(Interior::OwnBoundsPrinted, &game, 4, Window::FULL);
            assert_eq!(score, -INFINITE, "seed {seed}");
        }
    }
}

/// The table's test on the first page of the Scout notes, `upperbound < alpha`, compared with that
/// on the second, `up <= alpha`. The first is correct too, but repeats searches whose results are
/// in the table.
#[test]
fn a_strict_test_misses_bounds() {
    let mut nodes = [0, 0];
    for seed in 0..300 {
        let game = Tangle::new(seed, 30);
        let truth = brute(&game, 6, ScoreDelay::None);
        for (mode, nodes) in [TableMode::Strict, TableMode::Exact].into_iter().zip(&mut nodes) {
            let table = Table::new(1 << 10, mode, Entries::TwoBounds, Replacement::TwoLevel);
            let mut search = Search::new(ScoreDelay::None, Ordering::None, table);
            search.root_depth = 6;
            for alpha in [truth - 2, truth, truth - 1, truth + 1] {
                check(&mut search, &game, Interior::FailSoft, Window::null(alpha), truth);
            }
            *nodes += search.cost.nodes();
        }
    }
    assert!(nodes[0] > nodes[1], "{nodes:?}");
}

/// The Scout notes search the first move by alpha-beta with the whole window. Below it, Scout makes
/// no tests, unlike PVS.
#[test]
fn scout_does_not_test_under_its_first_move() {
    let share = |interior| {
        let mut sum = Cost::default();
        for seed in 0..200 {
            let game = Tangle::new(seed, 1 << 40);
            let (root, table) = (Root::Full, TableMode::Off);
            let cell = Cell { interior, root, table, ..Cell::ADVICE };
            sum.add(&run(&game, &cell, conditions(7), Oracle::Silent).cost());
        }
        (sum.null as f64 / sum.nodes() as f64, sum.nodes())
    };
    let [scout, pvs] = [Interior::Scout, Interior::Pvs].map(share);
    assert!(scout.0 < pvs.0, "null windows: {scout:?}, {pvs:?}");
}

/// The replayed tree, with every best move known beforehand, is at least a fifth smaller here.
#[test]
fn the_replayed_tree_is_smaller() {
    let (mut first, mut again) = (0, 0);
    for fen in POSITIONS {
        let game = board(fen, Leaf::Static);
        let cell = Cell {
            interior: Interior::FailSoft,
            root: Root::Full,
            table: TableMode::Off,
            ..Cell::ADVICE
        };
        let conditions = Conditions { iterative: false, ..conditions(4) };
        let run = run(&game, &cell, conditions, Oracle::Listening(Default::default()));
        let score = run.last().score;
        first += run.cost().nodes();
        let replayed = replay(&game, &cell, conditions, run);
        assert_eq!(replayed.last().score, score);
        again += replayed.cost().nodes();
    }
    assert!(again * 5 < first * 4, "{again} of {first}");
}

/// Checks that null moves and reductions save nodes, and that whole lines cost nodes and do not
/// change scores.
#[test]
fn selectivity_makes_trees_smaller() {
    let nodes = |selectivity: &[Selectivity]| -> u64 {
        let conditions = Conditions { selectivity, ..conditions(5) };
        let cost = |fen: &&str| {
            let game = board(fen, Leaf::Static);
            run(&game, &Cell::ADVICE, conditions, Oracle::Silent).cost().nodes()
        };
        POSITIONS.iter().map(cost).sum()
    };
    use Selectivity::{NullMove, Reductions};
    let all = nodes(&[]);
    let [null, late] = [NullMove, Reductions].map(|what| nodes(&[what]));
    let both = nodes(&[NullMove, Reductions]);
    assert!(null < all && late < all && both < null.min(late), "{all} {null} {late} {both}");
    let whole = |root: Root| {
        let with = |selectivity: &[Selectivity]| {
            let conditions = Conditions { selectivity, ..conditions(5) };
            let cell = Cell { root, ..Cell::ADVICE };
            let runs = POSITIONS.iter().map(|fen| {
                let run = run(&board(fen, Leaf::Static), &cell, conditions, Oracle::Silent);
                (run.last().score, run.cost().nodes())
            });
            runs.unzip::<_, _, Vec<_>, Vec<_>>()
        };
        let ((scores, few), (same, many)) = (with(&[]), with(&[Selectivity::WholeLines]));
        assert_eq!(scores, same, "{root:?}");
        (few.iter().sum::<u64>(), many.iter().sum::<u64>())
    };
    for root in [Root::AspGradual, Root::Bisection, Root::Mtdf] {
        let (few, many) = whole(root);
        assert!(few < many, "{root:?}: {few} {many}");
    }
    let out = succeed(&["--depth", "3", "--limit", "2", "--select", "null-move"]);
    assert!(out.contains("scores: not compared"), "{out}");
}

#[test]
fn the_command_writes_table_csv_json_and_picture() {
    let dir = Directory::new();
    let suite = dir.file("suite.epd", format!("{}; id \"one\";\n{}\n", POSITIONS[4], POSITIONS[2]));
    let picture = dir.path("plot.svg");
    let out = succeed(&[&suite, "--depth", "3", "--svg", &picture]);
    assert!(out.contains("sound cells on 2 positions agree"), "{out}");
    assert!(out.contains("pvs asp-gradual no table"), "{out}");
    // The ten rows of the default run, the smallest tree first, have at most 100 columns.
    let rows: Vec<&str> = out.lines().skip(2).take(10).collect();
    assert!(rows[0].contains("+0.0%") && rows[9].starts_with("minimax"), "{out}");
    let quiet = succeed(&[&suite, "--depth", "3", "--leaf", "quiescence", "--all"]);
    for line in out.lines().chain(quiet.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(quiet.lines().count() > 80, "{quiet}");
    let picture = std::fs::read_to_string(&picture).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("pvs mtdf"));

    // A search that is less deep, or a row that is not sound, has nothing to be compared with.
    let axes = ["--interior", "minimax,fail-hard-printed", "--minimax-depth", "2", "--depth", "4"];
    let out = succeed(&[&[suite.as_str()], axes.as_slice()].concat());
    assert!(!out.contains('%'), "{out}");
    // The reference is searched no deeper than the searches that need it.
    succeed(&[&suite, "--interior", "minimax", "--minimax-depth", "2", "--depth", "40"]);

    // The width of the window is an axis that only aspiration has.
    let axes = ["--root", "full,asp-full", "--window", "8,200", "--depth", "3", "--csv"];
    let out = succeed(&[&[suite.as_str()], axes.as_slice()].concat());
    let lines: Vec<&str> = out.lines().skip(1).collect();
    assert_eq!(lines.len(), 3, "{out}");
    let begins = ["pvs,full,-,", "pvs,asp-full,8,", "pvs,asp-full,200,"];
    assert!(lines.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{out}");

    let axes = ["--interior", "pvs,bounds", "--table", "off,exact", "--depth", "3"];
    let out = succeed(&[&[suite.as_str(), "--csv"], axes.as_slice()].concat());
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(&rows[0][0], "pvs");

    // MTD(f) searches a different tree from a different guess.
    let unclear = "r1bqkb1r/pp1n1ppp/2p1pn2/3p4/2PP4/2N1PN2/PP3PPP/R1BQ2K1 w - -";
    let unclear = dir.file("unclear.epd", unclear);
    let nodes = |guess: &str| -> u64 {
        let axes = ["--root", "mtdf", "--no-deepening", "--depth", "3", "--guess", guess, "--json"];
        let out = succeed(&[&[unclear.as_str()], axes.as_slice()].concat());
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        json["rows"][0]["total"]["interior"].as_u64().unwrap()
    };
    assert_ne!(nodes("zero"), nodes("static"));
    assert_eq!(nodes("previous"), nodes("static"), "without deepening there is no score before");

    let out = succeed(&[&[suite.as_str(), "--json"], axes.as_slice()].concat());
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let sum: u64 = row["outcomes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| {
                o["cost"]["interior"].as_u64().unwrap() + o["cost"]["leaves"].as_u64().unwrap()
            })
            .sum();
        let by_depth = row["nodes_by_depth"].as_array().unwrap();
        assert_eq!(by_depth.iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), sum);
    }
}

#[test]
fn errors_say_what_and_where() {
    let dir = Directory::new();
    let output = program::run(&["no/such/file.epd"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("lancet-lab: cannot read no/such/file.epd: "));
    let err = fail(&[&dir.file("bad.epd", "8/8/8/8/8/8/8/8 w - -\n")]);
    assert!(err.contains("bad.epd:1:1: illegal position: "), "{err}");
    let err = fail(&[&dir.file("empty.epd", "\n")]);
    assert!(err.contains("at least one position"), "{err}");
    let err = fail(&["--interior", "alphazero"]);
    assert!(err.contains("alphazero") && err.contains("pvs"), "{err}");
    let suite = dir.file("start.epd", POSITIONS[0]);
    let err = fail(&[&suite, "--leaf", "network", "--network", &suite]);
    assert!(err.contains("not a Lancet network"), "{err}");
    let err = fail(&["explain", "nonsense"]);
    assert!(err.contains("nonsense") && err.contains("mtdf"), "{err}");
    let err = fail(&["explain", "pvs", "--tree", "max (4 (3 x))"]);
    assert!(err.contains("'x'"), "{err}");
    fail(&["explain", "--tree", "max (4 3)"]);
}

#[test]
fn commands_have_manual_pages() {
    assert_eq!(pages::check(&[]), 3);
    let dir = Directory::new();
    succeed(&["generate", &dir.path("out")]);
    assert!(std::fs::exists(dir.path("out/man/lancet-lab-explain.1")).unwrap());
}

/// The lab does not use the playing search, so that each can check the other.
#[test]
fn the_lab_has_searches_of_its_own() {
    let mut files = 0;
    for entry in std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            let foreign = ["search::", "engine::", "Engine", "Limits"];
            let foreign = foreign.into_iter().find(|name| source.contains(name));
            assert_eq!(foreign, None, "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 20, "{files}");
}

/// Checks the pruned leaves of Burch 1997 (see `lancet_lab`) and errors of the printed listings.
#[test]
fn explanations_are_worked_through() {
    for topic in ["fail-hard", "fail-soft", "bounds", "scout", "pvs", "forty", "fifty", "tie"] {
        let out = succeed(&["explain", topic]);
        assert!(out.contains("?? not looked at"), "{topic}: {out}");
        // Fail-hard would return "at most 40" instead.
        assert!(topic != "forty" || out.contains("B is at most 30"), "{out}");
    }
    let out = succeed(&["explain", "mtdf-loop"]);
    assert!(out.contains("result 0") && out.contains("result -5"), "{out}");
}

/// Returns the result of every example of a topic.
fn results(topic: &str) -> Vec<String> {
    let text = succeed(&["explain", topic]);
    let results = text.lines().filter_map(|line| line.trim().strip_prefix("result "));
    results.map(str::to_owned).collect()
}

/// Checks the results of the incorrect score delays and of the correct ones.
#[test]
fn mistakes_of_score_delays_are_worked_through() {
    let begins = |topic: &str, expected: &[&str]| {
        let results = results(topic);
        for (result, expected) in results.iter().zip(expected) {
            assert!(result.starts_with(expected), "{topic}: {results:?}");
        }
        assert!(results.len() >= expected.len(), "{topic}: {results:?}");
    };
    // The search did not look at the mating move, so it returns a positive score for the side that
    // is mated.
    begins("loss-post", &["2, best move B", "2, best move 1", "2, best move 2"]);
    assert!(succeed(&["explain", "loss-post"]).contains("LOSS not looked at"));
    begins("mates-post", &["-31996, best move E", "-31997, best move B"]);
    begins("decay-narrow", &["-2820", "-2909"]);
    let ply = succeed(&["explain", "ply-raw"]);
    assert!(ply.contains("value 31989") && ply.contains("value 31991"), "{ply}");
    let leaves = results("loss-swapped").into_iter().map(|result| {
        let (_, rest) = result.split_once("leaves ").unwrap();
        rest.split_once(',').unwrap().0.parse::<u32>().unwrap()
    });
    assert_eq!(leaves.collect::<Vec<_>>(), [3, 2]);
}

/// Checks that MTD(f) with a table does not repeat searches whose results are in the table, and
/// that a node that two paths lead to is searched once.
#[test]
fn tables_are_worked_through() {
    let leaves = |topic: &str| -> Vec<String> {
        let results = results(topic).into_iter();
        results.map(|r| r.split_once("leaves ").unwrap().1.to_owned()).collect()
    };
    let mtdf = leaves("mtdf");
    assert!(
        mtdf[0].starts_with("8,") && mtdf[1].starts_with("7,") && mtdf[1].contains("table 1"),
        "{mtdf:?}"
    );
    let [memory, off] = ["table", "off"].map(|topic| leaves(topic)[0].clone());
    assert!(memory.starts_with("4,") && memory.contains("settled by the table 1"), "{memory}");
    assert!(off.starts_with('6'), "{off}");
    // Only bisection needs the second bound.
    let text = succeed(&["explain", "entries"]);
    let nodes = |row: &str| {
        let line = text.lines().find(|line| line.trim().starts_with(row));
        let words: Vec<&str> = line.unwrap().split_whitespace().collect();
        let at = words.iter().position(|&word| word == "nodes").unwrap();
        words[at - 1].parse::<u64>().unwrap()
    };
    assert!(nodes("pvs bisection one-bound") > nodes("pvs bisection "), "{text}");
    assert_eq!(nodes("pvs mtdf one-bound"), nodes("pvs mtdf "), "{text}");
}

/// Every value of every axis has a topic. Every topic names its source, and a file with functions
/// or types that exist.
#[test]
fn everything_is_explained_where_it_stands() {
    fn names<T: ValueEnum + Copy>() -> Vec<String> {
        T::value_variants().iter().copied().map(name).collect()
    }
    let axes = [
        names::<Interior>(),
        names::<Root>(),
        names::<TableMode>(),
        names::<Entries>(),
        names::<Replacement>(),
        names::<ScoreDelay>(),
        names::<Ordering>(),
        names::<Selectivity>(),
        names::<Leaf>(),
    ];
    let list = succeed(&["explain"]);
    let topics = list.lines().map(|line| line.split_whitespace().next().unwrap());
    let topics: BTreeSet<&str> = axes.iter().flatten().map(String::as_str).chain(topics).collect();
    let values: BTreeSet<&str> = axes.iter().flatten().map(String::as_str).collect();
    for topic in topics {
        let text = succeed(&["explain", topic]);
        let worked: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("Example (") || line.starts_with("Counts ("))
            .collect();
        assert!(!worked.is_empty() && text.contains("\n\n    "), "{topic} is not shown at work");
        // The text is for this topic, and has an example of it.
        assert!(text.starts_with(&format!("{topic}: ")), "{topic}: {text}");
        let own = |line: &&str| {
            let (_, search) = line.split_once('(').unwrap();
            search.split_once(" on ").unwrap().0.split([' ', ',']).any(|word| word == topic)
        };
        let implied = ["table", "none", "static"].contains(&topic);
        let runs = worked.iter().any(own);
        assert!(!values.contains(topic) || implied || runs, "{topic} is not run: {worked:?}");
        let after = |label: &str| {
            let (_, rest) = text.split_once(label).unwrap_or_else(|| panic!("{topic}: {label}"));
            rest.split_once('\n').unwrap()
        };
        // The source has author, year and link.
        let (source, _) = after("\n- source: ");
        let years =
            source.split(' ').filter_map(|word| word.trim_end_matches([',', ';']).parse().ok());
        assert!(years.into_iter().any(|year: u32| (1950..2030).contains(&year)), "{source}");
        let (place, rest) = after("\n- code: ");
        let (cited, _) = rest.split_once("\n\n").unwrap();
        let known = cited.lines().filter_map(|line| line.split_once(": "));
        let mut known = known.filter(|(_, of)| of.contains("https://")).map(|(name, _)| name);
        assert!(known.any(|name| source.contains(name)), "{topic}: {source}: {cited}");
        for place in place.split("; ") {
            let (file, items) = place.split_once(", ").unwrap_or((place, ""));
            let path = std::path::Path::new(crate::ROOT).join(file);
            let source = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
            for item in items.split([' ', ',']).filter(|word| !word.is_empty() && *word != "and") {
                let item = item.rsplit("::").next().unwrap();
                assert!(source.contains(item), "{place}: no {item}");
            }
        }
    }
}
