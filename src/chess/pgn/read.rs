//! Reads games from a stream of PGN, one at a time, with their line numbers.
//!
//! The parser accepts common deviations from the standard: concatenated files, castling with zeros,
//! the symbols of chess books, and games without tags, blank lines or results. It reads a broken
//! game to its end, so that it finds the next one.

use std::io::{self, BufRead};

use shakmaty::{
    KnownOutcome, Outcome,
    san::{SanPlus, Suffix},
};

use super::{AnnotatedMove, Broken, Game, Item, Nag, Variation};
use crate::chess::{
    lines::{TextError, decode, is_utf16, read_line},
    notation,
};

/// The start of the tag that usually comes first in a game.
const EVENT: &[u8] = b"[Event \"";

/// Maximum length of a game, in bytes. A longer text is not a game.
const MAX_GAME: usize = 16 << 20;

/// Maximum nesting of variations. The functions that walk the tree are recursive, and deeper trees
/// could overflow the stack.
const MAX_NESTING: usize = 200;

/// Numeric annotation glyphs, and the symbols that people, other programs and books write for them.
/// The symbols for novelty and diagram are those of ChessBase.
const SIGNS: &[(u8, &[&str])] = &[
    (1, &["!"]),
    (2, &["?"]),
    (3, &["!!"]),
    (4, &["??"]),
    (5, &["!?"]),
    (6, &["?!"]),
    (7, &["□"]),
    (10, &["="]),
    (13, &["∞"]),
    (14, &["+=", "+/=", "⩲"]),
    (15, &["=+", "=/+", "⩱"]),
    (16, &["+/-", "±"]),
    (17, &["-/+", "∓"]),
    (18, &["+-"]),
    (19, &["-+"]),
    (146, &["N"]),
    (220, &["D"]),
];

/// Marks of en passant captures. They are ignored, because the moves contain the same information.
const EN_PASSANT: &[&str] = &["e.p.", "ep", "ep."];

/// A reader of the games in a stream.
pub struct Games<R> {
    input: R,
    /// The current line, with its line ending.
    text: Vec<u8>,
    /// The number of bytes of the current line that have been parsed.
    begin: usize,
    /// The number of the current line, from 1.
    line: u64,
    /// The first skipped fault in the last game.
    warning: Option<Broken>,
}

impl<R: BufRead> Games<R> {
    /// Reads from the start of a stream.
    pub const fn new(input: R) -> Games<R> {
        Games { input, text: Vec::new(), begin: 0, line: 0, warning: None }
    }

    /// Returns the first skipped fault in the last game. A second call returns `None`. If another
    /// fault makes the game unusable, [`next_game`](Self::next_game) returns that one.
    pub fn warning(&mut self) -> Option<Broken> {
        self.warning.take()
    }

    /// Returns the next game, or the reason why it cannot be used. Returns `None` at the end of the
    /// stream. Comments between games are ignored.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read.
    pub fn next_game(&mut self) -> io::Result<Option<Result<Game, Broken>>> {
        loop {
            let mut parser = self.read_game()?;
            self.warning = parser.warning.take();
            let game = parser.finish();
            if !matches!(&game, Some(Ok(Game { tags, main, outcome: None, .. }))
                if tags.is_empty() && main.moves.is_empty())
            {
                return Ok(game);
            }
            // A faulty tag without moves may be meant as a game, so report it.
            if let Some(warning) = self.warning() {
                return Ok(Some(Err(warning)));
            }
        }
    }

    fn read_game(&mut self) -> io::Result<Parser> {
        let mut parser = Parser::default();
        while !parser.closed {
            if self.begin == self.text.len() {
                self.text = read_line(&mut self.input)?;
                self.begin = 0;
                self.line += 1;
            }
            let rest = &self.text[self.begin..];
            if rest.is_empty() || parser.ends_before(rest) {
                break;
            }
            let left = parser.add(rest, self.line);
            self.begin = self.text.len() - left;
            if left > 0 {
                break;
            }
        }
        Ok(parser)
    }
}

/// The part of a game that has been read.
#[derive(Default)]
struct Parser {
    /// The number of the current line.
    line: u64,
    /// The line on which the game starts.
    begin: Option<u64>,
    tags: Vec<(String, String)>,
    main: Variation,
    /// The open variations, innermost last, and the lines on which they start.
    variations: Vec<(u64, Variation)>,
    /// The open comment, and the line on which it starts.
    comment: Option<(u64, Vec<u8>)>,
    outcome: Option<Outcome>,
    /// Bytes read.
    length: usize,
    /// Whether the tag Event has been read.
    named: bool,
    /// Whether moves, comments or a result have been read.
    movetext: bool,
    /// Whether a blank line after the result has ended the game.
    closed: bool,
    /// The first fault that could be skipped.
    warning: Option<Broken>,
    /// The fault that makes the game unusable.
    fault: Option<Broken>,
}

impl Parser {
    /// Returns whether this line starts another game.
    fn ends_before(&self, line: &[u8]) -> bool {
        if self.comment.is_some() {
            // The tag Event starts a new game even inside an open comment.
            return line.starts_with(EVENT);
        }
        let line = line.trim_ascii_start();
        if line.starts_with(EVENT) {
            return self.movetext || self.named;
        }
        let moves = line.first().is_some_and(u8::is_ascii_alphanumeric);
        self.movetext && tag(line).is_some_and(|(name, ..)| !self.may_follow(name))
            || self.is_over() && moves
    }

    /// Returns whether a tag may follow the comments of this game: they came after other tags and
    /// before any move, and the game does not have the tag yet.
    fn may_follow(&self, name: &[u8]) -> bool {
        let moves = !self.main.moves.is_empty() || !self.variations.is_empty();
        let begun = moves || self.outcome.is_some() || self.fault.is_some();
        !begun && !self.tags.is_empty() && self.tags.iter().all(|(tag, _)| tag.as_bytes() != name)
    }

    /// Returns whether the result has been read and no variation is open. Comments and variations
    /// may follow, but no moves of the main line.
    const fn is_over(&self) -> bool {
        self.outcome.is_some() && self.variations.is_empty()
    }

    fn broken(&self, reason: impl Into<String>) -> Broken {
        Broken { line: self.line, reason: reason.into() }
    }

    fn warn(&mut self, reason: impl Into<String>) {
        if self.warning.is_none() {
            self.warning = Some(self.broken(reason));
        }
    }

    /// Parses a line. Returns the number of bytes at its end that belong to the next game.
    fn add(&mut self, line: &[u8], number: u64) -> usize {
        self.line = number;
        let blank = line.trim_ascii().is_empty();
        if self.comment.is_none() && (blank || line.starts_with(b"%")) {
            self.closed = blank && self.is_over();
            return 0;
        }
        self.length += line.len();
        if self.length > MAX_GAME {
            let mib = MAX_GAME >> 20;
            let broken = self.broken(format!("longer than {mib} MiB: skipped up to the next tag"));
            let fault = Some(self.fault.take().unwrap_or(broken));
            // Drop the contents. Only the next tag ends this game.
            *self = Parser { length: MAX_GAME, movetext: true, fault, ..Parser::default() };
            return 0;
        }
        let left = self.read(line);
        left.unwrap_or_else(|broken| {
            self.fault.get_or_insert(broken);
            // The rest of the line is dropped, but a result at its end still ends the game.
            let last = line.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next();
            if let Some(outcome) = last.and_then(|word| outcome(&plain(word))) {
                self.variations.clear();
                self.outcome = Some(outcome);
            }
            0
        })
    }

    fn read(&mut self, mut line: &[u8]) -> Result<usize, Broken> {
        if is_utf16(line) {
            return Err(self.broken(TextError::Utf16.to_string()));
        }
        if self.comment.is_none() {
            self.begin.get_or_insert(self.line);
            line = line.trim_ascii_start();
            if line.starts_with(b"[") {
                line = self.read_tags(line);
                if line.is_empty() {
                    return Ok(0);
                }
            }
            self.movetext = true;
        }
        self.read_movetext(line)
    }

    /// Parses the tags of a line, usually one, and returns the rest of the line.
    fn read_tags<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        let mut rest = line;
        while let Some((name, value, behind)) = tag(rest) {
            rest = behind.trim_ascii_start();
            // Skip a second Event tag: in an output file, it would start another game.
            if name != b"Event" || !std::mem::replace(&mut self.named, true) {
                self.tags.push((decode(name), unescape(&decode(value))));
            }
        }
        if rest.starts_with(b"[") || rest.starts_with(b"\"") {
            self.warn(format!("'{}' is not a tag: ignored", shown(line.trim_ascii_end())));
            return b"";
        }
        rest
    }

    /// Parses moves and annotations. Returns the same as [`add`](Self::add).
    fn read_movetext(&mut self, mut rest: &[u8]) -> Result<usize, Broken> {
        loop {
            if let Some((_, text)) = &mut self.comment {
                let end = rest.iter().position(|&byte| byte == b'}');
                text.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
                let Some(end) = end else { return Ok(0) };
                rest = &rest[end + 1..];
                let text = std::mem::take(text);
                self.comment = None;
                self.add_comment(&text);
            }
            rest = rest.trim_ascii_start();
            let Some(&first) = rest.first() else { return Ok(0) };
            match first {
                b'{' => self.comment = Some((self.line, Vec::new())),
                b';' => {
                    // The comment will be written in braces, so it must not contain any.
                    let braces = |&byte: &u8| if matches!(byte, b'{' | b'}') { b'|' } else { byte };
                    self.add_comment(&rest[1..].iter().map(braces).collect::<Vec<_>>());
                    return Ok(0);
                }
                b'(' if self.variations.len() == MAX_NESTING => {
                    let reason = format!("variations nested more than {MAX_NESTING} deep");
                    return Err(self.broken(reason));
                }
                b'(' => self.variations.push((self.line, Variation::default())),
                b')' => match self.variations.pop() {
                    Some((_, line)) => self.add_item(Item::Variation(line)),
                    None => return Err(self.broken("')' without '('")),
                },
                b'}' => return Err(self.broken("'}' without '{'")),
                _ => {
                    let end = rest[1..].iter().position(|b| b" \t\r\n{}();$".contains(b));
                    let (word, tail) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
                    if self.read_word(word)? {
                        rest = tail;
                        continue;
                    }
                    if begins_game(word) {
                        self.warn("a game begins on the same line as the previous result");
                        return Ok(rest.len());
                    }
                    self.warn(format!("'{}' after the result: ignored", shown(word)));
                    return Ok(0);
                }
            }
            rest = &rest[1..];
        }
    }

    /// Parses a word. Returns `false` for an unexpected word after the result.
    fn read_word(&mut self, word: &[u8]) -> Result<bool, Broken> {
        let text = plain(word);
        if let Some(outcome) = outcome(&text) {
            // Variations may contain results of other games.
            if self.variations.is_empty() {
                self.outcome = Some(outcome);
            }
        } else if let Some(nag) = nag(&text) {
            self.add_item(Item::Nag(nag));
        } else if self.is_over() {
            return Ok(text.trim_start_matches(['.', '…']).is_empty());
        } else {
            let Some((san, signs)) = read_move(&text) else {
                let expected =
                    if text.starts_with('$') { "a NAG from $0 to $255" } else { "a move" };
                return Err(self.broken(format!("'{}' is not {expected}", shown(word))));
            };
            let line = self.line;
            let moves = san.map(|san| AnnotatedMove { san, line, items: Vec::new() });
            self.current().moves.extend(moves);
            for at in (0..signs.len()).step_by(2) {
                let sign = nag(&signs[at..signs.len().min(at + 2)]);
                sign.into_iter().for_each(|sign| self.add_item(Item::Nag(sign)));
            }
        }
        Ok(true)
    }

    fn add_comment(&mut self, text: &[u8]) {
        let text = decode(text).split_whitespace().collect::<Vec<_>>().join(" ");
        self.add_item(Item::Comment(text));
    }

    fn add_item(&mut self, item: Item) {
        let line = self.current();
        line.moves.last_mut().map_or(&mut line.lead, |node| &mut node.items).push(item);
    }

    /// Returns the innermost open variation, or the main line.
    fn current(&mut self) -> &mut Variation {
        self.variations.last_mut().map_or(&mut self.main, |(_, line)| line)
    }

    /// Returns the game, or the reason why it cannot be used. Returns `None` if there was no text.
    fn finish(self) -> Option<Result<Game, Broken>> {
        let comment = self.comment.map(|(line, _)| ("comment", line));
        let variation = self.variations.last().map(|&(line, _)| ("variation", line));
        let open = comment.or(variation).map(|(what, line)| Broken {
            line,
            reason: format!("a {what} begins here and does not end"),
        });
        if let Some(broken) = self.fault.or(open) {
            return Some(Err(broken));
        }
        let line = self.begin?;
        Some(Ok(Game { line, tags: self.tags, main: self.main, outcome: self.outcome }))
    }
}

/// Returns the start of a text, for an error message.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}

/// Splits a line into the name of its first tag, the value as written, and the rest. The value ends
/// at a quote followed by a closing bracket. Some programs do not escape quotes inside the value,
/// and others write a backslash before the last quote.
fn tag(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let line = line.strip_prefix(b"[")?;
    let (name, value) = line.split_at(line.iter().position(|&byte| byte == b'"')?);
    let (name, value) = (name.trim_ascii(), &value[1..]);
    let is_name = |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.iter().all(is_name) {
        return None;
    }
    let end = |at: usize| {
        let behind = value[at + 1..].trim_ascii_start().strip_prefix(b"]")?;
        Some((name, &value[..at], behind))
    };
    let mut escaped = false;
    let is_quote = |&at: &usize| {
        let quote = value[at] == b'"' && !escaped;
        escaped = value[at] == b'\\' && !escaped;
        quote
    };
    let last = || end(value.iter().rposition(|&byte| byte == b'"')?);
    (0..value.len()).filter(is_quote).find_map(end).or_else(last)
}

/// Removes the backslashes before quotes and backslashes in the value of a tag. Temporarily
/// replaces escaped backslashes with zero bytes, which no line contains.
fn unescape(value: &str) -> String {
    value.replace(r"\\", "\0").replace("\\\"", "\"").replace('\0', "\\")
}

/// Replaces dashes in a word with hyphens.
fn plain(word: &[u8]) -> String {
    String::from_utf8_lossy(word).replace(['–', '—'], "-")
}

/// Returns whether a word after the result can start a new game on the same line.
fn begins_game(word: &[u8]) -> bool {
    let tag = matches!(word, [b'[', letter, ..] if letter.is_ascii_alphabetic());
    let number = word.iter().all(u8::is_ascii_digit);
    tag || !number && read_move(&plain(word)).is_some()
}

fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "1/2" | "½-½" => Some(KnownOutcome::Draw.into()),
        _ => word.parse().ok(),
    }
}

impl Nag {
    /// Returns the symbol for this glyph, if there is one.
    pub fn sign(self) -> Option<&'static str> {
        SIGNS.iter().find(|&&(nag, _)| nag == self.0).map(|(_, signs)| signs[0])
    }
}

fn nag(word: &str) -> Option<Nag> {
    let sign = SIGNS.iter().find(|(_, signs)| signs.contains(&word)).map(|&(nag, _)| nag);
    sign.or_else(|| word.strip_prefix('$')?.parse().ok()).map(Nag)
}

/// Splits a word into its move and the symbols after it. There is no move if the word is only a
/// number. Accepts variants that other programs write: `12...Ng8-f6,`, `Qh1++`, `a8Q`, `exf6e.p.`
/// and `o-o`.
fn read_move(word: &str) -> Option<(Option<SanPlus>, &str)> {
    let word = word.trim_end_matches(',');
    let unsigned = word.trim_end_matches(['!', '?']);
    let signs = &word[unsigned.len()..];
    let san = unsigned.trim_end_matches(['+', '#']);
    let suffix = unsigned[san.len()..].chars().next().and_then(Suffix::from_char);
    let san = EN_PASSANT.iter().find_map(|mark| san.strip_suffix(mark)).unwrap_or(san);
    let san = match notation::without_number(san) {
        "" if suffix.is_none() => None,
        san => Some(SanPlus { san: notation::parse_san(san)?, suffix }),
    };
    Some((san, signs))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns all games of a text: moves and comments in one line, or the fault.
    fn read(text: &[u8]) -> Vec<String> {
        let mut games = Games::new(text);
        let mut all = Vec::new();
        while let Some(game) = games.next_game().unwrap() {
            all.push(match game {
                Ok(game) => format!("{}: {} {}", game.line, show(&game.main), game.result()),
                Err(broken) => format!("broken {broken}"),
            });
        }
        all
    }

    fn show(line: &Variation) -> String {
        let mut words: Vec<String> = line.lead.iter().map(show_item).collect();
        for node in &line.moves {
            words.push(node.san.to_string());
            words.extend(node.items.iter().map(show_item));
        }
        words.join(" ")
    }

    fn show_item(item: &Item) -> String {
        match item {
            Item::Nag(nag) => nag.to_string(),
            Item::Comment(text) => format!("{{{text}}}"),
            Item::Variation(line) => format!("({})", show(line)),
        }
    }

    #[test]
    fn everything_is_kept_in_order() {
        let text = "\u{feff}[Event \"a\"]\r\n[White \"\\\"X\\\"\"]\r\n\r\n{lead} 1.e4!? {one\r\n\r\n  two} \
                    (1. d4 d5 $14 (1... Nf6 {in}) ) {b} 1... e5 ; rest } of it\r\n% not this\r\n2. Nf3 Nc6 $10 *\r\n";
        assert_eq!(
            read(text.as_bytes()),
            [
                "1: {lead} e4 $5 {one two} (d4 d5 $14 (Nf6 {in})) {b} e5 {rest | of it} Nf3 Nc6 $10 *"
            ]
        );
        let game = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
        assert_eq!(game.tags[1], ("White".to_owned(), "\"X\"".to_owned()));
        let lines: Vec<u64> = game.main.moves.iter().map(|node| node.line).collect();
        assert_eq!(lines, [4, 6, 8, 8]);
    }

    #[test]
    fn games_end_where_they_end() {
        // Games without tags, without blank lines, without a result, and without moves.
        let text = "1. e4 e5\n\n2. Nf3 1-0\n\n1. d4 1/2-1/2\n[Event \"b\"]\n1. c4\n[Event \"c\"]\n\n\
                    [Event \"d\"]\n\n*\n\n\n1. Nf3 d5";
        assert_eq!(
            read(text.as_bytes()),
            ["1: e4 e5 Nf3 1-0", "5: d4 1/2-1/2", "6: c4 *", "8:  *", "10:  *", "15: Nf3 d5 *"]
        );
        // Files with one game on each line.
        let text = "1. e4 e5 1-0\n1. d4 d5 0-1 {resigns}\n; a remark\n $1\nc4 *\n1. Nf3 *";
        assert_eq!(
            read(text.as_bytes()),
            ["1: e4 e5 1-0", "2: d4 d5 {resigns} {a remark} $1 0-1", "5: c4 *", "6: Nf3 *"]
        );
        // Comments between games are not games. The result of a variation is not that of the game.
        let text = "; by a program\n[Event \"a\"]\n\n1. e4 e5 (1... c5 1-0)\n\n2. Nf3 1/2\n\n{the next}\n\n\
                    [Event \"c\"]\n\n1. c4 ½–½\n\n; the end\n";
        assert_eq!(read(text.as_bytes()), ["2: e4 e5 (c5) Nf3 1/2-1/2", "10: c4 1/2-1/2"]);
        assert_eq!(read(b""), [""; 0]);
        assert_eq!(read(b"\n\n% only\n"), [""; 0]);
        // Tags may follow a comment, but not a second time.
        for comment in ["; by", "{by}", "[Round \"1\"] ; by", "{b\n\ny} {by}"] {
            let text =
                format!("[Event \"a\"]\n[White \"b\"]\n{comment}\n[Black \"c\"]\n\n1. e4 *\n");
            let game = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
            assert_eq!((game.tag("White"), game.tag("Black")), (Some("b"), Some("c")), "{text}");
            assert_eq!(read(text.as_bytes()).len(), 1, "{text}");
            let text = format!("[White \"a\"]\n{comment}\n[White \"b\"]\n\n1. e4 *\n");
            assert_eq!(read(text.as_bytes()).len(), 2, "{text}");
        }
    }

    #[test]
    fn broken_games_name_the_line_and_the_next_is_read() {
        for (broken, message) in [
            ("1. e4 e5\n2. Nf33 Nc6 *\n", "broken 5: 'Nf33' is not a move"),
            ("1. e4 {x\ny\n*\n", "broken 4: a comment begins here and does not end"),
            ("1. e4\n(1. d4 *\n", "broken 5: a variation begins here and does not end"),
            ("1. e4 )\n", "broken 4: ')' without '('"),
            (
                &format!("1. e4 {}\n", "(".repeat(1 << 20)),
                "broken 4: variations nested more than 200 deep",
            ),
            ("1. e4 } *\n", "broken 4: '}' without '{'"),
            ("1. e4 $999 *\n", "broken 4: '$999' is not a NAG from $0 to $255"),
            ("<html>\n", "broken 4: '<html>' is not a move"),
        ] {
            let text = format!("[Event \"a\"]\n[Site \"b\"]\n\n{broken}[Event \"c\"]\n\n1. c4 *\n");
            let games = read(text.as_bytes());
            assert_eq!(games[0], message);
            assert_eq!(games.len(), 2, "{games:?}");
            assert!(games[1].ends_with(": c4 *"), "{games:?}");
        }
        // Without tags, the result of the broken game must be found.
        for broken in ["1. e4 Nf33 1-0", "1. e4 (1. d4 Xx) 1/2-1/2", "1. e4 } *"] {
            for between in ["\n", "\n\n"] {
                let games = read([broken, "1. d4 d5 0-1", "1. c4 *\n"].join(between).as_bytes());
                assert_eq!(games.len(), 3, "{games:?}");
                assert!(games[0].starts_with("broken 1: "), "{games:?}");
                assert!(games[1].ends_with(": d4 d5 0-1"), "{games:?}");
            }
        }
        let wide: Vec<u8> = b"\xff\xfe".iter().chain(b"[\0E\0\n\0").copied().collect();
        assert_eq!(read(&wide), ["broken 1: the file is UTF-16 text; save it as UTF-8"]);
        let long = [&b"[Event \"a\"]\n\n"[..], &vec![b'{'; MAX_GAME], b"\n*\n"].concat();
        assert!(read(&long)[0].ends_with("longer than 16 MiB: skipped up to the next tag"));
    }

    #[test]
    fn tags_of_other_programs() {
        let tags = |text: &str| {
            let game = Games::new(text.as_bytes()).next_game().unwrap().unwrap();
            game.map(|game| game.tags).map_err(|broken| broken.to_string())
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for (line, expected) in [
            ("[Event \"The \"Big\" One\"]", vec![pair("Event", "The \"Big\" One")]),
            (r#"[Event "a \"b\" \\ \c\"]"#, vec![pair("Event", r#"a "b" \ \c\"#)]),
            (r#"[Site "\\\\nas\\games"]"#, vec![pair("Site", r"\\nas\games")]),
            (r#"[Site "\\\"a"]"#, vec![pair("Site", r#"\"a"#)]),
            ("[ Event\t\"\" ]", vec![pair("Event", "")]),
            ("[A \"[x]\"] [B \"y\"]", vec![pair("A", "[x]"), pair("B", "y")]),
            ("[Event \"a\"] [Event \"b\"]", vec![pair("Event", "a")]),
            ("[A \"x\"y\"] [B \"C:\\\"]", vec![pair("A", "x\"y"), pair("B", "C:\\")]),
        ] {
            assert_eq!(tags(&format!("{line}\n\n1. e4 *\n")), Ok(expected), "{line}");
        }
        let game = |text: &str| Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
        assert_eq!(game("[Result \"1-0\"]\n\n1. e4\n").result(), "1-0");
        assert_eq!(game("[Result \"White won\"]\n\n1. e4\n").result(), "*");
        for line in ["[Event]", "[Event \"x]", "[Event \"x\"", "[\"x\"]", "[Two words \"x\"]", "["]
        {
            let warning = format!("1: '{line}' is not a tag: ignored");
            let text = format!("{line}\n[A \"b\"]\n\n1. e4 *\n");
            assert_eq!(tags(&text), Ok(vec![pair("A", "b")]));
            assert_eq!(warned(&text), [("1: e4 *".to_owned(), Some(warning.clone()))]);
            // A faulty tag without moves is not a game, but it is reported.
            assert_eq!(read(line.as_bytes()), [format!("broken {warning}")]);
        }
    }

    /// Returns all games of a text, with their warnings.
    fn warned(text: &str) -> Vec<(String, Option<String>)> {
        let mut games = Games::new(text.as_bytes());
        let mut all = Vec::new();
        while let Some(game) = games.next_game().unwrap() {
            let game = game.unwrap();
            let shown = format!("{}: {} {}", game.line, show(&game.main), game.result());
            all.push((shown, games.warning().map(|warning| warning.to_string())));
        }
        all
    }

    /// The parser keeps the valid parts of a faulty text.
    #[test]
    fn games_are_read_as_far_as_they_can_be() {
        for (text, games) in [
            (
                "1. e4 e5\n[%clk 0:01]\n2. Nf3 *\n[White A]\n[Event \"b\"]\n1. c4 *",
                &[("1: e4 e5 Nf3 *", "2: '[%clk 0:01]' is not a tag: ignored"), ("5: c4 *", "")][..],
            ),
            (
                "[A \"a\"]\n1. e4 1-0 1. d4 d5\n2. c4 * 1. c4 0-1 [B \"b\"] 1. f4 *\n",
                &[
                    ("1: e4 1-0", "2: a game begins on the same line as the previous result"),
                    ("2: d4 d5 c4 *", "3: a game begins on the same line as the previous result"),
                    ("3: c4 0-1", "3: a game begins on the same line as the previous result"),
                    ("3: f4 *", ""),
                ],
            ),
            (
                "1. e4 1-0 White resigns\n1. d4 1-0 ... $1 {c}\n1. c4 * 20 moves\n1. f4 *",
                &[
                    ("1: e4 1-0", "1: 'White' after the result: ignored"),
                    ("2: d4 $1 {c} 1-0", ""),
                    ("3: c4 *", "3: '20' after the result: ignored"),
                    ("4: f4 *", ""),
                ],
            ),
            // Form feeds between pages, and the end-of-file character of DOS.
            (
                "\x0c[Event \"a\"]\n\n1. e4\x0ce5\x0b{a\x0cb} *\n\x0c\n\x0c1. d4 *\n\x1a",
                &[("1: e4 e5 {a b} *", ""), ("5: d4 *", "")],
            ),
            ("1. e4 e5 2.o-o o-o-o+ 3. O-o *", &[("1: e4 e5 O-O O-O-O+ O-O *", "")]),
            (
                "1. e4 1—0 (1. d4 d5) {c}\n\n1. c4 *",
                &[("1: e4 (d4 d5) {c} 1-0", ""), ("3: c4 *", "")],
            ),
        ] {
            let expected: Vec<(String, Option<String>)> = games
                .iter()
                .map(|&(game, warning)| {
                    (game.to_owned(), Some(warning.to_owned()).filter(|text| !text.is_empty()))
                })
                .collect();
            assert_eq!(warned(text), expected, "{text}");
        }
        assert_eq!(read("1. e4 1-0 ".repeat(20_000).as_bytes()).len(), 20_000);
    }

    #[test]
    fn words_of_other_programs() {
        let is_known = |word: &str| nag(word).is_some() || read_move(word).is_some();
        for word in [
            "12.", "12...", "12...Nf6", "...", "…Nf6", "3.e4", "e8=Q+!?", "O-O-O#", "0-0", "--",
            "Z0", "$3", "!!", "e.p.", "Ng8f6", "Bb2xc3",
        ] {
            assert!(is_known(word), "{word}");
        }
        for word in [
            "e9", "Kxe", "hello", "1.x", "$", "$256", "P@e4", "é", "12x", "12.+", "e9-e4", "-e4",
            "e4-", "e2-e", "é-e4", "e4-é1",
        ] {
            assert!(!is_known(word), "{word}");
        }
        // Glyphs are kept, and marks that are ignored do not affect the moves.
        assert_eq!(
            read("1. e4 N e5 += 2. Nf3 D ± Nc6 e.p. (2... d6 = ) ! +- 1-0".as_bytes()),
            ["1: e4 $146 e5 $14 Nf3 $220 $16 Nc6 (d6 $10) $1 $18 1-0"]
        );
        assert_eq!(
            read(b"1. e2-e4 Ng8-f6+!? 2.Bf1-b5 (2. O-O e7-e8=Q#) Ke8xf8 0-1"),
            ["1: e2e4 Ng8f6+ $5 Bf1b5 (O-O e7e8=Q#) Ke8xf8 0-1"]
        );
        assert_eq!(read(b"1. e4 c5 {G\xf6teborg} 1-0"), ["1: e4 c5 {Göteborg} 1-0"]);
        // Control characters count as whitespace.
        assert_eq!(read(b"1. e4 {\x017} c5 ; \x018\n1-0"), ["1: e4 {7} c5 {8} 1-0"]);
    }

    #[test]
    fn moves_as_others_write_them() {
        for (word, text) in [
            ("a8Q+", "a8=Q+"),
            ("a7a8q", "a7a8=Q"),
            ("a7-a8N#!?", "a7a8=N# !?"),
            ("Qh1++", "Qh1+"),
            ("exf6e.p.", "exf6"),
            ("5.exf6ep.+!", "exf6+ !"),
            ("e5,", "e5"),
            ("b1c3", "b1c3"),
            ("5.0-0-0+", "O-O-O+"),
            ("O-O,", "O-O"),
            ("12.", ""),
            ("!!", "!!"),
        ] {
            let (san, signs) = read_move(word).unwrap();
            let san = san.map_or(String::new(), |san| format!("{san} "));
            assert_eq!(format!("{san}{signs}").trim_end(), text);
        }
        assert_eq!(read(b"1. b1c3, e7e5, 2. Nd5++ exd5ep *"), ["1: b1c3 e7e5 Nd5+ exd5 *"]);
    }

    /// Megabytes of one repeated element. Each of these once took quadratic time.
    #[test]
    fn long_games_are_read_in_one_go() {
        let one = |text: &str| Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
        let dots = format!("1. e4 {}e5 *", "... ".repeat(400_000));
        assert_eq!(read(dots.as_bytes()), ["1: e4 e5 *"]);
        let moves = one(&format!("1. e4 {} *", "Nf3 Nf6 ".repeat(100_000))).main.moves;
        assert_eq!(moves.len(), 200_001);
        let signs = one(&format!("1. e4 {} *", "$1 ! ".repeat(100_000))).main.moves[0].items.len();
        assert_eq!(signs, 200_000);
        let comments = one(&format!("1. e4 {} *", "{a} ".repeat(200_000)));
        assert_eq!(comments.main.moves[0].items.len(), 200_000);
        let words = "Göteborg ".repeat(200_000);
        let comment = one(&format!("1. e4 {{{words}}} *")).main.moves.remove(0).items;
        assert_eq!(comment, [Item::Comment(words.trim_end().to_owned())]);
        // A long tag, and many short ones.
        let value = "x".repeat(400_000);
        for end in ["\n", " "] {
            let short = format!("[B \"\"]{end}").repeat(100_000);
            let tags = one(&format!("[A \"{value}\"]\n{short}\n1. e4 *")).tags;
            assert_eq!((tags.len(), &tags[0].1), (100_001, &value));
        }
    }

    /// Files of various programs, joined by `cat`.
    #[test]
    fn marks_indents_and_line_ends() {
        let game = |white: &str| format!("\u{feff}[White \"{white}\"]\n\n1. e4 e5 1-0\n\n");
        let joined = format!("{}{}\u{feff}1. d4 d5 *\n", game("A"), game("B"));
        let games = ["1: e4 e5 1-0", "5: e4 e5 1-0", "9: d4 d5 *"];
        assert_eq!(read(joined.as_bytes()), games);
        for end in ["\r", "\r\n"] {
            assert_eq!(read(joined.replace('\n', end).as_bytes()), games, "{end:?}");
        }
        // Reads one byte at a time, so that CR and LF are in different reads.
        let bytes = joined.replace('\n', "\r\n").into_bytes();
        let mut halved = Games::new(io::BufReader::with_capacity(1, &bytes[..]));
        assert_eq!(halved.next_game().unwrap().unwrap().unwrap().tag("White"), Some("A"));
        assert_eq!(halved.next_game().unwrap().unwrap().unwrap().line, 5);

        let text = "  [Event \"a\"]\n\t[Result \"1-0\"]\n\n1. e4\n {x\n  [y]} *\n  [Event \"b\"] \
                    [White \"W\"] 1. d4 {[z]}\n1... d5 *\n";
        assert_eq!(read(text.as_bytes()), ["1: e4 {x [y]} *", "7: d4 {[z]} d5 *"]);
        let mut games = Games::new(text.as_bytes());
        let tags = games.next_game().unwrap().unwrap().unwrap().tags;
        assert_eq!(tags[1], ("Result".to_owned(), "1-0".to_owned()));
        assert_eq!(games.next_game().unwrap().unwrap().unwrap().tag("White"), Some("W"));
    }

    proptest! {
        #[test]
        fn any_bytes_end(text in prop::collection::vec(any::<u8>(), 0..2000)) {
            read(&text);
        }

        #[test]
        fn any_movetext_ends(text in "([ (){}\\[\\]\n;%$1*.\"a-hN-R0-9]{0,8}|\\[Event \"x\"\\]\n){0,60}") {
            read(text.as_bytes());
        }
    }
}
