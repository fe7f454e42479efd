//! What the endgame tables of the test data know.

use std::{path::PathBuf, sync::OnceLock};

use lancet::chess::position::Position;
use shakmaty::Chess;
use shakmaty_syzygy::Tablebase;

use super::data::data;

/// The directory of the endgame tables.
pub fn directory() -> Option<PathBuf> {
    data("syzygy")
}

/// The tables through the library, as the tests' oracle.
pub fn oracle() -> Option<Tablebase<Chess>> {
    let mut oracle = Tablebase::new();
    oracle.add_directory(directory()?).unwrap();
    Some(oracle)
}

/// Who wins, by the tables, where no clock can change that: 1 the side to move.
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
