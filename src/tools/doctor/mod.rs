//! `lancet doctor`: advice on the options that depend on the machine. For tournament
//! directors and owners of bots, once on a machine.
//!
//! `measure` measures, [`command`] draws the conclusions.

pub mod command;
pub(crate) mod measure;
