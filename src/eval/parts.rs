//! The static evaluation taken apart, for people: what each piece contributes,
//! and the terms that make up the score. The search does not use this.

use shakmaty::{Board, Color, Piece, Role, Square};

use super::{nnue::Network, psqt, weight, weighted};
use crate::chess::{position::Position, score::Score};

/// An evaluation and what it is made of. All numbers are centipawns, positive
/// if good for White.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What evaluates.
    pub evaluator: String,
    /// The evaluation.
    pub total: Score,
    /// The terms: they add up to the evaluation but for rounding.
    pub terms: Vec<(&'static str, f64)>,
    /// By how much the evaluation changes when a piece is put on the board, all
    /// others being there already. A king cannot be taken off: it has none.
    pub pieces: Vec<(Square, Piece, Option<Score>)>,
}

impl Parts {
    /// The evaluation of `position` by `network`; without one, by material and
    /// piece-square tables.
    #[must_use]
    pub fn new(position: &Position, network: Option<&Network>) -> Parts {
        let (board, turn) = (position.board(), position.turn());
        let white = |own: Score| if turn.is_white() { own } else { -own };
        let evaluate = |board: &Board| {
            white(network.map_or_else(
                || psqt::evaluate_board(board, turn),
                |network| weighted(network.evaluate(board, turn), board),
            ))
        };
        let total = evaluate(board);
        let without = |square: Square| {
            let mut rest = board.clone();
            rest.discard_piece_at(square);
            evaluate(&rest)
        };
        let contribution = |(square, piece): (Square, Piece)| {
            let removable = piece.role != Role::King;
            (square, piece, removable.then(|| total - without(square)))
        };
        Parts {
            evaluator: network.map_or_else(
                || "material and piece-square tables".to_owned(),
                |network| format!("the network {}", network.name()),
            ),
            total,
            terms: network
                .map_or_else(|| psqt::terms(board, turn), |network| views(network, board, turn)),
            pieces: board.iter().map(contribution).collect(),
        }
    }

    /// By how much a piece's contribution to its own side exceeds the average
    /// of its kind on this board, both sides taken together; in centipawns.
    /// Best placed pieces first, kings and pieces without a peer left out.
    #[must_use]
    pub fn placement(&self) -> Vec<(Square, Piece, Score)> {
        let own = |piece: Piece, white: Score| if piece.color.is_white() { white } else { -white };
        let pieces = || {
            let removable = self.pieces.iter();
            removable
                .filter_map(|&(square, piece, white)| Some((square, piece, own(piece, white?))))
        };
        let mut placed: Vec<(Square, Piece, Score)> = pieces()
            .filter_map(|(square, piece, value)| {
                let peers = pieces().filter(|(_, peer, _)| peer.role == piece.role);
                let (count, sum) = peers.fold((0, 0), |(n, sum), (.., value)| (n + 1, sum + value));
                (count > 1).then(|| (square, piece, value - sum / count))
            })
            .collect();
        placed.sort_by_key(|&(.., excess)| -excess);
        placed
    }
}

/// What a network sees from either side, and its bias.
fn views(network: &Network, board: &Board, turn: Color) -> Vec<(&'static str, f64)> {
    let [ours, theirs, bias] = network.terms(board, turn);
    let scale = f64::from(weight(board)) / 1024.0;
    let (white, black, sign) =
        if turn.is_white() { (ours, theirs, scale) } else { (theirs, ours, -scale) };
    vec![
        ("White's view of the board", sign * white),
        ("Black's view of the board", sign * black),
        ("bias", sign * bias),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::eval::{Evaluator, nnue::network::tests::random_network};

    fn reached(choices: &[usize]) -> Position {
        let mut position = Position::default();
        for choice in choices {
            let moves = position.legal_moves();
            let Some(&m) = moves.get(choice % moves.len().max(1)) else { break };
            position = position.play(m);
        }
        position
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn terms_add_up_to_what_the_search_plays_by(
            choices in prop::collection::vec(0..1000_usize, 0..80),
            buckets in 0..4_usize,
        ) {
            let position = reached(&choices);
            let network = (buckets > 0).then(|| std::sync::Arc::new(random_network(64, buckets, 7)));
            let parts = Parts::new(&position, network.as_deref());
            let own = Evaluator::new(network).evaluate(&position, 0);
            prop_assert_eq!(parts.total, if position.turn().is_white() { own } else { -own });
            let sum: f64 = parts.terms.iter().map(|(_, term)| term).sum();
            prop_assert!((sum - f64::from(parts.total)).abs() < 2.0, "{:?}", parts);
            prop_assert_eq!(parts.pieces.len(), position.board().occupied().count());
        }
    }

    #[test]
    fn a_piece_is_worth_what_is_missing_without_it() {
        let fens = ["4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"];
        let network = random_network(32, 1, 3);
        for network in [None, Some(&network)] {
            let [with, without] = fens.map(|fen| {
                let position = Position::from_fen(fen, shakmaty::CastlingMode::Standard).unwrap();
                Parts::new(&position, network)
            });
            for (square, piece, value) in with.pieces {
                let queen = piece.role == Role::Queen;
                assert_eq!(value, queen.then(|| with.total - without.total), "{square}");
            }
        }
    }

    #[test]
    fn placement_compares_with_peers() {
        // One knight in the centre, one in the corner.
        let fen = "4k3/8/8/3n4/8/8/8/N3K3 w - - 0 1";
        let position = Position::from_fen(fen, shakmaty::CastlingMode::Standard).unwrap();
        let placed = Parts::new(&position, None).placement();
        let squares: Vec<Square> = placed.iter().map(|&(square, ..)| square).collect();
        assert_eq!(squares, [Square::D5, Square::A1]);
        assert!(placed[0].2 > 20 && placed[1].2 < -20, "{placed:?}");
    }
}
