//! The gain of a line: the change in material up to a quiet position.

use shakmaty::{Move, Role};

use super::{
    rules::{EXCHANGE, is_quiet, taken_on},
    words::{counts, role_name, total, trade},
};
use crate::chess::{position::Position, see::value};

/// Number of plies in which a line must win something.
const HORIZON: usize = 8;
/// Number of plies in which the gain must not be lost again.
pub(super) const KEPT: usize = 12;

/// The material that a side has won at a quiet point of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    /// Change by role, from the pawn up. Negative numbers are losses.
    counts: [i32; 5],
    /// Number of plies to that point.
    pub(super) plies: usize,
}

impl Gain {
    /// Returns the value in centipawns.
    pub(super) fn value(&self) -> i32 {
        total(self.counts)
    }

    /// Returns how many pieces of this role the side gains; negative if it gives up pieces.
    pub(super) fn change(&self, role: Role) -> i32 {
        self.counts.get(role as usize - 1).copied().unwrap_or(0)
    }

    /// Describes the gain: `wins the exchange`, `wins the queen for a rook`.
    pub(super) fn words(&self, line: &[Move]) -> Option<String> {
        let first = line.first()?;
        if let Some(role) = first.capture()
            && (self.change(role), self.value()) == (1, value(role))
            && self.counts.iter().map(|count| count.abs()).sum::<i32>() == 1
        {
            return Some(format!("wins the {} on {}", role_name(role), taken_on(*first)));
        }
        if matches!(self.counts, [0, 0, -1, 1, 0] | [0, -1, 0, 1, 0]) {
            return Some("wins the exchange".to_owned());
        }
        Some(format!("wins {}", trade(self.counts)?.replacen("a queen", "the queen", 1)))
    }

    /// Returns the index of the first promotion by the winning side in the line.
    pub(super) fn promotion(&self, line: &[Move]) -> Option<usize> {
        (0..self.plies).step_by(2).find(|&index| line[index].is_promotion())
    }
}

/// Returns the gain of the first side of a line, if it is worth at least a pawn and is kept. The
/// material that the move `last` before the line captured must be won back first.
pub(super) fn won(before: &Position, line: &[Move], last: Option<Move>) -> Option<Gain> {
    let us = before.turn();
    let mut old = counts(before.board(), us);
    if let Some(role) = last.and_then(|last| last.capture()) {
        old[role as usize - 1] += 1;
    }
    let (mut at, mut gains) = (before.clone(), Vec::new());
    for (index, &m) in line.iter().take(KEPT).enumerate() {
        // Capturing a piece that the opponent has just promoted is not a gain, so stop here.
        if m.is_promotion() && index % 2 == 1 {
            break;
        }
        at = at.play(m);
        if is_quiet(&at) {
            let new = counts(at.board(), us);
            let counts = std::array::from_fn(|role| new[role] - old[role]);
            gains.push(Gain { counts, plies: index + 1 });
        }
    }
    let mut kept = i32::MAX;
    let mut best: Option<Gain> = None;
    for &gain in gains.iter().rev() {
        let (value, least) = (gain.value(), best.map_or(value(Role::Pawn), |best| best.value()));
        if gain.plies <= HORIZON && value >= least && value <= kept.saturating_add(EXCHANGE) {
            best = Some(gain);
        }
        kept = kept.min(value);
    }
    best
}
