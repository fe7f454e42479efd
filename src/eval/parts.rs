//! The parts of the static evaluation, for display: the contribution of each piece and the terms of
//! the score. The search does not use this module.

use shakmaty::{Board, Color, Piece, Role, Square};

use super::{nnue::Network, psqt, weight, weighted, with_bare_king};
use crate::chess::{position::Position, score::Score};

/// An evaluation and its parts, in centipawns from White's point of view.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// Description of the evaluator.
    pub evaluator: String,
    /// The evaluation.
    pub total: Score,
    /// The terms. Their sum is the evaluation, apart from rounding.
    pub terms: Vec<(&'static str, f64)>,
    /// Contribution of each piece: the change of the evaluation, apart from the term for a bare
    /// king, when this piece is added to the others. It is `None` for kings, because a king cannot
    /// be removed.
    pub pieces: Vec<(Square, Piece, Option<Score>)>,
}

impl Parts {
    /// Evaluates `position` with `network` or, without one, with material and piece-square tables.
    pub fn new(position: &Position, network: Option<&Network>) -> Parts {
        let (board, turn) = (position.board(), position.turn());
        let white = |own: Score| if turn.is_white() { own } else { -own };
        let evaluate = |board: &Board| {
            network.map_or_else(
                || psqt::evaluate_board(board, turn),
                |network| weighted(network.evaluate(board, turn), board),
            )
        };
        let score = evaluate(board);
        let total = white(with_bare_king(position, score));
        let mut terms =
            network.map_or_else(|| psqt::terms(board, turn), |network| views(network, board, turn));
        if total != white(score) {
            terms.push(("bare king", f64::from(total - white(score))));
        }
        let missing = |square: Square| {
            let mut rest = board.clone();
            rest.discard_piece_at(square);
            white(score - evaluate(&rest))
        };
        let contribution = |(square, piece): (Square, Piece)| {
            let removable = piece.role != Role::King;
            (square, piece, removable.then(|| missing(square)))
        };
        Parts {
            evaluator: network.map_or_else(
                || "material and piece-square tables".to_owned(),
                |network| format!("the network {}", network.name()),
            ),
            total,
            terms,
            pieces: board.iter().map(contribution).collect(),
        }
    }
}

/// Returns the contributions of both views of a network, and of its bias.
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
    use std::sync::Arc;

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

    fn check_sums(position: &Position, network: Option<Arc<Network>>) {
        let parts = Parts::new(position, network.as_deref());
        let own = Evaluator::new(network).evaluate(position, 0);
        assert_eq!(parts.total, if position.turn().is_white() { own } else { -own });
        let sum: f64 = parts.terms.iter().map(|(_, term)| term).sum();
        assert!((sum - f64::from(parts.total)).abs() < 2.0, "{parts:?}");
        assert_eq!(parts.pieces.len(), position.board().occupied().count());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn terms_add_up_to_the_evaluation(
            choices in prop::collection::vec(0..1000_usize, 0..80),
            buckets in 0..4_usize,
        ) {
            let position = reached(&choices);
            check_sums(&position, (buckets > 0).then(|| Arc::new(random_network(64, buckets, 7))));
        }
    }

    #[test]
    fn terms_add_up_against_a_bare_king() {
        for fen in [
            "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1",
            "4k3/8/8/8/8/8/8/Q3K3 b - - 0 1",
            "4k3/8/8/8/8/8/P7/4K3 b - - 0 1",
            "4k1nb/8/8/8/8/8/8/4K3 w - - 0 1",
        ] {
            let position = Position::from_fen(fen).unwrap();
            check_sums(&position, None);
            check_sums(&position, Some(Arc::new(random_network(64, 8, 7))));
        }
    }

    #[test]
    fn a_piece_is_worth_what_is_missing_without_it() {
        let fens = ["4k3/p7/8/8/8/8/P7/Q3K3 w - - 0 1", "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1"];
        let network = random_network(32, 1, 3);
        for network in [None, Some(&network)] {
            let [with, without] = fens.map(|fen| {
                let position = Position::from_fen(fen).unwrap();
                Parts::new(&position, network)
            });
            for (square, piece, value) in with.pieces {
                match piece.role {
                    Role::King => assert_eq!(value, None, "{square}"),
                    Role::Queen => assert_eq!(value, Some(with.total - without.total)),
                    _ => assert!(value.is_some(), "{square}"),
                }
            }
        }
    }
}
