//! Games from a stream of PGN, one at a time, with true line numbers.
//!
//! Tags are read here. The rest of a game's text is collected and parsed by
//! pgn-reader, which skips words it does not know and comments behind a
//! semicolon, and says nothing about lines: so words are looked at beforehand,
//! signs become numbers, semicolons braces, and comments that begin with
//! [`MARK`] tell the visitor where it is.

use std::{
    io::{self, BufRead},
    ops::ControlFlow,
};

use pgn_reader::{Nag, RawComment, Reader, SanPlus, Skip, Visitor};
use shakmaty::{Outcome, san::San};

use super::{Broken, Game, Item, Line, Node};
use crate::chess::{
    lines::{BYTE_ORDER_MARK, decode},
    notation,
};

/// Begins a comment that holds a line number. No line has this character: see [`clean`].
const MARK: u8 = 1;

/// The first tag of a game, as a rule.
const EVENT: &[u8] = b"[Event \"";

/// Longest game, in bytes: beyond this, it is not a game.
const MAX_GAME: usize = 16 << 20;

/// Most variations inside each other: the tree is walked by recursion.
const MAX_NESTING: usize = 200;

/// Signs of other programs and of books, and the numbers that PGN has for them
/// (novelty and diagram: ChessBase's).
const SIGNS: &[(&str, u8)] = &[
    ("□", 7),
    ("=", 10),
    ("∞", 13),
    ("+=", 14),
    ("+/=", 14),
    ("⩲", 14),
    ("=+", 15),
    ("=/+", 15),
    ("⩱", 15),
    ("+/-", 16),
    ("±", 16),
    ("-/+", 17),
    ("∓", 17),
    ("+-", 18),
    ("-+", 19),
    ("N", 146),
    ("D", 220),
];

/// What says nothing that the moves do not: passed over.
const FILLERS: &[&str] = &["...", "..", ".", "…"];

/// The same, behind a move or glued to it.
const EN_PASSANT: &[&str] = &["e.p.", "ep", "ep."];

/// Results, and what they are in PGN.
const RESULTS: &[(&str, &str)] = &[
    ("1-0", "1-0"),
    ("1–0", "1-0"),
    ("0-1", "0-1"),
    ("0–1", "0-1"),
    ("1/2-1/2", "1/2-1/2"),
    ("1/2–1/2", "1/2-1/2"),
    ("1/2", "1/2-1/2"),
    ("½-½", "1/2-1/2"),
    ("½–½", "1/2-1/2"),
    ("*", "*"),
];

/// The games of a stream.
pub struct Games<R> {
    input: R,
    /// Lines handed out.
    line: u64,
    /// A line that belongs to the next game, and where in it that begins.
    next: Option<(Vec<u8>, usize)>,
    /// See [`warning`](Self::warning).
    warning: Option<Broken>,
}

impl<R: BufRead> Games<R> {
    /// Reads from the start of a stream.
    pub const fn new(input: R) -> Games<R> {
        Games { input, line: 0, next: None, warning: None }
    }

    /// The next line with its end, and where in it to begin; empty at the end of the stream.
    fn line(&mut self) -> io::Result<(Vec<u8>, usize)> {
        let next = self.next.take().map_or_else(|| read_line(&mut self.input), Ok)?;
        self.line += u64::from(!next.0.is_empty());
        Ok(next)
    }

    /// Takes a line back, from here on.
    fn put_back(&mut self, line: Vec<u8>, begin: usize) {
        self.line -= 1;
        self.next = Some((line, begin));
    }

    /// The first thing that is wrong with the last game although it can be used. It is told
    /// once.
    pub fn warning(&mut self) -> Option<Broken> {
        self.warning.take()
    }

    /// The next game, or why it cannot be used; `None` at the end. What is written between
    /// games is none.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read.
    pub fn next_game(&mut self) -> io::Result<Option<Result<Game, Broken>>> {
        loop {
            match self.next_text()? {
                Some(Ok(Game { tags, main, outcome: None, .. }))
                    if tags.is_empty() && main.moves.is_empty() =>
                {
                    // Somebody may have meant one.
                    if let Some(warning) = self.warning() {
                        return Ok(Some(Err(warning)));
                    }
                }
                game => return Ok(game),
            }
        }
    }

    fn next_text(&mut self) -> io::Result<Option<Result<Game, Broken>>> {
        let mut text = Text::default();
        let mut fault = None;
        loop {
            let (line, begin) = self.line()?;
            let rest = &line[begin..];
            if rest.is_empty() {
                break;
            }
            if text.ends_before(rest) {
                self.put_back(line, begin);
                break;
            }
            if text.tagged + text.bytes.len() + rest.len() > MAX_GAME {
                let reason = format!("longer than {} MiB: not a game", MAX_GAME >> 20);
                fault.get_or_insert(Broken { line: self.line, reason });
                text.tags.clear();
                text.bytes.clear();
                text.tagged = 0;
            }
            match text.add(rest, self.line) {
                Ok(0) => {}
                Ok(left) => {
                    text.warn(self.line, "a game begins on the line of the last result".to_owned());
                    let begin = line.len() - left;
                    self.put_back(line, begin);
                    break;
                }
                // A game is read to its end even if it is broken.
                Err(reason) => {
                    fault.get_or_insert(Broken { line: self.line, reason });
                }
            }
            if text.is_complete() {
                break;
            }
        }
        self.warning = text.warning.take();
        if let Some(broken) = fault {
            return Ok(Some(Err(broken)));
        }
        Ok(text.begin.map(|begin| text.parse(begin)))
    }
}

/// Reads a line with its end: LF, CR LF or CR. Longer ones than a game come in parts.
fn read_line(input: &mut impl BufRead) -> io::Result<(Vec<u8>, usize)> {
    let mut line = Vec::new();
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if line.ends_with(b"\r") {
            let paired = usize::from(bytes.starts_with(b"\n"));
            line.extend_from_slice(&bytes[..paired]);
            input.consume(paired);
            break;
        }
        let end = bytes.iter().position(|&byte| matches!(byte, b'\n' | b'\r'));
        let length = end.map_or(bytes.len(), |end| end + 1);
        line.extend_from_slice(&bytes[..length]);
        input.consume(length);
        if length == 0 || line.ends_with(b"\n") || line.len() > MAX_GAME {
            break;
        }
    }
    Ok((clean(line), 0))
}

/// A line without what only other programs need: byte order marks, which are in the middle
/// of files that were joined, control characters (a form feed, the end of a file of DOS), and
/// blanks at its end.
fn clean(mut line: Vec<u8>) -> Vec<u8> {
    if line.starts_with(BYTE_ORDER_MARK) {
        line.drain(..BYTE_ORDER_MARK.len());
    }
    for byte in &mut line {
        if byte.is_ascii_control() && !matches!(*byte, b'\t' | b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    let end = line.trim_ascii_end().len();
    if end + 1 < line.len() {
        line.truncate(end);
        line.push(b'\n');
    }
    line
}

/// The text of one game.
#[derive(Default)]
struct Text {
    tags: Vec<(String, String)>,
    /// Bytes of the tags.
    tagged: usize,
    /// What stands behind them, as pgn-reader shall see it.
    bytes: Vec<u8>,
    /// The line it begins on.
    begin: Option<u64>,
    /// A line began with the tag Event.
    event: bool,
    /// The tag Event was added.
    named: bool,
    /// There are moves, comments or a result already.
    movetext: bool,
    /// The last word was a result.
    ended: bool,
    /// A blank line followed it.
    closed: bool,
    /// The line of the open comment.
    comment: Option<u64>,
    /// The lines of the open variations.
    variations: Vec<u64>,
    /// The first thing that was left out.
    warning: Option<Broken>,
}

impl Text {
    /// Does this line begin another game?
    fn ends_before(&self, line: &[u8]) -> bool {
        let event = line.starts_with(EVENT);
        match self.comment {
            // Even a comment does not go on over the next game's tags.
            Some(_) => event,
            None => {
                let line = line.trim_ascii_start();
                let event = line.starts_with(EVENT);
                let moves = line.first().is_some_and(u8::is_ascii_alphanumeric);
                (self.movetext && (event || is_tag(line)))
                    || (self.event && event)
                    || (self.is_over() && moves)
            }
        }
    }

    /// A game ends with a blank line behind its result.
    const fn is_complete(&self) -> bool {
        self.closed
    }

    /// Its result has been read; comments may follow, but no moves.
    const fn is_over(&self) -> bool {
        self.ended && self.variations.is_empty()
    }

    fn warn(&mut self, line: u64, reason: String) {
        self.warning.get_or_insert(Broken { line, reason });
    }

    /// Adds a line. Returns how many bytes at its end belong to the next game.
    fn add(&mut self, mut line: &[u8], number: u64) -> Result<usize, String> {
        if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
            return Err("the file is UTF-16 text; save it as UTF-8".to_owned());
        }
        let text = line.trim_ascii();
        let blank = text.is_empty();
        if self.comment.is_none() {
            if blank {
                self.closed = self.is_over();
            }
            if blank || line.starts_with(b"%") {
                return Ok(0);
            }
            self.begin.get_or_insert(number);
            self.event |= text.starts_with(EVENT);
            if text.starts_with(b"[") {
                line = self.tags(line.trim_ascii_start(), number);
                if line.is_empty() {
                    return Ok(0);
                }
            }
            if !self.movetext {
                self.bytes.push(b'\n');
                self.movetext = true;
            }
            self.mark(number);
        }
        self.movetext_line(line, number)
    }

    /// Adds the tags of a line, usually one, and returns what stands behind them. Where
    /// the quotes inside a value are not escaped, as some programs write it, the line is
    /// taken for one tag.
    fn tags<'a>(&mut self, line: &'a [u8], number: u64) -> &'a [u8] {
        let before = (self.tags.len(), self.named);
        let mut rest = line;
        while let Some((name, value, behind)) = tag(rest, first_quote) {
            self.tag(name, value);
            rest = behind.trim_ascii_start();
        }
        let moves = !rest.starts_with(b"[") && !rest.starts_with(b"\"");
        if rest.len() < line.len() && moves {
            return rest;
        }
        let line = line.trim_ascii_end();
        match tag(line, last_quote) {
            Some((name, value, b"")) => {
                self.tags.truncate(before.0);
                self.named = before.1;
                self.tag(name, value);
            }
            _ => self.warn(number, format!("'{}' is not a tag: left out", shown(line))),
        }
        b""
    }

    /// Adds a tag. A second Event would begin another game when it is written.
    fn tag(&mut self, name: &[u8], value: &[u8]) {
        if name == b"Event" && std::mem::replace(&mut self.named, true) {
            return;
        }
        self.tagged += name.len() + value.len() + b"[ \"\"]\n".len();
        self.tags.push((decode(name), decode(&unescape(value))));
    }

    /// Tells the visitor which line this is.
    fn mark(&mut self, line: u64) {
        self.bytes.extend_from_slice(b" {");
        self.bytes.push(MARK);
        self.bytes.extend_from_slice(line.to_string().as_bytes());
        self.bytes.extend_from_slice(b"} ");
    }

    /// Adds moves and what is written about them. Returns as [`Text::add`] does.
    fn movetext_line(&mut self, mut rest: &[u8], number: u64) -> Result<usize, String> {
        loop {
            if let Some(begun) = self.comment {
                let end = rest.iter().position(|&byte| byte == b'}');
                self.bytes.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
                let Some(end) = end else { return Ok(0) };
                rest = &rest[end + 1..];
                self.bytes.push(b'}');
                self.comment = None;
                if begun != number {
                    self.mark(number);
                }
            }
            rest = rest.trim_ascii_start();
            let Some(&first) = rest.first() else { return Ok(0) };
            match first {
                b'{' => {
                    self.comment = Some(number);
                    self.bytes.extend_from_slice(b" {");
                }
                b';' => {
                    self.bytes.extend_from_slice(b" {");
                    let braces = |&byte: &u8| if matches!(byte, b'{' | b'}') { b'|' } else { byte };
                    self.bytes.extend(rest[1..].trim_ascii_end().iter().map(braces));
                    self.bytes.push(b'}');
                    return Ok(0);
                }
                b'(' if self.variations.len() == MAX_NESTING => {
                    return Err(format!("variations nested more than {MAX_NESTING} deep"));
                }
                b'(' => {
                    self.variations.push(number);
                    self.bytes.extend_from_slice(b" (");
                }
                b')' => {
                    if self.variations.pop().is_none() {
                        return Err("')' without '('".to_owned());
                    }
                    self.bytes.extend_from_slice(b") ");
                    // A result in it was not the game's.
                    self.ended = false;
                }
                b'}' => return Err("'}' without '{'".to_owned()),
                _ => {
                    let end = rest[1..].iter().position(|b| b" \t\r\n{}();$".contains(b));
                    let (word, tail) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
                    if self.word(word)? {
                        rest = tail;
                        continue;
                    }
                    if begins_game(word) {
                        return Ok(rest.len());
                    }
                    self.warn(number, format!("'{}' after the result: left out", shown(word)));
                    return Ok(0);
                }
            }
            rest = &rest[1..];
        }
    }

    /// Adds a word if it means something. False if it stands behind the result.
    fn word(&mut self, word: &[u8]) -> Result<bool, String> {
        let text = String::from_utf8_lossy(word);
        if let Some((_, result)) = RESULTS.iter().find(|(word, _)| *word == text) {
            self.ended = true;
            self.bytes.push(b' ');
            self.bytes.extend_from_slice(result.as_bytes());
            return Ok(true);
        }
        if let Some((_, nag)) = SIGNS.iter().find(|(sign, _)| *sign == text) {
            self.bytes.extend_from_slice(format!(" ${nag}").as_bytes());
            return Ok(true);
        }
        let sign = text.starts_with('$');
        if self.is_over() && !sign {
            return Ok(FILLERS.contains(&&*text));
        }
        let plain = plain(&text);
        if !is_known(&plain) {
            return Err(format!("'{}' is not a move", shown(word)));
        }
        // That of another game, in a variation.
        self.ended &= sign;
        self.bytes.push(b' ');
        self.bytes.extend_from_slice(plain.as_bytes());
        Ok(true)
    }

    fn parse(mut self, begin: u64) -> Result<Game, Broken> {
        let broken = |line, reason: &str| Err(Broken { line, reason: reason.to_owned() });
        if let Some(line) = self.comment {
            return broken(line, "a comment begins here and does not end");
        }
        if let Some(&line) = self.variations.last() {
            return broken(line, "a variation begins here and does not end");
        }
        if !self.movetext {
            // An empty text is no game to pgn-reader.
            self.mark(begin);
        }
        self.bytes.push(b'\n');
        let mut reader = Reader::new(self.bytes.as_slice());
        match reader.read_game(&mut Builder { begin, tags: self.tags }) {
            Ok(Some(game)) => Ok(game),
            Ok(None) => broken(begin, "no game"),
            Err(error) => broken(begin, &error.to_string()),
        }
    }
}

/// The beginning of what cannot be used.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}

/// A tag's name, its value as written, and what is behind it. `end` finds the
/// closing quote.
fn tag(line: &[u8], end: fn(&[u8]) -> Option<usize>) -> Option<(&[u8], &[u8], &[u8])> {
    let line = line.strip_prefix(b"[")?.trim_ascii_start();
    let (name, line) = line.split_at(line.iter().position(|&byte| byte == b'"')?);
    let name = name.trim_ascii_end();
    let is_name = |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.iter().all(is_name) {
        return None;
    }
    let (value, behind) = line[1..].split_at(end(&line[1..])?);
    let behind = behind[1..].trim_ascii_start().strip_prefix(b"]")?;
    Some((name, value, behind))
}

fn is_tag(line: &[u8]) -> bool {
    tag(line, first_quote).or_else(|| tag(line, last_quote)).is_some()
}

/// Can a game begin so, on the line of the last result?
fn begins_game(word: &[u8]) -> bool {
    let tag = matches!(word, [b'[', letter, ..] if letter.is_ascii_alphabetic());
    let number = word.iter().all(u8::is_ascii_digit);
    tag || !number && is_known(&plain(&String::from_utf8_lossy(word)))
}

/// The first quote that is not escaped.
fn first_quote(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|&byte| {
        let end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        end
    })
}

fn last_quote(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|&byte| byte == b'"')
}

/// A move as SAN has it, that others write as `Ng8-f6,`, `Qh1++`, `a8Q`, `exf6e.p.` or `o-o`
fn plain(word: &str) -> String {
    let word = word.trim_end_matches(',');
    let unsigned = word.trim_end_matches(['!', '?']);
    let unchecked = unsigned.trim_end_matches(['+', '#']);
    let (sign, check) = (&word[unsigned.len()..], &unsigned[unchecked.len()..]);
    let mut marks = EN_PASSANT.iter().filter_map(|mark| unchecked.strip_suffix(mark));
    let squares = marks.next().unwrap_or(unchecked);
    let san = notation::with_equals_sign(without_hyphen(squares).as_deref().unwrap_or(squares));
    let san = san.replace("o-o", "O-O").replace("-o", "-O");
    [&san, check.get(..1).unwrap_or_default(), sign].concat()
}

/// A move in long algebraic notation as SAN that names both squares: `Ng8f6` for
/// `Ng8-f6`. `None` for anything else.
fn without_hyphen(word: &str) -> Option<String> {
    let (from, to) = word.split_once('-')?;
    let is_square = |text: &[u8]| matches!(text, [b'a'..=b'h', b'1'..=b'8']);
    let from_square = &from.as_bytes()[from.len().checked_sub(2)?..];
    let to_square = to.as_bytes().get(..2)?;
    (is_square(from_square) && is_square(to_square)).then(|| [from, to].concat())
}

/// Is this a move, a move number, the number of a sign, or several of them in
/// one word?
fn is_known(word: &str) -> bool {
    if FILLERS.contains(&word)
        || EN_PASSANT.contains(&word)
        || matches!(word, "0-0" | "0-0-0" | "0–0" | "0–0–0")
    {
        return true;
    }
    if let Some(nag) = word.strip_prefix('$') {
        return nag.parse::<u8>().is_ok();
    }
    let behind = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = behind.len() < word.len() && (behind.is_empty() || behind.starts_with('.'));
    let rest = if numbered { behind.trim_start_matches('.') } else { word };
    let rest = rest.trim_end_matches(['!', '?']);
    let castling = rest.trim_end_matches(['+', '#']);
    rest.is_empty()
        || matches!(castling, "0-0" | "0-0-0")
        || SanPlus::from_ascii(rest.as_bytes()).is_ok_and(|san| !matches!(san.san, San::Put { .. }))
}

/// Builds the tree. The game's text is known to be well formed.
struct Builder {
    begin: u64,
    tags: Vec<(String, String)>,
}

/// The tree so far.
struct Movetext {
    line: u64,
    /// What was read of the open comment.
    comment: Vec<u8>,
    main: Line,
    /// The open variations, innermost last.
    variations: Vec<Line>,
    outcome: Option<Outcome>,
}

impl Movetext {
    fn current(&mut self) -> &mut Line {
        self.variations.last_mut().unwrap_or(&mut self.main)
    }

    fn add(&mut self, item: Item) {
        let line = self.current();
        line.moves.last_mut().map_or(&mut line.lead, |node| &mut node.items).push(item);
    }
}

/// A tag's value without the backslashes before quotes and backslashes.
fn unescape(mut value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(value.len());
    while let Some((&byte, rest)) = value.split_first() {
        let escaped = rest.first().filter(|&&next| byte == b'\\' && matches!(next, b'\\' | b'"'));
        plain.push(*escaped.unwrap_or(&byte));
        value = &rest[usize::from(escaped.is_some())..];
    }
    plain
}

impl Visitor for Builder {
    type Tags = ();
    type Movetext = Movetext;
    type Output = Game;

    fn begin_tags(&mut self) -> ControlFlow<Game> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Game, Movetext> {
        ControlFlow::Continue(Movetext {
            line: self.begin,
            comment: Vec::new(),
            main: Line::default(),
            variations: Vec::new(),
            outcome: None,
        })
    }

    fn san(&mut self, movetext: &mut Movetext, san: SanPlus) -> ControlFlow<Game> {
        let line = movetext.line;
        movetext.current().moves.push(Node { san, line, items: Vec::new() });
        ControlFlow::Continue(())
    }

    fn nag(&mut self, movetext: &mut Movetext, nag: Nag) -> ControlFlow<Game> {
        movetext.add(Item::Nag(nag));
        ControlFlow::Continue(())
    }

    fn partial_comment(&mut self, movetext: &mut Movetext, part: RawComment) -> ControlFlow<Game> {
        movetext.comment.extend_from_slice(part.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, movetext: &mut Movetext, last: RawComment) -> ControlFlow<Game> {
        movetext.comment.extend_from_slice(last.as_bytes());
        let text = decode(&std::mem::take(&mut movetext.comment));
        match text.strip_prefix(char::from(MARK)) {
            Some(line) => movetext.line = line.parse().unwrap_or(movetext.line),
            None => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                movetext.add(Item::Comment(text));
            }
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, movetext: &mut Movetext) -> ControlFlow<Game, Skip> {
        movetext.variations.push(Line::default());
        ControlFlow::Continue(Skip(false))
    }

    fn end_variation(&mut self, movetext: &mut Movetext) -> ControlFlow<Game> {
        if let Some(line) = movetext.variations.pop() {
            movetext.add(Item::Variation(line));
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, movetext: &mut Movetext, outcome: Outcome) -> ControlFlow<Game> {
        // Results of other games stand in variations.
        if movetext.variations.is_empty() {
            movetext.outcome = Some(outcome);
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, movetext: Movetext) -> Game {
        let Movetext { main, outcome, .. } = movetext;
        Game { line: self.begin, tags: std::mem::take(&mut self.tags), main, outcome }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All games of a text: moves and comments in one line, or the fault.
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

    fn show(line: &Line) -> String {
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
        // Without tags; without blank lines; without a result; an empty one.
        let text = "1. e4 e5\n\n2. Nf3 1-0\n\n1. d4 1/2-1/2\n[Event \"b\"]\n1. c4\n[Event \"c\"]\n\n\
                    [Event \"d\"]\n\n*\n\n\n1. Nf3 d5";
        assert_eq!(
            read(text.as_bytes()),
            ["1: e4 e5 Nf3 1-0", "5: d4 1/2-1/2", "6: c4 *", "8:  *", "10:  *", "15: Nf3 d5 *"]
        );
        // A game a line, as some dump them.
        let text = "1. e4 e5 1-0\n1. d4 d5 0-1 {resigns}\n; a remark\n $1\nc4 *\n1. Nf3 *";
        assert_eq!(
            read(text.as_bytes()),
            ["1: e4 e5 1-0", "2: d4 d5 {resigns} {a remark} $1 0-1", "5: c4 *", "6: Nf3 *"]
        );
        // What stands between games is none; a variation's result is not the game's.
        let text = "; by a program\n[Event \"a\"]\n\n1. e4 e5 (1... c5 1-0)\n\n2. Nf3 1/2\n\n{the next}\n\n\
                    [Event \"c\"]\n\n1. c4 ½–½\n\n; the end\n";
        assert_eq!(read(text.as_bytes()), ["2: e4 e5 (c5) Nf3 1/2-1/2", "10: c4 1/2-1/2"]);
        assert_eq!(read(b""), [""; 0]);
        assert_eq!(read(b"\n\n% only\n"), [""; 0]);
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
            ("1. e4 $999 *\n", "broken 4: '$999' is not a move"),
            ("<html>\n", "broken 4: '<html>' is not a move"),
        ] {
            let text = format!("[Event \"a\"]\n[Site \"b\"]\n\n{broken}[Event \"c\"]\n\n1. c4 *\n");
            let games = read(text.as_bytes());
            assert_eq!(games[0], message);
            assert_eq!(games.len(), 2, "{games:?}");
            assert!(games[1].ends_with(": c4 *"), "{games:?}");
        }
        let wide: Vec<u8> = b"\xff\xfe".iter().chain(b"[\0E\0\n\0").copied().collect();
        assert_eq!(read(&wide), ["broken 1: the file is UTF-16 text; save it as UTF-8"]);
        let long = [&b"[Event \"a\"]\n\n"[..], &vec![b'{'; MAX_GAME], b"\n*\n"].concat();
        assert!(read(&long)[0].ends_with("longer than 16 MiB: not a game"));
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
        ] {
            assert_eq!(tags(&format!("{line}\n\n1. e4 *\n")), Ok(expected), "{line}");
        }
        let game = |text: &str| Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
        assert_eq!(game("[Result \"1-0\"]\n\n1. e4\n").result(), "1-0");
        assert_eq!(game("[Result \"White won\"]\n\n1. e4\n").result(), "*");
        for line in ["[Event]", "[Event \"x]", "[Event \"x\"", "[\"x\"]", "[Two words \"x\"]", "["]
        {
            let warning = format!("1: '{line}' is not a tag: left out");
            let text = format!("{line}\n[A \"b\"]\n\n1. e4 *\n");
            assert_eq!(tags(&text), Ok(vec![pair("A", "b")]));
            assert_eq!(warned(&text), [("1: e4 *".to_owned(), Some(warning.clone()))]);
            // With nothing else, it is no game, but not passed over either.
            assert_eq!(read(line.as_bytes()), [format!("broken {warning}")]);
        }
    }

    /// All games of a text, and what is wrong with them.
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

    /// Nothing is lost by what is wrong beside it.
    #[test]
    fn games_are_read_as_far_as_they_can_be() {
        for (text, games) in [
            (
                "1. e4 e5\n[%clk 0:01]\n2. Nf3 *\n[White A]\n[Event \"b\"]\n1. c4 *",
                &[("1: e4 e5 Nf3 *", "2: '[%clk 0:01]' is not a tag: left out"), ("5: c4 *", "")][..],
            ),
            (
                "[A \"a\"]\n1. e4 1-0 1. d4 d5\n2. c4 * 1. c4 0-1 [B \"b\"] 1. f4 *\n",
                &[
                    ("1: e4 1-0", "2: a game begins on the line of the last result"),
                    ("2: d4 d5 c4 *", "3: a game begins on the line of the last result"),
                    ("3: c4 0-1", "3: a game begins on the line of the last result"),
                    ("3: f4 *", ""),
                ],
            ),
            (
                "1. e4 1-0 White resigns\n1. d4 1-0 ... $1 {c}\n1. c4 * 20 moves\n1. f4 *",
                &[
                    ("1: e4 1-0", "1: 'White' after the result: left out"),
                    ("2: d4 $1 {c} 1-0", ""),
                    ("3: c4 *", "3: '20' after the result: left out"),
                    ("4: f4 *", ""),
                ],
            ),
            // Form feeds between pages, and the end of a file of DOS.
            (
                "\x0c[Event \"a\"]\n\n1. e4\x0ce5\x0b{a\x0cb} *\n\x0c\n\x0c1. d4 *\n\x1a",
                &[("1: e4 e5 {a b} *", ""), ("5: d4 *", "")],
            ),
            ("1. e4 e5 2.o-o o-o-o+ 3. O-o *", &[("1: e4 e5 O-O O-O-O+ O-O *", "")]),
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
        for word in [
            "12.", "12...", "12...Nf6", "3.e4", "e8=Q+!?", "O-O-O#", "0-0", "--", "Z0", "$3", "!!",
            "e.p.", "Ng8f6", "Bb2xc3",
        ] {
            assert!(is_known(word), "{word}");
        }
        for word in ["e9", "Kxe", "hello", "1.x", "$", "$256", "P@e4", "é", "12x"] {
            assert!(!is_known(word), "{word}");
        }
        // Signs are kept; what is passed over does not disturb the moves.
        assert_eq!(
            read("1. e4 N e5 += 2. Nf3 D ± Nc6 e.p. (2... d6 = ) ! +- 1-0".as_bytes()),
            ["1: e4 $146 e5 $14 Nf3 $220 $16 Nc6 (d6 $10) $1 $18 1-0"]
        );
        assert_eq!(
            read(b"1. e2-e4 Ng8-f6+!? 2.Bf1-b5 (2. O-O e7-e8=Q#) Ke8xf8 0-1"),
            ["1: e2e4 Ng8f6+ $5 Bf1b5 (O-O e7e8=Q#) Ke8xf8 0-1"]
        );
        for word in ["1-0", "--", "O-O", "e9-e4", "-e4", "e4-", "e2-e", "\u{e9}-e4", "e4-\u{e9}1"] {
            assert_eq!(without_hyphen(word), None);
        }
        assert_eq!(read(b"1. e4 c5 {G\xf6teborg} 1-0"), ["1: e4 c5 {Göteborg} 1-0"]);
        // Nothing passes for a line number that is not one.
        assert_eq!(read(b"1. e4 {\x017} c5 ; \x018\n1-0"), ["1: e4 {7} c5 {8} 1-0"]);
    }

    #[test]
    fn moves_as_others_write_them() {
        for (word, san) in [
            ("a8Q+", "a8=Q+"),
            ("a7a8q", "a7a8=Q"),
            ("a7-a8N#!?", "a7a8=N#!?"),
            ("Qh1++", "Qh1+"),
            ("exf6e.p.", "exf6"),
            ("5.exf6ep.+!", "5.exf6+!"),
            ("e5,", "e5"),
            ("b1c3", "b1c3"),
            ("O-O,", "O-O"),
        ] {
            assert_eq!(plain(word), san);
            assert!(is_known(san), "{san}");
        }
        for word in ["12.", "...", "$3", "!!", "+-", "Nf3", "0-0-0", "Bb1"] {
            assert!(is_known(&plain(word)) == is_known(word), "{word}");
        }
        assert_eq!(read(b"1. b1c3, e7e5, 2. Nd5++ exd5ep *"), ["1: b1c3 e7e5 Nd5+ exd5 *"]);
    }

    /// Megabytes of one thing, each of which took time that grew with the square of them.
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
        let short = "[B \"\"]\n".repeat(100_000);
        let tags = one(&format!("[A \"{value}\"]\n{short}\n1. e4 *")).tags;
        assert_eq!((tags.len(), &tags[0].1), (100_001, &value));
    }

    /// Files put together by `cat`, from programs of all kinds.
    #[test]
    fn marks_indents_and_line_ends() {
        let game = |white: &str| format!("\u{feff}[White \"{white}\"]\n\n1. e4 e5 1-0\n\n");
        let joined = format!("{}{}\u{feff}1. d4 d5 *\n", game("A"), game("B"));
        let games = ["1: e4 e5 1-0", "5: e4 e5 1-0", "9: d4 d5 *"];
        assert_eq!(read(joined.as_bytes()), games);
        for end in ["\r", "\r\n"] {
            assert_eq!(read(joined.replace('\n', end).as_bytes()), games, "{end:?}");
        }
        // Half a line at a time, which parts CR from LF.
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
