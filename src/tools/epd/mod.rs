//! Runs test suites with this engine and others, grades the answers, and reports and exports the
//! results. [`command`] implements `lancet epd`.

pub mod command;
mod export;
mod external;
mod report;
mod run;
mod score;
