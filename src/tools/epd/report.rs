//! Results as text for people: a line per position, and tables.
//!
//! Tables are Markdown, so that they can be pasted into a README. Files for
//! programs are in `export`.

use std::{iter, time::Duration};

use comfy_table::{Cell, CellAlignment, Table, presets::ASCII_MARKDOWN};
use console::style;
use indicatif::HumanCount;
use shakmaty::Move;

use super::{
    run::SuiteResult,
    score::{Attempt, Solution, Tally, Value, theme},
};
use crate::{
    chess::{epd::Record, notation::plain_san},
    system::stdio::plain,
    tools::positions::Suite,
};

/// The line about a position that was just answered, in colours. `engine` is named where
/// several run.
pub(super) fn live_line(
    number: usize,
    record: &Record,
    attempt: &Attempt,
    engine: Option<&str>,
) -> String {
    let verdict = match (&attempt.failure, attempt.solved) {
        (Some(_), _) => style("failed").red().bold(),
        (None, Some(true)) => style("found ").green(),
        (None, Some(false)) => style("not   ").red(),
        (None, None) => style("played").dim(),
    };
    let mut line = format!("{number:>4}  {:<26} ", plain(&shorten(&record.id, 26)));
    if let Some(engine) = engine {
        line.push_str(&format!("{:<16} ", plain(&shorten(engine, 16))));
    }
    line.push_str(&verdict.to_string());
    if let Some(failure) = &attempt.failure {
        line.push_str(&format!("  {}", plain(failure)));
        return line;
    }
    // When the solution appeared, or what was spent in vain.
    let depth = attempt.lines.first().map_or(0, |line| line.depth);
    let spent = Solution { depth, time: attempt.time, nodes: attempt.nodes };
    let at = attempt.solution.unwrap_or(spent);
    let best = attempt.best.map_or("(none)".to_owned(), |m| plain_san(&record.position, m));
    let value = attempt.lines.first().map_or(String::new(), |line| value_text(line.value));
    line.push_str(&format!(
        "  depth {:>2} {:>9} {:>12} nodes  {best:<7} {value:>7}",
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

/// What would have been right: `bm Nf3 Nd4`.
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
    // The number at the end tells positions apart.
    let tail: Vec<char> = text.chars().rev().take(7).collect();
    let head: String = text.chars().take(width - 9).collect();
    format!("{head}..{}", tail.iter().rev().collect::<String>())
}

/// `+1.25`, `#3`, `#-3`.
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

/// A table whose first column is text and whose others are numbers.
fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row.into_iter().enumerate().map(|(column, text)| {
            let side = if column == 0 { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text).set_alignment(side)
        }));
    }
    table.to_string()
}

/// The figures of a table row after its name.
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

fn header(first: &'static str) -> Vec<&'static str> {
    iter::once(first).chain(FIGURES).collect()
}

/// The tables of one suite: a row per engine, and per theme where the ids are
/// those of the Strategic Test Suite.
pub(super) fn suite_report(result: &SuiteResult, names: &[String]) -> String {
    let SuiteResult { suite, attempts } = result;
    let records = &suite.positions;
    let tallies: Vec<Tally> = attempts.iter().map(Tally::of).collect();
    let rows = names.iter().zip(&tallies);
    let rows = rows.map(|(name, tally)| iter::once(name.clone()).chain(figures(tally)).collect());
    let mut text = format!("\n{}\n\n{}\n", suite.path.display(), table(&header("engine"), rows));
    for ((name, tally), attempts) in names.iter().zip(&tallies).zip(attempts) {
        for note in notes(records, attempts, tally) {
            text.push_str(&format!("{name}: {note}\n"));
        }
        // Some engines stop long after a node limit: comparisons should tell.
        if let Some(nodes) = tally.nodes.checked_div(tally.positions as u64)
            && names.len() > 1
        {
            text.push_str(&format!("{name}: {} nodes a position\n", HumanCount(nodes)));
        }
        let themes = themes(records, attempts);
        if themes.is_empty() {
            continue;
        }
        let rows = themes.iter().map(|(theme, tally)| {
            let mut row = vec![theme.clone()];
            row.extend(figures(tally).into_iter().take(4));
            row
        });
        let title = format!("{name} by theme");
        text.push_str(&format!(
            "\n{}\n",
            table(&[&title, FIGURES[0], FIGURES[1], FIGURES[2], FIGURES[3]], rows)
        ));
        if let Some(rating) = tally.sts_rating() {
            text.push_str(&format!(
                "{name}: STS rating {rating:.0} (a customary estimate, not a measured rating)\n"
            ));
        }
    }
    text
}

/// What a row of figures does not say.
fn notes(records: &[Record], attempts: &[Option<Attempt>], tally: &Tally) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: usize, what: &str| {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    };
    note(tally.failures, "not answered (counted as not solved)");
    note(tally.positions - tally.graded, "without anything to grade");
    note(records.len() - tally.positions, "not reached");
    let lower = attempts.iter().flatten().filter(|a| a.rank.is_some_and(|rank| rank > 1)).count();
    note(lower, "with the solution in a lower line");
    let longer = records
        .iter()
        .zip(attempts)
        .filter(|(record, attempt)| shows_longer_mate(record, attempt.as_ref()))
        .count();
    note(longer, "more with a longer mate than asked for");
    notes
}

/// Did the engine see that there is a mate, but not the shortest?
fn shows_longer_mate(record: &Record, attempt: Option<&Attempt>) -> bool {
    let shown = attempt
        .filter(|attempt| attempt.solved == Some(false))
        .and_then(|attempt| attempt.lines.first())
        .map(|line| line.value);
    match (record.goal.mate, shown) {
        (Some(goal), Some(Value::Mate(moves))) => (goal > 0) == (moves > 0),
        _ => false,
    }
}

/// Subtotals by Strategic Test Suite theme, in the order of the file.
pub(super) fn themes(records: &[Record], attempts: &[Option<Attempt>]) -> Vec<(String, Tally)> {
    let mut themes: Vec<(String, Tally)> = Vec::new();
    for (record, attempt) in records.iter().zip(attempts) {
        let (Some(name), Some(attempt)) = (theme(&record.id), attempt) else { continue };
        let index = themes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            themes.push((name.to_owned(), Tally::default()));
            themes.len() - 1
        });
        themes[index].1.add(attempt);
    }
    themes
}

/// The table over all suites: all figures of one engine, or several engines
/// side by side.
pub(super) fn overall_report(results: &[SuiteResult], names: &[String]) -> String {
    let suites = results.iter().map(|SuiteResult { suite: Suite { path, .. }, attempts }| {
        let label = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        (label, attempts.iter().map(Tally::of).collect::<Vec<_>>())
    });
    let totals: Vec<Tally> = (0..names.len()).map(|engine| total(results, engine)).collect();
    if let [total] = &totals[..] {
        let rows = suites
            .chain(iter::once(("all".to_owned(), vec![total.clone()])))
            .map(|(label, tallies)| iter::once(label).chain(figures(&tallies[0])).collect());
        return table(&header("suite"), rows);
    }
    let cell = |tally: &Tally| {
        let mut text = ratio(tally.solved as u64, tally.graded as u64);
        text.push_str(&format!(" ({}%)", percent_text(tally.percent_solved())));
        if let Some(percent) = tally.percent_points() {
            text.push_str(&format!(", {percent:.1}% points"));
        }
        text
    };
    let columns: Vec<&str> = iter::once("suite").chain(names.iter().map(String::as_str)).collect();
    let row = |label: &str, tallies: &[Tally], text: &dyn Fn(&Tally) -> String| -> Vec<String> {
        iter::once(label.to_owned()).chain(tallies.iter().map(text)).collect()
    };
    let rows = suites.map(|(label, tallies)| row(&label, &tallies, &cell)).chain([
        row("all", &totals, &cell),
        row("points", &totals, &|tally| ratio(tally.points, tally.max_points)),
        row("mean time", &totals, &|tally| time_text(tally.mean_time())),
        row("median time", &totals, &|tally| time_text(tally.median_time())),
        row("nodes/s", &totals, &speed_text),
    ]);
    table(&columns, rows)
}

/// The sum over all suites of an engine.
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
