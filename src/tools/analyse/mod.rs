//! Annotated games: positions evaluated, moves judged, openings named,
//! evaluations drawn; [`command`] puts it together.

pub mod annotate;
mod chart;
pub mod command;
mod evaluate;
mod html;
mod join;
pub(crate) mod judge;
mod openings;
mod progress;
