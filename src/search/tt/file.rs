//! Saves the whole table to a file and loads it. Damaged files are refused, and so are files of
//! another format version or another evaluation.
//!
//! A file consists of a header of 64 bytes, the buckets (two entries of two 64-bit words each) and
//! the CRC-32 of both. The buckets are as in memory, but without the table's salt. Everything is
//! little-endian. The header:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 8 | `LANCETTT` |
//! | 4 | version of the format, [`VERSION`] |
//! | 4 | generation of the last search |
//! | 8 | number of buckets |
//! | 8 | hash of network and fifty-move rule, and at limited strength of rating and seed |
//! | 32 | zero |

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::{
    io::{self, BufReader, Read, Write},
    path::Path,
    sync::atomic::Ordering::Relaxed,
};

use super::{Bucket, GENERATIONS, Slot, Table};
use crate::system::files::{self, NewFile};

const MAGIC: &[u8; 8] = b"LANCETTT";
/// Version of the format. Increase it when the meaning of entries or of their keys changes.
pub const VERSION: u32 = 1;
const HEADER: usize = 64;
/// Bytes of a bucket.
const BUCKET: usize = 32;
/// Buckets in a MiB. The size of a table is a whole number of MiB.
const PER_MIB: u64 = (1 << 20) / BUCKET as u64;

/// The reason why a table was not loaded. The old table is kept.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a saved table.
    #[error("not a Lancet hash table (it does not begin with 'LANCETTT')")]
    Magic,
    /// The file has another version of the format.
    #[error("unsupported hash table format {found}, expected {version}", version = VERSION)]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// No table can have the size in the header.
    #[error("damaged: {buckets} buckets, expected a multiple of {PER_MIB} up to 2^50")]
    Size {
        /// The number of buckets in the header.
        buckets: u64,
    },
    /// The table was saved with another network, other rules or another strength limit.
    #[error(
        "saved with another network (EvalFile or version of Lancet), Syzygy50MoveRule or strength \
         limit, or at limited strength in another game"
    )]
    Evaluation,
    /// The length of the file does not match its header.
    #[error("truncated or damaged: {found} bytes, expected {expected}")]
    Length {
        /// The expected number of bytes; 64 if the file is too short to hold a header.
        expected: u64,
        /// The number of bytes in the file.
        found: u64,
    },
    /// The checksum does not match the contents.
    #[error("damaged: the checksum is wrong")]
    Checksum,
    /// An entry has scores that no search can have found.
    #[error("invalid entry: a score is out of range, or the bounds cross")]
    Entries,
    /// The table does not fit into memory.
    #[error("not enough memory for a hash table of {mib} MiB")]
    Memory {
        /// Size of the table in MiB.
        mib: usize,
    },
}

impl Bucket {
    /// Returns the bytes for a file. The keys in files do not contain the table's `salt`.
    fn to_bytes(&self, salt: u64) -> [u8; BUCKET] {
        let mut bytes = [0; BUCKET];
        let words = self.0.iter().flat_map(|slot| slot.without_salt(salt));
        for (word, place) in words.zip(bytes.as_chunks_mut::<8>().0) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    fn set_bytes(&self, bytes: &[u8; BUCKET]) {
        let words = self.0.iter().flat_map(|slot| [&slot.check, &slot.data]);
        for (word, &place) in words.zip(bytes.as_chunks::<8>().0) {
            word.store(u64::from_le_bytes(place), Relaxed);
        }
    }
}

impl Table {
    /// Saves the table. `evaluation` identifies the evaluation of its positions.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or if `path` holds another kind of file. In both cases an
    /// existing file is kept.
    pub(crate) fn save(&self, path: &Path, evaluation: u64) -> io::Result<()> {
        check_place(path)?;
        let mut file = NewFile::create(path)?;
        self.write(&mut file, evaluation)?;
        file.commit()
    }

    /// Writes the table in the format of a file.
    ///
    /// # Errors
    ///
    /// If `writer` fails.
    pub fn write(&self, writer: &mut impl Write, evaluation: u64) -> io::Result<()> {
        let mut checksum = crc32fast::Hasher::new();
        let mut write = |bytes: &[u8]| {
            checksum.update(bytes);
            writer.write_all(bytes)
        };
        write(&self.header(evaluation))?;
        for bucket in self.buckets.iter() {
            write(&bucket.to_bytes(self.salt))?;
        }
        writer.write_all(&checksum.finalize().to_le_bytes())
    }

    fn header(&self, evaluation: u64) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&u32::from(self.generation.load(Relaxed)).to_le_bytes());
        header[16..24].copy_from_slice(&(self.buckets.len() as u64).to_le_bytes());
        header[24..32].copy_from_slice(&evaluation.to_le_bytes());
        header
    }

    /// Loads a table that [`Table::save`] has saved.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is damaged, if its format version differs, if it was saved
    /// with another `evaluation`, or if there is not enough memory.
    pub(crate) fn load(path: &Path, evaluation: u64) -> Result<Table, LoadError> {
        let file = files::open_regular(path)?;
        let length = file.metadata()?.len();
        Table::read(BufReader::with_capacity(1 << 20, file), length, evaluation)
    }

    /// Reads a table in the format of a file, whose length is `found` bytes.
    ///
    /// # Errors
    ///
    /// If `reader` fails, if the bytes are damaged, if their format version or evaluation differs,
    /// or if there is not enough memory.
    pub fn read(mut reader: impl Read, found: u64, evaluation: u64) -> Result<Table, LoadError> {
        let mut header = Vec::with_capacity(HEADER);
        reader.by_ref().take(HEADER as u64).read_to_end(&mut header)?;
        if !header.starts_with(MAGIC) {
            return Err(LoadError::Magic);
        }
        if header.len() < HEADER {
            return Err(LoadError::Length { expected: HEADER as u64, found });
        }
        let number = |at: usize| {
            let bytes: [u8; 8] = std::array::from_fn(|i| header[at + i]);
            u64::from_le_bytes(bytes)
        };
        let (version, generation) = (number(8) as u32, (number(8) >> 32) as u32);
        if version != VERSION {
            return Err(LoadError::Version { found: version });
        }
        let buckets = number(16);
        let mib = usize::try_from(buckets / PER_MIB).unwrap_or(usize::MAX);
        if buckets == 0 || !buckets.is_multiple_of(PER_MIB) || buckets > 1 << 50 {
            return Err(LoadError::Size { buckets });
        }
        let expected = buckets * BUCKET as u64 + HEADER as u64 + 4;
        if found != expected {
            return Err(LoadError::Length { expected, found });
        }
        if number(24) != evaluation {
            return Err(LoadError::Evaluation);
        }
        let mut table = Table::new(mib).ok_or(LoadError::Memory { mib })?;
        table.to_clear = None;
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&header);
        let mut bytes = [0; BUCKET];
        let mut sane = true;
        for bucket in table.buckets.iter() {
            reader.read_exact(&mut bytes)?;
            checksum.update(&bytes);
            bucket.set_bytes(&bytes);
            sane &= bucket.0.iter().all(Slot::is_sane);
        }
        let mut stored = [0; 4];
        reader.read_exact(&mut stored)?;
        if u32::from_le_bytes(stored) != checksum.finalize() {
            return Err(LoadError::Checksum);
        }
        if !sane {
            return Err(LoadError::Entries);
        }
        table.generation.store((generation % u32::from(GENERATIONS)) as u8, Relaxed);
        Ok(table)
    }
}

/// Checks that there is no file at `path`, or that the file there begins like a saved table.
fn check_place(path: &Path) -> io::Result<()> {
    let mut magic = [0; MAGIC.len()];
    match files::open_regular(path).and_then(|mut old| old.read_exact(&mut magic)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            Err(io::Error::new(error.kind(), format!("{error}; not overwritten")))
        }
        _ if magic == *MAGIC => Ok(()),
        _ => Err(io::Error::other(format!("{}; not overwritten", LoadError::Magic))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        chess::{position::PackedMove, score::Bounds},
        search::tt::Entry,
    };

    fn entry(n: i32) -> Entry {
        Entry {
            best: PackedMove::from_bits(n as u16),
            bounds: Bounds::new(-n, n),
            depth: n % 256,
            evaluation: n / 2,
            pv: n % 3 == 0,
        }
    }

    fn key(n: i32) -> u64 {
        (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Move, depth, evaluation and both bounds survive, and replacement continues as with the table
    /// that was saved.
    #[test]
    fn a_saved_table_is_the_same_table() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lancet.hash");
        let mut table = Table::new(2).unwrap();
        // After `forget`, the table's keys have a salt.
        table.forget();
        table.clear(1, &|| true);
        for _ in 0..5 {
            table.new_search();
        }
        (0..20_000).for_each(|n| table.store(key(n), entry(n)));
        table.save(&path, 42).unwrap();
        let loaded = Table::load(&path, 42).unwrap();
        assert_eq!(loaded.mib(), 2);
        assert_eq!(loaded.hashfull(), table.hashfull());
        assert!(loaded.hashfull() > 0);
        for n in 0..30_000 {
            assert_eq!(loaded.probe(key(n)), table.probe(key(n)));
            table.store(key(n), entry(n + 1));
            loaded.store(key(n), entry(n + 1));
        }
        // Saving again replaces the file and leaves no other file.
        loaded.save(&path, 42).unwrap();
        assert_eq!(Table::load(&path, 42).unwrap().probe(key(29_999)), Some(entry(30_000)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn damaged_files_are_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lancet.hash");
        Table::new(1).unwrap().save(&path, 7).unwrap();
        let good = fs::read(&path).unwrap();
        assert_eq!(good.len(), (1 << 20) + HEADER + 4);
        let error = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            Table::load(&path, 7).unwrap_err().to_string()
        };
        let changed = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            bytes
        };
        assert_eq!(error(b""), "the file is empty");
        let other = "not a Lancet hash table (it does not begin with 'LANCETTT')";
        assert_eq!(error(&changed(0)), other);
        assert!(error(&changed(8)).starts_with("unsupported hash table format 0,"));
        assert!(error(&changed(16)).contains("buckets"));
        assert!(error(&changed(23)).contains("buckets"));
        assert!(error(&changed(18)).contains("expected"));
        assert!(error(&good[..good.len() - 1]).starts_with("truncated"));
        assert!(error(&good[..HEADER]).starts_with("truncated"));
        assert!(error(&changed(24)).contains("another network"));
        for length in [8, HEADER - 1] {
            assert!(error(&good[..length]).starts_with("truncated"), "{length}");
        }
        assert_eq!(error(&good[..7]), other);
        for at in [12, 40, HEADER, HEADER + 12_345, good.len() - 1] {
            assert!(error(&changed(at)).contains("checksum"), "{at}");
        }
        fs::write(&path, &good).unwrap();
        assert!(Table::load(&path, 7).is_ok());
        assert!(Table::load(&dir.path().join("none"), 7).is_err());
        let nowhere = dir.path().join("none").join("lancet.hash");
        assert!(Table::new(1).unwrap().save(&nowhere, 7).is_err());
    }

    /// Saved tables are replaced, even damaged ones and those of other versions. Other files are
    /// not.
    #[test]
    fn only_tables_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lancet.hash");
        let table = Table::new(1).unwrap();
        let network = crate::eval::default_network().to_bytes();
        for other in [&b"1. e4 *\n"[..], b"LANCETT", b"lancettt", b"", &network] {
            fs::write(&path, other).unwrap();
            let error = table.save(&path, 7).unwrap_err().to_string();
            assert!(error.ends_with("; not overwritten"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), other);
        }
        assert!(table.save(dir.path(), 7).is_err());
        for old in [&MAGIC[..], b"LANCETTT of another version"] {
            fs::write(&path, old).unwrap();
            table.save(&path, 7).unwrap();
            assert!(Table::load(&path, 7).is_ok());
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("lancet.hash");
            let bytes = [&MAGIC[..], &VERSION.to_le_bytes(), &bytes].concat();
            fs::write(&path, bytes).unwrap();
            prop_assert!(Table::load(&path, 0).is_err());
        }
    }
}
