//! `lancet-lab explain`: what each algorithm does, in words, in pseudocode of
//! our own, and at work on a tree small enough to follow with a finger.

use anyhow::Context as _;
use clap::Args;

use lancet::system::arguments;

use super::example::Example;

/// One section for each topic, and a last one for the sources.
const TOPICS: &str = include_str!("topics.md");

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// What to explain; without it, the list
    name: Option<String>,
    /// Work through this tree instead, e.g. "max (40 (30 ??))"
    #[arg(long)]
    tree: Option<String>,
    /// The first guess of aspiration and MTD(f) in the worked example
    #[arg(long, allow_negative_numbers = true, requires = "tree",
          value_parser = arguments::whole::<i32>(-32_000..=32_000))]
    guess: Option<i32>,
}

/// Something that can be explained.
struct Topic {
    /// What it may be called, its proper name first.
    names: Vec<&'static str>,
    /// One line.
    title: &'static str,
    /// What to know about it, pseudocode, where it comes from and where it is.
    text: &'static str,
    /// For [`Example::read`].
    examples: Vec<&'static str>,
}

/// All topics, in reading order.
fn topics() -> impl Iterator<Item = Topic> {
    TOPICS.split("\n## ").filter_map(|section| {
        let (heading, body) = section.split_once('\n')?;
        let (names, title) = heading.split_once(": ")?;
        let mut parts = body.split("\n- `");
        let text = parts.next()?.trim();
        Some(Topic { names: names.split(", ").collect(), title, text, examples: parts.collect() })
    })
}

/// All topics, one a line.
fn list() -> String {
    topics().map(|topic| format!("  {:<16} {}\n", topic.names[0], topic.title)).collect()
}

/// A topic, or the list of topics.
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
    let text = format!(
        "{proper}: {}\n\n{}\n{}",
        topic.title,
        for_terminal(topic.text),
        sources(topic.text)
    );
    let examples = topic.examples.iter().map(|example| Example::read(example));
    let examples: Vec<Example> = examples.collect::<anyhow::Result<_>>()?;
    if let Some(tree) = &args.tree {
        let example = examples.iter().find(|example| example.has_tree());
        let example = example.with_context(|| format!("'{proper}' has no example on a tree"))?;
        return Ok(format!("{text}\n{tree}\n\n{}", example.work_through(tree, args.guess)?));
    }
    let examples: String = examples.iter().map(Example::text).collect::<anyhow::Result<_>>()?;
    Ok(text + &examples)
}

/// Markdown as a terminal shows it: code is indented, not fenced.
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

/// The rows of the table of sources that a text cites.
fn sources(text: &str) -> String {
    let row = |line: &'static str| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ");
    let cited = TOPICS.lines().filter_map(row).filter(|(name, _)| text.contains(name));
    cited.map(|(name, source)| format!("{name}: {source}\n")).collect()
}
