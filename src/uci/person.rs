//! Output for a person at a terminal: a coloured board, search results in columns, and messages in
//! plain words. Scores are from White's point of view.

use std::{collections::HashMap, sync::Mutex};

use console::{Style, Term};
use shakmaty::{CastlingMode, Color, File, Move, Rank, Role, Square};

use crate::{
    chess::{
        notation::{self, move_text, short},
        position::Position,
        score::{Score, is_decisive},
    },
    eval::wdl::Chances,
    play::report::{Bound, Info, Outcome},
    system::{stdio::plain, sync::lock},
};

/// The first line of a dialogue.
pub const GREETING: &str = concat!(
    "Lancet ",
    env!("CARGO_PKG_VERSION"),
    ", a chess engine. Type a move such as e4, 'help' for the commands, or 'quit' to end."
);

/// Assumed width of a terminal that does not report its width, in columns.
const DEFAULT_WIDTH: usize = 100;

/// The column headings for [`info`].
pub const HEADER: &str =
    "   depth      score     time    nodes  nodes/s  line (scores from White's point of view)";

/// The last reported line of each MultiPV rank.
#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<usize, (Score, Vec<Move>)>>);

impl Seen {
    /// Returns whether a line should be printed, and records it. Repeated lines with decisive
    /// scores are not printed: once a mate is found, hundreds of iterations report the same.
    pub fn is_news(&self, info: &Info) -> bool {
        let line = (info.score, info.pv.clone());
        let mut seen = lock(&self.0);
        let same = seen.get(&info.multipv) == Some(&line);
        seen.insert(info.multipv, line);
        !same || !is_decisive(info.score)
    }
}

/// Returns the terminal's width in columns.
pub fn width() -> usize {
    Term::stdout().size_checked().map_or(DEFAULT_WIDTH, |(_, columns)| usize::from(columns))
}

/// Formats a search report for the position `root`, truncated after a move to fit into `width`
/// columns. If `chances` are given, the percentages of White wins, draws and Black wins precede the
/// line.
pub fn info(info: &Info, root: &Position, chances: Option<Chances>, width: usize) -> String {
    let bound = match (info.bound, root.turn()) {
        (Bound::Exact, _) => ' ',
        (Bound::Lower, Color::White) | (Bound::Upper, Color::Black) => '\u{2265}',
        (Bound::Upper, Color::White) | (Bound::Lower, Color::Black) => '\u{2264}',
    };
    let score = notation::pawns(notation::white(info.score, root.turn()));
    let seconds = info.time.as_secs_f64();
    let rank = if info.multipv > 1 { format!("{:>2}.", info.multipv) } else { "   ".to_owned() };
    let mut text = format!(
        "{rank}{:>3}/{:<3} {bound}{score:>7} {:>8} {:>8} {:>8} ",
        info.depth,
        info.seldepth,
        duration(seconds),
        short(info.nodes as f64),
        short(info.nodes as f64 / seconds.max(1e-6)),
    );
    if let Some(Chances { win, draw, loss }) = chances {
        let (white, black) = if root.turn().is_white() { (win, loss) } else { (loss, win) };
        let percent =
            [white, draw, black].map(|permille| format!("{:.0}", f64::from(permille) / 10.0));
        text.push_str(&format!(" ({} %)", percent.join("/")));
    }
    let mut column = text.chars().count();
    for word in notation::words(root, &info.pv) {
        column += 1 + word.len();
        if column > width {
            break;
        }
        text.push(' ');
        text.push_str(&word);
    }
    text
}

/// Formats a line from `root` under a title: the line being searched, or the refutation of a move.
pub fn line(title: &str, root: &Position, moves: &[Move]) -> String {
    format!("   {title:>7}  {}", notation::line(root, moves))
}

/// Formats the result of a search.
pub fn best_move(outcome: &Outcome, root: &Position, mode: CastlingMode) -> String {
    let Some(best) = outcome.best else {
        return "There is no legal move.".to_owned();
    };
    let mut text = format!("Best: {} ({})", notation::san(root, best), move_text(best, mode));
    if let Some(reply) = outcome.ponder {
        text.push_str(&format!(", expecting {}", notation::san(&root.play(best), reply)));
    }
    Style::new().bold().apply_to(text).to_string()
}

/// Formats a move from `root`, preceded by `words`.
pub fn announced(words: &str, root: &Position, m: Move) -> String {
    let text = format!("{words} {}", notation::line(root, &[m]));
    Style::new().bold().apply_to(text).to_string()
}

/// Formats any other message.
pub fn remark(text: &str) -> String {
    Style::new().magenta().apply_to(plain(text)).to_string()
}

/// Draws the board with the side `below` at the bottom, in colours if requested and possible.
pub fn board(position: &Position, below: Color, colours: bool) -> Vec<String> {
    rows(position, below, colours && console::colors_enabled())
}

fn rows(position: &Position, below: Color, coloured: bool) -> Vec<String> {
    let (mut files, mut ranks) = (File::ALL, Rank::ALL);
    match below {
        Color::White => ranks.reverse(),
        Color::Black => files.reverse(),
    }
    let plain = |square| position.board().piece_at(square).map_or('.', shakmaty::Piece::char);
    let row = |rank: Rank| {
        let cells = files.map(|file| match Square::from_coords(file, rank) {
            square if coloured => cell(position, square),
            square => format!(" {}", plain(square)),
        });
        format!(" {} {}", rank.char(), cells.concat())
    };
    let letters = files.map(|file| file.char().to_string());
    let letters = format!("    {}", letters.join(if coloured { "  " } else { " " }));
    ranks.into_iter().map(row).chain([letters]).collect()
}

/// Draws a square in its colour; the square of a king in check is red.
fn cell(position: &Position, square: Square) -> String {
    let piece = position.board().piece_at(square);
    let checked = position.is_check()
        && piece.is_some_and(|p| p.role == Role::King && p.color == position.turn());
    // Red, light grey-cyan and dark grey-cyan in the 256-colour palette of terminals.
    let background = if checked {
        160
    } else if square.is_light() {
        109
    } else {
        66
    };
    let ink = if piece.is_some_and(|piece| piece.color.is_white()) { 231 } else { 16 };
    let style = Style::new().force_styling(true).bold().color256(ink).on_color256(background);
    let letter = piece.map_or(' ', shakmaty::Piece::char);
    style.apply_to(format!(" {letter} ")).to_string()
}

/// Formats a duration like `0.123 s`, `12.3 s` or `12:34`.
fn duration(seconds: f64) -> String {
    if seconds < 9.9995 {
        format!("{seconds:.3} s")
    } else if seconds < 99.95 {
        format!("{seconds:.1} s")
    } else {
        let whole = seconds as u64;
        format!("{}:{:02}", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::chess::notation::read_move;

    fn thought(root: &Position, moves: &[&str]) -> Info {
        let mut position = root.clone();
        let mut pv = Vec::new();
        for text in moves {
            let m = read_move(&position, text).unwrap();
            position = position.play(m);
            pv.push(m);
        }
        Info {
            depth: 9,
            seldepth: 14,
            score: 35,
            nodes: 123_456,
            time: Duration::from_millis(250),
            pv,
            ..Info::EMPTY
        }
    }

    #[test]
    fn search_info_is_aligned() {
        let root = Position::default();
        let line = thought(&root, &["e2e4", "e7e5", "g1f3"]);
        let text = info(&line, &root, None, 80);
        assert_eq!(text, "     9/14     +0.35  0.250 s     123k     494k  1. e4 e5 2. Nf3");
        assert_eq!(HEADER.find("line"), text.find("1. e4"));
        // Truncated after a move.
        assert!(info(&line, &root, None, text.len() - 1).ends_with("1. e4 e5"));
        // Black's scores are negated, and the bound with them.
        let root = root.play(line.pv[0]);
        let line = Info { bound: Bound::Lower, multipv: 2, ..thought(&root, &["c7c5"]) };
        let text = info(&line, &root, None, 80);
        assert!(text.starts_with(" 2.  9/14  \u{2264}  -0.35 "), "{text}");
        assert!(text.ends_with("1... c5"), "{text}");
        let chances = Some(Chances { win: 104, draw: 502, loss: 394 });
        assert!(info(&line, &root, chances, 80).ends_with(" (39/50/10 %) 1... c5"));
        assert_eq!(super::line("refuted", &root, &line.pv), "   refuted  1... c5");
    }

    #[test]
    fn a_repeated_mate_is_printed_once() {
        let root = Position::default();
        let line = thought(&root, &["e2e4"]);
        let mate = Info { score: crate::chess::score::MATE - 3, ..line.clone() };
        let second = Info { multipv: 2, ..mate.clone() };
        let seen = Seen::default();
        let news = [&line, &line, &mate, &second, &mate, &second, &line].map(|l| seen.is_news(l));
        assert_eq!(news, [true, true, true, true, false, false, true]);
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 999.0, 1000.0, 12_345.0, 999_500.0, 4.56e6, 456e6, 2e9];
        assert_eq!(
            numbers.map(short),
            ["0", "999", "1.00k", "12.3k", "1.00M", "4.56M", "456M", "2.00G"]
        );
        assert_eq!([0.1234, 12.34, 754.0].map(duration), ["0.123 s", "12.3 s", "12:34"]);
    }

    #[test]
    fn the_board_has_every_piece_in_colour() {
        let fen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
        let position = Position::from_fen(fen).unwrap();
        let lines = rows(&position, Color::White, true);
        let plain: Vec<_> = lines.iter().map(|l| console::strip_ansi_codes(l)).collect();
        assert_eq!(plain[0], " 8  r  n  b     k  b  n  r ");
        assert_eq!(plain[7], " 1  R  N  B  Q  K  B  N  R ");
        assert!(lines.iter().any(|line| line.contains("48;5;160m")), "the checked king");
        assert_eq!(lines.concat().matches("48;5;160m").count(), 1);
        let turned = rows(&position, Color::Black, false);
        assert_eq!(turned[0], " 1  R N B K Q B N R");
        assert_eq!(turned[4], " 5  . . . p . . . .");
        assert_eq!(turned[8], "    h g f e d c b a");
    }
}
