//! `lancet doctor`: the parts of its report.

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
fn the_advice_is_lines_of_uci() {
    let output = run(&QUICK);
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    for option in ["Hash", "Threads", "Move Overhead"] {
        assert!(text.contains(&format!("  setoption name {option} value ")), "{text}");
    }
}
