//! What is decided when the program is built: the network that becomes part of it, what
//! it says about itself, and the check of the processor before it runs.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

#[path = "src/eval/nnue/checksum.rs"]
mod checksum;
#[path = "src/system/processor.rs"]
#[allow(dead_code, reason = "only the table is wanted here")]
mod processor;

use checksum::{HASH_AT, HEADER, MAGIC, VERSION, hash};
use processor::{BASELINE, Features};

const NETWORK: &str = "src/eval/nnue/default.nnue";
const GUARD: &str = "src/system/guard.rs";

fn main() {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    network(&root);
    commit(&root);
    compiler();
    let features = variable("CARGO_CFG_TARGET_FEATURE");
    // A way to link is named among them.
    let is_instructions = |name: &&str| !name.is_empty() && *name != "crt-static";
    let instructions: Vec<&str> = features.split(',').filter(is_instructions).collect();
    let architecture = variable("CARGO_CFG_TARGET_ARCH");
    if architecture == "x86_64" {
        x86_64(&root, &instructions);
    } else {
        tell("LANCET_LEVEL", &architecture);
        tell("LANCET_INSTRUCTIONS", &instructions.join(" "));
    }
}

/// A variable that Cargo sets; empty without it.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Has the program find `value` under `name` when it is compiled.
fn tell(name: &str, value: &str) {
    println!("cargo::rustc-env={name}={value}");
}

fn watch(path: &str) {
    println!("cargo::rerun-if-changed={path}");
}

/// Checks the network that becomes part of the program, and tells where it is: the file
/// that the environment variable `EVALFILE` names, or the one that comes with the sources.
fn network(root: &Path) {
    let file = env::var_os("EVALFILE").filter(|file| !file.is_empty());
    let path = root.join(file.unwrap_or_else(|| NETWORK.into()));
    println!("cargo::rerun-if-env-changed=EVALFILE");
    watch(&path.display().to_string());
    tell("LANCET_NETWORK", &path.display().to_string());
    if let Err(reason) = check(&path) {
        println!("cargo::error=network '{}': {reason}", path.display());
    }
}

/// Files with the right hash were written by Lancet, which checks everything
/// else before it writes.
fn check(path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    if !bytes.starts_with(MAGIC) || bytes.len() < HEADER {
        return Err("not a Lancet network (it does not begin with 'LANCETNN')".to_owned());
    }
    if bytes[8..12] != VERSION.to_le_bytes() {
        return Err(format!("not in format {VERSION}, which this program reads"));
    }
    if bytes[HASH_AT..HEADER] != hash(&bytes).to_le_bytes() {
        return Err("corrupt: its hash does not match its bytes".to_owned());
    }
    Ok(())
}

/// Names the commit that is built. Development builds do not ask: each commit would
/// have everything compiled again.
fn commit(root: &Path) {
    let text = if variable("PROFILE") == "debug" {
        "development build".to_owned()
    } else if root.join(".git").exists() {
        released(git(&["rev-parse", "--short=9", "HEAD"]))
    } else {
        // An archive, perhaps unpacked below another repository: none of its commits.
        released(None)
    };
    tell("LANCET_COMMIT", &text);
}

/// What is said of `commit`, and looked at again when it may have changed.
fn released(commit: Option<String>) -> String {
    let Some(commit) = commit else { return "unknown commit".to_owned() };
    // Grows with each commit and checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        watch(&log);
    }
    let sources = ["src", "build.rs", "Cargo.toml", "Cargo.lock"];
    sources.into_iter().for_each(watch);
    let changes = git(&[&["status", "--porcelain", "--"], &sources[..]].concat());
    let changed = changes.is_none_or(|changes| !changes.is_empty());
    format!("commit {commit}{}", if changed { " with changes" } else { "" })
}

/// What Git answers; `None` if it cannot.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Names the level of x86-64 that has what the program is compiled for, and what it is
/// compiled for besides; and has the processor asked for all of it.
fn x86_64(root: &Path, instructions: &[&str]) {
    let needed = Features::select(|feature| instructions.contains(&feature.name));
    let level = needed.level();
    let within = Features::select(|_| true).without(needed.above(level));
    let beyond = instructions.iter().filter(|name| {
        !BASELINE.contains(name) && !within.iter().any(|feature| feature.name == **name)
    });
    tell("LANCET_LEVEL", &format!("x86-64-v{level}"));
    tell("LANCET_INSTRUCTIONS", &beyond.copied().collect::<Vec<_>>().join(" "));
    guard(root, needed);
}

/// Names what compiles the program, and how.
fn compiler() {
    let output = Command::new(variable("RUSTC")).arg("-vV").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let llvm = text.lines().find_map(|line| line.strip_prefix("LLVM version: "));
    let rustc = text.lines().next().unwrap_or("unknown");
    tell("LANCET_RUSTC", &format!("{rustc}, LLVM {}", llvm.unwrap_or("unknown")));
    tell("LANCET_TARGET", &variable("TARGET"));
    tell("LANCET_OPT_LEVEL", &variable("OPT_LEVEL"));
}

/// Compiles the check of the processor for the oldest ones of its kind, and links it.
fn guard(root: &Path, needed: Features) {
    watch(GUARD);
    let object = Path::new(&variable("OUT_DIR")).join("guard.o");
    let status = Command::new(variable("RUSTC"))
        .args(["--edition", "2024", "--crate-name", "guard", "--crate-type", "lib", "-O"])
        .args(["-C", "panic=abort", "--target", &variable("TARGET"), "--emit"])
        .arg(format!("obj={}", object.display()))
        .arg(root.join(GUARD))
        .env("LANCET_NEEDS", format!("{:x}", needed.0))
        .status();
    if !status.is_ok_and(|status| status.success()) {
        println!("cargo::error={GUARD} cannot be compiled");
    }
    println!("cargo::rustc-link-arg-bins={}", object.display());
    // The object comes behind the library that it calls, and mingw's linker looks at those
    // once.
    if variable("CARGO_CFG_TARGET_OS") == "windows" && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-lmsvcrt");
    }
}
