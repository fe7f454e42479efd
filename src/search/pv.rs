//! The principal variation, collected in a triangular PV table.

use arrayvec::ArrayVec;
use shakmaty::Move;

/// Maximum length of a line from the root, in plies. The deepest ply that a search reaches is
/// `MAX_PLY - 1`.
pub const MAX_PLY: usize = 240;

/// The principal variation from each ply on.
#[derive(Debug)]
pub(super) struct PvTable {
    lines: Vec<ArrayVec<Move, MAX_PLY>>,
}

impl Default for PvTable {
    fn default() -> PvTable {
        PvTable { lines: vec![ArrayVec::new(); MAX_PLY + 2] }
    }
}

impl PvTable {
    /// Empties the line at `ply`.
    pub fn clear(&mut self, ply: usize) {
        self.lines[ply].clear();
    }

    /// Sets the line at `ply` to `m`, followed by the line of the next ply.
    pub fn extend(&mut self, ply: usize, m: Move) {
        let (head, tail) = self.lines.split_at_mut(ply + 1);
        let (line, rest) = (&mut head[ply], &tail[0]);
        line.clear();
        line.push(m);
        let room = line.remaining_capacity();
        line.extend(rest.iter().copied().take(room));
    }

    /// Returns the line from `ply` on.
    pub fn line(&self, ply: usize) -> &[Move] {
        &self.lines[ply]
    }
}
