//! Reads input lines from a program or a person.

use std::io::{BufRead, Read as _};

/// Maximum length of a line in bytes; longer lines are refused. A game of ten thousand moves needs
/// a tenth of this.
pub const MAX_LINE: usize = 1 << 20;

/// A source of input lines.
pub trait LineSource {
    /// Reads a line into `line`, at most one byte more than [`MAX_LINE`], and skips the rest.
    /// Returns false at the end of the input.
    fn next(&mut self, line: &mut Vec<u8>) -> bool;

    /// Switches to reading from a program instead of a person.
    fn switch_to_protocol(&mut self) {}
}

/// Also reads a last line that has no line break.
impl<R: BufRead> LineSource for R {
    fn next(&mut self, line: &mut Vec<u8>) -> bool {
        line.clear();
        // After an error, what was read so far is the last line.
        let _ = self.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', line);
        if line.is_empty() {
            return false;
        }
        if line.ends_with(b"\n") {
            line.pop();
        } else if line.len() > MAX_LINE {
            let _ = self.skip_until(b'\n');
        }
        true
    }
}
