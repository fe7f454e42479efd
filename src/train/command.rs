//! `lancet-train train`: reads the data, runs the trainer, reports progress and writes the network.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use super::{
    checkpoint, curves,
    exam::Exam,
    layout::{Layout, RoundedModel},
    loader::{DataSet, fitted_scale},
    model, progress_bar, replace,
    sample::Sample,
    schedule::Schedule,
    stopped_by_ctrl_c, thread_count,
    trainer::{Point, Trainer, TrainingRun},
};
use anyhow::{Context as _, bail, ensure};
use clap::Args as ClapArgs;
use indicatif::HumanDuration;
use lancet::{
    eval::nnue::{Network, network::SCALE},
    play::signals::Signals,
    system::{
        arguments,
        files::{self, LockFile},
        stdio::note,
        version::VERSION,
    },
};
use serde::Serialize;
use wide::f32x8;

/// Time between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_mins(2);
/// Largest number of points of the loss curves.
const POINTS: u64 = 40;
/// Largest number of positions on which the network is compared with the model.
const COMPARED: usize = 10_000;
/// Largest accepted difference between network and model, in centipawns.
const TOLERANCE: f64 = 5.0;

/// Train a network on games
///
/// Trains on the scores of the searches and on the results of the games. The trainer keeps only
/// quiet positions: the side to move is not in check, and the move played is neither a capture nor
/// a promotion. It also drops the first 8 plies after the opening, positions with fewer than 4
/// pieces, and scores beyond 100 pawns. The section `filter` of the schedule changes these three
/// limits. Positions whose score is only a bound are also dropped.
///
/// Ctrl-C writes a checkpoint, and --resume continues from there exactly. At every step the trainer
/// computes with weights rounded as in the network file. Before the network is written, it is
/// compared with the trained model on up to 10,000 positions. It is not written if they differ by
/// more than 5 centipawns.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  lancet-train train --data games/*.vf --out lancet.nnue
  lancet-train train --data games/*.vf --hidden 512 --buckets 8 --samples 1G --out large.nnue
  lancet \"setoption name EvalFile value lancet.nnue\" eval quit

Files, for --out NAME.nnue:
  NAME.nnue        the network, with a record of how it was made
  NAME.csv, .svg   the loss curves
  NAME.toml        the schedule, for --schedule
  NAME.checkpoint  the state of an unfinished run, for --resume
  NAME.state       the state of the complete run, for --from
  NAME.lock        prevents other runs from training the network at the same time")]
pub struct Args {
    /// Files of games, as `lancet-train datagen` writes them
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The network file to write; loss curves (.csv, .svg), the schedule (.toml), the checkpoint
    /// (.checkpoint) and the state (.state) are written beside it
    #[arg(long, value_name = "OUT")]
    out: PathBuf,
    /// Continue from the checkpoint beside OUT, if there is one
    #[arg(long)]
    resume: bool,
    /// Replace OUT and the files beside it if they exist, but not the checkpoint of an unfinished
    /// run
    #[arg(long)]
    force: bool,
    /// Start with the weights of this network instead of random ones. A run with king buckets can
    /// also start from a network without them. A state file (.state) of another run of the same
    /// shape also sets the optimiser's moments
    #[arg(long, value_name = "NET")]
    from: Option<PathBuf>,
    /// Also report the error on these positions, which must not come from the training games: a
    /// file that `lancet epd --csv` wrote for one engine
    #[arg(long, value_name = "EXAM.csv")]
    exam: Option<PathBuf>,
    /// Scale the output so that the mean absolute evaluation equals that of this network, usually
    /// the built-in one, because the search's margins are tuned to it
    #[arg(long, value_name = "NET")]
    size_of: Option<PathBuf>,
    /// Settings to start from; the options below override them
    #[arg(long, value_name = "FILE.toml")]
    schedule: Option<PathBuf>,
    /// Hidden neurons per view, a multiple of 32 [default: 256]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(..))]
    hidden: Option<usize>,
    /// Output buckets, chosen by piece count [default: 1]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(..))]
    buckets: Option<usize>,
    /// King buckets: 4, or 1 for none [default: 1]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(..))]
    king_buckets: Option<usize>,
    /// Number of positions to train on, repeats included, such as 500M or 3G [default: 100M]
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    samples: Option<u64>,
    /// Positions per step [default: 16384]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(..))]
    batch: Option<usize>,
    /// Steps in which the learning rate rises from zero, at most a tenth of the run [default: 2000]
    #[arg(long, value_name = "STEPS", value_parser = arguments::whole::<u64>(..))]
    warm_up: Option<u64>,
    /// Decay per step of the moving average (EMA) of the weights, which becomes the network; 0
    /// takes the last weights [default: 0.9995]
    #[arg(long, value_name = "0..1")]
    average: Option<f32>,
    /// Weight of the game's result in the target at the start [default: 0.1]
    #[arg(long, value_name = "0..1")]
    result_first: Option<f32>,
    /// Weight of the game's result in the target at the end [default: 0.1]
    #[arg(long, value_name = "0..1")]
    result_last: Option<f32>,
    /// Weight of the result in positions with at least 26 pieces. --result-first and --result-last
    /// then apply to positions with at most 8. In between, the weight is interpolated [default: the
    /// same for all positions]
    #[arg(long, value_name = "0..1")]
    result_full: Option<f32>,
    /// Learning rate at the start, apart from the warm-up [default: 0.001]
    #[arg(long, value_name = "RATE")]
    rate_first: Option<f32>,
    /// Learning rate of the last step [default: 0.00001]
    #[arg(long, value_name = "RATE")]
    rate_last: Option<f32>,
    /// Advantage in centipawns that multiplies the odds of winning by e [default: fitted to the
    /// results]
    #[arg(long, value_name = "CP")]
    scale: Option<f32>,
    /// Seed of the initial weights and of the order of positions [default: 1]
    #[arg(long, value_name = "S", value_parser = arguments::whole::<u64>(..))]
    seed: Option<u64>,
    /// Threads to train with [default: all cores]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<u32>(1..=1024))]
    threads: Option<u32>,
}

impl Args {
    fn schedule(&self) -> anyhow::Result<Schedule> {
        let read = |path: &PathBuf| -> anyhow::Result<Schedule> {
            let place = || path.display().to_string();
            toml::from_str(&files::read_text(path).with_context(place)?).with_context(place)
        };
        let mut schedule = self.schedule.as_ref().map(read).transpose()?.unwrap_or_default();
        schedule.hidden = self.hidden.unwrap_or(schedule.hidden);
        schedule.buckets = self.buckets.unwrap_or(schedule.buckets);
        schedule.king_buckets = self.king_buckets.unwrap_or(schedule.king_buckets);
        schedule.samples = self.samples.unwrap_or(schedule.samples);
        schedule.batch = self.batch.unwrap_or(schedule.batch);
        schedule.warm_up = self.warm_up.unwrap_or(schedule.warm_up);
        schedule.average = self.average.unwrap_or(schedule.average);
        schedule.seed = self.seed.unwrap_or(schedule.seed);
        let [first, last] = schedule.result_weight;
        schedule.result_weight =
            [self.result_first.unwrap_or(first), self.result_last.unwrap_or(last)];
        schedule.result_full = self.result_full.or(schedule.result_full);
        let [first, last] = schedule.rate;
        schedule.rate = [self.rate_first.unwrap_or(first), self.rate_last.unwrap_or(last)];
        schedule.scale = self.scale.or(schedule.scale);
        schedule.check()?;
        Ok(schedule)
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a setting is out of range, a file cannot be used, there are no positions to train on, or the
/// threads cannot be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !train(args, &stopped_by_ctrl_c())? {
        note("use --resume to continue");
    }
    Ok(ExitCode::SUCCESS)
}

/// Trains until the run is complete (returns true) or `stop` requests an end (returns false).
///
/// # Errors
///
/// The same as for [`run`].
pub(crate) fn train(args: &Args, stop: &Signals) -> anyhow::Result<bool> {
    let mut schedule = args.schedule()?;
    let saved = checkpoint::path(&args.out);
    let [state, toml, csv, svg, lock] =
        ["state", "toml", "csv", "svg", "lock"].map(|kind| checkpoint::beside(&args.out, kind));
    let inputs = [&args.schedule, &args.from, &args.exam, &args.size_of].into_iter().flatten();
    let inputs: Vec<PathBuf> = args.data.iter().chain(inputs).cloned().collect();
    let outputs = [&*args.out, &saved, &state, &toml, &csv, &svg];
    let _lock = LockFile::create(&lock, "another run is training this network")
        .with_context(|| lock.display().to_string())?;
    // A run that was interrupted at its end may already have written its network.
    files::check_outputs(outputs, &inputs, |_| args.force || saved.exists())?;
    ensure!(
        args.resume || !saved.exists(),
        "{}: an unfinished run exists: continue it with --resume, or delete this file",
        saved.display()
    );
    let size_of = args.size_of.as_deref().map(Network::load).transpose()?;
    let data = read_data(args, &mut schedule)?;
    let mut trainer = trainer(args, schedule, &data)?;
    if args.resume && saved.exists() {
        checkpoint::load(&saved, &mut trainer)?;
        note(format_args!("resumed at step {} of {}", trainer.state.step, trainer.steps()));
    }
    if !steps(&mut trainer, &data, &saved, stop)? {
        checkpoint::save(&saved, &trainer)?;
        note(format_args!("stopped at step {} of {}", trainer.state.step, trainer.steps()));
        return Ok(false);
    }
    // Save the complete run first, in case the network cannot be written.
    checkpoint::save(&saved, &trainer)?;
    finish(&mut trainer, &data, &args.out, size_of.as_ref())?;
    std::fs::rename(&saved, &state).with_context(|| state.display().to_string())?;
    Ok(true)
}

/// Reads the training data, and fits the scale if the schedule has none.
fn read_data(args: &Args, schedule: &mut Schedule) -> anyhow::Result<DataSet> {
    let start = Instant::now();
    let exam = args.exam.as_deref().map(Exam::read).transpose()?;
    let data = DataSet { exam, ..DataSet::read(&args.data, schedule)? };
    let fitted = fitted_scale(&data.training);
    match schedule.scale {
        None => note(format_args!("scale fitted to the results: {fitted:.0} centipawns")),
        Some(set) => note(format_args!(
            "scale of the schedule: {set:.0} centipawns (fitted to the results: {fitted:.0})"
        )),
    }
    schedule.scale = schedule.scale.or(Some(fitted as f32));
    note(format_args!(
        "{} training positions, {} duplicates merged, {} validation positions, results of White \
         {}; read in {:.1} s",
        data.training.len(),
        data.duplicates,
        data.validation.len(),
        data.tally,
        start.elapsed().as_secs_f64()
    ));
    if data.training.is_empty() {
        bail!("no positions to train on: the files are empty, or the filter drops every position");
    }
    Ok(data)
}

/// Creates a trainer that has made no step yet.
fn trainer(args: &Args, schedule: Schedule, data: &DataSet) -> anyhow::Result<Trainer> {
    let state = args.from.as_deref().filter(|path| checkpoint::is_checkpoint(path));
    let network = args.from.as_deref().filter(|_| state.is_none());
    let network = network.map(Network::load).transpose()?;
    let run = TrainingRun {
        lancet: env!("CARGO_PKG_VERSION").to_owned(),
        build: VERSION.to_owned(),
        threads: thread_count(args.threads) as usize,
        schedule,
        from: network.as_ref().map(Network::name),
        sources: data.sources.clone(),
    };
    let mut trainer = Trainer::new(run, data.training.len())?;
    if let Some(network) = &network {
        trainer.start_from(network).context("--from")?;
    }
    if let Some(path) = state {
        checkpoint::begin_with(path, &mut trainer)?;
    }
    Ok(trainer)
}

/// Runs the remaining steps. Returns false if `stop` requested an end before the last one.
fn steps(
    trainer: &mut Trainer,
    data: &DataSet,
    saved: &Path,
    stop: &Signals,
) -> anyhow::Result<bool> {
    let bar = progress_bar(trainer.steps());
    let every = trainer.steps().div_ceil(POINTS);
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
        let eta = HumanDuration(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
        if trainer.state.step.is_multiple_of(every) || trainer.is_finished() {
            let Point { step, positions, training, validation, exam, .. } = trainer.report(data);
            shown = format!("loss {training:.6}");
            for (name, value) in [("validation", validation), ("exam", exam)] {
                shown += &value.map(|value| format!(" {name} {value:.6}")).unwrap_or_default();
            }
            if bar.is_hidden() {
                let passes = positions as f64 / data.training.len() as f64;
                note(format_args!(
                    "step {step} passes {passes:.2} {shown} {speed:.0} positions/s ETA {eta}"
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

/// Record of the training run that is stored in the network.
#[derive(Serialize)]
struct Provenance<'a> {
    training_loss: Option<f64>,
    validation_loss: Option<f64>,
    exam_error: Option<f64>,
    positions: usize,
    duplicates: usize,
    output_factor: f32,
    #[serde(flatten)]
    run: &'a TrainingRun,
}

/// Writes the network, its schedule and its loss curves.
fn finish(
    trainer: &mut Trainer,
    data: &DataSet,
    out: &Path,
    size_of: Option<&Network>,
) -> anyhow::Result<()> {
    let samples = compared(data);
    let output_factor = size_of.map_or(1.0, |network| same_size(trainer, network, &samples));
    let parameters = trainer.layout().scaled(&trainer.average, output_factor);
    let last = trainer.state.history.last();
    let provenance = toml::to_string(&Provenance {
        training_loss: last.map(|point| point.training),
        validation_loss: last.and_then(|point| point.validation),
        exam_error: last.and_then(|point| point.exam),
        positions: data.training.len(),
        duplicates: data.duplicates,
        output_factor,
        run: &trainer.run,
    })?;
    let network = trainer.layout().quantise(&parameters, &provenance)?;
    compare(trainer.layout(), &parameters, &network, &samples)?;
    if let Some(reference) = size_of {
        let ratio = mean_size(&network, &samples) / mean_size(reference, &samples);
        note(format_args!(
            "output scaled by {output_factor:.3}: evaluations are on average {ratio:.3} times as \
             large as those of {}",
            reference.name()
        ));
    }
    replace(out, network.to_bytes())?;
    let schedule = toml::to_string(&trainer.run.schedule)?;
    replace(&checkpoint::beside(out, "toml"), schedule)?;
    let history = &trainer.state.history;
    replace(&checkpoint::beside(out, "csv"), curves::csv(history))?;
    replace(&checkpoint::beside(out, "svg"), curves::svg(history, &network.name())?)?;
    note(format_args!("{}: {}", out.display(), network.name()));
    Ok(())
}

/// Returns the positions on which networks are compared: validation positions at equal distances,
/// because they are sorted by board. Without validation data, training positions.
fn compared(data: &DataSet) -> Vec<Sample> {
    let all = if data.validation.is_empty() { &data.training } else { &data.validation };
    all.iter().step_by(all.len().div_ceil(COMPARED).max(1)).copied().collect()
}

/// Returns the factor that makes the trained evaluations on average as large as `network`'s. Output
/// weights at their limit cannot grow, so a factor above 1 may not be reached.
fn same_size(trainer: &mut Trainer, network: &Network, samples: &[Sample]) -> f32 {
    let outputs = trainer.outputs(samples).into_iter();
    let own: f64 = outputs.map(|(output, _)| f64::from(output.abs())).sum();
    let own = own / samples.len() as f64 * f64::from(SCALE);
    (mean_size(network, samples) / own.max(f64::MIN_POSITIVE)) as f32
}

/// Returns the mean absolute evaluation of at least one position, in centipawns.
fn mean_size(network: &Network, samples: &[Sample]) -> f64 {
    let sum: f64 = model::evaluations(network, samples).map(|score| f64::from(score.abs())).sum();
    sum / samples.len() as f64
}

/// Compares the network with the trained model, which also uses rounded weights but computes in
/// floating point.
///
/// # Errors
///
/// If they differ by more than [`TOLERANCE`] on a position.
fn compare(
    layout: Layout,
    parameters: &[f32x8],
    network: &Network,
    samples: &[Sample],
) -> anyhow::Result<()> {
    let outputs = model::outputs(layout, &RoundedModel::new(layout, parameters), samples);
    let (mean, worst) = model::disagreement(outputs, network, samples);
    note(format_args!(
        "network against model on {} positions: mean difference {mean:.2} cp, largest {worst:.2} cp",
        samples.len()
    ));
    ensure!(
        worst <= TOLERANCE,
        "the network differs from the model by up to {worst:.2} cp, expected at most \
         {TOLERANCE} cp: not written"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::model::tests::samples, *};

    /// The first validation positions are endings, because they are sorted by board.
    #[test]
    fn networks_are_compared_on_positions_of_all_kinds() {
        let all = samples(30_001, 1);
        let chosen = compared(&DataSet { validation: all.clone(), ..DataSet::default() });
        assert_eq!(chosen.len(), 7501);
        assert!(chosen[0] == all[0] && chosen[7500] == all[30_000]);
        let few = DataSet { training: samples(30, 2), ..DataSet::default() };
        assert!(compared(&few) == samples(30, 2));
    }

    /// A network that does not have the model's parameters is refused.
    #[test]
    fn another_network_is_refused() {
        let layout = Layout { king_buckets: 1, hidden: 32, buckets: 2 };
        let [one, other] = [1, 2].map(|seed| layout.initial(seed, 0.15));
        let network = layout.quantise(&one, "").unwrap();
        let samples = samples(100, 1);
        assert!(compare(layout, &one, &network, &samples).is_ok());
        let error = compare(layout, &other, &network, &samples).unwrap_err().to_string();
        assert!(error.ends_with("not written"), "{error}");
    }
}
