//! Converts an annotated game for the page: its positions, and those of its variations.

use shakmaty::Move;

use super::annotate::{self, Findings};
use crate::{
    chess::{
        notation,
        pgn::{self, Game, Item, Variation},
        position::Position,
        score::{EVALUATION_LIMIT, MATE, Score},
    },
    tools::{
        self,
        page::{self, Choice, Shown, Spot},
    },
};

/// Returns an annotated game in the form that the page shows.
pub(super) fn shown(game: &Game, findings: &Findings, players: Vec<Vec<String>>) -> Shown {
    let Findings { positions, moves, evaluations, .. } = findings;
    let mut spots = vec![Spot::new(&positions[0], None)];
    spots[0].annotate(&game.main.lead);
    // Positions of the game come first, so that the index of each is its ply.
    add_line(&mut spots, &game.main, &positions[0], 0);
    for (ply, (position, evaluation)) in positions.iter().zip(*evaluations).enumerate() {
        let white = |ply: usize| evaluations.get(ply).map(|evaluation| evaluation.white);
        let played = moves.get(ply).copied().flatten();
        let best = evaluation.line.first().copied();
        let child = |spots: &[Spot], m: Move| {
            let san = notation::line(position, &[m]);
            let is_it = |&&child: &&usize| spots[child].san.as_ref() == Some(&san);
            spots[ply].children.iter().find(is_it).copied()
        };
        let choice = |m, white, note| Choice::new(position, m, white, child(&spots, m), note);
        let note = if best == played { "best, played" } else { "best" };
        let best = best.map(|m| choice(m, Some(evaluation.white), note));
        let other = played.filter(|m| evaluation.line.first() != Some(m));
        let played = other.map(|m| choice(m, white(ply + 1), "played"));
        spots[ply].moves = best.into_iter().chain(played).collect();
        spots[ply].evaluate(position, white(ply), &evaluation.line);
        spots[ply].judge(ply > 0 && findings.error(ply - 1).is_some());
    }
    let about = |name: &&str| {
        let value = game.tag(name).filter(|value| !value.starts_with('?'))?;
        Some(match *name {
            "Date" => {
                let known = value.split('.').take_while(|part| !part.contains('?'));
                known.collect::<Vec<_>>().join(".")
            }
            "Round" => format!("round {value}"),
            "WhiteElo" => format!("White's Elo {value}"),
            "BlackElo" => format!("Black's Elo {value}"),
            _ => value.to_owned(),
        })
    };
    let event = &["Event", "Site", "Date", "Round"][..];
    let about = [event, &["WhiteElo", "BlackElo"], &["ECO", "Opening"], &["Annotator"]]
        .map(|names| names.iter().filter_map(about).collect::<Vec<_>>().join(", "));
    Shown {
        title: tools::title(game),
        tree: false,
        about: about.into_iter().filter(|line| !line.is_empty()).collect(),
        result: Some(game.result()).filter(|result| result != "*"),
        players,
        at: 0,
        game: (0..positions.len()).collect(),
        spots,
        scale: page::scale(),
    }
}

/// Adds the positions of a line, followed by those of its variations.
fn add_line(spots: &mut Vec<Spot>, line: &Variation, start: &Position, from: usize) {
    let (mut position, mut at) = (start.clone(), from);
    let mut variations = Vec::new();
    for node in &line.moves {
        let Ok((m, next)) = annotate::step(&position, node) else { break };
        let here = spots.len();
        let mut spot = Spot::new(&next, Some((at, &position, m)));
        spot.annotate(&node.items);
        spot.evaluate(&next, evaluation(&node.items), &[]);
        spots.push(spot);
        spots[at].children.push(here);
        for item in &node.items {
            if let Item::Variation(line) = item {
                variations.push((line, position.clone(), at));
            }
        }
        (position, at) = (next, here);
    }
    for (line, start, from) in variations {
        add_line(spots, line, &start, from);
    }
}

/// Returns the evaluation in the comments of a move, from White's point of view.
fn evaluation(items: &[Item]) -> Option<Score> {
    let comments = items.iter().filter_map(|item| match item {
        Item::Comment(text) => Some(pgn::split_comment(text).0),
        _ => None,
    });
    let text = comments.flatten().find_map(|command| command.strip_prefix("[%eval "))?;
    let text = text.trim_end_matches(']').split(',').next()?.trim();
    if let Some(moves) = text.strip_prefix('#') {
        let moves: Score = moves.parse().ok().filter(|moves| (-200..=200).contains(moves))?;
        return Some(if moves > 0 { MATE - moves } else { -MATE - moves });
    }
    let pawns: f64 = text.parse().ok()?;
    Some(((100.0 * pawns).round() as Score).clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::analyse::evaluate::{self, Evaluation};

    #[test]
    fn a_page_has_the_game_and_its_variations() {
        let text = "[Date \"1851.06.??\"]\n[Round \"3\"]\n[BlackElo \"1900\"]\n\n{ Lead. } 1. e4 $2 $19 \
                    { [%eval 0.30] [%clk 0:01:00] d4 was best. } { Good? } (1. d4 \
                    { [%eval #-3] } d5 (1... f5 $5) 2. c4) (1. Kb8) 1... e5 1-0";
        let game = pgn::read::Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
        let (start, moves) = annotate::replay(&game).unwrap();
        let positions = evaluate::positions(&start, &moves);
        let line = vec![notation::read_any_move(&start, "d4").unwrap()];
        let evaluations = [(20, line), (-90, Vec::new()), (10, Vec::new())]
            .map(|(white, line)| Evaluation { white, line });
        let findings = Findings::new(&positions, &moves, &evaluations);
        let shown = shown(&game, &findings, Vec::new());
        let value = serde_json::to_value(&shown).unwrap();
        let sans: Vec<_> = shown.spots.iter().filter_map(|spot| spot.san.as_deref()).collect();
        assert_eq!(sans, ["1. e4", "1... e5", "1. d4", "1... d5", "2. c4", "1... f5"]);
        assert_eq!(shown.spots[0].children, [1, 3]);
        assert_eq!(shown.spots[3].children, [4, 6]);
        // The game's own comments come first, and Lancet's are marked.
        let said = "-+ Good? Lancet: d4 was best.";
        assert_eq!((shown.spots[1].mark, &*shown.spots[1].comment), ("?", said));
        assert_eq!(value["spots"][1]["clock"], "0:01:00");
        assert_eq!(shown.about, ["1851.06, round 3", "Black's Elo 1900"]);
        assert_eq!((&*shown.spots[0].comment, shown.result.as_deref()), ("Lead.", Some("1-0")));
        // In the game the score is that of the search, in variations that of the comment.
        assert_eq!(
            (&value["spots"][1]["score"], &value["spots"][3]["score"]),
            (&"-0.90".into(), &"#-3".into())
        );
        let moves = &value["spots"][0]["moves"];
        assert_eq!((&moves[0]["to"], &moves[1]["to"]), (&3.into(), &1.into()));
        assert_eq!(value["spots"][0]["best"], serde_json::json!(["d2", "d4"]));
    }
}
