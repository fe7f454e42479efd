//! The lineage of a directory: settings and completed generations, in one TOML file that is
//! replaced atomically after each generation. The progress of the current generation is in its own
//! files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args as ClapArgs;
use serde::{Deserialize, Serialize};

use super::{
    super::{checkpoint, other_options, replace, thread_count},
    sprt::Pairs,
};
use lancet::system::{
    arguments,
    files::{self, LockFile},
};

/// Name of the file of the lineage.
const FILE: &str = "lineage.toml";

/// Settings that determine a lineage. With one thread they determine it exactly. The comments are
/// also the help texts of the options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ClapArgs)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Version of Lancet
    #[arg(skip = env!("CARGO_PKG_VERSION"))]
    pub version: String,
    /// Threads to play and train with [default: all cores]
    #[arg(long, value_name = "N", default_value_t = thread_count(None), hide_default_value = true, value_parser = arguments::whole::<u32>(1..=1024))]
    pub threads: u32,
    /// Seed of all random choices
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = arguments::whole::<u64>(..))]
    pub seed: u64,
    /// Nodes per move after which no new iteration starts, in games and matches
    #[arg(long, value_name = "SOFT", default_value_t = 150, value_parser = arguments::whole::<u64>(1..=1 << 40))]
    pub nodes: u64,
    /// Hidden neurons per view, a multiple of 32
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = arguments::whole::<usize>(..))]
    pub hidden: usize,
    /// Output buckets, chosen by piece count
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = arguments::whole::<usize>(..))]
    pub buckets: usize,
    /// Positions of the first generation
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = arguments::whole::<u64>(100..))]
    pub first: u64,
    /// Largest number of positions of a later generation. Each position takes 4.5 bytes on the
    /// disk. During training it takes 28 bytes of memory if the filter keeps it, 18 on average
    #[arg(long, value_name = "N", default_value = "10M", value_parser = arguments::count)]
    pub most: u64,
    /// Largest number of samples of a training run
    #[arg(long, value_name = "N", default_value = "300M", value_parser = arguments::count)]
    pub samples: u64,
    /// Largest number of games of a match
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = arguments::whole::<u64>(2..))]
    pub match_games: u64,
}

/// A generation: its games, its network and its match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// Number of the generation, from 1.
    pub number: u32,
    /// Generation of the network that played the games and the match; 0 for material and
    /// piece-square tables.
    pub parent: u32,
    /// Number of games played for this generation.
    pub games: u64,
    /// Positions in these games.
    pub positions: u64,
    /// Positions in the games of all generations so far.
    pub pool: u64,
    /// Positions of the pool that were used for training.
    pub learned: u64,
    /// Mean training loss at the end.
    pub training_loss: f64,
    /// Error on the exam, in winning probability, if there is an exam.
    pub exam_error: Option<f64>,
    /// Pairs of games against the parent, by half points of the new network.
    pub pairs: Pairs,
    /// Elo difference between the new network and its parent.
    pub elo: f64,
    /// Half-width of the 95 % confidence interval of `elo`.
    pub error: f64,
    /// Whether the new network won its match and replaced its parent.
    pub promoted: bool,
    /// Hours of work from the start of the lineage to the end of this generation.
    pub hours: f64,
}

/// All generations so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lineage {
    /// Number of positions that the current generation plays.
    pub goal: u64,
    /// Hours of work up to the last regular stop. After a kill, the hours of the incomplete
    /// generation are lost, although its files are used.
    pub worked: f64,
    /// Settings of the lineage.
    pub(crate) settings: Settings,
    /// Completed generations, in order.
    #[serde(default)]
    pub generations: Vec<Generation>,
}

impl Lineage {
    /// Returns the generation of the best network, or 0 before there is one.
    pub(super) fn best(&self) -> u32 {
        self.generations.iter().rfind(|one| one.promoted).map_or(0, |one| one.number)
    }

    /// Returns the number of the generation to train next, from 1.
    pub(super) fn next(&self) -> u32 {
        self.generations.last().map_or(1, |last| last.number + 1)
    }

    /// Returns the hours of work, including those of the current generation.
    pub(super) fn hours(&self) -> f64 {
        self.generations.last().map_or(0.0, |last| last.hours).max(self.worked)
    }

    /// Returns the number of positions of all complete generations.
    pub(super) fn pool(&self) -> u64 {
        self.generations.iter().map(|one| one.positions).sum()
    }

    /// Returns the number of positions that the next generation plays: half as many as the pool
    /// has, within the limit.
    pub(super) fn next_goal(&self) -> u64 {
        (self.pool() / 2).clamp(1, self.settings.most)
    }

    /// Returns the Elo of each generation above piece-square tables: the sum of its own match and
    /// of the matches of the promoted generations before it.
    pub(super) fn elo(&self) -> Vec<f64> {
        let mut reached = 0.0;
        let elo = |one: &Generation| {
            let elo = reached + one.elo;
            if one.promoted {
                reached = elo;
            }
            elo
        };
        self.generations.iter().map(elo).collect()
    }
}

/// A directory of a lineage, claimed by this process.
#[derive(Debug)]
pub(crate) struct Home {
    dir: PathBuf,
    _lock: LockFile,
}

impl Home {
    /// Claims `dir`, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If another process has claimed the directory, or it cannot be used.
    pub fn claim(dir: &Path) -> anyhow::Result<Home> {
        let lock = || {
            fs::create_dir_all(dir)?;
            LockFile::create(&dir.join("lock"), "another process is training in this directory")
        };
        let lock = lock().with_context(|| dir.display().to_string())?;
        Ok(Home { dir: dir.to_owned(), _lock: lock })
    }

    /// Returns the directory of a generation.
    pub fn generation(&self, number: u32) -> PathBuf {
        self.dir.join(format!("generation-{number:04}"))
    }

    /// Returns the path of the network of a generation.
    pub fn network(&self, number: u32) -> PathBuf {
        self.generation(number).join("net.nnue")
    }

    /// Returns the path of the weights of a generation's network for further training: the state of
    /// its run, or the network itself if it was placed by hand.
    pub fn weights(&self, number: u32) -> PathBuf {
        let network = self.network(number);
        let state = checkpoint::beside(&network, "state");
        if state.exists() { state } else { network }
    }

    /// Returns the path of a file of the lineage.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Returns the files of games of a generation, in order.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn games(&self, number: u32) -> anyhow::Result<Vec<PathBuf>> {
        let dir = self.generation(number);
        let files = || -> io::Result<Vec<PathBuf>> {
            fs::read_dir(&dir)?.map(|entry| Ok(entry?.path())).collect()
        };
        let mut paths = files().with_context(|| dir.display().to_string())?;
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "vf"));
        paths.sort();
        Ok(paths)
    }

    /// Reads the lineage, or begins a new one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or has other settings.
    pub fn open(&self, settings: &Settings) -> anyhow::Result<Lineage> {
        let path = self.file(FILE);
        if !path.exists() {
            return Ok(Lineage {
                goal: settings.first,
                worked: 0.0,
                settings: settings.clone(),
                generations: Vec::new(),
            });
        }
        let read = || {
            let lineage: Lineage =
                toml::from_str(&files::read_text(&path)?).context("cannot read the lineage")?;
            if lineage.settings != *settings {
                let there = toml::to_string(&lineage.settings)?;
                return Err(other_options("holds a run", &there, &toml::to_string(settings)?));
            }
            Ok(lineage)
        };
        read().with_context(|| path.display().to_string())
    }

    /// Writes the lineage.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. The old file then remains.
    pub fn save(&self, lineage: &Lineage) -> anyhow::Result<()> {
        replace(&self.file(FILE), toml::to_string(lineage)?)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn lineage() -> Lineage {
        let generation = |number, positions, elo, promoted| Generation {
            number,
            parent: 0,
            games: 10,
            positions,
            pool: positions,
            learned: positions / 2,
            training_loss: 0.01 / f64::from(number),
            exam_error: (number > 1).then_some(0.12),
            pairs: Pairs::default(),
            elo,
            error: 20.0,
            promoted,
            hours: f64::from(number),
        };
        Lineage {
            goal: 100,
            worked: 0.0,
            settings: Settings {
                version: "1".to_owned(),
                seed: 1,
                threads: 1,
                nodes: 100,
                hidden: 32,
                buckets: 1,
                first: 100,
                most: 250,
                samples: 1000,
                match_games: 100,
            },
            generations: vec![
                generation(1, 100, 200.0, true),
                generation(2, 100, -10.0, false),
                generation(3, 100, 30.0, true),
            ],
        }
    }

    #[test]
    fn generations_add_up() {
        let lineage = lineage();
        assert_eq!((lineage.best(), lineage.next(), lineage.pool()), (3, 4, 300));
        assert_eq!(lineage.elo(), [200.0, 190.0, 230.0]);
    }

    #[test]
    fn generations_grow_up_to_the_limit() {
        let mut lineage = lineage();
        lineage.generations.truncate(1);
        for (pool, goal) in [(1, 1), (100, 50), (249, 124), (500, 250), (10_000, 250)] {
            lineage.generations[0].positions = pool;
            assert_eq!(lineage.next_goal(), goal);
        }
    }

    #[test]
    fn one_process_and_one_kind_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::claim(dir.path()).unwrap();
        let error = format!("{:#}", Home::claim(dir.path()).unwrap_err());
        assert!(error.contains("another process"), "{error}");
        let lineage = lineage();
        let settings = &lineage.settings;
        assert_eq!(home.open(settings).unwrap().goal, settings.first);
        home.save(&lineage).unwrap();
        assert_eq!(home.open(settings).unwrap(), lineage);
        let other = Settings { nodes: 7, ..settings.clone() };
        let error = format!("{:#}", home.open(&other).unwrap_err());
        assert!(error.contains("nodes = 100") && error.contains("nodes = 7"), "{error}");
    }

    /// Hours of work on an incomplete generation count.
    #[test]
    fn hours_of_stopped_runs_count() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::claim(dir.path()).unwrap();
        let stopped = Lineage { worked: 3.5, ..lineage() };
        home.save(&stopped).unwrap();
        assert_eq!(home.open(&stopped.settings).unwrap().hours(), 3.5);
        assert_eq!(lineage().hours(), 3.0);
    }
}
