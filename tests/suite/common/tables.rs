//! Results from the tablebases of the test data.

use std::{path::PathBuf, sync::OnceLock};

use lancet::chess::position::Position;
use shakmaty::Chess;
use shakmaty_syzygy::Tablebase;

use super::data::data;

/// Returns the directory of the tablebases.
pub fn directory() -> Option<PathBuf> {
    data("syzygy")
}

/// Returns the tablebases, read by `shakmaty-syzygy` alone, as an oracle for the tests.
pub fn oracle() -> Option<Tablebase<Chess>> {
    let mut oracle = Tablebase::new();
    oracle.add_directory(directory()?).unwrap();
    Some(oracle)
}

/// Returns 1 if the side to move wins, -1 if the other side wins, and 0 for a draw, according to
/// the tablebases and with a halfmove clock of 0. Returns `None` if the fifty-move rule changes the
/// result, or the tablebases lack the position.
pub fn winner(position: &Position) -> Option<i64> {
    static ORACLE: OnceLock<Option<Tablebase<Chess>>> = OnceLock::new();
    let wdl =
        ORACLE.get_or_init(oracle).as_ref()?.probe_wdl_after_zeroing(position.chess()).ok()?;
    match i32::from(wdl) {
        2 => Some(1),
        0 => Some(0),
        -2 => Some(-1),
        _ => None,
    }
}
