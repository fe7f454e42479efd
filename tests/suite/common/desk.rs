//! Runs the built program on files that may be hostile. They are in a temporary directory, and the
//! program runs with limits and without root's privileges.
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

/// Lets the program read the file at a path, and checks its answers against the bytes of the file.
/// Returns whether the file was valid.
pub type Check = fn(&Desk, &str, &[u8]) -> bool;

/// Limits of the program: one minute of processor time and 2 GB of address space, which macOS
/// cannot limit.
const LIMITS: &str = if cfg!(target_os = "linux") {
    "ulimit -c 0 && ulimit -t 60 && ulimit -v 2000000"
} else {
    "ulimit -c 0 && ulimit -t 60"
};

/// A user and group without privileges.
const NOBODY: u32 = 65_534;

/// A temporary directory with the file to read, and the program. If root runs the test, the program
/// can write only there.
pub struct Desk {
    directory: Directory,
    program: String,
    /// Whether the test runs as root and can give files to another user.
    is_root: bool,
}

impl Desk {
    fn new() -> Desk {
        let directory = Directory::new();
        let place = directory.path("");
        // The user of the test owns the new directory. If root cannot give it away, root has no
        // privileges that the program could misuse.
        let is_root = fs::metadata(&place).unwrap().uid() == 0
            && chown(&place, Some(NOBODY), Some(NOBODY)).is_ok();
        let mut desk = Desk { directory, program: LANCET.to_owned(), is_root };
        if is_root {
            // Other users may have no access to the build directory.
            desk.program = desk.directory.path("lancet");
            // A separate process copies the file. Otherwise programs that other tests start at the
            // same moment would inherit the open file and keep it busy.
            let copied = Command::new("cp").args([LANCET, &desk.program]).status().unwrap();
            assert!(copied.success());
            desk.give_away(&desk.program);
        }
        desk
    }

    /// Lets the program read and write a file or directory of this test.
    fn give_away(&self, path: &str) {
        if self.is_root {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Returns the path of a name in the directory of the file.
    pub fn path(&self, name: &str) -> String {
        self.directory.path(&format!("files/{name}"))
    }

    /// Writes a file to a directory without other files. Returns its path.
    fn put(&self, name: &str, bytes: &[u8]) -> String {
        let files = self.path("");
        // The first time the directory does not exist.
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
        // More threads would only need more address space.
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

    /// Runs the program with these UCI commands and a search of the start position. Returns its
    /// answers.
    pub fn play(&self, settings: &[&str]) -> Vec<String> {
        let output = self.run(&[settings, &["go nodes 100", "quit"]].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output));
        stdout(&output).lines().map(str::to_owned).collect()
    }
}

/// Returns how often the program's error output names a file.
pub fn complaints(output: &Output, path: &str) -> usize {
    let program = Path::new(LANCET).file_name().unwrap().to_str().unwrap();
    stderr(output).matches(&format!("{program}: {path}:")).count()
}

/// Lets the library and the program read a number of mutants of a kind. Returns the number of valid
/// ones.
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
