//! Tests of the manual pages and completions of the program.

use crate::common::{
    pages,
    program::{Directory, run, stdout, succeed},
};

#[test]
fn commands_have_manual_pages() {
    let pages = pages::check(&[]);
    assert!(pages >= 13, "{pages}");
    // The page starts with the description of the command.
    let page = stdout(&run(&["average", "--help"]));
    assert!(page.starts_with("Average networks that were trained from the same one\n"), "{page}");
    assert!(
        page.contains("is the mean of the parameters") && page.contains("--out <OUT>"),
        "{page}"
    );
}

#[test]
fn completions_and_man_pages_are_written() {
    let dir = Directory::new();
    succeed(&["generate", &dir.path("out")]);
    let read = |name: &str| std::fs::read_to_string(dir.path(&format!("out/{name}"))).unwrap();
    assert!(read("man/lancet-train-data-stats.1").contains("Examples:"));
    assert!(read("completions/lancet-train.bash").contains("datagen"));
}
