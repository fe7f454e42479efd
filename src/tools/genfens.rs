//! `genfens`: openings for OpenBench's workers.

use std::path::Path;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::{
    engine::{Engine, Job, Settings},
    play::{
        limits::Limits,
        openings::{BALANCE, Openings, read_book},
        report::Silent,
        signals::Signals,
    },
    system::files::{self, FileError},
};

/// Makes `count` balanced openings for OpenBench and passes each to `found` as a FEN.
///
/// Each opening starts from a random position of the book or, without a book, from the start
/// position. Random moves follow. An opening is balanced if a short search scores it within
/// [`BALANCE`] centipawns of 0. The same seed gives the same openings. Ends early when `signals`
/// stops it.
///
/// # Errors
///
/// If the book cannot be read or there is not enough memory for a small table.
pub(crate) fn genfens(
    count: usize,
    seed: u64,
    book: Option<&Path>,
    signals: &Signals,
    found: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    // Refuse a pipe or a device, for which `read_book` could wait for ever.
    if let Some(path) = book {
        files::open_regular(path).map_err(|error| FileError::new(path, error))?;
    }
    let book = book.map(read_book).transpose()?;
    let openings = Openings::from_books(Vec::from_iter(book));
    let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() })?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut left = count;
    while left > 0
        && let Some(position) = openings.make(&mut rng, || signals.is_stopped())
    {
        let limits = Limits { soft_nodes: Some(1000), nodes: Some(10_000), ..Limits::default() };
        engine.new_game();
        let outcome = engine.go(&Job::new(position.clone().into(), limits), &Silent);
        if outcome.info.score.abs() <= BALANCE {
            found(&position.fen());
            left -= 1;
        }
    }
    Ok(())
}
