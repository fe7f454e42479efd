//! Files with one position per line, as `epd` and `perft` read them.

use std::path::PathBuf;

use super::{complain, options::Shard};
use crate::chess::lines::{self, Line, LineError};

/// The part of a file of positions that belongs to a shard.
#[derive(Debug)]
pub(super) struct Suite<T> {
    pub path: PathBuf,
    /// The lines that could be read.
    pub positions: Vec<T>,
    /// The errors of the other lines.
    pub broken: Vec<LineError>,
}

/// Returns whether a line is a PGN tag, such as `[Event "Club"]`.
fn is_tag(line: &str) -> bool {
    line.starts_with('[') && line.ends_with("\"]")
}

/// Reads the part of the suites that belongs to a shard, and reports every broken line and unusable
/// file. Also returns the number of unusable files.
pub(super) fn load<T>(
    paths: &[PathBuf],
    shard: Shard,
    parse: impl Fn(&Line) -> Result<T, LineError>,
) -> (Vec<Suite<T>>, usize) {
    let (mut suites, mut unusable) = (Vec::new(), 0);
    let mut index = 0..;
    for path in paths {
        let lines = match lines::read(path).map_err(|error| error.to_string()) {
            Ok(lines) if lines.is_empty() => Err("no positions".to_owned()),
            Ok(lines) if is_tag(&lines[0].text) => {
                Err("expected positions, found games; 'lancet analyse' reads games".to_owned())
            }
            lines => lines,
        };
        let lines = lines.unwrap_or_else(|error| {
            complain(format_args!("{}: {error}", path.display()));
            unusable += 1;
            Vec::new()
        });
        let mut suite = Suite { path: path.clone(), positions: Vec::new(), broken: Vec::new() };
        let ours = lines.iter().zip(&mut index).filter(|&(_, index)| shard.has(index));
        for (line, _) in ours {
            match parse(line) {
                Ok(position) => suite.positions.push(position),
                Err(error) => {
                    complain(format_args!("{}:{error}", path.display()));
                    suite.broken.push(error);
                }
            }
        }
        // A shard may have no lines of a short suite.
        if !suite.positions.is_empty() || !suite.broken.is_empty() {
            suites.push(suite);
        }
    }
    (suites, unusable)
}
