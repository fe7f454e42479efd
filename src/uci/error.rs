//! What can be wrong with a line.

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No word of the line is a command.
    #[error("unknown command '{token}': 'help' lists the commands")]
    Unknown {
        /// The first word.
        token: String,
    },
    /// Something has to follow.
    #[error("nothing follows '{after}': expected {expected}")]
    Missing {
        /// The command or keyword.
        after: &'static str,
        /// What has to follow it.
        expected: &'static str,
    },
    /// Something else has to stand here.
    #[error("'{token}' after '{after}': expected {expected}")]
    Unexpected {
        /// The command or keyword.
        after: &'static str,
        /// What was found.
        token: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A number outside its range. A `go` uses the nearest one within it; other commands are
    /// refused.
    #[error("'{token}' after '{after}': expected a whole number from {min} to {max}")]
    OutOfRange {
        /// The keyword.
        after: &'static str,
        /// What was found.
        token: String,
        /// The smallest number possible.
        min: u64,
        /// The largest number possible.
        max: u64,
        /// The nearest number possible.
        nearest: u64,
    },
}

impl CommandError {
    /// Was a position to be set up?
    pub fn is_of_position(&self) -> bool {
        let (CommandError::Missing { after, .. } | CommandError::Unexpected { after, .. }) = self
        else {
            return false;
        };
        ["position", "fen", "startpos"].contains(after)
    }

    /// The number that a `go` uses instead.
    pub const fn nearest(&self) -> Option<u64> {
        match self {
            CommandError::OutOfRange { nearest, .. } => Some(*nearest),
            _ => None,
        }
    }
}
