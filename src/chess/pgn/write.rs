//! Writes games as PGN in the style of the export format, with the moves wrapped at 79 columns (PGN
//! standard, 8.2.1).

use std::fmt::Write as _;

use super::{Game, Item, Variation};

/// Maximum width of lines with moves, in columns.
const WIDTH: usize = 79;

/// Returns the text of a game, with a blank line at its end. `ply` is the number of plies before
/// the first move, according to the move number of the start position. It is 0 if White begins with
/// move 1, and 1 if Black does.
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
    let mut words = Vec::new();
    add_variation(&game.main, ply, &mut words);
    words.push(game.result());
    let mut columns = 0;
    for word in words {
        let length = word.chars().count();
        // Even in a comment, a line that starts with "[Event" would start another game, and other
        // programs ignore a line that starts with '%'.
        let bound = word == "[Event" || word.starts_with('%');
        if columns > 0 && columns + 1 + length > WIDTH && !bound {
            text.push('\n');
            columns = 0;
        } else if columns > 0 {
            text.push(' ');
            columns += 1;
        }
        text.push_str(&word);
        columns += length;
    }
    text.push_str("\n\n");
    text
}

fn add_variation(line: &Variation, ply: usize, words: &mut Vec<String>) {
    add_items(&line.lead, ply, words);
    let mut numbered = true;
    for (m, ply) in line.moves.iter().zip(ply..) {
        if ply.is_multiple_of(2) {
            words.push(format!("{}.", ply / 2 + 1));
        } else if numbered {
            words.push(format!("{}...", ply / 2 + 1));
        }
        words.push(m.san.to_string());
        add_items(&m.items, ply, words);
        // Black's move needs a number after comments and variations, but not after glyphs.
        numbered = m.items.iter().any(|item| !matches!(item, Item::Nag(_)));
    }
}

/// Adds the annotations after the move at ply `ply`.
fn add_items(items: &[Item], ply: usize, words: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Nag(nag) => words.push(nag.to_string()),
            Item::Comment(text) => add_comment(text, words),
            Item::Variation(line) => {
                let first = words.len();
                add_variation(line, ply, words);
                match words.get_mut(first) {
                    Some(word) => word.insert(0, '('),
                    None => words.push("(".to_owned()),
                }
                words.last_mut().into_iter().for_each(|word| word.push(')'));
            }
        }
    }
}

fn add_comment(text: &str, words: &mut Vec<String>) {
    words.push("{".to_owned());
    for word in text.split_whitespace() {
        match words.last_mut() {
            // Do not break lines inside a command such as [%eval 0.35].
            Some(command) if command.starts_with("[%") && !command.ends_with(']') => {
                command.push(' ');
                command.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words.push("}".to_owned());
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
        for word in ["[Event \"x\"]", "%eval"] {
            let text = write(&read(&format!("1. e4 {{ {}{word} }} *", "word ".repeat(15))), 0);
            assert!(text.contains(&format!(" {word} }} *")), "{text}");
        }
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
        fn written_games_read_the_same(line in any_line(3), ply in 0..300_usize) {
            let game = read(&format!("[White \"x\"]\n\n{line} 0-1\n"));
            let text = write(&game, ply);
            let mut again = read(&text);
            // Only the line numbers of the moves may differ.
            let strip = |game: &mut Game| strip_lines(&mut game.main);
            let mut game = game;
            strip(&mut game);
            strip(&mut again);
            prop_assert_eq!(&again, &game, "{}", text);
            // Only a word that must not start a line may make a line longer.
            let fits = |row: &str| {
                let last = row.rsplit(' ').next().unwrap();
                row.chars().count() <= WIDTH + 10 || last.starts_with('%')
            };
            prop_assert!(text.lines().all(fits), "{}", text);
            prop_assert!(!text.contains("\n%"), "{}", text);
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
