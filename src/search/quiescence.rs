//! Quiescence search: searches captures and queen promotions until the position is quiet enough for
//! the static evaluation. At its first ply it also searches quiet moves that mate. In check it
//! searches evasions until one avoids a decisive loss, and after that only good captures.

use shakmaty::{Bitboard, Move, MoveList, Position as _, Rank, Role};

use super::{MAX_PLY, NodeType, Result, Worker, params as p, prune, table_key};
use crate::{
    chess::{
        movegen::{Generator, is_tactical},
        position::{PackedMove, Position},
        score::{Bounds, DECISIVE, DRAW, Delay, INFINITE, MATE, NO_SCORE, Score, Window},
        see,
        threats::attacks_any,
    },
    search::{picker::Picker, tt::Entry},
};

/// State of a quiescence node between the steps.
struct QNode<'a> {
    position: &'a Position,
    ply: usize,
    /// Lower bound of the window, raised as better moves are found.
    alpha: Score,
    beta: Score,
    best: Score,
    best_move: PackedMove,
    /// Uncorrected static evaluation, `NO_SCORE` in check.
    raw: Score,
    in_check: bool,
    /// How much more than usual the evaluation was corrected, in centipawns; 0 in check.
    complexity: Score,
}

impl QNode<'_> {
    /// Returns the highest score to expect from a move that wins no material.
    fn futility(&self) -> Score {
        let margin = prune::complexity_margin(self.complexity, p::correction_quiescence());
        self.best + p::quiescence_margin() + margin
    }
}

impl Worker<'_> {
    /// Searches a node of the quiescence search and returns its score. `window` is not yet shifted:
    /// it is adjusted on entry, and a losing score is raised by one on return (see [`Delay`]).
    /// `first` marks the first ply of quiescence, except in ProbCut.
    pub(super) fn quiescence<T: NodeType>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
        first: bool,
    ) -> Result<Score> {
        // Step 1. Limits, draws, mate distance, upcoming repetitions.
        let window = window.pre_shift();
        let score = self.enter::<T>(position, window, ply, |worker, open| {
            worker.open_qnode::<T>(position, open, ply, first)
        })?;
        Ok(Delay::MATES.score(score))
    }

    /// Goes through steps 2 to 7, in the node's own window.
    fn open_qnode<T: NodeType>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
        first: bool,
    ) -> Result<Score> {
        if ply >= MAX_PLY - 1 {
            return Ok(if position.is_check() { DRAW } else { self.evaluate(position, ply) });
        }

        // Step 2. Transposition table cutoff. Entries of all depths are deep enough here.
        let entry = self.look_up(position, ply);
        if !T::PV
            && let Some(score) = entry.and_then(|e| e.bounds.cutoff(window))
        {
            return Ok(score);
        }

        // Step 3. Stand pat, because the side to move need not capture.
        let mut node = QNode {
            position,
            ply,
            alpha: window.alpha,
            beta: window.beta,
            best: -INFINITE,
            best_move: PackedMove::NONE,
            raw: NO_SCORE,
            in_check: position.is_check(),
            complexity: 0,
        };
        if !node.in_check && self.stand_pat(&mut node, entry, first) {
            return Ok(node.best);
        }

        // Step 4. Stalemate.
        let generator = Generator::new(position);
        if !node.in_check && !generator.any() {
            return Ok(DRAW);
        }

        // Step 5. Captures, queen promotions, evasions. A check without an evasion is mate.
        self.forcing_moves::<T>(&mut node, &generator, entry)?;
        if node.in_check && node.best == -INFINITE {
            return Ok(-MATE);
        }

        // Step 6. Quiet moves that mate, at the first ply.
        if first && !node.in_check && node.best < node.beta {
            self.quiet_mates::<T>(&mut node, &generator)?;
        }

        // Step 7. Store the result. Its upper bound ignores the moves that were not searched. Depth
        // 0 marks it as a result of quiescence.
        if node.best >= node.beta {
            node.best = prune::fail_high(node.best, node.beta, 1);
        }
        let bounds = Bounds::of(node.best, window);
        debug_assert!(T::PV || !bounds.is_exact(), "{bounds:?} in {window:?}");
        self.shared.table.store(
            table_key(position),
            Entry {
                best: node.best_move,
                bounds,
                depth: 0,
                evaluation: node.raw,
                pv: entry.is_some_and(|e| e.pv),
            },
        );
        Ok(node.best)
    }

    /// Step 3: raises the best score to the corrected evaluation, clamped to the TT bounds. Returns
    /// true if it reaches beta or, after the first ply, if no capture or promotion can raise alpha.
    fn stand_pat(&mut self, node: &mut QNode, entry: Option<Entry>, first: bool) -> bool {
        let correction = self.correction(node.position, node.ply);
        let (raw, evaluation) = self.assess(node.position, entry, node.ply, correction);
        (node.raw, node.complexity) = (raw, prune::complexity(correction));
        node.best = entry.map_or(evaluation, |e| e.refine(evaluation));
        node.alpha = node.alpha.max(node.best);
        if node.best >= node.beta {
            node.best = prune::fail_high(node.best, node.beta, 1);
            if entry.is_none() {
                let bounds = Bounds::at_least(node.best);
                let new = Entry { bounds, evaluation: node.raw, ..Entry::EMPTY };
                self.shared.table.store(table_key(node.position), new);
            }
            return true;
        }
        !first && !may_gain(node.position, node.alpha - node.futility())
    }

    /// Step 5: searches the captures and queen promotions that may raise alpha. In check it
    /// searches evasions.
    fn forcing_moves<T: NodeType>(
        &mut self,
        node: &mut QNode,
        generator: &Generator,
        entry: Option<Entry>,
    ) -> Result<()> {
        let position = node.position;
        let tt_move = entry.and_then(|e| generator.find(e.best));
        let mut picker = if node.in_check {
            Picker::new(generator, self.previous(node.ply), tt_move)
        } else {
            Picker::tactical(generator, tt_move)
        };
        let futility = node.futility();
        while let Some((m, least)) = picker.next(self.histories) {
            if node.best > -DECISIVE {
                if node.in_check {
                    // One evasion avoids a decisive loss, so only good captures are still tried.
                    picker.skip_quiets();
                    if picker.is_bad_tactical() {
                        break;
                    }
                    if !is_tactical(m) {
                        continue;
                    }
                } else if picker.is_bad_tactical() {
                    // Step 5a. Prune bad captures.
                    break;
                } else if futility <= node.alpha && least < 1 && !see::see_ge(position, m, 1) {
                    // Step 5b. Futility pruning: an even exchange does not raise alpha.
                    node.best = node.best.max(futility);
                    continue;
                } else if let Some(captured) = m.capture()
                    && m.promotion().is_none()
                    && futility + see::value(captured) <= node.alpha
                {
                    // Step 5c. Delta pruning: even the captured piece's full value does not raise
                    // alpha.
                    node.best = node.best.max(futility + see::value(captured));
                    continue;
                }
            }
            if !self.overlooks(position, m, node.ply) && self.try_forcing::<T>(node, m)? {
                break;
            }
        }
        Ok(())
    }

    /// Step 6: searches quiet moves that mate, so that the main search does not overlook a mate in
    /// one. Checks that lose material are skipped: capturing the piece usually answers them.
    fn quiet_mates<T: NodeType>(&mut self, node: &mut QNode, generator: &Generator) -> Result<()> {
        let mut list = MoveList::new();
        generator.quiet_checks(|m| list.push(m));
        for &m in &list {
            if see::see_ge(node.position, m, 0)
                && !Generator::new(&node.position.play(m)).any()
                && !self.overlooks(node.position, m, node.ply)
                && self.try_forcing::<T>(node, m)?
            {
                break;
            }
        }
        Ok(())
    }

    /// Searches one move. Returns true if it fails high.
    fn try_forcing<T: NodeType>(&mut self, node: &mut QNode, m: Move) -> Result<bool> {
        let mut child = node.position.clone();
        self.make(&mut child, m, node.ply);
        let window = Window::new(node.alpha, node.beta).flip();
        let score = -self.quiescence::<T>(&child, window, node.ply + 1, false)?;
        self.unmake();
        if score > node.best {
            node.best = score;
            if score > node.alpha {
                node.best_move = m.into();
                node.alpha = score;
                if T::PV {
                    self.pv.extend(node.ply, m);
                }
            }
        }
        Ok(score >= node.beta)
    }
}

/// Returns whether a capture or promotion may gain more than `gap` centipawns. Pins and recaptures
/// are ignored, so only the answer `false` is certain.
fn may_gain(position: &Position, gap: Score) -> bool {
    let (board, us) = (position.board(), position.turn());
    let seventh = Bitboard::from(us.fold_wb(Rank::Seventh, Rank::Second));
    if (board.pawns() & board.by_color(us) & seventh).any() && 2 * see::value(Role::Queen) > gap {
        return true;
    }
    if position.chess().maybe_ep_square().is_some() && see::value(Role::Pawn) > gap {
        return true;
    }
    let worthy = Role::ALL.into_iter().filter(|&role| see::value(role) > gap);
    let targets = worthy.fold(Bitboard::EMPTY, |roles, role| roles | board.by_role(role));
    attacks_any(board, us, targets & board.by_color(!us))
}
