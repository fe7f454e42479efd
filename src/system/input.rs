//! Text input from a file, a pipe or standard input, compressed or not.

use std::{
    cell::Cell,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::Path,
    rc::Rc,
};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use super::files;
pub use super::files::STANDARD_INPUT;

/// Magic numbers of compressed files: RFC 1952, and RFC 8878 for frames and skippable frames. The
/// first byte of a skippable frame is any of sixteen values and is not part of the constant.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const ZSTD_SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Returns the size of a regular file in bytes; `None` for standard input, pipes and devices.
///
/// # Errors
///
/// If there is no such file, or it is a directory.
pub fn size(path: &Path) -> io::Result<Option<u64>> {
    if path == Path::new(STANDARD_INPUT) {
        return Ok(None);
    }
    let file = fs::metadata(path)?;
    if file.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file.is_file().then_some(file.len()))
}

/// A stream of text. Gzip and Zstandard are recognised by their first bytes, whatever the name of
/// the file.
pub struct Input {
    text: Box<dyn BufRead>,
    taken: Rc<Cell<u64>>,
}

impl Input {
    /// Opens a file or a pipe; `-` is standard input.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is a device.
    pub fn open(path: &Path) -> io::Result<Input> {
        if path == Path::new(STANDARD_INPUT) {
            return Input::new(io::stdin());
        }
        files::refuse_device(path)?;
        Input::new(File::open(path)?)
    }

    /// Reads text from a stream of bytes, which may be compressed.
    ///
    /// # Errors
    ///
    /// If the first bytes cannot be read.
    pub fn new(source: impl Read + 'static) -> io::Result<Input> {
        let taken = Rc::default();
        let mut source = BufReader::new(Counted { source, taken: Rc::clone(&taken) });
        let head = head(&mut source)?;
        let source = io::Cursor::new(head.clone()).chain(source);
        let text: Box<dyn BufRead> = if head.starts_with(&GZIP) {
            Box::new(BufReader::new(MultiGzDecoder::new(source)))
        } else if head.starts_with(&ZSTD) || head.get(1..) == Some(&ZSTD_SKIPPED[..]) {
            Box::new(BufReader::new(Frames { source, decoder: FrameDecoder::new() }))
        } else {
            Box::new(source)
        };
        Ok(Input { text, taken })
    }

    /// Returns a counter of the bytes read from the source so far, before decompression.
    pub fn taken(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.taken)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text.read(buffer)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.text.consume(bytes);
    }
}

/// Reads the first four bytes, or fewer if the stream is shorter. A pipe may return them one by
/// one.
fn head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(ZSTD.len() as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// A stream that counts the bytes read from it.
struct Counted<R> {
    source: R,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read(buffer)?;
        self.taken.set(self.taken.get() + bytes as u64);
        Ok(bytes)
    }
}

/// The contents of all Zstandard frames of a stream, one after another. Large databases, and files
/// that `pzstd` wrote, have many frames.
struct Frames<R> {
    source: R,
    /// The decoder of the current frame. It also counts as finished before the first frame.
    decoder: FrameDecoder,
}

impl<R: BufRead> Frames<R> {
    /// Starts the next frame. Returns `false` at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.source.by_ref().take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if self.decoder.is_finished() {
                if !self.begin()? {
                    return Ok(0);
                }
            } else {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, strategy).map_err(broken)?;
            }
        }
        self.decoder.read(buffer)
    }
}

fn broken(error: FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged Zstandard data: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    /// Reads a stream that returns its bytes one by one, like a slow pipe.
    fn read(bytes: Vec<u8>) -> io::Result<(String, u64)> {
        let mut input = Input::new(BufReader::with_capacity(1, io::Cursor::new(bytes)))?;
        let mut text = String::new();
        input.read_to_string(&mut text)?;
        Ok((text, input.taken().get()))
    }

    #[test]
    fn text_is_found_however_it_is_packed() {
        let text = "1. e4 e5 *\n".repeat(20_000);
        let half = text.len() / 2;
        let skipped = [&[0x5a][..], &ZSTD_SKIPPED, &[3, 0, 0, 0], b"abc"].concat();
        let (first, second) = text.as_bytes().split_at(half);
        for packed in [
            text.clone().into_bytes(),
            gzip(text.as_bytes()),
            [gzip(first), gzip(second)].concat(),
            zstd(text.as_bytes()),
            [zstd(first), skipped.clone(), zstd(second), skipped.clone()].concat(),
            [skipped, zstd(first), zstd(b""), zstd(second)].concat(),
        ] {
            let bytes = packed.len() as u64;
            assert_eq!(read(packed).unwrap(), (text.clone(), bytes));
        }
        for short in ["", "*", "1."] {
            assert_eq!(read(short.into()).unwrap(), (short.to_owned(), short.len() as u64));
        }
    }

    #[test]
    fn damage_is_an_error() {
        let text = "1. e4 e5 *\n".repeat(20_000);
        for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
            assert!(read(packed[..packed.len() / 2].to_vec()).is_err());
            assert!(read(packed[..5].to_vec()).is_err());
        }
        assert!(read([zstd(b"abc"), b"hello".to_vec()].concat()).is_err());
    }

    #[test]
    fn only_files_have_a_size() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "abc").unwrap();
        assert_eq!(size(&file).unwrap(), Some(3));
        assert_eq!(size(Path::new(STANDARD_INPUT)).unwrap(), None);
        assert_eq!(size(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert!(size(&dir.path().join("b")).is_err());
    }
}
