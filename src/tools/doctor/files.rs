//! Files that options name: endgame tables, books, saved hash tables.

use std::{
    cell::RefCell,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    engine::Engine,
    play::{book::Book, syzygy::Tablebases},
    tools::settings,
};

/// Endgame tables.
#[derive(Debug, Default, Serialize)]
pub struct Syzygy {
    /// Most pieces of a position that is known.
    pub pieces: usize,
    pub files: usize,
    /// Bytes.
    pub size: u64,
    /// What is wrong, or only missing.
    pub problems: Vec<String>,
}

/// What files begin with, by extension.
const MAGIC: [(&str, [u8; 4]); 2] =
    [("rtbw", [0x71, 0xe8, 0x23, 0x5d]), ("rtbz", [0xd7, 0x66, 0x0c, 0xa5])];

impl Syzygy {
    /// Looks at every table of these directories, as the option would.
    pub fn look(directories: &[PathBuf]) -> Syzygy {
        let remarks = RefCell::new(Vec::new());
        let tables =
            Tablebases::open(directories, &|text| remarks.borrow_mut().push(text.to_owned()));
        let mut syzygy = Syzygy {
            pieces: tables.map_or(0, |tables| tables.max_pieces()),
            // The last one says how many tables there are.
            problems: remarks
                .into_inner()
                .into_iter()
                .filter(|text| !text.contains(" DTZ tables, up to"))
                .collect(),
            ..Syzygy::default()
        };
        for directory in directories {
            // One that cannot be read is a problem already.
            let Ok(entries) = fs::read_dir(directory) else { continue };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            let before = syzygy.files;
            for path in paths {
                let Some(magic) = magic(&path) else { continue };
                if let Err(problem) = syzygy.add(&path, magic) {
                    syzygy.problems.push(format!("{}: {problem}", path.display()));
                }
            }
            if syzygy.files == before {
                syzygy.problems.push(format!("{}: no Syzygy tables here", directory.display()));
            }
        }
        syzygy
    }

    fn add(&mut self, path: &Path, magic: [u8; 4]) -> Result<(), String> {
        let fail = |error: io::Error| error.to_string();
        let mut file = File::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        self.files += 1;
        self.size += size;
        let mut start = [0; 4];
        file.read_exact(&mut start).map_err(fail)?;
        if start != magic {
            return Err("not a Syzygy table: its first bytes are others".to_owned());
        }
        // Blocks of 64 bytes, and a checksum of 16 behind them.
        if size % 64 != 16 {
            return Err(format!("{size} bytes: truncated, expected 16 more than a multiple of 64"));
        }
        Ok(())
    }
}

/// What this file begins with, if it is a table by its name.
fn magic(path: &Path) -> Option<[u8; 4]> {
    let has = |extension| path.extension().is_some_and(|found| found == extension);
    MAGIC.into_iter().find_map(|(extension, magic)| has(extension).then_some(magic))
}

/// An opening book.
#[derive(Debug, Serialize)]
pub struct BookFile {
    pub path: PathBuf,
    /// Moves in it.
    pub entries: usize,
    pub problem: Option<String>,
}

impl BookFile {
    pub fn look(path: &Path) -> BookFile {
        let (entries, problem) = match Book::load(path) {
            Ok(book) => (book.len(), None),
            Err(error) => (0, Some(error.to_string())),
        };
        BookFile { path: path.to_owned(), entries, problem }
    }
}

/// A saved hash table.
#[derive(Debug, Serialize)]
pub struct HashFile {
    pub path: PathBuf,
    /// Its size; 0 if it cannot be used.
    pub mib: usize,
    pub problem: Option<String>,
}

impl HashFile {
    /// Loads it as `Load Hash` would, with the network that is built in.
    pub fn look(path: &Path) -> HashFile {
        let loaded = Engine::new(settings(1, 1)).map_err(|error| error.to_string());
        let loaded = loaded.and_then(|mut engine| {
            engine.load_hash(path).map_err(|error| error.to_string())?;
            Ok(engine.settings().hash)
        });
        let (mib, problem) = loaded.map_or_else(|error| (0, Some(error)), |mib| (mib, None));
        HashFile { path: path.to_owned(), mib, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_tables_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
        let table = |first: [u8; 4], length: usize| {
            let mut bytes = vec![7; length];
            bytes[..4].copy_from_slice(&first);
            bytes
        };
        file("KQvK.rtbw", &table(MAGIC[0].1, 80));
        file("KQvK.rtbz", &table(MAGIC[1].1, 144));
        file("KRvK.rtbw", &table(MAGIC[1].1, 80));
        file("KRvK.rtbz", &table(MAGIC[1].1, 90));
        file("readme.txt", b"none of them");
        let found = Syzygy::look(&[dir.path().to_owned()]);
        assert_eq!((found.files, found.size), (4, 80 + 144 + 80 + 90));
        let has = |found: &Syzygy, a: &str, b: &str| {
            found.problems.iter().any(|text| text.contains(a) && text.contains(b))
        };
        assert!(has(&found, "KRvK.rtbw", "first bytes"), "{found:?}");
        assert!(has(&found, "KRvK.rtbz", "90 bytes: truncated"), "{found:?}");
        // The tables may be a directory further down.
        let above = dir.path().join("above");
        fs::create_dir(&above).unwrap();
        assert!(has(&Syzygy::look(&[above]), "above", "no Syzygy tables here"));
    }

    #[test]
    fn bad_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("none");
        assert!(BookFile::look(&path).problem.is_some());
        assert!(HashFile::look(&path).problem.is_some());
        let mut engine = Engine::new(settings(2, 1)).unwrap();
        engine.save_hash(&path).unwrap();
        let file = HashFile::look(&path);
        assert_eq!((file.mib, file.problem), (2, None));
    }
}
