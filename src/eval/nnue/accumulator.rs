//! Lazy incremental updates of the hidden layer.
//!
//! There is one accumulator per ply. When a position is prepared or evaluated, its pieces are
//! compared with those of a nearby accumulator. The differences determine the rows of weights to
//! add and remove. The search therefore does not push or pop accumulators, and those left from
//! other branches can be used too.
//!
//! When a king crosses between files d and e, or moves to another king bucket, its own view cannot
//! use a nearby accumulator. The view then starts from the last board with the same orientation.
//! One more accumulator for each view and orientation holds that board (a "Finny table", first used
//! in Koivisto). The opponent's view is not affected.

use std::sync::Arc;

use shakmaty::{Board, Color, Role, Square};

use super::{
    features::{INPUTS, MAX_ACTIVE, Orientation},
    network::Network,
    simd::{self, Block},
};
use crate::chess::{position::Position, score::Score};

const VIEWS: [Color; 2] = [Color::White, Color::Black];

/// Distances in plies of the accumulators to compare with: that of the parent, then those of the
/// last sibling and the grandparent.
const NEARBY: [usize; 3] = [1, 0, 2];

/// Maximum number of squares that a move changes. Castling changes four.
const MOVE_SQUARES: u32 = 4;

/// Number of piece-square codes. Such a code is 64 times the piece's code ([`Pieces`]) plus the
/// square.
const CODES: usize = 16 * 64;

/// The row of every piece on every square in the first king bucket, by view and mirroring. This is
/// [`Orientation::input`] as a table.
static ROWS: [[[u16; CODES]; 2]; 2] = {
    let mut rows = [[[0; CODES]; 2]; 2];
    let mut i = 0;
    while i < 4 * INPUTS {
        let (view, mirrored, piece) = (i / INPUTS / 2, i / INPUTS % 2, i % INPUTS);
        let (color, role) = (VIEWS[piece / 64 / 6], Role::ALL[piece / 64 % 6]);
        let square = Square::new(piece as u32 % 64);
        let orientation = Orientation { mirrored: mirrored == 1, bucket: 0 };
        let row = orientation.input(VIEWS[view], color, role, square);
        let code = role as usize + if color.is_white() { Pieces::WHITE } else { 0 };
        rows[view][mirrored][64 * code + piece % 64] = row as u16;
        i += 1;
    }
    rows
};

/// The pieces of a board, as one bitboard for each of the four bits of their codes. The codes are 1
/// to 6 for pawn to king, plus [`Pieces::WHITE`] for white pieces; 0 is an empty square. Comparing
/// two boards takes only a few instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pieces([u64; 4]);

impl Pieces {
    const NONE: Pieces = Pieces([0; 4]);
    const WHITE: usize = 8;

    fn new(board: &Board) -> Pieces {
        let any = |roles: [Role; 3]| roles.map(|role| board.by_role(role).0);
        let union = |[a, b, c]: [u64; 3]| a | b | c;
        Pieces([
            union(any([Role::Pawn, Role::Bishop, Role::Queen])),
            union(any([Role::Knight, Role::Bishop, Role::King])),
            union(any([Role::Rook, Role::Queen, Role::King])),
            board.white().0,
        ])
    }

    /// Returns the squares that differ.
    #[inline]
    fn differences(&self, other: &Pieces) -> u64 {
        self.0.iter().zip(&other.0).fold(0, |squares, (a, b)| squares | (a ^ b))
    }

    /// Returns whether the boards differ by no more squares than a move changes.
    #[inline]
    fn is_near(&self, other: &Pieces) -> bool {
        self.differences(other).count_ones() <= MOVE_SQUARES
    }

    /// Returns the squares with pieces.
    #[inline]
    const fn occupied(&self) -> u64 {
        self.0[0] | self.0[1] | self.0[2]
    }

    /// Returns the piece-square code of this square, an index into [`ROWS`].
    #[inline]
    fn at(&self, square: u32) -> usize {
        let bit = |i: usize| (self.0[i] >> square & 1) << i;
        let code = bit(0) | bit(1) | bit(2) | bit(3);
        (64 * code + u64::from(square)) as usize % CODES
    }
}

/// The rows of weights that turn the hidden layers of one position into those of another. Both
/// views have the same numbers of rows.
struct Changes {
    added: [[u16; MAX_ACTIVE]; 2],
    removed: [[u16; MAX_ACTIVE]; 2],
    counts: [usize; 2],
}

impl Changes {
    const NONE: Changes =
        Changes { added: [[0; MAX_ACTIVE]; 2], removed: [[0; MAX_ACTIVE]; 2], counts: [0; 2] };

    /// Finds the rows that turn the layers of `old` into those of `new`. The rows of a view are
    /// right only if both boards have the same orientation in this view.
    #[inline]
    fn find(&mut self, old: &Pieces, new: &Inputs) {
        let rows = [0, 1].map(|view| {
            let Orientation { mirrored, bucket } = new.orientations[view];
            (&ROWS[view][usize::from(mirrored)], INPUTS as u16 * u16::from(bucket))
        });
        let differences = old.differences(&new.pieces);
        let list = |pieces: &Pieces, lists: &mut [[u16; MAX_ACTIVE]; 2]| {
            let mut squares = differences & pieces.occupied();
            let count = squares.count_ones() as usize;
            for i in 0..count {
                let piece = pieces.at(squares.trailing_zeros());
                squares &= squares - 1;
                for (list, (rows, first)) in lists.iter_mut().zip(rows) {
                    list[i] = first + rows[piece];
                }
            }
            count
        };
        self.counts = [list(&new.pieces, &mut self.added), list(old, &mut self.removed)];
    }

    /// Returns the rows to add and to remove for this view.
    fn of(&self, view: usize) -> [&[u16]; 2] {
        [&self.added[view][..self.counts[0]], &self.removed[view][..self.counts[1]]]
    }
}

/// The inputs of both views. An accumulator holds their hidden layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inputs {
    pieces: Pieces,
    orientations: [Orientation; 2],
}

impl Inputs {
    #[inline]
    fn new(board: &Board, king_buckets: usize) -> Inputs {
        Inputs {
            pieces: Pieces::new(board),
            orientations: VIEWS.map(|view| Orientation::of(board, view, king_buckets)),
        }
    }
}

/// The empty board, whose hidden layers are the biases.
const EMPTY: Inputs =
    Inputs { pieces: Pieces::NONE, orientations: [Orientation { mirrored: false, bucket: 0 }; 2] };

/// A network and the hidden layers of the positions evaluated last.
#[derive(Clone, Debug)]
pub struct Accumulators {
    network: Arc<Network>,
    king_buckets: usize,
    /// Inputs, by ply.
    inputs: Vec<Inputs>,
    /// Hidden layers, by ply and view.
    layers: Vec<Block>,
    /// The last board, by view and orientation.
    refreshed: Vec<Pieces>,
    /// The hidden layers of these boards.
    refreshed_layers: Vec<Block>,
}

impl Accumulators {
    /// Creates accumulators for a network. They hold no position yet.
    pub fn new(network: Arc<Network>) -> Accumulators {
        Accumulators {
            king_buckets: network.king_buckets(),
            network,
            inputs: Vec::new(),
            layers: Vec::new(),
            refreshed: Vec::new(),
            refreshed_layers: Vec::new(),
        }
    }

    /// Returns the network.
    pub(crate) const fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Returns the score for the side to move, using the accumulator of `ply`. This is faster if
    /// similar positions were evaluated at a nearby ply.
    pub fn evaluate(&mut self, position: &Position, ply: usize) -> Score {
        let board = position.board();
        self.update(board, ply);
        let blocks = self.network.biases().len();
        let (white, black) = self.layers[2 * ply * blocks..][..2 * blocks].split_at(blocks);
        let (ours, theirs) =
            if position.turn().is_white() { (white, black) } else { (black, white) };
        self.network.output(ours, theirs, board.occupied().count())
    }

    /// Updates the accumulator of `ply` to the hidden layers of `board`. [`Self::evaluate`] calls
    /// it.
    pub fn update(&mut self, board: &Board, ply: usize) {
        if ply >= self.inputs.len() {
            self.make_room(ply);
        }
        let new = Inputs::new(board, self.king_buckets);
        if self.inputs[ply] == new {
            return;
        }
        if !self.update_by_move(&new, ply) {
            self.update_from_nearest(&new, ply);
        }
        self.inputs[ply] = new;
    }

    #[cold]
    fn make_room(&mut self, ply: usize) {
        let views = 2 * (ply + 1 - self.inputs.len());
        self.inputs.resize(ply + 1, EMPTY);
        self.layers.extend(self.network.biases().repeat(views));
        if self.refreshed.is_empty() {
            self.refreshed.resize(2 * Orientation::COUNT, Pieces::NONE);
            self.refreshed_layers = self.network.biases().repeat(2 * Orientation::COUNT);
        }
    }

    /// Computes the layers of `ply` from those of the previous ply and returns true. This nearly
    /// always works. Returns false if there is no previous ply, the orientations differ, or more
    /// squares differ than a move changes.
    fn update_by_move(&mut self, new: &Inputs, ply: usize) -> bool {
        let Some(parent) = ply.checked_sub(1) else { return false };
        let old = &self.inputs[parent];
        if old.orientations != new.orientations || !old.pieces.is_near(&new.pieces) {
            return false;
        }
        let mut changes = Changes::NONE;
        changes.find(&old.pieces, new);
        let blocks = self.network.biases().len();
        let (before, rest) = self.layers.split_at_mut(2 * ply * blocks);
        let sources = before[2 * parent * blocks..].split_at(blocks);
        let targets = rest[..2 * blocks].split_at_mut(blocks);
        let views = [(targets.0, sources.0), (targets.1, sources.1)];
        for (view, (target, source)) in views.into_iter().enumerate() {
            let [added, removed] = changes.of(view);
            simd::update(target, Some(source), self.network.weights(), added, removed);
        }
        true
    }

    /// Computes the layers of `ply` from the accumulators that differ least from `new`.
    fn update_from_nearest(&mut self, new: &Inputs, ply: usize) {
        let sources = self.sources(new, ply);
        let mut changes = Changes::NONE;
        for (view, source) in sources.into_iter().enumerate() {
            // Often both views start from the same ply. The changes found for the first then serve
            // for the second.
            let refreshed = refreshed_at(view, new);
            if view == 0 || source.is_none() || source != sources[0] {
                let old = match source {
                    None => &self.refreshed[refreshed],
                    Some(from) => &self.inputs[from].pieces,
                };
                changes.find(old, new);
            }
            self.update_view(view, ply, source, refreshed, changes.of(view));
            if source.is_none() {
                self.refreshed[refreshed] = new.pieces;
            }
        }
    }

    /// Returns for each view the nearby ply with the same orientation whose board differs least. It
    /// is `None` if no such board differs less than an empty board, or if the last board with this
    /// orientation differs less. The view then starts from the latter. The search for plies ends
    /// early if both views have one that differs by no more squares than a move changes.
    fn sources(&self, new: &Inputs, ply: usize) -> [Option<usize>; 2] {
        let mut sources = [None; 2];
        let mut costs = [new.pieces.occupied().count_ones(); 2];
        for back in NEARBY {
            let Some(from) = ply.checked_sub(back) else { continue };
            let old = &self.inputs[from];
            let cost = old.pieces.differences(&new.pieces).count_ones();
            for view in 0..2 {
                if cost < costs[view] && old.orientations[view] == new.orientations[view] {
                    costs[view] = cost;
                    sources[view] = Some(from);
                }
            }
            // Another accumulator could only be a little nearer.
            if costs[0].max(costs[1]) <= MOVE_SQUARES {
                return sources;
            }
        }
        for view in 0..2 {
            let old = &self.refreshed[refreshed_at(view, new)];
            if old.differences(&new.pieces).count_ones() < costs[view] {
                sources[view] = None;
            }
        }
        sources
    }

    /// Computes the layer of one view at `ply` by these changes, from that of the ply `source`.
    /// Without a source it updates the layer of the last board with the same orientation and copies
    /// it.
    #[inline]
    fn update_view(
        &mut self,
        view: usize,
        ply: usize,
        source: Option<usize>,
        refreshed: usize,
        [added, removed]: [&[u16]; 2],
    ) {
        let weights = self.network.weights();
        let blocks = self.network.biases().len();
        let start = |ply: usize| (2 * ply + view) * blocks;
        let (before, rest) = self.layers.split_at_mut(start(ply));
        let target = &mut rest[..blocks];
        let source = match source {
            None => {
                let layer = &mut self.refreshed_layers[refreshed * blocks..][..blocks];
                simd::update(layer, None, weights, added, removed);
                target.copy_from_slice(layer);
                return;
            }
            Some(from) if from < ply => Some(&before[start(from)..][..blocks]),
            // The source is the accumulator of this ply itself: update it in place.
            Some(_) => None,
        };
        simd::update(target, source, weights, added, removed);
    }
}

/// Returns the index in [`Accumulators::refreshed`] for a view of these inputs.
#[inline]
const fn refreshed_at(view: usize, inputs: &Inputs) -> usize {
    view * Orientation::COUNT + inputs.orientations[view].number()
}

#[cfg(test)]
mod tests {
    use super::{
        super::network::tests::{random_network, random_network_with_kings},
        *,
    };
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    /// Counts nodes and checks that the incremental evaluation equals the one from scratch.
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
        let network = |king_buckets| random_network_with_kings(king_buckets, 96, 4, 3);
        for (fen, depth, nodes) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 3, 8902),
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97_862),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43_238),
            ("8/3k4/8/8/8/8/4K2p/8 b - - 0 1", 4, 6_591),
            ("1k6/1b6/8/8/7R/8/8/2K4R b - - 0 1", 3, 3_735),
            ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", 3, 12_189),
            // King and rook swap places in castling.
            ("4k3/8/8/8/8/8/8/5KR1 w G - 0 1", 3, 1_033),
        ] {
            let position = Position::from_fen(fen).unwrap();
            for king_buckets in [1, 4] {
                let mut accumulators = Accumulators::new(Arc::new(network(king_buckets)));
                assert_eq!(perft(&mut accumulators, &position, depth, 0), nodes, "{fen}");
            }
        }
    }

    /// The result is correct whatever the accumulators held before, even if plies are skipped.
    #[test]
    fn stale_accumulators_do_no_harm() {
        for king_buckets in [1, 4] {
            let network = Arc::new(random_network_with_kings(king_buckets, 64, 8, 4));
            random_walk(&mut Accumulators::new(Arc::clone(&network)));
            // No position was evaluated before, and few pieces differ from the empty board.
            let bare = Position::from_fen("8/8/8/4k3/8/8/8/K7 w - - 0 1");
            let (bare, mut fresh) = (bare.unwrap(), Accumulators::new(network));
            let expected = fresh.network().evaluate(bare.board(), bare.turn());
            assert_eq!(fresh.evaluate(&bare, 3), expected);
        }
    }

    fn random_walk(accumulators: &mut Accumulators) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut position = Position::default();
        for _ in 0..5000 {
            let moves = position.legal_moves();
            if moves.is_empty() || rng.random_bool(0.01) {
                position = Position::default();
                continue;
            }
            position = position.play(moves[rng.random_range(0..moves.len())]);
            let ply = rng.random_range(0..6);
            if rng.random_bool(0.3) {
                // Prepared but not evaluated.
                accumulators.update(position.board(), ply);
            } else if rng.random_bool(0.7) {
                let fresh = accumulators.network().evaluate(position.board(), position.turn());
                assert_eq!(accumulators.evaluate(&position, ply), fresh, "{}", position.fen());
            }
        }
    }

    /// Flipping the board vertically and swapping the colours does not change the score.
    #[test]
    fn both_sides_are_judged_alike() {
        for network in [random_network(64, 2, 6), random_network_with_kings(4, 64, 2, 6)] {
            both_sides_are_judged_alike_by(&network);
        }
    }

    fn both_sides_are_judged_alike_by(network: &Network) {
        let white = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w - - 0 1";
        let black = "r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b - - 0 1";
        let [white, black] = [white, black].map(|fen| {
            let position = Position::from_fen(fen).unwrap();
            network.evaluate(position.board(), position.turn())
        });
        assert_eq!(white, black);
    }
}
