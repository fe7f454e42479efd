//! Lines that come in, from a program or from a person.

use std::io::{BufRead, ErrorKind};

/// Longest line read, in bytes; a longer one is refused. A game of ten thousand
/// moves is a tenth of this.
pub const MAX_LINE: usize = 1 << 20;

/// Where lines come from.
pub trait LineSource {
    /// Reads a line, of which at most [`MAX_LINE`] bytes are kept. Returns its length,
    /// `None` at the end of the input.
    fn next(&mut self, line: &mut Vec<u8>) -> Option<usize>;

    /// A program listens from now on.
    fn switch_to_protocol(&mut self) {}
}

/// A last line without a line break still counts.
impl<R: BufRead> LineSource for R {
    fn next(&mut self, line: &mut Vec<u8>) -> Option<usize> {
        line.clear();
        let mut length = None;
        loop {
            let chunk = match self.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return length,
            };
            if chunk.is_empty() {
                return length;
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let text = &chunk[..end.unwrap_or(chunk.len())];
            length = Some(length.unwrap_or(0) + text.len());
            line.extend_from_slice(&text[..text.len().min(MAX_LINE - line.len())]);
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.consume(used);
            if end.is_some() {
                return length;
            }
        }
    }
}
