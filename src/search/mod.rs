//! The search: iterative deepening (`root`), principal variation search (`interior`), quiescence
//! search (`quiescence`), and pruning and reduction (`prune`). `picker` orders the moves, with the
//! help of `history`. `tt` is the transposition table (TT). `mate` proves mates for `go mate`.
//! `params` has the constants. The search does not print. It reports through [`Reporter`].
//!
//! A node lowers the losing bounds of its window on entry, and raises its own losing score on
//! return ([`crate::chess::score`]). Scores, bounds and table entries are therefore always relative
//! to their own node.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use shakmaty::Move;

use crate::{
    chess::{
        movegen::is_checkmate,
        position::{Game, PackedMove, Position},
        reversible,
        score::{DRAW, EVALUATION_LIMIT, MATE, NO_SCORE, Score, Window},
    },
    eval::{Evaluator, nnue::Network, weight},
    play::{
        clock::Budget,
        limits::{Limits, LiveOptions},
        report::Reporter,
        signals::Signals,
        strength::Handicap,
        syzygy::{Confirming, Prober},
    },
    search::{
        history::{FromTo, Histories, PieceTo, Previous},
        tt::{Entry, Table},
    },
    system::sync::lock,
};

pub(crate) mod history;
mod interior;
mod mate;
pub mod params;
pub(crate) mod picker;
pub mod prune;
mod pv;
mod quiescence;
pub mod root;
pub mod tt;

pub use pv::MAX_PLY;
use pv::PvTable;
pub use root::{RootMove, RootSearch};

/// Nodes that thread 0 must search before a stop may end the first iteration. They take a
/// few milliseconds.
const FIRST_NODES: u64 = 5000;
/// Nodes between two checks of the clock and the stop flag: about 40 microseconds.
const CHECK_INTERVAL: u64 = 64;
/// Largest part of an evaluation, in centipawns of either sign, that shrinks as the halfmove clock
/// rises. The rest is kept.
const DAMPED: Score = 600;

/// Tables of up to this size, in MiB, mostly fit in the processor's caches.
const CACHED_MIB: usize = 8;

/// Time between two reports of the line being searched.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Halfmove clock from which a player may claim a draw. The search scores such positions as draws.
const CLAIMABLE_FROM: u32 = 100;
/// Halfmove clock from which the game is drawn without a claim (75-move rule). If the root has
/// reached [`CLAIMABLE_FROM`] and the draw was not claimed, the search uses this limit instead.
const DRAWN_FROM: u32 = 150;

/// Number of stack entries before the root. With them, the entry four plies back always exists.
const STACK_OFFSET: usize = 4;

/// State shared by all threads of one search.
pub(crate) struct Shared<'a> {
    /// The transposition table.
    pub table: &'a Table,
    /// The limits of the search.
    pub limits: &'a Limits,
    /// The time budget; `None` if time does not limit the search.
    pub budget: Option<Budget>,
    /// The score of the same side's previous move, for the time budget.
    pub last_score: Option<Score>,
    /// Nodes that count as one millisecond of the budget; 0 uses the real clock.
    pub nodes_per_ms: u64,
    /// Stop and ponderhit signals.
    pub signals: &'a Signals,
    /// The root moves to search, with their state at the start.
    pub root_moves: Vec<RootMove>,
    /// The simulated weaker player, whose errors the search makes; `None` at full strength.
    pub handicap: Option<Handicap>,
    /// Tablebases for positions inside the tree.
    pub prober: Option<Prober<'a>>,
    /// Cuts the reported principal variations where they contradict the tablebases.
    pub confirming: Option<Confirming<'a>>,
    /// Number of successful tablebase probes.
    pub tbhits: AtomicU64,
    /// Options that may change during the search.
    pub live: &'a LiveOptions,
    /// Receives the search information of thread 0, and tablebase errors.
    pub reporter: &'a dyn Reporter,
    /// The search algorithm at the root.
    pub root_search: RootSearch,
    /// Enables pruning, reductions, extensions and quiescence search. If off, the search is plain
    /// full-width PVS with static evaluation at the leaves, which the tests compare with minimax.
    pub selective: bool,
    /// Leaves the optimism and the halfmove clock out of static evaluations.
    pub neutral: bool,
    /// Set when the search is over.
    pub done: AtomicBool,
    /// Node count of each thread at its last check.
    pub nodes: Vec<AtomicU64>,
    /// The line that each thread was searching at its last report.
    pub lines: Vec<Mutex<Vec<Move>>>,
    /// Start time of the search.
    pub start: Instant,
}

impl Shared<'_> {
    /// Returns the node count of all threads together.
    pub fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }

    /// Returns whether this is an analysis, in which the user wants scores and not just a move to
    /// play: an infinite search, one marked as analysis, one with several lines, or one with
    /// `searchmoves`. Searches at limited strength are not analyses, although they may search only
    /// some moves.
    fn is_analysis(&self) -> bool {
        let limits = self.limits;
        let several = self.live.multi_pv.load(Relaxed) > 1 || !limits.searchmoves.is_empty();
        self.handicap.is_none() && (limits.infinite || limits.analyse || several)
    }

    /// Returns the time that the nodes searched so far represent; `None` if the real clock counts.
    fn node_time(&self) -> Option<Duration> {
        let micros = (self.total_nodes() * 1000).checked_div(self.nodes_per_ms)?;
        Some(Duration::from_micros(micros))
    }
}

/// State that a thread keeps between searches.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Move-ordering and correction tables.
    pub histories: Histories,
    /// Evaluation and its caches.
    pub evaluator: Evaluator,
    /// Working space, kept so that short searches need not allocate it again.
    stack: Vec<StackEntry>,
    pv: PvTable,
}

impl Memory {
    /// Creates the state of a thread that evaluates with this network.
    pub fn new(network: Option<Arc<Network>>) -> Memory {
        Memory {
            histories: Histories::default(),
            evaluator: Evaluator::new(network),
            stack: vec![StackEntry::EMPTY; MAX_PLY + STACK_OFFSET + 4],
            pv: PvTable::default(),
        }
    }
}

/// The search's state at one ply of the current line.
#[derive(Clone, Copy, Debug)]
struct StackEntry {
    /// Corrected static evaluation, `NO_SCORE` in check.
    evaluation: Score,
    /// Piece and target of the move made here; `None` for a null move and before any move is made.
    moved: Option<PieceTo>,
    /// Butterfly index of that move, if it is a quiet move of an interior node.
    quiet: Option<FromTo>,
    /// The move excluded here by a singular search.
    excluded: PackedMove,
    /// Set with `excluded`: whether the node is, or has been, on a principal variation. The
    /// singular search reads it instead of the TT entry.
    was_pv: bool,
    /// Number of fail highs at this ply since the current node two plies above was entered.
    cutoffs: u32,
    /// Position in the move ordering, from 1, of the move made here; 0 at the root and for moves
    /// outside the move loop.
    number: i32,
    /// Reduction of that move, in plies.
    reduction: i32,
}

impl StackEntry {
    const EMPTY: StackEntry = StackEntry {
        evaluation: NO_SCORE,
        moved: None,
        quiet: None,
        excluded: PackedMove::NONE,
        was_pv: false,
        cutoffs: 0,
        number: 0,
        reduction: 0,
    };
}

/// The type of a node, known at compile time. It does not follow from the width of the window,
/// because mate distance pruning and upcoming repetitions may narrow the window.
trait NodeType {
    /// The node is a PV node. It is searched with an open window and collects its principal
    /// variation. TT entries cut it off only if they are deeper and not decisive, and never in
    /// quiescence.
    const PV: bool;
}

struct Pv;
impl NodeType for Pv {
    const PV: bool = true;
}

struct NonPv;
impl NodeType for NonPv {
    const PV: bool = false;
}

/// The parameters of a node's search.
#[derive(Clone, Copy)]
struct Search {
    /// The window, from the side to move's point of view. `search` takes it before the score shift,
    /// and all later steps take it shifted ([`crate::chess::score`]).
    window: Window,
    /// Remaining depth, in plies.
    depth: i32,
    /// Distance from the root, in plies.
    ply: usize,
    /// The node is an expected cut node: it should fail high.
    cut: bool,
}

/// The search was stopped before it had a score. `?` passes this up the tree, so that the nodes on
/// the way neither store entries nor update histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stopped;

/// A result of a search that may be stopped.
type Result<T, E = Stopped> = std::result::Result<T, E>;

/// One thread's search.
pub(crate) struct Worker<'a> {
    shared: &'a Shared<'a>,
    histories: &'a mut Histories,
    evaluator: &'a mut Evaluator,
    /// Number of the thread. Thread 0 watches the clock and reports.
    thread: usize,
    root: Position,
    /// Keys of the game and of the current line, oldest first.
    keys: Vec<u64>,
    /// Number of `keys` that belong to the game.
    game_keys: usize,
    /// Positions from this index of `keys` on are drawn at their second occurrence, and earlier
    /// ones at their third. In a game, the first such position is the root, `keys[game_keys]`. In
    /// analysis, it is the one after the root, unless the root has occurred before.
    drawn_from: usize,
    /// Halfmove clock at which the game is drawn.
    drawn_at: u32,
    stack: &'a mut [StackEntry],
    pv: &'a mut PvTable,
    nodes: u64,
    /// Node count at which the limits are checked next.
    next_check: u64,
    /// Deepest ply that this iteration has reached for the current MultiPV line.
    seldepth: usize,
    /// While a null move is being verified, no null move is tried before this ply.
    null_from: usize,
    /// The ply of the node whose null move is being verified. Step 4 does not prune this node, but
    /// TT cutoffs are allowed.
    verified: Option<usize>,
    /// Depth of the current iteration.
    iteration: i32,
    /// How often a root move other than the first raised alpha in this iteration, counted only for
    /// the first MultiPV line.
    changes: u32,
    /// Moving average of the scores of this line's best move in earlier iterations.
    average_score: Score,
    /// The mate search is running.
    proving: bool,
    /// The time for this move ran out while the engine was pondering.
    ponder_spent: bool,
    root_moves: Vec<RootMove>,
    /// The last reported line of each MultiPV rank.
    reported: Vec<RootMove>,
    /// Time of the next report of the line being searched.
    line_due: Duration,
}

impl<'a> Worker<'a> {
    /// Creates a search of `game` for one thread.
    pub fn new(
        shared: &'a Shared<'a>,
        memory: &'a mut Memory,
        thread: usize,
        game: &Game,
    ) -> Worker<'a> {
        let mut keys = Vec::with_capacity(game.keys().len() + MAX_PLY + 1);
        keys.extend_from_slice(game.keys());
        memory.stack.fill(StackEntry::EMPTY);
        Worker {
            shared,
            histories: &mut memory.histories,
            evaluator: &mut memory.evaluator,
            thread,
            root: game.position().clone(),
            game_keys: keys.len(),
            drawn_from: keys.len() + usize::from(shared.is_analysis() && game.occurrences() < 2),
            drawn_at: if game.position().halfmoves() < CLAIMABLE_FROM {
                CLAIMABLE_FROM
            } else {
                DRAWN_FROM
            },
            keys,
            stack: &mut memory.stack,
            pv: &mut memory.pv,
            nodes: 0,
            next_check: 0,
            seldepth: 0,
            null_from: 0,
            verified: None,
            iteration: 0,
            changes: 0,
            average_score: 0,
            proving: false,
            ponder_spent: false,
            root_moves: shared.root_moves.clone(),
            reported: Vec::new(),
            line_due: LINE_INTERVAL,
        }
    }

    fn stack_at(&mut self, ply: usize) -> &mut StackEntry {
        &mut self.stack[ply + STACK_OFFSET]
    }

    /// Returns the stack entry `back` plies before `ply`. Those before the root are empty.
    fn before(&self, ply: usize, back: usize) -> &StackEntry {
        &self.stack[ply + STACK_OFFSET - back]
    }

    /// Carries out step 1 of a node: limits, draws by rule, mate distance, upcoming repetitions. If
    /// the window is still open, calls `search` with it for the other steps. Returns the score.
    #[inline(always)]
    fn enter<T: NodeType>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
        search: impl FnOnce(&mut Self, Window) -> Result<Score>,
    ) -> Result<Score> {
        self.count_node(ply)?;
        if T::PV {
            self.pv.clear(ply);
        }
        if let Some(score) = self.draw(position, ply) {
            return Ok(score);
        }
        let mut open = window.clamp_to_mates();
        if open.alpha < DRAW && self.shared.selective && self.can_repeat(position, ply) {
            // A side that can repeat a position need not lose.
            open.alpha = DRAW;
        }
        if open.is_empty() {
            return Ok(open.alpha);
        }
        let score = search(self, open)?;
        // A raised alpha is certain, even if the move that proves it was pruned. The table entry
        // does not include this bound, because it depends on the path to the node.
        Ok(if open.alpha > window.alpha { score.max(open.alpha) } else { score })
    }

    /// Counts a node, and checks the limits when a check is due.
    ///
    /// # Errors
    ///
    /// [`Stopped`] if the search must end.
    fn count_node(&mut self, ply: usize) -> Result<()> {
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply);
        if self.nodes >= self.next_check { self.check_limits() } else { Ok(()) }
    }

    #[cold]
    fn check_limits(&mut self) -> Result<()> {
        let shared = self.shared;
        shared.nodes[self.thread].store(self.nodes, Relaxed);
        self.next_check = self.nodes + CHECK_INTERVAL;
        // The clock never ends the first iteration, even if the search started late, so the move to
        // play has been compared with every other move. A stop ends this iteration only after
        // `FIRST_NODES` nodes. A node limit may end it at any time.
        let first = self.iteration == 1 && !self.proving;
        let long = self.thread != 0 || self.nodes >= FIRST_NODES;
        if (shared.done.load(Relaxed) || shared.signals.is_stopped()) && (!first || long) {
            return Err(Stopped);
        }
        if shared.live.show_current_line.load(Relaxed) {
            self.show_line();
        }
        if let Some(limit) = shared.limits.nodes {
            let left = limit.saturating_sub(shared.total_nodes());
            if left == 0 {
                return Err(Stopped);
            }
            // Each thread gets its share, so that together they stay close to the limit.
            let share = left.div_ceil(shared.nodes.len() as u64);
            self.next_check = self.next_check.min(self.nodes + share);
        }
        if self.thread != 0 {
            return Ok(());
        }
        if let Some(budget) = shared.budget
            && !first
            && !shared.signals.is_pondering()
            && (self.ponder_spent
                || shared.node_time().unwrap_or_else(|| shared.signals.elapsed()) >= budget.hard)
        {
            return Err(Stopped);
        }
        Ok(())
    }

    /// Publishes the line being searched every [`LINE_INTERVAL`]. Thread 0 reports the lines of all
    /// threads.
    fn show_line(&mut self) {
        let shared = self.shared;
        let now = shared.start.elapsed();
        if now < self.line_due {
            return;
        }
        self.line_due = now + LINE_INTERVAL;
        let line = |thread: usize| lock(&shared.lines[thread]);
        *line(self.thread) = self.current_line();
        if self.thread == 0 {
            let lines: Vec<Vec<Move>> = (0..shared.lines.len()).map(|i| line(i).clone()).collect();
            shared.reporter.current_lines(&lines);
        }
    }

    /// Returns the moves from the root to the parent of the node being entered, or to the first
    /// null move. The moves are reconstructed from the keys of the line.
    fn current_line(&self) -> Vec<Move> {
        let mut position = self.root.clone();
        let mut line = Vec::new();
        for &key in self.keys.iter().skip(self.game_keys + 1) {
            let moves = position.legal_moves();
            let mut children = moves.iter().map(|&m| (m, position.play(m)));
            let Some((m, child)) = children.find(|(_, child)| child.key() == key) else { break };
            line.push(m);
            position = child;
        }
        line
    }

    /// Makes `m` on `child`, a copy of the position at `ply`. Prefetches the table bucket and the
    /// corrections of the new position. The move is made in place, because a position returned by
    /// value would be copied again right after it was written.
    fn make(&mut self, child: &mut Position, m: Move, ply: usize) {
        let halfmoves = if m.is_zeroing() { 0 } else { child.halfmoves() + 1 };
        self.keys.push(child.key());
        let moved = Some(PieceTo::new(child, m));
        let entry = self.stack_at(ply);
        (entry.moved, entry.quiet, entry.number, entry.reduction) = (moved, None, 0, 0);
        let (turn, previous) = (!child.turn(), self.previous(ply + 1));
        child.make_with(m, |keys| {
            self.shared.table.prefetch(with_clock(keys.position, halfmoves));
            self.histories.corrections().prefetch(keys, turn, previous);
        });
    }

    fn unmake(&mut self) {
        self.keys.pop();
    }

    /// Returns the score of a node at which the game is over by the fifty-move rule, by repetition
    /// or by insufficient material: `DRAW`, or `-MATE` if the move that reached the limit of the
    /// halfmove clock gave checkmate. Returns `None` otherwise.
    ///
    /// A position that occurred inside the tree is drawn at its second occurrence, because both
    /// sides could repeat the cycle. A position before the root is drawn only at its third
    /// occurrence. In analysis, the root is treated like the positions before it, because the
    /// opponent may answer a return to the root with a better move. In games, this would cost Elo
    /// (`HISTORY.md`), because moving back and forth would then look harmless.
    fn draw(&self, position: &Position, ply: usize) -> Option<Score> {
        let halfmoves = position.halfmoves();
        if halfmoves >= self.drawn_at {
            return Some(if is_checkmate(position) { -MATE } else { DRAW });
        }
        if halfmoves >= 4 && self.is_repetition(position.key(), ply, halfmoves as usize) {
            return Some(DRAW);
        }
        (ply > 0 && position.is_insufficient_material()).then_some(DRAW)
    }

    fn is_repetition(&self, key: u64, ply: usize, halfmoves: usize) -> bool {
        let len = self.keys.len();
        let mut occurred = false;
        // The same side was to move 2, 4, 6 ... plies ago. A repetition takes at least 4 plies.
        for back in (4..=halfmoves.min(len)).step_by(2) {
            if self.keys[len - back] == key {
                if self.since_null(ply, back) < back {
                    return false;
                }
                if len - back >= self.drawn_from || occurred {
                    return true;
                }
                occurred = true;
            }
        }
        false
    }

    /// Returns the number of plies since the last null move, at most `most`. If the line has no
    /// null move, returns `most`, which may reach back into the game. A repetition must not include
    /// a null move.
    fn since_null(&self, ply: usize, most: usize) -> usize {
        let null = (1..=ply.min(most)).find(|&back| self.before(ply, back).moved.is_none());
        null.map_or(most, |back| back - 1)
    }

    /// Returns whether the side to move can draw by repeating a position of this line with one
    /// move.
    fn can_repeat(&self, position: &Position, ply: usize) -> bool {
        let line = self.keys.len().saturating_sub(self.drawn_from);
        let most = line.min(position.halfmoves() as usize);
        if most < 3 {
            return false;
        }
        let since = self.keys.len() - self.since_null(ply, most);
        reversible::can_repeat(position, &self.keys[since..])
    }

    /// Returns the TT entry of a position.
    fn probe(&self, position: &Position) -> Option<Entry> {
        if params::table_use() == 0 { None } else { self.shared.table.probe(table_key(position)) }
    }

    /// Probes the table for the position at `ply`. First computes the network's hidden layer while
    /// the prefetched bucket is being loaded, because the position will probably be evaluated. A
    /// table that fits into the processor's caches has no latency to hide, so the hidden layer is
    /// then not computed in advance.
    fn look_up(&mut self, position: &Position, ply: usize) -> Option<Entry> {
        if self.shared.table.mib() > CACHED_MIB {
            self.evaluator.prepare(position, ply);
        }
        self.probe(position)
    }

    /// Returns the uncorrected static evaluation.
    fn evaluate(&mut self, position: &Position, ply: usize) -> Score {
        let mut score = self.evaluator.evaluate(position, ply);
        if let Some(handicap) = &self.shared.handicap {
            score += handicap.misjudgement(position);
        }
        score.clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT)
    }

    /// Returns whether a player of limited strength overlooks this move.
    fn overlooks(&self, position: &Position, m: Move, ply: usize) -> bool {
        self.shared.handicap.as_ref().is_some_and(|h| h.overlooks(position, m, ply))
    }

    /// Returns the static evaluation, uncorrected and corrected. The side to move must not be in
    /// check. The uncorrected evaluation is taken from the TT entry if it has one. For the
    /// corrected one, the optimism is added, the sum is damped by the halfmove clock, and
    /// `correction` is added. With `Shared::neutral`, only `correction` is added.
    fn assess(
        &mut self,
        position: &Position,
        entry: Option<Entry>,
        ply: usize,
        correction: Score,
    ) -> (Score, Score) {
        let raw = match entry {
            Some(e) if e.evaluation != NO_SCORE => e.evaluation,
            _ => self.evaluate(position, ply),
        };
        let mut score = raw;
        if !self.shared.neutral {
            score += self.optimism(position);
            // Only `DAMPED` centipawns are damped. Otherwise it would pay in won endings to give up
            // material just to reset the clock.
            let part = score.clamp(-DAMPED, DAMPED) * position.halfmoves() as Score;
            score -= part / params::damping();
        }
        (raw, (score + correction).clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT))
    }

    /// Returns the optimism: a bonus for the side that is better at the root, and a malus for the
    /// other side. It grows with the material on the board, so that the better side keeps its
    /// pieces.
    fn optimism(&self, position: &Position) -> Score {
        let ours = if position.turn() == self.root.turn() { 1 } else { -1 };
        let most = params::optimism_most() * self.average_score
            / (self.average_score.abs() + params::optimism_half());
        ours * most * (weight(position.board()) - params::optimism_less()) / 1024
    }

    /// Returns the correction of the static evaluation, in centipawns.
    fn correction(&self, position: &Position, ply: usize) -> Score {
        self.histories.corrections().get(position, self.previous(ply))
    }

    /// Returns the earlier moves that index the histories of a move at `ply`.
    fn previous(&self, ply: usize) -> Previous {
        [1, 2, 4].map(|back| self.before(ply, back).moved)
    }
}

/// Returns the key under which a position is stored. The score of a position changes as the
/// fifty-move limit approaches, so the key depends on the halfmove clock. Clocks below 16 share a
/// key. From 16 to 79, each block of eight values shares a key. From 80 on, each ply has its own.
pub(crate) fn table_key(position: &Position) -> u64 {
    with_clock(position.key(), position.halfmoves())
}

fn with_clock(key: u64, halfmoves: u32) -> u64 {
    let halfmoves = u64::from(halfmoves);
    let bucket = if halfmoves < 16 {
        0
    } else if halfmoves < 80 {
        halfmoves / 8
    } else {
        halfmoves
    };
    key ^ bucket.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
