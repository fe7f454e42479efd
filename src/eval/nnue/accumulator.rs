//! The hidden layer, kept up to date lazily.
//!
//! There is one cache line per ply. When a position is evaluated, the
//! difference between its pieces and those of a nearby line says which rows of
//! weights to add and remove. The search pushes and pops nothing, and lines
//! left over from other branches are as good as any. A view whose king has
//! crossed the middle has no usable line nearby and starts from the empty
//! board; the other view does not.

use std::sync::Arc;

use arrayvec::ArrayVec;
use bytemuck::Zeroable as _;
use shakmaty::{Board, Color, Role, Square};

use super::{
    features::{self, INPUTS, MAX_ACTIVE},
    network::Network,
    simd::{self, Block},
};
use crate::{position::Position, score::Score};

/// Bitboards by colour (as in [`VIEWS`]) and role.
type Pieces = [u64; 12];

const VIEWS: [Color; 2] = [Color::White, Color::Black];

/// Lines at this distance from the current ply are looked at: the parent's
/// first, then what the last sibling and the grandparent left.
const NEARBY: [usize; 3] = [1, 0, 2];

/// A piece that appeared or vanished: 64 times its index in [`Pieces`], plus
/// its square.
type Change = u16;
type Changes = ArrayVec<Change, MAX_ACTIVE>;

/// The input of every change, by view and mirroring: [`features::index`] as a
/// table.
static ROWS: [[[u16; INPUTS]; 2]; 2] = {
    let mut rows = [[[0; INPUTS]; 2]; 2];
    let mut i = 0;
    while i < 4 * INPUTS {
        let (view, mirrored, change) = (i / INPUTS / 2, i / INPUTS % 2, i % INPUTS);
        let (color, role) = (VIEWS[change / 64 / 6], Role::ALL[change / 64 % 6]);
        let square = Square::new(change as u32 % 64);
        let row = features::index(VIEWS[view], mirrored == 1, color, role, square);
        rows[view][mirrored][change] = row as u16;
        i += 1;
    }
    rows
};

/// What a line holds the hidden layer of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    pieces: Pieces,
    mirrored: [bool; 2],
}

/// No pieces: never equal to a position's line, and never near one.
const EMPTY: Line = Line { pieces: [0; 12], mirrored: [false; 2] };

/// A network and the hidden layers of the positions evaluated last.
#[derive(Clone, Debug)]
pub struct Accumulators {
    network: Arc<Network>,
    lines: Vec<Line>,
    /// By line and view, one hidden layer each.
    layers: Vec<Block>,
}

impl Accumulators {
    /// Nothing evaluated yet.
    #[must_use]
    pub const fn new(network: Arc<Network>) -> Accumulators {
        Accumulators { network, lines: Vec::new(), layers: Vec::new() }
    }

    /// The network.
    #[must_use]
    pub const fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// The score for the side to move. `ply` names the cache line to use: the
    /// closer to it similar positions were evaluated, the faster this is.
    pub fn evaluate(&mut self, position: &Position, ply: usize) -> Score {
        let board = position.board();
        self.update(board, ply);
        let blocks = self.network.biases().len();
        let (white, black) = self.layers[2 * ply * blocks..][..2 * blocks].split_at(blocks);
        let (ours, theirs) =
            if position.turn().is_white() { (white, black) } else { (black, white) };
        self.network.output(ours, theirs, board.occupied().count())
    }

    /// Makes line `ply` hold the hidden layers of `board`.
    fn update(&mut self, board: &Board, ply: usize) {
        if ply >= self.lines.len() {
            let blocks = self.network.biases().len();
            self.lines.resize(ply + 1, EMPTY);
            self.layers.resize(2 * (ply + 1) * blocks, Block::zeroed());
        }
        let line = Line {
            pieces: pieces(board),
            mirrored: VIEWS.map(|view| features::view_is_mirrored(board, view)),
        };
        if self.lines[ply] == line {
            return;
        }
        let sources = self.sources(&line, ply, board.occupied().count());
        let mut changes = self.changes(sources[0], &line);
        self.update_view(0, ply, sources[0], &line, &changes);
        if sources[1] != sources[0] {
            changes = self.changes(sources[1], &line);
        }
        self.update_view(1, ply, sources[1], &line, &changes);
        self.lines[ply] = line;
    }

    /// For each view the usable line that differs least; `None` if starting
    /// from the empty board is no more work.
    fn sources(&self, line: &Line, ply: usize, pieces: usize) -> [Option<usize>; 2] {
        let mut sources = [None; 2];
        let mut costs = [pieces as u32; 2];
        for back in NEARBY {
            let Some(from) = ply.checked_sub(back) else { continue };
            let old = &self.lines[from];
            let cost = old.pieces.iter().zip(&line.pieces).map(|(a, b)| (a ^ b).count_ones()).sum();
            for view in 0..2 {
                if cost < costs[view] && old.mirrored[view] == line.mirrored[view] {
                    costs[view] = cost;
                    sources[view] = Some(from);
                }
            }
            // One move changes at most four (castling): nothing else is nearer.
            if costs[0].max(costs[1]) <= 4 {
                break;
            }
        }
        sources
    }

    /// Pieces that appeared and vanished since line `from`.
    fn changes(&self, from: Option<usize>, line: &Line) -> (Changes, Changes) {
        let (mut added, mut removed) = (Changes::new(), Changes::new());
        let old = from.map_or(&EMPTY.pieces, |from| &self.lines[from].pieces);
        // Most kinds of pieces stay where they are: find the others first,
        // without a branch for each.
        let differences: Pieces = std::array::from_fn(|kind| old[kind] ^ line.pieces[kind]);
        let mut kinds =
            (0..12).fold(0_u32, |kinds, kind| kinds | u32::from(differences[kind] != 0) << kind);
        while kinds != 0 {
            let kind = kinds.trailing_zeros();
            kinds &= kinds - 1;
            let mut bits = differences[kind as usize];
            while bits != 0 {
                let square = bits.trailing_zeros();
                bits &= bits - 1;
                let appeared = line.pieces[kind as usize] >> square & 1 != 0;
                let changes = if appeared { &mut added } else { &mut removed };
                changes.push((64 * kind + square) as Change);
            }
        }
        (added, removed)
    }

    fn update_view(
        &mut self,
        view: usize,
        ply: usize,
        source: Option<usize>,
        line: &Line,
        (added, removed): &(Changes, Changes),
    ) {
        let rows = &ROWS[view][usize::from(line.mirrored[view])];
        let rows = |changes: &Changes| -> Changes {
            changes.iter().map(|&change| rows[usize::from(change)]).collect()
        };
        let (added, removed) = (rows(added), rows(removed));
        let weights = self.network.weights();
        let blocks = self.network.biases().len();
        let start = |line: usize| (2 * line + view) * blocks;
        let (before, rest) = self.layers.split_at_mut(start(ply));
        let target = &mut rest[..blocks];
        let source = match source {
            None => Some(self.network.biases()),
            Some(from) if from < ply => Some(&before[start(from)..][..blocks]),
            Some(_) => None,
        };
        simd::update(target, source, weights, &added, &removed);
    }
}

fn pieces(board: &Board) -> Pieces {
    let mut pieces = [0; 12];
    for (i, color) in VIEWS.into_iter().enumerate() {
        for (j, role) in Role::ALL.into_iter().enumerate() {
            pieces[6 * i + j] = (board.by_color(color) & board.by_role(role)).0;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{super::network::tests::random_network, *};
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use shakmaty::CastlingMode;

    /// Perft through the network: incremental equals from scratch everywhere.
    fn perft(accumulators: &mut Accumulators, position: &Position, depth: u32, ply: usize) -> u64 {
        let fresh = accumulators.network().evaluate(position.board(), position.turn());
        assert_eq!(accumulators.evaluate(position, ply), fresh, "{}", position.fen());
        if depth == 0 {
            return 1;
        }
        let moves = position.legal_moves();
        moves.iter().map(|&m| perft(accumulators, &position.play(m), depth - 1, ply + 1)).sum()
    }

    #[test]
    fn perft_through_the_network() {
        let mut accumulators = Accumulators::new(Arc::new(random_network(96, 4, 3)));
        for (fen, depth, nodes) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 3, 8902),
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97_862),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43_238),
            ("8/3k4/8/8/8/8/4K2p/8 b - - 0 1", 4, 0),
            ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", 3, 12_189),
        ] {
            let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
            let found = perft(&mut accumulators, &position, depth, 0);
            assert!(nodes == 0 || found == nodes, "{fen}");
        }
    }

    /// Lines hold whatever was there before, and plies are left out.
    #[test]
    fn stale_lines_do_no_harm() {
        let mut accumulators = Accumulators::new(Arc::new(random_network(64, 8, 4)));
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut position = Position::default();
        for _ in 0..5000 {
            let moves = position.legal_moves();
            if moves.is_empty() || rng.random_bool(0.01) {
                position = Position::default();
                continue;
            }
            position = position.play(moves[rng.random_range(0..moves.len())]);
            if rng.random_bool(0.7) {
                let ply = rng.random_range(0..6);
                let fresh = accumulators.network().evaluate(position.board(), position.turn());
                assert_eq!(accumulators.evaluate(&position, ply), fresh, "{}", position.fen());
            }
        }
    }

    /// Turning the board and swapping the colours changes nothing.
    #[test]
    fn both_sides_are_judged_alike() {
        let network = random_network(64, 2, 6);
        let white = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w - - 0 1";
        let black = "r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b - - 0 1";
        let [white, black] = [white, black].map(|fen| {
            let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
            network.evaluate(position.board(), position.turn())
        });
        assert_eq!(white, black);
    }
}
