//! The lab's promises: every algorithm against brute force on random trees and
//! tangles, for all windows and all score delays; MTD(f) where it misbehaves;
//! tic-tac-toe; chess positions.

use lancet::{
    lab::{
        cell::Cell,
        chess::{Board, Leaf},
        delay::ScoreDelay,
        game::{Bounds, Game},
        interior::Interior,
        node::{Oracle, Ordering, Search},
        root::Root,
        run::{Settings, attains, replay, run},
        table::{Replacement, Table, TableMode},
        tictactoe::TicTacToe,
    },
    position::Position,
    score::{DECISIVE, MATE, Score, Window},
};
use shakmaty::CastlingMode;

const INTERIORS: [Interior; 7] = [
    Interior::Minimax,
    Interior::StopAtWin,
    Interior::FailHard,
    Interior::FailSoft,
    Interior::Bounds,
    Interior::Scout,
    Interior::Pvs,
];
const DELAYS: [ScoreDelay; 4] =
    [ScoreDelay::None, ScoreDelay::Mates, ScoreDelay::Loss, ScoreDelay::Decay];
const SOUND_ROOTS: [Root; 7] = [
    Root::Full,
    Root::AspFull,
    Root::AspFullOff,
    Root::AspGradual,
    Root::AspGradualOff,
    Root::Bisection,
    Root::Mtdf,
];

/// splitmix64: the tests' only randomness, so that a failure has a number.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A random game of a few states that lead to each other: positions transpose,
/// repeat at other depths, and end. With `states` large it is a tree.
#[derive(Clone, Copy, Debug)]
struct Tangle {
    seed: u64,
    states: u64,
    state: u64,
    max: bool,
}

/// Scores around every edge that a delay has.
const PALETTE: [Score; 24] = [
    -MATE,
    -MATE + 1,
    -MATE + 2,
    -DECISIVE - 1,
    -DECISIVE,
    -DECISIVE + 1,
    -64,
    -33,
    -32,
    -31,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    31,
    33,
    64,
    DECISIVE,
    DECISIVE + 1,
    MATE - 1,
    MATE,
];

impl Tangle {
    fn new(seed: u64, states: u64) -> Tangle {
        Tangle { seed, states, state: 0, max: mix(seed) & 1 == 0 }
    }

    fn random(&self, salt: u64) -> u64 {
        mix(self.seed ^ mix(self.key() ^ mix(salt)))
    }

    fn value(&self) -> Score {
        PALETTE[(self.random(1) % PALETTE.len() as u64) as usize]
    }
}

impl Game for Tangle {
    type Move = u64;

    fn moves(&self) -> Vec<u64> {
        let count = if self.random(2) % 8 == 0 { 0 } else { 1 + self.random(3) % 3 };
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

/// The truth, by the shortest road: no window, no table, no Search.
fn brute<G: Game>(p: &G, depth: u32, delay: ScoreDelay) -> Score {
    let moves = p.moves();
    if let Some(value) = p.terminal(&moves) {
        return value;
    }
    if depth == 0 {
        return p.evaluate();
    }
    let best = moves.iter().map(|&m| -brute(&p.make(m), depth - 1, delay)).max();
    delay.at(|| p.evaluate()).score(best.unwrap_or(-MATE))
}

fn table(mode: TableMode) -> Table<u64> {
    Table::new(64, mode, Replacement::TwoLevel)
}

/// All windows between the values that a tree can have and their neighbours.
fn windows(values: &[Score]) -> Vec<Window> {
    let mut bounds: Vec<Score> = values.iter().flat_map(|&v| [v - 1, v, v + 1]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let pairs = bounds.iter().flat_map(|&a| bounds.iter().map(move |&b| (a, b)));
    pairs.filter(|(a, b)| a < b).map(|(a, b)| Window::new(a, b)).collect()
}

/// Every interior and delay on one game for all windows; returns how many
/// pairs of game and window that were.
fn all_windows(game: Tangle, depth: u32, mode: TableMode) -> u64 {
    let mut pairs = 0;
    let truths = DELAYS.map(|delay| brute(&game, depth, delay));
    // Bounds near the truths matter most; the palette brings the far ones.
    let mut values: Vec<Score> = truths.to_vec();
    values.extend((0..4).map(|i| PALETTE[(game.random(100 + i) % 24) as usize]));
    for window in windows(&values) {
        pairs += 1;
        for (delay, truth) in DELAYS.into_iter().zip(truths) {
            for interior in INTERIORS {
                let mut search = Search::new(delay, Ordering::Table, table(mode));
                search.root_depth = depth;
                check(&mut search, &game, interior, depth, window, truth, delay);
            }
        }
    }
    pairs
}

fn check(
    search: &mut Search<Tangle>,
    game: &Tangle,
    interior: Interior,
    depth: u32,
    window: Window,
    truth: Score,
    delay: ScoreDelay,
) {
    let bounds = search.node(interior, game, depth, window);
    let score = bounds.score(window);
    let what = || {
        format!("{game:?} depth {depth} {interior:?} {delay:?} {window:?}: {bounds:?}, not {truth}")
    };
    assert!(bounds.low <= truth && truth <= bounds.up, "a lie: {}", what());
    assert_eq!(score <= window.alpha, truth <= window.alpha, "{}", what());
    assert_eq!(score >= window.beta, truth >= window.beta, "{}", what());
    if window.contains(truth) {
        assert_eq!(bounds, Bounds::exact(truth), "{}", what());
    }
    if score > window.alpha && !game.moves().is_empty() && depth > 0 {
        let best = search.best.unwrap_or_else(|| panic!("no best move: {}", what()));
        let value = -brute(&game.make(best), depth - 1, delay);
        let value = delay.at(|| game.evaluate()).score(value);
        assert!(value >= bounds.low, "the best move is worth {value}: {}", what());
    }
}

fn many_windows(pairs: u64) -> u64 {
    let (mut done, mut seed) = (0, 0);
    while done < pairs {
        seed += 1;
        let depth = 1 + (seed % 4) as u32;
        let (states, mode) = match seed % 3 {
            0 => (1 << 40, TableMode::Off),
            1 => (7, TableMode::Off),
            _ => (7, TableMode::Exact),
        };
        done += all_windows(Tangle::new(seed, states), depth, mode);
    }
    done
}

/// The fast part of the next test. Each pair is searched by seven interiors
/// under four delays.
#[test]
fn delays_never_turn_bounds_into_scores() {
    assert!(many_windows(20_000) >= 20_000);
}

/// A million pairs of a random game and a window:
/// `cargo test --release --test lab -- --ignored --nocapture`.
#[test]
#[ignore = "about a minute; the fast part always runs"]
fn delays_never_turn_bounds_into_scores_a_million_times() {
    let pairs = many_windows(1_000_000);
    println!("{pairs} pairs of game and window, {} searches", pairs * 28);
    assert!(pairs >= 1_000_000);
}

/// One table over all windows and depths: what earlier searches left there is
/// relative to its node, so later ones may use it.
#[test]
fn exact_tables_keep_the_truth() {
    for seed in 0..400 {
        let game = Tangle::new(seed, 9);
        for delay in DELAYS {
            let replacement = [
                Replacement::Deepest,
                Replacement::Largest,
                Replacement::Newest,
                Replacement::TwoLevel,
            ][(seed % 4) as usize];
            let mut search =
                Search::new(delay, Ordering::Table, Table::new(16, TableMode::Exact, replacement));
            for depth in 1..6 {
                search.root_depth = depth;
                let truth = brute(&game, depth, delay);
                for (i, window) in windows(&[truth, -40, 7]).into_iter().enumerate() {
                    let interior = INTERIORS[(i + seed as usize) % 7];
                    check(&mut search, &game, interior, depth, window, truth, delay);
                }
            }
            assert!(search.cost.cutoffs > 0 || game.moves().is_empty(), "the table was used");
        }
    }
}

fn settings(depth: u32) -> Settings {
    Settings { depth, iterative: true, ordering: Ordering::Table, window: 50, max_passes: 50 }
}

fn score_of<G: Game>(game: &G, cell: &Cell, settings: &Settings) -> (Score, Option<G::Move>, bool) {
    let run = run(game, cell, settings, settings.depth, Oracle::Silent);
    let last = run.depths.last().unwrap();
    (last.score, last.best, last.converged)
}

/// The whole lattice on small tangles: interiors, drivers, tables, delays,
/// with and without deepening.
#[test]
fn every_sound_cell_finds_the_value() {
    for seed in 0..40 {
        let game = Tangle::new(seed, 9);
        for delay in DELAYS {
            let truths: Vec<Score> = (0..=5).map(|depth| brute(&game, depth, delay)).collect();
            for interior in INTERIORS {
                for root in SOUND_ROOTS {
                    for table in [TableMode::Off, TableMode::Exact] {
                        let cell = Cell { interior, root, table, size: 16, delay, ..Cell::ADVICE };
                        for iterative in [true, false] {
                            let settings = Settings { iterative, ..settings(5) };
                            let found = run(&game, &cell, &settings, 5, Oracle::Silent);
                            for (depth, found) in (1..).zip(&found.depths) {
                                assert_eq!(
                                    found.score, truths[depth],
                                    "seed {seed}, {cell}, depth {depth}, deepening {iterative}"
                                );
                                if let Some(best) = found.best {
                                    assert!(attains(
                                        &game,
                                        best,
                                        &cell,
                                        &settings,
                                        depth as u32,
                                        found.score
                                    ));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
