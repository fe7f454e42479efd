//! `lancet explain`: a position in words. The engine says what is best and what is
//! threatened; what that means is said in sentences that the rules confirm.
//!
//! `examine` searches. `moves` and `board` look for what can be said and put it into words,
//! if `rules` confirms it. `worth` compares pieces with their kind. [`command`] puts it
//! together.

mod board;
pub mod command;
mod examine;
mod moves;
mod rules;
mod words;
mod worth;

use shakmaty::Color;

use crate::{
    chess::{
        notation,
        position::Game,
        score::{Score, is_decisive, mate_distance},
    },
    play::report::Info,
};

/// Differences below this, in centipawns, are not worth a word.
const NOTHING: Score = 10;

/// The best move of a search of `game` in one sentence: what it does, or who is better
/// after it.
pub(crate) fn sentence(game: &Game, info: &Info) -> Option<String> {
    let position = game.position();
    let played = moves::Played::new(position, &info.pv, game.last())?;
    let san = played.san();
    let score = notation::white(info.score, position.turn());
    let said = played.claims(&san).into_iter().next().map(|(_, text)| text);
    said.or_else(|| Some(format!("After {san} {}.", standing(score))))
}

/// Who stands better by a score from White's point of view.
fn standing(score: Score) -> String {
    let side = notation::color_name(if score > 0 { Color::White } else { Color::Black });
    match (mate_distance(score), score.abs()) {
        (Some(moves), _) => format!("{side} mates in {}", moves.abs()),
        _ if is_decisive(score) => format!("{side} wins by the endgame tables"),
        (_, ..NOTHING) => "neither side is better".to_owned(),
        (_, ..50) => format!("{side} is slightly better"),
        (_, ..150) => format!("{side} is better"),
        (_, ..400) => format!("{side} is much better"),
        _ => format!("{side} is winning"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::MATE;

    #[test]
    fn a_tenth_of_a_pawn_is_nothing() {
        for (score, text) in [
            (9, "neither side is better"),
            (-9, "neither side is better"),
            (10, "White is slightly better"),
            (-10, "Black is slightly better"),
            (50, "White is better"),
            (-399, "Black is much better"),
            (400, "White is winning"),
            (MATE - 3, "White mates in 3"),
            (2 - MATE, "Black mates in 2"),
        ] {
            assert_eq!(standing(score), text, "{score}");
        }
    }
}
