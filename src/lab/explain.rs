//! `lancet-lab explain`: what each algorithm does, in words, in pseudo-code of
//! our own, and at work on a tree small enough to follow with a finger.

use std::fmt::Write as _;

use clap::Args;

use super::{
    example::Example,
    topics::{TOPICS, Topic},
    tree::Tree,
};

/// Arguments of `lancet-lab explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// What to explain; without it, the list
    name: Option<String>,
    /// Work through this tree instead, e.g. "max (40 (30 ??))"
    #[arg(long)]
    tree: Option<String>,
    /// The first guess of aspiration and MTD(f) in the worked example
    #[arg(long, allow_negative_numbers = true, requires = "tree",
          value_parser = clap::value_parser!(i32).range(-32_000..=32_000))]
    guess: Option<i32>,
}

/// A topic, or the list of topics.
///
/// # Errors
///
/// If there is no such topic or the tree cannot be read.
pub fn text(args: &ExplainArgs) -> Result<String, String> {
    match &args.name {
        None => Ok(list()),
        Some(name) => {
            let topic = TOPICS.iter().find(|topic| topic.names.contains(&name.as_str()));
            let topic = topic.ok_or_else(|| {
                format!("nothing is called '{name}' here; expected one of:\n{}", list())
            })?;
            explain(topic, args)
        }
    }
}

/// All topics, one a line.
fn list() -> String {
    TOPICS.iter().fold(String::new(), |mut text, topic| {
        let _ = writeln!(text, "  {:<16} {}", topic.names[0], topic.title);
        text
    })
}

fn explain(topic: &Topic, args: &ExplainArgs) -> Result<String, String> {
    let mut text = format!("{}: {}\n\n{}\n", topic.names[0], topic.title, topic.text.trim());
    if !topic.code.is_empty() {
        let _ = write!(text, "\n{}\n", indent(topic.code.trim_matches('\n')));
    }
    let _ = write!(text, "\nsource: {}\ncode: {}\n", topic.source, topic.place);
    if let Some(tree) = &args.tree {
        let parsed = Tree::parse(tree).map_err(|error| error.to_string())?;
        let Some(example) = topic.examples.first() else {
            return Err(format!("'{}' has no example on a tree", topic.names[0]));
        };
        let example = Example { guess: args.guess.unwrap_or(example.guess), ..*example };
        let _ = write!(text, "\n{tree}\n\n{}", example.work_through(&parsed));
        return Ok(text);
    }
    for example in topic.examples {
        let tree = Tree::parse(example.tree).map_err(|error| error.to_string())?;
        let head = format!("\nExample. {}\n\n    {}\n\n", example.caption, example.tree);
        let _ = write!(text, "{head}{}", example.work_through(&tree));
    }
    if let Some(counted) = topic.counted {
        let _ = write!(
            text,
            "\nCounted on tic-tac-toe, searched to the end (depth 9):\n\n{}",
            counted()
        );
    }
    Ok(text)
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
