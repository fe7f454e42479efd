//! Analysis trees that are kept in a file and grow best first for hours or days.
//!
//! [`tree`] decides where to grow and backs up scores, [`file`] stores the tree, and `grow` runs
//! the searches. `select` chooses the positions to show, and [`pgn`] and [`html`] show them.
//! [`command`] implements `lancet study`.

pub mod command;
pub mod file;
mod grow;
pub mod html;
pub mod pgn;
mod select;
mod source;
pub mod tree;
