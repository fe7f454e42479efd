//! `lancet doctor`: what this machine can do, measured on the spot, and what to set
//! the options to. For tournament directors and owners of bots, once on a machine.
//!
//! `measure` measures, `advice` concludes; [`command`] puts it together.

mod advice;
pub mod command;
pub mod measure;
mod report;
mod text;
