//! The command `lancet epd`: files, engines, and the exit status.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use anyhow::Context as _;
use clap::value_parser;
use indicatif::ProgressBar;

use super::{
    contest::{Contestant, Suite, SuiteResult},
    export::{self, Run},
    external::External,
    report,
    run::{self, Attempt, EngineError, Lancet, Plan, Player},
    score::Tally,
};
use crate::{
    chess::{
        epd::{self, Record},
        lines,
        notation::counted,
    },
    system::{
        files::{self, NewFile},
        stdio::say_coloured,
    },
    tools::{
        self, complain,
        interrupt::Interrupt,
        options::{Effort, Shard, Workers},
        say,
    },
};

/// Runs EPD test suites and grades the answers.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Suites to run
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    workers: Workers,
    /// Stop as soon as the mate that the position asks for is proved
    #[arg(long)]
    mate: bool,
    /// Stop once the solution has been the best move for this many iterations
    #[arg(long, value_name = "PLIES", value_parser = tools::depth)]
    stop_early: Option<u32>,
    /// Hash table size for each job, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = tools::hash_size)]
    hash: usize,
    /// Run every N-th line of the suites, from the K-th on, to share them between machines
    #[arg(long, value_name = "K/N", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// Lines to report for each position
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=218))]
    multipv: u16,
    /// Also run this UCI engine over the same suites; may be repeated
    #[arg(long = "engine", value_name = "CMD")]
    engines: Vec<String>,
    /// Run only the engines of --engine, not Lancet
    #[arg(long, requires = "engines")]
    engines_only: bool,
    /// Give up on another engine that has not answered for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u64).range(1..=86_400))]
    engine_timeout: u64,
    /// Write all results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write one row per position and engine to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the positions that the first engine did not solve to this file
    #[arg(long, value_name = "FILE.epd")]
    save_failed: Option<PathBuf>,
    /// Fail unless the first engine solves at least this many positions
    #[arg(long, value_name = "N")]
    require: Option<usize>,
    /// Do not let invalid lines change the exit status
    #[arg(long)]
    lenient: bool,
}

impl Args {
    fn plan(&self) -> Plan {
        Plan {
            movetime: self.effort.movetime.map(Duration::from_millis),
            nodes: self.effort.nodes,
            depth: self.effort.depth,
            mate: self.mate,
            stop_early: self.stop_early,
            hash: self.hash,
            threads: self.workers.threads,
            multi_pv: usize::from(self.multipv),
            patience: Duration::from_secs(self.engine_timeout),
        }
    }
}

/// The files that results go to, opened before anything is searched.
struct Outputs {
    json: Option<(NewFile, PathBuf)>,
    csv: Option<(NewFile, PathBuf)>,
    failed: Option<(NewFile, PathBuf)>,
}

impl Outputs {
    fn open(args: &Args) -> anyhow::Result<Outputs> {
        let outputs = [&args.json, &args.csv, &args.save_failed];
        files::check_outputs(outputs.into_iter().flatten().map(PathBuf::as_path), &args.files)?;
        let open = |path: &Option<PathBuf>| {
            let Some(path) = path else { return anyhow::Ok(None) };
            let file = NewFile::create(path).with_context(|| cannot_write(path))?;
            Ok(Some((file, path.clone())))
        };
        Ok(Outputs {
            json: open(&args.json)?,
            csv: open(&args.csv)?,
            failed: open(&args.save_failed)?,
        })
    }

    fn write(self, run: &Run) -> anyhow::Result<()> {
        type Write<'a> = &'a dyn Fn(&mut NewFile) -> io::Result<()>;
        let fill = |file: Option<(NewFile, PathBuf)>, write: Write| {
            let Some((mut file, path)) = file else { return Ok(()) };
            write(&mut file).and_then(|()| file.commit()).with_context(|| cannot_write(&path))
        };
        // Where one cannot be written, the others still are.
        let done = [
            fill(self.json, &|file| export::write_json(run, file)),
            fill(self.csv, &|file| export::write_csv(run, file)),
            fill(self.failed, &|file| export::write_failed(run, file)),
        ];
        done.into_iter().collect()
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Runs the command `lancet epd`. Its help describes the exit status.
///
/// # Errors
///
/// If an engine does not start, or the system gives no thread.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let plan = args.plan();
    let (suites, mut unusable) = load(&args.files, args.shard);
    unusable |= !args.lenient && suites.iter().any(|suite| !suite.broken.is_empty());
    let outputs = match Outputs::open(args) {
        Ok(outputs) => outputs,
        Err(error) => {
            complain(format_args!("{error:#}"));
            return Ok(ExitCode::from(2));
        }
    };
    let interrupt = Interrupt::by_ctrl_c("Ctrl-C will not print results");
    let mut contestants = match contestants(args, &plan, &interrupt) {
        Ok(contestants) => contestants,
        Err(_) if interrupt.is_raised() => return Ok(ExitCode::from(130)),
        Err(error) => return Err(error),
    };

    let results = run_suites(&suites, &mut contestants, &plan, &interrupt)?;
    let names: Vec<String> = contestants.iter().map(|one| one.name.clone()).collect();
    let paths: Vec<&Path> = suites.iter().map(|suite| suite.path.as_path()).collect();
    if suites.len() > 1 {
        say(format_args!("\nAll suites\n\n{}", report::overall_report(&paths, &results, &names)));
    }
    let broken: usize = suites.iter().map(|suite| suite.broken.len()).sum();
    if broken > 0 {
        say(format_args!("\n{} skipped", counted(broken, "broken line")));
    }
    let interrupted = interrupt.is_raised();
    if interrupted {
        say("\nInterrupted: the tables show what was done.");
    }
    let jobs = args.workers.jobs;
    let run = Run {
        plan: &plan,
        jobs,
        shard: args.shard,
        suites: &suites,
        contestants: &contestants,
        results: &results,
        interrupted,
    };
    if let Err(error) = outputs.write(&run) {
        complain(format_args!("{error:#}"));
        unusable = true;
    }
    let first = Tally::of(results.iter().flat_map(|result| report::grades(&result.attempts[0])));
    if let Some(required) = args.require {
        say(format_args!("\n{} solved, {required} required", first.solved));
    }
    let attempts = results.iter().flat_map(|result| &result.attempts).flatten().flatten();
    let failed = attempts.into_iter().any(|attempt| attempt.grade.failed);
    Ok(if interrupted {
        ExitCode::from(130)
    } else if unusable {
        ExitCode::from(2)
    } else if failed || args.require.is_some_and(|required| first.solved < required) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Reads what a shard has of the suites, complaining about every broken line. True if
/// a file is unusable as a whole.
fn load(paths: &[PathBuf], shard: Shard) -> (Vec<Suite>, bool) {
    let mut unusable = false;
    let mut index = 0..;
    let mut suites = Vec::new();
    for path in paths {
        let lines = match lines::read(path) {
            Ok(lines) => lines,
            Err(error) => {
                complain(format_args!("{}: {error}", path.display()));
                unusable = true;
                continue;
            }
        };
        if lines.is_empty() {
            complain(format_args!("{}: no positions", path.display()));
            unusable = true;
            continue;
        }
        let mut suite = Suite { path: path.clone(), records: Vec::new(), broken: Vec::new() };
        for line in
            lines.iter().zip(&mut index).filter_map(|(line, i)| shard.has(i).then_some(line))
        {
            match epd::parse(line) {
                Ok(record) => suite.records.push(record),
                Err(error) => {
                    complain(format_args!("{}:{error}", path.display()));
                    suite.broken.push(error);
                }
            }
        }
        // Of a short suite a shard may have nothing.
        if !suite.records.is_empty() || !suite.broken.is_empty() {
            suites.push(suite);
        }
    }
    (suites, unusable)
}

fn contestants(args: &Args, plan: &Plan, interrupt: &Interrupt) -> anyhow::Result<Vec<Contestant>> {
    let mut contestants: Vec<Contestant> = Vec::new();
    if !args.engines_only {
        let mut players: Vec<Box<dyn Player>> = Vec::new();
        for engine in tools::engines(args.workers.jobs, plan.hash, plan.threads)? {
            players.push(Box::new(Lancet::new(engine, plan)));
        }
        let name = format!("Lancet {}", env!("CARGO_PKG_VERSION"));
        contestants.push(Contestant { name, command: None, players });
    }
    for command in &args.engines {
        let mut players: Vec<Box<dyn Player>> = Vec::new();
        let mut name = String::new();
        for _ in 0..args.effort.jobs {
            let start = || {
                let mut player = External::new(command)?;
                Ok::<_, EngineError>((player.start(plan, interrupt)?, player))
            };
            let player;
            (name, player) = start().with_context(|| format!("--engine '{command}'"))?;
            players.push(Box::new(player));
        }
        let same = contestants.iter().filter(|one| one.name == name).count();
        if same > 0 {
            name.push_str(&format!(" #{}", contestants.len() + 1));
        }
        contestants.push(Contestant { name, command: Some(command.clone()), players });
    }
    Ok(contestants)
}

/// Runs every suite through every contestant, printing as it goes.
fn run_suites(
    suites: &[Suite],
    contestants: &mut [Contestant],
    plan: &Plan,
    interrupt: &Interrupt,
) -> io::Result<Vec<SuiteResult>> {
    let positions: usize = suites.iter().map(|suite| suite.records.len()).sum();
    let bar = report::progress_bar(positions * contestants.len());
    let names: Vec<String> = contestants.iter().map(|one| one.name.clone()).collect();
    let solved = AtomicUsize::new(0);
    let mut results = Vec::new();
    for suite in suites {
        let mut result = SuiteResult { attempts: Vec::new() };
        for contestant in &mut *contestants {
            let name = (names.len() > 1).then_some(contestant.name.as_str());
            let done = |index: usize, attempt: &Attempt| {
                announce(&bar, &solved, index + 1, &suite.records[index], attempt, name);
            };
            let players = &mut contestant.players;
            let attempts = run::run(players, &suite.records, plan, interrupt, &done)?;
            result.attempts.push(attempts);
        }
        let report = report::suite_report(&suite.path, &suite.records, &result, &names);
        bar.suspend(|| say(report));
        results.push(result);
    }
    bar.finish_and_clear();
    Ok(results)
}

fn announce(
    bar: &ProgressBar,
    solved: &AtomicUsize,
    number: usize,
    record: &Record,
    attempt: &Attempt,
    engine: Option<&str>,
) {
    if attempt.grade.solved == Some(true) {
        solved.fetch_add(1, Ordering::Relaxed);
    }
    let line = report::live_line(number, record, attempt, engine);
    bar.suspend(|| say_coloured(line));
    bar.set_message(format!("{} solved", solved.load(Ordering::Relaxed)));
    bar.inc(1);
}
