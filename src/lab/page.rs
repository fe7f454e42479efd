//! The parts of the report's page: text with links from terms to their meanings, worked examples as
//! trees to step through, and the topics of `topics.md`.

use std::collections::HashSet;

use super::{
    example::Example,
    explain::{Topic, rows, topics},
};

/// The template of the page, with its style and the script that draws trees.
const PAGE: &str = include_str!("page.html");

/// Returns the template with its placeholders filled from `parts` and from the topics.
///
/// # Errors
///
/// If an example cannot be read.
pub fn fill(parts: &[(&str, &str)]) -> anyhow::Result<String> {
    let mut page = PAGE.to_owned();
    for topic in topics() {
        let place = format!("{{{{figure of {}}}}}", topic.names[0]);
        if page.contains(&place) {
            let example = topic.examples()?.into_iter().next_back();
            page = page.replace(&place, &example.as_ref().map_or(Ok(String::new()), figure)?);
        }
    }
    let list = |heading| {
        let entry = |(name, text)| {
            let text = prose(text);
            format!("<dt id=\"{}\">{}</dt><dd>{text}</dd>", anchor(name), escape(name))
        };
        rows(heading).map(entry).collect::<String>()
    };
    let sections: String = topics().map(|topic| section(&topic)).collect::<anyhow::Result<_>>()?;
    let own = [("topics", sections), ("terms", list("Terms")), ("sources", list("Sources"))];
    let own = own.iter().map(|(name, text)| (*name, text.as_str()));
    Ok(parts
        .iter()
        .copied()
        .chain(own)
        .fold(page, |page, (name, text)| page.replace(&format!("{{{{{name}}}}}"), text)))
}

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the anchor of a term or source. The anchor of a topic is its name.
fn anchor(name: &str) -> String {
    format!("term-{}", name.to_lowercase().replace(' ', "-"))
}

/// The topics that are open when the page is loaded.
const OPEN: [&str; 10] = [
    "minimax",
    "fail-hard",
    "fail-soft",
    "bounds",
    "scout",
    "pvs",
    "asp-gradual",
    "bisection",
    "mtdf",
    "table",
];

/// Returns a topic as HTML, open if it is in [`OPEN`].
fn section(topic: &Topic) -> anyhow::Result<String> {
    let (name, title) = (topic.names[0], inline(topic.title));
    let open = if OPEN.contains(&name) { " open" } else { "" };
    let mut text = format!(
        "<details id=\"{name}\"{open}><summary><b>{name}</b>: {title}</summary>{}",
        prose(topic.text)
    );
    if let Some((family, _)) = topic.of {
        text += &format!("<p>A variant of <a href=\"#{family}\">{family}</a>.</p>");
    }
    for example in topic.examples()? {
        text += &figure(&example)?;
    }
    Ok(text + "</details>")
}

/// Returns an example as HTML: a tree for the page's script, or the counts of a game.
fn figure(example: &Example) -> anyhow::Result<String> {
    let (caption, search) = (inline(example.caption()), example.search());
    let caption = format!("{caption} <span class=\"faint\">({})</span>", escape(&search));
    if !example.has_tree() {
        return Ok(format!("<p>{caption}</p><pre>{}</pre>", escape(&example.counts())));
    }
    let film = serde_json::to_string(&example.film(None, None)?)?.replace('<', "\\u003c");
    Ok(format!(
        "<figure class=\"film\"><figcaption>{caption}</figcaption>\
         <script type=\"application/json\">{film}</script></figure>"
    ))
}

/// Converts paragraphs, code and list items of Markdown to HTML. Links the first use of each term
/// or topic.
pub fn prose(markdown: &str) -> String {
    let (mut html, mut linked) = (String::new(), HashSet::new());
    for (i, part) in markdown.split("```").enumerate() {
        if i % 2 == 1 {
            html += &format!("<pre>{}</pre>", escape(part.trim_start_matches("text").trim()));
            continue;
        }
        let paragraphs = part.split("\n\n").filter(|text| !text.trim().is_empty());
        for paragraph in paragraphs {
            html +=
                &format!("<p>{}</p>", with_links(paragraph, &mut linked).replace("\n- ", "<br>"));
        }
    }
    html.replace("<p>- ", "<p>")
}

/// Converts the code, links and terms of a paragraph to HTML.
pub fn inline(text: &str) -> String {
    with_links(text, &mut HashSet::new())
}

/// Like [`inline`], but links only terms and topics that are not yet in `linked`, and adds them.
fn with_links(text: &str, linked: &mut HashSet<String>) -> String {
    let mut html = String::new();
    for (i, part) in text.split('`').enumerate() {
        if i % 2 == 1 {
            html += &format!("<code>{}</code>", topic_link(part, linked));
            continue;
        }
        let mut pieces = part.split("<https://");
        html += &terms(pieces.next().unwrap_or_default(), linked);
        for piece in pieces {
            let (link, rest) = piece.split_once('>').unwrap_or((piece, ""));
            let link = escape(link);
            html += &format!("<a href=\"https://{link}\">{link}</a>{}", terms(rest, linked));
        }
    }
    html
}

/// Returns a topic's name with a link to it; other text is only escaped.
fn topic_link(name: &str, linked: &mut HashSet<String>) -> String {
    let known = topics().any(|topic| topic.names[0] == name);
    if known && linked.insert(name.to_owned()) {
        format!("<a href=\"#{name}\">{name}</a>")
    } else {
        escape(name)
    }
}

/// Returns the words of a cell's label, with links from the names of topics.
pub fn label_links(label: &str) -> String {
    let words = label.split(' ').map(|word| topic_link(word, &mut HashSet::new()));
    words.collect::<Vec<_>>().join(" ")
}

/// Links the first use of each term to its meaning.
fn terms(text: &str, linked: &mut HashSet<String>) -> String {
    let mut known: Vec<(&str, &str)> = rows("Terms").collect();
    known.sort_by_key(|(term, _)| std::cmp::Reverse(term.len()));
    let mut html = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let starts = |term: &str| {
            let head = rest.get(..term.len());
            let end = rest.get(term.len()..).and_then(|end| end.chars().next());
            head.is_some_and(|head| head.eq_ignore_ascii_case(term))
                && end.is_none_or(|end| !end.is_alphanumeric() && end != '-' || end == 's')
        };
        let found = known.iter().find(|(term, _)| starts(term));
        let length = match found {
            Some((term, meaning)) => {
                let length = term.len() + usize::from(rest[term.len()..].starts_with('s'));
                let word = escape(&rest[..length]);
                if linked.insert((*term).to_owned()) {
                    let meaning = meaning.replace('`', "").replace('"', "'");
                    let (meaning, _) = meaning.split_once(" <").unwrap_or((&meaning, ""));
                    let anchor = anchor(term);
                    html += &format!("<a href=\"#{anchor}\" title=\"{meaning}\">{word}</a>");
                } else {
                    html += &word;
                }
                length
            }
            None => {
                // Skip to the next word.
                let word = rest.find(|c: char| !c.is_alphanumeric() && c != '-');
                let end = word.filter(|&end| end > 0).unwrap_or(first.len_utf8());
                let end = if word.is_none() { rest.len() } else { end };
                html += &escape(&rest[..end]);
                end
            }
        };
        rest = &rest[length..];
    }
    html
}
