//! `lancet explain`: explains a position in sentences. The engine finds the best move and the
//! threats. The sentences say what these achieve. The rules, a search or the evaluation confirm
//! each sentence.
//!
//! `examine` runs the searches. `moves` and `board` find claims and put them into words if `rules`
//! confirms them. `material` finds the gain of a line, `endings` recognises endings with known
//! results, and `worth` compares pieces with the average of their kind. [`command`] has the command
//! line and the output.

mod board;
pub mod command;
mod endings;
mod examine;
mod material;
mod moves;
mod rules;
mod sentence;
mod words;
mod worth;

pub(crate) use board::drawn;
use sentence::NOTHING;
use shakmaty::Color;

use crate::{
    chess::{
        notation,
        position::Game,
        score::{Score, is_decisive, mate_distance},
    },
    play::report::Info,
};

/// Describes the best move of a search of `game` in one sentence: its most important effect, or who
/// is better after it.
pub(crate) fn sentence(game: &Game, info: &Info) -> Option<String> {
    let position = game.position();
    let played = moves::Played::searched(game, info)?;
    let san = played.san();
    let said = played.reasons(&san).into_iter().next().map(|sentence| sentence.text);
    said.or_else(|| {
        let score = notation::white(info.score, position.turn());
        let known = endings::known(position).filter(|_| !is_decisive(score));
        Some(format!("After {san} {}.", standing(score, known, info.drawn)))
    })
}

/// Returns the verdict for a score from White's point of view, or for a known ending or tablebase
/// result.
fn standing(score: Score, known: Option<endings::Ending>, drawn: bool) -> String {
    let name = notation::color_name;
    if let Some(endings::Ending { winner, certain, why }) = known {
        return match winner {
            Some(winner) => format!("{} is winning: {why}", name(winner)),
            None if certain => format!("the position is a draw: {why}"),
            None => format!("a draw is likely: {why}"),
        };
    }
    let side = name(if score > 0 { Color::White } else { Color::Black });
    match (mate_distance(score), score.abs()) {
        _ if drawn => "the position is a draw".to_owned(),
        (Some(moves), _) => format!("{side} mates in {}", moves.abs()),
        _ if is_decisive(score) => format!("{side} wins according to the tablebases"),
        (_, ..NOTHING) => "the position is equal".to_owned(),
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
    fn less_than_a_tenth_of_a_pawn_is_equal() {
        for (score, text) in [
            (9, "the position is equal"),
            (-9, "the position is equal"),
            (10, "White is slightly better"),
            (-10, "Black is slightly better"),
            (50, "White is better"),
            (-399, "Black is much better"),
            (400, "White is winning"),
            (MATE - 3, "White mates in 3"),
            (2 - MATE, "Black mates in 2"),
        ] {
            assert_eq!(standing(score, None, false), text, "{score}");
        }
    }
}
