//! Quiescence: captures (and, in check, every evasion) until the position is
//! quiet enough for the static evaluation.

use shakmaty::{Bitboard, Position as _, Role};

use super::{Kind, MAX_PLY, Worker, attacked_by, params as p};
use crate::{
    history::Context,
    picker::{Picker, is_tactical},
    position::{PackedMove, Position},
    score::{DECISIVE, DRAW, Delay, INFINITE, MATE, NO_SCORE, Score, Window, is_decisive},
    see,
    tt::Entry,
};

impl Worker<'_> {
    /// The score of a leaf, as its parent sees the window: shifted on the way
    /// in, aged on the way out. `None`: the search is over.
    pub(super) fn quiescence<K: Kind>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
        first: bool,
    ) -> Option<Score> {
        let score = self.captures::<K>(position, window.pre_shift(), ply, first)?;
        Some(Delay::MATES.score(score))
    }

    /// The same in the node's own window, for callers at this very node.
    pub(super) fn captures<K: Kind>(
        &mut self,
        position: &Position,
        window: Window,
        ply: usize,
        first: bool,
    ) -> Option<Score> {
        // Step 1. Limits, draws, mate distance.
        self.count_node(ply)?;
        if K::PV {
            self.pv.clear(ply);
        }
        if let Some(score) = self.draw(position, ply) {
            return Some(score);
        }
        if ply >= MAX_PLY - 1 {
            return Some(if position.is_check() { DRAW } else { self.evaluate(position, ply) });
        }
        let window = window.clamp_to_mates();
        if window.is_empty() {
            return Some(window.alpha);
        }
        let Window { mut alpha, beta } = window;

        // Step 2. Table: any depth is deep enough here.
        let key = Self::table_key(position);
        let entry = self.probe(key);
        if !K::PV
            && let Some(score) = entry.and_then(|e| e.cutoff(window))
        {
            return Some(score);
        }

        // Step 3. Stand pat: the side to move need not capture.
        let mut raw = NO_SCORE;
        let mut best = -INFINITE;
        let in_check = position.is_check();
        if !in_check {
            raw = match entry {
                Some(e) if e.evaluation != NO_SCORE => e.evaluation,
                _ => self.evaluate(position, ply),
            };
            best = self.correct(position, raw, ply);
            if let Some(e) = entry {
                let refined = e.refine(best);
                if !is_decisive(refined) {
                    best = refined;
                }
            }
            if best >= beta {
                if entry.is_none() {
                    let new = Entry { lower: best, evaluation: raw, ..Entry::EMPTY };
                    self.shared.table.store(key, new);
                }
                return Some(best);
            }
            alpha = alpha.max(best);
        }
        let futility = best + p::quiescence_margin();

        // Step 3a. Is there anything to capture that could reach alpha?
        if !in_check && !first && futility + most_valuable_target(position) <= alpha {
            return Some(best);
        }

        // Step 4. Mate and stalemate come free with the move list.
        let list = position.legal_moves();
        if list.is_empty() {
            return Some(if in_check { -MATE } else { DRAW });
        }
        let table_move = entry.and_then(|e| e.best.find_in(&list));
        let mut picker = if in_check {
            Picker::new(&list, table_move)
        } else {
            Picker::tactical(&list, table_move)
        };
        let context = if in_check { self.context(position, ply) } else { Context::NONE };

        // Step 5. Captures that can matter.
        let mut best_move = PackedMove::NONE;
        while let Some((m, _)) = picker.next(position, self.histories, &context) {
            if best > -DECISIVE {
                if in_check {
                    // One evasion that holds is enough to try captures only.
                    picker.skip_quiets();
                    if !is_tactical(m) {
                        continue;
                    }
                } else if picker.is_bad_tactical() {
                    break;
                } else if futility <= alpha && !see::see_ge(position, m, 1) {
                    // Step 5a. Futility: an even exchange does not reach alpha.
                    best = best.max(futility);
                    continue;
                } else if let Some(captured) = m.capture()
                    && m.promotion().is_none()
                    && futility + see::value(captured) <= alpha
                {
                    // Step 5b. Delta pruning: not even the whole piece does.
                    best = best.max(futility + see::value(captured));
                    continue;
                }
            }
            let child = self.make(position, m, ply);
            let score =
                -self.quiescence::<K>(&child, Window::new(alpha, beta).flip(), ply + 1, false)?;
            self.unmake();
            if score > best {
                best = score;
                if score > alpha {
                    best_move = m.into();
                    alpha = score;
                    if K::PV {
                        self.pv.extend(ply, m);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }

        // Step 6. Quiet checks, one ply deep: the search above must not overlook
        // a mate in one.
        if first && !in_check && best < beta {
            let checks = position.checks();
            for &m in &list {
                if is_tactical(m)
                    || !checks.is_some_and(|checks| checks.given_by(m))
                    || !see::see_ge(position, m, 0)
                {
                    continue;
                }
                let child = self.make(position, m, ply);
                let window = Window::new(alpha, beta).flip();
                let score = -self.quiescence::<K>(&child, window, ply + 1, false)?;
                self.unmake();
                if score > best {
                    best = score;
                    if score > alpha {
                        best_move = m.into();
                        alpha = score;
                        if K::PV {
                            self.pv.extend(ply, m);
                        }
                        if score >= beta {
                            break;
                        }
                    }
                }
            }
        }

        // Step 7. Remember. Captures alone prove no upper bound of the full
        // search, but at depth 0 quiescence is all there is.
        let exact = K::PV && best > window.alpha && best < beta;
        self.shared.table.store(
            key,
            Entry {
                best: best_move,
                lower: if best >= beta || exact { best } else { -INFINITE },
                upper: if best >= beta { INFINITE } else { best },
                depth: 0,
                evaluation: raw,
                pv: entry.is_some_and(|e| e.pv),
            },
        );
        Some(best)
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
