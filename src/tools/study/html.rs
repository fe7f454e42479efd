//! A study as one page for a browser: a board, the tree to click through, the score
//! curve. All that it needs is in it.

use serde::Serialize;
use serde_json::json;

use super::{
    file::Study,
    select::{Shown, nearest},
    tree::{Edge, Tree},
};
use crate::chess::{
    notation,
    pgn::Game,
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
    let shown = nearest(study, most);
    let game: Vec<usize> = study
        .game_nodes()
        .iter()
        .filter_map(|&id| shown.iter().position(|spot| spot.id == id))
        .collect();
    let spots: Vec<Spot> = shown.iter().map(|one| spot(tree, &shown, one)).collect();
    let played = study.played();
    let tags = Game {
        line: 1,
        tags: played.tags.clone(),
        main: crate::chess::pgn::Variation::default(),
        outcome: None,
    };
    let title = match (tags.tag("White"), tags.tag("Black")) {
        (None, None) => "Study".to_owned(),
        (white, black) => format!("{} - {}", white.unwrap_or("?"), black.unwrap_or("?")),
    };
    let about = format!(
        "{} in the tree, {} nodes searched; {} shown. Lancet {}",
        notation::counted(tree.len(), "position"),
        notation::short(study.nodes() as f64),
        shown.len(),
        env!("CARGO_PKG_VERSION"),
    );
    let data = json!({ "title": title, "about": about, "spots": spots, "game": game });
    // Inside a script nothing may look like its end.
    PAGE.replacen(DATA, &data.to_string().replace('<', "\\u003c"), 1)
}

fn spot(tree: &Tree, shown: &[Shown], one: &Shown) -> Spot {
    let node = tree.node(one.id);
    let position = &node.position;
    let from = one.from.map(|(parent, m)| (parent, m, &tree.node(shown[parent].id).position));
    let squares = |m: shakmaty::Move| m.from().into_iter().chain([m.to()]);
    let pinned = |(parent, m): (usize, shakmaty::Move)| {
        tree.node(shown[parent].id).edge(m).is_some_and(|edge| edge.pinned)
    };
    let white = node.value().map(|value| notation::white(value, position.turn()));
    let mut line = tree.best_line(one.id);
    line.truncate(LINE_LENGTH);
    Spot {
        fen: position.fen(),
        san: from.map(|(_, m, before)| numbered(before, m)),
        from: from.map(|(parent, ..)| parent),
        children: one.children.clone(),
        last: from.into_iter().flat_map(|(_, m, _)| squares(m)).map(|s| s.to_string()).collect(),
        score: white.map(notation::pawns),
        share: white.map(winning_chances),
        depth: node.rest.as_ref().map_or(0, |rest| rest.depth),
        over: node.over.map(|score| over(position, node.rest.is_some(), score)),
        pinned: one.from.is_some_and(pinned),
        moves: choices(tree, shown, one),
        line: notation::line(position, &line),
    }
}

fn numbered(before: &Position, m: shakmaty::Move) -> String {
    notation::number(before) + &notation::san(before, m)
}

/// Why there is nothing to search.
fn over(position: &Position, table: bool, score: Score) -> &'static str {
    match (table, is_decisive(score)) {
        (true, _) => "endgame tables",
        (false, true) if position.is_check() => "checkmate",
        (false, _) => "draw",
    }
}

/// The moves that are known, best first.
fn choices(tree: &Tree, shown: &[Shown], one: &Shown) -> Vec<Choice> {
    let node = tree.node(one.id);
    let position = &node.position;
    let turn = position.turn();
    let to = |edge: &Edge| shown.iter().position(|spot| spot.id == edge.to);
    let mut all: Vec<(Option<Score>, Choice)> = Vec::new();
    let mut add = |m, score: Option<Score>, to: Option<usize>, note| {
        let white = score.map(|score| notation::white(score, turn));
        let san = numbered(position, m);
        let (score_text, share) = (white.map(notation::pawns), white.map(winning_chances));
        all.push((score, Choice { san, score: score_text, share, to, note }));
    };
    for edge in &node.edges {
        let child = to(edge);
        let elsewhere = child.is_some_and(|child| !one.children.contains(&child));
        let note = match (edge.repeats, elsewhere) {
            (true, _) => Some("repetition"),
            (false, true) => Some("transposes"),
            (false, false) => None,
        };
        add(edge.m, tree.score(edge), child, note);
    }
    if let Some((m, score)) = node.best_of_rest() {
        add(m, Some(score), None, Some("best of the others"));
    }
    all.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    all.into_iter().map(|(_, choice)| choice).collect()
}
