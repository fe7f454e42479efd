//! The output of a run: a table for people, and CSV and JSON for programs. The measurements come
//! from [`suite`](super::suite). Only the ranking and the percentages are computed here.

use comfy_table::{CellAlignment, Table, presets};

use super::{
    cell::Cell,
    delay::ScoreDelay,
    interior::Interior,
    root::{End, Root},
    suite::{Mate, Measurement, Report},
};
use lancet::chess::notation::{counted, short};

/// The heading of a column, and a function that returns the text of a row in it.
pub(super) type Column = (&'static str, fn(&Measurement) -> String);

/// The columns of the CSV after those of the axes.
const COLUMNS: &[Column] = &[
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

/// Returns the report as CSV, one line per cell.
///
/// # Errors
///
/// If the CSV writer fails.
pub fn csv(report: &Report) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(Cell::AXES.into_iter().chain(COLUMNS.iter().map(|(name, _)| *name)))?;
    for row in &report.rows {
        let counts = COLUMNS.iter().map(|(_, value)| value(row));
        writer.write_record(row.cell.columns().into_iter().chain(counts))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Returns the cells that differ only in their algorithm and window: each interior with the full
/// window, and each root driver with the recommended interior. Returns the first ten cells if there
/// are fewer than two of these.
pub(super) fn algorithms(report: &Report) -> Vec<&Measurement> {
    let advice = Cell::ADVICE;
    let plain = |cell: &Cell| {
        let Cell { interior, root, window, .. } = advice;
        Cell { interior, root, window, ..*cell }
    };
    let wanted = |row: &&Measurement| {
        let cell = row.cell;
        row.depth == report.depth
            && !cell.interior.is_variant()
            && plain(&cell) == advice
            && (cell.root == Root::Full || cell.interior == Interior::Pvs)
    };
    let rows: Vec<&Measurement> = report.rows.iter().filter(wanted).collect();
    if rows.len() < 2 { report.rows.iter().take(10).collect() } else { rows }
}

/// Returns a short name of a cell: its algorithms, and all other differences from [`Cell::ADVICE`].
pub(super) fn label(cell: &Cell) -> String {
    let own = cell.columns();
    let mut text = format!("{} {}", own[0], own[1]);
    for (axis, advised) in Cell::ADVICE.columns().iter().enumerate().skip(2) {
        match own[axis].as_str() {
            "-" => {}
            value if value == advised => {}
            "off" => text += " no table",
            value if axis == 2 => text += &format!(" ±{value}"),
            value => text += &format!(" {value}"),
        }
    }
    text
}

/// Returns the table for people, followed by notes.
pub fn people(report: &Report) -> String {
    let mut text = format!(
        "{}, depth {}, {} leaves, move ordering {}, {} iterative deepening\n\
         {}\n{LEGEND}",
        counted(report.positions, "position"),
        report.depth,
        report.leaf,
        report.ordering,
        if report.iterative { "with" } else { "without" },
        cells_table(report),
    );
    let delays = report.rows.iter().any(|row| row.cell.delay != report.rows[0].cell.delay);
    let mates = report.rows.iter().flat_map(|row| &row.outcomes).any(|o| o.mate.is_some());
    if delays && mates {
        text += &format!("{MATES}\n{}\n", mates_table(report));
    }
    text + &notes(report)
}

/// Returns a table without rules. All columns but the first are numbers and right-aligned.
fn table(head: &[&str], rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head).add_rows(rows);
    let last = table.column_count().saturating_sub(1);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, u16::from(at < last)));
        if at > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

const MATES: &str = "\
Positions with a mate: found at its distance, missed, false, or found at a wrong distance;
across: hits on entries stored at another distance from the root; turned: bounds taken for scores";

fn mates_table(report: &Report) -> Table {
    let head = ["", "found", "missed", "false", "distance", "across", "turned"];
    let row = |row: &Measurement| {
        let kinds = [Mate::Found, Mate::Missed, Mate::False, Mate::WrongDistance];
        let counts = kinds.map(|kind| row.mates(kind).to_string());
        let costs = [row.total.across, row.total.turned].map(|n| short(n as f64));
        [label(&row.cell)].into_iter().chain(counts).chain(costs).collect()
    };
    table(&head, report.rows.iter().map(row).collect())
}

const LEGEND: &str = "\
nodes: interior nodes and leaves per position (geometric mean)
more: compared with the smallest tree of a sound search
replay: nodes relative to the same search with every best move known beforehand
K-M: nodes of the last depth relative to the Knuth-Moore estimate; EBF: effective branching factor
null: percentage of nodes searched with a null window; qs: nodes of the quiescence search
again: re-searches; pass: searches of the root; cuts: cutoffs by the table
*: a search that may return wrong scores. --csv and --json print all columns.
";

/// Returns the rows, deepest first, and those of the same depth by the size of their trees.
fn ranked(report: &Report) -> Vec<&Measurement> {
    let mut rows: Vec<&Measurement> = report.rows.iter().collect();
    rows.sort_by(|a, b| a.cmp_cost(b));
    rows
}

fn cells_table(report: &Report) -> Table {
    let rows = ranked(report);
    let quiescence = rows.iter().any(|row| row.total.quiescence > 0);
    let mut head = vec!["", "nodes", "more", "replay", "K-M", "EBF", "null"];
    head.extend(quiescence.then_some("qs"));
    head.extend(["again", "pass", "cuts", "sec"]);
    let deepest = |row: &&&Measurement| row.cell.is_sound() && row.depth == report.depth;
    let least = rows.iter().find(deepest).map(|row| row.mean_nodes);
    let row = |row: &&Measurement| {
        let t = &row.total;
        let count = |n: u64| short(n as f64);
        let ratio = |x: Option<f64>| {
            x.map_or_else(|| "-".to_owned(), |x| format!("{x:.*}", if x < 10.0 { 2 } else { 1 }))
        };
        let mut fields = vec![label(&row.cell), short(row.mean_nodes)];
        fields[0] += if row.cell.is_sound() { "" } else { "*" };
        if row.depth < report.depth {
            fields[0] += &format!(", depth {}", row.depth);
        }
        let least = least.filter(|_| row.depth == report.depth);
        fields.push(least.map_or_else(
            || "-".to_owned(),
            |least| {
                let more = 100.0 * (row.mean_nodes / least - 1.0);
                format!("{more:+.*}%", usize::from(more < 100.0))
            },
        ));
        fields.extend([row.replay_ratio, Some(row.knuth_moore_ratio)].map(ratio));
        fields.push(ratio(row.branching.last().copied()));
        fields.push(format!("{:.0}", 100.0 * t.null as f64 / t.nodes().max(1) as f64));
        fields.extend(quiescence.then(|| count(t.quiescence)));
        fields.extend([t.researches, t.passes, t.cutoffs].map(count));
        fields.push(format!("{:.2}", t.seconds));
        fields
    };
    table(&head, rows.iter().map(row).collect())
}

/// Maximum number of positions listed for a row. JSON lists all.
const LISTED: usize = 5;

fn notes(report: &Report) -> String {
    let mut text = String::new();
    for row in &report.rows {
        let stuck = row.outcomes.iter().filter(|o| !o.unconverged.is_empty());
        let stuck = stuck.map(|o| format!("{} ({})", o.id, ends(&o.unconverged))).collect();
        text += &list(&row.cell, "did not converge", stuck);
        if !row.cell.is_sound() {
            let odd = row.outcomes.iter().filter(|o| !o.differences.is_empty());
            let odd = odd.map(|o| format!("{} ({})", o.id, o.differences[0])).collect();
            text += &list(&row.cell, "differs from the reference, as expected,", odd);
        }
    }
    if !report.checked {
        let selectivity = report.selectivity.join(", ");
        text +=
            &format!("scores: not compared, because searches with {selectivity} need not agree\n");
    } else if report.failures.is_empty() {
        let sound = report.rows.iter().filter(|row| row.cell.is_sound()).count();
        text += &format!(
            "the scores of {} on {} agree with the reference at every depth,\n\
             and every best move is worth the score\n",
            counted(sound, "sound cell"),
            counted(report.positions, "position"),
        );
    }
    let rivals = ranked(report).into_iter().filter(|row| {
        row.cell.is_sound() && row.depth == report.depth && row.cell.delay == ScoreDelay::None
    });
    let advice = rivals.clone().find(|row| row.cell == Cell::ADVICE);
    if let (Some(best), Some(advice)) = (rivals.clone().next(), advice) {
        text += &format!(
            "smallest trees: {} with {} nodes per position;\n\
             {}, which the lecture notes on alpha-beta recommend, has {} ({:+.1}%)\n",
            label(&best.cell),
            short(best.mean_nodes),
            label(&advice.cell),
            short(advice.mean_nodes),
            100.0 * (advice.mean_nodes / best.mean_nodes - 1.0),
        );
    }
    text
}

/// Returns, for example, "depth 3 stopped, depth 5 bounds crossed".
fn ends(ends: &[(u32, End)]) -> String {
    let text = |&(depth, end): &(u32, End)| {
        let how = if end == End::Crossed { "bounds crossed" } else { "stopped" };
        format!("depth {depth} {how}")
    };
    ends.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Returns a heading and a list of positions, one per line; empty if there are no positions.
fn list(cell: &Cell, what: &str, mut items: Vec<String>) -> String {
    let all = items.len();
    if all == 0 {
        return String::new();
    }
    if all > LISTED {
        items.truncate(LISTED);
        items.push(format!("and {} more", all - LISTED));
    }
    format!("{} {what} on {}:\n  {}\n", label(cell), counted(all, "position"), items.join("\n  "))
}
