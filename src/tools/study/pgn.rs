//! Writes a study as an annotated game. The main line is the game that was played; if it has no
//! result, the best line follows. Other near lines are variations.

use std::collections::HashSet;

use shakmaty::Move;

use super::{
    file::Study,
    select::{View, nearest},
    tree::{Candidate, Id, Tree, TreeNode},
};
use crate::{
    chess::{
        notation,
        pgn::{AnnotatedMove, Item, Variation, write::write},
        score::{Delay, Score, mate_distance},
    },
    tools::analyse::{
        annotate::{self, annotated_moves, evaluation_text},
        judge::{Error, Judgement},
    },
};

/// Maximum length in plies of a line that was searched but is not in the tree.
const LINE_LENGTH: usize = 8;

/// The text that distinguishes the Annotator tag of a study from others.
const MARK: &str = ", study of ";

/// Returns whether a line of a PGN file is the Annotator tag of a study.
pub(super) fn is_mark(line: &str) -> bool {
    line.starts_with("[Annotator \"Lancet ") && line.contains(MARK)
}

/// The Seven Tag Roster of PGN, with default values.
const ROSTER: [(&str, &str); 7] = [
    ("Event", "Study"),
    ("Site", "?"),
    ("Date", "????.??.??"),
    ("Round", "?"),
    ("White", "?"),
    ("Black", "?"),
    ("Result", "*"),
];

/// Returns the text of the game, with the positions that `nearest` selects for `most` and
/// `studied`.
pub fn text(study: &Study, most: usize, studied: &[Move]) -> String {
    let tree = study.tree();
    let root = tree.node(Tree::START);
    let start = &root.position;
    let mut game = study.played().game();
    for (name, value) in ROSTER {
        if !game.tags.iter().any(|(tag, _)| tag == name) {
            game.set_tag(name, value.to_owned());
        }
    }
    game.set_start(start);
    let version = env!("CARGO_PKG_VERSION");
    let positions = notation::counted(tree.positions(), "position");
    game.set_tag("Annotator", format!("Lancet {version}{MARK}{positions}"));
    let finished = game.result() != "*";
    let moves =
        Moves { study, view: nearest(study, most, studied), game: study.game_nodes(), finished };
    game.main.moves = moves.below(0, Some(0));
    game.main.lead.clone_from(&study.played().annotated.lead);
    if let Some(value) = root.value {
        let white = notation::white(value, start.turn());
        annotate::remark(&mut game.main.lead, Some(evaluation_text(white)), None, |_| None);
    }
    write(&game, annotate::ply(start))
}

/// A move that may follow a position.
#[derive(Clone, Copy)]
struct Next<'a> {
    candidate: Candidate<'a>,
    /// Index of the position after the move, if it is shown here. `None` if it is shown elsewhere
    /// or has no node.
    child: Option<usize>,
}

/// Writes the tree of a study as PGN moves.
struct Moves<'a> {
    study: &'a Study,
    view: View,
    /// The nodes of the game.
    game: Vec<Id>,
    /// Whether the game has a result, so that no moves follow it.
    finished: bool,
}

impl<'a> Moves<'a> {
    /// Returns whether this is the move of the game after `ply` plies.
    fn is_played(&self, candidate: Candidate, ply: Option<usize>) -> bool {
        let played = ply.and_then(|ply| self.study.played().moves.get(ply));
        candidate.edge.is_some() && played == Some(&candidate.m)
    }

    /// Returns the moves that may follow, the main line first. `ply` is set for positions of the
    /// game.
    fn following(&self, at: usize, ply: Option<usize>) -> Vec<Next<'a>> {
        let next = |candidate: Candidate<'a>| {
            let Some(edge) = candidate.edge else { return Some(Next { candidate, child: None }) };
            self.view.find(edge.to)?;
            // If the move leads to another position of the game, its continuation is shown there.
            let child = self.view.child(at, edge).filter(|_| !self.is_later(edge.to, ply));
            Some(Next { candidate, child })
        };
        let candidates = self.study.tree().candidates(self.view.shown[at].id);
        let mut all: Vec<Next> = candidates.into_iter().filter_map(next).collect();
        all.sort_by_key(|next| !self.is_played(next.candidate, ply));
        all
    }

    /// Returns whether this is a position of the game other than the next one after `ply` plies.
    fn is_later(&self, id: Id, ply: Option<usize>) -> bool {
        let next = ply.and_then(|ply| self.game.get(ply + 1));
        next != Some(&id) && self.game.contains(&id)
    }

    /// Returns the moves after a position, with variations.
    fn below(&self, mut at: usize, mut ply: Option<usize>) -> Vec<AnnotatedMove> {
        let mut line: Vec<AnnotatedMove> = Vec::new();
        let mut been = HashSet::new();
        loop {
            let again = !been.insert(at);
            let is_end = ply == Some(self.study.played().moves.len());
            if is_end && (self.finished || again) {
                return line;
            }
            let following = self.following(at, ply);
            let Some((&main, others)) = following.split_first() else { return line };
            let mut moves = self.first(at, main, ply);
            let others = others.iter().map(|&other| {
                let mut moves = self.first(at, other, None);
                moves.extend(other.child.into_iter().flat_map(|child| self.below(child, None)));
                Item::Variation(Variation { lead: Vec::new(), moves })
            });
            // Variations belong to the first move. If the game has already reached this position,
            // they were written at the first occurrence.
            if let Some(first) = moves.first_mut().filter(|_| !again) {
                first.items.extend(others);
            }
            if is_end && let Some(last) = line.last_mut() {
                last.items.push(Item::Comment("End of the game so far.".to_owned()));
            }
            line.extend(moves);
            let Some(edge) = main.candidate.edge else { return line };
            ply = ply.filter(|_| self.is_played(main.candidate, ply)).map(|ply| ply + 1);
            // The game continues from a position that it has reached before.
            let next = main.child.or(ply.and(self.view.find(edge.to)));
            let Some(next) = next else { return line };
            at = next;
        }
    }

    /// Returns a move with its annotations. A move of the rest is followed by the line that was
    /// searched.
    fn first(&self, at: usize, next: Next, ply: Option<usize>) -> Vec<AnnotatedMove> {
        let tree = self.study.tree();
        let node = tree.node(self.view.shown[at].id);
        let Candidate { m, score, edge } = next.candidate;
        let target = edge.map(|edge| tree.node(edge.to));
        let line = match (edge, &node.rest) {
            (None, Some(rest)) => rest.line.iter().copied().take(LINE_LENGTH).collect(),
            _ => vec![m],
        };
        let mut moves = annotated_moves(&node.position, &line);
        let (Some(first), Some(score)) = (moves.first_mut(), score) else { return moves };
        let played = ply.filter(|_| self.is_played(next.candidate, ply));
        first.items.extend_from_slice(played.map_or(&[], |ply| self.study.played().items(ply)));
        let error = played.and_then(|_| error(node, score));
        let by_tables = target.and_then(|node| node.rest.as_ref()).is_some_and(|rest| rest.exact);
        let more = match (edge, next.child) {
            (Some(edge), None) if edge.repeats => Some("Repetition.".to_owned()),
            (Some(edge), None) => {
                self.view.move_to(tree, edge.to).map(|other| format!("Transposes to {other}."))
            }
            (Some(_), Some(_)) if by_tables => Some("According to the tablebases.".to_owned()),
            _ => None,
        };
        // The evaluation is that of the position after the move, where a mate is one move nearer.
        let white = notation::white(-Delay::MATES.beta(-score), node.position.turn());
        // The final position of a game needs no evaluation.
        let numbered = target.is_none_or(|node| node.over.is_none()) || more.is_some();
        let numbered = numbered && mate_distance(white) != Some(0);
        let evaluation = numbered.then(|| evaluation_text(white));
        annotate::remark(&mut first.items, evaluation, error, |_| more);
        moves
    }
}

/// Returns the kind of error that a move with this score is, or `None` if it is not an error.
pub(super) fn error(node: &TreeNode, score: Score) -> Option<Error> {
    let best = node.value.unwrap_or(score);
    Judgement::new(best, score, best == score).error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chess::{pgn::read::Games, position::Position},
        tools::study::file::Played,
    };

    /// Returns the main line of the text, and all its moves.
    fn shown(pinned: &str, played: &str) -> (String, String) {
        let dir = tempfile::tempdir().unwrap();
        let start = Position::default();
        let mut study = Study::open_or_begin(&dir.path().join("a.study"), &start).unwrap();
        let moves = |text| notation::read_moves(&start, text).unwrap();
        study.add_line(&moves(pinned), Some(true)).unwrap();
        let tags = vec![("Result".to_owned(), "1-0".to_owned())];
        study.play(&Played { tags, moves: moves(played), ..Played::default() }).unwrap();
        let text = text(&study, 1, &[]);
        let game = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
        let main: Vec<String> = game.main.moves.iter().map(|node| node.san.to_string()).collect();
        (main.join(" "), text.split("\n\n").nth(1).unwrap().replace('\n', " "))
    }

    #[test]
    fn the_game_goes_on_after_repetitions_and_transpositions() {
        for (pinned, played) in [
            ("", "e4 e5 Nf3 Nc6 Ng1 Nb8 d4 exd4 Qxd4 Nc6 Qa4 d5"),
            ("d4 Nf6 c4 e6 Nc3 d5", "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7"),
            ("e4 e5 Nf3 Nc6 d4", "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8 e4 e5"),
            // The pinned line has the game's positions in the other order.
            ("Nf3 Nf6 Ng1 Ng8 Nc3", "Nc3 Nf6 Nb1 Ng8 Nf3 Nf6 Ng1"),
        ] {
            let (main, all) = shown(pinned, played);
            assert_eq!(main, played, "{all}");
        }
        // Every variation is written once.
        let (_, all) = shown("d4 d5 c4", "e4 e5 Nf3 Nc6 Ng1 Nb8 d4 exd4");
        assert_eq!(all.matches("c4").count(), 1, "{all}");
        assert_eq!(all.matches("exd4").count(), 1, "{all}");
    }
}
