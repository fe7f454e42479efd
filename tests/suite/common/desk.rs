//! Files for the built program to read, of which any may be hostile: below a temporary
//! directory, by a program with limits and without rights.
#![cfg(unix)] // needs ulimit and users

use std::{
    env, fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    panic::{self, AssertUnwindSafe},
    path::Path,
    process::{Command, Output},
};

use super::program::{Directory, LANCET, limited_copy, stderr, stdout, text};

/// Has the program read the file at a path, and checks the answers by the file's bytes.
/// Returns whether the file could be used.
pub type Check = fn(&Desk, &str, &[u8]) -> bool;

/// Limits for the program: a minute of processor time and 2 GB of addresses, which macOS
/// cannot limit.
const LIMITS: &str = if cfg!(target_os = "linux") {
    "ulimit -c 0 && ulimit -t 60 && ulimit -v 2000000"
} else {
    "ulimit -c 0 && ulimit -t 60"
};

/// A user and group without rights.
const NOBODY: u32 = 65_534;

/// A temporary directory with the file to read, and a program that may write nowhere else.
pub struct Desk {
    directory: Directory,
    program: String,
    /// This test has root's rights.
    is_root: bool,
}

impl Desk {
    fn new() -> Desk {
        let directory = Directory::new();
        let place = directory.path("");
        // Whoever makes a directory owns it. A root that cannot give it away has no rights
        // that the program could misuse.
        let is_root = fs::metadata(&place).unwrap().uid() == 0
            && chown(&place, Some(NOBODY), Some(NOBODY)).is_ok();
        let mut desk = Desk { directory, program: LANCET.to_owned(), is_root };
        if is_root {
            // Others may have no access to where the program was built.
            desk.program = desk.directory.path("lancet");
            // Copied by another process: programs that other tests start at the same moment
            // would inherit a file of ours that is being written, and keep it busy.
            let copied = Command::new("cp").args([LANCET, &desk.program]).status().unwrap();
            assert!(copied.success());
            desk.give_away(&desk.program);
        }
        desk
    }

    /// Lets the program read and write what this test has made.
    fn give_away(&self, path: &str) {
        if self.is_root {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// The path of a name beside the file.
    pub fn path(&self, name: &str) -> String {
        self.directory.path(&format!("files/{name}"))
    }

    /// Writes a file to a directory without other files. Returns its path.
    fn put(&self, name: &str, bytes: &[u8]) -> String {
        let files = self.path("");
        // The first time there are none.
        let _ = fs::remove_dir_all(&files);
        fs::create_dir(&files).unwrap();
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        self.give_away(&files);
        self.give_away(&path);
        path
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = limited_copy(&self.program, LIMITS, args);
        // More threads would only take more addresses.
        command.current_dir(self.path("")).env("RAYON_NUM_THREADS", "1");
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        let said = text(&output);
        let ended = matches!(output.status.code(), Some(0..=2)) && !said.contains("panicked at");
        assert!(ended, "{args:?}: {}: {said}", output.status);
        let is_harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
        assert!(said.chars().all(is_harmless), "{args:?}: control characters in {said:?}");
        output
    }

    /// Runs the program with these lines of UCI and has it search the start position.
    /// Returns its answers.
    pub fn play(&self, settings: &[&str]) -> Vec<String> {
        let output = self.run(&[settings, &["go nodes 100", "quit"]].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output));
        stdout(&output).lines().map(str::to_owned).collect()
    }
}

/// How often the program names a file in what it complains of.
pub fn complaints(output: &Output, path: &str) -> usize {
    let program = Path::new(LANCET).file_name().unwrap().to_str().unwrap();
    stderr(output).matches(&format!("{program}: {path}:")).count()
}

/// Reads so many mutants of a kind by the library and by the program. Returns how many of
/// them could be used.
pub fn read(
    name: &str,
    files: u64,
    mutant: impl Fn(u64) -> Vec<u8>,
    target: fn(&[u8]) -> bool,
    check: Check,
) -> u64 {
    let desk = Desk::new();
    let mut used = 0;
    for number in 0..files {
        let bytes = mutant(number);
        let path = desk.put(&format!("a.{name}"), &bytes);
        let read = panic::catch_unwind(AssertUnwindSafe(|| {
            target(&bytes);
            check(&desk, &path, &bytes)
        }));
        let Ok(read) = read else {
            let kept = env::temp_dir().join(format!("lancet-{name}-{number}"));
            fs::write(&kept, &bytes).unwrap();
            panic!("{name} file number {number} fails; it is kept as {}", kept.display());
        };
        used += u64::from(read);
    }
    used
}
