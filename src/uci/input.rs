//! Reads input lines from a program or a person.

use std::io::{BufRead, ErrorKind};

/// Maximum length of a line in bytes; longer lines are refused. A game of ten thousand moves
/// needs a tenth of this.
pub const MAX_LINE: usize = 1 << 20;

/// A source of input lines.
pub trait LineSource {
    /// Reads a line and keeps at most [`MAX_LINE`] bytes of it in `line`. Returns its full
    /// length, or `None` at the end of the input.
    fn next(&mut self, line: &mut Vec<u8>) -> Option<usize>;

    /// Switches to reading from a program instead of a person.
    fn switch_to_protocol(&mut self) {}
}

/// Also reads a last line that has no line break.
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
