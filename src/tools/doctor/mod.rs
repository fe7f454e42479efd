//! `lancet doctor`: what this machine can do, measured on the spot, and what to set
//! the options to. For tournament directors and owners of bots, once on a machine.
//!
//! What is measured lies in `measure`, what is looked at in `files`, what follows
//! from it in `advice`; [`command`] puts it together.

mod advice;
pub mod command;
mod files;
pub mod measure;
mod report;
mod text;
