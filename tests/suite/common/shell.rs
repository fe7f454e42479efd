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

/// The names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
