//! Principal variation search: the nodes between the root and the leaves.
//!
//! The steps are numbered in the order in which a node goes through them.
//!
//! `HISTORY.md` beside this file says what each of them is worth.

use arrayvec::ArrayVec;
use shakmaty::{Move, Role};

use super::{
    Entered, MAX_PLY, NodeType, NonPv, Pv, Result, Search, Worker, params as p,
    prune::{self, MoveFacts, NodeFacts},
    table_key, with_sure_alpha,
};
use crate::{
    chess::{
        movegen::{Generator, is_tactical},
        position::{PackedMove, Position},
        score::{
            Bounds, DECISIVE, DRAW, Delay, INFINITE, MATE, NO_SCORE, Score, Window, is_decisive,
        },
        see,
    },
    play::syzygy::Prober,
    search::{
        history::{Context, FromTo},
        picker::{Picker, check_score},
        tt::Entry,
    },
};

/// A node on its way through the steps.
struct Node<'a> {
    position: &'a Position,
    /// Shifted: comparable with the scores found inside the node.
    window: Window,
    depth: i32,
    ply: usize,
    /// Expected to fail high.
    cut: bool,
    entry: Option<Entry>,
    /// What the endgame tables prove.
    proved: Bounds,
    /// Uncorrected static evaluation, `NO_SCORE` in check.
    raw: Score,
    /// Corrected static evaluation, `NO_SCORE` in check.
    evaluation: Score,
    /// `evaluation` moved inside the table's bounds, if they are of a near depth.
    estimate: Score,
    /// How much more than usual the evaluation was corrected, in centipawns.
    doubt: Score,
    improving: bool,
    was_pv: bool,
    excluded: PackedMove,
    /// Generates its moves, and knows its threats and checks.
    generator: Generator<'a>,
}

impl Node<'_> {
    /// Is anything of the side to move attacked?
    fn is_attacked(&self) -> bool {
        let ours = self.position.board().by_color(self.position.turn());
        (self.generator.threats() & ours).any()
    }

    /// The evaluation that futility pruning goes by.
    fn hope(&self) -> Score {
        self.evaluation + prune::doubt_margin(self.doubt, p::correction_futility())
    }
}

/// What the move loop has found so far.
struct Found {
    alpha: Score,
    best: Score,
    best_move: Option<Move>,
    /// Moves looked at, pruned ones included.
    number: i32,
    /// Quiet moves searched before the best one, for the histories.
    quiets: ArrayVec<Move, 64>,
    /// Captures and promotions searched before it.
    tactical: ArrayVec<Move, 32>,
    /// `best` is what several moves reach at half the depth.
    multicut: bool,
}

impl Found {
    fn new(alpha: Score) -> Found {
        Found {
            alpha,
            best: -INFINITE,
            best_move: None,
            number: 0,
            quiets: ArrayVec::new(),
            tactical: ArrayVec::new(),
            multicut: false,
        }
    }

    /// Moves that were not searched would not have reached more than `score`, which
    /// is not above alpha.
    fn raise(&mut self, score: Score) {
        self.best = self.best.max(score);
    }
}

/// What the order of moves says of one.
#[derive(Clone, Copy)]
struct Order {
    /// Of a quiet move, and what speaks for its squares.
    history: i32,
    /// It is one of the captures that lose material, which come last.
    losing: bool,
    /// What its exchange wins at least, in centipawns, as far as is known.
    exchange: i32,
}

impl Order {
    /// The table's move is not judged.
    const TABLE: Order = Order { history: 0, losing: false, exchange: i32::MIN };
}

/// How the move loop goes on.
#[derive(PartialEq, Eq)]
enum Flow {
    /// With the next move.
    Next,
    /// With the next move that is not quiet, or gives check.
    SkipQuiets,
    /// Not at all.
    Stop,
}

impl Worker<'_> {
    /// The score of a position, as its parent sees the window: shifted on the
    /// way in, aged on the way out.
    pub(super) fn search<T: NodeType>(
        &mut self,
        position: &Position,
        search: Search,
    ) -> Result<Score> {
        let Search { window, depth, ply, .. } = search;
        if depth <= 0 && self.shared.selective {
            return self.quiescence::<T>(position, window, ply, true);
        }
        let inside = Search { window: window.pre_shift(), ..search };
        let score = self.interior::<T>(position, inside)?;
        Ok(Delay::MATES.score(score))
    }

    /// The score of a node in its own window, which is shifted already.
    fn interior<T: NodeType>(&mut self, position: &Position, search: Search) -> Result<Score> {
        // Step 1. Limits, draws, mate distance, upcoming repetitions.
        match self.enter::<T>(position, search.window, search.ply)? {
            Entered::Done(score) => Ok(score),
            Entered::Open(open) => {
                let score = self.open_node::<T>(position, Search { window: open, ..search })?;
                Ok(with_sure_alpha(score, search.window, open))
            }
        }
    }

    /// Steps 2 to 11.
    fn open_node<T: NodeType>(&mut self, position: &Position, search: Search) -> Result<Score> {
        let Search { window, depth, ply, cut } = search;
        if ply >= MAX_PLY - 1 || depth <= 0 {
            return Ok(self.leaf(position, ply));
        }

        // Step 2a. Transposition table: the score, if it has both bounds or the one that
        // decides the window. Only deeper entries cut an open window off, and lines that
        // mate are searched to their end.
        let excluded = self.frame(ply).excluded;
        let entry = self.look_up(position, ply);
        if let Some(e) = entry.filter(|e| e.depth >= depth + i32::from(T::PV))
            && !(T::PV && p::pv_cut() == 0)
            && !excluded.is_some()
            && let Some(score) = e.bounds.cutoff(window)
            && !(T::PV && is_decisive(score))
            && !(p::verify_cutoff() > 0
                && !T::PV
                && depth >= 7
                && self.is_denied(position, e.best, window, score))
        {
            if score >= window.beta {
                // The refutation of a late move is nothing special.
                if self.before(ply, 1).number <= 3 {
                    self.reward_table_move(position, e.best, depth, ply);
                }
                self.teach_last_move(ply, -prune::bonus(depth) / 2);
            }
            return Ok(score);
        }

        // Step 2b. Tablebases: the score, if their bounds decide the window. A win does not
        // where a mate is being looked for.
        let mut node = Node {
            position,
            window,
            depth,
            ply,
            cut,
            entry,
            proved: Bounds::NONE,
            raw: NO_SCORE,
            evaluation: NO_SCORE,
            estimate: NO_SCORE,
            doubt: 0,
            improving: false,
            was_pv: T::PV
                || entry.is_some_and(|e| e.pv)
                || p::excluded_pv() > 0 && excluded.is_some() && self.frame(ply).was_pv,
            excluded,
            generator: Generator::new(position),
        };
        if let Some(prober) = &self.shared.prober
            && !excluded.is_some()
            && let Some(score) = self.probe_tablebases(prober, &mut node)
        {
            return Ok(score);
        }

        // Step 3. Static evaluation.
        self.assess_node(&mut node);
        self.frame(ply + 2).cutoffs = 0;

        // Step 4. Prune the whole node.
        if self.shared.selective
            && !T::PV
            && let Some(score) = self.prune_node(&mut node)?
        {
            return Ok(score);
        }

        // Step 5. Internal iterative reduction: without a move to begin with,
        // a shallower search that leaves one is the better investment.
        if self.shared.selective
            && node.depth >= p::iir_depth()
            && (T::PV || cut)
            && !self.follows(ply)
            && !entry.is_some_and(|e| e.best.is_some())
        {
            node.depth -= 1;
        }

        // Steps 6 to 10. The moves.
        let mut found = Found::new(window.alpha);
        self.search_moves::<T>(&node, &mut found)?;
        if found.multicut {
            // Proved at half the depth only: nothing to remember.
            return Ok(found.best);
        }
        if self.shared.selective && !T::PV && found.best >= window.beta {
            found.best = prune::fail_high(found.best, window.beta, node.depth);
        }
        found.best = node.proved.refine(found.best);

        // Step 11. Learn and remember.
        self.learn(&node, &found);
        if !excluded.is_some() {
            self.remember(&node, &found);
        }
        Ok(found.best)
    }

    /// Step 2b. The score is remembered as if from a deeper search: it will not
    /// change.
    #[cold]
    fn probe_tablebases(&self, prober: &Prober, node: &mut Node) -> Option<Score> {
        let shared = self.shared;
        let bounds = prober.probe(node.position, node.depth, &shared.tbhits, shared.reporter)?;
        node.proved = bounds;
        let score = bounds.cutoff(node.window)?;
        let entry = Entry { bounds, depth: node.depth + 6, ..Entry::EMPTY };
        shared.table.store(table_key(node.position), entry);
        Some(score)
    }

    /// Does the table, after its best move of this position, say that the score is on the other
    /// side of this null window than here?
    fn is_denied(
        &self,
        position: &Position,
        best: PackedMove,
        window: Window,
        score: Score,
    ) -> bool {
        let Some(m) = Generator::new(position).find(best) else { return false };
        let entry = self.probe(&position.play(m));
        entry.filter(|_| !is_decisive(score)).is_some_and(|e| {
            let next = e.bounds.flip().cutoff(window);
            next.is_some_and(|next| (next >= window.beta) != (score >= window.beta))
        })
    }

    /// The score of a leaf of the full-width search, or at the last ply.
    fn leaf(&mut self, position: &Position, ply: usize) -> Score {
        if !Generator::new(position).any() {
            return if position.is_check() { -MATE } else { DRAW };
        }
        self.evaluate(position, ply)
    }

    /// Step 3: evaluates, corrects, refines by the table's bounds, and compares
    /// with our last move's evaluation.
    fn assess_node(&mut self, node: &mut Node) {
        let ply = node.ply;
        node.doubt = self.doubt(node.position, ply);
        if node.position.is_check() {
            self.frame(ply).evaluation = NO_SCORE;
            return;
        }
        if node.excluded.is_some() {
            // The same node has been assessed already.
            node.evaluation = self.frame(ply).evaluation;
        } else {
            (node.raw, node.evaluation) = self.assess(node.position, node.entry, ply);
        }
        node.estimate = match node.entry {
            Some(e) if e.depth + p::estimate_depth() >= node.depth => e.refine(node.evaluation),
            _ => node.evaluation,
        };
        self.frame(ply).evaluation = node.evaluation;
        let last = *self.before(ply, 1);
        if p::teach_evaluation() > 0
            && !node.excluded.is_some()
            && (node.depth < 6 || node.entry.is_none())
            && last.evaluation != NO_SCORE
            && let (Some(quiet), Some(moved)) = (last.quiet, last.moved)
        {
            let bonus = prune::evaluation_bonus(-(node.evaluation + last.evaluation));
            self.histories.update_butterfly(quiet, moved, bonus);
        }
        let earlier = [2, 4].map(|back| self.before(ply, back).evaluation);
        node.improving = earlier
            .into_iter()
            .find(|&evaluation| evaluation != NO_SCORE)
            .is_some_and(|evaluation| node.evaluation > evaluation);
    }

    /// Step 4. `None`: not pruned.
    fn prune_node(&mut self, node: &mut Node) -> Result<Option<Score>> {
        let verified = self.verified == Some(node.ply);
        if node.excluded.is_some() || node.position.is_check() || verified {
            return Ok(None);
        }
        let beta = node.window.beta;
        // Step 4a. Hindsight: the parent's reduction looks wrong, or not enough, now that
        // the evaluation is known.
        let parent = *self.before(node.ply, 1);
        if parent.reduction > 0 && parent.evaluation != NO_SCORE {
            let agreement = node.evaluation + parent.evaluation;
            if agreement < 0 {
                node.depth += 1;
            } else if agreement > p::hindsight_agreement() && node.depth >= 2 {
                node.depth -= 1;
            }
        }
        let facts = NodeFacts {
            depth: node.depth,
            estimate: node.estimate,
            improving: node.improving,
            opponent_worsening: parent.evaluation != NO_SCORE
                && node.evaluation > 2 - parent.evaluation,
            cut: node.cut,
            safe: p::rfp_form() > 0 && !node.is_attacked(),
            doubt: node.doubt,
        };

        // Step 4b. Reverse futility pruning.
        if !node.was_pv && prune::reverse_futility(facts, beta) {
            return Ok(Some((node.estimate + beta) / 2));
        }
        // Step 4c. Null move pruning.
        if let Some(score) = self.null_move(node, facts)? {
            return Ok(Some(score));
        }
        // Step 4d. ProbCut.
        node.improving |= p::improving_beta() > 0 && node.evaluation >= beta;
        self.probcut(node)
    }

    /// Step 4c: if passing still fails high, so would the best move. Zugzwang
    /// is met by asking for pieces and by verifying at high depth.
    fn null_move(&mut self, node: &Node, facts: NodeFacts) -> Result<Option<Score>> {
        let (beta, ply) = (node.window.beta, node.ply);
        if node.depth < p::null_depth()
            || !node.cut
            || ply < self.null_from
            || node.estimate < beta
            || node.evaluation + p::null_slope() * node.depth < beta + p::null_margin()
            || is_decisive(beta)
            || self.before(ply, 1).moved.is_none()
            || !node.position.has_pieces(node.position.turn())
            || node.entry.is_some_and(|e| e.bounds.upper < beta && e.depth + 4 >= node.depth)
            || wins_a_piece(node)
        {
            return Ok(None);
        }
        let Some(child) = node.position.play_null() else { return Ok(None) };
        self.shared.table.prefetch(table_key(&child));
        let depth = node.depth - prune::null_reduction(facts, beta);
        self.keys.push(node.position.key());
        let frame = self.frame(ply);
        (frame.moved, frame.quiet, frame.number, frame.reduction) = (None, None, 0, 0);
        frame.follows = false;
        let window = Window::null(beta - 1);
        let passed = Search { window: window.flip(), depth, ply: ply + 1, cut: false };
        let score = -self.search::<NonPv>(&child, passed)?;
        self.unmake();
        if score < beta {
            return Ok(None);
        }
        // A win found after passing is not proved.
        let score = if is_decisive(score) { beta } else { score };
        if node.depth < p::null_verify() || self.null_from > 0 {
            return Ok(Some(score));
        }
        self.null_from = ply + (3 * depth.max(1) / 4) as usize + 1;
        self.verified = Some(ply);
        let again = Search { window, depth: depth.max(1), ply, cut: false };
        let verified = self.interior::<NonPv>(node.position, again);
        (self.null_from, self.verified) = (0, None);
        Ok((verified? >= beta).then_some(score))
    }

    /// Step 4d: a capture that fails high well above beta at reduced depth
    /// will fail high above beta at full depth. Source: M. Buro, 1995.
    fn probcut(&mut self, node: &Node) -> Result<Option<Score>> {
        let (position, ply) = (node.position, node.ply);
        let bound = node.window.beta + p::probcut_margin()
            - if node.improving { p::probcut_improving() } else { 0 };
        if node.depth < p::probcut_depth()
            || is_decisive(node.window.beta)
            || node.entry.is_some_and(|e| e.depth >= node.depth - 3 && e.bounds.upper < bound)
        {
            return Ok(None);
        }
        let hint = node.entry.map_or(PackedMove::NONE, |e| e.best);
        let hint = node.generator.find(hint);
        let adaptive = p::probcut_form() > 0;
        if adaptive
            && (!node.cut || hint.is_some_and(|m| !is_tactical(m)) || !promises(node, bound))
        {
            return Ok(None);
        }
        let mut picker = Picker::tactical(&node.generator, hint);
        let window = Window::null(bound - 1).flip();
        while let Some((m, _)) = picker.next(self.histories) {
            if !see::see_ge(position, m, bound - node.evaluation)
                || self.overlooks(position, m, ply)
            {
                continue;
            }
            let mut child = position.clone();
            self.make(&mut child, m, ply);
            let mut score = -self.quiescence::<NonPv>(&child, window, ply + 1, false)?;
            let base = node.depth - 4;
            let (mut depth, mut asked) = (base, bound);
            if score >= bound {
                if adaptive {
                    depth -= ((score - bound) / p::probcut_step()).clamp(0, base.max(0));
                    asked += p::probcut_more() * (base - depth);
                }
                let deep = |depth, asked: Score| Search {
                    window: Window::null(asked - 1).flip(),
                    depth,
                    ply: ply + 1,
                    cut: !node.cut,
                };
                score = -self.search::<NonPv>(&child, deep(depth, asked))?;
                if score < asked && asked > bound {
                    (depth, asked) = (base, bound);
                    score = -self.search::<NonPv>(&child, deep(depth, asked))?;
                }
            }
            self.unmake();
            if score >= asked && !is_decisive(score) {
                self.shared.table.store(
                    table_key(position),
                    Entry {
                        best: m.into(),
                        bounds: Bounds::at_least(score),
                        depth: depth + 1,
                        evaluation: node.raw,
                        pv: node.was_pv,
                    },
                );
                return Ok(Some(score - (asked - node.window.beta)));
            }
        }
        Ok(None)
    }

    /// Steps 6 to 10: the moves in order, until one refutes the node.
    fn search_moves<T: NodeType>(&mut self, node: &Node, found: &mut Found) -> Result<()> {
        let position = node.position;

        // Step 6. The table's move before any other move is generated: it often is enough.
        let hint = node.entry.map_or(PackedMove::NONE, |e| e.best);
        let table_move = node.generator.find(hint);
        let table_capture = table_move.is_some_and(is_tactical);
        if let Some(m) = table_move
            && hint != node.excluded
            && !self.overlooks(position, m, node.ply)
            && self.try_move::<T>(node, found, m, Order::TABLE, table_capture)? == Flow::Stop
        {
            return Ok(());
        }

        let mut picker = Picker::without(&node.generator, self.previous(node.ply), table_move);
        let mut any = table_move.is_some();
        // Step 7b for all quiet moves at once, before they are scored.
        let alpha = node.window.alpha;
        let mut futile = self.shared.selective
            && p::move_futility() == 0
            && !(T::PV && self.follows(node.ply))
            && !position.is_check()
            && !is_decisive(alpha)
            && prune::futile(node.depth, node.hope(), 0, alpha);
        loop {
            // Once one move is known not to lose, hopeless ones need no order.
            if futile && found.best > -DECISIVE {
                futile = false;
                picker.only_checks();
                found.raise(prune::futility(node.depth, node.hope(), 0));
            }
            let Some((m, merit)) = picker.next(self.histories) else { break };
            let losing = picker.is_bad_tactical();
            let order = match is_tactical(m) {
                true if losing => Order { losing, ..Order::TABLE },
                true => Order { exchange: merit, ..Order::TABLE },
                false => Order { history: merit, ..Order::TABLE },
            };
            any = true;
            if PackedMove::from(m) == node.excluded || self.overlooks(position, m, node.ply) {
                continue;
            }
            match self.try_move::<T>(node, found, m, order, table_capture)? {
                Flow::Next => {}
                Flow::SkipQuiets => picker.only_checks(),
                Flow::Stop => return Ok(()),
            }
        }
        if !any {
            found.best = if position.is_check() { -MATE } else { DRAW };
        } else if found.number == 0 {
            // Nothing but the excluded move is legal, or nothing is seen.
            found.best = if node.excluded.is_some() { alpha } else { node.evaluation };
        }
        Ok(())
    }

    /// Steps 7 to 10 for one move.
    fn try_move<T: NodeType>(
        &mut self,
        node: &Node,
        found: &mut Found,
        m: Move,
        order: Order,
        table_capture: bool,
    ) -> Result<Flow> {
        let (position, ply) = (node.position, node.ply);
        found.number += 1;
        let facts = self.facts::<T>(node, found, m, order, table_capture);

        // Step 7. Prune the move. A line that does not lose must be known. The first
        // move is neither pruned nor reduced.
        let is_tables = node.entry.is_some_and(|e| e.best == m.into());
        let late = found.number > 1 || p::lmr_first() > 0 && !T::PV && !is_tables;
        let reduction = if late { prune::reduction(&facts) } else { 0 };
        if self.shared.selective
            && found.best > -DECISIVE
            && let Some(flow) = self.prune_move::<T>(node, found, &facts, reduction, m)
        {
            return Ok(flow);
        }

        // Step 8. Extend the table's move if nothing else comes close.
        let mut extension = 0;
        if let Some(entry) = node.entry.filter(|e| e.best == m.into())
            && self.shared.selective
        {
            let Some(plies) = self.singular::<T>(node, entry, found)? else {
                return Ok(Flow::Stop);
            };
            extension = plies;
        }

        // Step 9. Search it.
        let mut child = position.clone();
        self.make(&mut child, m, ply);
        self.frame(ply).number = found.number;
        if facts.quiet {
            let threats = node.generator.threats();
            self.frame(ply).quiet = Some(FromTo::new(position.turn(), threats, m));
        }
        let open = Search {
            window: Window::new(found.alpha, node.window.beta).flip(),
            depth: node.depth - 1 + extension,
            ply: ply + 1,
            cut: !node.cut,
        };
        let score = self.search_move::<T>(&child, open, &facts, reduction)?;
        self.unmake();

        // Step 10. A new best move?
        found.best = found.best.max(score);
        if score > found.alpha {
            found.alpha = score;
            found.best_move = Some(m);
            if T::PV {
                self.pv.extend(ply, m);
            }
            if score >= node.window.beta {
                self.frame(ply).cutoffs += 1;
                return Ok(Flow::Stop);
            }
            if p::teach() > 0 {
                return Ok(Flow::Next);
            }
        }
        // More moves than fit are not worth punishing.
        let _ = if facts.quiet { found.quiets.try_push(m) } else { found.tactical.try_push(m) };
        Ok(Flow::Next)
    }

    /// What pruning and reduction look at.
    fn facts<T: NodeType>(
        &self,
        node: &Node,
        found: &Found,
        m: Move,
        order: Order,
        table_capture: bool,
    ) -> MoveFacts {
        let quiet = !is_tactical(m);
        MoveFacts {
            depth: node.depth,
            number: found.number,
            best: found.best,
            quiet,
            history: if quiet {
                order.history - check_score(&node.generator, m)
            } else {
                self.histories.capture(&node.generator, m)
            },
            improving: node.improving,
            pv: T::PV,
            open: self.open_share::<T>(Window::new(found.alpha, node.window.beta)),
            was_pv: node.was_pv,
            cut: node.cut,
            check: found.number > 1 && node.generator.checks().given_by(m),
            in_check: node.position.is_check(),
            table_capture,
            losing: order.losing,
            exchange: order.exchange,
            table_above: node.entry.is_some_and(|e| e.bounds.lower > found.alpha),
            table_deep: node.entry.is_some_and(|e| e.depth >= node.depth),
            cutoffs_below: self.before(node.ply + 1, 0).cutoffs,
            hopeless: !node.position.is_check()
                && node.evaluation + p::hopeless_margin() <= found.alpha,
            doubt: node.doubt,
        }
    }

    /// Step 7: is this move worth its nodes? `None`: it is searched; else how the loop goes
    /// on without it.
    fn prune_move<T: NodeType>(
        &self,
        node: &Node,
        found: &mut Found,
        facts: &MoveFacts,
        reduction: i32,
        m: Move,
    ) -> Option<Flow> {
        let alpha = found.alpha;
        let reduced = (facts.depth - reduction.max(0)).max(0);
        if facts.quiet && T::PV && self.follows(node.ply) {
            return None;
        }
        let evades = p::evasions() > 0 && facts.in_check && facts.quiet;
        if facts.quiet && !facts.check {
            // Step 7a. Late move pruning.
            if !T::PV && !evades && prune::enough_quiets(facts.depth, facts.number, facts.improving)
            {
                return Some(Flow::SkipQuiets);
            }
            // Step 7b. Futility pruning.
            if !facts.in_check
                && !is_decisive(alpha)
                && prune::futile(reduced, node.hope(), facts.history, alpha)
            {
                found.raise(prune::futility(reduced, node.hope(), facts.history));
                return Some(Flow::SkipQuiets);
            }
            // Step 7c. History pruning: later moves have a worse record still.
            if prune::bad_history(reduced, facts.history) {
                return Some(Flow::SkipQuiets);
            }
        }
        // Step 7d. Futility of captures that lose material, which come last.
        if facts.losing && !facts.check && !facts.in_check && !is_decisive(alpha) {
            let score = node.evaluation + p::losing_margin() * reduced;
            if score <= alpha {
                found.raise(score);
                return Some(Flow::Stop);
            }
        }
        // Step 7e. Exchange pruning. A quiet move to a square that nobody attacks loses
        // nothing, unless the piece only gets out of the way of its attacker.
        let safe = |square| !node.generator.threats().contains(square);
        if evades || facts.quiet && safe(m.to()) && m.from().is_none_or(safe) {
            return None;
        }
        let limit = prune::exchange_limit(facts.depth, reduced, facts.quiet)?;
        let loses = facts.exchange < limit && !see::see_ge(node.position, m, limit);
        loses.then_some(Flow::Next)
    }

    /// Step 8: singular extensions, double, negative, and multicut. The node is
    /// searched again at half depth without the table's move: if all else fails
    /// low, that move must not be misjudged. Returns by how many plies to extend it; `None`
    /// if several moves refute the node, whose score `found` then has.
    fn singular<T: NodeType>(
        &mut self,
        node: &Node,
        entry: Entry,
        found: &mut Found,
    ) -> Result<Option<i32>> {
        let (ply, lower) = (node.ply, entry.bounds.lower);
        if node.depth < p::singular_depth()
            || node.excluded.is_some()
            || entry.depth < node.depth - 3
            || is_decisive(lower)
            || ply >= 2 * self.iteration as usize
        {
            return Ok(Some(0));
        }
        let bound = prune::singular_bound(entry.bounds, node.depth, node.was_pv && !T::PV);
        self.frame(ply).excluded = entry.best;
        self.frame(ply).was_pv = node.was_pv;
        let (window, depth) = (Window::null(bound - 1), (node.depth - 1) / 2);
        let search = Search { window, depth, ply, cut: node.cut };
        let result = self.interior::<NonPv>(node.position, search);
        self.frame(ply).excluded = PackedMove::NONE;
        let score = result?;
        Ok(Some(if score < bound {
            prune::extension(bound - score, T::PV, node.doubt)
        } else if !T::PV && score >= node.window.beta && !is_decisive(score) {
            (found.best, found.multicut) = (score, true);
            if p::singular() > 0 {
                found.best = prune::fail_high(score, node.window.beta, depth);
            }
            return Ok(None);
        } else if p::singular() > 0 {
            if lower >= node.window.beta || node.cut { -3 } else { 0 }
        } else if lower >= node.window.beta {
            if T::PV { -1 } else { -2 }
        } else {
            -i32::from(node.cut)
        }))
    }

    /// Step 9: the child's score from this node's point of view. The first
    /// move gets the open window, the others must beat alpha in a null window
    /// first, at a reduced depth if they come late.
    /// `open` is the child's search with the open window, `reduction` what its depth is
    /// lessened by for a late move.
    pub(super) fn search_move<T: NodeType>(
        &mut self,
        child: &Position,
        open: Search,
        facts: &MoveFacts,
        reduction: i32,
    ) -> Result<Score> {
        let (first, alpha, ply) = (facts.number == 1, -open.window.beta, open.ply - 1);
        let mut null = Search { window: Window::null(alpha).flip(), ..open };
        if p::lmr_first() > 0 && first && reduction >= 3 && self.shared.selective {
            null.depth -= 1;
        }
        let mut score = -INFINITE;
        let mut full = !first || !T::PV;
        if !first && facts.depth >= p::lmr_depth() && self.shared.selective {
            // Where all moves are expected to fail, the likeliest may be looked at more
            // closely.
            let least = if facts.cut || T::PV { 0 } else { -1 };
            let reduction = reduction.clamp(least, (null.depth - 1).max(0));
            if reduction != 0 {
                let reduced = Search { depth: null.depth - reduction, cut: true, ..null };
                self.frame(ply).reduction = reduction;
                score = -self.search::<NonPv>(child, reduced)?;
                self.frame(ply).reduction = 0;
                full = score > alpha;
                if full {
                    null.depth += prune::second_look(score, facts.best);
                    full = null.depth > reduced.depth.max(0);
                }
            }
        }
        if full {
            score = -self.search::<NonPv>(child, null)?;
        }
        if T::PV && (first || score > alpha) {
            let open = Search { depth: null.depth, cut: false, ..open };
            score = -self.search::<Pv>(child, open)?;
        }
        Ok(score)
    }

    /// Step 11: history and correction history.
    fn learn(&mut self, node: &Node, found: &Found) {
        let (position, ply) = (node.position, node.ply);
        if let Some(m) = found.best_move
            && (found.best >= node.window.beta || p::teach() > 1)
        {
            let context = Context::new(&node.generator, self.previous(ply));
            let bonus = prune::bonus(node.depth);
            if is_tactical(m) {
                self.histories.update_capture(&node.generator, m, bonus);
            } else {
                self.histories.update_quiet(position, &context, m, bonus);
                for (place, &other) in found.quiets.iter().enumerate() {
                    let malus = prune::malus(node.depth, place);
                    self.histories.update_quiet(position, &context, other, -malus);
                }
            }
            for &other in &found.tactical {
                let malus = prune::malus(node.depth, 0);
                self.histories.update_capture(&node.generator, other, -malus);
            }
        }
        let fails_low = found.best_move.is_none();
        if fails_low && !node.excluded.is_some() {
            self.teach_last_move(ply, prune::bonus(node.depth));
            // The table's move, tried first, was worth it, though.
            let is_tables = |m: &Move| node.entry.is_some_and(|e| e.best == (*m).into());
            if let Some(m) = found.quiets.first().copied().filter(is_tables) {
                let context = Context::new(&node.generator, self.previous(ply));
                let bonus = prune::bonus(node.depth) / 4;
                self.histories.update_quiet(position, &context, m, bonus);
            }
        }
        // A score that only bounds the evaluation on the side where it already
        // is says nothing about its error.
        let quiet = found.best_move.is_none_or(|m| !is_tactical(m));
        let fails_high = found.best >= node.window.beta;
        if !position.is_check()
            && !node.excluded.is_some()
            && quiet
            && !is_decisive(found.best)
            && (!fails_high || found.best > node.evaluation)
            && (!fails_low || found.best < node.evaluation)
        {
            let difference = found.best - node.evaluation;
            let moves = self.previous(ply);
            self.histories.corrections_mut().update(position, moves, node.depth, difference);
        }
    }

    /// Step 11: the bounds that the search has found, and the tables proved.
    fn remember(&self, node: &Node, found: &Found) {
        let &Found { best, best_move, .. } = found;
        let searched = match best_move {
            _ if best >= node.window.beta => Bounds::at_least(best),
            Some(_) => Bounds::exact(best),
            None => Bounds::at_most(best),
        };
        self.shared.table.store(
            table_key(node.position),
            Entry {
                best: best_move.map_or(PackedMove::NONE, Into::into),
                bounds: searched.merge(node.proved),
                depth: node.depth,
                evaluation: node.raw,
                pv: node.was_pv,
            },
        );
    }

    /// A node where nothing helps is a success for the quiet move that led to it, and
    /// one that the table refutes at once is none.
    fn teach_last_move(&mut self, ply: usize, bonus: i32) {
        let last = *self.before(ply, 1);
        if let (Some(quiet), Some(moved)) = (last.quiet, last.moved) {
            let previous = [2, 3, 5].map(|back| self.before(ply, back).moved);
            self.histories.update_last(quiet, moved, previous, bonus);
        }
    }

    /// A table cutoff by a quiet move is a success for that move, too.
    fn reward_table_move(&mut self, position: &Position, best: PackedMove, depth: i32, ply: usize) {
        // Not checked for legality: a wrong move would only gain some history.
        let Some(m) = best.rebuild(position).filter(|&m| !is_tactical(m)) else { return };
        let squares = m.from().into_iter().chain([m.to()]).collect();
        let threats = Generator::new(position).threats_among(squares);
        let context = Context { threats, previous: self.previous(ply) };
        self.histories.update_quiet(position, &context, m, prune::bonus(depth));
    }
}

/// Does what is known of the node, or else its evaluation, let ProbCut hope for this bound?
fn promises(node: &Node, bound: Score) -> bool {
    match node.entry.map_or(Bounds::NONE, |e| e.bounds) {
        Bounds::NONE => node.evaluation >= node.window.beta,
        Bounds { lower: score, .. } if score > -INFINITE => score >= bound && !is_decisive(score),
        Bounds { upper: score, .. } => score >= bound && !is_decisive(score),
    }
}

/// Has the table's move failed high by taking a piece? Then that move is to be seen, not
/// what the opponent does after a pass.
fn wins_a_piece(node: &Node) -> bool {
    node.entry.is_some_and(|e| {
        let captured = || e.best.rebuild(node.position).and_then(|m| m.capture());
        e.bounds.lower > -INFINITE
            && !e.bounds.is_exact()
            && captured().is_some_and(|role| role != Role::Pawn)
    })
}
