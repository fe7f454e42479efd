//! What vampirc-uci cannot carry, all in one place: the list of the lines that its parser
//! or its messages lose something of, with a test of each, and what travels beside a
//! message because of them. Its parser is not used.
//!
//! The other direction is in [`format`](super::format): what a message cannot say to
//! the GUI is an attribute there that it does not know.

use vampirc_uci::UciTimeControl;

use super::error::CommandError;

/// What a line says beside its [`UciMessage`](vampirc_uci::UciMessage).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// `go`: the other time controls. A message has one, but the protocol combines
    /// them: to ponder, GUIs send `go ponder wtime ...`.
    pub controls: Vec<UciTimeControl>,
    /// Words that are not moves to it. In `position`, where `0000` passes, also the
    /// moves behind the first of them; in `go searchmoves` these only.
    pub moves: Vec<String>,
    /// `go`: what could not be used, and why. The search goes on without it.
    pub complaints: Vec<CommandError>,
}

#[cfg(test)]
mod tests {
    use vampirc_uci::{UciInfoAttribute, UciMessage, UciMove, UciSquare};

    use super::*;
    use crate::uci::command::{self, Command};

    /// What vampirc-uci makes of a line.
    enum Alone {
        Panics,
        /// It knows no such message.
        Unknown,
        /// It reads less than is there, or something else.
        Reads(&'static str),
    }
    use Alone::{Panics, Reads, Unknown};

    /// Lines that its parser does not read, or not as they are: what it makes of them, and
    /// what they mean here. After the message, `+` is before what travels beside it, and
    /// `!` before a complaint.
    const TABLE: &[(&str, Alone, &str)] = &[
        // Decoding and words.
        ("\u{feff}uci", Unknown, "uci"),
        ("joho uci", Unknown, "uci"),
        ("\u{a0}uci", Unknown, "uci"),
        ("debug", Unknown, "debug on"),
        ("register", Unknown, "register later"),
        ("register name Me", Unknown, "register later"),
        ("go ", Panics, "go"),
        // Numbers: a message has eight bits for depth and moves, the grammar twelve digits.
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
        // Words that are not expected, and all that follows them.
        (
            "go depth 3 fast nodes 5",
            Reads("go depth 3 "),
            "go depth 3 nodes 5 ! 'fast' after 'go': expected a limit ('help' lists them)",
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
        // FENs: the type carries any text, the grammar reads those of standard chess.
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

    /// If a row's middle fails, vampirc-uci has changed: the row may go. When no row is left
    /// that its parser is to blame for, the parser may be used.
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

    /// Why [`format`](super::super::format) has attributes of its own.
    #[test]
    fn what_it_writes_otherwise_than_the_protocol() {
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
