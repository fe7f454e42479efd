//! Test suites through this engine and others: answers graded, results
//! reported and exported; [`command`] puts it together.

pub mod command;
mod export;
mod external;
mod report;
mod run;
mod score;
