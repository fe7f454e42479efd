//! A study as one page for a browser: a board, the tree to click through, the score
//! curve. All that it needs is in it.

use serde::Serialize;
use serde_json::json;

use super::{
    file::Study,
    select::{Shown, View, nearest},
    tree::{Candidate, Tree, TreeNode},
};
use crate::chess::{
    notation,
    position::Position,
    score::{Score, is_decisive, winning_chances},
};

/// The page without its data.
const PAGE: &str = include_str!("page.html");
/// Where the data belongs.
const DATA: &str = "/* the study */ null";
/// Longest line shown, in plies.
const LINE_LENGTH: usize = 16;

/// A position of the page. Scores are White's.
#[derive(Serialize)]
struct Spot {
    /// As FEN.
    fen: String,
    /// The move that leads here, with its number.
    san: Option<String>,
    /// Where that starts.
    from: Option<usize>,
    /// Those that are shown below it, the best first.
    children: Vec<usize>,
    /// Squares of the move, as text.
    last: Vec<String>,
    score: Option<String>,
    /// White's winning chances, 0 to 1.
    share: Option<f64>,
    /// Plies of the last search.
    depth: u32,
    /// Why there is nothing to search.
    over: Option<&'static str>,
    pinned: bool,
    moves: Vec<Choice>,
    line: String,
}

/// A move of a position.
#[derive(Serialize)]
struct Choice {
    san: String,
    score: Option<String>,
    share: Option<f64>,
    /// The position that it leads to, if that is shown.
    to: Option<usize>,
    note: Option<&'static str>,
}

/// The page, with at most `most` positions.
pub fn page(study: &Study, most: usize) -> String {
    let tree = study.tree();
    let view = nearest(study, most);
    let game: Vec<usize> = study.game_nodes().into_iter().filter_map(|id| view.find(id)).collect();
    let spots: Vec<Spot> = (0..view.shown.len()).map(|at| spot(tree, &view, at)).collect();
    let tags = study.played().game();
    let title = match (tags.tag("White"), tags.tag("Black")) {
        (None, None) => "Study".to_owned(),
        (white, black) => format!("{} - {}", white.unwrap_or("?"), black.unwrap_or("?")),
    };
    let about = format!(
        "{} in the tree, {} nodes searched; {} shown. Lancet {}",
        notation::counted(tree.positions(), "position"),
        notation::short(study.nodes() as f64),
        spots.len(),
        env!("CARGO_PKG_VERSION"),
    );
    let data = json!({ "title": title, "about": about, "spots": spots, "game": game });
    // Inside a script nothing may look like its end.
    PAGE.replacen(DATA, &data.to_string().replace('<', "\\u003c"), 1)
}

fn spot(tree: &Tree, view: &View, at: usize) -> Spot {
    let Shown { id, from } = view.shown[at];
    let node = tree.node(id);
    let position = &node.position;
    let numbered = |before: &Position, m| notation::number(before) + &notation::san(before, m);
    let white = |score| notation::white(score, position.turn());
    let candidates = tree.candidates(id);
    let choice = |&Candidate { m, score, edge }: &Candidate| {
        let score = score.map(white);
        let to = edge.and_then(|edge| view.find(edge.to));
        let note = match edge {
            None => Some("best of the others"),
            Some(edge) if edge.repeats => Some("repetition"),
            Some(edge) if to.is_some() && view.child(at, edge).is_none() => Some("transposes"),
            Some(_) => None,
        };
        let share = score.map(winning_chances);
        Choice { san: numbered(position, m), score: score.map(notation::pawns), share, to, note }
    };
    let value = node.value.map(white);
    let mut line = tree.best_line(id);
    line.truncate(LINE_LENGTH);
    let squares = from.map(|(_, edge)| [edge.m.from(), Some(edge.m.to())]);
    Spot {
        fen: position.fen(),
        san: from
            .map(|(parent, edge)| numbered(&tree.node(view.shown[parent].id).position, edge.m)),
        from: from.map(|(parent, _)| parent),
        children: candidates.iter().filter_map(|one| view.child(at, one.edge?)).collect(),
        last: squares.into_iter().flatten().flatten().map(|square| square.to_string()).collect(),
        score: value.map(notation::pawns),
        share: value.map(winning_chances),
        depth: node.rest.as_ref().map_or(0, |rest| rest.depth),
        over: node.over.map(|score| over(node, score)),
        pinned: from.is_some_and(|(_, edge)| edge.pinned),
        moves: candidates.iter().map(choice).collect(),
        line: notation::line(position, &line),
    }
}

/// Why there is nothing to search.
fn over(node: &TreeNode, score: Score) -> &'static str {
    match (&node.rest, is_decisive(score)) {
        (Some(_), _) => "endgame tables",
        (None, true) if node.position.is_check() => "checkmate",
        (None, _) => "draw",
    }
}
