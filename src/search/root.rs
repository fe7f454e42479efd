//! The root: iterative deepening, and four ways to find the score of an iteration: aspiration
//! windows, the full window, bisection and MTD(f).
//!
//! Source: D. Eppstein, ["Variants of Alpha-Beta Search"][notes], lecture notes of ICS 180,
//! University of California, Irvine, Winter 1999.
//!
//! [notes]: https://www.ics.uci.edu/~eppstein/180a/990202b.html

use std::{cmp::Reverse, mem::take, sync::atomic::Ordering::Relaxed, time::Duration};

use shakmaty::Move;
use shakmaty_syzygy::Wdl;

use super::{
    CLAIMABLE_FROM, MAX_PLY, NodeType, NonPv, Pv, Result, Search, Stopped, Worker,
    mate::MateSearch,
    params as p,
    prune::{self, MoveFacts},
    table_key,
};
use crate::{
    chess::{
        movegen::{Generator, is_checkmate, is_tactical},
        position::{PackedMove, Position},
        score::{Bounds, DECISIVE, DRAW, INFINITE, MATE, NO_SCORE, Score, Window, is_decisive},
    },
    play::{
        clock::Stability,
        report::{Bound, Info},
        syzygy::{self, Known},
    },
    search::{history::Context, picker::Picker, tt::Entry},
};

/// Time before which current moves and bounds are not reported, so that the output of fast games
/// stays short.
const QUIET_TIME: Duration = Duration::from_secs(3);

/// Maximum length of a reported refutation in plies, including the refuted move.
const REFUTATION_PLIES: usize = 5;

/// A score counts as unchanged if it is less than this many centipawns from the average of the
/// earlier scores.
const STEADY: u32 = 24;

/// Maximum number of null-window passes of bisection and MTD(f). There are fewer than 2^16 scores,
/// so a stable bisection needs at most 16.
const MAX_PASSES: u32 = 40;

/// Divisor for the search scores of moves that draw by rule, so that their scores stay close to a
/// draw but the better moves still come first.
const DRAWN_SCALE: Score = 50;

/// Nodes that the ordinary search gets to find a move to play if the requested mate is refuted.
const MOVE_NODES: u64 = 100_000;

/// The search algorithm at the root (UCI option `Root Search`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RootSearch {
    /// A window around the last score, widened gradually.
    Aspiration,
    /// Always the full window.
    FullWindow,
    /// Binary search with null windows.
    Bisection,
    /// Null windows at the last returned score.
    #[value(name = "mtdf")]
    MtdF,
}

/// A root move with its score, its principal variation and its statistics.
#[derive(Clone, Debug)]
pub struct RootMove {
    /// The move.
    pub(crate) m: Move,
    /// Its score in the last pass over the root moves, in centipawns for the side to move. It is
    /// `-INFINITE` if that pass ended before the move, or if the move did not raise alpha and was
    /// not the first.
    pub(crate) score: Score,
    /// `score` at the end of the previous iteration.
    pub(crate) previous: Score,
    /// Exponential moving average of its scores in the iterations in which it was best; `-INFINITE`
    /// before the first.
    average: Score,
    /// Whether `score` is exact, a lower bound or an upper bound.
    pub(crate) bound: Bound,
    /// Depth of the iteration that found `score`, in plies.
    pub(crate) depth: u32,
    /// Principal variation, starting with this move.
    pub(crate) pv: Vec<Move>,
    /// Deepest ply that the iteration had reached when `pv` was found.
    pub(crate) seldepth: usize,
    /// Nodes below this move, summed over all iterations, without those for MultiPV lines after the
    /// first.
    pub(crate) nodes: u64,
    /// Result of the tablebase probe.
    pub(crate) known: Option<Known>,
    /// The game is drawn after this move, whatever its search score: neither side has mating
    /// material, or the opponent can claim a draw by the fifty-move rule.
    pub(crate) drawn: bool,
}

impl RootMove {
    /// Returns the tablebase result. Moves with a better result come first, whatever their score.
    fn value(&self) -> Option<Wdl> {
        self.known.map(|known| known.value)
    }

    /// Updates the moving average with the score, after an iteration in which this move was best.
    fn note_average(&mut self) {
        // Decisive scores, and -INFINITE before the first, would distort the mean.
        let alone = is_decisive(self.average) || is_decisive(self.score);
        self.average = if alone { self.score } else { (self.average + self.score) / 2 };
    }

    /// Returns a key that sorts better moves first.
    fn order(&self) -> impl Ord + use<> {
        Reverse((self.value(), self.score))
    }

    /// Returns the report of its principal variation at this MultiPV rank, without nodes, time,
    /// hashfull and tbhits. A certain draw is reported as a draw, whatever the score of its search.
    /// If the game is drawn after the first move, the variation ends there.
    fn info(&self, multipv: usize) -> Info {
        let known = self.value().and_then(syzygy::drawn_score);
        Info {
            depth: self.depth,
            seldepth: self.seldepth.max(1) as u32,
            multipv,
            score: known.or(self.drawn.then_some(DRAW)).unwrap_or(self.score),
            bound: self.bound,
            drawn: self.drawn || known.is_some(),
            pv: if self.drawn { vec![self.m] } else { self.pv.clone() },
            ..Info::EMPTY
        }
    }
}

/// Returns the window of all scores that are less than `width` away from `score`.
fn around(score: Score, width: Score) -> Window {
    Window::new(score - width, score + width)
}

/// Returns the window in which to search a move that draws by rule. Its score fails low or high in
/// this window if and only if the score divided by [`DRAWN_SCALE`] does so in the given one.
fn scale_window(Window { alpha, beta }: Window) -> Window {
    let alpha = (alpha * DRAWN_SCALE + DRAWN_SCALE - 1).clamp(-INFINITE, INFINITE - 1);
    Window::new(alpha, (beta * DRAWN_SCALE).clamp(alpha + 1, INFINITE))
}

/// After a stopped iteration, drops the scores that cannot be compared with its own: those of the
/// previous iteration, and upper bounds.
fn drop_old_scores(moves: &mut [RootMove]) {
    for rm in moves.iter_mut().filter(|rm| rm.bound == Bound::Upper) {
        rm.score = -INFINITE;
    }
}

/// Returns the root moves to search: all legal moves, or those in `only` if it is not empty.
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

/// Returns whether the draw by the fifty-move rule could be claimed before this move and the
/// opponent can claim it after the move. With a lower clock, the search itself scores the draw.
fn leaves_a_claim(position: &Position, m: Move) -> bool {
    if position.halfmoves() < CLAIMABLE_FROM || m.is_zeroing() {
        return false;
    }
    !is_checkmate(&position.play(m))
}

/// The result of one thread's search.
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
    /// Stability of the best move and of its score.
    pub stability: Stability,
    /// The mate search has shown that there is no mate of the requested length.
    pub no_mate: bool,
}

impl SearchResult {
    /// Returns the report of the best line. The caller adds nodes, time, hashfull and tbhits.
    pub fn info(&self) -> Info {
        Info { depth: self.depth, ..self.moves[0].info(1) }
    }
}

impl Worker<'_> {
    /// Runs iterative deepening until a limit is reached.
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
                self.report(1, true);
                completed = depth;
                break;
            }
            // Kept in case this iteration is stopped: the previous result of the best move or, with
            // several lines, those of all moves.
            let lines = self.lines();
            let kept = if lines > 1 { self.root_moves.len() } else { 1 };
            let mut before = self.root_moves[..kept].to_vec();
            let (best_before, average) = (before[0].m, before[0].average);
            let result = self.iterate(lines);
            match result {
                Err(line) if lines > 1 => self.keep_completed_lines(line, before),
                Err(_) => self.restore_best_move(before.swap_remove(0)),
                Ok(()) => {}
            }
            let finished = result.is_ok();
            self.report(lines, finished);
            if !finished {
                break;
            }
            completed = depth;
            let best = &self.root_moves[0];
            stability.iterations = depth;
            stability.changes = stability.changes / 2.0 + f64::from(take(&mut self.changes));
            stability.same_best = if best.m == best_before { stability.same_best + 1 } else { 0 };
            let steady = best.m == best_before && best.score.abs_diff(average) < STEADY;
            stability.same_score = if steady { stability.same_score + 1 } else { 0 };
            let nodes: u64 = self.root_moves.iter().map(|rm| rm.nodes).sum();
            stability.best_share = best.nodes as f64 / nodes.max(1) as f64;
            let earlier = scores.iter().rev().take(3).copied().max().unwrap_or(best.score);
            stability.score_drop = (earlier - best.score).clamp(-1000, 1000);
            scores.push(best.score);
            stability.move_drop = self.shared.last_score.map_or(0, |last| last - best.score);
            if self.enough(&stability) || self.is_without_mate(mate_search.as_ref()) {
                break;
            }
        }
        self.publish_nodes();
        SearchResult {
            thread: self.thread,
            depth: completed.max(1),
            reported: self.reported.iter().map(|rm| rm.depth).max().unwrap_or(0),
            moves: self.root_moves,
            stability,
            no_mate: mate_search.is_some_and(|search| search.is_refuted()),
        }
    }

    /// Returns the mate search for `go mate`, if the search has one line, no `searchmoves` and full
    /// strength.
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

    /// Returns whether the requested mate is refuted and the ordinary search has had [`MOVE_NODES`]
    /// to find a move to play. Returns false during an infinite search and while pondering.
    fn is_without_mate(&self, search: Option<&MateSearch>) -> bool {
        let shared = self.shared;
        let goes_on = shared.limits.infinite || shared.signals.is_pondering();
        !goes_on
            && search.is_some_and(|search| {
                search.is_refuted() && self.nodes - search.spent() >= MOVE_NODES
            })
    }

    /// Makes a proved mate the best line. Its score follows from the number of moves.
    fn adopt(&mut self, line: Vec<Move>) {
        let Some(place) = self.root_moves.iter().position(|rm| rm.m == line[0]) else { return };
        let rm = &mut self.root_moves[place];
        let plies = line.len() as Score;
        // Mate scores count the winner's moves.
        rm.score = if plies % 2 == 1 { MATE - (plies + 1) / 2 } else { plies / 2 - MATE };
        rm.bound = Bound::Exact;
        rm.depth = self.iteration.unsigned_abs();
        rm.seldepth = line.len();
        rm.pv = line;
        self.root_moves[..=place].rotate_right(1);
    }

    /// Restores `before`, the best move of the last completed iteration, after a stop in the first
    /// line, unless the stopped iteration has a best move that does not lose. It has none if its
    /// best move was still failing low (see [`drop_old_scores`]) or was shown to lose. A losing
    /// move does not count, because the moves that were not searched may lose just as quickly.
    fn restore_best_move(&mut self, before: RootMove) {
        let proved = self.root_moves[0].score >= -DECISIVE;
        if proved || before.bound != Bound::Exact {
            return;
        }
        if let Some(place) = self.root_moves.iter().position(|rm| rm.m == before.m) {
            self.root_moves.remove(place);
            self.root_moves.insert(0, before);
        }
    }

    /// Merges the results of an iteration over several lines that was stopped in `line`. Keeps the
    /// lines that it has completed, and a new best move. For all other moves it keeps the results
    /// of the previous iteration, `before`.
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
                // This iteration has shown that the move is no better.
                (rm.score, rm.bound) = (score, Bound::Upper);
            }
            self.root_moves.push(rm);
        }
    }

    /// Returns whether a stopped search of the first line has found a new best move whose score is
    /// at least as high as every other move's score in the previous iteration.
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

    /// Sorts the root moves for the first iteration, by tablebase result and then in the order of
    /// the move picker.
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

    /// Searches one iteration, with `lines` lines (MultiPV).
    ///
    /// # Errors
    ///
    /// If the search was stopped. The error is the line, from 0, in which this happened.
    fn iterate(&mut self, lines: usize) -> Result<(), usize> {
        for rm in &mut self.root_moves {
            (rm.previous, rm.bound) = (rm.score, Bound::Upper);
        }
        for line in 0..lines {
            self.seldepth = 0;
            if let Err(Stopped) = self.find_score(line) {
                drop_old_scores(&mut self.root_moves[line..]);
                self.root_moves[line..].sort_by_key(RootMove::order);
                return Err(line);
            }
            self.root_moves[line].note_average();
            self.root_moves[..=line].sort_by_key(RootMove::order);
        }
        Ok(())
    }

    fn lines(&self) -> usize {
        let wanted = self.shared.live.multi_pv.load(Relaxed);
        // At limited strength the nodes suffice for one line only.
        let one = self.thread != 0 || self.shared.handicap.is_some();
        if one { 1 } else { wanted.clamp(1, self.root_moves.len()) }
    }

    /// Finds the score of the best move from `line` on, with the selected [`RootSearch`].
    fn find_score(&mut self, line: usize) -> Result<Score> {
        let (depth, known) = (self.iteration, &self.root_moves[line]);
        self.average_score = if known.average > -INFINITE { known.average } else { 0 };
        let guess = known.previous;
        if guess == -INFINITE || depth < p::aspiration_depth() {
            return self.aspiration_search(depth, line, Window::FULL);
        }
        match self.shared.root_search {
            RootSearch::Aspiration if !is_decisive(guess) => {
                self.aspiration_search(depth, line, around(guess, p::aspiration_width()))
            }
            RootSearch::Aspiration | RootSearch::FullWindow => {
                self.aspiration_search(depth, line, Window::FULL)
            }
            RootSearch::Bisection => {
                let middle = |known: Bounds, _| (known.lower + known.upper) >> 1;
                self.null_window_search(depth, line, guess, middle)
            }
            RootSearch::MtdF => {
                // After a fail high, test whether the score is greater than the last one. After a
                // fail low, test whether it is less.
                let test = |known: Bounds, last: Score| {
                    let alpha = if last == known.lower { last } else { last - 1 };
                    alpha.clamp(known.lower, known.upper - 1)
                };
                self.null_window_search(depth, line, guess, test)
            }
        }
    }

    /// Searches an aspiration window, and widens it on the side that failed until the score is
    /// inside. A fail low also lowers beta to the middle of the window.
    fn aspiration_search(&mut self, depth: i32, line: usize, mut window: Window) -> Result<Score> {
        let mut step = p::aspiration_width();
        let mut reduction = 0;
        loop {
            let score = self.pass::<Pv>(window, (depth - reduction).max(1), line)?;
            if window.contains(score) || window == Window::FULL {
                return Ok(score);
            }
            if score <= window.alpha {
                window.beta = (window.alpha + window.beta) / 2;
                window.alpha = if is_decisive(score) { -INFINITE } else { score - step };
                reduction = 0;
                // The best move is worse than expected: take time to find another.
                self.ponder_spent = false;
            } else {
                window.beta = if is_decisive(score) { INFINITE } else { score + step };
                // A slightly shallower search confirms a fail high cheaply. A mate may need the
                // full depth.
                if self.shared.selective && !is_decisive(score) {
                    reduction = (reduction + 1).min(3);
                }
            }
            self.report_bound(line);
            step += step * p::aspiration_growth() / 100 + p::aspiration_step();
            if step > 600 {
                window = Window::FULL;
            }
        }
    }

    /// Runs null-window passes until the bounds meet. `test` receives the bounds and the last
    /// score, at first `guess`, and returns the alpha of the next pass. Because of search
    /// instability, the bounds may cross or never meet, and MTD(f) may need more than
    /// [`MAX_PASSES`] passes even without it. In every case, a final search with an open window
    /// around the last score collects the principal variation. It widens the window if the score is
    /// outside.
    fn null_window_search(
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
        self.aspiration_search(depth, line, around(last, 1))
    }

    /// Searches the root moves from `line` on once, and sorts them.
    fn pass<T: NodeType>(&mut self, window: Window, depth: i32, line: usize) -> Result<Score> {
        self.count_node(0)?;
        let root = self.root.clone();
        let generator = Generator::new(&root);
        let context = Context::new(&generator, self.previous(0));
        let tt_capture = is_tactical(self.root_moves[line].m);
        let in_check = root.is_check();
        let raw = self.assess_root(&root);
        self.stack_at(1).cutoffs = 0;
        self.stack_at(2).cutoffs = 0;

        let Window { mut alpha, beta } = window;
        let mut best = -INFINITE;
        let mut best_move = PackedMove::NONE;
        // Moves with a worse tablebase result than the best ones are not candidates.
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
            let facts = MoveFacts {
                depth,
                number: number as i32,
                best,
                quiet: !is_tactical(m),
                history: if is_tactical(m) {
                    self.histories.capture(&root, m)
                } else {
                    self.histories.quiets(&root, &context).score(m)
                },
                in_check,
                tt_capture,
                cutoffs_below: self.stack_at(1).cutoffs,
                ..MoveFacts::ROOT
            };
            let before = self.nodes;
            let window = Window::new(alpha, beta);
            let score = bounds.refine(self.search_root_move::<T>(i, &root, window, facts)?);
            if line == 0 {
                self.root_moves[i].nodes += self.nodes - before;
            }
            self.note_root_score(i, score, window, number == 1);
            best = best.max(score);
            if score > alpha {
                alpha = score;
                best_move = m.into();
                self.changes += u32::from(number > 1 && line == 0);
                if score >= beta {
                    // The scores of the moves that this pass does not reach are old.
                    self.root_moves[i + 1..].iter_mut().for_each(|rm| rm.score = -INFINITE);
                    break;
                }
            }
        }
        // Store the root, so that the table has its best move. Do not store it for later MultiPV
        // lines or with `searchmoves`, which leave out moves, or if a draw can be claimed: the
        // score is then not that of the position.
        let all = line == 0 && self.shared.limits.searchmoves.is_empty();
        if all && root.halfmoves() < CLAIMABLE_FROM {
            let bounds = Bounds::of(best, window);
            let entry = Entry { best: best_move, bounds, depth, evaluation: raw, pv: true };
            self.shared.table.store(table_key(&root), entry);
        }
        // The sort is stable, so moves that did not raise alpha keep their order.
        self.root_moves[line..].sort_by_key(RootMove::order);
        Ok(best)
    }

    /// Evaluates the root, for the nodes below it. Returns the uncorrected evaluation, `NO_SCORE`
    /// in check.
    fn assess_root(&mut self, root: &Position) -> Score {
        let (raw, evaluation) = if root.is_check() {
            (NO_SCORE, NO_SCORE)
        } else {
            let correction = self.correction(root, 0);
            self.assess(root, None, 0, correction)
        };
        self.stack_at(0).evaluation = evaluation;
        raw
    }

    /// Searches a root move. `facts.check` is set here, after the move has been made.
    fn search_root_move<T: NodeType>(
        &mut self,
        i: usize,
        root: &Position,
        window: Window,
        facts: MoveFacts,
    ) -> Result<Score> {
        let RootMove { m, drawn, .. } = self.root_moves[i];
        let mut child = root.clone();
        self.make(&mut child, m, 0);
        self.pv.clear(1);
        let facts = MoveFacts { check: child.is_check(), ..facts };
        let inner = if drawn { scale_window(window) } else { window };
        let open = Search { window: inner.flip(), depth: facts.depth - 1, ply: 1, cut: true };
        let reduction = if facts.number > 1 { prune::reduction(&facts) } else { 0 };
        let score = self.search_move::<T>(&child, open, &facts, reduction)?;
        self.unmake();
        Ok(if drawn { score.div_euclid(DRAWN_SCALE) } else { score })
    }

    /// Notes the result of a root move's search in `window`. A move that raised alpha gets its
    /// score and line. The first move of a pass gets a bound if it did not raise alpha.
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

    /// Adds moves from the table to a principal variation that a TT cutoff has shortened. Entries
    /// of depth 0 are not used: their score may be a static evaluation, and their move may come
    /// from an earlier search.
    fn complete_line(&mut self, i: usize) {
        let mut line = take(&mut self.root_moves[i].pv);
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
            // A move that ends the game would contradict the score: entries ignore repetitions, and
            // a line that ends in mate would have a mate score.
            over = is_over(self, &position, line.len() + 1);
            if !over {
                line.push(m);
            }
        }
        self.keys.truncate(before);
        self.root_moves[i].pv = line;
    }

    /// Returns the bounds that the tablebases prove for a root move. Drawn moves have none, so that
    /// the search can choose among them.
    fn root_bounds(&self, i: usize) -> Bounds {
        let known = self.root_moves[i].known;
        known.filter(|k| syzygy::drawn_score(k.value).is_none()).map_or(Bounds::NONE, |k| k.bounds)
    }

    /// Returns whether to stop after a completed iteration, because another one is not worth its
    /// time.
    fn enough(&mut self, stability: &Stability) -> bool {
        let shared = self.shared;
        if self.thread != 0 {
            return false;
        }
        let best = &self.root_moves[0];
        // Without mating material, deeper iterations find the same score.
        if shared.limits.is_wanted_mate(best.score) || self.root.is_insufficient_material() {
            return true;
        }
        self.publish_nodes();
        if shared.limits.soft_nodes.is_some_and(|soft| shared.total_nodes() >= soft) {
            return true;
        }
        let Some(soft) = shared.budget.and_then(|budget| budget.soft) else { return false };
        // In a game, a forced move needs no search.
        let spent = (self.root_moves.len() == 1 && !shared.limits.analyse)
            || shared.node_time().unwrap_or_else(|| shared.start.elapsed())
                >= soft.mul_f64(stability.scale());
        // If the time is spent during pondering, the search ends at the ponderhit, unless the best
        // move fails low before that (see `aspiration_search`).
        self.ponder_spent = spent && shared.signals.is_pondering();
        spent && !self.ponder_spent
    }

    /// Returns whether this thread reports and the reporter wants information.
    fn tells(&self) -> bool {
        self.thread == 0 && self.shared.reporter.listens()
    }

    /// Reports a line if the reporter listens, and records it in `reported` in any case.
    fn tell(&mut self, line: usize) {
        let rm = self.root_moves[line].clone();
        if self.tells() {
            self.publish_nodes();
            let mut info = Info {
                nodes: self.shared.total_nodes(),
                hashfull: self.shared.table.hashfull(),
                tbhits: self.shared.tbhits.load(Relaxed),
                time: self.shared.start.elapsed(),
                ..rm.info(line + 1)
            };
            if let Some(confirming) = &self.shared.confirming {
                confirming.confirm(&mut info);
            }
            self.shared.reporter.info(&info);
        }
        self.reported.truncate(self.lines());
        if line < self.reported.len() {
            self.reported[line] = rm;
        } else {
            self.reported.push(rm);
        }
    }

    /// Reports the lines that an iteration with this number of lines has searched and that are
    /// still wanted. After a stopped iteration, reports them only if one has changed. Because they
    /// are reported together, no two lines have the same first move, and the best line comes first.
    fn report(&mut self, searched: usize, finished: bool) {
        if self.thread != 0 {
            return;
        }
        if self.root_moves[0].score == -INFINITE {
            // Stopped before a move was searched: report the static evaluation.
            self.root_moves[0].score = self.unsearched_score();
            self.root_moves[0].bound = Bound::Exact;
            self.root_moves[0].depth = self.iteration.unsigned_abs();
        }
        if let Some(told) = self.reported.first() {
            let best = &mut self.root_moves[0];
            best.depth = best.depth.max(told.depth);
        }
        let lines = self.root_moves[..searched.min(self.lines())].iter();
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

    /// Returns the first root move's score without a search: the result if the move ends the game,
    /// a draw if the root is in check, otherwise the static evaluation of the root.
    fn unsearched_score(&mut self) -> Score {
        // A stopped search has not removed the keys of its line.
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

    /// Reports a refutation for each move that is not among the lines: the reply from the table and
    /// its continuation.
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

    /// Reports a bound on the best move's score if there is one line, the score is not decisive,
    /// and the search has run for [`QUIET_TIME`].
    fn report_bound(&mut self, line: usize) {
        let best = &self.root_moves[line];
        if self.tells()
            && line == 0
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

    use proptest::prelude::*;

    use super::{
        super::{Memory, Shared},
        *,
    };
    use crate::{
        chess::{notation::read_move, position::Game},
        play::{
            clock::Budget,
            limits::{Limits, LiveOptions},
            report::Silent,
            signals::Signals,
        },
        search::tt::Table,
    };

    /// Runs `test` with a worker at the position of `game`, with a table of its own.
    fn with_worker<T>(game: &Game, limits: &Limits, test: impl FnOnce(Worker<'_>) -> T) -> T {
        with_changed_worker(game, limits, &Signals::new(false), |_| {}, test)
    }

    /// Like [`with_worker`], but applies `change` to the shared state first.
    fn with_changed_worker<T>(
        game: &Game,
        limits: &Limits,
        signals: &Signals,
        change: impl FnOnce(&mut Shared<'_>),
        test: impl FnOnce(Worker<'_>) -> T,
    ) -> T {
        let mut shared = Shared {
            table: &Table::new(1).unwrap(),
            limits,
            budget: None,
            last_score: None,
            nodes_per_ms: 0,
            signals,
            root_moves: moves(game.position(), &[]),
            handicap: None,
            prober: None,
            confirming: None,
            tbhits: AtomicU64::new(0),
            live: &LiveOptions::default(),
            reporter: &Silent,
            root_search: RootSearch::Bisection,
            selective: true,
            neutral: false,
            done: AtomicBool::new(false),
            nodes: vec![AtomicU64::new(0)],
            lines: vec![Mutex::default()],
            start: Instant::now(),
        };
        change(&mut shared);
        test(Worker::new(&shared, &mut Memory::new(None), 0, game))
    }

    #[test]
    fn neutral_evaluations_have_no_optimism_and_no_damping() {
        let evaluation = |neutral, average_score, halfmoves| {
            let fen =
                format!("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w - - {halfmoves} 9");
            let game = Game::from(Position::from_fen(&fen).unwrap());
            let (limits, signals) = (Limits::default(), Signals::new(false));
            let change = |shared: &mut Shared| shared.neutral = neutral;
            with_changed_worker(&game, &limits, &signals, change, |mut worker| {
                worker.average_score = average_score;
                let entry = Entry { evaluation: 100, ..Entry::EMPTY };
                worker.assess(game.position(), Some(entry), 0, 7)
            })
        };
        assert_eq!(evaluation(true, 200, 50), (100, 107));
        assert_eq!(evaluation(false, 0, 0), (100, 107));
        assert_eq!(evaluation(false, 0, 50), (100, 82));
        assert!(evaluation(false, 200, 0).1 > 107 && evaluation(false, -200, 0).1 < 107);
    }

    /// Returns the score of the TT cutoff at a node of this depth, if there is one. The node's
    /// window is 50 to 51, and its entry has the lower bound 90. The entry of the position after
    /// the TT move has the lower bound `reply`.
    fn cutoff(depth: i32, reply: Score) -> Option<Score> {
        let game = Game::default();
        with_worker(&game, &Limits::default(), |mut worker| {
            let m = game.position().legal_moves()[0];
            let bounds = Bounds::at_least(reply);
            let entry = Entry { bounds, depth: 1, ..Entry::EMPTY };
            worker.shared.table.store(table_key(&game.position().play(m)), entry);
            let bounds = Bounds::at_least(90);
            let entry = Entry { best: m.into(), bounds, depth: 20, ..Entry::EMPTY };
            let search = Search { window: Window::null(50), depth, ply: 1, cut: true };
            worker.tt_cutoff::<NonPv>(game.position(), entry, search)
        })
    }

    #[test]
    fn the_entry_after_the_best_move_may_deny_a_cutoff() {
        assert_eq!(cutoff(10, -80), Some(90));
        assert_eq!(cutoff(10, -20), None);
        assert_eq!(cutoff(6, -20), Some(90));
    }

    proptest! {
        /// A score fails low or high in the scaled window if and only if the score divided by
        /// `DRAWN_SCALE` does so in the original window.
        #[test]
        fn scaled_windows_decide_like_the_original(
            (alpha, beta) in (-600..600, 1..600).prop_map(|(alpha, width)| (alpha, alpha + width)),
            score in -INFINITE..INFINITE,
        ) {
            let inner = scale_window(Window::new(alpha, beta));
            let part = score.div_euclid(DRAWN_SCALE);
            prop_assert_eq!(score <= inner.alpha, part <= alpha);
            prop_assert_eq!(score >= inner.beta, part >= beta);
        }
    }

    /// A cycle counts only if it has no null move and does not begin before the root.
    #[test]
    fn null_moves_end_cycles() {
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8"];
        for (played, null, drawn) in [(0, false, true), (0, true, false), (2, false, false)] {
            let mut game = Game::default();
            for text in &moves[..played] {
                game.play(read_move(game.position(), text).unwrap());
            }
            with_worker(&game, &Limits::default(), |mut worker| {
                let mut position = worker.root.clone();
                for (text, ply) in moves[played..3].iter().zip(0..) {
                    let m = read_move(&position, text).unwrap();
                    worker.make(&mut position, m, ply);
                }
                if null {
                    worker.stack_at(1).moved = None;
                }
                let ply = 3 - played;
                assert_eq!(worker.can_repeat(&position, ply), drawn, "{played} {null}");
                let m = read_move(&position, moves[3]).unwrap();
                worker.make(&mut position, m, ply);
                let score = worker.draw(&position, ply + 1);
                assert_eq!(score, drawn.then_some(DRAW), "{played} {null}");
            });
        }
    }

    /// If the time is spent during pondering, the ponderhit ends the search.
    #[test]
    fn ponderhits_end_searches_whose_time_is_spent() {
        let hard = std::time::Duration::from_secs(3600);
        let change = |shared: &mut Shared| shared.budget = Some(Budget { soft: Some(hard), hard });
        let (limits, signals) = (Limits::default(), Signals::new(true));
        with_changed_worker(&Game::default(), &limits, &signals, change, |mut worker| {
            worker.iteration = 2;
            worker.ponder_spent = true;
            assert!(worker.count_node(1).is_ok());
            signals.ponder_hit();
            worker.next_check = 0;
            assert!(worker.count_node(1).is_err());
        });
    }

    #[test]
    fn null_windows_meet_or_give_up() {
        with_worker(&Game::default(), &Limits::default(), |mut worker| {
            let mut passes = 0;
            let score = worker.null_window_search(3, 0, 0, |known, _| {
                passes += 1;
                (known.lower + known.upper) >> 1
            });
            assert!(score.is_ok_and(|score| score.abs() < 200), "{score:?}");
            assert!((2..=17).contains(&passes), "{passes}");
            // With the same test every time, the bounds never meet.
            let mut passes = 0;
            let score = worker.null_window_search(3, 0, 0, |_, _| {
                passes += 1;
                -2000
            });
            assert_eq!(passes, MAX_PASSES);
            assert!(score.is_ok_and(|score| score > -2000), "{score:?}");
        });
    }

    /// Returns the move that is played after an iteration is stopped at `nodes`, and the move that
    /// should be played. The latter is the best move with an exact score or a lower bound from the
    /// stopped iteration. Without one, it is the best move of the previous iteration.
    fn stopped(game: &Game, nodes: u64) -> [Move; 2] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        with_worker(game, &limits, |mut worker| {
            worker.order_root();
            for depth in 1.. {
                worker.iteration = depth;
                let before = worker.root_moves.clone();
                if worker.iterate(1).is_ok() {
                    continue;
                }
                worker.restore_best_move(before[0].clone());
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

    /// Completes the line Kg8 and returns its length. For the next position, the table has an exact
    /// score of this depth with the move `best`.
    fn completed(best: &str, depth: i32) -> usize {
        let fen = "5k2/8/6K1/8/8/8/8/R7 b - - 0 1";
        let game = Game::from(Position::from_fen(fen).unwrap());
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
        // The move of an entry of depth 0 may come from another search. A line that ends in mate
        // has a mate score.
        assert_eq!(completed("a1b1", 0), 1);
        assert_eq!(completed("a1a8", 3), 1);
    }

    #[test]
    fn stopped_iterations_ignore_old_scores() {
        for line in include_str!("../../epd/bench.epd").lines() {
            let fen = line.split(" id ").next().unwrap();
            let game = Game::from(Position::from_fen(fen).unwrap());
            for nodes in (500..3000).step_by(100) {
                let [left, best] = stopped(&game, nodes);
                assert_eq!(left, best, "{nodes} nodes of {line}");
            }
        }
    }
}
