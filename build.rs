//! Build script: selects the network to embed, collects the build information that the program
//! prints, and compiles the processor check that runs at startup.

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
    // Cargo also lists crt-static here, which selects static linking.
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

/// Returns an environment variable that Cargo sets, or an empty string.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Sets the environment variable `name` for the compilation of the program.
fn tell(name: &str, value: &str) {
    println!("cargo::rustc-env={name}={value}");
}

/// Tells Cargo to run this script again when the file changes.
fn watch(path: &str) {
    println!("cargo::rerun-if-changed={path}");
}

/// Checks the network to embed, and passes its path to the program as `LANCET_NETWORK`. The
/// environment variable `EVALFILE` names the network; by default it is the one in the repository.
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

/// Checks the magic number, version and hash of a network. A valid hash is enough for the rest,
/// because Lancet checks a network before it writes the hash.
///
/// # Errors
///
/// If the file cannot be read, or one of the three is wrong.
fn check(path: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    if !bytes.starts_with(MAGIC) {
        return Err("not a Lancet network (it does not begin with 'LANCETNN')".into());
    }
    if bytes.len() < HEADER {
        return Err(format!("truncated: {} of at least {HEADER} bytes", bytes.len()).into());
    }
    let version = u32::from_le_bytes(bytes[8..12].try_into()?);
    if version != VERSION {
        return Err(format!("unsupported network format {version}, expected {VERSION}").into());
    }
    if bytes[HASH_AT..HEADER] != hash(&bytes).to_le_bytes() {
        return Err("corrupt: its hash does not match its bytes".into());
    }
    Ok(())
}

/// Passes the commit to the program as `LANCET_COMMIT`. Development builds leave it out, because
/// each commit would otherwise cause a complete recompilation.
fn commit(root: &Path) {
    let text = if variable("PROFILE") == "debug" {
        "development build".to_owned()
    } else {
        // An archive may be unpacked inside the repository of another project. The commits there
        // are not commits of Lancet.
        let commit = root.join(".git").exists().then(released).flatten();
        commit.map_or("unknown commit".to_owned(), |commit| format!("commit {commit}"))
    };
    tell("LANCET_COMMIT", &text);
}

/// Returns the commit, marked if files have changed since. Tells Cargo to run this script again
/// when the commit or a file may have changed.
fn released() -> Option<String> {
    // Git appends to this log at each commit and checkout.
    git(&["rev-parse", "--git-path", "logs/HEAD"]).iter().for_each(|log| watch(log));
    ["src", "build.rs", "Cargo.toml", "Cargo.lock"].into_iter().for_each(watch);
    git(&["describe", "--always", "--exclude=*", "--abbrev=9", "--dirty= with changes"])
}

/// Returns the trimmed output of a Git command, or `None` if the command fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The instruction sets of each x86-64 level, from v1 to v4, without those of lower levels (System
/// V ABI, AMD64 supplement, section 3.1.1).
const LEVELS: [&[&str]; 4] = [
    &["fxsr", "sse", "sse2"],
    &["cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"],
    &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"],
    &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"],
];

/// The instruction sets that each CPUID register of `guard.rs` reports, with their bits (Intel SDM,
/// volume 2A, CPUID).
///
/// `target-cpu=native` may contain only a part of a level: Ivy Bridge has AVX, but not AVX2.
/// Therefore the program checks each set, not the level. The table also has sets that are in no
/// level. LLVM uses some of them in ordinary code, to count bits, shuffle bytes, sum products and
/// move 16-bit values. A crate uses others when it is compiled for them (crc32fast: pclmulqdq and
/// vpclmulqdq). Sets such as aes, sha, rdrand and xsaveopt are not in the table, because only
/// intrinsics that Lancet does not call use them. The bit of xsave is OSXSAVE, which is set only if
/// the operating system has enabled xsave.
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
    // Leaf 7, subleaf 1: eax, edx.
    &[("avxvnni", 4), ("avxifma", 23)],
    &[("avxvnniint8", 4), ("avxvnniint16", 10)],
    // Leaf 0x8000_0001 (AMD): ecx.
    &[("lzcnt", 5), ("sse4a", 6), ("tbm", 21)],
];

/// Passes the highest x86-64 level that the program is compiled for, and the instruction sets
/// beyond it, to the program. Links the startup check that the processor has all of these sets.
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

/// Passes the compiler, the target and the optimisation level to the program.
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

/// Compiles the processor check for the oldest processors of the architecture, and links it.
/// `needed` is the Rust expression with the level and the instruction sets to check.
fn guard(root: &Path, needed: &str) {
    watch(GUARD);
    let out = PathBuf::from(variable("OUT_DIR"));
    if let Err(error) = std::fs::write(out.join("needed.rs"), needed) {
        println!("cargo::error=cannot write {}/needed.rs: {error}", out.display());
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
    // The object comes after the library that it calls, and mingw's linker searches each library
    // only once. Therefore the library is named again after the object.
    if variable("CARGO_CFG_TARGET_OS") == "windows" && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-lmsvcrt");
    }
}
