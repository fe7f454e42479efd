//! What is decided when the program is built: the network that becomes part of it, what
//! it says about itself, and the check of the processor before it runs.

use std::{
    env,
    error::Error,
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
fn check(path: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    if !bytes.starts_with(MAGIC) || bytes.len() < HEADER {
        return Err("not a Lancet network (it does not begin with 'LANCETNN')".into());
    }
    if bytes[8..12] != VERSION.to_le_bytes() {
        return Err(format!("not in format {VERSION}, which this program reads").into());
    }
    if bytes[HASH_AT..HEADER] != hash(&bytes).to_le_bytes() {
        return Err("corrupt: its hash does not match its bytes".into());
    }
    Ok(())
}

/// Names the commit that is built. Development builds do not ask: each commit would
/// have everything compiled again.
fn commit(root: &Path) {
    let text = if variable("PROFILE") == "debug" {
        "development build".to_owned()
    } else {
        // An archive may be unpacked below another repository: it is none of its commits.
        let commit = root.join(".git").exists().then(released).flatten();
        commit.map_or("unknown commit".to_owned(), |commit| format!("commit {commit}"))
    };
    tell("LANCET_COMMIT", &text);
}

/// The commit, and whether files have changed since; looked at again when that may be.
fn released() -> Option<String> {
    // Grows with each commit and checkout.
    git(&["rev-parse", "--git-path", "logs/HEAD"]).iter().for_each(|log| watch(log));
    ["src", "build.rs", "Cargo.toml", "Cargo.lock"].into_iter().for_each(watch);
    git(&["describe", "--always", "--exclude=*", "--abbrev=9", "--dirty= with changes"])
}

/// What Git answers; `None` if it cannot.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The instruction sets of the levels of x86-64 from v1 on, each without those of lower levels
/// (System V ABI, AMD64 supplement, section 3.1.1).
const LEVELS: [&[&str]; 4] = [
    &["fxsr", "sse", "sse2"],
    &["cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"],
    &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"],
    &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"],
];

/// For each register of `guard.rs` the instruction sets that it tells of, and their bits (Intel
/// SDM, volume 2A, CPUID).
///
/// `target-cpu=native` may have a part of a level: Ivy Bridge has AVX, but not AVX2.
/// Therefore the program asks for each set, not for the level. Beyond the levels these
/// are the sets that LLVM uses where they suit ordinary code (to count bits, shuffle bytes,
/// sum products, move 16 bits), and those that a crate uses when it is compiled for them
/// (crc32fast: pclmulqdq and vpclmulqdq). Only intrinsics that nobody calls use the others,
/// such as aes, sha, rdrand and xsaveopt. The system has to switch xsave on, too.
#[rustfmt::skip]
const REGISTERS: [&[(&str, u8)]; 7] = [
    // Leaf 1: ecx.
    &[("sse3", 0), ("pclmulqdq", 1), ("ssse3", 9), ("fma", 12), ("cmpxchg16b", 13), ("sse4.1", 19),
      ("sse4.2", 20), ("movbe", 22), ("popcnt", 23), ("xsave", 27), ("avx", 28), ("f16c", 29)],
    // Leaf 7: ebx, ecx, edx.
    &[("bmi1", 3), ("avx2", 5), ("bmi2", 8), ("avx512f", 16), ("avx512dq", 17), ("avx512ifma", 21),
      ("avx512cd", 28), ("avx512bw", 30), ("avx512vl", 31)],
    &[("avx512vbmi", 1), ("avx512vbmi2", 6), ("gfni", 8), ("vpclmulqdq", 10), ("avx512vnni", 11),
      ("avx512bitalg", 12), ("avx512vpopcntdq", 14)],
    &[("avx512fp16", 23)],
    // Leaf 7, second part: eax, edx.
    &[("avxvnni", 4), ("avxifma", 23)],
    &[("avxvnniint8", 4), ("avxvnniint16", 10)],
    // AMD's leaf: ecx.
    &[("lzcnt", 5), ("sse4a", 6), ("tbm", 21)],
];

/// Names the highest level of x86-64 that the program is compiled for, and the instruction
/// sets beyond it; and links the check that the processor has them.
fn x86_64(root: &Path, instructions: &[&str]) {
    let is_whole = |sets: &&&[&str]| sets.iter().all(|set| instructions.contains(set));
    let level = LEVELS.iter().take_while(is_whole).count();
    let within = LEVELS[..level].concat();
    let beyond: Vec<&str> =
        instructions.iter().copied().filter(|set| !within.contains(set)).collect();
    tell("LANCET_LEVEL", &format!("x86-64-v{level}"));
    tell("LANCET_INSTRUCTIONS", &beyond.join(" "));
    let needed = instructions.iter().filter_map(|&name| {
        let level = LEVELS.iter().position(|sets| sets.contains(&name)).map_or(0, |at| at + 1);
        REGISTERS.iter().enumerate().find_map(|(register, sets)| {
            let (_, bit) = sets.iter().find(|(set, _)| *set == name)?;
            Some((name, level, register, *bit))
        })
    });
    guard(root, &format!("({level}, &{:?})", needed.collect::<Vec<_>>()));
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
