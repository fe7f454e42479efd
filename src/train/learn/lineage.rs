//! What a directory has learned so far: one TOML file, replaced as a whole after each
//! generation. What is not in it yet is found again in the generation's files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::{
    super::{other_options, replace},
    sprt::Pairs,
};
use lancet::system::files::{self, LockFile};

/// Name of the file.
const FILE: &str = "lineage.toml";

/// What decides how a lineage grows: with one thread, everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Version of Lancet.
    pub version: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// Threads that play and train.
    pub threads: u32,
    /// Nodes per move after which no new iteration starts.
    pub nodes: u64,
    /// Hidden neurons per view.
    pub hidden: usize,
    /// Output buckets.
    pub buckets: usize,
    /// Positions before the first training.
    pub first: u64,
    /// Newest positions that are learned from, at least: in whole generations.
    pub window: u64,
    /// Games of a match, at most.
    pub match_games: u64,
}

/// Games, a network and its match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// From 1.
    pub number: u32,
    /// The network that played the games, and that the new one met: its generation;
    /// 0 is material and piece-square tables.
    pub parent: u32,
    /// Games played for this generation.
    pub games: u64,
    /// Positions in them.
    pub positions: u64,
    /// Positions in the window.
    pub pool: u64,
    /// Of these, learned from.
    pub learned: u64,
    /// Mean loss at the end, ...
    pub training_loss: f64,
    /// ... and over games set apart.
    pub validation_loss: Option<f64>,
    /// Pairs of games against the parent, by points of the new network.
    pub pairs: Pairs,
    /// The new network against its parent: Elo ...
    pub elo: f64,
    /// ... and the half-width of its 95 % interval.
    pub error: f64,
    /// Has it taken its parent's place?
    pub promoted: bool,
    /// Hours of work since the beginning.
    pub hours: f64,
}

/// All generations so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lineage {
    /// Positions that the generation under way plays.
    pub goal: u64,
    /// Positions a second in the last generation that was played in one go.
    pub speed: Option<f64>,
    /// Hours of work up to the last stop. Kills take theirs since then.
    #[serde(default)]
    pub worked: f64,
    /// How it grows.
    pub(crate) settings: Settings,
    /// From the first to the last that is complete.
    #[serde(default)]
    pub generations: Vec<Generation>,
}

impl Lineage {
    /// The generation whose network is the best; 0 before there is one.
    pub(super) fn best(&self) -> u32 {
        self.generations.iter().rfind(|one| one.promoted).map_or(0, |one| one.number)
    }

    /// The one under way.
    pub(super) fn next(&self) -> u32 {
        self.generations.last().map_or(1, |last| last.number + 1)
    }

    /// Hours of work, those in the generation under way included.
    pub(super) fn hours(&self) -> f64 {
        self.generations.last().map_or(0.0, |last| last.hours).max(self.worked)
    }

    /// The number of the first generation of the window that ends with games of
    /// `newest` positions after the complete ones, and the positions in that window.
    pub(super) fn window(&self, newest: u64) -> (u32, u64) {
        let (mut first, mut pool) = (self.next(), newest);
        for one in self.generations.iter().rev() {
            if pool >= self.settings.window {
                break;
            }
            first = one.number;
            pool += one.positions;
        }
        (first, pool)
    }

    /// Elo of each generation above the beginning: promoted ones add to what was
    /// reached before.
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

/// A directory that this process alone learns in.
#[derive(Debug)]
pub(crate) struct Home {
    dir: PathBuf,
    _lock: LockFile,
}

impl Home {
    /// Claims `dir`, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// If another process has claimed it, or it cannot be used.
    pub fn claim(dir: &Path) -> anyhow::Result<Home> {
        let lock = || {
            fs::create_dir_all(dir)?;
            LockFile::create(&dir.join("lock"), "another process is learning here")
        };
        let lock = lock().with_context(|| dir.display().to_string())?;
        Ok(Home { dir: dir.to_owned(), _lock: lock })
    }

    /// The directory of a generation.
    pub fn generation(&self, number: u32) -> PathBuf {
        self.dir.join(format!("generation-{number:04}"))
    }

    /// The network of a generation.
    pub fn network(&self, number: u32) -> PathBuf {
        self.generation(number).join("net.nnue")
    }

    /// A file of the lineage itself.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The files of games of a generation, in order.
    ///
    /// # Errors
    ///
    /// If its directory cannot be read.
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

    /// Reads the lineage, or begins one.
    ///
    /// # Errors
    ///
    /// If it cannot be read or has other settings.
    pub fn open(&self, settings: &Settings) -> anyhow::Result<Lineage> {
        let path = self.file(FILE);
        if !path.exists() {
            return Ok(Lineage {
                goal: settings.first,
                speed: None,
                worked: 0.0,
                settings: settings.clone(),
                generations: Vec::new(),
            });
        }
        let read = || {
            let lineage: Lineage =
                toml::from_str(&files::read_text(&path)?).context("not understood")?;
            if lineage.settings != *settings {
                let there = toml::to_string(&lineage.settings)?;
                return Err(other_options("learns", &there, &toml::to_string(settings)?));
            }
            Ok(lineage)
        };
        read().with_context(|| path.display().to_string())
    }

    /// Writes the lineage.
    ///
    /// # Errors
    ///
    /// If it cannot be written; the old one then stays.
    pub fn save(&self, lineage: &Lineage) -> anyhow::Result<()> {
        replace(&self.file(FILE), toml::to_string(lineage)?)
    }

    /// Deletes the games of generations before `first`, and of those the networks that
    /// did not win: disk space stays bounded.
    ///
    /// # Errors
    ///
    /// If a file cannot be deleted.
    pub fn forget(&self, lineage: &Lineage, first: u32) -> anyhow::Result<()> {
        for one in lineage.generations.iter().filter(|one| one.number < first) {
            let network = Some(self.network(one.number));
            let network = network.filter(|path| !one.promoted && path.exists());
            for path in self.games(one.number)?.into_iter().chain(network) {
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
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
            validation_loss: (number > 1).then_some(0.012),
            pairs: Pairs::default(),
            elo,
            error: 20.0,
            promoted,
            hours: f64::from(number),
        };
        Lineage {
            goal: 100,
            speed: None,
            worked: 0.0,
            settings: Settings {
                version: "1".to_owned(),
                seed: 1,
                threads: 1,
                nodes: 100,
                hidden: 32,
                buckets: 1,
                first: 100,
                window: 250,
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
    fn windows_slide() {
        let lineage = lineage();
        assert_eq!((lineage.best(), lineage.next()), (3, 4));
        assert_eq!(lineage.window(300), (4, 300));
        assert_eq!(lineage.window(100), (2, 300));
        assert_eq!(lineage.window(10), (1, 310));
        assert_eq!(lineage.elo(), [200.0, 190.0, 230.0]);
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

    /// What was worked on a generation that is not complete counts; lineages of before
    /// that was written down go on.
    #[test]
    fn hours_of_stopped_runs_count() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::claim(dir.path()).unwrap();
        let stopped = Lineage { worked: 3.5, ..lineage() };
        home.save(&stopped).unwrap();
        assert_eq!(home.open(&stopped.settings).unwrap().hours(), 3.5);
        let text = fs::read_to_string(home.file(FILE)).unwrap();
        fs::write(home.file(FILE), text.replace("worked = 3.5\n", "")).unwrap();
        assert_eq!(home.open(&stopped.settings).unwrap(), lineage());
        assert_eq!(lineage().hours(), 3.0);
    }

    /// What has left the window takes no space, but for the networks that have won.
    #[test]
    fn old_games_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::claim(dir.path()).unwrap();
        for number in 1..=3 {
            fs::create_dir(home.generation(number)).unwrap();
            for name in ["games-1-0.vf", "games-1-1.vf", "net.nnue"] {
                fs::write(home.generation(number).join(name), "").unwrap();
            }
        }
        for _ in 0..2 {
            home.forget(&lineage(), 3).unwrap();
            let games = |number| home.games(number).unwrap().len();
            assert_eq!([1, 2, 3].map(games), [0, 0, 2]);
            let networks = [1, 2, 3].map(|number| home.network(number).exists());
            assert_eq!(networks, [true, false, true]);
        }
    }
}
