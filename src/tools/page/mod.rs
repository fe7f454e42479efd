//! Games and trees as a page for a browser: a board, moves to click through, the score
//! curve. [`PAGE`] is its beginning; [`Shown::element`] adds a game. Nothing else is needed.

use serde::Serialize;
use shakmaty::{CastlingMode, Move, san::San};

use crate::chess::{
    notation,
    pgn::{self, Item, Nag},
    position::Position,
    score::{Score, winning_chances},
};

/// The page without games.
pub(super) const PAGE: &str = include_str!("page.html");
/// Longest line shown as text, in plies.
const LINE_LENGTH: usize = 16;

/// A game, or a tree.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pub title: String,
    /// Its positions have to be searched.
    pub tree: bool,
    /// Lines below the title.
    pub about: Vec<String>,
    pub result: Option<String>,
    /// Name, accuracy, loss and errors of each player.
    pub players: Vec<Vec<String>>,
    /// The position that the page opens at.
    pub at: usize,
    /// The positions of the game, by their indices.
    pub game: Vec<usize>,
    /// The start position is the first.
    pub spots: Vec<Spot>,
    /// The lines of equal score: label and White's winning chances.
    pub scale: Vec<(String, f64)>,
}

impl Shown {
    /// The element that adds this to a page.
    ///
    /// # Errors
    ///
    /// If there is no JSON for it.
    pub(super) fn element(&self) -> serde_json::Result<String> {
        // Inside a script nothing may look like its end.
        let data = serde_json::to_string(self)?.replace('<', "\\u003c");
        Ok(format!("<script type=\"application/json\" class=\"game\">{data}</script>\n"))
    }
}

/// A position of the page. Scores are from White's point of view.
#[derive(Debug, Default, Serialize)]
pub(super) struct Spot {
    pub fen: String,
    /// The move that leads here, with its number.
    pub san: Option<String>,
    /// Where that starts.
    pub from: Option<usize>,
    /// Those that are shown below it, the main one first.
    pub children: Vec<usize>,
    /// Squares of the move that leads here.
    last: Option<[String; 2]>,
    score: Option<String>,
    /// White's winning chances, 0 to 1.
    share: Option<f64>,
    /// Plies of the last search.
    pub depth: u32,
    /// Why there is nothing to search.
    pub over: Option<&'static str>,
    pub pinned: bool,
    /// The sign of the move, such as `??`.
    pub mark: &'static str,
    /// What is written about the move.
    pub comment: String,
    pub moves: Vec<Choice>,
    /// The best line, as text.
    line: String,
    /// Squares of its first move.
    best: Option<[String; 2]>,
}

/// A move of a position.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    san: String,
    score: Option<String>,
    /// The position that it leads to, if that is shown.
    to: Option<usize>,
    note: &'static str,
}

impl Choice {
    pub(super) fn new(
        position: &Position,
        m: Move,
        white: Option<Score>,
        to: Option<usize>,
        note: &'static str,
    ) -> Choice {
        Choice { san: numbered(position, Some(m)), score: white.map(notation::pawns), to, note }
    }
}

impl Spot {
    /// A position, and the index, the position and the move (`None` for a null move) that it
    /// comes from.
    pub(super) fn new(position: &Position, from: Option<(usize, &Position, Option<Move>)>) -> Spot {
        let ending = if position.is_check() { "checkmate" } else { "stalemate" };
        Spot {
            fen: position.fen(),
            san: from.map(|(_, before, m)| numbered(before, m)),
            from: from.map(|(index, ..)| index),
            over: position.legal_moves().is_empty().then_some(ending),
            last: from.and_then(|(_, before, m)| Some(squares(m?, before.mode()))),
            ..Spot::default()
        }
    }

    /// Sets the score and the best line, as far as they are known.
    pub(super) fn evaluate(&mut self, position: &Position, white: Option<Score>, line: &[Move]) {
        self.score = white.map(notation::pawns);
        self.share = white.map(winning_chances);
        self.line = notation::line(position, &line[..line.len().min(LINE_LENGTH)]);
        self.best = line.first().map(|&m| squares(m, position.mode()));
    }

    /// Sets the mark and the comment of the move that leads here.
    pub(super) fn annotate(&mut self, items: &[Item]) {
        self.mark = Item::judgement(items).and_then(Nag::sign).unwrap_or_default();
        let comments = items.iter().filter_map(|item| match item {
            Item::Comment(text) => Some(pgn::split_comment(text).1),
            _ => None,
        });
        self.comment = comments.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    }
}

/// Scores in pawns that have a line of their own in curves, and White's winning chances.
pub(super) fn scale() -> Vec<(String, f64)> {
    let label = |pawns| if pawns == 0 { "0".to_owned() } else { format!("{pawns:+}") };
    [-10, -5, -2, 0, 2, 5, 10].map(|pawns| (label(pawns), winning_chances(100 * pawns))).to_vec()
}

fn numbered(before: &Position, m: Option<Move>) -> String {
    let san = m.map_or_else(|| San::Null.to_string(), |m| notation::san(before, m));
    notation::number(before) + &san
}

/// The squares that a move leaves and reaches.
fn squares(m: Move, mode: CastlingMode) -> [String; 2] {
    let text = notation::move_text(m, mode);
    [&text[..2], &text[2..4]].map(str::to_owned)
}
