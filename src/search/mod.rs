//! The search: iterative deepening (`root`), principal variation search
//! (`interior`), captures to the end (`quiescence`), and what to leave out
//! (`prune`). `mate` proves mates for `go mate`. Prints nothing; talks through
//! [`Reporter`].
//!
//! A node's window is shifted on the way in and its score on the way out
//! ([`crate::chess::score`]), so that scores, bounds and table entries are always
//! relative to their own node.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use shakmaty::{Move, Square};

use crate::{
    chess::{
        movegen::Generator,
        position::{Game, PackedMove, Position},
        reversible,
        score::{DRAW, EVALUATION_LIMIT, MATE, NO_SCORE, Score, Window},
    },
    eval::{Evaluator, weight},
    play::{
        clock::Budget,
        limits::{Limits, LiveOptions},
        report::Reporter,
        signals::Signals,
        strength::Handicap,
        syzygy::Prober,
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

/// Nodes after which a stop ends the first iteration, too: some milliseconds.
const FIRST_NODES: u64 = 5000;
/// Nodes between two looks at the clock and the stop flag: some 40 microseconds.
const CHECK_INTERVAL: u64 = 64;

/// Tables up to this size, in MiB, are mostly in the processor's cache.
const CACHED_MIB: usize = 8;

/// Time between two reports of the line being searched.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Halfmove clock from which a player may claim a draw. In the tree it is one.
const CLAIMABLE_FROM: u32 = 100;
/// Halfmove clock from which the game is over, claimed or not. A root at which nobody has
/// claimed the draw is searched to here.
const DRAWN_FROM: u32 = 150;

/// Frames before the root, so that "four plies ago" always exists.
const FRAME_OFFSET: usize = 4;

/// What all threads of one search share.
pub(crate) struct Shared<'a> {
    /// The transposition table.
    pub table: &'a Table,
    /// When to end.
    pub limits: &'a Limits,
    /// The time budget, if there is a clock.
    pub budget: Option<Budget>,
    /// Nodes that count as a millisecond of the budget; 0 if the clock does.
    pub nodes_per_ms: u64,
    /// Stop and ponderhit.
    pub signals: &'a Signals,
    /// The root's legal moves that are to be searched, and what is known of them.
    pub root_moves: Vec<RootMove>,
    /// A weaker player's limits and errors.
    pub handicap: Option<Handicap>,
    /// Endgame tables for positions inside the tree.
    pub prober: Option<Prober<'a>>,
    /// Tablebase probes that hit.
    pub tbhits: AtomicU64,
    /// Options that may change meanwhile.
    pub live: &'a LiveOptions,
    /// Where information goes: that of thread 0, and faults of endgame tables.
    pub reporter: &'a dyn Reporter,
    /// How the root looks for its score.
    pub root_search: RootSearch,
    /// Prune, reduce, extend, and search captures at the leaves. Off, the
    /// search is plain full-width alpha-beta with static leaves: the tests
    /// compare that with minimax.
    pub selective: bool,
    /// Set when the search is over.
    pub done: AtomicBool,
    /// Nodes by thread, as of the last check.
    pub nodes: Vec<AtomicU64>,
    /// Lines being searched, by thread, as of the last time that they were asked for.
    pub lines: Vec<Mutex<Vec<Move>>>,
    /// When the search began.
    pub start: Instant,
}

impl Shared<'_> {
    /// Nodes of all threads.
    pub fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }

    /// Whether a user wants to know what moves are worth, and not only the move to play.
    fn is_analysis(&self) -> bool {
        let limits = self.limits;
        let several = self.live.multi_pv.load(Relaxed) > 1 || !limits.searchmoves.is_empty();
        limits.infinite || limits.analyse || several
    }

    /// The time used, if it is counted in nodes.
    fn node_time(&self) -> Option<Duration> {
        let micros = (self.total_nodes() * 1000).checked_div(self.nodes_per_ms)?;
        Some(Duration::from_micros(micros))
    }
}

/// What a thread remembers from search to search.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Move-ordering and correction tables.
    pub histories: Histories,
    /// Evaluation and its caches.
    pub evaluator: Evaluator,
    /// The score of the last search.
    pub last_score: Option<Score>,
    /// Working space, kept so that short searches need not make it anew.
    frames: Vec<Frame>,
    pv: PvTable,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            histories: Histories::default(),
            evaluator: Evaluator::default(),
            last_score: None,
            frames: vec![Frame::EMPTY; MAX_PLY + FRAME_OFFSET + 4],
            pv: PvTable::default(),
        }
    }
}

/// What the search knows of a ply of the current line.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Corrected static evaluation, `NO_SCORE` in check.
    evaluation: Score,
    /// The move made here, if not a null move.
    moved: Option<PieceTo>,
    /// The same as a quiet move of the interior, if it is one.
    quiet: Option<FromTo>,
    /// A move left out here, to see whether it is the only good one.
    excluded: PackedMove,
    /// The node searched without that move is, or has been, on a principal variation.
    was_pv: bool,
    /// How often the nodes here failed high since the grandparent was entered.
    cutoffs: u32,
    /// The place in the order of the move made here, from 1; 0 if it is not of the order.
    number: i32,
    /// How much it was reduced, in plies.
    reduction: i32,
    /// All moves up to this one are of the last iteration's principal variation.
    follows: bool,
}

impl Frame {
    const EMPTY: Frame = Frame {
        evaluation: NO_SCORE,
        moved: None,
        quiet: None,
        excluded: PackedMove::NONE,
        was_pv: false,
        cutoffs: 0,
        number: 0,
        reduction: 0,
        follows: false,
    };
}

/// The type of a node, known when the program is compiled. It does not depend on the width
/// of the window, which mate distance and repetitions may narrow.
trait NodeType {
    /// A PV node has an open window: it collects its principal variation, and only deeper
    /// entries of the table cut it off.
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

/// How a position is searched.
#[derive(Clone, Copy)]
struct Search {
    /// For the side to move; shifted once the node is entered.
    window: Window,
    /// Remaining depth, in plies.
    depth: i32,
    /// Distance from the root, in plies.
    ply: usize,
    /// The node is expected to fail high.
    cut: bool,
}

/// The result of a node's first step.
enum Entered {
    /// The node's score.
    Done(Score),
    /// The window that is left to be searched.
    Open(Window),
}

/// The score of a node with this window, after a search of `open`, which step 1 left of it.
/// What raised alpha is sure, though the move for it may have been pruned. The table has
/// learned without it: it holds on this line only.
fn with_sure_alpha(score: Score, window: Window, open: Window) -> Score {
    if open.alpha > window.alpha { score.max(open.alpha) } else { score }
}

/// The search is over, or broken off: what it was about to return is not known.
/// Passed up the tree by `?`; nothing on the way is stored or learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stopped;

/// A result of a search that may be stopped.
type Result<T, E = Stopped> = std::result::Result<T, E>;

/// One thread's search.
pub(crate) struct Worker<'a> {
    shared: &'a Shared<'a>,
    histories: &'a mut Histories,
    evaluator: &'a mut Evaluator,
    last_score: &'a mut Option<Score>,
    /// 0 is the thread that watches the clock and reports.
    thread: usize,
    root: Position,
    /// Keys of the game and of the current line, oldest first.
    keys: Vec<u64>,
    /// Where the last move of the game took a piece.
    taken: Option<Square>,
    /// How many of `keys` belong to the game.
    game_keys: usize,
    /// The first of `keys` whose position is drawn when it occurs once more: that of the
    /// root, `keys[game_keys]`, or in analysis the one after it, unless the root has
    /// occurred before.
    drawn_from: usize,
    /// Halfmove clock at which the game is drawn.
    drawn_at: u32,
    frames: &'a mut [Frame],
    pv: &'a mut PvTable,
    nodes: u64,
    /// Node count of the next look at the clock.
    next_check: u64,
    /// Deepest ply of the current line of the iteration.
    seldepth: usize,
    /// No null move before this ply, while one is being verified.
    null_from: usize,
    /// The ply of the node whose null move is being verified: nothing else of step 4 prunes
    /// it, but the table may answer.
    verified: Option<usize>,
    /// Depth of the current iteration.
    iteration: i32,
    /// The mean of the root's scores so far.
    outlook: Score,
    /// The principal variation of the last iteration.
    last_pv: Vec<Move>,
    /// The window of the root's current pass.
    root_window: Window,
    /// Iterations in a row in which neither the best move nor its score have changed.
    steady: u32,
    /// The proof search for mates is at work.
    proving: bool,
    /// The time for this move was over while the opponent was still thinking.
    ponder_spent: bool,
    root_moves: Vec<RootMove>,
    /// The last reported line of each rank.
    reported: Vec<RootMove>,
    /// When the line being searched is to be reported next.
    line_due: Duration,
}

impl<'a> Worker<'a> {
    /// A search of `game` by one thread.
    pub fn new(
        shared: &'a Shared<'a>,
        memory: &'a mut Memory,
        thread: usize,
        game: &Game,
    ) -> Worker<'a> {
        let mut keys = Vec::with_capacity(game.keys().len() + MAX_PLY + 1);
        keys.extend_from_slice(game.keys());
        memory.frames.fill(Frame::EMPTY);
        Worker {
            shared,
            histories: &mut memory.histories,
            evaluator: &mut memory.evaluator,
            last_score: &mut memory.last_score,
            thread,
            root: game.position().clone(),
            taken: game.last().filter(|m| m.is_capture()).map(|m| m.to()),
            game_keys: keys.len(),
            drawn_from: keys.len() + usize::from(shared.is_analysis() && game.occurrences() < 2),
            drawn_at: if game.position().halfmoves() < CLAIMABLE_FROM {
                CLAIMABLE_FROM
            } else {
                DRAWN_FROM
            },
            keys,
            frames: &mut memory.frames,
            pv: &mut memory.pv,
            nodes: 0,
            next_check: 0,
            seldepth: 0,
            null_from: 0,
            verified: None,
            iteration: 0,
            outlook: 0,
            last_pv: Vec::new(),
            root_window: Window::FULL,
            steady: 0,
            proving: false,
            ponder_spent: false,
            root_moves: shared.root_moves.clone(),
            reported: Vec::new(),
            line_due: LINE_INTERVAL,
        }
    }

    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + FRAME_OFFSET]
    }

    /// The frame `back` plies before `ply`; there is always one, maybe empty.
    fn before(&self, ply: usize, back: usize) -> &Frame {
        &self.frames[ply + FRAME_OFFSET - back]
    }

    /// Step 1 of every node: limits, draws by rule, mate distance, upcoming repetitions.
    #[inline(always)]
    fn enter<T: NodeType>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
    ) -> Result<Entered> {
        self.count_node(ply)?;
        if T::PV {
            self.pv.clear(ply);
        }
        if let Some(score) = self.draw(position, ply) {
            return Ok(Entered::Done(score));
        }
        let mut open = window.clamp_to_mates();
        if open.alpha < DRAW && self.shared.selective && self.can_repeat(position, ply) {
            // Who can repeat need not lose.
            open.alpha = open.alpha.max(self.draw_score());
        }
        Ok(if open.is_empty() { Entered::Done(open.alpha) } else { Entered::Open(open) })
    }

    /// Counts a node, and ends the search if it is time.
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
        // However late it began, the first iteration is finished, so that its move has been
        // compared with the others. A stop ends it only after some milliseconds.
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
            // To every thread its share: together they stay close to the limit.
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

    /// Now and then makes the line being searched known; thread 0 tells them all.
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

    /// The moves from the root to the parent of the node being entered, or to
    /// the first null move, found again by the keys of the line.
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

    /// Makes `m` on `child`, a copy of the position at `ply`. In place: what is returned
    /// would be copied once more, while it is still being written. What will be read
    /// of the table and of the corrections is fetched meanwhile.
    fn make(&mut self, child: &mut Position, m: Move, ply: usize) {
        let halfmoves = if m.is_zeroing() { 0 } else { child.halfmoves() + 1 };
        self.keys.push(child.key());
        let moved = Some(PieceTo::new(child, m));
        let follows = self.follows(ply) && self.last_pv.get(ply) == Some(&m);
        let frame = self.frame(ply);
        (frame.moved, frame.quiet, frame.number, frame.reduction) = (moved, None, 0, 0);
        frame.follows = follows;
        let (turn, previous) = (!child.turn(), self.previous(ply + 1));
        child.make_telling(m, |keys| {
            self.shared.table.prefetch(with_clock(keys.position, halfmoves));
            self.histories.corrections().prefetch(keys, turn, previous);
        });
    }

    /// Is the node at `ply` of the last iteration's principal variation?
    fn follows(&self, ply: usize) -> bool {
        params::follow_pv() > 0 && (ply == 0 || self.before(ply, 1).follows)
    }

    fn unmake(&mut self) {
        self.keys.pop();
    }

    /// Drawn by fifty moves, repetition or material; `None` if not.
    ///
    /// A position that occurred inside the tree is drawn the second time, since both
    /// sides could go round once more. The positions before the root are drawn the third
    /// time only, and in analysis so is the root: whoever returns to it may be answered by
    /// a better move. In games that costs 18 +/- 12 Elo, since shuffling then seems to lose
    /// nothing. Mate on the hundredth ply wins.
    fn draw(&self, position: &Position, ply: usize) -> Option<Score> {
        let halfmoves = position.halfmoves();
        if halfmoves >= self.drawn_at {
            let mated = position.is_check() && !Generator::new(position).any();
            return Some(if mated { -MATE } else { self.draw_score() });
        }
        if halfmoves >= 4 && self.is_repetition(position.key(), ply, halfmoves as usize) {
            return Some(self.draw_score());
        }
        (ply > 0 && position.is_insufficient_material()).then(|| self.draw_score())
    }

    /// The score of a draw by rule. A little noise makes the search try several.
    fn draw_score(&self) -> Score {
        if params::draw_jitter() > 0 { DRAW - 1 + (self.nodes & 2) as Score } else { DRAW }
    }

    fn is_repetition(&self, key: u64, ply: usize, halfmoves: usize) -> bool {
        let len = self.keys.len();
        let mut occurred = false;
        // The same side was to move 2, 4, 6 ... plies ago; the first repetition
        // possible is 4 plies back.
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

    /// Of the last `most` plies, the game's included, those since the last null move: nothing
    /// is repeated by passing.
    fn since_null(&self, ply: usize, most: usize) -> usize {
        let null = (1..=ply.min(most)).find(|&back| self.before(ply, back).moved.is_none());
        null.map_or(most, |back| back - 1)
    }

    /// Can the side to move draw by repeating a position of this line with one move?
    fn can_repeat(&self, position: &Position, ply: usize) -> bool {
        let line = self.keys.len().saturating_sub(self.drawn_from);
        let most = line.min(position.halfmoves() as usize);
        if most < 3 {
            return false;
        }
        let since = self.keys.len() - self.since_null(ply, most);
        reversible::can_repeat(position, &self.keys[since..])
    }

    /// What the table knows of a position.
    fn probe(&self, position: &Position) -> Option<Entry> {
        if params::table_use() == 0 { None } else { self.shared.table.probe(table_key(position)) }
    }

    /// The same of the position at `ply`. Meanwhile its hidden layer is made ready, since it
    /// will probably be evaluated; not beside a table so small that the cache holds it.
    fn look_up(&mut self, position: &Position, ply: usize) -> Option<Entry> {
        if self.shared.table.mib() > CACHED_MIB {
            self.evaluator.prepare(position, ply);
        }
        self.probe(position)
    }

    /// The uncorrected static evaluation.
    fn evaluate(&mut self, position: &Position, ply: usize) -> Score {
        let mut score = self.evaluator.evaluate(position, ply);
        if let Some(handicap) = &self.shared.handicap {
            score += handicap.misjudgement(position);
        }
        score.clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT)
    }

    /// Does a weaker player not see this move?
    fn overlooks(&self, position: &Position, m: Move, ply: usize) -> bool {
        self.shared.handicap.as_ref().is_some_and(|h| h.overlooks(position, m, ply))
    }

    /// The static evaluation of a position whose side to move is not in check: as the table
    /// has it, and corrected by what the search has learned about its errors.
    fn assess(&mut self, position: &Position, entry: Option<Entry>, ply: usize) -> (Score, Score) {
        let raw = match entry {
            Some(e) if e.evaluation != NO_SCORE => e.evaluation,
            _ => self.evaluate(position, ply),
        };
        let correction = self.histories.corrections().get(position, self.previous(ply));
        let mut hoped = raw + self.optimism(position);
        if params::fifty_damping() > 0 {
            hoped -= hoped * position.halfmoves() as Score / 200;
        }
        (raw, (hoped + correction).clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT))
    }

    /// What the score at the root adds to the evaluation: an attacker keeps pieces on.
    fn optimism(&self, position: &Position) -> Score {
        if params::optimism() == 0 {
            return 0;
        }
        let ours = if position.turn() == self.root.turn() { 1 } else { -1 };
        let most =
            params::optimism_most() * self.outlook / (self.outlook.abs() + params::optimism_half());
        ours * most * (weight(position.board()) - params::optimism_less()) / 1024
    }

    /// How much more than usual the evaluation of this position is corrected, in centipawns.
    fn doubt(&self, position: &Position, ply: usize) -> Score {
        if params::correction_size() == 0 {
            return 0;
        }
        let correction = self.histories.corrections().get(position, self.previous(ply));
        correction.abs() - params::correction_usual()
    }

    /// The moves that the histories of a move at `ply` depend on.
    fn previous(&self, ply: usize) -> Previous {
        [1, 2, 4].map(|back| self.before(ply, back).moved)
    }
}

/// The key under which a position is stored: near the fifty-move rule the
/// same pieces are worth less, so the clock becomes part of the key.
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
