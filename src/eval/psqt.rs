//! Material and piece-square tables, tapered by game phase.
//!
//! The numbers are Lancet's own. The games that trained the first network were played with this
//! evaluation (generation zero). The lab uses it because it is small.

use shakmaty::{Board, Color, Role};

use crate::chess::{position::Position, score::Score};

/// Middlegame and endgame values of the roles in centipawns, pawn to king.
const MATERIAL: [(i32, i32); 6] =
    [(82, 110), (340, 310), (355, 325), (470, 560), (1000, 1020), (0, 0)];

/// Weight of each role in the game phase. The phase is 24 with all pieces and 0 with none.
const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// Bonus for the side to move, in centipawns.
const TEMPO: i32 = 15;

/// Values by role and square from White's point of view. The low half is the middlegame value and
/// the high half the endgame value, so that one operation adds both.
static TABLE: [[i32; 64]; 6] = {
    let mut table = [[0; 64]; 6];
    let mut role = 0;
    while role < 6 {
        let mut square = 0;
        while square < 64 {
            let (mg, eg) = value(role, square % 8, square / 8);
            table[role as usize][square as usize] = mg + (eg << 16);
            square += 1;
        }
        role += 1;
    }
    table
};

/// Returns the static evaluation in centipawns for the side to move.
pub fn evaluate(position: &Position) -> Score {
    evaluate_board(position.board(), position.turn())
}

/// Evaluates a board like [`evaluate`]. The position need not be legal.
pub fn evaluate_board(board: &Board, turn: Color) -> Score {
    let (mut sum, mut phase) = (0, 0);
    for (role, table) in Role::ALL.into_iter().zip(&TABLE) {
        let pieces = board.by_role(role);
        for square in pieces & board.white() {
            sum += table[square as usize];
        }
        for square in pieces & board.black() {
            sum -= table[square.flip_vertical() as usize];
        }
        phase += PHASE[role as usize - 1] * pieces.count() as i32;
    }
    let middlegame = i32::from(sum as i16);
    // A negative low half has borrowed 1 from the high half. Adding 0x8000, half the range of the
    // low half, undoes this.
    let endgame = (sum + 0x8000) >> 16;
    let phase = phase.min(24);
    let white = (middlegame * phase + endgame * (24 - phase)) / 24;
    TEMPO + if turn == Color::White { white } else { -white }
}

/// Returns the terms of the evaluation, in centipawns from White's point of view.
pub(super) fn terms(board: &Board, turn: Color) -> Vec<(&'static str, f64)> {
    let phase = Role::ALL.into_iter().zip(PHASE);
    let phase = phase.map(|(role, weight)| weight * board.by_role(role).count() as i32);
    let phase = f64::from(phase.sum::<i32>().min(24)) / 24.0;
    let taper = |(mg, eg): (i32, i32)| f64::from(mg) * phase + f64::from(eg) * (1.0 - phase);
    // By colour, White first: the sum of all values, and the material in it.
    let (mut all, mut material) = ([0.0; 2], [0.0; 2]);
    for (square, piece) in board {
        let role = piece.role as usize - 1;
        let (seen, side) =
            if piece.color.is_white() { (square, 0) } else { (square.flip_vertical(), 1) };
        all[side] += taper(value(role as i32, seen.file() as i32, seen.rank() as i32));
        material[side] += taper(MATERIAL[role]);
    }
    let tempo = if turn.is_white() { TEMPO } else { -TEMPO };
    vec![
        ("White's material", material[0]),
        ("Black's material", -material[1]),
        ("White's squares", all[0] - material[0]),
        ("Black's squares", material[1] - all[1]),
        ("tempo", f64::from(tempo)),
    ]
}

/// Returns the middlegame and endgame values of a white piece on a square: `role` 0 to 5, `file`
/// and `rank` 0 to 7.
const fn value(role: i32, file: i32, rank: i32) -> (i32, i32) {
    let (mg, eg) = MATERIAL[role as usize];
    // Distances to the centre: 0 to 3 in one direction, 0 to 6 in both.
    let edge = (2 * file - 7).abs() / 2;
    let centre = edge + (2 * rank - 7).abs() / 2;
    // Pawns gain by advancing, minor pieces and queens in the centre, rooks on the seventh rank.
    let (a, b) = match role {
        0 => ((rank - 1) * 4 - 3 * edge, (rank - 1) * (rank - 1) * 3),
        1 => (22 - 11 * centre, 18 - 9 * centre),
        2 => (14 - 5 * centre, 8 - 4 * centre),
        3 => (if rank == 6 { 16 } else { 6 - 4 * edge }, 0),
        4 => (-centre, 12 - 6 * centre),
        _ => (10 * edge - 18 * rank, 34 - 13 * centre),
    };
    (mg + a, eg + b)
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    #[test]
    fn colours_are_equal() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut position = Position::default();
        for _ in 0..300 {
            let setup =
                shakmaty::Position::to_setup(position.chess(), shakmaty::EnPassantMode::Legal);
            let mirrored = Position::from_setup(setup.into_mirrored()).unwrap();
            assert_eq!(evaluate(&position), evaluate(&mirrored), "{}", position.fen());
            let moves = position.legal_moves();
            if moves.is_empty() {
                position = Position::default();
                continue;
            }
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            position = position.play(moves[(seed % moves.len() as u64) as usize]);
        }
    }

    #[test]
    fn halves_do_not_disturb_each_other() {
        // King and queen against a bare king: the halves are combined by hand.
        let fen = "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let (mg, eg) = value(4, Square::A1.file() as i32, 0);
        assert_eq!(evaluate(&position), TEMPO + (mg * 4 + eg * 20) / 24);
    }
}
