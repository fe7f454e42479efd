//! What surrounds a search: its limits and its reports, its clock, what is known
//! without searching (opening book, endgame tables), where games begin, and what a
//! weaker player overlooks (limited strength). No tree here.

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
