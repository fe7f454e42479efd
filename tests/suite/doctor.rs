//! The advice of `lancet doctor`.

use crate::common::program::{run, stdout};

#[test]
fn the_advice_is_lines_of_uci() {
    let output = run(&["doctor", "--seconds", "1"]);
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    assert!(text.contains(" nodes/s with 1 thread\n"), "{text}");
    for option in ["Hash", "Threads", "Move Overhead"] {
        let line = format!("\nsetoption name {option} value ");
        let (_, rest) = text.split_once(&line).unwrap_or_else(|| panic!("{option}: {text}"));
        let mut lines = rest.lines();
        assert!(lines.next().unwrap().parse::<u64>().unwrap() > 0, "{text}");
        assert!(lines.next().unwrap().starts_with("    "), "a reason for {option}: {text}");
    }
}
