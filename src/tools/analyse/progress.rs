//! How far an analysis has come: kept in a file beside the output while it
//! runs, so that it can go on later.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::judge::Tally;
use crate::system::files;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// What it was done by: a resumed analysis must go on in the same way.
    pub task: Task,
    /// The file being read.
    pub file: usize,
    /// Games of this file that were read, broken ones among them.
    pub games: u64,
    /// Games of all files that can be analysed, whoever is to do it.
    pub usable: u64,
    /// Games written.
    pub written: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Games that could not be used.
    pub broken: u64,
    /// The players, by name.
    pub players: BTreeMap<String, Tally>,
}

/// What decides the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Version of the program.
    pub lancet: String,
    /// What ends a search, in words.
    pub limits: String,
    /// The size of the table and the number of threads, in words.
    pub engine: String,
    /// Which of the games.
    pub shard: String,
    /// The files, in order, and their sizes; 0 for a pipe.
    pub files: Vec<(PathBuf, u64)>,
}

/// Where the progress of an output file is kept.
#[must_use]
pub fn path(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".progress");
    out.with_file_name(name)
}

/// The complaint about an output that nobody said was to be replaced.
#[must_use]
pub fn exists(out: &Path) -> String {
    let out = out.display();
    format!("{out}: the file exists: --force replaces it (--resume is for unfinished analyses)")
}

impl Progress {
    /// Reads the progress of an earlier run.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or that run had another task.
    pub fn load(path: &Path, task: &Task) -> Result<Progress, String> {
        let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| fail(&error))?;
        let progress: Progress = toml::from_str(&text).map_err(|error| fail(&error))?;
        let saved = &progress.task;
        if saved == task {
            return Ok(progress);
        }
        let what = if saved.files != task.files {
            "other files".to_owned()
        } else if saved.limits != task.limits {
            saved.limits.clone()
        } else if saved.engine != task.engine {
            saved.engine.clone()
        } else if saved.shard != task.shard {
            format!("shard {}", saved.shard)
        } else {
            format!("Lancet {}", saved.lancet)
        };
        Err(fail(&format!(
            "the unfinished analysis was of {what}: it cannot be continued as this one"
        )))
    }

    /// Writes the progress.
    ///
    /// # Errors
    ///
    /// If it cannot be written; the old file then stays.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        files::replace(path, text.as_bytes())
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
        let task = Task {
            lancet: "1".to_owned(),
            limits: "1000 nodes".to_owned(),
            engine: "64 MiB".to_owned(),
            shard: "1/2".to_owned(),
            files: vec![(PathBuf::from("a.pgn"), 7)],
        };
        let progress = Progress {
            task: task.clone(),
            games: 3,
            players: [("A \"b\"".to_owned(), Tally { accuracy: 12.5, ..Tally::default() })].into(),
            ..Progress::default()
        };
        progress.save(&path).unwrap();
        assert_eq!(Progress::load(&path, &task), Ok(progress));
        let other = Task { limits: "2000 nodes".to_owned(), ..task.clone() };
        assert!(Progress::load(&path, &other).unwrap_err().contains("was of 1000 nodes"));
        let other = Task { engine: "32 MiB".to_owned(), ..task.clone() };
        assert!(Progress::load(&path, &other).unwrap_err().contains("was of 64 MiB"));
        let other = Task { shard: "2/2".to_owned(), ..task.clone() };
        assert!(Progress::load(&path, &other).unwrap_err().contains("was of shard 1/2"));
        let other = Task { files: Vec::new(), ..task.clone() };
        assert!(Progress::load(&path, &other).unwrap_err().contains("was of other files"));
        fs::write(&path, "games = x").unwrap();
        assert!(Progress::load(&path, &task).is_err());
    }
}
