//! Replays the dialogues of `tests/data/dialogues.txt`: the commands that GUIs, bots and match
//! runners send according to their sources.
//!
//! A dialogue begins with `#`, the program and its source. `>` sends a line to Lancet, and `$`
//! gives an argument for Lancet's command line. `<` waits for a line that starts with this text.
//! `!` is the start of an `info string` that must come before that line. Lancet must print no other
//! info strings, and its reports must agree with the rules of chess.

use crate::common::{
    Lancet,
    log::{Engine, Findings},
};

const DIALOGUES: &str = include_str!("../data/dialogues.txt");

/// Plays one dialogue to its end.
fn play(dialogue: &str) -> Result<(), String> {
    let lines = || dialogue.lines().filter_map(|line| line.split_at_checked(2));
    let arguments: Vec<&str> =
        lines().filter(|(kind, _)| *kind == "$ ").map(|line| line.1).collect();
    let mut lancet = Lancet::with(&arguments);
    let (mut engine, mut remarks) = (Engine::default(), Vec::new());
    let hear = |engine: &mut Engine, remarks: &mut Vec<&str>, line: &str| {
        if let Some(text) = line.strip_prefix("info string ") {
            if text.starts_with(concat!("Lancet ", env!("CARGO_PKG_VERSION"))) {
                return Ok(());
            }
            let place = remarks.iter().position(|remark| text.starts_with(remark));
            let place = place.ok_or_else(|| format!("unexpected '{line}'"))?;
            remarks.remove(place);
            return Ok(());
        }
        let known = ["id ", "option ", "info ", "bestmove ", "readyok", "uciok"];
        if !known.iter().any(|start| line.starts_with(start)) {
            return Err(format!("unexpected '{line}'"));
        }
        engine.said(line, &mut Findings::default())
    };
    for (kind, text) in lines() {
        match kind {
            "> " => {
                lancet.send(text);
                // If the line is wrong, Lancet must print a remark.
                let _ = engine.asked(text);
            }
            "! " => remarks.push(text),
            "< " => loop {
                let line = lancet.line(text);
                if line.starts_with("info string") && line.starts_with(text) {
                    break;
                }
                hear(&mut engine, &mut remarks, &line)?;
                if line.starts_with(text) {
                    break;
                }
            },
            _ => {}
        }
        if kind == "< " && !remarks.is_empty() {
            return Err(format!("not said: {remarks:?}"));
        }
    }
    lancet.close_input();
    let (rest, status) = lancet.rest();
    rest.iter().try_for_each(|line| hear(&mut engine, &mut remarks, line))?;
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

#[test]
fn dialogues_are_held_to_their_end() {
    let mut count = 0;
    for dialogue in DIALOGUES.split("# ").skip(1) {
        let name = dialogue.lines().next().unwrap();
        if let Err(fault) = play(dialogue) {
            panic!("{name}: {fault}");
        }
        count += 1;
    }
    assert_eq!(count, 19);
}
