//! `lancet doctor`: the parts of its report, and files that are not what they should be.

use std::fs;

use crate::common::program::{run, stdout};
use serde_json::Value;

const QUICK: [&str; 5] = ["doctor", "--seconds", "1", "--hash", "16"];

#[test]
fn the_report_is_whole() {
    let output = run(&[&QUICK[..], &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |name: &str| report[name].as_array().unwrap();
    assert_eq!(report["version"], lancet::VERSION);
    assert_eq!(list("speed")[0]["threads"], 1);
    assert!(list("speed").iter().all(|speed| speed["nodes_per_second"].as_u64() > Some(0)));
    assert_eq!(list("tables").last().unwrap()["mib"], 16);
    let options: Vec<&str> =
        list("advice").iter().map(|advice| advice["option"].as_str().unwrap()).collect();
    assert_eq!(options, ["Hash", "Threads", "Move Overhead"]);
    let hash = list("advice")[0]["value"].as_u64().unwrap();
    assert!(hash.is_power_of_two(), "{hash}");
}

#[test]
fn bad_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("some.bin");
    fs::write(&book, "not a book").unwrap();
    let output = run(&[&QUICK[..], &["--book", book.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = stdout(&output);
    assert!(text.contains("some.bin: not a Polyglot book"), "{text}");
    assert!(text.contains("setoption name Hash value "), "{text}");
}
