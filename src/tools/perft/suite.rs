//! Perft suites: positions with expected counts.

use std::{io, iter};

use shakmaty::CastlingMode;

use super::{Counter, DEPTH_RANGE, Through};
use crate::{
    chess::{
        lines::{Line, LineError},
        position::Position,
    },
    tools::share,
};

/// A position of a suite with its expected counts.
#[derive(Clone, Debug)]
pub struct PerftCase {
    /// Line number in its file, from 1.
    line: usize,
    /// The position as written in the file.
    fen: String,
    position: Position,
    /// Depths in plies and expected numbers of leaf nodes, as listed.
    pub counts: Vec<(u32, u64)>,
}

/// Reads a line such as `FEN ;D1 20 ;D2 400`.
///
/// # Errors
///
/// If the position is invalid, or a count is missing or not of the form `;Dn count`.
pub fn parse(line: &Line, mode: CastlingMode) -> Result<PerftCase, LineError> {
    let mut parts = line.text.split(';');
    let fen = parts.next().unwrap_or_default();
    let position =
        Position::from_fen_in(fen, mode).map_err(|error| line.error(error.at, error.reason))?;
    let mut offset = fen.len();
    let mut counts = Vec::new();
    for part in parts {
        offset += 1;
        let text = part.trim();
        if !text.is_empty() {
            counts.push(read_count(text).ok_or_else(|| {
                let most = DEPTH_RANGE.end();
                let expected = format!("expected 'Dn nodes' with n from 0 to {most}");
                line.error(offset, format!("'{text}' is not a count: {expected}"))
            })?);
        }
        offset += part.len();
    }
    if counts.is_empty() {
        return Err(line.error(line.text.len(), "expected counts like ';D1 20'".to_owned()));
    }
    Ok(PerftCase { line: line.number, fen: fen.trim().to_owned(), position, counts })
}

/// Reads a depth and a number of nodes: `D2 400`.
fn read_count(text: &str) -> Option<(u32, u64)> {
    let (depth, nodes) = text.strip_prefix(['D', 'd'])?.split_once(char::is_whitespace)?;
    let depth = depth.parse::<u32>().ok().filter(|depth| DEPTH_RANGE.contains(depth))?;
    Some((depth, nodes.trim_start().parse().ok()?))
}

/// The result of counting.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Number of counts made.
    pub counts: usize,
    /// Number of nodes counted.
    pub(super) nodes: u64,
    /// Number of counts skipped because they exceed `--max-nodes`.
    pub(super) skipped: usize,
    /// Wrong counts in the order of the cases: line number and description.
    pub wrong: Vec<String>,
}

/// Checks every count of `cases` that expects at most `budget` nodes, several in parallel. Calls
/// `progress` from any thread, with the expected nodes of each count and a description if it is
/// wrong.
///
/// # Errors
///
/// If no thread can be started.
pub fn check(
    cases: &[PerftCase],
    budget: u64,
    threads: usize,
    through: Through,
    progress: &(dyn Fn(u64, Option<&str>) + Sync),
) -> io::Result<Outcome> {
    let counter = Counter::new(through);
    let all = cases.iter().flat_map(|case| case.counts.iter().map(move |&count| (case, count)));
    let (planned, skipped): (Vec<_>, Vec<_>) = all.partition(|&(_, (_, nodes))| nodes <= budget);
    let counted = share(iter::repeat_n((), threads), planned.len(), |_, index| {
        let (case, (depth, expected)) = planned[index];
        let got = counter.count(&case.position, depth);
        let wrong = (got != Ok(expected)).then(|| {
            let PerftCase { line, fen, .. } = case;
            let fault = match &got {
                Ok(got) => format!("wrong count: expected {expected}, got {got}"),
                Err(fault) => fault.to_string(),
            };
            format!("{line}: {fen} depth {depth}: {fault}")
        });
        progress(expected, wrong.as_deref());
        Some((got.unwrap_or(0), wrong))
    })?;
    let (nodes, wrong): (Vec<u64>, Vec<_>) = counted.into_iter().flatten().unzip();
    Ok(Outcome {
        counts: planned.len(),
        nodes: nodes.iter().sum(),
        skipped: skipped.len(),
        wrong: wrong.into_iter().flatten().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<PerftCase, LineError> {
        parse(&Line { number: 7, text: text.to_owned() }, CastlingMode::Standard)
    }

    #[test]
    fn lines_are_read() {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let case = line(&format!("{fen} ;D1 20 ; D2  400;d3 8902;")).unwrap();
        assert_eq!(case.counts, [(1, 20), (2, 400), (3, 8902)]);
        assert_eq!(case.fen, fen);
        let error = line(&format!("{fen} ;D1 20 ;D2 4OO")).unwrap_err();
        assert_eq!((error.line, error.column), (7, 66));
        assert!(error.reason.contains("'D2 4OO' is not a count"), "{error}");
        for wrong in ["D65 1", "D1", "1 20", "D1 20 2", "D-1 1"] {
            let error = line(&format!("{fen} ;{wrong}")).unwrap_err();
            assert!(error.reason.contains("is not a count"), "{error}");
        }
        assert!(line(&format!("{fen} ;")).unwrap_err().reason.contains("expected counts"));
        assert!(line("8/8/8/8 w - - 0 1 ;D1 2").unwrap_err().to_string().starts_with("7:1: "));
    }

    #[test]
    fn wrong_counts_are_found() {
        let cases = [
            line("8/8/8/8/8/8/8/K1k5 w - - 0 1 ;D1 1 ;D2 3").unwrap(),
            line("8/8/8/8/8/8/8/K1k5 w - - 0 1 ;D1 2 ;D2 1000").unwrap(),
        ];
        for through in [Through::Rules, Through::Search, Through::Network] {
            let outcome = check(&cases, 999, 2, through, &|_, _| {}).unwrap();
            assert_eq!((outcome.counts, outcome.skipped), (3, 1));
            let [wrong] = &outcome.wrong[..] else { panic!("{:?}", outcome.wrong) };
            assert!(wrong.ends_with("depth 1: wrong count: expected 2, got 1"), "{wrong}");
        }
    }
}
