//! `lancet-lab report`: the experiments of the lab, run one after the other and
//! written into one page that needs nothing but a browser.
//!
//! Which cells an experiment has, and the words around its table, are here; how
//! anything is searched or counted is not.

use clap::ValueEnum;

use super::{
    cell::Axes,
    chess::Leaf,
    delay::ScoreDelay,
    interior::Interior,
    node::Selectivity,
    output::{Column, label},
    plot,
    root::Root,
    run::Conditions,
    suite::{Item, Job, Mate, Measurement, Report, Suite, run_suite},
    table::{Entries, TableMode},
    yardstick::ratio,
};
use lancet::{chess::notation::short, system::version::VERSION};

/// What the page is about.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Plies of every experiment but the last, which has one more, and that of the score
    /// delays, which has enough for a mate in three.
    pub depth: u32,
    /// The positions of `lancet bench`.
    pub suite: Vec<Item>,
    /// Positions with short mates, for the score delays.
    pub mates: Vec<Item>,
}

/// Plies to a mate in three.
const MATE_DEPTH: u32 = 5;

const CUTS: Column = ("cut-offs by the table", |r| short(r.total.cutoffs as f64));
const PASSES: Column = ("passes", |r| short(r.total.passes as f64));
const AGAIN: Column = ("re-searches", |r| short(r.total.researches as f64));
const NULL: Column = ("null-window nodes", |r| percent(r.total.null, r.total.nodes()));
const SECOND: Column =
    ("cut-offs owed to the second bound", |r| percent(r.total.second_bound, r.total.cutoffs));
const STUCK: Column = ("stuck", |r| r.unconverged.to_string());
const TURNED: Column = ("bounds turned into scores", |r| short(r.total.turned as f64));
const ACROSS: Column = ("hits across distances", |r| short(r.total.across as f64));
const WRONG: Column = ("positions wrong", |r| r.different.to_string());
const FOUND: Column = ("mates found", |r| r.mates(Mate::Found).to_string());
const FALSE: Column = ("false mates", |r| r.mates(Mate::False).to_string());
const FAR: Column = ("wrong distance", |r| r.mates(Mate::WrongDistance).to_string());

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// One question, the runs that answer it, and what to read in them.
struct Experiment {
    title: &'static str,
    text: &'static str,
    /// What a run's rows are called besides their cells, and the run.
    runs: Vec<(&'static str, Job<'static>)>,
    columns: &'static [Column],
    /// On the positions with mates?
    mates: bool,
    /// With the picture of nodes by depth?
    picture: bool,
}

impl Experiment {
    /// An experiment on the usual positions, without a picture.
    fn new(
        title: &'static str,
        text: &'static str,
        runs: Vec<(&'static str, Job<'static>)>,
        columns: &'static [Column],
    ) -> Experiment {
        Experiment { title, text, runs, columns, mates: false, picture: false }
    }
}

/// The page, as HTML; `tick` is told each experiment's title before it is run.
///
/// # Errors
///
/// What the plotting library says, or that a sound search did not say the truth.
pub fn page(scope: &Scope, tick: &dyn Fn(&str)) -> anyhow::Result<String> {
    let mut body = String::new();
    let mut contents = String::new();
    for (number, experiment) in (1..).zip(experiments(scope.depth)) {
        tick(experiment.title);
        let title = escape(experiment.title);
        contents += &format!("<li><a href=\"#e{number}\">{title}</a></li>");
        body += &format!("<h2 id=\"e{number}\">{number}. {title}</h2>");
        body += &section(&experiment, scope)?;
    }
    let (depth, positions) = (scope.depth, scope.suite.len());
    Ok(format!(
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>Which search has the smallest trees?</title><style>{STYLE}</style>\
         <h1>Which search has the smallest trees?</h1>\
         <p>The experiments of <code>lancet-lab report --depth {depth}</code> (Lancet {VERSION}) on \
         {positions} positions, those of lancet bench. All searches of an experiment see the same \
         positions, evaluation and move order; where nothing is left out, all sound ones returned \
         the same scores.</p><p>{HOW}</p><ol>{contents}</ol>{body}</html>\n",
    ))
}

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;\
    color:#222}table{border-collapse:collapse;font-size:14px}td,th{padding:.15em .7em;text-align:\
    right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}\
    th{vertical-align:bottom}td.bar{width:12em;padding:0}td.bar div{background:#4a7ebb;height:.9em}\
    tr.unsound td:first-child{color:#b00}svg{max-width:100%;height:auto}h2{margin-top:2em}";

const HOW: &str = "Nodes are inner nodes and leaves over all iterations, as the geometric mean per \
    position. The column after the bar compares with the first row, position by position; behind \
    +- stands the half-width of the 95 % interval of the mean. Red: searches that need not say the \
    truth.";

/// Runs an experiment and writes it down.
fn section(experiment: &Experiment, scope: &Scope) -> anyhow::Result<String> {
    let items = if experiment.mates { &scope.mates } else { &scope.suite };
    let mut reports: Vec<(&str, Report)> = Vec::new();
    for (name, job) in &experiment.runs {
        let report = run_suite(Suite::Chess(items), job, &|_| ());
        report.check()?;
        reports.push((name, report));
    }
    let depth = reports.first().map_or(0, |(_, report)| report.depth);
    let headings = experiment.columns.iter();
    let headings: String =
        headings.map(|(heading, _)| format!("<th>{}</th>", escape(heading))).collect();
    let mut text = format!(
        "<p>{}</p><p>{} positions, depth {depth}.</p><table><tr><th></th><th>nodes</th><th></th>\
         <th>against the first</th>{headings}</tr>",
        escape(experiment.text),
        items.len(),
    );
    let rows = reports.iter().flat_map(|(_, report)| &report.rows);
    let widest = rows.map(|row| row.mean_nodes).fold(1.0, f64::max);
    for (name, report) in &reports {
        for row in &report.rows {
            text += &line(name, row, &report.rows[0], widest, experiment.columns);
        }
    }
    text += "</table>";
    if experiment.picture {
        for (_, report) in &reports {
            text += &format!("<p>{}</p>", plot::svg(report)?);
        }
    }
    Ok(text)
}

/// A row of the table.
fn line(
    name: &str,
    row: &Measurement,
    first: &Measurement,
    widest: f64,
    columns: &[Column],
) -> String {
    let nodes =
        |row: &Measurement| row.outcomes.iter().map(|o| o.cost.nodes() as f64).collect::<Vec<_>>();
    let (change, error) = ratio(&nodes(row), &nodes(first));
    let change = if std::ptr::eq(row, first) {
        String::new()
    } else {
        format!("{:+.1} +- {:.1} %", 100.0 * (change - 1.0), 100.0 * error)
    };
    let mut text = format!(
        "<tr{}><td>{} {}</td><td>{}</td><td class=\"bar\"><div style=\"width:{:.1}%\"></div></td>\
         <td>{change}</td>",
        if row.cell.is_sound() { "" } else { " class=\"unsound\"" },
        escape(name),
        escape(&label(&row.cell)),
        short(row.mean_nodes),
        100.0 * row.mean_nodes / widest,
    );
    for (_, value) in columns {
        text += &format!("<td>{}</td>", escape(&value(row)));
    }
    text + "</tr>"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn job(axes: &Axes, depth: u32, leaf: Leaf, selectivity: &'static [Selectivity]) -> Job<'static> {
    let conditions = Conditions { selectivity, ..Conditions::new(depth) };
    Job { leaf, ..Job::new(axes.cells(), conditions) }
}

/// All of them, in the order of the page.
fn experiments(depth: u32) -> Vec<Experiment> {
    vec![
        inside(depth),
        outside(depth),
        windows(depth),
        entries(depth),
        again(depth),
        delays(),
        selectivity(depth + 1),
    ]
}

/// Both kinds of leaves.
fn both(axes: &Axes, depth: u32) -> Vec<(&'static str, Job<'static>)> {
    let with = |leaf| job(axes, depth, leaf, &[]);
    vec![("", with(Leaf::Static)), ("quiescence:", with(Leaf::Quiescence))]
}

/// The drivers that play has, too.
fn drivers() -> Vec<Root> {
    vec![Root::AspGradual, Root::Full, Root::Bisection, Root::Mtdf]
}

fn inside(depth: u32) -> Experiment {
    use Interior::{Bounds, FailHard, FailSoft, Pvs, Scout};
    let interior = vec![Pvs, Scout, Bounds, FailSoft, FailHard];
    let axes = Axes { interior, root: vec![Root::Full], ..Axes::default() };
    let experiment = Experiment::new(
        "Inside the tree",
        "Every algorithm, begun with the full window, with plain leaves and with a quiescence \
         search at the leaves (whose own nodes are not counted here). Fail-soft promises more \
         cut-offs by the table than fail-hard, and PVS nodes that are nearly all asked with \
         null windows: both have a column.",
        both(&axes, depth),
        &[CUTS, AGAIN, NULL],
    );
    Experiment { picture: true, ..experiment }
}

fn outside(depth: u32) -> Experiment {
    let all = Root::value_variants().iter().copied();
    let root = all.filter(|root| root.is_sound()).collect();
    Experiment::new(
        "At the root",
        "Every driver over PVS.",
        both(&Axes { root, ..Axes::default() }, depth),
        &[PASSES, NULL, CUTS, STUCK],
    )
}

fn windows(depth: u32) -> Experiment {
    let root = vec![Root::AspGradual, Root::AspGradualOff, Root::AspMiddle, Root::AspFull];
    Experiment::new(
        "Windows",
        "Half the width of the first aspiration window, in centipawns: centred and widened \
         gradually, half a width higher, with beta pulled to the middle, and opened at once.",
        both(&Axes { root, window: vec![50, 8, 17, 200], ..Axes::default() }, depth),
        &[PASSES],
    )
}

fn entries(depth: u32) -> Experiment {
    let interior = vec![Interior::Pvs, Interior::FailSoft];
    let entries = Entries::value_variants().to_vec();
    Experiment::new(
        "Two bounds against one",
        "A table entry with a lower and an upper bound, and one of the same size with a score \
         and a flag. A cut-off is owed to the second bound if the newest bound alone would \
         not have given it.",
        both(&Axes { interior, root: drivers(), entries, ..Axes::default() }, depth),
        &[CUTS, SECOND],
    )
}

fn again(depth: u32) -> Experiment {
    let interior = vec![Interior::Pvs, Interior::PvsAlways, Interior::PvsZw];
    let root = vec![Root::AspGradual, Root::Full, Root::Mtdf];
    Experiment::new(
        "The second search of PVS",
        "As the notes have it; without their condition `score < beta`; and with null windows \
         searched by a function of depth and alpha alone, which must be the same tree.",
        both(&Axes { interior, root, ..Axes::default() }, depth),
        &[AGAIN, NULL],
    )
}

fn delays() -> Experiment {
    let exact = Axes { delay: ScoreDelay::value_variants().to_vec(), ..Axes::default() };
    let deeper = Axes { table: vec![TableMode::Deeper], ..exact.clone() };
    let with = |axes: &Axes| job(axes, MATE_DEPTH, Leaf::Static, &[]);
    let experiment = Experiment::new(
        "Score delays",
        "Positions with short mates. Sound are the shift of window and score, the classical \
         distance from the root with a table that takes it out, and swapped tests, which only \
         cost nodes; the others turn bounds into scores or mix distances up.",
        vec![("", with(&exact)), ("deeper entries:", with(&deeper))],
        &[FOUND, FALSE, FAR, WRONG, TURNED, ACROSS],
    );
    Experiment { mates: true, ..experiment }
}

fn selectivity(depth: u32) -> Experiment {
    use Selectivity::{NullMove, Reductions, WholeLines};
    let exact = Axes { root: drivers(), ..Axes::default() };
    let deeper = Axes { table: vec![TableMode::Deeper], ..exact.clone() };
    let with = |axes: &Axes, what: &'static [Selectivity]| job(axes, depth, Leaf::Quiescence, what);
    Experiment::new(
        "From the lab to the game, a piece at a time",
        "The root drivers again, a ply deeper, while the search leaves out more and more of the \
         tree: first with a quiescence search and entries of exact depth, then with deeper \
         entries, null moves and reductions. Whole lines are what a playing program wants to show: \
         no cut-offs by the table at open windows, and after null windows one open search \
         around the score. Each group is compared with its own first row.",
        vec![
            ("exact:", with(&exact, &[])),
            ("deeper:", with(&deeper, &[])),
            ("null move:", with(&deeper, &[NullMove])),
            ("null move, reductions:", with(&deeper, &[NullMove, Reductions])),
            ("reductions, exact:", with(&exact, &[Reductions])),
            ("whole lines, exact:", with(&exact, &[WholeLines])),
            (
                "null move, reductions, whole lines:",
                with(&deeper, &[NullMove, Reductions, WholeLines]),
            ),
        ],
        &[PASSES, CUTS, STUCK],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of one position, with a row for every cell and no row without one.
    #[test]
    fn every_experiment_is_on_the_page() {
        let item = Item { id: "start".to_owned(), position: Default::default() };
        let scope = Scope { depth: 2, suite: vec![item.clone()], mates: vec![item] };
        let titles = std::cell::RefCell::new(Vec::new());
        let page = page(&scope, &|title| titles.borrow_mut().push(title.to_owned())).unwrap();
        let all = experiments(2);
        assert_eq!(*titles.borrow(), all.iter().map(|e| e.title).collect::<Vec<_>>());
        let rows: usize = all.iter().flat_map(|e| &e.runs).map(|(_, job)| job.cells.len()).sum();
        assert_eq!(page.matches("<td class=\"bar\">").count(), rows);
        assert_eq!(page.matches("<svg").count(), 2, "with the pictures inside");
        assert!(page.contains("`score &lt; beta`") && !page.contains("http-equiv"));
        assert!(!page.contains("src=") && !page.contains("href=\"http"), "self-contained");
    }
}
