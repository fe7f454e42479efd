//! Writes a study as a web page in a single file: a board, a tree to click through, and the score
//! curve.

use shakmaty::Move;

use super::{
    file::Study,
    pgn,
    select::{Shown as Near, View, nearest},
    tree::{Candidate, Tree},
};
use crate::{
    chess::{notation, position::START_FEN},
    tools::{
        self,
        analyse::annotate,
        page::{self, Choice, Shown, Spot},
    },
};

/// The line of the page that tells it from other pages.
pub(super) const MARK: &str = "<title>Lancet study</title>";

/// Returns the page with the positions that `nearest` selects. It opens at the end of the line
/// `studied`, or before the last move if the game is over there.
///
/// # Errors
///
/// If the data cannot be written as JSON.
pub fn page(study: &Study, most: usize, studied: &[Move]) -> serde_json::Result<String> {
    let tree = study.tree();
    let view = nearest(study, most, studied);
    let game: Vec<usize> = study.game_nodes().into_iter().filter_map(|id| view.find(id)).collect();
    let mut spots: Vec<Spot> = (0..view.shown.len()).map(|at| spot(tree, &view, at)).collect();
    let played = study.played();
    spots[0].annotate(&played.annotated.lead);
    // If the game repeats a position, the marks of the first occurrence are shown.
    for (ply, (pair, m)) in game.windows(2).zip(&played.moves).enumerate().rev() {
        let node = tree.node(view.shown[pair[0]].id);
        let score = node.edge(*m).and_then(|edge| tree.score(edge));
        let error = score.and_then(|score| pgn::error(node, score));
        let mut items = played.items(ply).to_vec();
        annotate::remark(&mut items, None, error, |_| None);
        spots[pair[1]].annotate(&items);
        spots[pair[1]].judge(error.is_some());
    }
    let (tags, start) = (played.game(), &tree.node(Tree::START).position);
    let title = match (tags.tag("White"), tags.tag("Black")) {
        (None, None) => match (start.fen(), &*played.moves) {
            (fen, []) if fen == START_FEN => "Study of the start position".to_owned(),
            (fen, []) => format!("Study of {fen}"),
            (_, moves) => format!("Study of {}", notation::line(start, moves)),
        },
        _ => tools::title(&tags),
    };
    let here = match spots.len() {
        all if all == tree.positions() => "all".to_owned(),
        some => some.to_string(),
    };
    let about = format!(
        "{} in the tree, {here} of them on this page. {} nodes searched. Page written by Lancet {}.",
        notation::counted(tree.positions(), "position"),
        notation::short(study.nodes() as f64),
        env!("CARGO_PKG_VERSION"),
    );
    let at =
        tree.walk_to_last_move(studied).into_iter().rev().find_map(|id| view.find(id)).unwrap_or(0);
    let result = Some(tags.result()).filter(|result| result != "*");
    let (about, players, scale) = (vec![about], Vec::new(), page::scale());
    let shown = Shown { title, tree: true, about, result, players, at, game, spots, scale };
    let page = page::PAGE.replacen(page::MARK, MARK, 1);
    Ok(page + &shown.element()?)
}

fn spot(tree: &Tree, view: &View, at: usize) -> Spot {
    let Near { id, from } = view.shown[at];
    let node = tree.node(id);
    let position = &node.position;
    let white = |score| notation::white(score, position.turn());
    let candidates = tree.candidates(id);
    let choice = |&Candidate { m, score, edge }: &Candidate| {
        let to = edge.and_then(|edge| view.find(edge.to));
        let note = match edge {
            None => "best move outside the tree".to_owned(),
            Some(edge) if edge.repeats => "repetition".to_owned(),
            Some(edge) => {
                let positions = tree.size(edge.to).to_string();
                let elsewhere = view.child(at, edge).is_none();
                match view.move_to(tree, edge.to).filter(|_| elsewhere) {
                    Some(other) => format!("{positions}, transposes to {other}"),
                    None => positions,
                }
            }
        };
        Choice::new(position, m, score.map(white), to, &note)
    };
    let before = from
        .map(|(parent, edge)| (parent, &tree.node(view.shown[parent].id).position, Some(edge.m)));
    let mut spot = Spot::new(position, before);
    spot.children = candidates.iter().filter_map(|one| view.child(at, one.edge?)).collect();
    spot.depth = node.rest.as_ref().map_or(0, |rest| rest.depth);
    spot.pinned = from.is_some_and(|(_, edge)| edge.pinned);
    spot.moves = candidates.iter().map(choice).collect();
    if spot.over.is_none() && node.over.is_some() {
        spot.over = Some(if node.rest.is_some() { "tablebase result" } else { "draw" });
    }
    spot.evaluate(position, node.value.map(white), &tree.best_line(id));
    spot
}
