//! The parts of commands that vampirc-uci cannot represent. [`Extension`] holds them beside a
//! message.
//!
//! The table in the tests lists lines that vampirc-uci's parser misreads or its messages cannot
//! represent. Lancet does not use that parser.
//!
//! For output see [`format`](super::format), which uses its own attributes for data that
//! vampirc-uci's attributes cannot represent.

use vampirc_uci::UciTimeControl;

use super::error::CommandError;

/// The parts of a command that its [`UciMessage`](vampirc_uci::UciMessage) cannot hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// `go`: the time controls after the first. A message holds only one, but the protocol combines
    /// them: to ponder, GUIs send `go ponder wtime ...`.
    pub controls: Vec<UciTimeControl>,
    /// Words that vampirc-uci cannot represent as moves, such as `0000`. In `position`, also all
    /// moves after the first such word; in `go searchmoves`, only these words.
    pub moves: Vec<String>,
    /// `go`: errors in the arguments. A number out of range is replaced by the nearest allowed one,
    /// and any other wrong argument is skipped.
    pub complaints: Vec<CommandError>,
}

#[cfg(test)]
mod tests {
    use vampirc_uci::{UciInfoAttribute, UciMessage, UciMove, UciSquare};

    use super::*;
    use crate::uci::command::{self, Command};

    /// The result of vampirc-uci's parser.
    enum Alone {
        Panics,
        /// The message `Unknown`.
        Unknown,
        /// A message that differs from the line, or has only a part of it.
        Reads(&'static str),
    }
    use Alone::{Panics, Reads, Unknown};

    /// Lines that vampirc-uci's parser does not read completely, its result, and Lancet's result.
    /// In Lancet's result, `+` precedes each part of the [`Extension`], and `!` each complaint.
    const TABLE: &[(&str, Alone, &str)] = &[
        // Decoding and words.
        ("\u{feff}uci", Unknown, "uci"),
        ("joho uci", Unknown, "uci"),
        ("\u{a0}uci", Unknown, "uci"),
        ("debug", Unknown, "debug on"),
        ("register", Unknown, "register later"),
        ("register name Me", Unknown, "register later"),
        ("go ", Panics, "go"),
        // Numbers: a message has eight bits for depth and moves, and the grammar accepts at most
        // twelve digits.
        (
            "go depth 256",
            Panics,
            "go depth 239 ! '256' after 'depth': expected a whole number from 1 to 239",
        ),
        (
            "go depth 1000",
            Reads("go depth 100 "),
            "go depth 239 ! '1000' after 'depth': expected a whole number from 1 to 239",
        ),
        (
            "go mate 300",
            Panics,
            "go mate 255 ! '300' after 'mate': expected a whole number from 1 to 255",
        ),
        (
            "go wtime 9 movestogo 300",
            Panics,
            "go wtime 9 movestogo 255 ! '300' after 'movestogo': \
             expected a whole number from 0 to 255",
        ),
        ("go nodes 1234567890123", Reads("go nodes 123456789012 "), "go nodes 1234567890123"),
        (
            "go movetime 1234567890123",
            Reads("go movetime 123456789012 "),
            "go movetime 999999999999 ! '1234567890123' after 'movetime': \
             expected a whole number from 0 to 999999999999",
        ),
        // Combinations: a message has one time control.
        ("go ponder wtime 9", Reads("go wtime 9 "), "go wtime 9 + go ponder"),
        ("go wtime 9 movetime 5", Reads("go wtime 9 "), "go wtime 9 + go movetime 5"),
        ("go movetime 5 infinite", Reads("go infinite "), "go movetime 5 + go infinite"),
        // Unexpected words, and everything after them.
        (
            "go depth 3 fast nodes 5",
            Reads("go depth 3 "),
            "go depth 3 nodes 5 ! 'fast' after 'go': expected a limit ('help go' lists them)",
        ),
        ("go depth x nodes 5", Unknown, "go nodes 5 ! 'x' after 'depth': expected a whole number"),
        (
            "go searchmoves e2e4 Nf3 d2d4",
            Reads("go  searchmoves e2e4 "),
            "go searchmoves e2e4 d2d4 + Nf3",
        ),
        // Moves.
        (
            "position startpos moves  e2e4",
            Reads("position startpos"),
            "position startpos moves e2e4",
        ),
        (
            "position startpos moves e2e4 0000 g1f3",
            Reads("position startpos moves e2e4"),
            "position startpos moves e2e4 + 0000 + g1f3",
        ),
        (
            "position startpos moves e7e8=Q a2a3",
            Reads("position startpos moves e7e8"),
            "position startpos moves e7e8q a2a3",
        ),
        (
            "position startpos moves E2E4",
            Reads("position startpos moves E2E4"),
            "position startpos moves e2e4",
        ),
        // FENs: the type holds any text, but the grammar accepts only standard chess.
        (
            "position fen 4k3/8/8/8/8/8/8/4K2R w H - 0 1",
            Unknown,
            "position fen 4k3/8/8/8/8/8/8/4K2R w H - 0 1",
        ),
        (
            "position fen 4k3/8/8/8/8/8/8/4K2R w K - moves e1g1",
            Unknown,
            "position fen 4k3/8/8/8/8/8/8/4K2R w K - moves e1g1",
        ),
        (
            "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 12345 moves e1g1",
            Reads("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1234"),
            "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 12345 moves e1g1",
        ),
        // Options.
        (
            "setoption name Hash value 64  ",
            Reads("setoption name Hash value 64  "),
            "setoption name Hash value 64",
        ),
        (
            "setoption name Hash File value a\rb",
            Reads("setoption name Hash File value a"),
            "setoption name Hash File value a b",
        ),
        (
            "setoption name Hash File value a\nb",
            Reads("setoption name Hash File value a"),
            "setoption name Hash File value a b",
        ),
        ("setoption name Values value 3", Unknown, "setoption name Values value 3"),
    ];

    fn here(line: &str) -> String {
        let read = command::parse(line.as_bytes()).unwrap().unwrap();
        let Command::Message(message, extension) = read else { panic!("{line}: {read:?}") };
        let Extension { controls, moves, complaints } = extension;
        let mut text = message.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        for control in controls {
            let go = UciMessage::Go { time_control: Some(control), search_control: None };
            text.push_str(&format!(" + {}", go.to_string().trim_end()));
        }
        moves.iter().for_each(|word| text.push_str(&format!(" + {word}")));
        complaints.iter().for_each(|error| text.push_str(&format!(" ! {error}")));
        text
    }

    /// If the middle column of a row no longer matches, vampirc-uci has changed. Remove the row if
    /// vampirc-uci now reads the line correctly. Otherwise correct the column. Once no rows remain,
    /// Lancet can use vampirc-uci's parser.
    #[test]
    fn every_row_is_true() {
        let mut wrong = Vec::new();
        for (line, expected, meaning) in TABLE {
            let message = std::panic::catch_unwind(|| vampirc_uci::parse_one(line));
            let as_expected = match (expected, &message) {
                (Panics, message) => message.is_err(),
                (Unknown, message) => message.as_ref().is_ok_and(UciMessage::is_unknown),
                (Reads(text), Ok(message)) => message.to_string() == *text,
                (Reads(_), Err(_)) => false,
            };
            let here = here(line);
            if !as_expected || here != *meaning {
                wrong.push(format!("{line}: {message:?}, {here}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// The reason why [`format`](super::super::format) has attributes of its own.
    #[test]
    fn attributes_that_differ_from_the_protocol() {
        let square = |file| UciSquare { file, rank: 2 };
        let line = vec![UciMove::from_to(square('a'), square('b'))];
        for (attribute, text) in [
            (UciInfoAttribute::CurrMoveNum(3), "currmovenum 3"), // currmovenumber
            (UciInfoAttribute::CurrLine { cpu_nr: Some(1), line }, "currline cpunr 1 a2b2"), // 1 a2b2
            (
                UciInfoAttribute::Score {
                    cp: Some(1),
                    mate: None,
                    lower_bound: Some(false),
                    upper_bound: None,
                },
                "score cp 1 lowerbound", // score cp 1
            ),
        ] {
            assert_eq!(attribute.to_string(), text);
        }
    }
}
