//! What is decided when the program is built: the network that becomes part of it, what
//! it says about itself, and the check of the processor before it runs.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

#[path = "src/eval/nnue/checksum.rs"]
mod checksum;

use checksum::{HASH_AT, HEADER, MAGIC, VERSION, hash};

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

/// An instruction set: its name, the lowest level of x86-64 that has it (0: none), and where
/// `guard.rs` reads whether a processor has it: register and bit.
type Feature = (&'static str, u8, usize, u8);

/// What `cpuid` answers in these registers to a question for leaf 1, leaf 7 (two parts) and
/// AMD's leaf. The numbers are those of `guard.rs`.
const ECX_1: usize = 0;
const EBX_7: usize = 1;
const ECX_7: usize = 2;
const EDX_7: usize = 3;
const EAX_7_1: usize = 4;
const EDX_7_1: usize = 5;
const ECX_AMD: usize = 6;

/// The instruction sets that may be used without being asked for, by level (System V ABI,
/// AMD64 supplement, section 3.1.1; bits: Intel SDM, volume 2A, CPUID).
///
/// `target-cpu=native` may have a part of a level: Ivy Bridge has AVX, but not AVX2.
/// Therefore the program asks for each set, not for the level. Beyond the levels these
/// are the sets that LLVM uses where they suit ordinary code (to count bits, shuffle bytes,
/// sum products, move 16 bits), and those that a crate uses when it is compiled for them
/// (crc32fast: pclmulqdq and vpclmulqdq). Only intrinsics that nobody calls use the others,
/// such as aes, sha, rdrand and xsaveopt.
#[rustfmt::skip]
const FEATURES: &[Feature] = &[
    ("cmpxchg16b",      2, ECX_1,   13),
    ("popcnt",          2, ECX_1,   23),
    ("sse3",            2, ECX_1,   0),
    ("ssse3",           2, ECX_1,   9),
    ("sse4.1",          2, ECX_1,   19),
    ("sse4.2",          2, ECX_1,   20),
    ("avx",             3, ECX_1,   28),
    ("avx2",            3, EBX_7,   5),
    ("bmi1",            3, EBX_7,   3),
    ("bmi2",            3, EBX_7,   8),
    ("f16c",            3, ECX_1,   29),
    ("fma",             3, ECX_1,   12),
    ("lzcnt",           3, ECX_AMD, 5),
    ("movbe",           3, ECX_1,   22),
    ("xsave",           3, ECX_1,   27), // switched on by the operating system, too
    ("avx512f",         4, EBX_7,   16),
    ("avx512bw",        4, EBX_7,   30),
    ("avx512cd",        4, EBX_7,   28),
    ("avx512dq",        4, EBX_7,   17),
    ("avx512vl",        4, EBX_7,   31),
    ("avx512bitalg",    0, ECX_7,   12),
    ("avx512fp16",      0, EDX_7,   23),
    ("avx512ifma",      0, EBX_7,   21),
    ("avx512vbmi",      0, ECX_7,   1),
    ("avx512vbmi2",     0, ECX_7,   6),
    ("avx512vnni",      0, ECX_7,   11),
    ("avx512vpopcntdq", 0, ECX_7,   14),
    ("avxifma",         0, EAX_7_1, 23),
    ("avxvnni",         0, EAX_7_1, 4),
    ("avxvnniint16",    0, EDX_7_1, 10),
    ("avxvnniint8",     0, EDX_7_1, 4),
    ("gfni",            0, ECX_7,   8),
    ("pclmulqdq",       0, ECX_1,   1),
    ("sse4a",           0, ECX_AMD, 6),
    ("tbm",             0, ECX_AMD, 21),
    ("vpclmulqdq",      0, ECX_7,   10),
];

/// What every x86-64 processor has.
const BASELINE: [&str; 3] = ["fxsr", "sse", "sse2"];

/// Names the highest level of x86-64 that the program is compiled for, and the instruction
/// sets beyond it; and links the check that the processor has them.
fn x86_64(root: &Path, instructions: &[&str]) {
    let is_whole = |level: &u8| {
        let mut sets = FEATURES.iter().filter(|(_, of, ..)| of == level);
        sets.all(|(name, ..)| instructions.contains(name))
    };
    let level = (2..=4).take_while(is_whole).last().unwrap_or(1);
    let within = |name: &str| {
        let has = |&(other, of, ..): &Feature| other == name && (2..=level).contains(&of);
        BASELINE.contains(&name) || FEATURES.iter().any(has)
    };
    let beyond: Vec<&str> = instructions.iter().copied().filter(|name| !within(name)).collect();
    tell("LANCET_LEVEL", &format!("x86-64-v{level}"));
    tell("LANCET_INSTRUCTIONS", &beyond.join(" "));
    let needed: Vec<&Feature> =
        FEATURES.iter().filter(|(name, ..)| instructions.contains(name)).collect();
    guard(root, &format!("({level}, &{needed:?})"));
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

/// Compiles the check of the processor for the oldest ones of its kind, with a level and
/// instruction sets in Rust, and links it.
fn guard(root: &Path, needed: &str) {
    watch(GUARD);
    let out = PathBuf::from(variable("OUT_DIR"));
    if let Err(error) = std::fs::write(out.join("needed.rs"), needed) {
        println!("cargo::error={}: {error}", out.display());
    }
    let object = out.join("guard.o");
    let status = Command::new(variable("RUSTC"))
        .args(["--edition", "2024", "--crate-name", "guard", "--crate-type", "lib", "-O"])
        .args(["-C", "panic=abort", "--target", &variable("TARGET"), "--emit"])
        .arg(format!("obj={}", object.display()))
        .arg(root.join(GUARD))
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
