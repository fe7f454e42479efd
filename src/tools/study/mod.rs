//! An analysis tree that is kept in one file and grown best first, for hours or nights:
//! [`tree`] decides where it grows and backs scores up, [`file`] keeps it, `grow` has
//! the engine search, `select` chooses what is shown, [`pgn`] and [`html`] show it;
//! [`command`] puts it together.

pub mod command;
pub mod file;
mod grow;
pub mod html;
pub mod pgn;
mod select;
mod source;
pub mod tree;
