//! Options that several commands share.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use super::{complain, depth, thread_count};
use crate::{
    engine::Engine,
    play::{
        limits::Limits,
        syzygy::{self, Tablebases},
    },
    system::arguments,
};

/// Limits of the search of each position.
#[derive(Clone, Debug, clap::Args)]
pub struct Effort {
    /// Time for each position, in milliseconds
    #[arg(long, value_name = "MS", value_parser = arguments::whole::<u64>(1..=86_400_000))]
    pub movetime: Option<u64>,
    /// Nodes to search for each position
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    pub nodes: Option<u64>,
    /// Depth for each position, in plies
    #[arg(long, value_name = "PLIES", value_parser = depth)]
    pub depth: Option<u32>,
}

impl Effort {
    /// Returns the limits of an analysis. If no option limits a search, it gets the time `default`.
    pub fn limits(&self, default: Duration) -> Limits {
        let Effort { movetime, nodes, depth } = *self;
        let unlimited = movetime.is_none() && nodes.is_none() && depth.is_none();
        let movetime = movetime.map(Duration::from_millis).or(unlimited.then_some(default));
        Limits { movetime, nodes, depth, analyse: true, ..Limits::default() }
    }
}

/// Number of parallel searches, and of threads for each.
#[derive(Clone, Debug, clap::Args)]
pub struct Workers {
    /// Search threads for each position
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = thread_count)]
    pub threads: usize,
    /// Positions to search in parallel, each with its own table
    #[arg(long, value_name = "J", default_value_t = 1, value_parser = thread_count)]
    pub jobs: usize,
}

/// The tablebases that the engines probe.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Tables {
    /// Directories of Syzygy tablebases, separated as in PATH
    #[arg(long, value_name = "PATHS", value_parser = tables)]
    pub syzygy: Option<String>,
}

impl Tables {
    /// Opens the tablebases, if any are given, and shares them between these engines. Reports the
    /// number of tables, missing tables, and files that cannot be used.
    pub(super) fn open_for(&self, engines: &mut [Engine]) -> Option<Arc<Tablebases>> {
        let directories = syzygy::directories(self.syzygy.as_deref()?);
        let tables = Tablebases::open(&directories, &|what| complain(what)).map(Arc::new);
        for engine in engines {
            engine.set_tablebases(tables.clone());
        }
        tables
    }
}

/// Parses the directories of tablebases for clap.
fn tables(paths: &str) -> Result<String, String> {
    match syzygy::directories(paths).into_iter().find(|path| !path.is_dir()) {
        Some(path) => Err(format!("'{}' is not a directory", path.display())),
        None => Ok(paths.to_owned()),
    }
}

/// A part of the work: every `of`-th item, starting with item `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `of`.
    number: u64,
    of: u64,
}

impl Shard {
    /// All the work.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Returns whether this part contains the item with this index, counted from 0.
    pub const fn has(self, index: u64) -> bool {
        index % self.of == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/');
        let shard = numbers.and_then(|(number, of)| {
            Some(Shard { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        shard
            .filter(|shard| (1..=shard.of).contains(&shard.number))
            .ok_or_else(|| "expected K/N with K from 1 to N, such as 2/8".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shards_are_read() {
        let shard: Shard = "2/8".parse().unwrap();
        assert_eq!((shard.number, shard.of, shard.to_string().as_str()), (2, 8, "2/8"));
        assert_eq!("1/1".parse(), Ok(Shard::WHOLE));
        for text in ["", "1", "0/3", "4/3", "1/0", "0/0", "-1/3", "a/b", "1/2/3", " 1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_item_has_one_shard(of in 1..50_u64, index in any::<u64>()) {
            let having = (1..=of).filter(|&number| Shard { number, of }.has(index)).count();
            prop_assert_eq!(having, 1);
        }
    }
}
