//! Errors in commands.

/// An error in a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The line contains no command.
    #[error("unknown command '{token}': 'help' lists the commands")]
    Unknown {
        /// The first word.
        token: String,
    },
    /// An argument is missing.
    #[error("missing argument after '{after}': expected {expected}")]
    Missing {
        /// The command or keyword.
        after: &'static str,
        /// The words that were expected.
        expected: &'static str,
    },
    /// A word is not the expected one.
    #[error("'{token}' after '{after}': expected {expected}")]
    Unexpected {
        /// The command or keyword.
        after: &'static str,
        /// The word that was found.
        token: String,
        /// The words that were expected.
        expected: &'static str,
    },
    /// A number is outside its range. `go` uses the nearest number within the range; other commands
    /// are refused.
    #[error("'{token}' after '{after}': expected a whole number from {min} to {max}")]
    OutOfRange {
        /// The keyword.
        after: &'static str,
        /// The word that was found.
        token: String,
        /// The smallest allowed number.
        min: u64,
        /// The largest allowed number.
        max: u64,
        /// The allowed number nearest to the one found.
        nearest: u64,
    },
}

impl CommandError {
    /// Returns whether the error is in a `position` command.
    pub fn is_of_position(&self) -> bool {
        let (CommandError::Missing { after, .. } | CommandError::Unexpected { after, .. }) = self
        else {
            return false;
        };
        ["position", "fen", "startpos"].contains(after)
    }

    /// Returns the number that `go` uses instead.
    pub const fn nearest(&self) -> Option<u64> {
        match self {
            CommandError::OutOfRange { nearest, .. } => Some(*nearest),
            _ => None,
        }
    }
}
