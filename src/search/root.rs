//! The root: iterative deepening, and four ways to find an iteration's score:
//! aspiration windows, the full window, bisection, MTD(f).
//!
//! Source: D. Eppstein, ["Variants of Alpha-Beta Search"][notes], lecture notes of
//! ICS 180, University of California, Irvine, Winter 1999.
//!
//! [notes]: https://www.ics.uci.edu/~eppstein/180a/990202b.html

use std::{cmp::Reverse, sync::atomic::Ordering::Relaxed, time::Duration};

use shakmaty::Move;

use super::{
    CLAIMABLE_FROM, MAX_PLY, NodeType, NonPv, Pv, Result, Search, Stopped, Worker,
    mate::MateSearch,
    params as p,
    prune::{self, MoveFacts},
    table_key,
};
use crate::{
    chess::{
        movegen::{Generator, is_tactical},
        position::{PackedMove, Position},
        score::{Bounds, DECISIVE, DRAW, INFINITE, MATE, NO_SCORE, Score, Window, is_decisive},
    },
    play::{
        clock::Stability,
        report::{Bound, Info},
        syzygy::{Known, Value},
    },
    search::{history::Context, picker::Picker, tt::Entry},
};

/// Current moves and bounds are reported after this time only, so that fast
/// games are not flooded.
const QUIET_TIME: Duration = Duration::from_secs(3);

/// Longest line to report with a refuted move, that move included.
const REFUTATION_PLIES: usize = 5;

/// Scores so close to their mean, in centipawns, have not changed.
const STEADY: u32 = 12;

/// Null-window passes after which bisection and MTD(f) give up. The range of
/// scores is below 2^16, so that a stable bisection needs at most 16.
const MAX_PASSES: u32 = 40;

/// Moves that draw by rule are worth the score of their search divided by this: they stay
/// close to a draw, and the better ones come first.
const DRAWN_SCALE: Score = 50;

/// Nodes of the ordinary search that find the move to play when there is no mate.
const MOVE_NODES: u64 = 100_000;

/// How the root looks for the score of an iteration (UCI option `Root Search`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootSearch {
    /// A window around the last score, widened gradually.
    Aspiration,
    /// The full window, always.
    FullWindow,
    /// Binary search with null windows.
    Bisection,
    /// Null windows at the last returned score.
    MtdF,
}

/// What is known of one root move.
#[derive(Clone, Debug)]
pub struct RootMove {
    /// The move.
    pub(crate) m: Move,
    /// Its score in the last pass that searched it; `-INFINITE` if it was not above alpha
    /// there, unless it was the first move of the pass.
    pub(crate) score: Score,
    /// That score when the iteration before ended.
    pub(crate) previous: Score,
    /// The mean of its scores as the best move, in which older ones fade; `-INFINITE` before.
    average: Score,
    /// What `score` says.
    pub(crate) bound: Bound,
    /// The iteration that `score` is from, in plies.
    pub(crate) depth: u32,
    /// Best line, this move first.
    pub(crate) pv: Vec<Move>,
    /// Deepest ply of the iteration up to the search behind `pv`.
    pub(crate) seldepth: usize,
    /// Nodes below this move in the searches for the first line.
    pub(crate) nodes: u64,
    /// What the endgame tables say of it.
    pub(crate) known: Option<Known>,
    /// After this move the game is drawn whatever the search says of it: neither side
    /// has mating material, or the fifty-move rule lets the opponent claim a draw.
    pub(crate) drawn: bool,
}

impl RootMove {
    /// Moves that keep a better result by the endgame tables come first,
    /// whatever their score.
    fn value(&self) -> Option<Value> {
        self.known.map(|known| known.value)
    }

    /// An iteration has found it best, with this score.
    fn note_average(&mut self) {
        let first = self.average == -INFINITE || is_decisive(self.score);
        self.average = if first { self.score } else { (self.average + self.score) / 2 };
    }

    /// Sorts better moves first.
    fn order(&self) -> impl Ord + use<> {
        Reverse((self.value(), self.score))
    }

    /// Its line as a report of this rank, without nodes, time and table fill. A certain draw
    /// is reported as one, whatever the score of its search.
    fn info(&self, multipv: usize) -> Info {
        let known = self.value().and_then(Value::drawn_score);
        Info {
            depth: self.depth,
            seldepth: self.seldepth.max(1) as u32,
            multipv,
            score: known.or(self.drawn.then_some(DRAW)).unwrap_or(self.score),
            bound: self.bound,
            drawn: self.drawn || known.is_some(),
            nodes: 0,
            hashfull: 0,
            tbhits: 0,
            time: Duration::ZERO,
            pv: self.pv.clone(),
        }
    }
}

/// The window of all scores that are less than `width` away from this one.
fn around(score: Score, width: Score) -> Window {
    Window::new((score - width).max(-INFINITE), (score + width).min(INFINITE))
}

/// The window in which to search a move that draws, so that its score divided by
/// [`DRAWN_SCALE`] answers this one.
fn beside_a_draw(Window { alpha, beta }: Window) -> Window {
    let alpha = alpha.saturating_mul(DRAWN_SCALE) + DRAWN_SCALE - 1;
    let alpha = alpha.clamp(-INFINITE, INFINITE - 1);
    Window::new(alpha, (beta * DRAWN_SCALE).clamp(alpha + 1, INFINITE))
}

/// After an iteration that was stopped: a score of the iteration before, or of a move that
/// failed low, is no match for what this one has found.
fn drop_old_scores(moves: &mut [RootMove]) {
    for rm in moves.iter_mut().filter(|rm| rm.bound == Bound::Upper) {
        rm.score = -INFINITE;
    }
}

/// The root moves to search: all legal ones, or those of `only`.
pub(crate) fn moves(position: &Position, only: &[Move]) -> Vec<RootMove> {
    position
        .legal_moves()
        .into_iter()
        .filter(|m| only.is_empty() || only.contains(m))
        .map(|m| RootMove {
            m,
            score: -INFINITE,
            previous: -INFINITE,
            average: -INFINITE,
            bound: Bound::Upper,
            depth: 0,
            pv: vec![m],
            seldepth: 0,
            nodes: 0,
            known: None,
            drawn: position.is_insufficient_material() || leaves_a_claim(position, m),
        })
        .collect()
}

/// Lets this move the opponent claim a draw by the fifty-move rule, which the side to move
/// could have claimed before it?
fn leaves_a_claim(position: &Position, m: Move) -> bool {
    if position.halfmoves() < CLAIMABLE_FROM || m.is_zeroing() {
        return false;
    }
    let child = position.play(m);
    let mates = child.is_check() && !Generator::new(&child).any();
    !mates
}

/// What one thread found.
#[derive(Clone, Debug)]
pub(crate) struct SearchResult {
    /// The thread, from 0.
    pub thread: usize,
    /// Last completed iteration.
    pub depth: u32,
    /// Last iteration that was reported, completed or not; 0 if none was.
    pub reported: u32,
    /// The root moves, best first.
    pub moves: Vec<RootMove>,
    /// How hard the choice was.
    pub stability: Stability,
    /// It is proved that there is no mate of the length asked for.
    pub no_mate: bool,
}

impl SearchResult {
    /// The best line; nodes, time and table fill are the caller's to know.
    pub fn info(&self) -> Info {
        Info { depth: self.depth, ..self.moves[0].info(1) }
    }
}

impl Worker<'_> {
    /// Deepens until a limit is reached.
    pub fn run(mut self) -> SearchResult {
        self.order_root();
        let limit = self.shared.limits.depth.unwrap_or(u32::MAX).clamp(1, MAX_PLY as u32 - 1);
        let mut stability = Stability::default();
        let mut scores: Vec<Score> = Vec::new();
        let mut completed = 0;
        let mut mate_search = self.mate_search();
        for depth in 1..=limit {
            self.iteration = depth as i32;
            if let Some(line) = mate_search.as_mut().and_then(|search| search.seek(&mut self)) {
                self.adopt(line);
                self.report(true);
                completed = depth;
                break;
            }
            // One line needs its own move only, several may need any.
            let lines = self.lines();
            let kept = if lines > 1 { self.root_moves.len() } else { 1 };
            let mut before = self.root_moves[..kept].to_vec();
            let best_before = before[0].m;
            let result = self.iterate(depth, lines);
            match result {
                Err(line) if lines > 1 => self.keep_completed_lines(line, before),
                Err(_) => self.drop_unproved(before.swap_remove(0)),
                Ok(()) => {}
            }
            let finished = result.is_ok();
            self.report(finished);
            if !finished {
                break;
            }
            completed = depth;
            let best = &self.root_moves[0];
            stability.iterations = depth;
            stability.same_best = if best.m == best_before { stability.same_best + 1 } else { 0 };
            stability.same_score = if best.score.abs_diff(best.average) < STEADY {
                stability.same_score + 1
            } else {
                0
            };
            self.steady = stability.same_best.min(stability.same_score);
            let nodes: u64 = self.root_moves.iter().map(|rm| rm.nodes).sum();
            stability.best_share = best.nodes as f64 / nodes.max(1) as f64;
            let earlier = scores.iter().rev().take(3).copied().max().unwrap_or(best.score);
            stability.score_drop = (earlier - best.score).clamp(-1000, 1000);
            scores.push(best.score);
            stability.move_drop = self.last_score.map_or(0, |last| last - best.score);
            stability.recapture = self.taken == Some(best.m.to());
            if self.enough(&stability) || self.is_without_mate(mate_search.as_ref()) {
                break;
            }
        }
        self.publish_nodes();
        *self.last_score = Some(self.root_moves[0].score);
        SearchResult {
            thread: self.thread,
            depth: completed.max(1),
            reported: self.reported.iter().map(|rm| rm.depth).max().unwrap_or(0),
            moves: self.root_moves,
            stability,
            no_mate: mate_search.is_some_and(|search| search.is_refuted()),
        }
    }

    /// The proof search that `go mate` asks for: for one line of all moves.
    fn mate_search(&self) -> Option<MateSearch> {
        let shared = self.shared;
        let wanted = shared.limits.mate.filter(|_| {
            self.thread == 0
                && self.lines() == 1
                && shared.limits.searchmoves.is_empty()
                && shared.handicap.is_none()
        })?;
        Some(MateSearch::new(wanted, &self.keys))
    }

    /// Is it proved that what was asked for does not exist, and a move found?
    fn is_without_mate(&self, search: Option<&MateSearch>) -> bool {
        let shared = self.shared;
        let goes_on = shared.limits.infinite || shared.signals.is_pondering();
        !goes_on
            && search.is_some_and(|search| {
                search.is_refuted() && self.nodes - search.spent() >= MOVE_NODES
            })
    }

    /// Makes the best line of the moves of a proved mate, which decide its score.
    fn adopt(&mut self, line: Vec<Move>) {
        let Some(place) = self.root_moves.iter().position(|rm| rm.m == line[0]) else { return };
        let rm = &mut self.root_moves[place];
        let plies = line.len() as Score;
        // Mates count the winner's moves.
        rm.score = if plies % 2 == 1 { MATE - (plies + 1) / 2 } else { plies / 2 - MATE };
        rm.bound = Bound::Exact;
        rm.depth = self.iteration.unsigned_abs();
        rm.seldepth = line.len();
        rm.pv = line;
        self.root_moves[..=place].rotate_right(1);
    }

    /// A search of the first line stopped while the best move was failing low knows
    /// neither its score nor whether another move is better (see [`drop_old_scores`]), and one
    /// that has seen it lose does not know that all others lose as soon: what the last
    /// iteration found stands.
    fn drop_unproved(&mut self, before: RootMove) {
        let proved = self.root_moves[0].score >= -DECISIVE;
        if proved || before.bound != Bound::Exact {
            return;
        }
        if let Some(place) = self.root_moves.iter().position(|rm| rm.m == before.m) {
            self.root_moves.remove(place);
            self.root_moves.insert(0, before);
        }
    }

    /// After a search of several lines was stopped in this one: the lines that the iteration
    /// has completed count, and so does a new best move. The iteration before, which left
    /// these moves, still speaks for all others.
    fn keep_completed_lines(&mut self, line: usize, before: Vec<RootMove>) {
        let better = line == 0 && self.has_a_new_best_move(&before);
        self.root_moves.truncate(if better { 1 } else { line });
        let last = self.root_moves.last().map(|rm| (rm.value(), rm.score));
        for mut rm in before {
            if self.root_moves.iter().any(|new| new.m == rm.m) {
                continue;
            }
            if let Some((value, score)) = last
                && rm.value() == value
                && rm.score > score
            {
                // This iteration has seen that it is no better.
                (rm.score, rm.bound) = (score, Bound::Upper);
            }
            self.root_moves.push(rm);
        }
    }

    /// Has a stopped search of the first line found a move that is better than the best one
    /// was seen to be, and than all others of the iteration before?
    fn has_a_new_best_move(&self, before: &[RootMove]) -> bool {
        let best = &self.root_moves[0];
        let others = before.iter().skip(1).filter(|rm| rm.m != best.m);
        best.m != before[0].m
            && best.bound != Bound::Upper
            && others.map(|rm| rm.score).max().is_none_or(|score| best.score >= score)
    }

    fn publish_nodes(&self) {
        self.shared.nodes[self.thread].store(self.nodes, Relaxed);
    }

    /// First order: what the endgame tables say, the table's move, captures,
    /// history.
    fn order_root(&mut self) {
        let entry = self.probe(&self.root);
        let generator = Generator::new(&self.root);
        let first = entry.and_then(|e| generator.find(e.best));
        let mut picker = Picker::new(&generator, self.previous(0), first);
        let order: Vec<Move> =
            std::iter::from_fn(|| picker.next(self.histories)).map(|(m, _)| m).collect();
        self.root_moves.sort_by_cached_key(|rm| {
            let rank = rm.known.map(|known| known.rank());
            (Reverse(rank), order.iter().position(|&m| m == rm.m))
        });
    }

    /// One iteration: as many lines as the user wants to see.
    ///
    /// # Errors
    ///
    /// The line, from 0, in which the search was stopped.
    fn iterate(&mut self, depth: u32, lines: usize) -> Result<(), usize> {
        for rm in &mut self.root_moves {
            (rm.previous, rm.bound) = (rm.score, Bound::Upper);
        }
        for line in 0..lines {
            self.seldepth = 0;
            self.last_pv.clone_from(&self.root_moves[line].pv);
            let result = self.find_score(depth as i32, line);
            if result.is_err() {
                drop_old_scores(&mut self.root_moves[line..]);
                self.root_moves[line..].sort_by_key(RootMove::order);
            }
            result.map_err(|Stopped| line)?;
            self.root_moves[line].note_average();
            self.root_moves[..=line].sort_by_key(RootMove::order);
        }
        Ok(())
    }

    fn lines(&self) -> usize {
        let wanted = self.shared.live.multi_pv.load(Relaxed);
        // The weaker player's nodes are for one.
        let one = self.thread != 0 || self.shared.handicap.is_some();
        if one { 1 } else { wanted.clamp(1, self.root_moves.len()) }
    }

    /// The score of the best of the moves from `line` on, by the root driver.
    fn find_score(&mut self, depth: i32, line: usize) -> Result<Score> {
        let known = &self.root_moves[line];
        self.outlook = if known.average > -INFINITE { known.average } else { 0 };
        let mean = p::aspiration_form() > 0 && known.average > -INFINITE;
        let guess = if mean { known.average } else { known.previous };
        if guess == -INFINITE || depth < p::aspiration_depth() {
            return self.widen(depth, line, Window::FULL);
        }
        let width = self.aspiration_width();
        match self.shared.root_search {
            RootSearch::Aspiration if !is_decisive(guess) => {
                self.widen(depth, line, around(guess, width))
            }
            RootSearch::Aspiration | RootSearch::FullWindow => {
                self.widen(depth, line, Window::FULL)
            }
            RootSearch::Bisection => {
                let middle = |known: Bounds, _| (known.lower + known.upper) >> 1;
                self.converge(depth, line, guess, middle)
            }
            RootSearch::MtdF => {
                // Ask "more than the last score?" after a fail high, "less?" after a fail low.
                let test = |known: Bounds, last: Score| {
                    let alpha = if last == known.lower { last } else { last - 1 };
                    alpha.clamp(known.lower, known.upper - 1)
                };
                self.converge(depth, line, guess, test)
            }
        }
    }

    /// Half the first aspiration window.
    fn aspiration_width(&self) -> Score {
        let steady = if p::aspiration_form() > 0 { self.steady as Score } else { 0 };
        p::aspiration_width() - steady.min(p::aspiration_steady())
    }

    /// Aspiration: searches `window`, and widens it on the side that failed
    /// until the score is inside.
    fn widen(&mut self, depth: i32, line: usize, mut window: Window) -> Result<Score> {
        let mut step = self.aspiration_width();
        let mut reduction = 0;
        loop {
            let score = self.pass::<Pv>(window, (depth - reduction).max(1), line)?;
            if window.contains(score) || window == Window::FULL {
                return Ok(score);
            }
            if score <= window.alpha {
                // The move was thought better: take time to find another.
                window.beta = (window.alpha + window.beta) / 2;
                window.alpha = if is_decisive(score) { -INFINITE } else { score - step };
                reduction = 0;
                self.ponder_spent = false;
            } else {
                if p::aspiration_form() > 0 {
                    window.alpha = window.alpha.max(window.beta - step);
                }
                // A fail high is cheap to confirm a little less deeply.
                window.beta = if is_decisive(score) { INFINITE } else { score + step };
                // A mate may need all the depth.
                if !is_decisive(score) {
                    reduction = (reduction + 1).min(3);
                }
            }
            self.report_bound(line);
            window = Window::new(window.alpha.max(-INFINITE), window.beta.min(INFINITE));
            step += step * p::aspiration_growth() / 100 + p::aspiration_step();
            if step > 600 {
                window = Window::FULL;
            }
        }
    }

    /// Null-window passes until the bounds meet. `test` is told the bounds and the
    /// last score, at first the `guess`, and says above which score to ask. The
    /// search is not perfectly stable: it ends with the last score if the bounds cross or do
    /// not meet in `MAX_PASSES`. A search of the open window around that score collects the
    /// principal variation, and widens if the score does not hold.
    fn converge(
        &mut self,
        depth: i32,
        line: usize,
        guess: Score,
        mut test: impl FnMut(Bounds, Score) -> Score,
    ) -> Result<Score> {
        let (mut known, mut last) = (Bounds::NONE, guess);
        for _ in 0..MAX_PASSES {
            if known.lower >= known.upper {
                break;
            }
            let alpha = test(known, last);
            last = self.pass::<NonPv>(Window::null(alpha), depth, line)?;
            if last <= alpha {
                known.upper = last;
            } else {
                known.lower = last;
            }
        }
        self.widen(depth, line, around(last, 1))
    }

    /// One pass over the root moves from `line` on, which it sorts.
    fn pass<T: NodeType>(&mut self, window: Window, depth: i32, line: usize) -> Result<Score> {
        self.count_node(0)?;
        let root = self.root.clone();
        let generator = Generator::new(&root);
        let context = Context::new(&generator, self.previous(0));
        let table_capture = is_tactical(self.root_moves[line].m);
        let in_check = root.is_check();
        let (raw, evaluation) =
            if in_check { (NO_SCORE, NO_SCORE) } else { self.assess(&root, None, 0) };
        self.frame(0).evaluation = evaluation;
        self.frame(1).cutoffs = 0;
        self.frame(2).cutoffs = 0;

        self.root_window = window;
        let Window { mut alpha, beta } = window;
        let mut best = -INFINITE;
        let mut best_move = PackedMove::NONE;
        // Moves that throw away what the best ones keep are not candidates.
        let value = self.root_moves[line].value();
        for i in line..self.root_moves.len() {
            if self.root_moves[i].value() != value {
                break;
            }
            let m = self.root_moves[i].m;
            let number = i - line + 1;
            let bounds = self.root_bounds(i);
            if number > 1 && bounds.upper <= alpha {
                self.root_moves[i].score = -INFINITE;
                continue;
            }
            if self.tells() && self.shared.start.elapsed() >= QUIET_TIME {
                self.shared.reporter.current_move(depth as u32, m, number);
            }
            let mut child = root.clone();
            self.make(&mut child, m, 0);
            let quiet = !is_tactical(m);
            let facts = MoveFacts {
                depth,
                number: number as i32,
                best,
                quiet,
                history: if quiet {
                    self.histories.quiets(&root, &context).score(m)
                } else {
                    self.histories.capture(&generator, m)
                },
                pv: T::PV,
                open: self.open_share::<T>(Window::new(alpha, beta)),
                check: child.is_check(),
                in_check,
                table_capture,
                cutoffs_below: self.frame(1).cutoffs,
                ..MoveFacts::ROOT
            };
            let before = self.nodes;
            self.pv.clear(1);
            let window = Window::new(alpha, beta);
            let drawn = self.root_moves[i].drawn;
            let inner = if drawn { beside_a_draw(window) } else { window };
            let open = Search { window: inner.flip(), depth: depth - 1, ply: 1, cut: true };
            let reduction = if number > 1 { prune::reduction(&facts) } else { 0 };
            let score = self.search_move::<T>(&child, open, &facts, reduction)?;
            self.unmake();
            let score = if drawn { score.div_euclid(DRAWN_SCALE) } else { score };
            let score = bounds.refine(score);
            if line == 0 {
                self.root_moves[i].nodes += self.nodes - before;
            }
            self.note_root_score(i, score, window, number == 1);
            best = best.max(score);
            if score > alpha {
                alpha = score;
                best_move = m.into();
                if score >= beta {
                    break;
                }
            }
        }
        // The line of a move is kept alive by its root entry; with moves left
        // out (MultiPV, searchmoves) the score would not be the position's, nor is
        // that of a move that draws.
        let all = line == 0 && self.shared.limits.searchmoves.is_empty();
        if all && root.halfmoves() < CLAIMABLE_FROM {
            let bounds = Bounds::of(best, window);
            let entry = Entry { best: best_move, bounds, depth, evaluation: raw, pv: true };
            self.shared.table.store(table_key(&root), entry);
        }
        // Stable: moves that were not raised keep their order.
        self.root_moves[line..].sort_by_key(RootMove::order);
        Ok(best)
    }

    /// How much of the root's window a node with this one sees, in 1/1024; 0 if that does not
    /// count.
    pub(super) fn open_share<T: NodeType>(&self, window: Window) -> i32 {
        if p::lmr_window() == 0 || !T::PV {
            return 0;
        }
        let width = |window: Window| window.beta - window.alpha;
        (1024 * width(window) / width(self.root_window)).min(1024)
    }

    /// After a root move's search in `window`: a score, and its line of moves, has
    /// who raised alpha; of the first move of a pass a bound is good to know, too.
    fn note_root_score(&mut self, i: usize, score: Score, window: Window, first: bool) {
        let (seldepth, iteration) = (self.seldepth, self.iteration.unsigned_abs());
        let entry = &mut self.root_moves[i];
        let raised = score > window.alpha;
        if !raised && !first {
            entry.score = -INFINITE;
            return;
        }
        entry.score = score;
        entry.depth = iteration;
        entry.seldepth = seldepth;
        entry.bound = if !raised {
            Bound::Upper
        } else if score >= window.beta {
            Bound::Lower
        } else {
            Bound::Exact
        };
        if raised {
            entry.pv.truncate(1);
            entry.pv.extend_from_slice(self.pv.line(1));
            self.complete_line(i);
        }
    }

    /// Where the table has cut a line off, it knows how the line goes on. A leaf's
    /// entry does not: its score may be no move's, and its move an earlier search's.
    fn complete_line(&mut self, i: usize) {
        let mut line = std::mem::take(&mut self.root_moves[i].pv);
        let mut position = self.root.clone();
        let before = self.keys.len();
        for (ply, &m) in line.iter().enumerate() {
            self.make(&mut position, m, ply);
        }
        let wanted = self.iteration as usize;
        let is_over = |worker: &Self, position: &Position, ply| {
            worker.draw(position, ply).is_some() || !Generator::new(position).any()
        };
        let mut over = is_over(self, &position, line.len());
        while !over && line.len() < wanted {
            let known =
                |e: &Entry| e.depth > 0 && e.bounds.is_exact() && !is_decisive(e.bounds.lower);
            let entry = self.probe(&position).filter(known);
            let Some(m) = entry.and_then(|e| Generator::new(&position).find(e.best)) else { break };
            self.make(&mut position, m, line.len());
            // A line that ends the game is not the score's: the table knows nothing of
            // repetitions, and a mate would have the score of one.
            over = is_over(self, &position, line.len() + 1);
            if !over {
                line.push(m);
            }
        }
        self.keys.truncate(before);
        self.root_moves[i].pv = line;
    }

    /// What the endgame tables prove of a root move's score. Among drawn moves
    /// the search chooses freely.
    fn root_bounds(&self, i: usize) -> Bounds {
        let known = self.root_moves[i].known;
        known.filter(|k| k.value.drawn_score().is_none()).map_or(Bounds::NONE, |k| k.bounds)
    }

    /// After a completed iteration: is another one worth its time?
    fn enough(&mut self, stability: &Stability) -> bool {
        let shared = self.shared;
        if self.thread != 0 {
            return false;
        }
        let best = &self.root_moves[0];
        // With too little material to mate, deeper iterations say the same.
        if shared.limits.is_wanted_mate(best.score) || self.root.is_insufficient_material() {
            return true;
        }
        self.publish_nodes();
        if shared.limits.soft_nodes.is_some_and(|soft| shared.total_nodes() >= soft) {
            return true;
        }
        if shared.limits.infinite {
            return false;
        }
        let Some(soft) = shared.budget.and_then(|budget| budget.soft) else { return false };
        // In a game there is nothing to think about with one move only.
        let spent = (self.root_moves.len() == 1 && !shared.limits.analyse)
            || shared.node_time().unwrap_or_else(|| shared.start.elapsed())
                >= soft.mul_f64(stability.scale());
        // Then the opponent's move ends the search, unless this one turns out worse.
        self.ponder_spent = spent && shared.signals.is_pondering();
        spent && !self.ponder_spent
    }

    /// Is this the thread that reports, and does anybody listen?
    fn tells(&self) -> bool {
        self.thread == 0 && self.shared.reporter.listens()
    }

    /// Tells whoever listens about a line.
    fn tell(&mut self, line: usize) {
        let rm = self.root_moves[line].clone();
        if self.tells() {
            self.publish_nodes();
            self.shared.reporter.info(&Info {
                nodes: self.shared.total_nodes(),
                hashfull: self.shared.table.hashfull(),
                tbhits: self.shared.tbhits.load(Relaxed),
                time: self.shared.start.elapsed(),
                ..rm.info(line + 1)
            });
        }
        self.reported.truncate(self.lines());
        if line < self.reported.len() {
            self.reported[line] = rm;
        } else {
            self.reported.push(rm);
        }
    }

    /// Tells the lines, after a stopped iteration only if it has changed one of them. So
    /// the last lines of all ranks are different moves, best first, and the first is played.
    fn report(&mut self, finished: bool) {
        if self.thread != 0 {
            return;
        }
        if self.root_moves[0].score == -INFINITE {
            // Stopped before anything was searched: say what there is.
            self.root_moves[0].score = self.unsearched_score();
            self.root_moves[0].bound = Bound::Exact;
            self.root_moves[0].depth = self.iteration.unsigned_abs();
        }
        if let Some(told) = self.reported.first() {
            let best = &mut self.root_moves[0];
            best.depth = best.depth.max(told.depth);
        }
        let lines = self.root_moves[..self.lines()].iter();
        let lines = lines.take_while(|rm| rm.score > -INFINITE).count();
        let is_new = |line: usize| {
            let rm = &self.root_moves[line];
            let is_this = |told: &RootMove| {
                (told.score, told.bound, &told.pv) == (rm.score, rm.bound, &rm.pv)
            };
            !self.reported.get(line).is_some_and(is_this)
        };
        if finished || (0..lines).any(is_new) {
            (0..lines).for_each(|line| self.tell(line));
        }
        if finished && self.shared.live.show_refutations.load(Relaxed) {
            self.report_refutations();
        }
    }

    /// The first root move's score without a search: the result if it ends the
    /// game, else the evaluation of the root.
    fn unsearched_score(&mut self) -> Score {
        // An aborted search leaves its line behind.
        self.keys.truncate(self.game_keys);
        let root = self.root.clone();
        let mut child = root.clone();
        self.make(&mut child, self.root_moves[0].m, 0);
        let drawn = self.draw(&child, 1).is_some();
        self.unmake();
        if !Generator::new(&child).any() {
            if child.is_check() { MATE - 1 } else { DRAW }
        } else if drawn || root.is_check() {
            DRAW
        } else {
            self.evaluate(&root, 0)
        }
    }

    /// For each move that is not among the lines: the reply that the table holds
    /// against it, and how the table goes on.
    fn report_refutations(&self) {
        for rm in &self.root_moves[self.lines()..] {
            let mut position = self.root.play(rm.m);
            let mut line = vec![rm.m];
            while line.len() < REFUTATION_PLIES {
                let entry = self.probe(&position);
                let best = entry.map_or(PackedMove::NONE, |e| e.best);
                let Some(m) = Generator::new(&position).find(best) else { break };
                line.push(m);
                position = position.play(m);
            }
            self.shared.reporter.refutation(&line);
        }
    }

    /// A bound on the best move's score, once the search is slow enough for
    /// somebody to read it.
    fn report_bound(&mut self, line: usize) {
        let best = &self.root_moves[line];
        if self.tells()
            && self.lines() == 1
            && !is_decisive(best.score)
            && self.shared.start.elapsed() >= QUIET_TIME
        {
            self.tell(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Mutex,
            atomic::{AtomicBool, AtomicU64},
        },
        time::Instant,
    };

    use shakmaty::CastlingMode;

    use super::{
        super::{Memory, Shared},
        *,
    };
    use crate::{
        chess::{notation::read_move, position::Game},
        play::{
            limits::{Limits, LiveOptions},
            report::Silent,
            signals::Signals,
        },
        search::tt::Table,
    };

    /// What `test` finds out with a worker at this game's position, in a table of its own.
    fn with_worker<T>(game: &Game, limits: &Limits, test: impl FnOnce(Worker<'_>) -> T) -> T {
        let shared = Shared {
            table: &Table::new(1).unwrap(),
            limits,
            budget: None,
            nodes_per_ms: 0,
            signals: &Signals::new(false),
            root_moves: moves(game.position(), &[]),
            handicap: None,
            prober: None,
            tbhits: AtomicU64::new(0),
            live: &LiveOptions::default(),
            reporter: &Silent,
            root_search: RootSearch::Bisection,
            selective: true,
            done: AtomicBool::new(false),
            nodes: vec![AtomicU64::new(0)],
            lines: vec![Mutex::default()],
            start: Instant::now(),
        };
        test(Worker::new(&shared, &mut Memory::default(), 0, game))
    }

    #[test]
    fn null_windows_meet_or_give_up() {
        with_worker(&Game::default(), &Limits::default(), |mut worker| {
            let mut passes = 0;
            let score = worker.converge(3, 0, 0, |known, _| {
                passes += 1;
                (known.lower + known.upper) >> 1
            });
            assert!(score.is_ok_and(|score| score.abs() < 200), "{score:?}");
            assert!((2..=17).contains(&passes), "{passes}");
            // Asked the same again and again, the bounds stay apart.
            let mut passes = 0;
            let score = worker.converge(3, 0, 0, |_, _| {
                passes += 1;
                -2000
            });
            assert_eq!(passes, MAX_PASSES);
            assert!(score.is_ok_and(|score| score > -2000), "{score:?}");
        });
    }

    /// The move that an iteration stopped after so many nodes leaves to be played, and the
    /// one it should: the best of those that it has shown to be better than the others, else
    /// that of the iteration before.
    fn stopped(game: &Game, nodes: u64) -> [Move; 2] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        with_worker(game, &limits, |mut worker| {
            worker.order_root();
            for depth in 1.. {
                worker.iteration = depth as i32;
                let before = worker.root_moves.clone();
                if worker.iterate(depth, 1).is_ok() {
                    continue;
                }
                worker.drop_unproved(before[0].clone());
                let is_finished = |rm: &&RootMove| {
                    let grown = |old: &RootMove| old.m == rm.m && old.nodes < rm.nodes;
                    before.iter().any(grown) && rm.bound != Bound::Upper && rm.score > -INFINITE
                };
                let finished = worker.root_moves.iter().filter(is_finished);
                let best = finished.max_by_key(|rm| rm.score).unwrap_or(&before[0]);
                return [worker.root_moves[0].m, best.m];
            }
            unreachable!()
        })
    }

    /// How many moves the line Kg8 has when the table, of the position after it, holds this
    /// move with an exact score of this depth.
    fn completed(best: &str, depth: i32) -> usize {
        let fen = "5k2/8/6K1/8/8/8/8/R7 b - - 0 1";
        let game = Game::from(Position::from_fen(fen, CastlingMode::Standard).unwrap());
        with_worker(&game, &Limits::default(), |mut worker| {
            let first = read_move(game.position(), "f8g8").unwrap();
            let position = game.position().play(first);
            let best = read_move(&position, best).unwrap().into();
            let entry = Entry { best, bounds: Bounds::exact(-50), depth, ..Entry::EMPTY };
            worker.shared.table.store(table_key(&position), entry);
            worker.iteration = 9;
            let i = worker.root_moves.iter().position(|rm| rm.m == first).unwrap();
            worker.complete_line(i);
            worker.root_moves[i].pv.len()
        })
    }

    #[test]
    fn the_table_completes_a_line_as_its_score_says() {
        assert_eq!(completed("a1b1", 3), 2);
        // A leaf's move may be of another search; no score but a mate's is of a line to mate.
        assert_eq!(completed("a1b1", 0), 1);
        assert_eq!(completed("a1a8", 3), 1);
    }

    #[test]
    fn no_score_of_an_earlier_iteration_decides() {
        for line in include_str!("../../epd/bench.epd").lines() {
            let fen: Vec<&str> = line.split(' ').take(6).collect();
            // Those of Chess960 are left out.
            let Ok(position) = Position::from_fen(&fen.join(" "), CastlingMode::Standard) else {
                continue;
            };
            let game = Game::from(position);
            for nodes in (500..3000).step_by(100) {
                let [left, best] = stopped(&game, nodes);
                assert_eq!(left, best, "{nodes} nodes of {line}");
            }
        }
    }
}
