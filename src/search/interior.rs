//! Principal variation search: the nodes between the root and the leaves.
//!
//! The steps are numbered in the order in which a node goes through them. `HISTORY.md` in this
//! directory has the measured Elo of most steps.

use arrayvec::ArrayVec;
use shakmaty::{Move, Role};

use super::{
    MAX_PLY, NodeType, NonPv, Pv, Result, Search, Worker, params as p,
    prune::{self, MoveFacts, NodeFacts},
    table_key,
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
        picker::Picker,
        tt::Entry,
    },
};

/// State of a node between the steps.
struct Node<'a> {
    position: &'a Position,
    /// Already shifted, so that it can be compared with the scores of the node's moves.
    window: Window,
    depth: i32,
    ply: usize,
    /// The node is an expected cut node: it should fail high.
    cut: bool,
    entry: Option<Entry>,
    /// Bounds proved by the tablebases.
    proved: Bounds,
    /// Uncorrected static evaluation, `NO_SCORE` in check.
    raw: Score,
    /// Corrected static evaluation, `NO_SCORE` in check.
    evaluation: Score,
    /// `evaluation` clamped to the bounds of the TT entry, if the entry is deep enough.
    estimate: Score,
    /// How much more than usual the evaluation was corrected, in centipawns.
    complexity: Score,
    improving: bool,
    was_pv: bool,
    excluded: PackedMove,
    /// Generates the moves of the position, its threats and its checks.
    generator: Generator<'a>,
}

impl<'a> Node<'a> {
    /// Creates a node that has not been evaluated.
    fn new(
        position: &'a Position,
        search: Search,
        entry: Option<Entry>,
        excluded: PackedMove,
        was_pv: bool,
    ) -> Node<'a> {
        let Search { window, depth, ply, cut } = search;
        Node {
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
            complexity: 0,
            improving: false,
            was_pv,
            excluded,
            generator: Generator::new(position),
        }
    }

    /// Returns the evaluation that futility pruning uses.
    fn futility_evaluation(&self) -> Score {
        self.evaluation + prune::complexity_margin(self.complexity, p::correction_futility())
    }
}

/// Results of the move loop so far.
struct Found {
    alpha: Score,
    best: Score,
    best_move: Option<Move>,
    /// Number of moves tried, including pruned moves.
    number: i32,
    /// Quiet moves that were searched and did not fail high, for the histories.
    quiets: ArrayVec<Move, 64>,
    /// Captures and queen promotions that were searched and did not fail high.
    tactical: ArrayVec<Move, 32>,
    /// `best` is a multicut score: without the TT move, a search at half depth reached beta.
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

    /// Raises the best score to `score`, an upper bound for moves that were pruned. It must not
    /// exceed alpha.
    fn raise(&mut self, score: Score) {
        self.best = self.best.max(score);
    }
}

/// Facts about a move from move ordering.
#[derive(Clone, Copy)]
struct Order {
    /// Ordering score of a quiet move: its history and the bonuses for its squares.
    history: i32,
    /// The move is a bad capture: its exchange is worth less than its ordering score requires. Such
    /// captures come last.
    losing: bool,
    /// Lower bound of the move's static exchange evaluation, in centipawns; `i32::MIN` if unknown.
    exchange: i32,
}

impl Order {
    /// For the TT move, which is searched without an ordering score.
    const TT_MOVE: Order = Order { history: 0, losing: false, exchange: i32::MIN };
}

/// How the move loop continues.
#[derive(PartialEq, Eq)]
enum Flow {
    /// Continues with the next move.
    Next,
    /// Skips the remaining quiet moves, except checks.
    SkipQuiets,
    /// Ends the loop.
    Stop,
}

impl Worker<'_> {
    /// Searches a position and returns its score. The window is not yet shifted: it is adjusted on
    /// entry, and a losing score is raised by one on return (see [`Delay`]).
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

    /// Searches a node in its own window, which is already shifted.
    fn interior<T: NodeType>(&mut self, position: &Position, search: Search) -> Result<Score> {
        // Step 1. Limits, draws, mate distance, upcoming repetitions.
        self.enter::<T>(position, search.window, search.ply, |worker, window| {
            worker.open_node::<T>(position, Search { window, ..search })
        })
    }

    /// Goes through steps 2 to 11.
    fn open_node<T: NodeType>(&mut self, position: &Position, search: Search) -> Result<Score> {
        let Search { window, depth, ply, cut } = search;
        if ply >= MAX_PLY - 1 || depth <= 0 {
            return Ok(self.leaf(position, ply));
        }

        // Step 2a. Transposition table cutoff.
        let excluded = self.stack_at(ply).excluded;
        let entry = self.look_up(position, ply);
        if excluded.is_none()
            && let Some(e) = entry
            && let Some(score) = self.tt_cutoff::<T>(position, e, search)
        {
            return Ok(score);
        }

        // Step 2b. Tablebase cutoff, if the result is exact or its bound is outside the window. A
        // tablebase win is only a lower bound, so it causes no cutoff if beta is a mate score.
        let was_pv = if excluded.is_some() {
            self.stack_at(ply).was_pv
        } else {
            T::PV || entry.is_some_and(|e| e.pv)
        };
        let mut node = Node::new(position, search, entry, excluded, was_pv);
        if let Some(prober) = &self.shared.prober
            && excluded.is_none()
            && let Some(score) = self.probe_tablebases(prober, &mut node)
        {
            return Ok(score);
        }

        // Step 3. Static evaluation.
        self.assess_node(&mut node);
        self.stack_at(ply + 2).cutoffs = 0;

        // Step 4. Prune the whole node.
        if self.shared.selective
            && !T::PV
            && let Some(score) = self.prune_node(&mut node)?
        {
            return Ok(score);
        }

        // Step 5. Internal iterative reduction: a node without a TT move is searched less deeply.
        // This is cheaper, and leaves a TT move for the next iteration.
        if self.shared.selective
            && node.depth >= p::iir_depth()
            && (T::PV || cut)
            && !position.is_check()
            && !entry.is_some_and(|e| e.best.is_some())
        {
            node.depth -= 1;
        }

        // Steps 6 to 10. The moves.
        let mut found = Found::new(window.alpha);
        self.search_moves::<T>(&node, &mut found)?;
        if found.multicut {
            // The score was proved at half the depth only, so it is not stored.
            return Ok(found.best);
        }
        if self.shared.selective && !T::PV && found.best >= window.beta {
            found.best = prune::fail_high(found.best, window.beta, node.depth);
        }

        // Step 11. Store the result and update the histories.
        if excluded.is_none() {
            self.store(&node, &found);
        }
        found.best = node.proved.refine(found.best);
        self.update_histories(&node, &found);
        Ok(found.best)
    }

    /// Step 2a: returns the score of the TT entry if the entry is deep enough and the score is
    /// exact, a lower bound of at least beta or an upper bound of at most alpha. PV nodes need a
    /// deeper entry. Decisive scores do not cut them off, so that mating lines are searched to
    /// their end.
    pub(super) fn tt_cutoff<T: NodeType>(
        &mut self,
        position: &Position,
        entry: Entry,
        search: Search,
    ) -> Option<Score> {
        let Search { window, depth, ply, .. } = search;
        let score = entry.bounds.cutoff(window)?;
        if entry.depth < depth + i32::from(T::PV)
            || T::PV && is_decisive(score)
            || !T::PV && depth >= 7 && self.child_contradicts(position, entry.best, window, score)
        {
            return None;
        }
        if score >= window.beta {
            // A move that came late at the parent is usually refuted, so its refutation gets no
            // bonus.
            if self.before(ply, 1).number <= 3 {
                self.reward_tt_move(position, entry.best, depth, ply);
            }
            self.update_last_move(ply, -prune::bonus(depth) / 2);
        }
        Some(score)
    }

    /// Step 2b: probes the tablebases. The result is proved, so it is stored as if a search six
    /// plies deeper had found it. Such entries stay in the table longer.
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

    /// Returns whether the table contradicts the cutoff score of this position. It does so if the
    /// entry of the position after the TT move proves a score on the other side of `window`.
    fn child_contradicts(
        &self,
        position: &Position,
        best: PackedMove,
        window: Window,
        score: Score,
    ) -> bool {
        if is_decisive(score) {
            return false;
        }
        let Some(m) = Generator::new(position).find(best) else { return false };
        let Some(entry) = self.probe(&position.play(m)) else { return false };
        let next = entry.bounds.shift(|score| Delay::MATES.score(score)).flip().cutoff(window);
        next.is_some_and(|next| (next >= window.beta) != (score >= window.beta))
    }

    /// Returns the score of a leaf of the full-width search, or of a node at the last ply.
    fn leaf(&mut self, position: &Position, ply: usize) -> Score {
        if !Generator::new(position).any() {
            return if position.is_check() { -MATE } else { DRAW };
        }
        self.evaluate(position, ply)
    }

    /// Step 3: evaluates the position, corrects the evaluation, and derives the estimate from it by
    /// the TT bounds. Then compares the corrected evaluation with that of two plies ago or, if we
    /// were in check then, four.
    fn assess_node(&mut self, node: &mut Node) {
        let ply = node.ply;
        let correction = self.correction(node.position, ply);
        node.complexity = prune::complexity(correction);
        if node.position.is_check() {
            self.stack_at(ply).evaluation = NO_SCORE;
            return;
        }
        if node.excluded.is_some() {
            // A singular search: the same node has been evaluated already.
            node.evaluation = self.stack_at(ply).evaluation;
        } else {
            (node.raw, node.evaluation) = self.assess(node.position, node.entry, ply, correction);
        }
        node.estimate = match node.entry {
            Some(e) if e.depth + p::estimate_depth() >= node.depth => e.refine(node.evaluation),
            _ => node.evaluation,
        };
        self.stack_at(ply).evaluation = node.evaluation;
        self.update_last_move_by_evaluation(node);
        let earlier = [2, 4].map(|back| self.before(ply, back).evaluation);
        node.improving = earlier
            .into_iter()
            .find(|&evaluation| evaluation != NO_SCORE)
            .is_some_and(|evaluation| node.evaluation > evaluation);
    }

    /// Step 3: if the opponent's last move was quiet, updates its history. The bonus is
    /// proportional to the opponent's gain in evaluation, within limits. From depth 6 on, only
    /// nodes without a TT entry do this.
    fn update_last_move_by_evaluation(&mut self, node: &Node) {
        let last = *self.before(node.ply, 1);
        if node.excluded.is_none()
            && (node.depth < 6 || node.entry.is_none())
            && last.evaluation != NO_SCORE
            && let (Some(quiet), Some(moved)) = (last.quiet, last.moved)
        {
            let bonus = prune::evaluation_bonus(-(node.evaluation + last.evaluation));
            self.histories.update_main(quiet, moved, bonus);
        }
    }

    /// Step 4: returns the score of a pruned node, or `None` if the node is not pruned.
    fn prune_node(&mut self, node: &mut Node) -> Result<Option<Score>> {
        let verified = self.verified == Some(node.ply);
        if node.excluded.is_some() || node.position.is_check() || verified {
            return Ok(None);
        }
        let beta = node.window.beta;
        // Step 4a. Hindsight: corrects the depth if this node's evaluation shows that the parent's
        // reduction was a mistake, or too small.
        let parent = *self.before(node.ply, 1);
        if parent.reduction > 0 && parent.evaluation != NO_SCORE {
            let loss = node.evaluation + parent.evaluation;
            if loss < 0 {
                node.depth += 1;
            } else if loss > p::hindsight_loss() && node.depth >= 2 {
                node.depth -= 1;
            }
        }
        let facts = NodeFacts {
            depth: node.depth,
            estimate: node.estimate,
            improving: node.improving,
            opponent_worsening: parent.evaluation != NO_SCORE
                && node.evaluation > 2 - parent.evaluation,
            complexity: node.complexity,
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
        self.probcut(node)
    }

    /// Step 4c: null move pruning. If the node fails high even after a pass, it would almost always
    /// also fail high after the best move. The exception is zugzwang. Therefore the side to move
    /// must have pieces, and at high depth the result is verified.
    fn null_move(&mut self, node: &Node, facts: NodeFacts) -> Result<Option<Score>> {
        let (beta, ply) = (node.window.beta, node.ply);
        if node.depth < p::null_depth()
            || !node.cut
            || ply < self.null_from
            || node.estimate < beta
            || node.evaluation + p::null_slope() * node.depth < beta + p::null_margin()
            || is_decisive(beta)
            || self.before(ply, 1).moved.is_none()
            || !node.position.has_non_pawn_material()
            || node.entry.is_some_and(|e| e.bounds.upper < beta && e.depth + 4 >= node.depth)
            || tt_move_wins_a_piece(node)
        {
            return Ok(None);
        }
        let Some(child) = node.position.play_null() else { return Ok(None) };
        self.shared.table.prefetch(table_key(&child));
        let depth = node.depth - prune::null_reduction(facts, beta);
        self.keys.push(node.position.key());
        let entry = self.stack_at(ply);
        (entry.moved, entry.quiet, entry.number, entry.reduction) = (None, None, 0, 0);
        let window = Window::null(beta - 1);
        let passed = Search { window: window.flip(), depth, ply: ply + 1, cut: false };
        let score = -self.search::<NonPv>(&child, passed)?;
        self.unmake();
        if score < beta {
            return Ok(None);
        }
        // A win after a null move is not proved.
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

    /// Step 4d: ProbCut. A capture or queen promotion whose score is well above beta at reduced
    /// depth will probably also fail high at full depth. The higher its score in quiescence, the
    /// shallower the search and the higher the bound that it must reach. If it does not reach this
    /// bound, the capture is searched at the usual reduced depth. Source: M. Buro, "ProbCut: An
    /// Effective Selective Extension of the Alpha-Beta Algorithm", 1995.
    fn probcut(&mut self, node: &Node) -> Result<Option<Score>> {
        let (position, ply) = (node.position, node.ply);
        let bound = node.window.beta + p::probcut_margin()
            - if node.improving { p::probcut_improving() } else { 0 };
        if !node.cut
            || node.depth < p::probcut_depth()
            || is_decisive(node.window.beta)
            || node.entry.is_some_and(|e| e.depth >= node.depth - 3 && e.bounds.upper < bound)
        {
            return Ok(None);
        }
        let tt_move = node.generator.find(node.entry.map_or(PackedMove::NONE, |e| e.best));
        if tt_move.is_some_and(|m| !is_tactical(m)) || !allows_probcut(node, bound) {
            return Ok(None);
        }
        let mut picker = Picker::tactical(&node.generator, tt_move);
        let usual = node.depth - 4;
        let window = |bound: Score| Window::null(bound - 1).flip();
        let search =
            |depth, bound| Search { window: window(bound), depth, ply: ply + 1, cut: false };
        while let Some((m, _)) = picker.next(self.histories) {
            if !see::see_ge(position, m, bound - node.evaluation)
                || self.overlooks(position, m, ply)
            {
                continue;
            }
            let mut child = position.clone();
            self.make(&mut child, m, ply);
            let mut score = -self.quiescence::<NonPv>(&child, window(bound), ply + 1, false)?;
            let saved = ((score - bound) / p::probcut_step()).clamp(0, usual);
            let (mut depth, mut asked) = (usual - saved, bound + saved * p::probcut_more());
            if score >= bound {
                score = -self.search::<NonPv>(&child, search(depth, asked))?;
                if saved > 0 && score < asked {
                    (depth, asked) = (usual, bound);
                    score = -self.search::<NonPv>(&child, search(depth, asked))?;
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

    /// Steps 6 to 10: searches the moves in order, until one fails high.
    fn search_moves<T: NodeType>(&mut self, node: &Node, found: &mut Found) -> Result<()> {
        let position = node.position;

        // Step 6. Search the TT move before any other move is generated, because it often causes a
        // cutoff. Then search the others in order.
        let packed = node.entry.map_or(PackedMove::NONE, |e| e.best);
        let tt_move = node.generator.find(packed);
        let tt_capture = tt_move.is_some_and(is_tactical);
        if let Some(m) = tt_move
            && packed != node.excluded
            && !self.overlooks(position, m, node.ply)
            && self.try_move::<T>(node, found, m, Order::TT_MOVE, tt_capture)? == Flow::Stop
        {
            return Ok(());
        }

        let mut picker = Picker::without(&node.generator, self.previous(node.ply), tt_move);
        let mut any = tt_move.is_some();
        // Step 7b for all quiet moves at once, with a history of 0 and the unreduced depth, so that
        // they need not be scored.
        let alpha = node.window.alpha;
        let mut futile = self.shared.selective
            && !position.is_check()
            && !is_decisive(alpha)
            && prune::futile(node.depth, node.futility_evaluation(), 0, alpha);
        loop {
            // Wait until one move is known not to lose.
            if futile && found.best > -DECISIVE {
                futile = false;
                picker.only_checks();
                found.raise(prune::futility(node.depth, node.futility_evaluation(), 0));
            }
            let Some((m, merit)) = picker.next(self.histories) else { break };
            let losing = picker.is_bad_tactical();
            let order = match is_tactical(m) {
                true if losing => Order { losing, ..Order::TT_MOVE },
                true => Order { exchange: merit, ..Order::TT_MOVE },
                false => Order { history: merit, ..Order::TT_MOVE },
            };
            any = true;
            if PackedMove::from(m) == node.excluded || self.overlooks(position, m, node.ply) {
                continue;
            }
            match self.try_move::<T>(node, found, m, order, tt_capture)? {
                Flow::Next => {}
                Flow::SkipQuiets => picker.only_checks(),
                Flow::Stop => return Ok(()),
            }
        }
        if !any {
            found.best = if position.is_check() { -MATE } else { DRAW };
        } else if found.number == 0 {
            // The excluded move is the only legal one, or the player of limited strength overlooks
            // all moves.
            found.best = if node.excluded.is_some() { alpha } else { node.evaluation };
        }
        Ok(())
    }

    /// Goes through steps 7 to 10 for one move.
    fn try_move<T: NodeType>(
        &mut self,
        node: &Node,
        found: &mut Found,
        m: Move,
        order: Order,
        tt_capture: bool,
    ) -> Result<Flow> {
        let (position, ply) = (node.position, node.ply);
        found.number += 1;
        let facts = self.facts::<T>(node, found, m, order, tt_capture);

        // Step 7. Prune the move, but only if a move that does not lose is known. The first move is
        // therefore never pruned. It is not reduced either.
        let entry = node.entry.filter(|e| e.best == m.into());
        let reduction = if found.number > 1 { prune::reduction(&facts) } else { 0 };
        if self.shared.selective
            && found.best > -DECISIVE
            && let Some(flow) = self.prune_move::<T>(node, found, &facts, reduction, m)
        {
            return Ok(flow);
        }

        // Step 8. Extend the TT move if no other move comes close.
        let mut extension = 0;
        if let Some(entry) = entry
            && self.shared.selective
        {
            let Some(plies) = self.singular::<T>(node, entry, found)? else {
                return Ok(Flow::Stop);
            };
            extension = plies;
        }

        // Step 9. Search the move.
        let mut child = position.clone();
        self.make(&mut child, m, ply);
        self.stack_at(ply).number = found.number;
        if facts.quiet {
            let threats = node.generator.threats();
            self.stack_at(ply).quiet = Some(FromTo::new(position.turn(), threats, m));
        }
        let open = Search {
            window: Window::new(found.alpha, node.window.beta).flip(),
            depth: node.depth - 1 + extension,
            ply: ply + 1,
            cut: !node.cut,
        };
        let score = self.search_move::<T>(&child, open, &facts, reduction)?;
        self.unmake();

        // Step 10. Update the best score, the best move and alpha.
        found.best = found.best.max(score);
        if score > found.alpha {
            found.alpha = score;
            found.best_move = Some(m);
            if T::PV {
                self.pv.extend(ply, m);
            }
            if score >= node.window.beta {
                self.stack_at(ply).cutoffs += 1;
                return Ok(Flow::Stop);
            }
        }
        // Moves that do not fit into the lists get no malus.
        let _ = if facts.quiet { found.quiets.try_push(m) } else { found.tactical.try_push(m) };
        Ok(Flow::Next)
    }

    /// Collects the facts about a move that pruning and reduction use.
    fn facts<T: NodeType>(
        &self,
        node: &Node,
        found: &Found,
        m: Move,
        order: Order,
        tt_capture: bool,
    ) -> MoveFacts {
        let quiet = !is_tactical(m);
        MoveFacts {
            depth: node.depth,
            number: found.number,
            best: found.best,
            quiet,
            history: if quiet { order.history } else { self.histories.capture(node.position, m) },
            improving: node.improving,
            pv: T::PV,
            was_pv: node.was_pv,
            cut: node.cut,
            check: found.number > 1 && node.generator.checks().given_by(m),
            in_check: node.position.is_check(),
            tt_capture,
            losing: order.losing,
            exchange: order.exchange,
            tt_above: node.entry.is_some_and(|e| e.bounds.lower > found.alpha),
            tt_below: node.entry.is_some_and(|e| e.bounds.upper <= found.alpha),
            tt_deep: node.entry.is_some_and(|e| e.depth >= node.depth),
            cutoffs_below: self.before(node.ply + 1, 0).cutoffs,
            hopeless: !node.position.is_check()
                && node.evaluation + p::hopeless_margin() <= found.alpha,
            complexity: node.complexity,
        }
    }

    /// Step 7: decides whether to prune a move. Returns `None` if the move is searched. Otherwise
    /// returns how the move loop continues without it.
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
        if facts.quiet && !facts.check {
            // Step 7a. Late move pruning.
            if !T::PV && prune::enough_moves(facts.depth, facts.number, facts.improving) {
                return Some(Flow::SkipQuiets);
            }
            // Step 7b. Futility pruning.
            if !facts.in_check
                && !is_decisive(alpha)
                && prune::futile(reduced, node.futility_evaluation(), facts.history, alpha)
            {
                found.raise(prune::futility(reduced, node.futility_evaluation(), facts.history));
                return Some(Flow::SkipQuiets);
            }
            // Step 7c. History pruning. The remaining quiet moves have even worse histories.
            if prune::bad_history(facts.depth, reduced, facts.history) {
                return Some(Flow::SkipQuiets);
            }
        }
        // Step 7d. Futility pruning of bad captures. These come last, so the loop ends, even if a
        // later one gives check.
        if facts.losing && !facts.check && !facts.in_check && !is_decisive(alpha) {
            let score = node.evaluation + p::losing_margin() * reduced;
            if score <= alpha {
                found.raise(score);
                return Some(Flow::Stop);
            }
        }
        // Step 7e. Pruning by static exchange evaluation. A quiet move to a square that is not
        // attacked loses nothing, unless its piece was attacked and stays on the attacker's line.
        let safe = |square| !node.generator.threats().contains(square);
        if facts.quiet && safe(m.to()) && m.from().is_none_or(safe) {
            return None;
        }
        let limit = prune::exchange_limit(facts, reduced)?;
        let loses = facts.exchange < limit && !see::see_ge(node.position, m, limit);
        loses.then_some(Flow::Next)
    }

    /// Step 8: singular, double and negative extensions, and multicut. Before the TT move is
    /// searched, a search at half depth leaves it out. If all other moves fail low in this search,
    /// the TT move is singular and is searched deeper. Returns the extension in plies, or `None`
    /// for a multicut, whose score is then in `found`.
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
        self.stack_at(ply).excluded = entry.best;
        self.stack_at(ply).was_pv = node.was_pv;
        let (window, depth) = (Window::null(bound - 1), (node.depth - 1) / 2);
        let search = Search { window, depth, ply, cut: node.cut };
        let result = self.interior::<NonPv>(node.position, search);
        self.stack_at(ply).excluded = PackedMove::NONE;
        let score = result?;
        Ok(Some(if score < bound {
            prune::extension(bound - score, T::PV, node.complexity)
        } else if !T::PV && score >= node.window.beta && !is_decisive(score) {
            (found.best, found.multicut) = (score, true);
            return Ok(None);
        } else if lower >= node.window.beta {
            if T::PV { -1 } else { -2 }
        } else {
            -i32::from(node.cut)
        }))
    }

    /// Step 9: searches the child and returns its score from this node's point of view. In a PV
    /// node, the first move gets the open window. The others must beat alpha in a null window
    /// first, at a reduced depth if they come late.
    ///
    /// `open` is the child's search with the open window. `reduction` is the late move reduction in
    /// plies.
    pub(super) fn search_move<T: NodeType>(
        &mut self,
        child: &Position,
        open: Search,
        facts: &MoveFacts,
        reduction: i32,
    ) -> Result<Score> {
        let (first, alpha, ply) = (facts.number == 1, -open.window.beta, open.ply - 1);
        let mut null = Search { window: Window::null(alpha).flip(), ..open };
        let mut score = -INFINITE;
        let mut full = !first || !T::PV;
        if !first && facts.depth >= p::lmr_depth() && self.shared.selective {
            // At expected All-nodes, the most promising moves may be searched a ply deeper.
            let least = if facts.cut || T::PV { 0 } else { -1 };
            let reduction = reduction.clamp(least, (null.depth - 1).max(0));
            if reduction != 0 {
                let reduced = Search { depth: null.depth - reduction, cut: true, ..null };
                self.stack_at(ply).reduction = reduction;
                score = -self.search::<NonPv>(child, reduced)?;
                self.stack_at(ply).reduction = 0;
                full = score > alpha;
                if full {
                    null.depth += prune::research_adjustment(score, facts.best);
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

    /// Step 11: updates the histories and the correction histories.
    fn update_histories(&mut self, node: &Node, found: &Found) {
        let (position, ply) = (node.position, node.ply);
        let fails_high = found.best >= node.window.beta;
        if let Some(m) = found.best_move
            && fails_high
        {
            let context = Context::new(&node.generator, self.previous(ply));
            let bonus = prune::bonus(node.depth);
            if is_tactical(m) {
                self.histories.update_capture(position, m, bonus);
            } else {
                self.histories.update_quiet(position, &context, m, bonus);
                for &other in &found.quiets {
                    self.histories.update_quiet(position, &context, other, -bonus);
                }
            }
            for &other in &found.tactical {
                self.histories.update_capture(position, other, -bonus);
            }
        }
        let fails_low = found.best_move.is_none();
        if fails_low && node.excluded.is_none() {
            let last = *self.before(ply, 1);
            let known = |evaluation| Some(evaluation).filter(|&e| e != NO_SCORE);
            let expected = [known(node.evaluation), known(last.evaluation).map(|e| -e)];
            let bonus = prune::refutation_bonus(node.depth, last.number, found.best, expected);
            self.update_last_move(ply, bonus);
            // The TT move was still the best candidate, so it gets a small bonus.
            let is_tt_move = |m: &Move| node.entry.is_some_and(|e| e.best == (*m).into());
            if let Some(m) = found.quiets.first().copied().filter(is_tt_move) {
                let context = Context::new(&node.generator, self.previous(ply));
                let bonus = prune::bonus(node.depth) / 4;
                self.histories.update_quiet(position, &context, m, bonus);
            }
        }
        // Learn from exact scores, from lower bounds above the evaluation and from upper bounds
        // below it. Other bounds do not contradict the evaluation.
        let quiet = found.best_move.is_none_or(|m| !is_tactical(m));
        if !position.is_check()
            && node.excluded.is_none()
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

    /// Step 11: stores the bounds that the search has found or the tablebases have proved.
    fn store(&self, node: &Node, found: &Found) {
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

    /// Updates the histories of the quiet move that led to this node: a bonus if the node fails
    /// low, a malus if the table refutes the move at once.
    fn update_last_move(&mut self, ply: usize, bonus: i32) {
        let last = *self.before(ply, 1);
        if let (Some(quiet), Some(moved)) = (last.quiet, last.moved) {
            let previous = self.previous(ply - 1);
            self.histories.update_last(quiet, moved, previous, bonus);
        }
    }

    /// Gives a quiet TT move a history bonus for a TT cutoff.
    fn reward_tt_move(&mut self, position: &Position, best: PackedMove, depth: i32, ply: usize) {
        // Legality is not checked, because an illegal move would only gain some history.
        let Some(m) = best.rebuild(position).filter(|&m| !is_tactical(m)) else { return };
        let squares = m.from().into_iter().chain([m.to()]).collect();
        let threats = Generator::new(position).threats_among(squares);
        let context = Context { threats, previous: self.previous(ply) };
        self.histories.update_quiet(position, &context, m, prune::bonus(depth));
    }
}

/// Returns whether ProbCut is likely to reach this bound, judged by the TT bounds. Without bounds,
/// the evaluation must reach beta.
fn allows_probcut(node: &Node, bound: Score) -> bool {
    match node.entry.map_or(Bounds::NONE, |e| e.bounds) {
        Bounds::NONE => node.evaluation >= node.window.beta,
        Bounds { lower: score, .. } if score > -INFINITE => score >= bound && !is_decisive(score),
        Bounds { upper: score, .. } => score >= bound && !is_decisive(score),
    }
}

/// Returns whether the TT move failed high and captures a piece other than a pawn. Searching this
/// capture is then better than trying a null move.
fn tt_move_wins_a_piece(node: &Node) -> bool {
    node.entry.is_some_and(|e| {
        let captured = || e.best.rebuild(node.position).and_then(|m| m.capture());
        e.bounds.lower > -INFINITE
            && !e.bounds.is_exact()
            && captured().is_some_and(|role| role != Role::Pawn)
    })
}
