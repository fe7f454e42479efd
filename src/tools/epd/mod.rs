//! Test suites through this engine and others: answers graded, results
//! reported and exported; [`command`] puts it together.

pub mod command;
pub mod contest;
pub mod export;
pub mod external;
pub mod report;
pub mod run;
pub mod score;
