//! Results as files for programs: JSON with everything, CSV with a row per
//! position and engine, and the failed positions as EPD.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::{
    contest::{Contestant, Suite, SuiteResult},
    report::{grades, themes},
    run::{Attempt, Plan, Thought},
    score::{Found, Tally, Value},
};
use crate::{
    chess::{
        epd::Record,
        notation::{move_text, plain_san},
    },
    play::report::Bound,
    system::stdio::plain,
    tools::options::Shard,
};

/// A finished or interrupted run.
pub struct Run<'a> {
    /// How positions were searched.
    pub plan: &'a Plan,
    /// Positions side by side.
    pub jobs: usize,
    /// Which lines of the files were run.
    pub shard: Shard,
    /// The files.
    pub suites: &'a [Suite],
    /// Who answered.
    pub contestants: &'a [Contestant],
    /// One entry per suite.
    pub results: &'a [SuiteResult],
    /// Ctrl-C was pressed.
    pub interrupted: bool,
}

/// The whole run as JSON. Times are in milliseconds, moves in UCI notation.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_json(run: &Run, to: impl Write) -> io::Result<()> {
    let plan = run.plan;
    let suites: Vec<Json> =
        run.suites.iter().zip(run.results).map(|(s, r)| suite(run, s, r)).collect();
    let broken: Vec<Json> = run.suites.iter().flat_map(broken_lines).collect();
    let total: Vec<Json> = (0..run.contestants.len())
        .map(|engine| {
            let all = run.results.iter().flat_map(|result| grades(&result.attempts[engine]));
            json!({ "engine": run.contestants[engine].name, "summary": tally(&Tally::of(all)) })
        })
        .collect();
    let engines: Vec<Json> = run
        .contestants
        .iter()
        .map(|one| json!({ "name": one.name, "command": one.command }))
        .collect();
    let whole = json!({
        "program": format!("lancet {}", env!("CARGO_PKG_VERSION")),
        "limits": {
            "movetime": plan.movetime.map(millis),
            "nodes": plan.nodes,
            "depth": plan.depth,
            "mate": plan.mate,
            "stop_early": plan.stop_early,
        },
        "hash": plan.hash,
        "threads": plan.threads,
        "jobs": run.jobs,
        "shard": run.shard.to_string(),
        "multipv": plan.multi_pv,
        "interrupted": run.interrupted,
        "engines": engines,
        "broken": broken,
        "suites": suites,
        "total": total,
    });
    let mut to = io::BufWriter::new(to);
    serde_json::to_writer_pretty(&mut to, &whole)?;
    writeln!(to)?;
    to.flush()
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn broken_lines(suite: &Suite) -> impl Iterator<Item = Json> {
    suite.broken.iter().map(|error| {
        json!({
            "file": suite.path.display().to_string(),
            "line": error.line,
            "column": error.column,
            "reason": error.reason.to_string(),
        })
    })
}

fn suite(run: &Run, suite: &Suite, result: &SuiteResult) -> Json {
    let answers: Vec<Json> = run
        .contestants
        .iter()
        .zip(&result.attempts)
        .map(|(contestant, attempts)| {
            let themes: Vec<Json> = themes(&suite.records, attempts)
                .iter()
                .map(|(theme, sum)| json!({ "theme": theme, "summary": tally(sum) }))
                .collect();
            let positions: Vec<Json> = suite
                .records
                .iter()
                .zip(attempts)
                .filter_map(|(record, attempt)| Some(position(record, attempt.as_ref()?)))
                .collect();
            json!({
                "engine": contestant.name,
                "summary": tally(&Tally::of(grades(attempts))),
                "themes": themes,
                "positions": positions,
            })
        })
        .collect();
    json!({
        "file": suite.path.display().to_string(),
        "positions": suite.records.len(),
        "skipped": suite.broken.len(),
        "results": answers,
    })
}

fn tally(sum: &Tally) -> Json {
    json!({
        "positions": sum.positions,
        "graded": sum.graded,
        "solved": sum.solved,
        "percent_solved": sum.percent_solved(),
        "points": sum.points,
        "max_points": sum.max_points,
        "percent_points": sum.percent_points(),
        "sts_rating_estimate": sum.sts_rating(),
        "failures": sum.failures,
        "mean_time": sum.mean_time().map(millis),
        "median_time": sum.median_time().map(millis),
        "nodes": sum.nodes,
        "time": millis(sum.time),
        "nodes_per_second": sum.speed().map(f64::round),
    })
}

fn position(record: &Record, attempt: &Attempt) -> Json {
    let board = &record.position;
    let goal = &record.goal;
    let grade = &attempt.grade;
    let list = |moves: &[shakmaty::Move]| -> Vec<String> {
        moves.iter().map(|&m| move_text(m, board.mode())).collect()
    };
    let points: Map<String, Json> = goal
        .points
        .iter()
        .map(|&(m, points)| (move_text(m, board.mode()), json!(points)))
        .collect();
    let operations: Map<String, Json> =
        record.operations.iter().map(|op| (op.opcode.clone(), json!(op.operands))).collect();
    json!({
        "line": record.line,
        "id": record.id,
        "fen": board.fen(),
        "best_moves": list(&goal.best),
        "avoid_moves": list(&goal.avoid),
        "mate": goal.mate,
        "move_points": points,
        "reference": {
            "ce": record.number("ce"),
            "acd": record.number("acd"),
            "acn": record.number("acn"),
            "acs": record.number("acs"),
        },
        "operations": operations,
        "solved": grade.solved,
        "points": grade.points,
        "max_points": grade.max_points,
        "move": attempt.best.map(|m| move_text(m, board.mode())),
        "san": attempt.best.map(|m| plain_san(board, m)),
        "found": grade.found.map(found),
        "nodes": grade.nodes,
        "time": millis(grade.time),
        "solution_rank": attempt.rank,
        "lines": attempt.lines.iter().map(|thought| line(record, thought)).collect::<Vec<_>>(),
        "failure": attempt.failure,
    })
}

fn found(found: Found) -> Json {
    json!({ "depth": found.depth, "time": millis(found.time), "nodes": found.nodes })
}

fn line(record: &Record, thought: &Thought) -> Json {
    let mode = record.position.mode();
    let pv: Vec<String> = thought.pv.iter().map(|&m| move_text(m, mode)).collect();
    let score = match thought.value {
        Value::Centipawns(centipawns) => json!({ "cp": centipawns }),
        Value::Mate(moves) => json!({ "mate": moves }),
    };
    let bound = match thought.bound {
        Bound::Exact => "exact",
        Bound::Lower => "lower",
        Bound::Upper => "upper",
    };
    json!({
        "rank": thought.rank,
        "depth": thought.depth,
        "seldepth": thought.seldepth,
        "score": score,
        "bound": bound,
        "nodes": thought.nodes,
        "time": millis(thought.time),
        "pv": pv,
    })
}

/// A row of the CSV file. Times are in milliseconds.
#[derive(Serialize)]
struct Row {
    suite: String,
    line: usize,
    id: String,
    engine: String,
    solved: Option<bool>,
    points: u32,
    max_points: u32,
    r#move: Option<String>,
    cp: Option<i32>,
    mate: Option<i32>,
    depth: Option<u32>,
    nodes: u64,
    time: u64,
    found_depth: Option<u32>,
    found_time: Option<u64>,
    found_nodes: Option<u64>,
    failure: Option<String>,
    fen: String,
}

/// Text for a cell. A spreadsheet would take some for formulas, which a quote prevents;
/// numbers are none.
fn cell(text: &str) -> String {
    let formula = text.trim_start().starts_with(['=', '+', '-', '@'])
        && !text.parse().is_ok_and(f64::is_finite);
    let quote = if formula { "'" } else { "" };
    format!("{quote}{}", plain(text))
}

/// One row per position and engine, with a header.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_csv(run: &Run, to: impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    for (suite, result) in run.suites.iter().zip(run.results) {
        for (contestant, attempts) in run.contestants.iter().zip(&result.attempts) {
            for (record, attempt) in suite.records.iter().zip(attempts) {
                let Some(attempt) = attempt else { continue };
                let grade = &attempt.grade;
                let main = attempt.lines.first();
                let value = main.map(|line| line.value);
                writer.serialize(Row {
                    suite: cell(&suite.path.display().to_string()),
                    line: record.line,
                    id: cell(&record.id),
                    engine: cell(&contestant.name),
                    solved: grade.solved,
                    points: grade.points,
                    max_points: grade.max_points,
                    r#move: attempt.best.map(|m| move_text(m, record.position.mode())),
                    cp: match value {
                        Some(Value::Centipawns(centipawns)) => Some(centipawns),
                        _ => None,
                    },
                    mate: match value {
                        Some(Value::Mate(moves)) => Some(moves),
                        _ => None,
                    },
                    depth: main.map(|line| line.depth),
                    nodes: grade.nodes,
                    time: millis(grade.time),
                    found_depth: grade.found.map(|found| found.depth),
                    found_time: grade.found.map(|found| millis(found.time)),
                    found_nodes: grade.found.map(|found| found.nodes),
                    failure: attempt.failure.as_deref().map(cell),
                    fen: record.position.fen(),
                })?;
            }
        }
    }
    writer.flush()
}

/// The lines of the positions that the first engine was asked and did not
/// solve, as they were in their suites.
///
/// # Errors
///
/// If they cannot be written.
pub fn write_failed(run: &Run, mut to: impl Write) -> io::Result<()> {
    for (suite, result) in run.suites.iter().zip(run.results) {
        let attempts = result.attempts.first().into_iter().flatten();
        for (record, attempt) in suite.records.iter().zip(attempts) {
            if attempt.as_ref().is_some_and(|attempt| attempt.grade.solved == Some(false)) {
                writeln!(to, "{}", record.text)?;
            }
        }
    }
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_no_formulas() {
        for (text, shown) in [
            ("WAC.001", "WAC.001"),
            ("=1+1", "'=1+1"),
            (" =1+1", "' =1+1"),
            ("+cmd|' /c x'!A0", "'+cmd|' /c x'!A0"),
            ("-x", "'-x"),
            ("@SUM(1)", "'@SUM(1)"),
            ("-35", "-35"),
            ("+0.5", "+0.5"),
            ("-inf", "'-inf"),
            ("a=b", "a=b"),
            ("\u{1b}[2J", "\u{fffd}[2J"),
            ("", ""),
        ] {
            assert_eq!(cell(text), shown);
        }
    }
}
