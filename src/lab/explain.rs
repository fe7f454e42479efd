//! `lancet-lab explain`: explains each algorithm in words and in pseudocode, and runs it on a small
//! tree.

use anyhow::Context as _;
use clap::Args;

use lancet::system::arguments;

use super::example::Example;

/// One section for each topic, and then one for the terms and one for the sources.
const TOPICS: &str = include_str!("topics.md");

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Topic to explain; without it, list the topics
    name: Option<String>,
    /// Run the example on this tree instead, e.g. "max (40 (30 ??))"
    #[arg(long, requires = "name")]
    tree: Option<String>,
    /// First guess of aspiration and MTD(f) in the example
    #[arg(long, allow_negative_numbers = true, requires = "tree",
          value_parser = arguments::whole::<i32>(-32_000..=32_000))]
    guess: Option<i32>,
}

/// A topic of `topics.md`.
pub struct Topic {
    /// Its names, the proper name first.
    pub names: Vec<&'static str>,
    /// The title, one line.
    pub title: &'static str,
    /// The explanation, with pseudocode, source and place in the code.
    pub text: &'static str,
    /// For a variant of another topic: the name and text of that topic.
    pub of: Option<(&'static str, &'static str)>,
    /// The examples, in the form that [`Example::read`] reads.
    examples: Vec<&'static str>,
}

impl Topic {
    /// Reads a section, without the `#` characters of its heading.
    fn read(section: &'static str) -> Option<Topic> {
        let (heading, body) = section.split_once('\n')?;
        let (names, title) = heading.split_once(": ")?;
        let mut parts = body.split("\n- `");
        let text = parts.next()?.trim();
        let names = names.split(", ").collect();
        Some(Topic { names, title, text, of: None, examples: parts.collect() })
    }

    /// Returns the topic's examples.
    ///
    /// # Errors
    ///
    /// If an example cannot be read.
    pub fn examples(&self) -> anyhow::Result<Vec<Example>> {
        self.examples.iter().map(|example| Example::read(example)).collect()
    }
}

/// Returns all topics in reading order, each followed by its variants (`###`).
pub fn topics() -> impl Iterator<Item = Topic> {
    TOPICS.split("\n## ").flat_map(|section| {
        let mut sections = section.split("\n### ").filter_map(Topic::read);
        let family = sections.next();
        let of = family.as_ref().map(|topic| (topic.names[0], topic.text));
        family.into_iter().chain(sections.map(move |form| Topic { of, ..form }))
    })
}

/// Returns the rows of the table below a heading, as name and text.
pub fn rows(heading: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let row = |line: &'static str| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ");
    let below = TOPICS.split("\n## ").find_map(|section| section.strip_prefix(heading));
    below.unwrap_or_default().lines().filter_map(row).skip(1).filter(|(name, _)| *name != "---")
}

/// Returns the list of topics, one per line.
fn list() -> String {
    let line = |topic: Topic| {
        let name = if topic.of.is_some() { "  " } else { "" }.to_owned() + topic.names[0];
        format!("  {name:<20} {}\n", topic.title)
    };
    topics().map(line).collect()
}

/// Returns the text of a topic, or the list of topics.
///
/// # Errors
///
/// If there is no such topic or the tree cannot be read.
pub fn text(args: &ExplainArgs) -> anyhow::Result<String> {
    let Some(name) = args.name.as_deref() else { return Ok(list()) };
    let is_called = |topic: &Topic| topic.names.iter().any(|one| one.eq_ignore_ascii_case(name));
    let topic = topics().find(is_called).with_context(|| {
        let meant = arguments::nearest(name, topics().flat_map(|topic| topic.names))
            .map(|name| format!("; did you mean '{name}'?"));
        format!(
            "'{name}' is not a topic{}\nexpected one of:\n{}",
            meant.unwrap_or_default(),
            list()
        )
    })?;
    let proper = topic.names[0];
    let mut text = format!("{proper}: {}\n\n{}", topic.title, for_terminal(topic.text));
    if let Some((family, shared)) = topic.of {
        text += &format!("\nA variant of {family}:\n\n{}", for_terminal(shared));
    }
    text += &sources(&text);
    let forms = topics().filter(|form| form.of.is_some_and(|(family, _)| family == proper));
    let forms: String =
        forms.map(|form| format!("  {}: {}\n", form.names[0], form.title)).collect();
    if !forms.is_empty() {
        text += &format!("\nVariants, each explained under its name:\n{forms}");
    }
    let examples = topic.examples()?;
    if let Some(tree) = &args.tree {
        let example = examples.iter().find(|example| example.has_tree());
        let example = example.with_context(|| {
            format!("'{proper}' has no example on a tree: use --tree with another topic")
        })?;
        let film = example.film(Some(tree), args.guess)?;
        return Ok(format!("{text}\n{tree}\n\n{}", film.text()));
    }
    let examples: String = examples.iter().map(Example::text).collect::<anyhow::Result<_>>()?;
    Ok(text + &examples)
}

/// Converts Markdown for a terminal: code is indented instead of fenced.
fn for_terminal(text: &str) -> String {
    let mut shown = String::new();
    let mut indent = "";
    for line in text.lines() {
        if line.starts_with("```") {
            indent = if indent.is_empty() { "    " } else { "" };
        } else {
            shown += &format!("{indent}{line}\n");
        }
    }
    shown
}

/// Returns the sources that a text cites, one per line.
fn sources(text: &str) -> String {
    let cited = rows("Sources").filter(|(name, _)| text.contains(name));
    let cited: String = cited.map(|(name, source)| format!("{name}: {source}\n")).collect();
    format!("\n{cited}")
}
