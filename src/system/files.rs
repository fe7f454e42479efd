//! Atomic file writes, file locks, checks of paths that are to be read or written, limits on files,
//! and ignored signals.

use std::{
    ffi::OsStr,
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, Read as _, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// The path that means standard input.
pub const STANDARD_INPUT: &str = "-";

/// Suffix of files that are not complete yet.
const UNFINISHED: &str = ".new";

/// Maximum length of a text for [`read_text`], in bytes. Real files (settings, lists) have a few
/// thousand bytes. The limit only stops endless input.
const LONGEST_TEXT: u64 = 64 << 20;

/// Age from which an unfinished file without a lock counts as abandoned. Another process may be
/// about to lock a younger one.
const ABANDONED: Duration = Duration::from_secs(60);

/// A file being written under a temporary name. [`commit`](NewFile::commit) writes it to the disk
/// and gives it its real name, in place of an older file. If a `NewFile` is dropped before that,
/// the temporary file is removed. Devices and pipes are written to directly.
#[derive(Debug)]
pub struct NewFile {
    writer: BufWriter<File>,
    path: PathBuf,
    /// The temporary file; `None` for devices and pipes, which are written to directly.
    new: Option<Temporary>,
}

impl NewFile {
    /// Starts to write the file `path`.
    ///
    /// # Errors
    ///
    /// If no file can be written there.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        // Use the path as given: the target of a link such as /dev/stdout may have no name.
        if fs::metadata(path).is_ok_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(NewFile { writer: BufWriter::new(file), path: path.to_owned(), new: None });
        }
        let path = destination(path)?;
        // Renaming needs no write permission for the old file, so check it here.
        if fs::metadata(&path).is_ok_and(|old| old.permissions().readonly()) {
            let error = "the file is read-only";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, error));
        }
        let text = path.to_string_lossy();
        if text.ends_with(std::path::is_separator) || text.ends_with("/.") {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A random name, because other processes may be writing the same file.
        let name = path.file_name().unwrap_or_default();
        remove_abandoned(&path, name);
        let mut name = name.to_owned();
        name.push(format!(".{:016x}{UNFINISHED}", rand::random::<u64>()));
        let new = path.with_file_name(name);
        let file = File::create_new(&new)?;
        // The lock marks the file as in use while this process lives. On systems without locks, no
        // file counts as abandoned.
        let _ = file.try_lock();
        let writer = BufWriter::with_capacity(1 << 16, file);
        Ok(NewFile { writer, path, new: Some(Temporary(new)) })
    }

    /// Completes the file and replaces the old one.
    ///
    /// # Errors
    ///
    /// If it cannot be written completely. An old file is then unchanged.
    pub fn commit(mut self) -> io::Result<()> {
        self.writer.flush()?;
        if let Some(Temporary(new)) = &self.new {
            let file = self.writer.get_ref();
            if let Ok(old) = fs::metadata(&self.path) {
                // Keep the permissions of the old file, where the file system has permissions.
                let _ = file.set_permissions(old.permissions());
            }
            file.sync_all()?;
            fs::rename(new, &self.path)?;
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

/// A file that is removed when this is dropped, if it still exists.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // `drop` cannot report an error.
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens or creates a file to be read, truncated and extended. The caller must seek to the position
/// for writing. The file is not opened for appending, because Windows could then not truncate it.
///
/// # Errors
///
/// If the file cannot be opened.
pub fn open_to_grow(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

/// Locks a file for this process, until the file is closed. Does nothing on systems without locks.
///
/// # Errors
///
/// If another process has locked the file. `taken` is then the error message.
pub fn claim(file: &File, taken: &str) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other(taken)),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Locks a file that other processes may go on reading. Does nothing on systems other than Unix,
/// because a lock on Windows would also prevent reading.
///
/// # Errors
///
/// The errors of [`claim`].
pub fn claim_data(file: &File, taken: &str) -> io::Result<()> {
    if cfg!(unix) { claim(file, taken) } else { Ok(()) }
}

/// An empty file that exists and is locked while this process works on another file. A file that is
/// replaced as a whole cannot be locked itself.
#[derive(Debug)]
pub struct LockFile {
    // Declared before the lock, so that the file is removed before the lock is released. If the
    // removal fails, an empty file without a lock remains.
    _path: Temporary,
    /// Holds the lock.
    _file: File,
}

impl LockFile {
    /// Creates the file `path`, or takes over the lock file of a process that was killed.
    ///
    /// # Errors
    ///
    /// If another process has locked the file (see [`claim`]), the file is not empty, or it cannot
    /// be written.
    pub fn create(path: &Path, taken: &str) -> io::Result<LockFile> {
        loop {
            let file = open_to_grow(path)?;
            claim(&file, taken)?;
            let opened = file.metadata()?;
            if opened.len() > 0 {
                return Err(io::Error::other("the file is not empty, so it is not a lock file"));
            }
            // The previous owner may have removed the file after it was opened here, and a third
            // process may have created it anew. The lock is then on a file without a name.
            if fs::metadata(path).is_ok_and(|named| identity(&named) == identity(&opened)) {
                return Ok(LockFile { _path: Temporary(path.to_owned()), _file: file });
            }
        }
    }
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail like one on a full disk. By default,
/// a signal would end the program. Call this at the start of the program.
#[allow(unsafe_code)]
pub(super) fn outlive_size_limits() {
    #[cfg(unix)]
    // SAFETY: the arguments are a valid signal and the predefined action SIG_IGN, so none of our
    // code runs in a signal handler.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Raises the limit on open files (`ulimit -n`), if the system allows it. Syzygy tables stay open
/// after their first probe, and those for up to seven pieces are 3,022 files. The limit is often
/// 1,024 on Linux and 256 on macOS. Call this at the start of the program.
#[allow(unsafe_code)]
pub(super) fn raise_limit_of_open_files() {
    #[cfg(unix)]
    {
        const WANTED: libc::rlim_t = 4096;
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: both functions get a valid pointer to a limit, and keep no copy of it.
        unsafe {
            if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < WANTED
            {
                limit.rlim_cur = WANTED.min(limit.rlim_max);
                libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
            }
        }
    }
}

/// Runs `install`, which installs signal handlers. SIGHUP and SIGINT are ignored afterwards if they
/// were ignored before, for example by `nohup`. If `install` fails, both keep their old actions.
#[allow(unsafe_code)]
pub(crate) fn keep_ignored_signals<T, E>(install: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // SAFETY: the arguments are valid signals and the predefined action SIG_IGN, so none of our
    // code runs in a signal handler.
    #[cfg(unix)]
    let ignored = [libc::SIGHUP, libc::SIGINT]
        .map(|signal| (signal, unsafe { libc::signal(signal, libc::SIG_IGN) }));
    let result = install();
    #[cfg(unix)]
    for (signal, action) in ignored {
        if result.is_err() || action == libc::SIG_IGN {
            // SAFETY: this was the action of the signal before.
            unsafe {
                libc::signal(signal, action);
            }
        }
    }
    result
}

/// An error with the file that it concerns.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", .path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The error, with its place in the file if it has one.
    pub reason: String,
}

impl FileError {
    /// Returns an error about the file `path`.
    pub fn new(path: &Path, reason: impl fmt::Display) -> FileError {
        FileError { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// The error for a file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {0}")]
pub struct OutputError(FileError);

/// Checks that a command that reads `inputs` can write all of `outputs`. No output may replace an
/// input or another output, even through links. An output that exists must be empty, unless
/// `may_replace` returns true for its path. Call this before the work starts.
///
/// # Errors
///
/// If an output cannot be written. The error names the first such output and the reason.
pub fn check_outputs<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: &[PathBuf],
    may_replace: impl Fn(&Path) -> bool,
) -> Result<(), OutputError> {
    let mut taken: Vec<PathBuf> =
        inputs.iter().filter_map(|path| fs::canonicalize(named(path)).ok()).collect();
    for path in outputs {
        let old = fs::metadata(path).ok();
        if old.as_ref().is_some_and(|old| !old.is_file() && !old.is_dir()) {
            // Several outputs may go to the same device or pipe.
            continue;
        }
        let mut check = || -> io::Result<()> {
            let file = NewFile::create(path)?;
            let parent = fs::canonicalize(directory(&file.path))?;
            let place = parent.join(file.path.file_name().unwrap_or_default());
            if taken.iter().any(|other| is_same(other, &place)) {
                return Err(io::Error::other("this command already reads or writes it"));
            }
            if old.as_ref().is_some_and(|old| old.len() > 0) && !may_replace(path) {
                return Err(io::Error::other("the file exists; use --force to replace it"));
            }
            taken.push(place);
            Ok(())
        };
        check().map_err(|error| OutputError(FileError::new(path, error)))?;
    }
    Ok(())
}

/// Returns the directory of a file.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Returns the file that a command reads as `path`: on Unix, `/dev/stdin` for standard input.
fn named(path: &Path) -> &Path {
    let standard = cfg!(unix) && path == Path::new(STANDARD_INPUT);
    if standard { Path::new("/dev/stdin") } else { path }
}

/// Returns the numbers of the device and the inode of a file, which identify it among all files
/// that exist. On systems other than Unix, they are 0 for all files.
fn identity(file: &fs::Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (file.dev(), file.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        (0, 0)
    }
}

/// Returns whether two absolute paths without symbolic links name the same file. On Unix, two hard
/// links to a file count as the same.
fn is_same(a: &Path, b: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).ok().map(|file| identity(&file));
    a == b || cfg!(unix) && number(a).is_some_and(|one| number(b) == Some(one))
}

/// Follows symbolic links from `path` to the file, which need not exist yet.
fn destination(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if path.is_symlink() => {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            let target = fs::read_link(path)?;
            destination(&path.parent().unwrap_or(Path::new("")).join(target))
        }
        Err(_) => Ok(path.to_owned()),
        found => found,
    }
}

/// Removes unfinished files of earlier writers of `path` that were killed.
fn remove_abandoned(path: &Path, name: &OsStr) {
    let is_unfinished = |other: &OsStr| {
        let rest = other.as_encoded_bytes().strip_prefix(name.as_encoded_bytes())?;
        let number = rest.strip_prefix(b".")?.strip_suffix(UNFINISHED.as_bytes())?;
        Some(number.len() == 16 && number.iter().all(u8::is_ascii_hexdigit))
    };
    for entry in fs::read_dir(directory(path)).into_iter().flatten().flatten() {
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_unfinished(&entry.file_name()) == Some(true)
            && age().is_some_and(|age| age >= ABANDONED)
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            // Ignore errors: an abandoned file does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Checks that no file exists at a path.
///
/// # Errors
///
/// If there is one.
pub fn refuse_existing(path: &Path) -> io::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let error = "the file already exists; choose another name";
    Err(io::Error::new(io::ErrorKind::AlreadyExists, error))
}

/// Writes bytes to a file atomically: the file is complete, or unchanged.
///
/// # Errors
///
/// If the bytes cannot be written. An old file is then unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Opens a regular file that the user or a GUI has named. A device may be endless, and reading a
/// pipe may wait forever, so both are refused.
///
/// # Errors
///
/// If the file cannot be opened, is not a regular file, or is empty.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Check before opening the file, because opening a pipe waits for its other end.
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("expected a file, found a device or pipe"));
    }
    // Virtual files of the kernel also have length 0, and reading some of them blocks.
    if kind.len() == 0 {
        return Err(io::Error::other("the file is empty"));
    }
    File::open(path)
}

/// Checks that a path is not a device, because some devices are endless.
///
/// # Errors
///
/// If there is no such file, or it is a device.
pub(super) fn refuse_device(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?;
    if kind.is_file() || kind.is_dir() || is_pipe(path) {
        return Ok(());
    }
    Err(io::Error::other("expected a file or pipe, found a device"))
}

/// Returns whether a path is a named pipe. On systems other than Unix, returns `false`.
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

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
///
/// If the file cannot be opened (see [`open_regular`]), cannot be read, or is longer than `limit`.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_all(open_regular(path)?, limit)
}

/// Reads a file or pipe of at most `limit` bytes.
///
/// # Errors
///
/// If the file cannot be read, is a device, or is longer than `limit`.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    refuse_device(path)?;
    read_all(File::open(path)?, limit)
}

/// Reads a text file or pipe in UTF-8.
///
/// # Errors
///
/// If the file cannot be read, is a device, is longer than 64 MiB, or is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read(path, LONGEST_TEXT)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn read_all(file: File, limit: u64) -> io::Result<Vec<u8>> {
    // Pipes have no length.
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= limit {
        bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if length.max(bytes.len() as u64) > limit {
        let error = format!("the file is too long: expected at most {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(bytes)
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
        fs::write(&path, "").unwrap();
        assert!(open_regular(&path).unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn abandoned_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let [old, young, other, strange] =
            ["a.0123456789abcdef.new", "a.0123456789abcdee.new", "b.0123456789abcdef.new", "a.new"]
                .map(|name| dir.path().join(name));
        let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
        for leftover in [&old, &young, &other, &strange] {
            let file = File::create(leftover).unwrap();
            if leftover != &young {
                file.set_modified(hour_ago).unwrap();
            }
        }
        let mut slow = NewFile::create(&path).unwrap();
        slow.writer.get_ref().set_modified(hour_ago).unwrap();
        assert!(!old.exists());
        replace(&path, b"new").unwrap();
        assert!([young, other, strange].iter().all(|leftover| leftover.exists()));
        slow.write_all(b"newer").unwrap();
        slow.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
    }

    #[test]
    fn outputs_are_checked_before_the_work() {
        let dir = tempfile::tempdir().unwrap();
        let [input, out] = ["in", "out"].map(|name| dir.path().join(name));
        fs::write(&input, "data").unwrap();
        let check = |outputs: &[&Path]| {
            check_outputs(outputs.iter().copied(), std::slice::from_ref(&input), |_| false)
        };
        check(&[&out, &dir.path().join("other")]).unwrap();
        let nested = dir.path().join("no/such");
        let slash = dir.path().join("new/");
        let dot = dir.path().join("new/.");
        for outputs in
            [&[&*input][..], &[&out, &out], &[dir.path()], &[&nested], &[&slash], &[&dot]]
        {
            let error = check(outputs).unwrap_err().to_string();
            assert!(error.starts_with("cannot write "), "{error}");
        }
        assert_eq!(fs::read(&input).unwrap(), b"data");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        // A file that exists is only replaced if it is empty, or if the caller permits it.
        fs::write(&out, "").unwrap();
        check(&[&out]).unwrap();
        fs::write(&out, "old").unwrap();
        let error = check(&[&out]).unwrap_err().to_string();
        assert!(error.ends_with("out: the file exists; use --force to replace it"), "{error}");
        check_outputs([&*out], &[], |path| path == out).unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"old");
    }

    #[test]
    fn nothing_is_read_beyond_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "text").unwrap();
        for read in [read, read_regular] {
            assert_eq!(read(&path, 4).unwrap(), b"text");
            let error = read(&path, 3).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        }
        assert_eq!(read_text(&path).unwrap(), "text");
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_text(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read_text(&dir.path().join("b")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_lock_is_held_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        // The lock file of a process that was killed.
        fs::write(&path, "").unwrap();
        for _ in 0..2 {
            let lock = LockFile::create(&path, "somebody is at work").unwrap();
            let error = LockFile::create(&path, "somebody is at work").unwrap_err();
            assert_eq!(error.to_string(), "somebody is at work");
            assert!(path.exists());
            drop(lock);
            assert!(!path.exists());
        }
        fs::write(&path, "not a lock").unwrap();
        assert!(LockFile::create(&path, "").unwrap_err().to_string().contains("not empty"));
        assert!(path.exists());
    }

    #[test]
    fn read_only_files_are_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        replace(&path, b"old").unwrap();
        let writable = fs::metadata(&path).unwrap().permissions();
        let mut permissions = writable.clone();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        let error = replace(&path, b"new").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let error = check_outputs([&*path], &[], |_| true).unwrap_err().to_string();
        assert!(error.ends_with("the file is read-only"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        fs::set_permissions(&path, writable).unwrap();
        replace(&path, b"new").unwrap();
    }

    /// Through a hard link, a symbolic link, and a symbolic link to a file that does not exist yet.
    #[cfg(unix)]
    #[test]
    fn a_file_is_known_by_all_its_names() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in ["input", "other"] {
            fs::write(path(name), "data").unwrap();
        }
        fs::hard_link(path("input"), path("hard")).unwrap();
        symlink(path("hard"), path("soft")).unwrap();
        symlink(path("new"), path("dangling")).unwrap();
        let check = |outputs: &[&str]| {
            let outputs: Vec<PathBuf> = outputs.iter().map(|name| path(name)).collect();
            check_outputs(outputs.iter().map(PathBuf::as_path), &[path("input")], |_| true)
        };
        for outputs in [&["hard"][..], &["soft"], &["new", "dangling"], &["other", "other"]] {
            let error = check(outputs).unwrap_err().to_string();
            assert!(error.ends_with("already reads or writes it"), "{error}");
        }
        check(&["other", "new"]).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn links_and_devices_are_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let [path, link] = ["a", "b"].map(|name| dir.path().join(name));
        replace(&path, b"old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_file(&path).unwrap();
        replace(&link, b"newer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        replace(&link, b"newest").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let circle = dir.path().join("c");
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        assert!(replace(&circle, b"nowhere").is_err());
        replace(Path::new("/dev/null"), b"nothing").unwrap();
        let full = replace(Path::new("/dev/full"), b"nothing").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        for read in [read, read_regular] {
            let error = read(Path::new("/dev/zero"), 10).unwrap_err();
            assert!(error.to_string().contains("found a device"), "{error}");
        }
    }
}
