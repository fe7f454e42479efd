//! Files that are there whole or not at all, and what may be read as one.
//!
//! What the bytes mean is decided elsewhere.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read as _, Write},
    path::{Path, PathBuf},
};

/// A file being written. It takes the place of an old one when it is whole
/// and on the disk, and leaves nothing behind if it never is.
#[derive(Debug)]
pub struct NewFile {
    writer: BufWriter<File>,
    path: PathBuf,
    /// Where it is being written; `None` for devices and pipes, which are
    /// written to directly.
    new: Option<PathBuf>,
}

impl NewFile {
    /// Begins to write the file `path`.
    ///
    /// # Errors
    ///
    /// If a file cannot be written there.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        // Behind a link, it is the file that is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&path).is_ok_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(&path)?;
            return Ok(NewFile { writer: BufWriter::new(file), path, new: None });
        }
        // A name of its own: others may be writing the same file.
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{:016x}.new", rand::random::<u64>()));
        let new = path.with_file_name(name);
        let writer = BufWriter::with_capacity(1 << 16, File::create_new(&new)?);
        Ok(NewFile { writer, path, new: Some(new) })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// If it cannot be written to its end; an old one then stays.
    pub fn commit(mut self) -> io::Result<()> {
        self.writer.flush()?;
        if let Some(new) = &self.new {
            self.writer.get_ref().sync_all()?;
            fs::rename(new, &self.path)?;
            self.new = None;
        }
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(new) = &self.new {
            // Nobody is left to be told when this fails.
            let _ = fs::remove_file(new);
        }
    }
}

/// Writes bytes to a file that is there whole or not at all.
///
/// # Errors
///
/// If they cannot be written; an old file then stays.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Opens a file whose name came from a program: no device without end, and no
/// pipe that nobody writes to.
///
/// # Errors
///
/// If it cannot be opened, or is another kind of file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Asked before it is opened: opening a pipe waits for its other end.
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("a device or pipe, expected a file"));
    }
    File::open(path)
}

/// Is this a named pipe?
#[must_use]
pub fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        fs::metadata(path).is_ok_and(|kind| kind.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Reads such a file.
///
/// # Errors
///
/// If it cannot be read, or is another kind of file.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file or directory of the test data, which is too large for the sources:
/// below the directory that the environment variable `LANCET_TEST_DATA` names,
/// where it must then be, or beside the checkout. Without it tests are skipped.
#[cfg(test)]
pub(crate) fn test_data(name: &str) -> Option<std::path::PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let named = std::env::var_os("LANCET_TEST_DATA");
    let path = named.as_ref().map_or(&*beside, Path::new).join(name);
    assert!(named.is_none() || path.exists(), "no {}", path.display());
    if !path.exists() {
        eprintln!("skipped: no {}", path.display());
    }
    path.exists().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_until_the_new_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.b");
        replace(&path, b"old").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        replace(&path, b"of another").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(NewFile::create(dir.path()).is_err());
        assert!(replace(&dir.path().join("no/such"), b"").is_err());
        assert!(open_regular(dir.path()).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let [path, link] = ["a", "b"].map(|name| dir.path().join(name));
        replace(&path, b"old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        replace(Path::new("/dev/null"), b"nothing").unwrap();
        let full = replace(Path::new("/dev/full"), b"nothing").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        assert!(read_regular(Path::new("/dev/zero")).is_err());
    }
}
