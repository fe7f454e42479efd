//! Checks the network that becomes part of the program, and tells the
//! compiler where it is: the file that the environment variable `EVALFILE`
//! names, or the one that comes with the sources.

use std::{env, path::PathBuf};

#[path = "src/eval/nnue/checksum.rs"]
mod checksum;

use checksum::{HASH_AT, HEADER, MAGIC, VERSION, hash};

const DEFAULT: &str = "src/eval/nnue/default.nnue";

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let file = env::var_os("EVALFILE").filter(|file| !file.is_empty());
    let path = root.join(file.unwrap_or_else(|| DEFAULT.into()));
    println!("cargo::rerun-if-env-changed=EVALFILE");
    println!("cargo::rerun-if-changed={}", path.display());
    println!("cargo::rustc-env=LANCET_NETWORK={}", path.display());
    if let Err(reason) = check(&path) {
        println!("cargo::error=network '{}': {reason}", path.display());
    }
}

/// Files with the right hash were written by Lancet, which checks everything
/// else before it writes.
fn check(path: &PathBuf) -> Result<(), String> {
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
