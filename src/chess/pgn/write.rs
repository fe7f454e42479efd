//! Games as PGN text: export format, lines of at most 80 columns.

use std::fmt::Write as _;

use shakmaty::Color;

use super::{Game, Item, Variation};

/// Longest line of moves.
const WIDTH: usize = 80;

/// The text of a game, with a blank line at its end. `ply` is the number of
/// half-moves before the first move, as the start position's move number has
/// it: 0 in a usual game, 1 if Black begins move 1.
pub fn write(game: &Game, ply: usize) -> String {
    let mut text = String::new();
    for (name, value) in &game.tags {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{name} \"{value}\"]");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let mut movetext = Movetext::default();
    movetext.line(&game.main, ply);
    movetext.word(&game.result());
    text.push_str(&movetext.text);
    text.push_str(&movetext.row);
    text.push_str("\n\n");
    text
}

/// Words being filled into rows.
#[derive(Default)]
struct Movetext {
    text: String,
    row: String,
    /// Columns of `row`.
    columns: usize,
    /// The next word follows without a space.
    glue: bool,
}

impl Movetext {
    fn word(&mut self, word: &str) {
        let length = word.chars().count();
        let space = !self.row.is_empty() && !self.glue;
        // A row that begins so would begin another game, even in a comment.
        if space && self.columns + 1 + length > WIDTH && word != "[Event" {
            self.text.push_str(&self.row);
            self.text.push('\n');
            self.row.clear();
            self.columns = 0;
        } else if space {
            self.row.push(' ');
            self.columns += 1;
        }
        self.row.push_str(word);
        self.columns += length;
        self.glue = false;
    }

    fn line(&mut self, line: &Variation, ply: usize) {
        self.items(&line.lead, ply);
        let mut numbered = true;
        for (node, ply) in line.moves.iter().zip(ply..) {
            let (number, turn) = (ply / 2 + 1, Color::from_white(ply.is_multiple_of(2)));
            if turn.is_white() {
                self.word(&format!("{number}."));
            } else if numbered {
                self.word(&format!("{number}..."));
            }
            self.word(&node.san.to_string());
            self.items(&node.items, ply);
            // Black's move needs a number behind anything but a sign.
            numbered = node.items.iter().any(|item| !matches!(item, Item::Nag(_)));
        }
    }

    /// What stands behind the move of half-move `ply`.
    fn items(&mut self, items: &[Item], ply: usize) {
        for item in items {
            match item {
                Item::Nag(nag) => self.word(&nag.to_string()),
                Item::Comment(text) => self.comment(text),
                Item::Variation(line) => {
                    self.word("(");
                    self.glue = true;
                    self.line(line, ply);
                    self.glue = true;
                    self.word(")");
                }
            }
        }
    }

    fn comment(&mut self, text: &str) {
        self.word("{");
        // A command such as [%eval 0.35] stays in one row.
        let mut command = String::new();
        for word in text.split_whitespace() {
            if !command.is_empty() {
                command.push(' ');
            }
            command.push_str(word);
            if !command.starts_with("[%") || word.ends_with(']') {
                self.word(&command);
                command.clear();
            }
        }
        if !command.is_empty() {
            self.word(&command);
        }
        self.word("}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::pgn::read::Games;

    fn read(text: &str) -> Game {
        Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap()
    }

    #[test]
    fn export_format() {
        let text = "[Event \"a \\\"b\\\" \\\\ c\"]\n[Result \"1-0\"]\n\n\
                    { lead } 1. e4 $5 { one two } (1. d4 d5 $14 (1... Nf6)) { b } 1... e5 2. Nf3 $1\n\
                    Nc6 1-0\n\n";
        assert_eq!(write(&read(text), 0), text);
        let black = write(&read("1... e5 2. Nf3 *"), 1);
        assert_eq!(black, "1... e5 2. Nf3 *\n\n");
        let command = format!("1. e4 {{ {} [%eval 0.35] }} *", "word ".repeat(13));
        assert!(write(&read(&command), 0).contains("\n[%eval 0.35] } *"));
        let event = format!("1. e4 {{ {}[Event \"x\"] }} *", "word ".repeat(13));
        assert!(!write(&read(&event), 0).contains("\n[Event"));
    }

    fn any_items(depth: u32) -> BoxedStrategy<String> {
        let plain = prop_oneof![
            Just(String::new()),
            (0..=255_u8).prop_map(|nag| format!("${nag} ")),
            "\\{[ a-zA-Z0-9.,%\\[\\]]{0,40}\\}".prop_map(|comment| comment + " "),
        ];
        if depth == 0 {
            return plain.boxed();
        }
        let variation = any_line(depth - 1).prop_map(|line| format!("({line}) "));
        prop::collection::vec(prop_oneof![3 => plain, 1 => variation], 0..3)
            .prop_map(|items| items.concat())
            .boxed()
    }

    fn any_line(depth: u32) -> BoxedStrategy<String> {
        let san = prop::sample::select(vec!["e4", "Nf3+", "exd8=Q#", "O-O-O", "R1xa2", "--"]);
        let node = (san, any_items(depth)).prop_map(|(san, items)| format!("{san} {items}"));
        prop::collection::vec(node, 1..12).prop_map(|nodes| nodes.concat()).boxed()
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(line in any_line(3), ply in 0..300_usize) {
            let game = read(&format!("[White \"x\"]\n\n{line} 0-1\n"));
            let text = write(&game, ply);
            let mut again = read(&text);
            // Only the lines that moves stand on differ.
            let strip = |game: &mut Game| strip_lines(&mut game.main);
            let mut game = game;
            strip(&mut game);
            strip(&mut again);
            prop_assert_eq!(&again, &game, "{}", text);
            prop_assert!(text.lines().all(|row| row.chars().count() <= WIDTH + 10), "{}", text);
        }
    }

    fn strip_lines(line: &mut Variation) {
        for node in &mut line.moves {
            node.line = 0;
            for item in &mut node.items {
                if let Item::Variation(line) = item {
                    strip_lines(line);
                }
            }
        }
    }
}
