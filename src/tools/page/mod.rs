//! A web page that shows games and trees: a board, moves to click through and the score curve.
//! [`PAGE`] is the beginning of the page, and each [`Shown::element`] adds a game.

use serde::Serialize;
use shakmaty::{CastlingMode, Move, san::San};

use super::analyse::annotate::is_verdict;
use crate::chess::{
    notation,
    pgn::{self, Item, Nag},
    position::Position,
    score::{Score, winning_chances},
};

/// The page without its games.
pub(super) const PAGE: &str = include_str!("page.html");
/// The line of [`PAGE`] with the title, which the page's script replaces.
pub(super) const MARK: &str = "<title>Lancet</title>";
/// Maximum length of a line shown as text, in plies.
const LINE_LENGTH: usize = 16;

/// A game or a tree on the page.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pub title: String,
    /// Whether it is a tree, in which positions may be unsearched.
    pub tree: bool,
    /// Lines below the title.
    pub about: Vec<String>,
    /// The result, such as `1-0`, if it is known.
    pub result: Option<String>,
    /// Name, accuracy in per cent, average loss in centipawns, and errors of each player.
    pub players: Vec<Vec<String>>,
    /// Index of the position that is shown first.
    pub at: usize,
    /// Indices of the positions of the game.
    pub game: Vec<usize>,
    /// The positions; the start position is the first.
    pub spots: Vec<Spot>,
    /// Labels of the lines of equal score, with White's winning chances.
    pub scale: Vec<(String, f64)>,
}

impl Shown {
    /// Returns the HTML element that adds this game to a page.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON.
    pub(super) fn element(&self) -> serde_json::Result<String> {
        // The data must not contain the end tag of the script.
        let data = serde_json::to_string(self)?.replace('<', "\\u003c");
        Ok(format!("<script type=\"application/json\" class=\"game\">{data}</script>\n"))
    }
}

/// A position of the page. Scores are from White's point of view.
#[derive(Debug, Default, Serialize)]
pub(super) struct Spot {
    pub fen: String,
    /// The move that leads here, with its move number.
    pub san: Option<String>,
    /// Index of the position before that move.
    pub from: Option<usize>,
    /// Indices of the positions shown below this one. In a game, the main line comes first. In a
    /// tree, the best move comes first.
    pub children: Vec<usize>,
    /// Squares of the move that leads here.
    last: Option<[String; 2]>,
    /// The score as text, such as `+0.35`.
    score: Option<String>,
    /// White's winning chances, 0 to 1.
    share: Option<f64>,
    /// Depth of the last search in plies.
    pub depth: u32,
    /// Why the position needs no search.
    pub over: Option<&'static str>,
    /// Whether the move that leads here is pinned: growth follows it whatever its score.
    pub pinned: bool,
    /// The annotation symbol of the move, such as `??`.
    pub mark: &'static str,
    /// Whether Lancet judges the move to be an error, but its mark is not `?!`, `?` or `??`.
    pub other: bool,
    /// The player's clock after the move.
    clock: String,
    /// The comment on the move.
    pub comment: String,
    pub moves: Vec<Choice>,
    /// The best line as text.
    line: String,
    /// Squares of the first move of the best line.
    best: Option<[String; 2]>,
}

/// A move of a position.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    san: String,
    score: Option<String>,
    /// Index of the position after the move, if it is shown.
    to: Option<usize>,
    note: String,
}

impl Choice {
    pub(super) fn new(
        position: &Position,
        m: Move,
        white: Option<Score>,
        to: Option<usize>,
        note: &str,
    ) -> Choice {
        let (san, score) = (numbered(position, Some(m)), white.map(notation::pawns));
        Choice { san, score, to, note: note.to_owned() }
    }
}

impl Spot {
    /// Creates a spot from a position. `from` has the index and the position before it, and the
    /// move between them (`None` for a null move).
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

    /// Records whether Lancet judges the move that leads here to be an error. Call this after
    /// `annotate`, which sets the mark of the move.
    pub(super) const fn judge(&mut self, is_error: bool) {
        self.other = is_error && !matches!(self.mark.as_bytes(), b"?!" | b"?" | b"??");
    }

    /// Sets the mark, the clock and the comment of the move that leads here. The comment consists
    /// of the game's other annotation symbols and comments, followed by Lancet's comments.
    pub(super) fn annotate(&mut self, items: &[Item]) {
        self.mark = Item::judgement(items).and_then(Nag::sign).unwrap_or_default();
        let (mut texts, mut ours) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Nag(Nag(1..=6)) | Item::Variation(_) => {}
                Item::Nag(nag) => texts.extend(nag.sign().map(str::to_owned)),
                Item::Comment(text) => {
                    let (commands, text) = pgn::split_comment(text);
                    let clock = commands.iter().find_map(|command| command.strip_prefix("[%clk "));
                    if let Some(clock) = clock {
                        self.clock = clock.trim_end_matches(']').to_owned();
                    }
                    if is_verdict(&commands, &text) {
                        ours.push(format!("Lancet: {text}"));
                    } else if !text.is_empty() {
                        texts.push(text);
                    }
                }
            }
        }
        texts.extend(ours);
        self.comment = texts.join(" ");
    }
}

/// Returns the labels of the score curve's grid lines, in pawns, with White's winning chances.
pub(super) fn scale() -> Vec<(String, f64)> {
    let label = |pawns| if pawns == 0 { "0".to_owned() } else { format!("{pawns:+}") };
    [-10, -5, -2, 0, 2, 5, 10].map(|pawns| (label(pawns), winning_chances(100 * pawns))).to_vec()
}

fn numbered(before: &Position, m: Option<Move>) -> String {
    let san = m.map_or_else(|| San::Null.to_string(), |m| notation::san(before, m));
    notation::number(before) + &san
}

/// Returns the origin and destination squares of a move.
fn squares(m: Move, mode: CastlingMode) -> [String; 2] {
    let text = notation::move_text(m, mode);
    [&text[..2], &text[2..4]].map(str::to_owned)
}
