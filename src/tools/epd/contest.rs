//! What a run is about: suites, engines that take part, what came of it.

use std::path::PathBuf;

use super::run::{Attempt, Player};
use crate::chess::{
    epd::{Reason, Record},
    lines::LineError,
};

/// A file of positions.
#[derive(Debug)]
pub struct Suite {
    /// Where it is.
    pub path: PathBuf,
    /// Its usable lines.
    pub records: Vec<Record>,
    /// Its other lines.
    pub broken: Vec<LineError<Reason>>,
}

/// An engine that takes part, as many times as there are jobs.
pub struct Contestant {
    /// What tables call it.
    pub name: String,
    /// The command line behind it; `None` for this engine.
    pub command: Option<String>,
    /// One for each job.
    pub(super) players: Vec<Box<dyn Player>>,
}

/// What one suite came to.
#[derive(Debug)]
pub struct SuiteResult {
    /// For each contestant, an attempt at each record, or `None` if the run was
    /// interrupted before.
    pub attempts: Vec<Vec<Option<Attempt>>>,
}
