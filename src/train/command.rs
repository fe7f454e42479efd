//! `lancet train`: reads the data, runs the trainer, shows and saves.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use super::{
    FileError, checkpoint,
    loader::{DataSet, fitted_scale},
    model, plot, read_network,
    sample::Sample,
    schedule::Schedule,
    trainer::{Point, Run, Trainer},
};
use crate::{
    eval::nnue::Network,
    play::report::Signals,
    system::{
        files::{self, LockFile},
        stdio::{complain, note},
        version::VERSION,
    },
};
use clap::Args as ClapArgs;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use serde::Serialize;

/// Time between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_mins(2);
/// Points of the loss curves per pass.
const POINTS_PER_PASS: u64 = 4;
/// Positions on which the network is compared with the model.
const COMPARED: usize = 10_000;
/// The largest difference between them that is accepted, in centipawns.
const TOLERANCE: f64 = 5.0;

/// Train a network on games
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Files of games, as `lancet datagen` writes them
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub data: Vec<PathBuf>,
    /// The network file to write; loss curves (.csv, .svg), the schedule
    /// (.toml) and the checkpoint are written beside it
    #[arg(long, value_name = "NET")]
    pub out: PathBuf,
    /// Carry on from the checkpoint beside NET, if there is one
    #[arg(long)]
    pub resume: bool,
    /// Begin with the weights of this network instead of random ones, for a second
    /// stage on newer games; it may have fewer neurons, and no king buckets where there
    /// are to be some
    #[arg(long, value_name = "NET")]
    pub from: Option<PathBuf>,
    /// Settings to start from; the options below override them
    #[arg(long, value_name = "FILE.toml")]
    pub schedule: Option<PathBuf>,
    /// Hidden neurons per view, a multiple of 32 [default: 256]
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,
    /// Output buckets, chosen by piece count [default: 1]
    #[arg(long, value_name = "N")]
    pub buckets: Option<usize>,
    /// King buckets: 4, or 1 for none [default: 1]
    #[arg(long, value_name = "N")]
    pub king_buckets: Option<usize>,
    /// Passes over all positions [default: 20]
    #[arg(long, value_name = "N")]
    pub passes: Option<u32>,
    /// Positions per step [default: 8192]
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Weight of the game's result in the target at the start [default: 0.1]
    #[arg(long, value_name = "0..1")]
    pub result_first: Option<f32>,
    /// Weight of the game's result in the target at the end [default: 0.1]
    #[arg(long, value_name = "0..1")]
    pub result_last: Option<f32>,
    /// Learning rate of the first step [default: 0.004]
    #[arg(long, value_name = "RATE")]
    pub rate_first: Option<f32>,
    /// Learning rate of the last step [default: 0.00001]
    #[arg(long, value_name = "RATE")]
    pub rate_last: Option<f32>,
    /// Centipawns that are worth a factor of e in the odds of winning [default: 400]
    #[arg(long, value_name = "CP")]
    pub scale: Option<f32>,
    /// How much a label takes over from the next one of its game [default: 0]
    #[arg(long, value_name = "0..1")]
    pub smoothing: Option<f32>,
    /// Seed of the initial weights and of the order of positions [default: 1]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Threads to train with [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

impl Args {
    fn schedule(&self) -> Result<Schedule, Box<dyn std::error::Error>> {
        let mut schedule = match &self.schedule {
            None => Schedule::default(),
            Some(path) => {
                let text = files::read_text(path).map_err(|e| FileError::new(path, e))?;
                toml::from_str(&text).map_err(|e| FileError::new(path, e))?
            }
        };
        schedule.hidden = self.hidden.unwrap_or(schedule.hidden);
        schedule.buckets = self.buckets.unwrap_or(schedule.buckets);
        schedule.king_buckets = self.king_buckets.unwrap_or(schedule.king_buckets);
        schedule.passes = self.passes.unwrap_or(schedule.passes);
        schedule.batch = self.batch.unwrap_or(schedule.batch);
        schedule.seed = self.seed.unwrap_or(schedule.seed);
        let [first, last] = schedule.result_weight;
        schedule.result_weight =
            [self.result_first.unwrap_or(first), self.result_last.unwrap_or(last)];
        let [first, last] = schedule.rate;
        schedule.rate = [self.rate_first.unwrap_or(first), self.rate_last.unwrap_or(last)];
        schedule.scale = self.scale.unwrap_or(schedule.scale);
        schedule.smoothing = self.smoothing.unwrap_or(schedule.smoothing);
        schedule.check()?;
        Ok(schedule)
    }
}

/// Runs the command.
#[must_use]
pub fn run(args: &Args) -> ExitCode {
    match super::ctrl_c().map_err(Into::into).and_then(|stop| train(args, &stop)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("train: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Trains to the end (true), or until told to stop (false).
///
/// # Errors
///
/// If the settings make no sense, a file cannot be used, there is nothing to learn from,
/// or the threads cannot be started.
pub fn train(args: &Args, stop: &Signals) -> Result<bool, Box<dyn std::error::Error>> {
    let schedule = args.schedule()?;
    let saved = checkpoint::path(&args.out);
    let [toml, csv, svg, lock] =
        ["toml", "csv", "svg", "lock"].map(|kind| checkpoint::beside(&args.out, kind));
    let inputs: Vec<PathBuf> =
        args.data.iter().chain(&args.schedule).chain(&args.from).cloned().collect();
    files::check_outputs([&*args.out, &saved, &toml, &csv, &svg, &lock], &inputs)?;
    let _lock = LockFile::create(&lock, "another run is training this network")
        .map_err(|error| FileError::new(&lock, error))?;
    if saved.exists() && !args.resume {
        let reason = "an unfinished run is here: continue it with --resume, or delete this file";
        return Err(FileError::new(&saved, reason).into());
    }
    let threads = super::thread_count(args.threads) as usize;
    let start = Instant::now();
    let data = DataSet::read(&args.data, &schedule, |source| {
        note(format_args!(
            "{}: {} games, {} positions, {} kept",
            source.file, source.games, source.positions, source.kept
        ));
    })?;
    note(format_args!("results fit a scale of {:.0} centipawns", fitted_scale(&data.training)));
    note(format_args!(
        "{} positions to learn from, {} to validate with, White {}; read in {:.1} s",
        data.training.len(),
        data.validation.len(),
        data.tally,
        start.elapsed().as_secs_f64()
    ));
    if data.training.is_empty() {
        return Err("no positions to learn from: the files are empty or all is filtered".into());
    }
    let from = args.from.as_deref().map(read_network).transpose()?;
    let run = Run {
        lancet: env!("CARGO_PKG_VERSION").to_owned(),
        build: VERSION.to_owned(),
        threads,
        schedule,
        from: from.as_ref().map(Network::name),
        sources: data.sources.clone(),
    };
    let mut trainer = Trainer::new(run, data.training.len())?;
    if let Some(network) = &from {
        let cut = trainer.start_from(network).map_err(|reason| format!("--from: {reason}"))?;
        if cut > 0 {
            complain(format_args!(
                "--from: {}: {cut} weights are larger than training allows and will be cut; \
                 training begins with less than this network knows",
                network.name()
            ));
        }
    }
    if args.resume && saved.exists() {
        checkpoint::load(&saved, &mut trainer)?;
        note(format_args!("resumed at step {} of {}", trainer.state.step, trainer.steps()));
    }
    if !steps(&mut trainer, &data, &saved, stop)? {
        checkpoint::save(&saved, &trainer)?;
        note(format_args!("stopped at step {}; --resume continues", trainer.state.step));
        return Ok(false);
    }
    // Whatever is wrong with the network, the run is not lost.
    checkpoint::save(&saved, &trainer)?;
    finish(&trainer, &data, &args.out)?;
    checkpoint::remove(&saved)?;
    Ok(true)
}

/// Trains to the end, or until told to stop (false).
fn steps(
    trainer: &mut Trainer,
    data: &DataSet,
    saved: &Path,
    stop: &Signals,
) -> Result<bool, FileError> {
    let bar = ProgressBar::new(trainer.steps());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}% {msg}") {
        bar.set_style(style);
    }
    let plain = !io::stderr().is_terminal();
    let every = (trainer.steps_per_pass() / POINTS_PER_PASS).max(1);
    let start = Instant::now();
    let begun = trainer.state.step;
    let mut last_saved = Instant::now();
    let mut shown = String::new();
    while !trainer.is_finished() {
        if stop.is_stopped() {
            bar.finish_and_clear();
            return Ok(false);
        }
        let loss = trainer.step(&data.training);
        let done = trainer.state.step - begun;
        let seconds = start.elapsed().as_secs_f64();
        let speed = (done * trainer.batch() as u64) as f64 / seconds;
        let left = seconds / done as f64 * (trainer.steps() - trainer.state.step) as f64;
        let eta = HumanDuration(Duration::from_secs_f64(left));
        if trainer.state.step.is_multiple_of(every) || trainer.is_finished() {
            let Point { training, validation, .. } = trainer.report(data);
            shown = format!("loss {training:.6}");
            if let Some(validation) = validation {
                shown += &format!(" validation {validation:.6}");
            }
            if plain {
                let pass = trainer.state.step as f64 / trainer.steps_per_pass() as f64;
                let step = trainer.state.step;
                note(format_args!(
                    "pass {pass:.2} step {step} {shown} {speed:.0} positions/s ETA {eta}"
                ));
            }
        }
        bar.set_position(trainer.state.step);
        bar.set_message(format!("{shown} now {loss:.6} {speed:.0} positions/s ETA {eta}"));
        if last_saved.elapsed() >= CHECKPOINT_INTERVAL {
            checkpoint::save(saved, trainer)?;
            last_saved = Instant::now();
        }
    }
    bar.finish_and_clear();
    Ok(true)
}

/// What is stored in the network.
#[derive(Serialize)]
struct Provenance<'a> {
    training_loss: Option<f64>,
    validation_loss: Option<f64>,
    positions: usize,
    #[serde(flatten)]
    run: &'a Run,
}

/// Exports the network and what belongs to it.
fn finish(trainer: &Trainer, data: &DataSet, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let last = trainer.state.history.last();
    let provenance = toml::to_string(&Provenance {
        training_loss: last.map(|point| point.training),
        validation_loss: last.and_then(|point| point.validation),
        positions: data.training.len(),
        run: &trainer.run,
    })?;
    let network = trainer.layout().quantise(&trainer.parameters, &provenance)?;
    compare(trainer, &network, data)?;
    checkpoint::replace(out, &network.to_bytes())?;
    let schedule = toml::to_string(&trainer.run.schedule)?;
    checkpoint::replace(&checkpoint::beside(out, "toml"), schedule.as_bytes())?;
    plot::csv(&checkpoint::beside(out, "csv"), &trainer.state.history)?;
    plot::svg(&checkpoint::beside(out, "svg"), &trainer.state.history, &network.name())?;
    note(format_args!("{}: {}", out.display(), network.name()));
    Ok(())
}

/// Compares the network with the model that was trained: that one works with
/// rounded weights, too, in floating point. How far rounding moves it is told.
fn compare(trainer: &Trainer, network: &Network, data: &DataSet) -> Result<(), String> {
    let samples: Vec<Sample> =
        data.validation.iter().chain(&data.training).take(COMPARED).copied().collect();
    let layout = trainer.layout();
    let played = model::outputs(layout, trainer.played(), &samples);
    let exact = samples.iter().map(|sample| layout.output(&trainer.parameters, sample));
    let (mean, worst) = model::disagreement(played, network, &samples);
    let (exact_mean, exact_worst) = model::disagreement(exact, network, &samples);
    note(format_args!(
        "quantised against float on {} positions: mean {mean:.2} cp, largest {worst:.2} cp; \
         against weights not rounded: mean {exact_mean:.2} cp, largest {exact_worst:.2} cp",
        samples.len()
    ));
    if worst > TOLERANCE {
        return Err(format!(
            "the network is up to {worst:.2} cp from the model, more than {TOLERANCE}: not written"
        ));
    }
    Ok(())
}
