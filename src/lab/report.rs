//! `lancet-lab report`: runs the lab's experiments and writes them into one self-contained page.
//!
//! `experiments.md` has the searches and the texts of the experiments. Other modules search, count
//! and draw.

use std::collections::HashMap;

use anyhow::Context as _;
use clap::{Parser, ValueEnum as _};

use super::{
    cell::Axes,
    chess::Leaf,
    game::GameName,
    node::Selectivity,
    output::{Column, label},
    page::{escape, fill, inline, label_links, prose},
    plot,
    run::Conditions,
    suite::{Item, Job, Mate, Measurement, Report, Suite, run_suite},
    yardstick::ratio,
};
use lancet::{
    chess::notation::{counted, short},
    system::version::VERSION,
};

/// One section for each experiment.
const EXPERIMENTS: &str = include_str!("experiments.md");

/// The positions and the depth of the experiments.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Plies of most experiments. Those on `few` have one more, and the experiment on score delays
    /// has enough for a mate in three.
    pub depth: u32,
    /// Positions of `lancet bench`.
    pub suite: Vec<Item>,
    /// Fewer positions, for the experiments that search one ply deeper.
    pub few: Vec<Item>,
    /// Positions with short mates, for the score delays.
    pub mates: Vec<Item>,
}

impl Scope {
    /// Returns the positions with this name in `experiments.md`, and the depth of their search.
    fn positions(&self, name: &str) -> anyhow::Result<(Suite<'_>, u32)> {
        Ok(match name {
            "bench" => (Suite::Chess(&self.suite), self.depth),
            "few" => (Suite::Chess(&self.few), self.depth + 1),
            // Enough for a mate in three.
            "mates" => (Suite::Chess(&self.mates), 5),
            name => {
                let game = GameName::from_str(name, false);
                let game = game.ok().with_context(|| format!("no positions '{name}'"))?;
                (Suite::Other(game), game.depth())
            }
        })
    }
}

/// The columns that a table or an answer may use.
const COLUMNS: &[Column] = &[
    ("nodes", |r| short(r.mean_nodes)),
    ("depth", |r| r.depth.to_string()),
    ("cutoffs by the table", |r| short(r.total.cutoffs as f64)),
    ("passes", |r| short(r.total.passes as f64)),
    ("re-searches", |r| short(r.total.researches as f64)),
    ("null-window nodes", |r| percent(r.total.null, r.total.nodes())),
    ("cutoffs due to the second bound", |r| percent(r.total.second_bound, r.total.cutoffs)),
    ("stuck", |r| r.unconverged.to_string()),
    ("bounds turned into scores", |r| short(r.total.turned as f64)),
    ("hits across distances", |r| short(r.total.across as f64)),
    ("positions wrong", |r| r.different.to_string()),
    ("mates found", |r| r.mates(Mate::Found).to_string()),
    ("wrong distance", |r| r.mates(Mate::WrongDistance).to_string()),
];

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn column(heading: &str) -> anyhow::Result<&'static Column> {
    let found = COLUMNS.iter().find(|(known, _)| *known == heading);
    found.with_context(|| format!("no column '{heading}'"))
}

/// The searches of a run, as command-line options.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Options {
    #[arg(long, value_enum, default_value_t = Leaf::Static)]
    leaf: Leaf,
    #[arg(long, value_enum, value_delimiter = ',')]
    select: Vec<Selectivity>,
    #[arg(long)]
    no_deepening: bool,
    #[command(flatten)]
    axes: Axes,
}

/// A set of searches, and the positions that they search.
struct Run {
    positions: &'static str,
    /// Label of the rows, shown before their cells.
    name: &'static str,
    options: Options,
}

/// A question, the runs that answer it, and the columns to show.
struct Experiment {
    title: &'static str,
    /// The answer, with placeholders for its numbers.
    answer: String,
    /// The comparison and its purpose.
    text: &'static str,
    columns: Vec<&'static Column>,
    runs: Vec<Run>,
}

impl Experiment {
    /// Reads a section, without the `#` characters of its heading.
    fn read(section: &'static str) -> anyhow::Result<Experiment> {
        let mut items = section.split("\n- ");
        let words = items.next().unwrap_or_default();
        let (title, words) = words.split_once("\n\n").context("no answer")?;
        let (answer, text) = words.split_once("\n\n").context("no question")?;
        let headings = items.next().and_then(|item| item.strip_prefix("columns: "));
        let headings = joined(headings.context("no columns")?);
        let run = |item: &'static str| -> anyhow::Result<Run> {
            let (head, options) = item.split_once(':').context("no searches")?;
            let (positions, name) = head.split_once(", ").unwrap_or((head, ""));
            let options = options.trim().trim_matches('`').split_whitespace();
            Ok(Run { positions, name, options: Options::try_parse_from(options)? })
        };
        Ok(Experiment {
            title,
            answer: joined(answer),
            text: text.trim(),
            columns: headings.split(", ").map(column).collect::<Result<_, _>>()?,
            runs: items.map(run).collect::<Result<_, _>>()?,
        })
    }

    /// Finds the row named "LABEL" or "RUN: LABEL". The label "best" is the sound row with the
    /// fewest nodes among the deepest.
    fn row<'r>(&self, name: &str, reports: &'r [Report]) -> anyhow::Result<&'r Measurement> {
        let (run, wanted) = name.split_once(": ").unwrap_or(("", name));
        let rows = self.runs.iter().zip(reports).filter(|(known, _)| known.name == run);
        let mut rows = rows.flat_map(|(_, report)| &report.rows);
        let found = if wanted == "best" {
            let sound = rows.filter(|row| row.cell.is_sound());
            sound.min_by(|a, b| a.cmp_cost(b))
        } else {
            rows.find(|row| label(&row.cell) == wanted)
        };
        found.with_context(|| format!("{}: no row '{name}'", self.title))
    }

    /// Returns the answer with its numbers.
    fn answer(&self, reports: &[Report]) -> anyhow::Result<String> {
        let mut pieces = self.answer.split('{');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (place, rest) = piece.split_once('}').context("'{' without '}'")?;
            if let Some((row, other)) = place.split_once(" / ") {
                text += &against(self.row(row, reports)?, self.row(other, reports)?);
            } else if let Some((row, heading)) = place.split_once(" | ") {
                text += &column(heading)?.1(self.row(row, reports)?);
            } else {
                text += &said(self.row(place, reports)?);
            }
            text += rest;
        }
        Ok(text)
    }
}

/// Joins lines into one.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the page, as HTML. `tick` receives the title of each experiment before it runs.
///
/// # Errors
///
/// If the plotting library fails, or a sound search differs from the reference.
pub fn page(scope: &Scope, tick: &dyn Fn(&str)) -> anyhow::Result<String> {
    let (mut body, mut contents, mut answers) = (String::new(), String::new(), Vec::new());
    let experiments: Vec<Experiment> =
        EXPERIMENTS.split("\n## ").skip(1).map(Experiment::read).collect::<Result<_, _>>()?;
    // Experiments share cells, which are searched only once.
    let mut known = HashMap::new();
    for (number, experiment) in (1..).zip(&experiments) {
        tick(experiment.title);
        let mut reports: Vec<Report> = Vec::new();
        for Run { positions, options, .. } in &experiment.runs {
            let Options { leaf, no_deepening, ref select, ref axes } = *options;
            let (suite, depth) = scope.positions(positions)?;
            let key = |cell| (*positions, leaf, no_deepening, select, cell);
            let cells = axes.cells();
            let new = cells.iter().copied().filter(|&cell| !known.contains_key(&key(cell)));
            let conditions = Conditions {
                selectivity: select,
                iterative: !no_deepening,
                ..Conditions::new(depth)
            };
            let job = Job { leaf, ..Job::new(new.collect(), conditions) };
            let report = run_suite(suite, &job, &|_| ());
            report.check()?;
            known.extend(report.rows.iter().map(|row| (key(row.cell), row.clone())));
            let rows = cells.iter().filter_map(|&cell| known.get(&key(cell)).cloned()).collect();
            reports.push(Report { rows, ..report });
        }
        let answer = inline(&experiment.answer(&reports)?);
        let title = escape(experiment.title);
        contents += &format!("<li><a href=\"#e{number}\">{title}</a></li>");
        body += &format!(
            "<h2 id=\"e{number}\">{number}. {title}</h2><p class=\"answer\">{answer}</p>{}{}",
            prose(experiment.text),
            table(experiment, &reports),
        );
        if number == 1 {
            body += &format!("<figure class=\"chart wide\">{}</figure>", plot::svg(&reports[0])?);
        }
        answers.push(answer);
    }
    fill(&[
        ("answer", &answers[0]),
        ("depth", &scope.depth.to_string()),
        ("limit", &scope.suite.len().to_string()),
        ("version", VERSION),
        ("contents", &contents),
        ("experiments", &body),
    ])
}

/// Returns the rows of an experiment, followed by the number of positions and the depth.
fn table(experiment: &Experiment, reports: &[Report]) -> String {
    let headings = experiment.columns.iter();
    let headings: String = headings.map(|(heading, _)| format!("<th>{heading}</th>")).collect();
    let mut text = format!(
        "<div class=\"wide\"><table><tr><th>search</th><th>nodes</th><th></th>\
         <th>compared with the first</th>{headings}</tr>"
    );
    let mut sizes: Vec<String> = Vec::new();
    for (run, report) in experiment.runs.iter().zip(reports) {
        let name = if run.name.is_empty() { "" } else { &format!("{}: ", run.name) };
        let widest = report.rows.iter().map(|row| row.mean_nodes).fold(1.0, f64::max);
        for row in &report.rows {
            text += &line(name, row, &report.rows[0], widest, &experiment.columns);
        }
        let size = format!("{}, depth {}", counted(report.positions, "position"), report.depth);
        sizes.push(format!("{name}{size}"));
    }
    sizes.dedup();
    text + &format!("</table></div><p class=\"faint\">{}.</p>", sizes.join("; "))
}

/// Returns a row of the table.
fn line(
    name: &str,
    row: &Measurement,
    first: &Measurement,
    widest: f64,
    columns: &[&Column],
) -> String {
    let (change, error) = change(row, first);
    let is_first = std::ptr::eq(row, first);
    let change = if is_first {
        String::new()
    } else if row.depth != first.depth {
        format!("depth {}", row.depth)
    } else {
        signed(change, error)
    };
    let class = match (row.cell.is_sound(), is_first) {
        (true, true) => " class=\"first\"",
        (true, false) => "",
        (false, true) => " class=\"first unsound\"",
        (false, false) => " class=\"unsound\"",
    };
    let mut text = format!(
        "<tr{class}><td>{} {}</td><td>{}</td><td class=\"bar\"><div style=\"width:{:.1}%\"></div>\
         </td><td>{change}</td>",
        escape(name),
        label_links(&label(&row.cell)),
        short(row.mean_nodes),
        100.0 * row.mean_nodes / widest,
    );
    for (_, value) in columns {
        text += &format!("<td>{}</td>", escape(&value(row)));
    }
    text + "</tr>"
}

/// Returns the difference of a row's nodes from another's, in percent, and the half-width of its 95
/// % confidence interval.
fn change(row: &Measurement, other: &Measurement) -> (f64, f64) {
    let nodes = |row: &Measurement| -> Vec<f64> {
        row.outcomes.iter().map(|o| o.cost.nodes() as f64).collect()
    };
    let (ratio, error) = ratio(&nodes(row), &nodes(other));
    (100.0 * (ratio - 1.0), 100.0 * error)
}

/// Returns, for example, "−16.1 ± 14.2 %" with non-breaking spaces.
fn signed(change: f64, error: f64) -> String {
    // Adding 0.0 turns -0.0 into 0.0.
    let change = (10.0 * change).round() / 10.0 + 0.0;
    format!("{change:+.1}\u{a0}±\u{a0}{error:.1}\u{a0}%").replace('-', "−")
}

/// Returns a row's label with the names of its algorithms in words.
fn said(row: &Measurement) -> String {
    let words = |name| match name {
        "pvs" => "PVS under",
        "fail-soft" => "fail-soft alpha-beta under",
        "bounds" => "alpha-beta with bounds under",
        "scout" => "Scout under",
        "full" => "the full window",
        "asp-gradual" => "aspiration",
        "mtdf" => "MTD(f)",
        name => name,
    };
    label(&row.cell).split(' ').map(words).collect::<Vec<_>>().join(" ")
}

/// Returns, for example, "5.3 ± 1.2 % fewer nodes".
fn against(row: &Measurement, other: &Measurement) -> String {
    let (change, error) = change(row, other);
    if change == 0.0 && error == 0.0 {
        "the same number of nodes".to_owned()
    } else if change.abs() < error.max(0.05) {
        format!("about as many nodes ({})", signed(change, error))
    } else {
        let word = if change < 0.0 { "fewer" } else { "more" };
        let size = change.abs();
        format!("{size:.1}\u{a0}±\u{a0}{error:.1}\u{a0}% {word} nodes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a page of one position. It has all experiments with all their rows, all placeholders
    /// are filled, every link within the page has a target, and every answer has a number.
    #[test]
    fn the_page_is_whole() {
        let item = Item { id: "start".to_owned(), position: Default::default() };
        let [suite, few, mates] = [vec![item.clone()], vec![item.clone()], vec![item]];
        let scope = Scope { depth: 2, suite, few, mates };
        let titles = std::cell::RefCell::new(Vec::new());
        let page = page(&scope, &|title| titles.borrow_mut().push(title.to_owned())).unwrap();

        let all =
            EXPERIMENTS.split("\n## ").skip(1).map(|section| Experiment::read(section).unwrap());
        let all: Vec<Experiment> = all.collect();
        assert_eq!(*titles.borrow(), all.iter().map(|e| e.title).collect::<Vec<_>>());
        let rows = all.iter().flat_map(|e| &e.runs).map(|run| run.options.axes.cells().len());
        assert_eq!(page.matches("<td class=\"bar\">").count(), rows.sum::<usize>());
        let answers = page.split("<p class=\"answer\">").skip(2);
        let answers: Vec<&str> = answers.map(|text| text.split_once("</p>").unwrap().0).collect();
        assert_eq!(answers.len(), all.len());
        for answer in answers {
            assert!(answer.contains(|c: char| c.is_ascii_digit()), "{answer}");
        }

        assert_eq!(page.matches("<figure class=\"chart").count(), 1, "with its picture");
        assert!(page.contains("<code>score &lt; beta</code>") && !page.contains("http-equiv"));
        assert!(!page.contains(" src=") && !page.contains("<link"), "self-contained");
        assert!(!page.contains("{{"), "{}", page.split("{{").nth(1).unwrap_or_default());
        for link in page.split("href=\"#").skip(1) {
            let (name, _) = link.split_once('"').unwrap();
            assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        }
        for topic in ["minimax", "fail-hard", "bounds", "scout", "pvs", "mtdf", "bisection"] {
            let (_, section) = page.split_once(&format!("<details id=\"{topic}\"")).unwrap();
            let (section, _) = section.split_once("</details>").unwrap();
            assert!(section.contains("class=\"film\"") && section.contains("\"kind\""), "{topic}");
        }

        // The page in the repository has today's texts. Its README has the command that writes it.
        let texts = |page: &str| -> Vec<String> {
            let between = |start: &str, end: &str| -> Vec<String> {
                let parts = page.split(start).skip(1);
                parts.map(|part| part.split_once(end).unwrap().0.to_owned()).collect()
            };
            let topics = between("<details id=", "</details>");
            let questions = between("<h2 id=\"e", "<div class=\"wide\"><table>").into_iter();
            let questions = questions.map(|text| {
                // The answer depends on the positions.
                let (title, rest) = text.split_once("<p class=\"answer\">").unwrap();
                title.to_owned() + rest.split_once("</p>").unwrap().1
            });
            topics.into_iter().chain(questions).collect()
        };
        let (old, new) = (texts(include_str!("lab.html")), texts(&page));
        assert_eq!(old.len(), new.len(), "lab.html is out of date");
        for (old, new) in old.iter().zip(&new) {
            assert_eq!(old, new, "lab.html is out of date");
        }
    }

    #[test]
    fn places_of_answers_are_checked() {
        let read = |text| Experiment::read(text).map(|_| ()).map_err(|error| error.to_string());
        let section = "Title\n\nAnswer.\n\nQuestion.\n\n- columns: passes\n- bench: `--root mtdf`";
        assert_eq!(read(section), Ok(()));
        let section = "Title\n\nAnswer.\n\nQuestion.\n\n- columns: luck\n- bench:";
        assert_eq!(read(section), Err("no column 'luck'".to_owned()));
    }
}
