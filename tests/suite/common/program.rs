//! Runs the built program with arguments, either to its end or in parallel with a test.

use std::{
    fs,
    ops::{Deref, DerefMut},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// The built program. The tests of each package define their own.
pub use crate::PROGRAM as LANCET;

/// Maximum wait for an answer. A program that takes longer has hung, however busy the machine is.
/// Tests that pass never wait this long.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// Returns a command that runs the program with these arguments and without input.
pub fn lancet(args: &[&str]) -> Command {
    let mut command = Command::new(LANCET);
    command.args(args).stdin(Stdio::null());
    command
}

/// Returns a command that runs the program in a shell, after `limits` such as `ulimit -v 1000000`.
#[cfg(unix)]
pub fn limited(limits: &str, args: &[&str]) -> Command {
    limited_copy(LANCET, limits, args)
}

/// Like `limited`, but for a copy of the program.
#[cfg(unix)]
pub fn limited_copy(program: &str, limits: &str, args: &[&str]) -> Command {
    let script = format!("{limits} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, program]).args(args).stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub fn run(args: &[&str]) -> Output {
    lancet(args).output().unwrap()
}

/// Returns the standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns standard output and standard error, one after the other.
pub fn text(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

/// Runs a command that must succeed. Returns both its outputs.
pub fn succeed(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output));
    text(&output)
}

/// Runs a command that must fail. Returns its error output.
pub fn fail(args: &[&str]) -> String {
    let output = run(args);
    assert!(!output.status.success(), "{args:?}: {}", text(&output));
    stderr(&output)
}

/// A program that runs beside its test, and is killed with it even if the test fails.
pub struct Running(Child);

impl Running {
    /// Starts the program.
    pub fn start(command: &mut Command) -> Running {
        Running(command.spawn().unwrap())
    }

    /// Waits until the program has ended by itself.
    pub fn ended(&mut self) -> ExitStatus {
        wait_until("its end", || self.0.try_wait().unwrap().is_some());
        self.0.wait().unwrap()
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal, such as `-INT` for Ctrl-C.
#[cfg(unix)]
pub fn signal(id: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success());
}

/// Returns whether a program ignores a signal. Programs that a shell starts in the background may
/// ignore SIGINT.
#[cfg(target_os = "linux")]
pub fn is_ignored(id: u32, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    u64::from_str_radix(mask, 16).unwrap() >> (signal - 1) & 1 == 1
}

#[cfg(all(unix, not(target_os = "linux")))]
pub fn is_ignored(_: u32, _: u32) -> bool {
    false
}

/// Sends Ctrl-C, or SIGTERM if the program ignores it.
#[cfg(unix)]
pub fn interrupt(child: &Child) {
    let ctrl_c = if is_ignored(child.id(), 2) { "-TERM" } else { "-INT" };
    signal(child.id(), ctrl_c);
}

/// Waits until a condition is true.
pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !happened() {
        assert!(Instant::now() < deadline, "still waiting for {what} at the deadline");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a file has at least `bytes` bytes.
pub fn wait_for_bytes(file: &Path, bytes: u64) {
    let length = || fs::metadata(file).map_or(0, |data| data.len());
    wait_until(&format!("{bytes} bytes of {}", file.display()), || length() >= bytes);
}

/// A temporary directory of a test.
pub struct Directory(TempDir);

impl Directory {
    pub fn new() -> Directory {
        Directory(tempfile::tempdir().unwrap())
    }

    /// Returns the path of a name in the directory, as an argument for the program.
    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).into_os_string().into_string().unwrap()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }
}
