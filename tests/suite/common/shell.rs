//! The built program in commands of the shell, also where files may not grow.
#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use super::program::LANCET;

/// A command of the shell, with the program as `$0`.
pub fn shell(script: &str, directory: &Path) -> Output {
    Command::new("sh")
        .args(["-c", script, LANCET])
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The same where files end after `blocks` times 512 bytes: as on a full disk,
/// writing fails, with another number.
pub fn on_a_full_disk(blocks: usize, script: &str, directory: &Path) -> Output {
    shell(&format!("ulimit -f {blocks}; {script}"), directory)
}

/// What a command that fails has written to standard error.
pub fn complaint(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs commands with an INPUT that is longer than any file of its kind, and with one without
/// end: they refuse it by name before they have read it, and leave nothing in the directory.
#[cfg(target_os = "linux")]
pub fn refuse_inputs_without_end(directory: &Path, commands: &[&str]) {
    fs::File::create(directory.join("long")).unwrap().set_len(1 << 40).unwrap();
    for command in commands {
        for (input, reasons) in [
            ("long", &["too long", "not enough memory", "a line of more than"][..]),
            ("/dev/zero", &["found a device"]),
        ] {
            let command = format!("$0 {}", command.replace("INPUT", input));
            let text = complaint(&shell(&command, directory));
            let given = reasons.iter().any(|reason| text.contains(reason));
            assert!(given && text.contains(input), "{command}: {text}");
        }
    }
    assert_eq!(names(directory), ["long"]);
}

/// The names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
