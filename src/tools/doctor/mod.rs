//! `lancet doctor`: recommends values for the options that depend on the machine. It is for
//! tournament directors and owners of bots, who run it once on each machine.
//!
//! `measure` takes the measurements, and [`command`] derives the recommendations.

pub mod command;
pub(crate) mod measure;
