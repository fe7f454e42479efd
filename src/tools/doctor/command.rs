//! The command `lancet doctor`: its options, and what is measured, one thing after the other.

use std::{process::ExitCode, time::Duration};

use super::{
    advice,
    measure::{self, SPEED_HASH, Timers},
    report::{Machine, Report},
    text,
};
use crate::{
    engine::threads,
    play::memory::MemoryError,
    system::version,
    tools::{self, say, thread_count},
};

/// Measure this machine and advise on `Hash`, `Threads` and `Move Overhead`
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Games that are to be played at the same time: each gets its share of memory and
    /// cores
    #[arg(long, value_name = "N", default_value = "1", value_parser = thread_count)]
    pub games: usize,
    /// Seconds that each measurement of speed takes
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// Largest table to try, in MiB [default: half of the memory that is available]
    #[arg(long, value_name = "MIB", value_parser = tools::hash_size)]
    pub hash: Option<usize>,
    /// Write the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Measures everything; `progress` hears what is measured next.
fn report(args: &Args, progress: &(dyn Fn(&str) + Sync)) -> Result<Report, MemoryError> {
    let machine = Machine::look();
    let cores = machine.logical_cores;
    progress("speed by threads");
    let time = Duration::from_secs(args.seconds);
    let speed = measure::thread_counts(cores)
        .map(|threads| measure::speed(threads, SPEED_HASH, time, &|| false))
        .collect::<Result<Vec<_>, _>>()?;
    progress("memory of tables");
    let most = args.hash.unwrap_or_else(|| advice::half_of(machine.available_memory));
    let tables = measure::table_sizes(most).map_while(|mib| measure::table_cost(mib, cores));
    let tables = tables.collect();
    progress("timers");
    let timers = Timers::measure(cores)?;
    let mut report = Report {
        version: version::VERSION,
        build: version::details().to_vec(),
        machine,
        speed,
        tables,
        timers,
        advice: Vec::new(),
    };
    report.advice = advice::advise(&report, args.games);
    Ok(report)
}

/// Runs the command.
///
/// # Errors
///
/// If there is not enough memory, or the system gives no thread.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let progress = |what: &str| crate::system::stdio::note(format_args!("measuring: {what} ..."));
    let report = threads::run("doctor", || report(args, &progress))??;
    if args.json {
        say(serde_json::to_string_pretty(&report)?);
    } else {
        text::lines(&report).iter().for_each(say);
    }
    Ok(ExitCode::SUCCESS)
}
