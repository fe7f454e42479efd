//! The progress of an analysis. It is kept in a file beside the output while the analysis runs, so
//! that an interrupted run can be resumed. The first line is the task. Every game of the shard adds
//! a line.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use super::judge::Tally;
use crate::system::{
    files,
    journal::{self, Lines},
};

/// The progress of an analysis and its file.
#[derive(Debug)]
pub(super) struct Progress {
    /// Path of the progress file.
    path: PathBuf,
    /// The task; a resumed analysis must have the same one.
    pub task: Task,
    /// The games done so far.
    pub done: Done,
    /// The results of the players so far, by name.
    pub players: BTreeMap<String, Tally>,
    /// The results that the next line adds to the players.
    added: Vec<(String, Tally)>,
    /// The open file, once it has been created.
    file: Option<File>,
}

/// Counts of the games that were read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Done {
    /// Index of the file being read.
    pub file: usize,
    /// Games read from this file, including broken ones.
    pub games: u64,
    /// Usable games read so far from all files, including those of other shards.
    pub usable: u64,
    /// Games written.
    pub written: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Bytes written to the page.
    #[serde(default)]
    pub page: u64,
    /// Games that could not be used.
    pub broken: u64,
}

/// A line of the file after the first: the counts so far, and the results that the last game adds
/// to its players.
type GameLine = (Done, Vec<(String, Tally)>);

/// Everything that determines the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    /// The files, in order, and their sizes; 0 for a pipe.
    pub files: Vec<(PathBuf, u64)>,
    /// All other settings, in words.
    pub settings: Vec<String>,
}

impl Task {
    /// Describes the first difference from another task in words.
    fn difference(&self, other: &Task) -> &str {
        if self.files != other.files {
            return "other files";
        }
        let mut settings = self.settings.iter().zip(&other.settings);
        let different = settings.find(|(own, other)| own != other);
        different.map_or("other settings", |(own, _)| own.as_str())
    }
}

/// Returns the path of the progress file of an output.
pub(super) fn path(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".progress");
    out.with_file_name(name)
}

impl Progress {
    /// Creates the progress of a new task, with nothing done.
    pub(super) fn new(path: PathBuf, task: Task) -> Progress {
        let done = Done::default();
        Progress { path, task, done, players: BTreeMap::new(), added: Vec::new(), file: None }
    }

    /// Reads the progress of an earlier run.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the earlier run had another task.
    pub(super) fn load(path: PathBuf, task: Task) -> anyhow::Result<Progress> {
        let mut progress = Progress::new(path, task);
        progress.read().with_context(|| progress.name())?;
        Ok(progress)
    }

    fn read(&mut self) -> anyhow::Result<()> {
        let mut lines = Lines::new(OpenOptions::new().read(true).write(true).open(&self.path)?);
        let first = lines.next_line()?.unwrap_or_default();
        let Ok(saved) = journal::value::<Task>(first) else {
            bail!("not the progress file of an analysis; use --force to start again");
        };
        if saved != self.task {
            let what = saved.difference(&self.task);
            bail!("cannot resume with these settings; the unfinished analysis was run with {what}");
        }
        for number in 2.. {
            let Some(line) = lines.next_line()? else { break };
            let Ok((done, players)) = journal::value::<GameLine>(line) else {
                bail!("line {number} is damaged; use --force to start again");
            };
            self.done = done;
            players.into_iter().for_each(|(name, tally)| self.add(&name, tally));
        }
        self.added.clear();
        self.file = Some(lines.end()?);
        Ok(())
    }

    /// Returns the path as text, for errors.
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns whether there is a progress file.
    pub(super) const fn is_begun(&self) -> bool {
        self.file.is_some()
    }

    /// Creates the file, unless an earlier run has created it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn begin(&mut self) -> anyhow::Result<()> {
        let create = || {
            files::replace(&self.path, journal::line(&self.task)?.as_bytes())?;
            let mut file = OpenOptions::new().write(true).open(&self.path)?;
            file.seek(SeekFrom::End(0))?;
            anyhow::Ok(file)
        };
        if self.file.is_none() {
            self.file = Some(create().with_context(|| self.name())?);
        }
        Ok(())
    }

    /// Adds the result of a game to a player.
    pub(super) fn add(&mut self, player: &str, tally: Tally) {
        self.players.entry(player.to_owned()).or_default().merge(&tally);
        self.added.push((player.to_owned(), tally));
    }

    /// Appends the changes since the last call, if the file exists.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. It then stays unchanged.
    pub(super) fn save(&mut self) -> anyhow::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let line = journal::line(&(self.done, &self.added))?;
        let written = journal::append(file, line.as_bytes()).and_then(|()| file.sync_data());
        written.with_context(|| self.path.display().to_string())?;
        self.added.clear();
        Ok(())
    }

    /// Removes the progress file, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub(super) fn remove(&self) -> anyhow::Result<()> {
        if self.is_begun() {
            fs::remove_file(&self.path).with_context(|| self.name())
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_survives_and_knows_its_task() {
        let dir = tempfile::tempdir().unwrap();
        let path = path(&dir.path().join("out.pgn"));
        assert!(path.ends_with("out.pgn.progress"));
        let settings = ["1000 nodes", "64 MiB", "shard 1/2"].map(str::to_owned).to_vec();
        let task = Task { files: vec![(PathBuf::from("a.pgn"), 7)], settings };
        let mut progress = Progress::new(path.clone(), task.clone());
        progress.begin().unwrap();
        progress.done.games = 3;
        progress.add("A \"b\"", Tally { accuracy: 12.5, ..Tally::default() });
        progress.save().unwrap();
        let saved = Progress::load(path.clone(), task.clone()).unwrap();
        assert_eq!((saved.done, saved.players), (progress.done, progress.players));
        let load = |task| Progress::load(path.clone(), task);
        let error = |task| format!("{:#}", load(task).unwrap_err());
        for (number, setting) in task.settings.iter().enumerate() {
            let mut other = task.clone();
            other.settings[number].push('x');
            assert!(error(other).ends_with(&format!("was run with {setting}")));
        }
        let other = Task { files: Vec::new(), ..task.clone() };
        assert!(error(other).contains("was run with other files"));
        fs::write(&path, "games = x").unwrap();
        assert!(error(task).contains("not the progress"));
    }

    /// The size of a line does not depend on the number of games before it.
    #[test]
    fn every_game_adds_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("progress");
        let mut progress = Progress::new(path.clone(), Task::default());
        progress.begin().unwrap();
        let mut before = fs::read(&path).unwrap();
        for game in 1..=200 {
            progress.done.games = game;
            for player in ["White", "Black"] {
                let tally = Tally { games: 1, accuracy: 0.1, ..Tally::default() };
                progress.add(&format!("{player} {game}"), tally);
            }
            progress.save().unwrap();
            let after = fs::read(&path).unwrap();
            assert!(after.starts_with(&before) && after.len() < before.len() + 400, "{game}");
            before = after;
        }
        let saved = Progress::load(path, Task::default()).unwrap();
        assert_eq!((saved.done.games, saved.players.len()), (200, 400));
    }

    #[test]
    fn an_incomplete_last_line_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("progress");
        let mut progress = Progress::new(path.clone(), Task::default());
        progress.begin().unwrap();
        let mut ends = Vec::new();
        for game in 1..=3 {
            progress.done.games = game;
            progress.add("A", Tally { games: 1, ..Tally::default() });
            progress.save().unwrap();
            ends.push(fs::read(&path).unwrap().len());
        }
        let bytes = fs::read(&path).unwrap();
        for end in ends[1]..ends[2] {
            fs::write(&path, &bytes[..end]).unwrap();
            let mut torn = Progress::load(path.clone(), Task::default()).unwrap();
            assert_eq!((torn.done.games, torn.players["A"].games), (2, 2), "{end}");
            // The resumed run writes the same file.
            torn.done.games = 3;
            torn.add("A", Tally { games: 1, ..Tally::default() });
            torn.save().unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes, "{end}");
        }
        let mut damaged = bytes;
        damaged[ends[0] + 20] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let error = Progress::load(path.clone(), Task::default()).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("progress: line 3 is damaged"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), damaged);
    }
}
