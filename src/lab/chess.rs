//! Chess as a [`Game`], through `Position`.
//!
//! Only mate, stalemate and insufficient material end a game here. Repetition and the fifty-move
//! rule depend on the path to a position. With them, two searches whose tables cut at different
//! nodes could return different scores, and the lab could not check that they agree.

use clap::ValueEnum;
use shakmaty::{Color, Move, Role};

use super::game::Game;
use lancet::{
    chess::{
        notation::move_text,
        position::Position,
        score::{Bounds, DRAW, MATE, Score, Window},
    },
    eval::{nnue::Network, psqt},
};

/// How nodes at depth zero are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Leaf {
    /// The static evaluation by material and piece-square tables.
    Static,
    /// Captures and queen promotions until none is better than standing pat.
    Quiescence,
    /// The static evaluation by a neural network.
    Network,
}

/// A chess position, and how the leaves below it are evaluated.
#[derive(Clone, Debug)]
pub struct Board<'a> {
    position: Position,
    leaf: Leaf,
    network: Option<&'a Network>,
}

impl<'a> Board<'a> {
    /// Creates a position whose leaves are evaluated in this way. [`Leaf::Network`] needs a
    /// network; without one, it is the same as [`Leaf::Static`].
    pub const fn new(position: Position, leaf: Leaf, network: Option<&'a Network>) -> Board<'a> {
        Board { position, leaf, network }
    }
}

impl Game for Board<'_> {
    type Move = Move;

    fn moves(&self) -> Vec<Move> {
        self.position.legal_moves().to_vec()
    }

    fn make(&self, m: Move) -> Self {
        Board { position: self.position.play(m), ..*self }
    }

    fn terminal(&self, moves: &[Move]) -> Option<Score> {
        if moves.is_empty() {
            Some(if self.position.is_check() { -MATE } else { DRAW })
        } else {
            self.position.is_insufficient_material().then_some(DRAW)
        }
    }

    fn evaluate(&self) -> Score {
        match self.network {
            Some(network) if self.leaf == Leaf::Network => {
                network.evaluate(self.position.board(), self.position.turn())
            }
            _ => psqt::evaluate(&self.position),
        }
    }

    fn key(&self) -> u64 {
        self.position.key()
    }

    fn max_to_move(&self) -> bool {
        self.position.turn() == Color::White
    }

    fn move_text(&self, m: Move) -> String {
        move_text(m, self.position.mode())
    }

    fn gain(&self, m: Move) -> i32 {
        gain(m)
    }

    fn pass(&self) -> Option<Self> {
        let position =
            self.position.has_non_pawn_material().then(|| self.position.play_null())??;
        Some(Board { position, ..*self })
    }

    fn leaf(&self, window: Window, visited: &mut u64) -> Bounds {
        match self.leaf {
            Leaf::Static | Leaf::Network => Bounds::exact(self.evaluate()),
            Leaf::Quiescence => Bounds::of(quiescence(&self.position, window, visited), window),
        }
    }

    fn leaf_is_expensive(&self) -> bool {
        self.leaf != Leaf::Static
    }
}

/// Returns the move's rank by most valuable victim and least valuable attacker (MVV-LVA). A
/// promotion counts like the capture of the new piece. Quiet moves have 0.
fn gain(m: Move) -> i32 {
    let victim = m.capture().map_or(0, |role| role as i32);
    let promotion = m.promotion().map_or(0, |role| role as i32);
    if victim + promotion == 0 {
        return 0;
    }
    8 * (victim + promotion) + 7 - m.role() as i32
}

/// Runs a small fail-soft quiescence search with standing pat, captures and queen promotions. It
/// sees neither checks nor mates, and its value depends only on the position.
fn quiescence(position: &Position, window: Window, visited: &mut u64) -> Score {
    if position.is_insufficient_material() {
        return DRAW;
    }
    let mut best = psqt::evaluate(position);
    if best >= window.beta {
        return best;
    }
    let mut alpha = window.alpha.max(best);
    let mut noisy = position.legal_moves();
    noisy.retain(|m| m.is_capture() || m.promotion() == Some(Role::Queen));
    noisy.sort_by_cached_key(|&m| -gain(m));
    for m in noisy {
        *visited += 1;
        let below = Window::new(-window.beta, -alpha);
        let score = -quiescence(&position.play(m), below, visited);
        best = best.max(score);
        alpha = alpha.max(score);
        if score >= window.beta {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use lancet::eval::default_network;

    fn board(fen: &str, leaf: Leaf) -> Board<'static> {
        Board::new(Position::from_fen(fen).unwrap(), leaf, None)
    }

    fn quiet_value(board: &Board<'_>, window: Window) -> Bounds {
        board.leaf(window, &mut 0)
    }

    #[test]
    fn ends_of_the_game() {
        let end = |fen| {
            let board = board(fen, Leaf::Static);
            board.terminal(&board.moves())
        };
        assert_eq!(end("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), Some(-MATE));
        assert_eq!(end("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Some(DRAW));
        assert_eq!(end("7k/8/6K1/8/8/8/8/6N1 w - - 0 1"), Some(DRAW));
        assert_eq!(end("7k/8/6K1/8/8/8/8/6R1 w - - 99 1"), None);
    }

    #[test]
    fn quiescence_wins_a_hanging_queen() {
        let board = board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", Leaf::Quiescence);
        let after = board.make(board.moves().into_iter().find(|m| m.is_capture()).unwrap());
        let value = quiet_value(&board, Window::FULL);
        assert_eq!(value, Bounds::exact(-after.evaluate()));
        assert!(value.lower > board.evaluate() + 900);
    }

    #[test]
    fn a_network_values_the_leaves() {
        let network = default_network();
        let position = Position::default();
        let value = network.evaluate(position.board(), position.turn());
        let board = Board::new(position, Leaf::Network, Some(&*network));
        assert_eq!(quiet_value(&board, Window::FULL), Bounds::exact(value));
        assert!(board.make(board.moves()[0]).network.is_some());
    }

    /// Checks that the result with a window is a correct bound on the true value.
    #[test]
    fn quiescence_windows_agree() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - 0 1",
            "8/1P2k3/8/8/8/3b4/2K5/8 w - - 0 1",
        ] {
            let board = board(fen, Leaf::Quiescence);
            let value = quiet_value(&board, Window::FULL);
            assert!(value.is_exact());
            for alpha in (-1500..1500).step_by(13) {
                for width in [1, 40] {
                    let window = Window::new(alpha, alpha + width);
                    let bounds = quiet_value(&board, window);
                    assert!(bounds.cutoff(window).is_some());
                    assert_eq!(value.merge(bounds), value, "{fen} {window:?}");
                }
            }
        }
    }

    #[test]
    fn captures_come_by_victim_then_attacker() {
        let board = board("3qk3/8/8/2r1b3/3P4/8/3R4/3QK3 w - - 0 1", Leaf::Static);
        let mut moves = board.moves();
        moves.sort_by_cached_key(|&m| -board.gain(m));
        let first: Vec<String> = moves.iter().take(2).map(ToString::to_string).collect();
        assert_eq!(first, ["d4xc5", "d4xe5"]);
    }
}
