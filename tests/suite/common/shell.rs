//! Runs the built program in shell commands, also with limited file sizes.
#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use super::program::LANCET;

/// Runs a shell command with the program as `$0`.
pub fn shell(script: &str, directory: &Path) -> Output {
    Command::new("sh")
        .args(["-c", script, LANCET])
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Like [`shell`], but with files limited to `blocks` times 512 bytes. Writing then fails as on a
/// full disk, with EFBIG instead of ENOSPC.
pub fn with_short_files(blocks: usize, script: &str, directory: &Path) -> Output {
    shell(&format!("ulimit -f {blocks}; {script}"), directory)
}

/// Returns the error output of a command that fails.
pub fn complaint(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs each command twice: with a file longer than any valid one in place of INPUT, and with an
/// endless device. The command must refuse the input without reading it to its end, name it in its
/// message, and leave no files behind.
#[cfg(target_os = "linux")]
pub fn refuse_inputs_without_end(directory: &Path, commands: &[&str]) {
    fs::File::create(directory.join("long")).unwrap().set_len(1 << 40).unwrap();
    for command in commands {
        for (input, reasons) in [
            ("long", &["too long", "not enough memory", "a line is longer than"][..]),
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

/// Returns the names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
