//! Moves and numbers as people write them: SAN with move numbers, scores in
//! pawns from White's point of view, counts in three digits. The protocol's
//! notation is in `uci`.

use shakmaty::{Color, Move, Position as _, san::SanPlus};

use crate::chess::{
    position::Position,
    score::{Score, is_decisive, mate_distance},
};

/// A legal move in SAN, with `+` or `#`.
#[must_use]
pub fn san(position: &Position, m: Move) -> String {
    SanPlus::from_move(position.chess().clone(), m).to_string()
}

/// The number of a move in `position`: `12. ` for White, `12... ` for Black.
#[must_use]
pub fn number(position: &Position) -> String {
    let dots = if position.turn().is_white() { "." } else { "..." };
    format!("{}{dots} ", position.chess().fullmoves())
}

/// A line of legal moves, one word each, with the numbers that belong to them:
/// `12... Nf6`, `13. Bb5+`, `c6`.
#[must_use]
pub fn words(position: &Position, moves: &[Move]) -> Vec<String> {
    let mut position = position.clone();
    let mut words = Vec::with_capacity(moves.len());
    for &m in moves {
        let numbered = words.is_empty() || position.turn().is_white();
        let number = if numbered { number(&position) } else { String::new() };
        words.push(number + &san(&position, m));
        position = position.play(m);
    }
    words
}

/// A line of legal moves: `12... Nf6 13. Bb5+ c6`.
#[must_use]
pub fn line(position: &Position, moves: &[Move]) -> String {
    words(position, moves).join(" ")
}

/// A score of the side to move, seen from White.
#[must_use]
pub const fn white(score: Score, turn: Color) -> Score {
    if turn.is_white() { score } else { -score }
}

/// A score in pawns (`+0.35`), as a mate (`#3`, `#-3`: the side the score
/// belongs to mates, or is mated, in three moves), or as `won` or `lost` by
/// tablebase.
#[must_use]
pub fn pawns(score: Score) -> String {
    match mate_distance(score) {
        Some(0) => "#-0".to_owned(), // mated already
        Some(moves) => format!("#{moves}"),
        None if is_decisive(score) => if score > 0 { "won" } else { "lost" }.to_owned(),
        None => format!("{:+.2}", f64::from(score) / 100.0),
    }
}

/// A number in three digits and a unit: `999`, `12.3k`, `4.56M`.
#[must_use]
pub fn short(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.into_iter().find(|(size, _)| number >= 0.9995 * size) {
        Some((size, unit)) => {
            let scaled = number / size;
            let digits = if scaled < 9.995 { 2 } else { usize::from(scaled < 99.95) };
            format!("{scaled:.digits$}{unit}")
        }
        None => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;
    use crate::{
        chess::score::{MATE, TABLEBASE_WIN},
        uci::setup::read_move,
    };

    #[test]
    fn lines_are_numbered_as_in_books() {
        let fen = "r1bqkbnr/pppp1Qpp/2n5/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4";
        let mated = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        assert_eq!(number(&mated), "4... ");
        let mut position = Position::default();
        let mut moves = Vec::new();
        for text in ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"] {
            moves.push(read_move(&position, text).unwrap());
            position = position.play(moves[moves.len() - 1]);
        }
        let start = Position::default();
        assert_eq!(line(&start, &moves), "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#");
        let black = start.play(moves[0]);
        assert_eq!(line(&black, &moves[1..4]), "1... e5 2. Qh5 Nc6");
        assert_eq!(line(&start, &[]), "");
    }

    #[test]
    fn scores() {
        let texts = [0, 35, -1234, MATE - 3, -MATE + 3, -MATE, TABLEBASE_WIN, -TABLEBASE_WIN + 1];
        assert_eq!(
            texts.map(pawns),
            ["+0.00", "+0.35", "-12.34", "#3", "#-3", "#-0", "won", "lost"]
        );
        assert_eq!([white(35, Color::White), white(35, Color::Black)], [35, -35]);
    }
}
