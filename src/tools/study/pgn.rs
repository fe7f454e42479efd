//! A study as an annotated game: the game that was played, and unless it has a result
//! the best line from its end; the nearest other lines as variations.

use std::{cmp::Reverse, collections::HashSet};

use shakmaty::{Move, san::SanPlus};

use super::{
    file::Study,
    select::{Shown, nearest},
    tree::{Edge, Id, Tree},
};
use crate::{
    chess::{
        notation,
        pgn::{AnnotatedMove, Game, Item, Variation, write::write},
        position::Position,
        score::Score,
    },
    tools::analyse::{
        annotate::{self, evaluation_text},
        judge::Judgement,
    },
};

/// Longest line shown that has been searched but is not in the tree, in plies.
const LINE_LENGTH: usize = 8;

/// The text of the game, with at most `most` positions of the tree.
pub fn text(study: &Study, most: usize) -> String {
    let tree = study.tree();
    let start = &tree.node(Tree::START).position;
    let mut game = Game {
        line: 1,
        tags: study.played().tags.clone(),
        main: Variation::default(),
        outcome: None,
    };
    for (name, value) in [("Event", "Study"), ("Result", "*")] {
        if !game.tags.iter().any(|(tag, _)| tag == name) {
            game.set_tag(name, value.to_owned());
        }
    }
    game.set_start(start);
    let version = env!("CARGO_PKG_VERSION");
    let positions = notation::counted(tree.len(), "position");
    game.set_tag("Annotator", format!("Lancet {version}, study of {positions}"));
    let shown = nearest(study, most);
    let finished = game.result() != "*";
    let moves = Moves { study, shown: &shown, game: study.game_nodes(), finished };
    game.main.moves = moves.below(0, Some(0));
    if let Some(value) = tree.node(Tree::START).value() {
        let white = notation::white(value, start.turn());
        game.main.lead.push(Item::Comment(evaluation_text(white)));
    }
    write(&game, annotate::ply(start))
}

/// What may follow a position.
#[derive(Clone, Copy)]
enum Next<'a> {
    /// A position that is shown here.
    Child(usize, &'a Edge),
    /// One that is shown elsewhere, or a repetition.
    Elsewhere(&'a Edge),
    /// The best of the moves without nodes.
    Rest(Score),
}

struct Moves<'a> {
    study: &'a Study,
    shown: &'a [Shown],
    /// Where the game's moves lead.
    game: Vec<Id>,
    /// It has a result: nothing is to follow it.
    finished: bool,
}

impl<'a> Moves<'a> {
    fn tree(&self) -> &'a Tree {
        self.study.tree()
    }

    /// What may follow, the main line first; `ply` if this is a position of the game.
    fn following(&self, at: usize, ply: Option<usize>) -> Vec<Next<'a>> {
        let (tree, shown) = (self.tree(), &self.shown[at]);
        let node = tree.node(shown.id);
        let mut all: Vec<(Option<Score>, Next)> = Vec::new();
        for edge in &node.edges {
            let child = shown
                .children
                .iter()
                .find(|&&child| self.shown[child].from.is_some_and(|(_, m)| m == edge.m));
            let next = match child {
                // Where the game comes back and goes another way, its moves say more there.
                Some(&child) if self.is_later(child, ply) => Next::Elsewhere(edge),
                Some(&child) => Next::Child(child, edge),
                None if self.shown.iter().any(|other| other.id == edge.to) => Next::Elsewhere(edge),
                None => continue,
            };
            all.push((tree.score(edge), next));
        }
        if let Some((_, score)) = node.best_of_rest() {
            all.push((Some(score), Next::Rest(score)));
        }
        let played = ply.and_then(|ply| self.study.played().moves.get(ply));
        let is_played = |next: &Next| match next {
            Next::Child(_, edge) | Next::Elsewhere(edge) => Some(&edge.m) == played,
            Next::Rest(_) => false,
        };
        all.sort_by_key(|(score, next)| (!is_played(next), Reverse(*score)));
        all.into_iter().map(|(_, next)| next).collect()
    }

    /// Is this a position of the game that follows one, but not at this ply?
    fn is_later(&self, child: usize, ply: Option<usize>) -> bool {
        let next = ply.and_then(|ply| self.game.get(ply + 1));
        let id = self.shown[child].id;
        next != Some(&id) && self.game.contains(&id)
    }

    /// The moves that follow a position, with variations.
    fn below(&self, mut at: usize, mut ply: Option<usize>) -> Vec<AnnotatedMove> {
        let played = &self.study.played().moves;
        let mut line = Vec::new();
        let mut been = HashSet::new();
        loop {
            let again = !been.insert(at);
            let is_end = ply == Some(played.len());
            if is_end && (self.finished || again) {
                return line;
            }
            let following = self.following(at, ply);
            let Some((&main, others)) = following.split_first() else { return line };
            let mut moves = self.first(at, main, ply);
            let others = others.iter().map(|&other| {
                let mut moves = self.first(at, other, None);
                if let Next::Child(child, _) = other {
                    moves.extend(self.below(child, None));
                }
                Item::Variation(Variation { lead: Vec::new(), moves })
            });
            // Variations are of the first move. Where the game has been before, they stand.
            if let Some(first) = moves.first_mut().filter(|_| !again) {
                first.items.extend(others);
            }
            if is_end && let Some(last) = line.last_mut() {
                last.items.push(Item::Comment("The game so far.".to_owned()));
            }
            line.extend(moves);
            let (Next::Child(_, edge) | Next::Elsewhere(edge)) = main else { return line };
            let goes_on = ply.map(|ply| ply + 1).filter(|&next| {
                self.game.get(next) == Some(&edge.to) && played.get(next - 1) == Some(&edge.m)
            });
            let next = match main {
                Next::Child(child, _) => Some(child),
                // The game goes on where it has been before.
                _ if goes_on.is_some() => self.shown.iter().position(|one| one.id == edge.to),
                _ => None,
            };
            let Some(next) = next else { return line };
            (at, ply) = (next, goes_on);
        }
    }

    /// A move and what is to be said about it; of the rest, the line that was searched.
    fn first(&self, at: usize, next: Next, ply: Option<usize>) -> Vec<AnnotatedMove> {
        let (tree, id) = (self.tree(), self.shown[at].id);
        let node = tree.node(id);
        let position = &node.position;
        let comment = |score: Score, more: &str| {
            let white = evaluation_text(notation::white(score, position.turn()));
            Item::Comment(format!("{white} {more}").trim().to_owned())
        };
        let (edge, more) = match next {
            Next::Rest(score) => {
                let line = node.rest.iter().flat_map(|rest| &rest.line);
                let mut moves = nodes(position, line.take(LINE_LENGTH));
                if let Some(first) = moves.first_mut() {
                    first.items.push(comment(score, ""));
                }
                return moves;
            }
            Next::Elsewhere(edge) if edge.repeats => (edge, "Repetition."),
            Next::Elsewhere(edge) => (edge, "Transposes."),
            Next::Child(_, edge) => {
                let table = tree.node(edge.to).rest.as_ref().is_some_and(|rest| rest.exact);
                (edge, if table { "By the endgame tables." } else { "" })
            }
        };
        let mut moves = nodes(position, std::iter::once(&edge.m));
        if let (Some(first), Some(score)) = (moves.first_mut(), tree.score(edge)) {
            let played = ply.and_then(|ply| self.study.played().moves.get(ply)) == Some(&edge.m);
            let before = node.value().unwrap_or(score);
            if let Some(error) = Judgement::new(before, score, before == score).error
                && played
            {
                first.items.push(Item::Nag(error.nag()));
            }
            if tree.node(edge.to).over.is_none() || !more.is_empty() {
                first.items.push(comment(score, more));
            }
        }
        moves
    }
}

fn nodes<'a>(position: &Position, line: impl Iterator<Item = &'a Move>) -> Vec<AnnotatedMove> {
    let mut position = position.clone();
    let mut nodes = Vec::new();
    for &m in line {
        let san = SanPlus::from_move(position.chess().clone(), m);
        nodes.push(AnnotatedMove { san, line: 0, items: Vec::new() });
        position = position.play(m);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chess::pgn::read::Games, tools::study::file::Played};

    /// The main line that is shown, and all moves with it.
    fn shown(pinned: &str, played: &str) -> (String, String) {
        let dir = tempfile::tempdir().unwrap();
        let start = Position::default();
        let mut study = Study::open_or_begin(&dir.path().join("a.study"), &start).unwrap();
        let moves = |text| notation::read_moves(&start, text).unwrap();
        study.add_line(&moves(pinned), Some(true)).unwrap();
        let tags = vec![("Result".to_owned(), "1-0".to_owned())];
        study.play(&Played { tags, moves: moves(played) }).unwrap();
        let text = text(&study, 1);
        let game = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
        let main: Vec<String> = game.main.moves.iter().map(|node| node.san.to_string()).collect();
        (main.join(" "), text.split("\n\n").nth(1).unwrap().replace('\n', " "))
    }

    #[test]
    fn the_game_goes_on_behind_repetitions_and_transpositions() {
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
        // Every variation stands once.
        let (_, all) = shown("d4 d5 c4", "e4 e5 Nf3 Nc6 Ng1 Nb8 d4 exd4");
        assert_eq!(all.matches("c4").count(), 1, "{all}");
        assert_eq!(all.matches("exd4").count(), 1, "{all}");
    }
}
