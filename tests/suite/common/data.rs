//! Test data that are too large for the repository. They are in the directory that the environment
//! variable `LANCET_TEST_DATA` names, and must then exist, or else beside the checkout. Without
//! them tests are skipped.

use std::path::{Path, PathBuf};

/// Returns the path of a file or directory of the test data.
pub fn data(name: &str) -> Option<PathBuf> {
    let beside = Path::new(crate::ROOT).join("../shared/data");
    let named = std::env::var_os("LANCET_TEST_DATA");
    let path = named.as_ref().map_or(&*beside, Path::new).join(name);
    assert!(named.is_none() || path.exists(), "no {}", path.display());
    if !path.exists() {
        eprintln!("skipped: no {}", path.display());
    }
    path.exists().then_some(path)
}
