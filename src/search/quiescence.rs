//! Quiescence: captures (in check every evasion, and at its first ply quiet
//! checks) until the position is quiet enough for the static evaluation.

use shakmaty::{Bitboard, Move, MoveList, Position as _, Role};

use super::{Entered, Kind, MAX_PLY, Stopped, Worker, attacked_by, params as p, table_key};
use crate::{
    chess::{
        movegen::Checks,
        position::{PackedMove, Position},
        score::{
            Bounds, DECISIVE, DRAW, Delay, INFINITE, MATE, NO_SCORE, Score, Window, is_decisive,
        },
        see,
    },
    search::{
        history::Context,
        picker::{Picker, is_tactical},
        tt::Entry,
    },
};

/// A node of quiescence on its way through the steps.
struct Leaf<'a> {
    position: &'a Position,
    ply: usize,
    /// Raised as better moves are found.
    alpha: Score,
    beta: Score,
    best: Score,
    best_move: PackedMove,
    /// Uncorrected static evaluation, `NO_SCORE` in check.
    raw: Score,
    in_check: bool,
}

impl Leaf<'_> {
    /// What a move that gains nothing can at best lead to.
    fn futility(&self) -> Score {
        self.best + p::quiescence_margin()
    }
}

impl Worker<'_> {
    /// The score of a leaf, as its parent sees the window: shifted on the way
    /// in, aged on the way out. `first`: no quiescence above it.
    pub(super) fn quiescence<K: Kind>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
        first: bool,
    ) -> Result<Score, Stopped> {
        let score = self.captures::<K>(position, window.pre_shift(), ply, first)?;
        Ok(Delay::MATES.score(score))
    }

    /// The same in the node's own window.
    fn captures<K: Kind>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
        first: bool,
    ) -> Result<Score, Stopped> {
        // Step 1. Limits, draws, mate distance.
        let window = match self.enter::<K>(position, window, ply)? {
            Entered::Open(window) => window,
            Entered::Decided(score) => return Ok(score),
        };
        if ply >= MAX_PLY - 1 {
            return Ok(if position.is_check() { DRAW } else { self.evaluate(position, ply) });
        }

        // Step 2. Table: any depth is deep enough here.
        let key = table_key(position);
        let entry = self.probe(key);
        if !K::PV
            && let Some(score) = entry.and_then(|e| e.bounds.cutoff(window))
        {
            return Ok(score);
        }

        // Step 3. Stand pat: the side to move need not capture.
        let mut leaf = Leaf {
            position,
            ply,
            alpha: window.alpha,
            beta: window.beta,
            best: -INFINITE,
            best_move: PackedMove::NONE,
            raw: NO_SCORE,
            in_check: position.is_check(),
        };
        if !leaf.in_check && self.stand_pat(&mut leaf, entry, first) {
            return Ok(leaf.best);
        }

        // Step 4. Mate and stalemate come free with the move list.
        let list = position.legal_moves();
        if list.is_empty() {
            return Ok(if leaf.in_check { -MATE } else { DRAW });
        }

        // Steps 5 and 6. The moves.
        self.forcing_moves::<K>(&mut leaf, &list, entry)?;
        if first && !leaf.in_check && leaf.best < leaf.beta {
            self.quiet_checks::<K>(&mut leaf, &list)?;
        }

        // Step 7. Remember. Captures alone prove no upper bound of the full
        // search, but at depth 0 quiescence is all there is.
        let best = leaf.best;
        let bounds = Bounds::of(best, window);
        // A window that the shift has made two wide is a null window still.
        let bounds = if bounds.is_exact() && !K::PV { Bounds::at_most(best) } else { bounds };
        self.shared.table.store(
            key,
            Entry {
                best: leaf.best_move,
                bounds,
                depth: 0,
                evaluation: leaf.raw,
                pv: entry.is_some_and(|e| e.pv),
            },
        );
        Ok(best)
    }

    /// Step 3: the corrected evaluation, moved inside the table's bounds; true if
    /// it is enough, or nothing can be captured that would be.
    fn stand_pat(&mut self, leaf: &mut Leaf, entry: Option<Entry>, first: bool) -> bool {
        leaf.raw = match entry {
            Some(e) if e.evaluation != NO_SCORE => e.evaluation,
            _ => self.evaluate(leaf.position, leaf.ply),
        };
        leaf.best = self.correct(leaf.position, leaf.raw, leaf.ply);
        if let Some(e) = entry {
            let refined = e.bounds.refine(leaf.best);
            if !is_decisive(refined) {
                leaf.best = refined;
            }
        }
        leaf.alpha = leaf.alpha.max(leaf.best);
        if leaf.best >= leaf.beta {
            if entry.is_none() {
                let bounds = Bounds::at_least(leaf.best);
                let new = Entry { bounds, evaluation: leaf.raw, ..Entry::EMPTY };
                self.shared.table.store(table_key(leaf.position), new);
            }
            return true;
        }
        !first && leaf.futility() + most_valuable_target(leaf.position) <= leaf.alpha
    }

    /// Step 5: captures and promotions that can matter; in check, evasions.
    fn forcing_moves<K: Kind>(
        &mut self,
        leaf: &mut Leaf,
        list: &MoveList,
        entry: Option<Entry>,
    ) -> Result<(), Stopped> {
        let position = leaf.position;
        let table_move = entry.and_then(|e| e.best.find_in(list));
        let (mut picker, context) = if leaf.in_check {
            (Picker::new(list, table_move), self.context(position, leaf.ply))
        } else {
            (Picker::tactical(list, table_move), Context::NONE)
        };
        let futility = leaf.futility();
        while let Some((m, _)) = picker.next(position, self.histories, &context) {
            if leaf.best > -DECISIVE {
                if leaf.in_check {
                    // One evasion that holds is enough to try captures only.
                    picker.skip_quiets();
                    if !is_tactical(m) {
                        continue;
                    }
                } else if picker.is_bad_tactical() {
                    // Step 5a. Captures that lose material.
                    break;
                } else if futility <= leaf.alpha && !see::see_ge(position, m, 1) {
                    // Step 5b. Futility: an even exchange does not reach alpha.
                    leaf.best = leaf.best.max(futility);
                    continue;
                } else if let Some(captured) = m.capture()
                    && m.promotion().is_none()
                    && futility + see::value(captured) <= leaf.alpha
                {
                    // Step 5c. Delta pruning: not even the whole piece does.
                    leaf.best = leaf.best.max(futility + see::value(captured));
                    continue;
                }
            }
            if !self.overlooks(position, m, leaf.ply) && self.try_forcing::<K>(leaf, m)? {
                break;
            }
        }
        Ok(())
    }

    /// Step 6: quiet checks, one ply deep: the search above must not overlook
    /// a mate in one.
    fn quiet_checks<K: Kind>(&mut self, leaf: &mut Leaf, list: &MoveList) -> Result<(), Stopped> {
        let checks = Checks::new(leaf.position);
        for &m in list {
            if !is_tactical(m)
                && checks.given_by(m)
                && see::see_ge(leaf.position, m, 0)
                && !self.overlooks(leaf.position, m, leaf.ply)
                && self.try_forcing::<K>(leaf, m)?
            {
                break;
            }
        }
        Ok(())
    }

    /// Searches one move; true if it refutes the node.
    fn try_forcing<K: Kind>(&mut self, leaf: &mut Leaf, m: Move) -> Result<bool, Stopped> {
        let child = self.make(leaf.position, m, leaf.ply);
        let window = Window::new(leaf.alpha, leaf.beta).flip();
        let score = -self.quiescence::<K>(&child, window, leaf.ply + 1, false)?;
        self.unmake();
        if score > leaf.best {
            leaf.best = score;
            if score > leaf.alpha {
                leaf.best_move = m.into();
                leaf.alpha = score;
                if K::PV {
                    self.pv.extend(leaf.ply, m);
                }
            }
        }
        Ok(score >= leaf.beta)
    }
}

/// The most that one capture or promotion can gain, in centipawns; very
/// negative if there is none. Pins are ignored: it is an upper bound.
fn most_valuable_target(position: &Position) -> i32 {
    let board = position.board();
    let us = position.turn();
    let seventh = if us.is_white() { 0x00ff_0000_0000_0000 } else { 0x0000_0000_0000_ff00 };
    if (board.pawns() & board.by_color(us) & Bitboard(seventh)).any() {
        return 2 * see::value(Role::Queen);
    }
    let targets = attacked_by(position, us) & board.by_color(!us);
    let en_passant = position.chess().maybe_ep_square().is_some();
    [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn]
        .into_iter()
        .find(|&role| (targets & board.by_role(role)).any())
        .or(en_passant.then_some(Role::Pawn))
        .map_or(-INFINITE, see::value)
}
