//! What can be wrong with a line.

use std::fmt;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// No word of the line is a command.
    Unknown {
        /// The first word.
        token: String,
    },
    /// Something has to follow.
    Missing {
        /// The command or keyword.
        after: &'static str,
        /// What has to follow it.
        expected: &'static str,
    },
    /// Something else has to stand here.
    Unexpected {
        /// The command or keyword.
        after: &'static str,
        /// What was found.
        token: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A number outside its range.
    OutOfRange {
        /// The keyword.
        after: &'static str,
        /// What was found.
        token: String,
        /// The smallest number possible.
        min: u64,
        /// The largest number possible.
        max: u64,
        /// The nearest end, if that is used; else the command is refused.
        used: Option<u64>,
    },
}

impl CommandError {
    /// The number that is used instead of one outside its range.
    pub const fn used(&self) -> Option<u64> {
        match self {
            CommandError::OutOfRange { used, .. } => *used,
            _ => None,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Unknown { token } => {
                write!(f, "unknown command '{token}': 'help' lists the commands")
            }
            CommandError::Missing { after, expected } => {
                write!(f, "nothing follows '{after}': expected {expected}")
            }
            CommandError::Unexpected { after, token, expected } => {
                write!(f, "'{token}' after '{after}': expected {expected}")
            }
            CommandError::OutOfRange { after, token, min, max, used } => {
                write!(f, "'{token}' after '{after}' is not in {min}..{max}")?;
                used.map_or(Ok(()), |used| write!(f, ": using {used}"))
            }
        }
    }
}

impl std::error::Error for CommandError {}
