//! What a run looks like: a table for people, CSV and JSON for programs.
//! Nothing is computed here but which cells are best.

use std::io::{self, Write};

use comfy_table::{Cell as Field, CellAlignment, Table, presets};

use super::{
    cell::Cell,
    delay::ScoreDelay,
    interior::Interior,
    root::{End, Root},
    suite::{Mate, Report, Row},
    table::TableMode,
};
use lancet::chess::notation::short;

/// The names and values of everything counted for a row: the columns of the
/// CSV, in order.
type Column = (&'static str, fn(&Row) -> String);

const COLUMNS: &[Column] = &[
    ("interior", |r| r.cell.columns()[0].clone()),
    ("root", |r| r.cell.columns()[1].clone()),
    ("window", |r| r.cell.columns()[2].clone()),
    ("table", |r| r.cell.columns()[3].clone()),
    ("entries", |r| r.cell.columns()[4].clone()),
    ("replacement", |r| r.cell.columns()[5].clone()),
    ("size", |r| r.cell.columns()[6].clone()),
    ("delay", |r| r.cell.columns()[7].clone()),
    ("depth", |r| r.depth.to_string()),
    ("nodes", |r| r.total.nodes().to_string()),
    ("mean_nodes", |r| format!("{:.1}", r.mean_nodes)),
    ("interior_nodes", |r| r.total.interior.to_string()),
    ("leaves", |r| r.total.leaves.to_string()),
    ("null_window_nodes", |r| r.total.null.to_string()),
    ("quiescence", |r| r.total.quiescence.to_string()),
    ("researches", |r| r.total.researches.to_string()),
    ("passes", |r| r.total.passes.to_string()),
    ("null_window_passes", |r| r.total.null_passes.to_string()),
    ("hits", |r| r.total.hits.to_string()),
    ("cutoffs", |r| r.total.cutoffs.to_string()),
    ("second_bound", |r| r.total.second_bound.to_string()),
    ("seconds", |r| format!("{:.3}", r.total.seconds)),
    ("replayed", |r| r.replayed.map_or_else(String::new, |n| n.to_string())),
    ("replay_ratio", |r| r.replay_ratio.map_or_else(String::new, |x| format!("{x:.4}"))),
    ("knuth_moore_ratio", |r| format!("{:.4}", r.knuth_moore_ratio)),
    ("branching", |r| r.branching.last().map_or_else(String::new, |b| format!("{b:.3}"))),
    ("across", |r| r.total.across.to_string()),
    ("turned", |r| r.total.turned.to_string()),
    ("mates_found", |r| r.mates(Mate::Found).to_string()),
    ("mates_missed", |r| r.mates(Mate::Missed).to_string()),
    ("mates_false", |r| r.mates(Mate::False).to_string()),
    ("mates_wrong_distance", |r| r.mates(Mate::WrongDistance).to_string()),
    ("different", |r| r.different.to_string()),
    ("unconverged", |r| r.unconverged.to_string()),
];

/// One line per cell.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn csv(report: &Report, out: impl Write) -> io::Result<()> {
    // Made an `io::Error` by `?`, it would lose its kind: a closed pipe is none of ours.
    let kept = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    };
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS.iter().map(|(title, _)| title)).map_err(kept)?;
    for row in &report.rows {
        writer.write_record(COLUMNS.iter().map(|(_, value)| value(row))).map_err(kept)?;
    }
    writer.flush()
}

/// Everything, single positions included.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn json(report: &Report, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, report)?;
    writeln!(out)
}

/// A star if the row is best in this measure among the sound rows of its delay
/// and of the run's depth.
fn star(report: &Report, row: &Row, measure: impl Fn(&Row) -> f64) -> &'static str {
    let plays = |r: &Row| r.depth == report.depth && r.cell.is_sound();
    let rivals = report.rows.iter().filter(|r| plays(r) && r.cell.delay == row.cell.delay);
    let measures: Vec<f64> = rivals.map(&measure).collect();
    let best = plays(row) && measures.len() > 1 && measures.iter().all(|&m| measure(row) <= m);
    if best { "*" } else { "" }
}

/// The cells that show algorithms rather than tables: each interior under the
/// full window, each root driver over the advised interior. Plots and the
/// branching table show these, if there are any.
pub(super) fn algorithms(report: &Report) -> Vec<&Row> {
    let advice = Cell::ADVICE;
    let plain = |cell: &Cell| {
        let Cell { interior, root, window, .. } = advice;
        Cell { interior, root, window, ..*cell }
    };
    let wanted = |row: &&Row| {
        let cell = row.cell;
        row.depth == report.depth
            && !cell.interior.is_variant()
            && plain(&cell) == advice
            && (cell.root == Root::Full || cell.interior == Interior::Pvs)
    };
    let rows: Vec<&Row> = report.rows.iter().filter(wanted).collect();
    if rows.len() < 2 { report.rows.iter().take(14).collect() } else { rows }
}

/// A short name of a cell: what differs from the advised one.
pub(super) fn label(cell: &Cell) -> String {
    let advice = Cell::ADVICE;
    let [interior, root, window, table, entries, replacement, size, delay] = cell.columns();
    let mut text = format!("{interior} {root}");
    let mut add = |differs: bool, part: &str| {
        if differs {
            text.push(' ');
            text.push_str(part);
        }
    };
    let has_table = cell.table != TableMode::Off;
    add(cell.root.aspires() && cell.window != advice.window, &format!("+-{window}"));
    add(cell.table != advice.table, &if has_table { table } else { "no table".to_owned() });
    add(has_table && cell.entries != advice.entries, &entries);
    add(has_table && cell.replacement != advice.replacement, &replacement);
    add(has_table && cell.size != advice.size, &size);
    add(cell.delay != advice.delay, &delay);
    text
}

/// The table for people, and below it what deserves words.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn people(report: &Report, mut out: impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{} positions, depth {}, {} leaves, move ordering {}, {} iterative deepening",
        report.positions,
        report.depth,
        report.leaf,
        report.ordering,
        if report.iterative { "with" } else { "without" },
    )?;
    writeln!(out, "{}", cells_table(report))?;
    writeln!(out, "{LEGEND}")?;
    writeln!(out, "Effective branching factor by depth\n{}", branching_table(report))?;
    let delays = report.rows.iter().any(|row| row.cell.delay != report.rows[0].cell.delay);
    let mates = report.rows.iter().flat_map(|row| &row.outcomes).any(|o| o.mate.is_some());
    if delays && mates {
        writeln!(out, "{MATES}\n{}", mates_table(report))?;
    }
    notes(report, &mut out)
}

const MATES: &str = "\
Mates, by positions: found at their distance, missed, claimed where there is none, at a wrong
distance; across: table hits from another distance to the root; turned: bounds taken for scores";

fn mates_table(report: &Report) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "found", "missed", "false", "distance", "across", "turned"]);
    for row in &report.rows {
        let kinds = [Mate::Found, Mate::Missed, Mate::False, Mate::WrongDistance];
        let counts = kinds.map(|kind| row.mates(kind).to_string());
        let costs = [row.total.across, row.total.turned].map(|n| short(n as f64));
        table.add_row([label(&row.cell)].into_iter().chain(counts).chain(costs));
    }
    align(&mut table, 1, 7);
    table
}

const LEGEND: &str = "\
nodes: inner nodes and leaves over the suite; mean: geometric, per position; *: best of its delay
window: half the first aspiration window, in centipawns
xreplay: nodes over those of the same search that knows every best or refuting move beforehand
xK-M: nodes of the last depth over the Knuth-Moore bound; EBF: over those of the depth before
null%: share of the nodes that were asked with a null window
again: re-searches; hits, cuts: table hits, and those that settled a node; 2nd: of the cuts, those
that an entry with one bound would not have given
differ: positions where score or best move is not the reference's; stuck: MTD(f) did not converge
";

fn cells_table(report: &Report) -> Table {
    let quiescence = report.rows.iter().any(|row| row.total.quiescence > 0);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut head = vec![
        "interior", "root", "window", "table", "delay", "d", "nodes", "mean", "xreplay", "xK-M",
        "EBF", "inner", "leaves", "null%",
    ];
    head.extend(quiescence.then_some("quiesc."));
    head.extend(["again", "passes", "hits", "cuts", "2nd", "seconds", "differ", "stuck"]);
    let columns = head.len();
    table.set_header(head);
    let advice = Cell::ADVICE.columns()[4].clone();
    for row in &report.rows {
        let [interior, root, window, mode, entries, replacement, size, delay] = row.cell.columns();
        let kind = if row.cell.table == TableMode::Off {
            mode
        } else {
            let entries = if entries == advice { String::new() } else { format!("{entries} ") };
            format!("{mode} {entries}{replacement} {size}")
        };
        let t = &row.total;
        let count = |n: u64| short(n as f64);
        let ratio = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.2}"));
        let odd = |n: usize| if n == 0 { "-".to_owned() } else { n.to_string() };
        let mut fields = vec![interior, root, window, kind, delay, row.depth.to_string()];
        fields.push(count(t.nodes()) + star(report, row, |r| r.total.nodes() as f64));
        fields.push(short(row.mean_nodes) + star(report, row, |r| r.mean_nodes));
        fields.push(ratio(row.replay_ratio));
        fields.extend([ratio(Some(row.knuth_moore_ratio)), ratio(row.branching.last().copied())]);
        fields.extend([count(t.interior), count(t.leaves)]);
        fields.push(format!("{:.0}", 100.0 * t.null as f64 / t.nodes().max(1) as f64));
        fields.extend(quiescence.then(|| count(t.quiescence)));
        fields.extend([t.researches, t.passes, t.hits, t.cutoffs, t.second_bound].map(count));
        let fastest = star(report, row, |r| r.total.seconds);
        fields.push(format!("{:.2}{fastest}", t.seconds));
        fields.extend([row.different, row.unconverged].map(odd));
        table.add_row(fields);
    }
    align(&mut table, 5, columns);
    table
}

fn branching_table(report: &Report) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let depths = 2..=report.depth;
    table.set_header(
        std::iter::once(Field::new("")).chain(depths.clone().map(|d| Field::new(format!("d{d}")))),
    );
    for row in algorithms(report) {
        let factors = row.branching.iter().map(|b| format!("{b:.2}"));
        table.add_row(std::iter::once(label(&row.cell)).chain(factors));
    }
    align(&mut table, 1, report.depth as usize);
    table
}

/// Numbers stand right.
fn align(table: &mut Table, from: usize, to: usize) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for column in table.column_iter_mut().take(to).skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// At most this many positions are listed for a row; JSON has them all.
const LISTED: usize = 5;

fn notes(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for row in &report.rows {
        if row.unconverged > 0 {
            let what = "MTD(f) did not converge";
            let stuck = row.outcomes.iter().filter(|o| !o.unconverged.is_empty());
            let stuck: Vec<String> =
                stuck.map(|o| format!("{} ({})", o.id, ends(&o.unconverged))).collect();
            list(out, &row.cell, what, &stuck)?;
        }
        if row.different > 0 && !row.cell.is_sound() {
            let odd = row.outcomes.iter().filter(|o| !o.differences.is_empty());
            let odd: Vec<String> =
                odd.map(|o| format!("{} ({})", o.id, o.differences[0])).collect();
            list(out, &row.cell, "differs from the truth, as such cells may", &odd)?;
        }
    }
    if !report.selectivity.is_empty() {
        writeln!(
            out,
            "truth: not checked, selective searches ({}) need not agree",
            report.selectivity.join(", ")
        )?;
    } else if report.failures.is_empty() {
        let sound = report.rows.iter().filter(|row| row.cell.is_sound()).count();
        writeln!(
            out,
            "truth: {sound} sound cells x {} positions agree with the reference at every depth, \
             and every best move is worth the score",
            report.positions,
        )?;
    }
    let mean = |row: &Row| row.mean_nodes;
    let rivals = report.rows.iter().filter(|row| {
        row.cell.is_sound() && row.depth == report.depth && row.cell.delay == ScoreDelay::None
    });
    let best = rivals.clone().min_by(|a, b| mean(a).total_cmp(&mean(b)));
    let advice = rivals.clone().find(|row| row.cell == Cell::ADVICE);
    if let (Some(best), Some(advice)) = (best, advice) {
        writeln!(
            out,
            "best: {} with {} nodes per position (geometric mean); the documents' advice, {}, \
             has {} ({:+.1}%)",
            label(&best.cell),
            short(mean(best)),
            label(&advice.cell),
            short(mean(advice)),
            100.0 * (mean(advice) / mean(best) - 1.0),
        )?;
    }
    Ok(())
}

/// "depth 3 stopped, depth 5 bounds crossed".
fn ends(ends: &[(u32, End)]) -> String {
    let word = |end| match end {
        End::Converged => "converged",
        End::Stopped => "stopped",
        End::Crossed => "bounds crossed",
    };
    let texts: Vec<String> =
        ends.iter().map(|&(depth, end)| format!("depth {depth} {}", word(end))).collect();
    texts.join(", ")
}

fn list(out: &mut impl Write, cell: &Cell, what: &str, items: &[String]) -> io::Result<()> {
    let more = items.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let shown = &items[..items.len().min(LISTED)];
    writeln!(out, "[{cell}] {what} on {}: {}{more}", items.len(), shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let cases = [
            (0.0, "0"),
            (950.0, "950"),
            (12_345.0, "12.3k"),
            (999_960.0, "1.00M"),
            (4_560_000.0, "4.56M"),
            (456_000_000.0, "456M"),
            (2e9, "2.00G"),
        ];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
    }
}
