//! Formats the reports of a search as UCI messages.
//!
//! Some of vampirc-uci's attributes are narrow (8 bits for depths and mates), and there is none for
//! winning chances. Others are not written as in the protocol (`currmovenumber`, `currline`). For
//! all of these, Lancet uses [`UciInfoAttribute::Any`]. No message of vampirc-uci can represent
//! `bestmove (none)` and `bestmove 0000`.

use shakmaty::{CastlingMode, Move, uci::UciMove as Notation};
use vampirc_uci::{Duration, UciInfoAttribute, UciMessage, UciMove};

use super::moves;
use crate::{
    chess::{
        notation::move_text,
        score::{Score, mate_distance},
    },
    eval::wdl::Chances,
    play::report::{Bound, Info, Note, Outcome, TableFault},
};

/// Length of an `info string` text, in characters, above which its middle is left out. People read
/// these texts.
const MAX_TEXT: usize = 400;

/// Phrases that operating systems use for unreadable files, and their replacements. If XBoard reads
/// one of these phrases, it assumes that the engine cannot start, and stops reading.
const FATAL: [(&str, &str); 3] = [
    ("No such file or directory", "file or folder does not exist"),
    ("Permission denied", "access is denied"),
    ("not found", "missing"),
];

/// Formats a note as the text of an `info string`.
pub fn note(note: &Note) -> String {
    match note {
        Note::Memory(error) => error.to_string(),
        Note::Thread { number, error } => {
            format!("cannot start search thread {}: {error}", number + 1)
        }
        Note::Table { path, fault } => {
            let fault = match fault {
                TableFault::Missing => "missing".to_owned(),
                TableFault::Unreadable(error) => error.to_string(),
                TableFault::Kind => "not a table of the type that its extension says".to_owned(),
                TableFault::Damaged => "damaged, or another table under this name".to_owned(),
            };
            format!("Syzygy: {}: {fault}; searching without this table", path.display())
        }
        Note::Plan { soft, hard, known, moves } => {
            let time = match (soft, hard) {
                (Some(soft), Some(hard)) => format!("{soft:.1?}, at most {hard:.1?}"),
                (Some(time), None) | (None, Some(time)) => format!("{time:.1?}"),
                (None, None) => "no limit".to_owned(),
            };
            format!("time: {time}; {known} of {moves} moves known from tablebases")
        }
        Note::NoMate { moves, proved: true } => format!("there is no mate in {moves}"),
        Note::NoMate { moves, proved: false } => format!("no mate in {moves} was found"),
        Note::Decision { thread, depths } => {
            let thread = thread + 1;
            format!(
                "best move from thread {thread}; depths completed by the threads in time: {depths:?}"
            )
        }
    }
}

fn message_move(m: Move, mode: CastlingMode) -> Option<UciMove> {
    moves::message(Notation::from_move(m, mode))
}

/// Formats `info depth ... pv ...`, with winning chances if they are given.
pub fn info(info: &Info, mode: CastlingMode, chances: Option<Chances>) -> UciMessage {
    let nps = u128::from(info.nodes) * 1_000_000 / info.time.as_micros().max(1);
    let millis = i64::try_from(info.time.as_millis()).unwrap_or(i64::MAX);
    let mut attributes = vec![
        other("depth", info.depth),
        other("seldepth", info.seldepth),
        UciInfoAttribute::MultiPv(info.multipv as u16),
        score(info.score, info.bound),
    ];
    if let Some(Chances { win, draw, loss }) = chances {
        attributes.push(other("wdl", format!("{win} {draw} {loss}")));
    }
    attributes.extend([
        UciInfoAttribute::Nodes(info.nodes),
        UciInfoAttribute::Nps(u64::try_from(nps).unwrap_or(u64::MAX)),
        UciInfoAttribute::HashFull(info.hashfull.min(1000) as u16),
        UciInfoAttribute::TbHits(info.tbhits),
        UciInfoAttribute::Time(Duration::milliseconds(millis)),
    ]);
    if !info.pv.is_empty() {
        let pv = info.pv.iter().filter_map(|&m| message_move(m, mode)).collect();
        attributes.push(UciInfoAttribute::Pv(pv));
    }
    UciMessage::Info(attributes)
}

/// Formats a score in centipawns or moves to mate, directly followed by the bound.
fn score(score: Score, bound: Bound) -> UciInfoAttribute {
    let value = match mate_distance(score) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {score}"),
    };
    let bound = match bound {
        Bound::Exact => "",
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
    };
    other("score", value + bound)
}

fn other(name: &str, value: impl ToString) -> UciInfoAttribute {
    UciInfoAttribute::Any(name.to_owned(), value.to_string())
}

/// Formats `info depth ... currmove ... currmovenumber ...`.
pub fn current_move(depth: u32, m: Move, number: usize, mode: CastlingMode) -> UciMessage {
    let mut attributes = vec![other("depth", depth)];
    attributes.extend(message_move(m, mode).map(UciInfoAttribute::CurrMove));
    // vampirc-uci would write "currmovenum".
    attributes.push(other("currmovenumber", number));
    UciMessage::Info(attributes)
}

/// Formats `info currline <thread> <moves> ...`, a message for each thread that has a line.
pub fn current_lines(lines: &[Vec<Move>], mode: CastlingMode) -> impl Iterator<Item = UciMessage> {
    let lines = lines.iter().zip(1..).filter(|(line, _)| !line.is_empty());
    // vampirc-uci would write "cpunr 1".
    lines.map(move |(line, thread)| {
        let text = format!("{thread} {}", moves_text(line, mode));
        UciMessage::Info(vec![other("currline", text)])
    })
}

/// Formats `info refutation <move> <reply> ...`.
pub fn refutation(line: &[Move], mode: CastlingMode) -> UciMessage {
    let moves = line.iter().filter_map(|&m| message_move(m, mode)).collect();
    UciMessage::Info(vec![UciInfoAttribute::Refutation(moves)])
}

fn moves_text(line: &[Move], mode: CastlingMode) -> String {
    line.iter().map(|&m| move_text(m, mode)).collect::<Vec<_>>().join(" ")
}

/// Formats `bestmove ... [ponder ...]`.
pub fn best_move(outcome: &Outcome, mode: CastlingMode) -> String {
    let given = |m: Option<Move>| message_move(m?, mode);
    given(outcome.best).map_or("bestmove (none)".to_owned(), |best_move| {
        UciMessage::BestMove { best_move, ponder: given(outcome.ponder) }.to_string()
    })
}

/// Formats `info string ...` as one line. Control characters become spaces.
pub fn string(text: &str) -> String {
    let mut clean: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.len() > MAX_TEXT {
        // Errors quote the input first and then say what is wrong with it, so both ends are kept.
        let half = MAX_TEXT / 2;
        clean.splice(half..clean.len() - half, " ... ".chars());
    }
    let mut text: String = clean.into_iter().collect();
    for (words, other) in FATAL {
        text = text.replace(words, other);
    }
    UciMessage::info_string(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use shakmaty::CastlingMode::{Chess960, Standard};

    use super::*;
    use crate::chess::{
        position::Position,
        score::{MATE, TABLEBASE_WIN},
    };
    use crate::play::memory::MemoryError;

    fn line() -> Info {
        let pv = Position::default().legal_moves();
        Info {
            depth: 12,
            seldepth: 20,
            score: -35,
            nodes: 5000,
            hashfull: 7,
            time: Duration::from_millis(2),
            pv: vec![pv[0]],
            ..Info::EMPTY
        }
    }

    #[test]
    fn notes_are_short_lines() {
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let path = std::path::Path::new("tables/KQvK.rtbz");
        let (second, tenth) = (Some(Duration::from_secs(1)), Some(Duration::from_millis(100)));
        let plan = |soft, hard| Note::Plan { soft, hard, known: 2, moves: 20 };
        let table = |fault| Note::Table { path, fault };
        for (said, text) in [
            (
                Note::Memory(MemoryError::Hash { mib: 9, kept: 1 }),
                "not enough memory for a hash table of 9 MiB; using an empty table of 1 MiB",
            ),
            (
                Note::Memory(MemoryError::Hash { mib: 9, kept: 0 }),
                "not enough memory for a hash table of 9 MiB",
            ),
            (
                Note::Memory(MemoryError::Threads { threads: 3 }),
                "not enough memory for 3 search threads",
            ),
            (
                Note::Thread { number: 2, error: &denied },
                "cannot start search thread 3: permission denied",
            ),
            (
                table(TableFault::Missing),
                "Syzygy: tables/KQvK.rtbz: missing; searching without this table",
            ),
            (
                table(TableFault::Unreadable(&denied)),
                "Syzygy: tables/KQvK.rtbz: permission denied; searching without this table",
            ),
            (
                table(TableFault::Damaged),
                "Syzygy: tables/KQvK.rtbz: damaged, or another table under this name; searching \
                 without this table",
            ),
            (plan(None, None), "time: no limit; 2 of 20 moves known from tablebases"),
            (plan(None, second), "time: 1.0s; 2 of 20 moves known from tablebases"),
            (
                plan(tenth, second),
                "time: 100.0ms, at most 1.0s; 2 of 20 moves known from tablebases",
            ),
            (
                Note::Decision { thread: 1, depths: &[9, 10] },
                "best move from thread 2; depths completed by the threads in time: [9, 10]",
            ),
        ] {
            assert_eq!(note(&said), text);
        }
    }

    #[test]
    fn a_line_has_everything() {
        let m = move_text(line().pv[0], Standard);
        assert_eq!(
            info(&line(), Standard, None).to_string(),
            format!(
                "info depth 12 seldepth 20 multipv 1 score cp -35 nodes 5000 nps 2500000 \
                 hashfull 7 tbhits 0 time 2 pv {m}"
            )
        );
        // The bound comes directly after the score, and the chances after the bound.
        let bound = Info { bound: Bound::Lower, ..line() };
        let chances = Chances { win: 10, draw: 870, loss: 120 };
        assert!(
            info(&bound, Standard, Some(chances))
                .to_string()
                .contains(" score cp -35 lowerbound wdl 10 870 120 nodes 5000 ")
        );
    }

    #[test]
    fn numbers_beyond_the_types_are_written() {
        let long = Info {
            depth: 300,
            seldepth: 301,
            score: MATE - 200,
            bound: Bound::Lower,
            nodes: u64::MAX,
            hashfull: 1000,
            time: Duration::ZERO,
            pv: vec![],
            ..line()
        };
        assert_eq!(
            info(&long, Standard, None).to_string(),
            "info depth 300 seldepth 301 multipv 1 score mate 200 lowerbound \
             nodes 18446744073709551615 nps 18446744073709551615 hashfull 1000 tbhits 0 time 0"
        );
    }

    #[test]
    fn scores_and_bounds() {
        let text = |score, bound| {
            let text = info(&Info { score, bound, ..line() }, Standard, None).to_string();
            let start = text.find("score").unwrap();
            text[start..text.find(" nodes").unwrap()].to_owned()
        };
        assert_eq!(text(35, Bound::Lower), "score cp 35 lowerbound");
        assert_eq!(text(35, Bound::Upper), "score cp 35 upperbound");
        assert_eq!(text(MATE - 3, Bound::Exact), "score mate 3");
        assert_eq!(text(-MATE + 3, Bound::Upper), "score mate -3 upperbound");
        assert_eq!(text(-MATE, Bound::Exact), "score mate 0");
        assert_eq!(text(-MATE + 128, Bound::Exact), "score mate -128");
        assert_eq!(text(-MATE + 129, Bound::Exact), "score mate -129");
        assert_eq!(text(TABLEBASE_WIN, Bound::Exact), "score cp 30900");
    }

    #[test]
    fn castling_in_both_notations() {
        let castling = Position::from_fen("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1").unwrap().legal_moves();
        let m = castling.iter().copied().find(|m| m.is_castle()).unwrap();
        let outcome = Outcome { best: Some(m), ponder: Some(m), info: line() };
        assert_eq!(best_move(&outcome, Standard), "bestmove e1c1 ponder e1c1");
        assert_eq!(best_move(&outcome, Chess960), "bestmove e1a1 ponder e1a1");
        assert_eq!(
            best_move(&Outcome { best: None, ponder: None, info: line() }, Standard),
            "bestmove (none)"
        );
        assert_eq!(
            current_move(300, m, 3, Standard).to_string(),
            "info depth 300 currmove e1c1 currmovenumber 3"
        );
    }

    #[test]
    fn strings_stay_on_one_line() {
        assert_eq!(string("a\r\nb\0c"), "info string a  b c");
        for (words, _) in FATAL {
            assert!(!string(&format!("a.bin: {words} (os error 2)")).contains(words));
        }
        let long = string(&("x".repeat(10_000) + "why"));
        assert!(long.len() < 500 && long.ends_with("why"));
    }
}
