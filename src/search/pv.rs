//! The principal variation, collected on the way up (a triangular array).

use arrayvec::ArrayVec;
use shakmaty::Move;

/// The deepest ply a search reaches.
pub const MAX_PLY: usize = 240;

/// For each ply the best line found from there on.
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
    /// No line is known from this ply on.
    pub fn clear(&mut self, ply: usize) {
        self.lines[ply].clear();
    }

    /// The line at `ply` is now `m` and the line of the next ply.
    pub fn extend(&mut self, ply: usize, m: Move) {
        let (head, tail) = self.lines.split_at_mut(ply + 1);
        let (line, rest) = (&mut head[ply], &tail[0]);
        line.clear();
        line.push(m);
        for &next in rest.iter().take(line.remaining_capacity()) {
            line.push(next);
        }
    }

    /// The line from this ply on.
    pub fn line(&self, ply: usize) -> &[Move] {
        &self.lines[ply]
    }
}
