//! Test data that are too large for the repository. The environment variable `LANCET_TEST_DATA`
//! names their directory. If it is set, missing files fail the tests. Otherwise, the data are
//! expected beside the checkout, and tests without their data are skipped.

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
