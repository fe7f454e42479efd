//! Annotates games: evaluates positions, judges moves, names openings and draws charts. [`command`]
//! implements `lancet analyse`.

pub mod annotate;
mod chart;
pub mod command;
mod evaluate;
mod html;
mod join;
pub(crate) mod judge;
mod openings;
mod progress;
