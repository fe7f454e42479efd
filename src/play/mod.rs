//! Everything that a search needs besides the tree: limits, reports, time management,
//! opening books, tablebases, openings for self-play and limited strength.

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
