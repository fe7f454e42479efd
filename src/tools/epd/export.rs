//! Writes the results to files: JSON with all data, CSV with a row for each position and engine,
//! and the missed positions as EPD.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use shakmaty::{CastlingMode, Move};

use super::{
    report::{themes, total},
    run::{Contestant, Plan, SuiteResult},
    score::{Attempt, Tally, Thought, Value},
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
pub(super) struct SuiteRun<'a> {
    /// Settings of the searches.
    pub plan: &'a Plan,
    /// The part of the files that was run.
    pub shard: Shard,
    /// The engines.
    pub contestants: &'a [Contestant],
    /// The suites with the answers.
    pub results: &'a [SuiteResult],
    /// Whether the run was interrupted.
    pub interrupted: bool,
}

/// Returns the whole run as JSON. Times are in milliseconds and moves in UCI notation, except `acs`
/// (seconds), `san`, and `operations`, which are as in the file.
pub(super) fn json(run: &SuiteRun) -> Json {
    let SuiteRun { plan, shard, contestants, results, interrupted } = run;
    let (effort, workers) = (&plan.effort, &plan.workers);
    let suites: Vec<Json> = results.iter().map(|result| suite(contestants, result)).collect();
    let broken: Vec<Json> = results.iter().flat_map(broken_lines).collect();
    let total = |(engine, one): (usize, &Contestant)| {
        let sum = total(results, engine);
        json!({ "engine": one.name, "summary": tally(&sum) })
    };
    let total: Vec<Json> = contestants.iter().enumerate().map(total).collect();
    let engines: Vec<Json> =
        contestants.iter().map(|one| json!({ "name": one.name, "command": one.command })).collect();
    json!({
        "program": format!("lancet {}", env!("CARGO_PKG_VERSION")),
        "limits": {
            "movetime": effort.movetime,
            "nodes": effort.nodes,
            "depth": effort.depth,
            "mate": plan.mate,
            "stop_early": plan.stop_early,
        },
        "hash": plan.hash,
        "threads": workers.threads,
        "jobs": workers.jobs,
        "shard": shard.to_string(),
        "multipv": plan.multipv,
        "syzygy": plan.tables.syzygy,
        "interrupted": interrupted,
        "engines": engines,
        "broken": broken,
        "suites": suites,
        "total": total,
    })
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}

fn broken_lines(SuiteResult { suite, .. }: &SuiteResult) -> impl Iterator<Item = Json> {
    suite.broken.iter().map(|error| {
        json!({
            "file": suite.path.display().to_string(),
            "line": error.line,
            "column": error.column,
            "reason": error.reason.to_string(),
        })
    })
}

fn suite(contestants: &[Contestant], result: &SuiteResult) -> Json {
    let SuiteResult { suite, attempts } = result;
    let records = &suite.positions;
    let themes = themes(result);
    let answers = contestants.iter().zip(attempts).enumerate();
    let answers = answers.map(|(index, (contestant, attempts))| {
        let themes: Vec<Json> = themes
            .iter()
            .map(|(theme, sums)| json!({ "theme": theme, "summary": tally(&sums[index]) }))
            .collect();
        let positions = records.iter().zip(attempts);
        let positions: Vec<Json> = positions
            .filter_map(|(record, attempt)| Some(position(record, attempt.as_ref()?)))
            .collect();
        json!({
            "engine": contestant.name,
            "summary": tally(&Tally::of(attempts)),
            "themes": themes,
            "positions": positions,
        })
    });
    json!({
        "file": suite.path.display().to_string(),
        "positions": records.len(),
        "skipped": suite.broken.len(),
        "results": answers.collect::<Vec<_>>(),
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

fn move_texts(moves: &[Move], mode: CastlingMode) -> Vec<String> {
    moves.iter().map(|&m| move_text(m, mode)).collect()
}

fn position(record: &Record, attempt: &Attempt) -> Json {
    let board = &record.position;
    let goal = &record.goal;
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
        "best_moves": move_texts(&goal.best, board.mode()),
        "avoid_moves": move_texts(&goal.avoid, board.mode()),
        "mate": goal.mate,
        "move_points": points,
        "reference": {
            "ce": record.number("ce"),
            "acd": record.number("acd"),
            "acn": record.number("acn"),
            "acs": record.number("acs"),
        },
        "operations": operations,
        "solved": attempt.solved,
        "points": attempt.points,
        "max_points": attempt.max_points,
        "move": attempt.best.map(|m| move_text(m, board.mode())),
        "san": attempt.best.map(|m| plain_san(board, m)),
        "found": attempt.solution.map(|found| {
            json!({ "depth": found.depth, "time": millis(found.time), "nodes": found.nodes })
        }),
        "nodes": attempt.nodes,
        "time": millis(attempt.time),
        "solution_rank": attempt.rank,
        "lines": attempt.lines.iter().map(|thought| line(record, thought)).collect::<Vec<_>>(),
        "failure": attempt.failure,
    })
}

fn line(record: &Record, thought: &Thought) -> Json {
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
        "pv": move_texts(&thought.pv, record.position.mode()),
    })
}

/// The columns of the CSV file, with their paths in the JSON of a position.
const COLUMNS: [(&str, &str); 18] = [
    ("suite", ""),
    ("line", "/line"),
    ("id", "/id"),
    ("engine", ""),
    ("solved", "/solved"),
    ("points", "/points"),
    ("max_points", "/max_points"),
    ("move", "/move"),
    ("cp", "/lines/0/score/cp"),
    ("mate", "/lines/0/score/mate"),
    ("depth", "/lines/0/depth"),
    ("nodes", "/nodes"),
    ("time", "/time"),
    ("found_depth", "/found/depth"),
    ("found_time", "/found/time"),
    ("found_nodes", "/found/nodes"),
    ("failure", "/failure"),
    ("fen", "/fen"),
];

/// Converts the positions of a run from [`json`] to CSV: a header, and a row for each position and
/// engine.
///
/// # Errors
///
/// If the CSV cannot be written.
pub(super) fn csv(run: &Json) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.map(|(title, _)| title))?;
    for suite in list(run, "suites") {
        for result in list(suite, "results") {
            for position in list(result, "positions") {
                let row = COLUMNS.map(|(title, pointer)| match title {
                    "suite" => cell(&suite["file"]),
                    "engine" => cell(&result["engine"]),
                    _ => cell(position.pointer(pointer).unwrap_or(&Json::Null)),
                });
                writer.write_record(row)?;
            }
        }
    }
    Ok(writer.into_inner()?)
}

fn list<'a>(of: &'a Json, name: &str) -> impl Iterator<Item = &'a Json> {
    of[name].as_array().into_iter().flatten()
}

/// Returns the text of a cell. An apostrophe precedes text that a spreadsheet would read as a
/// formula.
fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => {
            let formula = text.trim_start().starts_with(['=', '+', '-', '@'])
                && !text.parse().is_ok_and(f64::is_finite);
            let quote = if formula { "'" } else { "" };
            format!("{quote}{}", plain(text))
        }
        value => value.to_string(),
    }
}

/// Returns the positions that the first engine missed, as the original lines of their suites.
pub(super) fn failed(run: &SuiteRun) -> String {
    let mut text = String::new();
    for SuiteResult { suite, attempts } in run.results {
        for (record, attempt) in suite.positions.iter().zip(attempts.iter().take(1).flatten()) {
            if attempt.as_ref().is_some_and(|attempt| attempt.solved == Some(false)) {
                text.push_str(&format!("{}\n", record.text));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_not_formulas() {
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
            assert_eq!(cell(&json!(text)), shown);
        }
        assert_eq!(
            [json!(null), json!(-7), json!(true)].map(|value| cell(&value)),
            ["", "-7", "true"]
        );
    }
}
