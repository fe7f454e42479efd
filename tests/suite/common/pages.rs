//! The manual pages that the built program prints.

use super::program::{run, stdout};

/// Checks the pages of a command and of all its subcommands. Returns the number of pages.
pub fn check(command: &[String]) -> usize {
    let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let output = run(&args);
    assert!(output.status.success(), "{command:?}");
    let page = stdout(&output);
    for title in ["Usage:", "Examples:", "Exit status:"] {
        assert!(page.contains(title), "{command:?}: {title}");
    }
    // The description comes first, or has a title.
    let (first, _) = page.split_once("Usage:").unwrap();
    assert!(first.lines().count() > 2 || page.contains("Description:"), "{command:?}: {page}");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{command:?}: {page}");
    // The help text must not contain rustdoc links.
    assert!(!page.contains("](") && !page.contains("[`"), "{command:?}: {page}");
    let Some((_, commands)) = page.split_once("Commands:\n") else { return 1 };
    let names = commands.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.split_whitespace().next());
    let below = names.filter(|&name| name != "help");
    1 + below.map(|name| check(&[command, &[name.to_owned()]].concat())).sum::<usize>()
}
