//! Everything that a search needs besides the tree: limits, reports, time management, opening
//! books, tablebases, limited strength, and openings for self-play.

pub mod book;
pub mod clock;
pub mod limits;
pub(crate) mod memory;
pub mod openings;
pub mod params;
pub mod report;
pub mod signals;
pub mod strength;
pub mod syzygy;
