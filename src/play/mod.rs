//! Around a search: what it is asked and what it tells, how much time it has, and
//! what is known without searching (opening book, endgame tables) or is to be
//! forgotten (limited strength). No tree here.

pub mod book;
pub mod clock;
pub mod report;
pub mod strength;
pub mod syzygy;
