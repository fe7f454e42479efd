//! Annotated games: positions evaluated, moves judged, openings named,
//! evaluations drawn; [`command`] puts it together.

pub mod annotate;
pub mod chart;
pub mod command;
pub mod evaluate;
pub mod join;
pub mod judge;
pub mod openings;
pub mod progress;
