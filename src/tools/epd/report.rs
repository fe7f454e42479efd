//! Formats the results as text: a line for each position, and tables.
//!
//! Tables are in Markdown, so that they can be pasted into a README. `export` writes the files for
//! programs.

use std::{iter, time::Duration};

use console::style;
use indicatif::HumanCount;
use shakmaty::Move;

use super::{
    run::{EpdSuite, SuiteResult},
    score::{Attempt, Solution, Tally, Value, theme},
};
use crate::{
    chess::{epd::Record, notation::plain_san},
    system::stdio::plain,
    tools::table,
};

/// Returns the coloured line about a position that was just answered. `engine` is set if there are
/// several engines.
pub(super) fn live_line(
    number: usize,
    record: &Record,
    attempt: &Attempt,
    engine: Option<&str>,
) -> String {
    let verdict = match (&attempt.failure, attempt.solved) {
        (Some(_), _) => style("failed    ").red().bold(),
        (None, Some(true)) => style("found     ").green(),
        (None, Some(false)) => style("missed    ").red(),
        (None, None) => style("not graded").dim(),
    };
    let mut line = live_start(&number.to_string(), &record.id, engine);
    line.push_str(&verdict.to_string());
    if let Some(failure) = &attempt.failure {
        line.push_str(&format!(" {}", plain(failure)));
        return line;
    }
    // Show when the solution appeared, or the whole search if it was not found.
    let depth = attempt.lines.first().map_or(0, |line| line.depth);
    let spent = Solution { depth, time: attempt.time, nodes: attempt.nodes };
    let at = attempt.solution.unwrap_or(spent);
    let best = attempt.best.map_or("(none)".to_owned(), |m| plain_san(&record.position, m));
    let value = attempt.lines.first().map_or(String::new(), |line| value_text(line.value));
    line.push_str(&format!(
        " {:>5} {:>9} {:>14}  {best:<7} {value:>7}",
        at.depth,
        time_text(Some(at.time)),
        HumanCount(at.nodes).to_string(),
    ));
    if attempt.max_points > 0 {
        line.push_str(&format!("  {}/{} points", attempt.points, attempt.max_points));
    }
    if let Some(rank) = attempt.rank.filter(|&rank| rank > 1) {
        line.push_str(&format!("  (solution in line {rank})"));
    }
    if attempt.solved == Some(false) {
        line.push_str(&format!("  ({})", goal_text(record)));
    }
    line
}

/// Returns the column titles of [`live_line`]. Other engines may search on after the last report of
/// their nodes.
pub(super) fn live_header(with_engine: bool) -> String {
    let start = live_start("#", "position", with_engine.then_some("engine"));
    let nodes = if with_engine { "nodes reported" } else { "nodes" };
    format!(
        "{start}{:<10} {:>5} {:>9} {nodes:>14}  {:<7} {:>7}",
        "answer", "depth", "time", "move", "score"
    )
}

/// Returns the first columns of a line about a position.
fn live_start(number: &str, id: &str, engine: Option<&str>) -> String {
    let engine = engine.map(|engine| format!("{:<16} ", plain(&shorten(engine, 16))));
    format!("{number:>4}  {:<26} {}", plain(&shorten(id, 26)), engine.unwrap_or_default())
}

/// Describes the right answer: `bm Nf3 Nd4`.
fn goal_text(record: &Record) -> String {
    let goal = &record.goal;
    let list = |name: &str, moves: &[Move]| {
        let moves: Vec<String> = moves.iter().map(|&m| plain_san(&record.position, m)).collect();
        (!moves.is_empty()).then(|| format!("{name} {}", moves.join(" ")))
    };
    let mate = goal.mate.map(|n| format!("mate in {n}"));
    let parts = [list("bm", &goal.best), list("am", &goal.avoid), mate];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if text.is_empty() { "full points".to_owned() } else { text }
}

fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    // Keep the number at the end, because it distinguishes positions.
    let tail: Vec<char> = text.chars().rev().take(7).collect();
    let head: String = text.chars().take(width - 9).collect();
    format!("{head}..{}", tail.iter().rev().collect::<String>())
}

/// Formats a score: `+1.25`, `#3`, `#-3`.
fn value_text(value: Value) -> String {
    match value {
        Value::Centipawns(centipawns) => format!("{:+.2}", f64::from(centipawns) / 100.0),
        Value::Mate(moves) => format!("#{moves}"),
    }
}

fn time_text(time: Option<Duration>) -> String {
    match time {
        None => "-".to_owned(),
        Some(time) if time < Duration::from_secs(10) => format!("{} ms", time.as_millis()),
        Some(time) => format!("{:.1} s", time.as_secs_f64()),
    }
}

fn percent_text(percent: Option<f64>) -> String {
    percent.map_or("-".to_owned(), |percent| format!("{percent:.1}"))
}

fn speed_text(tally: &Tally) -> String {
    tally.speed().map_or("-".to_owned(), |speed| HumanCount(speed as u64).to_string())
}

fn ratio(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{part}/{whole}") }
}

/// Returns the cells of a table row after its name.
fn figures(tally: &Tally) -> Vec<String> {
    vec![
        ratio(tally.solved as u64, tally.graded as u64),
        percent_text(tally.percent_solved()),
        ratio(tally.points, tally.max_points),
        percent_text(tally.percent_points()),
        time_text(tally.mean_time()),
        time_text(tally.median_time()),
        speed_text(tally),
    ]
}

const FIGURES: [&str; 7] =
    ["solved", "solved %", "points", "points %", "mean time", "median time", "nodes/s"];

/// Formats a table of these rows with their sum at the end. It shows all figures of one engine, or
/// compares several engines in columns.
fn figures_table(
    title: &str,
    mut rows: Vec<(String, Vec<Tally>)>,
    total: (&str, &[Tally]),
    names: &[String],
) -> String {
    let (label, totals) = total;
    rows.push((label.to_owned(), totals.to_vec()));
    if totals.len() == 1 {
        let header: Vec<&str> = iter::once(title).chain(FIGURES).collect();
        let row = |(label, tallies): (String, Vec<Tally>)| {
            iter::once(label).chain(tallies.iter().flat_map(figures)).collect()
        };
        return table(&header, 1.., rows.into_iter().map(row));
    }
    let cell = |tally: &Tally| {
        let mut text = ratio(tally.solved as u64, tally.graded as u64);
        text.push_str(&format!(" ({}%)", percent_text(tally.percent_solved())));
        if let Some(percent) = tally.percent_points() {
            text.push_str(&format!(", {percent:.1}% points"));
        }
        text
    };
    let columns: Vec<&str> = iter::once(title).chain(names.iter().map(String::as_str)).collect();
    let row = |label: &str, tallies: &[Tally], text: &dyn Fn(&Tally) -> String| -> Vec<String> {
        iter::once(label.to_owned()).chain(tallies.iter().map(text)).collect()
    };
    let has_points = totals.iter().any(|tally| tally.max_points > 0);
    let points = || row("points", totals, &|tally| ratio(tally.points, tally.max_points));
    let rows = rows.iter().map(|(label, tallies)| row(label, tallies, &cell));
    let rows = rows.chain(has_points.then(points)).chain([
        row("mean time", totals, &|tally| time_text(tally.mean_time())),
        row("median time", totals, &|tally| time_text(tally.median_time())),
        row("nodes/s", totals, &speed_text),
    ]);
    table(&columns, 1.., rows)
}

/// Returns the name of a suite.
fn label(suite: &EpdSuite) -> String {
    suite.path.file_stem().unwrap_or(suite.path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the report on one suite: its table with the themes, and notes. For several engines it
/// also lists the positions that only one of them solved.
pub(super) fn suite_report(result: &SuiteResult, names: &[String]) -> String {
    let SuiteResult { suite, attempts } = result;
    let records = &suite.positions;
    let tallies: Vec<Tally> = attempts.iter().map(Tally::of).collect();
    let themes = themes(result);
    let (title, label) = match themes[..] {
        [] => ("suite", label(suite)),
        _ => ("theme", "all".to_owned()),
    };
    let by = if let [name] = names { format!(" by {name}") } else { String::new() };
    let is_sts = records.iter().all(|record| record.id.starts_with("STS"));
    let figures = figures_table(title, themes, (&label, &tallies), names);
    let mut text = format!("\n{}{by}\n\n{figures}\n", suite.path.display());
    for (index, (name, tally)) in names.iter().zip(&tallies).enumerate() {
        for note in notes(records, &attempts[index], tally) {
            text.push_str(&format!("{name}: {note}\n"));
        }
        if let Some(rating) = tally.sts_rating().filter(|_| is_sts) {
            text.push_str(&format!(
                "{name}: STS rating {rating:.0} (a customary estimate, not a measured rating)\n"
            ));
        }
        if names.len() == 1 {
            continue;
        }
        // Some engines stop long after a node limit, so a comparison must show the nodes.
        if let Some(nodes) = tally.nodes.checked_div(tally.positions as u64) {
            let nodes = HumanCount(nodes);
            text.push_str(&format!("{name}: {nodes} nodes reported per position\n"));
        }
        let alone = solved_alone(result, index);
        if !alone.is_empty() {
            text.push_str(&format!(
                "{name}: {} solved by this engine only: {}\n",
                alone.len(),
                alone.join(", ")
            ));
        }
    }
    text
}

/// Returns the ids of the positions that only this engine solved, among those that all engines
/// attempted.
fn solved_alone(SuiteResult { suite, attempts }: &SuiteResult, engine: usize) -> Vec<&str> {
    let alone = |at: &usize| {
        let solved = |(index, attempts): (usize, &Vec<Option<Attempt>>)| {
            attempts[*at].as_ref().is_some_and(|a| (a.solved == Some(true)) == (index == engine))
        };
        attempts.iter().enumerate().all(solved)
    };
    (0..suite.positions.len()).filter(alone).map(|at| &*suite.positions[at].id).collect()
}

/// Returns notes about results that the table does not show.
fn notes(records: &[Record], attempts: &[Option<Attempt>], tally: &Tally) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: usize, what: &str| {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    };
    note(tally.failures, "not answered (counted as not solved)");
    note(tally.positions - tally.graded, "without a solution, not graded");
    note(records.len() - tally.positions, "not reached");
    let lower = attempts.iter().flatten().filter(|a| a.rank.is_some_and(|rank| rank > 1)).count();
    note(lower, "with the solution in a lower-ranked line");
    let longer = records
        .iter()
        .zip(attempts)
        .filter(|(record, attempt)| shows_longer_mate(record, attempt.as_ref()))
        .count();
    note(longer, "missed with a longer mate than required");
    notes
}

/// Returns whether the engine found a mate for the right side, but a longer one than required.
fn shows_longer_mate(record: &Record, attempt: Option<&Attempt>) -> bool {
    let shown = attempt
        .filter(|attempt| attempt.solved == Some(false) && attempt.failure.is_none())
        .and_then(|attempt| attempt.lines.first())
        .map(|line| line.value);
    match (record.goal.mate, shown) {
        (Some(goal), Some(Value::Mate(moves))) => {
            (goal > 0) == (moves > 0) && moves.abs() > goal.abs()
        }
        _ => false,
    }
}

/// Returns every engine's subtotals by theme, in the order of the file. Empty unless the ids name
/// at least two themes, and fewer themes than there are ids with a theme.
pub(super) fn themes(SuiteResult { suite, attempts }: &SuiteResult) -> Vec<(String, Vec<Tally>)> {
    let mut themes: Vec<(String, Vec<Tally>)> = Vec::new();
    let mut named = 0;
    for (at, record) in suite.positions.iter().enumerate() {
        let Some(name) = theme(&record.id) else { continue };
        named += 1;
        let index = themes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            themes.push((name.to_owned(), vec![Tally::default(); attempts.len()]));
            themes.len() - 1
        });
        for (tally, attempts) in themes[index].1.iter_mut().zip(attempts) {
            attempts[at].iter().for_each(|attempt| tally.add(attempt));
        }
    }
    if (2..named).contains(&themes.len()) { themes } else { Vec::new() }
}

/// Returns the table of all suites.
pub(super) fn overall_report(results: &[SuiteResult], names: &[String]) -> String {
    let rows = results
        .iter()
        .map(|result| (label(&result.suite), result.attempts.iter().map(Tally::of).collect()));
    let totals: Vec<Tally> = (0..names.len()).map(|engine| total(results, engine)).collect();
    figures_table("suite", rows.collect(), ("all", &totals), names)
}

/// Returns the sum over all suites for an engine.
pub(super) fn total(results: &[SuiteResult], engine: usize) -> Tally {
    Tally::of(results.iter().flat_map(|result| &result.attempts[engine]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(value_text(Value::Centipawns(-125)), "-1.25");
        assert_eq!(value_text(Value::Centipawns(7)), "+0.07");
        assert_eq!(value_text(Value::Mate(-3)), "#-3");
        assert_eq!(time_text(Some(Duration::from_millis(1500))), "1500 ms");
        assert_eq!(time_text(Some(Duration::from_millis(15_550))), "15.6 s");
        assert_eq!(
            shorten("STS(v2.2) Open Files and Diagonals.001", 26),
            "STS(v2.2) Open Fi..als.001"
        );
        assert_eq!(shorten("WAC.001", 26), "WAC.001");
    }
}
