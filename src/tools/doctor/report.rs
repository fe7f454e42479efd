//! What was found, as data: the report is these types in JSON.

use serde::Serialize;

use super::measure::{Speed, TableCost, Timers};
use crate::system::memory;

/// The machine.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub processor: String,
    pub architecture: &'static str,
    pub system: String,
    /// Threads that the system runs at the same time.
    pub logical_cores: usize,
    pub physical_cores: Option<usize>,
    /// Bytes.
    pub memory: u64,
    /// Bytes that a program can use, within the limits of its container.
    pub available_memory: Option<u64>,
}

impl Machine {
    pub fn look() -> Machine {
        let logical_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let memory::Machine { processor, system, physical_cores, memory } = memory::machine();
        Machine {
            processor,
            architecture: std::env::consts::ARCH,
            system,
            logical_cores,
            physical_cores,
            memory,
            available_memory: memory::available(),
        }
    }
}

/// Everything that was found.
#[derive(Debug, Serialize)]
pub struct Report {
    pub version: &'static str,
    /// How it was built: what a line is about, and what there is to say.
    pub build: Vec<(&'static str, String)>,
    pub machine: Machine,
    pub speed: Vec<Speed>,
    pub tables: Vec<TableCost>,
    pub timers: Timers,
    pub advice: Vec<Advice>,
}

/// A value for a UCI option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    pub option: &'static str,
    pub value: u64,
    pub why: String,
}
