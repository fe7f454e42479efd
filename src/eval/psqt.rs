//! Generation zero: material and piece-square tables, tapered by phase.
//!
//! Lancet's own numbers. It bootstraps the network's first data and serves the
//! lab, which needs an evaluation that is tiny and deterministic.

use shakmaty::{Color, Role, Square};

use crate::{position::Position, score::Score};

/// Middlegame and endgame values of the roles, in centipawns, king last.
const MATERIAL: [(i32, i32); 6] =
    [(82, 110), (340, 310), (355, 325), (470, 560), (1000, 1020), (0, 0)];

/// Game phase per role: 24 with all pieces, 0 with none.
const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// The static evaluation in centipawns for the side to move.
#[must_use]
pub fn evaluate(position: &Position) -> Score {
    let (mut middlegame, mut endgame, mut phase) = (0, 0, 0);
    for (square, piece) in position.board() {
        let (mg, eg) = value(piece.role, square, piece.color);
        let sign = if piece.color == position.turn() { 1 } else { -1 };
        middlegame += sign * mg;
        endgame += sign * eg;
        phase += PHASE[index(piece.role)];
    }
    let phase = phase.min(24);
    (middlegame * phase + endgame * (24 - phase)) / 24 + 15
}

const fn index(role: Role) -> usize {
    role as usize - 1
}

fn value(role: Role, square: Square, color: Color) -> (i32, i32) {
    let square = if color == Color::White { square } else { square.flip_vertical() };
    let file = square.file() as i32;
    let rank = square.rank() as i32;
    // Distance to the centre, 0..=3 in each direction.
    let centre = (2 * file - 7).abs() / 2 + (2 * rank - 7).abs() / 2;
    let (mg, eg) = MATERIAL[index(role)];
    let (a, b) = match role {
        Role::Pawn => ((rank - 1) * 4 - (2 * file - 7).abs(), (rank - 1) * (rank - 1) * 3),
        Role::Knight => (20 - 10 * centre, 15 - 8 * centre),
        Role::Bishop => (12 - 5 * centre, 8 - 4 * centre),
        Role::Rook => (if rank == 6 { 15 } else { 4 - (2 * file - 7).abs() }, 0),
        Role::Queen => (-centre, 10 - 5 * centre),
        Role::King => (5 * (2 * file - 7).abs() - 18 * rank, 30 - 12 * centre),
    };
    (mg + a, eg + b)
}
