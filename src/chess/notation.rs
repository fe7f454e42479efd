//! Reads and writes moves as text: UCI notation, SAN, and the variants of SAN in test suites. Also
//! writes variations with move numbers, scores in pawns, and large counts in short form.

use shakmaty::{
    CastlingMode, Color, Move, Position as _, Rank, Role,
    san::{San, SanPlus},
    uci::UciMove,
};

use crate::chess::{
    fen::FenError,
    position::{Position, START_FEN},
    score::{Score, is_decisive, mate_distance},
};

/// The errors from parsing a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The text is not a move in the expected notation.
    #[error("'{text}' is not a move: expected one like {expected}")]
    Unreadable {
        /// The text as given.
        text: String,
        /// Examples of moves in the expected notation.
        expected: &'static str,
    },
    /// The move is not legal in this position.
    #[error("illegal move '{text}': {reason}")]
    Illegal {
        /// The text as given.
        text: String,
        /// Why the move is illegal.
        reason: String,
    },
    /// Several legal moves match.
    #[error("'{text}' is ambiguous: {}", .fitting.join(" or "))]
    Ambiguous {
        /// The text as given.
        text: String,
        /// All matching moves, in SAN.
        fitting: Vec<String>,
    },
}

/// The errors from parsing a sequence of moves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MovesError {
    /// The start position cannot be read.
    #[error(transparent)]
    Start(#[from] FenError),
    /// A move cannot be read or is illegal.
    #[error("{error} (in '{fen}')")]
    Move {
        /// The error of the move.
        error: MoveError,
        /// The position before the move.
        fen: String,
    },
}

/// Reads a legal move in UCI notation. In every mode, castling may be written as the king's own
/// move (e1g1) or as king takes rook (e1h1). The promotion piece may be in upper or lower case, and
/// may follow a `=`, as in `e7e8=Q`.
///
/// # Errors
///
/// If the text is not a move, or the move is illegal.
pub fn read_move(position: &Position, text: &str) -> Result<Move, MoveError> {
    let plain = text.replacen('=', "", 1).to_ascii_lowercase();
    match UciMove::from_ascii(plain.as_bytes()) {
        Ok(uci) => find(position, uci, text),
        Err(_) => Err(MoveError::Unreadable { text: text.to_owned(), expected: "e2e4 or e7e8q" }),
    }
}

fn find(position: &Position, uci: UciMove, text: &str) -> Result<Move, MoveError> {
    // Accept Chess960 castling written as the king's own move.
    let castling = |m: &Move| m.is_castle() && UciMove::from_standard(*m) == uci;
    let found = uci.to_move(position.chess()).ok();
    found
        .or_else(|| position.legal_moves().into_iter().find(castling))
        .ok_or_else(|| MoveError::Illegal { text: text.to_owned(), reason: why_not(position, uci) })
}

/// Reads a legal move in any notation.
///
/// Tries in turn SAN (`Nbd7`, `exd8=Q#`, `O-O`, `0-0-0`), UCI notation (`e7e8q`, `e1g1`, `e1h1`)
/// and long algebraic notation (`Ng1-f3`, `e5xd6`). Ignores suffixes such as `+`, `#` and `!?` and
/// a trailing comma. Accepts a missing or superfluous `x`, a missing `=`, and the wrong case
/// (`nf3`, `E5`).
///
/// # Errors
///
/// If the text is not a move, the move is illegal, or several moves match.
pub fn read_any_move(position: &Position, text: &str) -> Result<Move, MoveError> {
    let word = text.trim_end_matches(['!', '?', '+', '#', ',']);
    let san = parse_san(word).filter(|san| *san != San::Null);
    if let Some(m) =
        only_one(san.map_or_else(Vec::new, |san| fitting(position, san)), position, text)?
    {
        return Ok(m);
    }
    let (role, squares) = match word.chars().next().and_then(Role::from_char) {
        Some(role) if word.starts_with(char::is_uppercase) => (Some(role), &word[1..]),
        _ => (None, word),
    };
    let plain: String = squares.chars().filter(|c| !matches!(c, '-' | 'x' | '=')).collect();
    let illegal = |reason| Err(MoveError::Illegal { text: text.to_owned(), reason });
    if let Ok(uci @ UciMove::Normal { from, .. }) = plain.to_ascii_lowercase().parse() {
        if role.is_some_and(|role| position.board().role_at(from) != Some(role)) {
            return illegal(format!("there is no such piece on {from}"));
        }
        return read_move(position, &plain).or_else(|_| illegal(why_not(position, uci)));
    }
    // `Bxc3` always means the bishop, but `bxc3` may also mean it.
    let others = if san.is_some() && role.is_some() { Vec::new() } else { other_cases(word) };
    let moves = others.iter().flat_map(|&san| fitting(position, san)).collect();
    match only_one(moves, position, text)? {
        Some(m) => Ok(m),
        None if san.iter().chain(&others).any(|&san| lacks_promotion(position, san)) => {
            illegal(format!("expected a promotion piece, as in {word}=Q"))
        }
        None if san.is_some() || !others.is_empty() => illegal(why_none(position)),
        None => {
            let expected = "Nf3 or g1f3";
            Err(MoveError::Unreadable { text: text.to_owned(), expected })
        }
    }
}

/// Returns the only move of the list, or `None` if the list is empty.
fn only_one(moves: Vec<Move>, position: &Position, text: &str) -> Result<Option<Move>, MoveError> {
    if moves.len() < 2 {
        return Ok(moves.first().copied());
    }
    let fitting = moves.iter().map(|&m| plain_san(position, m)).collect();
    Err(MoveError::Ambiguous { text: text.to_owned(), fitting })
}

/// Reads a word as SAN in lower case, and in lower case with an initial capital.
fn other_cases(word: &str) -> Vec<San> {
    let lower = word.to_ascii_lowercase();
    let capital = lower.get(..1).map(|first| first.to_ascii_uppercase() + &lower[1..]);
    let words = [Some(lower), capital].into_iter().flatten().filter(|other| other != word);
    words.filter_map(|word| parse_san(&word)).filter(|san| *san != San::Null).collect()
}

/// Reads SAN without `+` or `#`. Accepts variants that other programs write: castling as `0-0` or
/// `o-o`, promotions as `e8Q` or `e7e8q`, and long algebraic notation (`Ng8-f6`).
pub(super) fn parse_san(word: &str) -> Option<San> {
    let castling = word.replace(['0', 'o'], "O");
    let word = match word.split_once('-') {
        _ if castling.starts_with("O-O") => castling,
        Some((from, to)) if !from.is_empty() && !to.is_empty() => [from, to].concat(),
        _ => word.to_owned(),
    };
    let san = San::from_ascii(with_equals_sign(&word).as_bytes()).ok()?;
    (!matches!(san, San::Put { .. })).then_some(san)
}

/// Adds a missing `=` to promotions: changes `e8Q` to `e8=Q`, and `e7e8q` to `e7e8=Q`.
fn with_equals_sign(word: &str) -> String {
    match word.char_indices().next_back() {
        Some((at, 'Q' | 'R' | 'B' | 'N' | 'q' | 'r' | 'b' | 'n'))
            if word[..at].ends_with(['1', '8']) =>
        {
            format!("{}={}", &word[..at], word[at..].to_ascii_uppercase())
        }
        _ => word.to_owned(),
    }
}

/// Returns the legal moves that match, whether or not they are written as captures.
fn fitting(position: &Position, san: San) -> Vec<Move> {
    let fits = |m: &Move| match san {
        San::Normal { role, file, rank, to, promotion, .. } => {
            San::Normal { role, file, rank, capture: m.is_capture(), to, promotion }.matches(*m)
        }
        san => san.matches(*m),
    };
    position.legal_moves().into_iter().filter(fits).collect()
}

/// Returns whether a move is illegal only because it has no promotion piece.
fn lacks_promotion(position: &Position, san: San) -> bool {
    let San::Normal { role, file, rank, capture, to, promotion: None } = san else { return false };
    let promotion = Some(Role::Queen);
    !fitting(position, San::Normal { role, file, rank, capture, to, promotion }).is_empty()
}

/// Returns the reason why `uci` is illegal.
fn why_not(position: &Position, uci: UciMove) -> String {
    let UciMove::Normal { from, to, promotion } = uci else {
        return "null moves and drops are not legal".to_owned();
    };
    if position.legal_moves().is_empty() {
        return why_none(position);
    }
    let us = position.turn();
    let Some(piece) = position.board().piece_at(from) else {
        return format!("there is no piece on {from}");
    };
    if piece.color != us {
        return format!(
            "the piece on {from} is {}'s, but {} is to move",
            color_name(!us),
            color_name(us)
        );
    }
    let promotes = piece.role == Role::Pawn && matches!(to.rank(), Rank::First | Rank::Eighth);
    if promotes && promotion.is_none() {
        return format!("expected a promotion piece, as in {from}{to}q");
    }
    if !promotes && promotion.is_some() {
        return "not a promotion".to_owned();
    }
    why_none(position)
}

/// Returns the reason why no piece can make the move.
fn why_none(position: &Position) -> String {
    if position.legal_moves().is_empty() {
        return "the game is over".to_owned();
    }
    let us = color_name(position.turn());
    if position.is_check() {
        return format!("{us} is in check, and this move does not answer the check");
    }
    format!("no {us} piece can make this move")
}

/// Returns the name of a side: `White` or `Black`.
pub const fn color_name(color: Color) -> &'static str {
    if color.is_white() { "White" } else { "Black" }
}

/// Removes the number and the dots before a move, as in `1.e4` and `12...Nf6`. Returns an empty
/// string for a number alone, as in `12.`, and for a result.
pub fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.trim_start_matches(['.', '…']) {
        "" => "",
        _ if matches!(word, "1-0" | "0-1" | "1/2-1/2" | "*") => "",
        // The zeros of `0-0` are not a move number.
        word_after if rest.starts_with(['.', '…']) => word_after,
        _ => word,
    }
}

/// Reads moves from a position, in any notation, with or without numbers: `1. e4 e5 2.Nf3`.
///
/// # Errors
///
/// If a move cannot be read or is illegal. The error is that of the first such move.
pub fn read_moves(start: &Position, text: &str) -> Result<Vec<Move>, MovesError> {
    let mut position = start.clone();
    let mut moves = Vec::new();
    for word in text.split_whitespace().map(without_number).filter(|word| !word.is_empty()) {
        let m = read_any_move(&position, word)
            .map_err(|error| MovesError::Move { error, fen: position.fen() })?;
        position = position.play(m);
        moves.push(m);
    }
    Ok(moves)
}

/// Reads a FEN or `startpos`, optionally followed by the word `moves` and moves from that position.
/// After `startpos`, the word `moves` may be left out.
///
/// # Errors
///
/// If the position or a move cannot be read.
pub fn read_line(text: &str) -> Result<(Position, Vec<Move>), MovesError> {
    let text = text.trim();
    let (fen, moves) = match text.strip_prefix("startpos") {
        Some(moves) => (START_FEN, moves.trim_start().trim_start_matches("moves")),
        None => text.split_once(" moves").unwrap_or((text, "")),
    };
    let start = Position::from_fen(fen)?;
    let moves = read_moves(&start, moves)?;
    Ok((start, moves))
}

/// Returns a move in UCI notation. `mode` selects the notation of castling.
pub fn move_text(m: Move, mode: CastlingMode) -> String {
    UciMove::from_move(m, mode).to_string()
}

/// Returns a legal move in SAN, without suffix.
pub fn plain_san(position: &Position, m: Move) -> String {
    San::from_move(position.chess(), m).to_string()
}

/// Returns a legal move in SAN, with `+` or `#`.
pub fn san(position: &Position, m: Move) -> String {
    SanPlus::from_move(position.chess().clone(), m).to_string()
}

/// Returns the number of a move in `position`: `12. ` for White, `12... ` for Black.
pub fn number(position: &Position) -> String {
    let dots = if position.turn().is_white() { "." } else { "..." };
    format!("{}{dots} ", position.chess().fullmoves())
}

/// Returns a variation in SAN, one string for each move: `12... Nf6`, `13. Bb5+`, `c6`. The first
/// move and every move of White have a number.
pub fn words(position: &Position, moves: &[Move]) -> Vec<String> {
    let mut position = position.clone();
    let mut words = Vec::with_capacity(moves.len());
    for &m in moves {
        let numbered = words.is_empty() || position.turn().is_white();
        let number = if numbered { number(&position) } else { String::new() };
        words.push(number + &san(&position, m));
        position = position.play(m);
    }
    words
}

/// Returns a variation in SAN: `12... Nf6 13. Bb5+ c6`.
pub fn line(position: &Position, moves: &[Move]) -> String {
    words(position, moves).join(" ")
}

/// Converts a score from the side to move's point of view to White's.
pub const fn white(score: Score, turn: Color) -> Score {
    if turn.is_white() { score } else { -score }
}

/// Returns a score as text. Usually it is in pawns: `+0.35`. A mate is in full moves: `#3`, or
/// `#-3` if the side that the score belongs to is mated. A tablebase win is `won`, and a loss is
/// `lost`.
pub fn pawns(score: Score) -> String {
    match mate_distance(score) {
        // The mate is on the board.
        Some(0) => if score > 0 { "#0" } else { "#-0" }.to_owned(),
        Some(moves) => format!("#{moves}"),
        None if is_decisive(score) => if score > 0 { "won" } else { "lost" }.to_owned(),
        None => format!("{:+.2}", f64::from(score) / 100.0),
    }
}

/// Returns a count with its noun: `1 line`, `2 lines`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns a number of at least 1000 rounded to three significant digits, with a suffix: `12.3k`,
/// `4.56M`. The largest suffix is `G`. Rounds a smaller number to a whole one: `999`.
pub fn short(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.into_iter().find(|(size, _)| number >= 0.9995 * size) {
        Some((size, unit)) => {
            let scaled = number / size;
            let digits = if scaled < 9.995 { 2 } else { usize::from(scaled < 99.95) };
            format!("{scaled:.digits$}{unit}")
        }
        None => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode::{Chess960, Standard};

    use super::*;
    use crate::chess::score::{MATE, TABLEBASE_WIN};

    #[test]
    fn lines_with_and_without_numbers() {
        let start = Position::default();
        let read = |text: &str| read_moves(&start, text).map(|moves| line(&start, &moves));
        for text in [
            "e4 e5 Nf3",
            "1. e4 e5 2. Nf3 *",
            "1.e4 1...e5 2.Nf3",
            "1. e4 1... e5 g1f3",
            "1. e2e4 1... e5! 2. Nf3 1/2-1/2",
        ] {
            assert_eq!(read(text).unwrap(), "1. e4 e5 2. Nf3");
            for start in ["startpos", "startpos moves", START_FEN] {
                let moves = if start == START_FEN { " moves" } else { "" };
                let (_, moves) = read_line(&format!(" {start}{moves} {text}")).unwrap();
                assert_eq!(moves.len(), 3);
            }
        }
        assert_eq!(read("").unwrap(), "");
        assert!(read("O-O").unwrap_err().to_string().starts_with("illegal move 'O-O': "));
        assert!(read("1. e4 0-0").is_err() && read("1. e4 17").unwrap() == "1. e4");
        assert!(read_line("startpost").is_err() && read_line("startpos e5").is_err());
        assert_eq!(without_number("0-0-0"), "0-0-0");
        let error = |text: &str| read_line(text).unwrap_err().to_string();
        assert!(error("8/8/8 w").starts_with("unreadable FEN '8/8/8 w'"));
        let illegal = error("startpos moves 1. e4 e5 2. Nf6");
        let expected =
            "illegal move 'Nf6': no White piece can make this move (in 'rnbqkbnr/pppp1ppp";
        assert!(illegal.starts_with(expected), "{illegal}");
    }

    fn reads(fen: &str, words: &[&str]) {
        let position = Position::from_fen(fen).unwrap();
        let first = read_any_move(&position, words[0]).unwrap();
        for word in words {
            assert_eq!(read_any_move(&position, word), Ok(first), "{word}");
        }
    }

    #[test]
    fn every_notation() {
        reads(
            "r3k2r/8/8/8/8/5N2/8/R3K2R w KQkq - 0 1",
            &["O-O", "0-0", "O-O+", "o-o", "e1g1", "e1h1", "Ke1-g1", "Ke1g1"],
        );
        reads("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", &["O-O-O", "0-0-0!", "e8c8", "e8a8"]);
        reads("1k6/4P3/8/8/8/8/8/4K3 w - - 0 1", &["e8=Q+", "e8Q", "e7e8q", "e7-e8=Q", "e7e8Q"]);
        reads(
            "4k3/8/8/3pP3/8/5N2/8/4K3 w - d6 0 1",
            &["exd6", "exd6,", "e5d6", "e5xd6!?", "e5-d6"],
        );
        reads("4k3/8/8/8/8/5N2/8/4K3 w - - 0 1", &["Nd4", "Nf3d4", "Nf3-d4", "f3d4", "Nfd4??"]);
        reads("4k3/8/8/8/3p4/5N2/8/4K3 w - - 0 1", &["Nxd4", "Nd4", "Nf3xd4", "f3d4"]);
        // A bishop on the b file, not a pawn.
        reads("4k3/8/8/8/8/2p5/1B6/4K3 w - - 0 1", &["Bxc3", "b2c3", "Bb2xc3", "bxc3", "BC3"]);
        // Moves in the wrong case. In the last position, `bxc3` is the pawn's move.
        reads("4k3/8/8/8/8/5N2/8/4K3 w - - 0 1", &["Nd4", "nd4", "ND4", "nf3d4", "NF3-D4"]);
        reads("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", &["exd6", "EXD6", "Exd6"]);
        reads("4k3/8/8/8/8/2p5/1P6/B3K3 w - - 0 1", &["b2c3", "bxc3"]);
        // Chess960: the rook passes the king, which stays on c1.
        reads("4k3/8/8/8/8/8/8/1RK5 w B - 0 1", &["O-O-O", "c1b1", "0-0-0"]);
    }

    #[test]
    fn wrong_moves_say_why() {
        let fen = "4k3/8/8/8/8/1N3N2/8/4K3 w - - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let error = |word: &str| read_any_move(&position, word).unwrap_err().to_string();
        assert_eq!(error("Nd4"), "'Nd4' is ambiguous: Nbd4 or Nfd4");
        assert_eq!(error("Nxd4!"), "'Nxd4!' is ambiguous: Nbd4 or Nfd4");
        for (word, reason) in [
            ("Ke5", "no White piece can make this move"),
            ("O-O", "no White piece can make this move"),
            ("e4", "no White piece can make this move"),
            ("e1e3", "no White piece can make this move"),
            ("bd4", "no White piece can make this move"),
            ("E4", "no White piece can make this move"),
            ("Bf3d4", "there is no such piece on f3"),
            ("a1a2", "there is no piece on a1"),
            ("e8-e7", "the piece on e8 is Black's, but White is to move"),
        ] {
            assert_eq!(error(word), format!("illegal move '{word}': {reason}"));
        }
        for (fen, word, reason) in [
            ("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e8", "expected a promotion piece, as in e8=Q"),
            (
                "3n4/4P1k1/8/8/8/8/8/4K3 w - - 0 1",
                "exd8",
                "expected a promotion piece, as in exd8=Q",
            ),
            ("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "d8", "no White piece can make this move"),
            ("4R1k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "h6", "the game is over"),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "e7e5", "the game is over"),
        ] {
            let position = Position::from_fen(fen).unwrap();
            let error = read_any_move(&position, word).unwrap_err().to_string();
            assert_eq!(error, format!("illegal move '{word}': {reason}"));
        }
        for word in ["", "id", "Nd9", "--", "\u{e9}", "N\u{e9}", "N", "+"] {
            let expected = format!("'{word}' is not a move: expected one like Nf3 or g1f3");
            assert_eq!(error(word), expected);
        }
    }

    #[test]
    fn castling_in_either_notation_and_mode() {
        let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for mode in [Standard, Chess960] {
            let position = Position::from_fen_in(fen, mode).unwrap();
            for (a, b) in [("e1g1", "e1h1"), ("e1c1", "E1A1")] {
                let m = read_move(&position, a).unwrap();
                assert!(m.is_castle());
                assert_eq!(read_move(&position, b), Ok(m));
            }
        }
        // The king is on d1, so d1c1 is a king move, and b1 is not a castling square.
        let position = |fen: &str, mode| Position::from_fen_in(fen, mode).unwrap();
        let shuffled = position("1r1k3r/8/8/8/8/8/8/R2K3R w HAhb - 0 1", Chess960);
        assert!(!read_move(&shuffled, "d1c1").unwrap().is_castle());
        assert!(read_move(&shuffled, "d1a1").unwrap().is_castle());
        assert!(read_move(&shuffled, "d1g1").unwrap().is_castle());
        assert!(read_move(&shuffled, "d1b1").is_err());
        // Castling with a rook next to the king, in both notations.
        let beside = position("4k3/8/8/8/8/8/8/4KR2 w F - 0 1", Chess960);
        assert!(read_move(&beside, "e1f1").unwrap().is_castle());
        assert!(read_move(&beside, "e1g1").unwrap().is_castle());
    }

    #[test]
    fn promotions_however_written() {
        let position = Position::from_fen("8/P6k/8/8/8/8/8/K7 w - - 0 1").unwrap();
        for text in ["a7a8q", "a7a8Q", "a7a8=Q", "A7A8=q"] {
            assert_eq!(read_move(&position, text).unwrap().promotion(), Some(Role::Queen));
        }
        assert_eq!(read_move(&position, "a7a8n").unwrap().promotion(), Some(Role::Knight));
        for text in ["a7a8k", "a7a8p", "Q@a8", "", "a7a8qq", "a7\u{fffd}8"] {
            assert!(read_move(&position, text).is_err(), "{text}");
        }
    }

    #[test]
    fn lines_are_numbered_as_in_books() {
        let fen = "r1bqkbnr/pppp1Qpp/2n5/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4";
        let mated = Position::from_fen(fen).unwrap();
        assert_eq!(number(&mated), "4... ");
        let mut position = Position::default();
        let mut moves = Vec::new();
        for text in ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"] {
            moves.push(read_move(&position, text).unwrap());
            position = position.play(moves[moves.len() - 1]);
        }
        let start = Position::default();
        assert_eq!(line(&start, &moves), "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#");
        let black = start.play(moves[0]);
        assert_eq!(line(&black, &moves[1..4]), "1... e5 2. Qh5 Nc6");
        assert_eq!(line(&start, &[]), "");
    }

    #[test]
    fn nouns_follow_their_numbers() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "line")), ["0 lines", "1 line", "2 lines"]);
    }

    #[test]
    fn scores() {
        let texts = [0, 35, -1234, MATE - 3, -MATE + 3, -MATE, TABLEBASE_WIN, -TABLEBASE_WIN + 1];
        assert_eq!(
            texts.map(pawns),
            ["+0.00", "+0.35", "-12.34", "#3", "#-3", "#-0", "won", "lost"]
        );
        assert_eq!([white(35, Color::White), white(35, Color::Black)], [35, -35]);
    }
}
