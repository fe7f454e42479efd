//! The command `lancet epd`: files, engines and the exit status.

use std::{
    io,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::Context as _;

use super::{
    export::{self, SuiteRun},
    external::External,
    report,
    run::{self, Contestant, EpdSuite, Plan, Player, SuiteResult},
};
use crate::{
    chess::{epd, notation::counted},
    system::{
        arguments, files,
        stdio::{progress_bar, say_coloured},
    },
    tools::{self, complain, interrupt::Interrupt, options::Shard, positions, say},
};

/// Run EPD test suites and grade the answers
///
/// If several limits are given, a search ends at the first one that it reaches. If none of
/// --movetime, --nodes and --depth is given, each position gets one second.
///
/// A move listed in `bm` is right, and one listed in `am` is wrong. `dm N` and `bm #N` ask for a
/// proven mate in at most N moves, by any move. In some suites, moves have points, which are listed
/// in c8 and c9, or in c0 "Nf3=10, ...". An engine earns the points of the move that it plays.
/// epd/README.md lists the suites.
///
/// With --engine, the tables have a column for each engine, and a list shows the positions that
/// only one of them solved. The node counts of other engines are from their last report before the
/// move, so the engines may have searched more. Suites with themes in their ids (STS, PET, E_E_T)
/// also get a total for each theme.
///
/// --shard K/N runs every N-th line of all suites together, starting with line K, so that a job
/// runner can divide the work between machines. With one thread and --nodes, every line gets the
/// same answer as in a single run. Together, the --csv files of the shards then differ from the
/// file of a single run only in times.
///
/// In --csv files, an apostrophe (') precedes text that a spreadsheet would read as a formula.
#[derive(Debug, clap::Args)]
#[command(after_long_help = r#"Examples:
  lancet epd epd/bk.epd --movetime 200
  lancet epd epd/*.epd --nodes 100k --jobs 2 --json result.json
  lancet epd epd/eet.epd --syzygy /tables
  lancet epd epd/wac.epd --engine stockfish --engine "other-engine --uci"

  With GNU parallel; grep puts the failed lines in the order of the suite:
    parallel lancet epd epd/sts.epd --nodes 1000000 --shard {}/8 \
      --save-failed failed-{}.epd ::: $(seq 8)
    grep -hFxf <(cat failed-*.epd) epd/sts.epd > failed.epd

Exit status:
  0    when all positions were searched
  1    if fewer than --require were solved, an engine failed, or memory or
       threads did not suffice
  2    if a file or the command line could not be used, or if a line was broken
       and --lenient was not given
  130  after Ctrl-C, which prints the results so far (a second Ctrl-C quits at once)"#)]
pub struct Args {
    /// Suites to run
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Run every N-th line of the suites, starting with line K, to divide them between machines
    #[arg(long, value_name = "K/N", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// Also run the suites with this UCI engine; may be repeated
    #[arg(long = "engine", value_name = "CMD")]
    engines: Vec<String>,
    /// Run only the engines given by --engine, not Lancet
    #[arg(long, requires = "engines")]
    engines_only: bool,
    #[command(flatten)]
    plan: Plan,
    /// Write all results to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results to this file as CSV, with one row for each position and engine
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write to this file the positions that the first engine (Lancet, unless --engines-only)
    /// missed
    #[arg(long, value_name = "FILE.epd")]
    save_failed: Option<PathBuf>,
    /// Replace output files that exist
    #[arg(long)]
    force: bool,
    /// Fail unless the first engine (Lancet, unless --engines-only) solves at least this many
    /// positions
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(..))]
    require: Option<usize>,
    /// Ignore broken lines in the exit status
    #[arg(long)]
    lenient: bool,
}

/// Runs the command `lancet epd`. Its help describes the exit status.
///
/// # Errors
///
/// If an engine cannot be started, or no thread can be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (suites, unusable) = positions::load(&args.files, args.shard, epd::parse);
    let broken: usize = suites.iter().map(|suite| suite.broken.len()).sum();
    let mut unusable = unusable > 0 || broken > 0 && !args.lenient;
    let outputs = || [&args.json, &args.csv, &args.save_failed].into_iter().flatten();
    let paths = outputs().map(PathBuf::as_path);
    if let Err(error) = files::check_outputs(paths, &args.files, |_| args.force) {
        return Ok(tools::unusable(&anyhow::Error::msg(error)));
    }
    let interrupt = Interrupt::by_ctrl_c("Ctrl-C will end the run without results");
    let mut contestants = match contestants(args, &interrupt) {
        Err(_) if interrupt.is_raised() => return Ok(ExitCode::from(130)),
        started => started?,
    };
    let results = run_suites(suites, &mut contestants, &args.plan, &interrupt)?;
    if results.len() > 1 {
        let report = report::overall_report(&results, &names(&contestants));
        say(format_args!("\nAll suites\n\n{report}"));
    }
    if broken > 0 {
        say(format_args!("\n{} skipped", counted(broken, "broken line")));
    }
    let interrupted = interrupt.is_raised();
    if interrupted {
        say("\nInterrupted. The tables show the results so far.");
    }
    let run = SuiteRun {
        plan: &args.plan,
        shard: args.shard,
        contestants: &contestants,
        results: &results,
        interrupted,
    };
    match write(args, &run) {
        Ok(()) => tools::say_written(outputs()),
        Err(error) => {
            complain(format_args!("{error:#}"));
            unusable = true;
        }
    }
    let solved = report::total(&results, 0).solved;
    if let Some(required) = args.require {
        say(format_args!("\n{solved} solved, {required} required"));
    }
    let mut attempts = results.iter().flat_map(|result| &result.attempts).flatten().flatten();
    Ok(if interrupted {
        ExitCode::from(130)
    } else if unusable {
        ExitCode::from(2)
    } else if attempts.any(|attempt| attempt.failure.is_some())
        || args.require.is_some_and(|required| solved < required)
    {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes the output files that the options name.
fn write(args: &Args, run: &SuiteRun) -> anyhow::Result<()> {
    let json = export::json(run);
    let put = |path: &Option<PathBuf>, bytes: &[u8]| -> anyhow::Result<()> {
        let Some(path) = path else { return Ok(()) };
        files::replace(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    // If one file cannot be written, still write the others.
    let written = [
        put(&args.json, format!("{json:#}\n").as_bytes()),
        put(&args.csv, &export::csv(&json)?),
        put(&args.save_failed, export::failed(run).as_bytes()),
    ];
    written.into_iter().collect()
}

/// Starts the engines.
fn contestants(args: &Args, interrupt: &Interrupt) -> anyhow::Result<Vec<Contestant>> {
    let plan = &args.plan;
    let mut contestants: Vec<Contestant> = Vec::new();
    if !args.engines_only {
        contestants.push(Contestant::lancet(plan)?);
    }
    for command in &args.engines {
        let mut players: Vec<Box<dyn Player>> = Vec::new();
        let mut name = String::new();
        for _ in 0..plan.workers.jobs {
            let player = External::start(command, plan, interrupt)
                .with_context(|| format!("--engine '{command}'"))?;
            name = player.name();
            players.push(Box::new(player));
        }
        if contestants.iter().any(|one| one.name == name) {
            name.push_str(&format!(" #{}", contestants.len() + 1));
        }
        contestants.push(Contestant { name, command: Some(command.clone()), players });
    }
    Ok(contestants)
}

fn names(contestants: &[Contestant]) -> Vec<String> {
    contestants.iter().map(|one| one.name.clone()).collect()
}

/// Runs every suite with every engine, and prints the results during the run.
fn run_suites(
    suites: Vec<EpdSuite>,
    contestants: &mut [Contestant],
    plan: &Plan,
    interrupt: &Interrupt,
) -> io::Result<Vec<SuiteResult>> {
    let positions: usize = suites.iter().map(|suite| suite.positions.len()).sum();
    let template = "{elapsed_precise} [{bar:30}] {pos}/{len} positions, {msg}, {eta} left";
    let bar = progress_bar(Some((positions * contestants.len()) as u64), template);
    bar.set_message("0 solved");
    let names = names(contestants);
    let solved = AtomicUsize::new(0);
    let mut results = Vec::new();
    for suite in suites {
        if interrupt.is_raised() {
            break;
        }
        let header = report::live_header(names.len() > 1);
        bar.suspend(|| say(format_args!("\n{}\n\n{header}", suite.path.display())));
        let mut attempts = Vec::new();
        for Contestant { name, players, .. } in &mut *contestants {
            let name = (names.len() > 1).then_some(name.as_str());
            let answer = |player: &mut &mut Box<dyn Player>, index: usize| {
                let record = &suite.positions[index];
                let attempt = run::attempt(player.as_mut(), record, plan, interrupt)?;
                let one = usize::from(attempt.solved == Some(true));
                let solved = solved.fetch_add(one, Ordering::Relaxed) + one;
                let line = report::live_line(index + 1, record, &attempt, name);
                bar.suspend(|| say_coloured(line));
                bar.set_message(format!("{solved} solved"));
                bar.inc(1);
                Some(attempt)
            };
            attempts.push(tools::share(players.iter_mut(), suite.positions.len(), answer)?);
        }
        let result = SuiteResult { suite, attempts };
        bar.suspend(|| say(report::suite_report(&result, &names)));
        results.push(result);
    }
    bar.finish_and_clear();
    Ok(results)
}
