//! Training steps on several threads, and the state from which a run can be resumed.
//!
//! The same schedule, data and number of threads give the same network, if the build and the system
//! are also the same. Other builds may round differently.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder, prelude::*};
use serde::{Deserialize, Serialize};
use wide::f32x8;

use super::{
    layout::{Layout, RoundedModel, clip_sums},
    loader::{DataFile, DataSet},
    model::{CHUNK, Worker},
    optimiser::{Moments, Step},
    sample::{Sample, Shuffle},
    schedule::Schedule,
};
use lancet::eval::nnue::{Network, network::SCALE};

/// Number of registers that a thread updates at a time.
const PART: usize = 1 << 10;

/// A point of the loss curves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    /// Steps done.
    pub step: u64,
    /// Positions trained on, repeats included.
    pub positions: u64,
    /// Learning rate of the last step.
    pub rate: f32,
    /// Weight of the game's result in the last step.
    pub result_weight: f32,
    /// Mean loss of the steps since the last point.
    pub training: f64,
    /// Mean loss over the validation positions, if there are any.
    pub validation: Option<f64>,
    /// Error on the exam, in winning probability, if there is one.
    pub exam: Option<f64>,
}

/// Everything that determines a run, except for its progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRun {
    /// Version of Lancet.
    pub lancet: String,
    /// Build that began the run or last resumed it: commit and processor.
    pub build: String,
    /// Number of threads. The order of floating-point sums depends on it.
    pub threads: usize,
    /// Start of the run: a network, the state of another run, or `None` for random weights.
    pub from: Option<String>,
    /// Settings of the run.
    pub schedule: Schedule,
    /// Files of training data.
    pub sources: Vec<DataFile>,
}

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// Steps done.
    pub step: u64,
    /// Number of updates of the optimiser's moments, including those of an earlier run if this run
    /// started with its moments.
    pub updates: u64,
    /// Sum of the mean losses of the steps since the last point.
    pub loss: f64,
    /// Steps since the last point.
    pub loss_steps: u64,
    /// The loss curves.
    pub history: Vec<Point>,
}

/// A training run in progress.
#[derive(Debug)]
pub struct Trainer {
    /// Description of the run.
    pub(crate) run: TrainingRun,
    /// Progress.
    pub(crate) state: State,
    /// Parameters of the model, not rounded.
    pub(crate) parameters: Vec<f32x8>,
    /// Moving average of the parameters, which becomes the network.
    pub(crate) average: Vec<f32x8>,
    /// The parameters, rounded.
    rounded: RoundedModel,
    /// Moments of the optimiser.
    pub(crate) moments: Moments,
    layout: Layout,
    workers: Vec<Worker>,
    pool: ThreadPool,
    /// Number of training positions.
    length: usize,
    /// Positions per step.
    batch: usize,
}

impl Trainer {
    /// Creates a run over `length` positions. No step has been made yet.
    ///
    /// # Errors
    ///
    /// If the threads cannot be started.
    pub fn new(run: TrainingRun, length: usize) -> Result<Trainer, ThreadPoolBuildError> {
        let schedule = &run.schedule;
        let layout = schedule.layout();
        let threads = run.threads.max(1);
        let parameters = layout.initial(schedule.seed, schedule.initial);
        Ok(Trainer {
            rounded: RoundedModel::new(layout, &parameters),
            average: parameters.clone(),
            parameters,
            moments: Moments::new(layout.len()),
            state: State::default(),
            layout,
            workers: (0..threads).map(|_| Worker::new(layout)).collect(),
            pool: ThreadPoolBuilder::new().num_threads(threads).build()?,
            length,
            batch: schedule.batch.min(length).max(1),
            run,
        })
    }

    /// Starts with the weights of a network. A run with king buckets also accepts a network without
    /// them.
    ///
    /// # Errors
    ///
    /// If the network has another shape.
    pub(crate) fn start_from(&mut self, network: &Network) -> anyhow::Result<()> {
        self.parameters = self.layout.dequantise(network)?;
        self.average.clone_from(&self.parameters);
        self.round();
        Ok(())
    }

    /// Rounds the parameters after a change.
    pub(crate) fn round(&mut self) {
        self.pool.install(|| self.rounded.round(self.layout, &self.parameters));
    }

    /// Returns the layout of the model.
    pub(crate) const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the number of steps of a pass over the data.
    fn steps_per_pass(&self) -> u64 {
        (self.length / self.batch).max(1) as u64
    }

    /// Returns the number of steps of the whole run.
    pub(crate) const fn steps(&self) -> u64 {
        self.run.schedule.samples.div_ceil(self.batch as u64)
    }

    /// Returns the number of positions of a step.
    pub const fn batch(&self) -> usize {
        self.batch
    }

    /// Returns whether the run is complete.
    pub(crate) fn is_finished(&self) -> bool {
        self.state.step >= self.steps()
    }

    /// Performs one step. Returns its mean loss.
    pub fn step(&mut self, training: &[Sample]) -> f64 {
        let step = self.state.step;
        let steps = self.steps();
        let schedule = &self.run.schedule;
        let objective = schedule.objective_at(step, steps);
        let pass = step / self.steps_per_pass();
        let start = (step % self.steps_per_pass()) as usize * self.batch;
        let order = Shuffle::new(training.len(), schedule.seed, pass);
        let (model, batch, threads) = (&self.rounded, self.batch, self.workers.len());

        let workers = &mut self.workers;
        let learn = |(number, worker): (usize, &mut Worker)| {
            worker.clear();
            let share = number * batch / threads..(number + 1) * batch / threads;
            let (mut places, mut samples) = (Vec::new(), Vec::new());
            for from in share.clone().step_by(CHUNK) {
                let chunk = from..(from + CHUNK).min(share.end);
                // Compute all indices first, so that the loads from memory overlap.
                places.clear();
                places.extend(chunk.map(|i| order.get(start + i)));
                samples.clear();
                samples.extend(places.iter().map(|&place| training[place]));
                worker.learn(model, &samples, objective);
            }
        };
        self.pool.install(|| workers.par_iter_mut().enumerate().for_each(learn));

        let update = Step {
            number: self.state.updates + 1,
            rate: schedule.rate_at(step, steps),
            decay: schedule.decay,
            betas: schedule.betas,
            scale: 1.0 / batch as f32,
        };
        let keep = f32x8::splat(schedule.average_at(step));
        self.update(&update);
        let average = self.average.par_chunks_mut(PART).zip(self.parameters.par_chunks(PART));
        self.pool.install(|| {
            average.for_each(|(average, parameters)| {
                for (mean, &number) in average.iter_mut().zip(parameters) {
                    *mean = number + (*mean - number) * keep;
                }
            });
        });
        self.round();
        let loss = self.workers.iter().map(|worker| worker.loss).sum::<f64>() / batch as f64;
        self.state.step += 1;
        self.state.updates += 1;
        self.state.loss += loss;
        self.state.loss_steps += 1;
        loss
    }

    fn update(&mut self, step: &Step) {
        let workers = &self.workers;
        let gradients = |from: usize, length: usize| -> Vec<&[f32x8]> {
            workers.iter().map(|worker| &worker.gradient[from..from + length]).collect()
        };
        let [(weights, limit), rest @ ..] = self.layout.limits();
        let (inputs, tile) = (4 * self.layout.inputs(), 4 * self.layout.rows());
        // An effective weight is the sum of a bucket's own weight and the factoriser's. If both
        // learned at the full rate, it would move twice as far as a weight without a factoriser.
        let buckets = self.layout.king_buckets;
        let own = Step { rate: step.rate * if buckets > 1 { 0.5 } else { 1.0 }, ..*step };
        let tiles = self.parameters[weights.clone()]
            .par_chunks_mut(tile)
            .zip(self.moments.first[weights.clone()].par_chunks_mut(tile))
            .zip(self.moments.second[weights].par_chunks_mut(tile));
        self.pool.install(|| {
            tiles.enumerate().for_each(|(number, ((parameters, first), second))| {
                // The workers have gradients of the buckets' rows only.
                let gradients = gradients(number * tile, inputs);
                let (rows, factors) = parameters.split_at_mut(inputs);
                let (first_rows, first_factors) = first.split_at_mut(inputs);
                let (second_rows, second_factors) = second.split_at_mut(inputs);
                own.apply(rows, first_rows, second_rows, &gradients, limit);
                if !factors.is_empty() {
                    // All buckets share the factoriser, so its gradient is the sum of theirs.
                    let length = factors.len();
                    let gradients: Vec<&[f32x8]> =
                        gradients.iter().flat_map(|all| all.chunks_exact(length)).collect();
                    step.apply(factors, first_factors, second_factors, &gradients, limit);
                    clip_sums(rows, factors);
                }
            });
        });
        for (layer, limit) in rest {
            let parts = self.parameters[layer.clone()]
                .par_chunks_mut(PART)
                .zip(self.moments.first[layer.clone()].par_chunks_mut(PART))
                .zip(self.moments.second[layer.clone()].par_chunks_mut(PART));
            self.pool.install(|| {
                parts.enumerate().for_each(|(part, ((parameters, first), second))| {
                    let gradients = gradients(layer.start + part * PART, parameters.len());
                    step.apply(parameters, first, second, &gradients, limit);
                });
            });
        }
    }

    /// Returns the outputs for `samples` with the moving average of the weights, in units of 400
    /// centipawns, each with the factor by which the search multiplies it.
    pub(crate) fn outputs(&mut self, samples: &[Sample]) -> Vec<(f32, f32)> {
        let model = RoundedModel::new(self.layout, &self.average);
        let share = samples.len().div_ceil(self.workers.len()).max(1);
        let workers = self.workers.par_iter_mut().zip(samples.par_chunks(share));
        let answer = |(worker, samples): (&mut Worker, &[Sample])| -> Vec<(f32, f32)> {
            let chunks = samples.chunks(CHUNK);
            chunks.flat_map(|chunk| worker.weighted_outputs(&model, chunk)).collect()
        };
        self.pool.install(|| workers.flat_map_iter(answer).collect())
    }

    /// Returns the evaluations that the search would use for `samples`, in centipawns.
    fn scores(&mut self, samples: &[Sample]) -> Vec<f64> {
        let outputs = self.outputs(samples).into_iter();
        outputs.map(|(output, weight)| f64::from(output * weight) * f64::from(SCALE)).collect()
    }

    /// Returns the mean loss of the averaged model over `samples`, with the objective of the last
    /// step, or `None` without samples.
    fn validate(&mut self, samples: &[Sample]) -> Option<f64> {
        if samples.is_empty() {
            return None;
        }
        let last = self.state.step.saturating_sub(1);
        let objective = self.run.schedule.objective_at(last, self.steps());
        let outputs = self.outputs(samples);
        let losses = outputs
            .iter()
            .zip(samples)
            .map(|(&(output, weight), sample)| f64::from(objective.loss(output, sample, weight).0));
        Some(losses.sum::<f64>() / samples.len() as f64)
    }

    /// Adds a point to the loss curves and returns it.
    pub(crate) fn report(&mut self, data: &DataSet) -> Point {
        let validation = self.validate(&data.validation);
        let exam = data.exam.as_ref().map(|exam| exam.grade(&self.scores(exam.samples())).error);
        let (last, steps) = (self.state.step.saturating_sub(1), self.steps());
        let point = Point {
            step: self.state.step,
            positions: self.state.step * self.batch as u64,
            rate: self.run.schedule.rate_at(last, steps),
            result_weight: self.run.schedule.objective_at(last, steps).result_weight,
            training: self.state.loss / self.state.loss_steps.max(1) as f64,
            validation,
            exam,
        };
        self.state.loss = 0.0;
        self.state.loss_steps = 0;
        self.state.history.push(point);
        point
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{checkpoint, model::tests::samples},
        *,
    };
    use lancet::{eval, system::version::VERSION};

    fn data() -> DataSet {
        DataSet { training: samples(3000, 1), validation: samples(500, 2), ..DataSet::default() }
    }

    fn schedule(seed: u64) -> Schedule {
        Schedule {
            hidden: 32,
            batch: 700,
            samples: 20 * 700,
            seed,
            warm_up: 0,
            average: 0.0,
            scale: Some(400.0),
            rate: [1e-2, 1e-3],
            result_weight: [0.0; 2],
            ..Schedule::default()
        }
    }

    fn trainer(threads: usize, seed: u64) -> Trainer {
        trainer_by(threads, schedule(seed))
    }

    fn trainer_by(threads: usize, schedule: Schedule) -> Trainer {
        let run = TrainingRun {
            lancet: "test".to_owned(),
            build: VERSION.to_owned(),
            threads,
            from: None,
            schedule,
            sources: Vec::new(),
        };
        Trainer::new(run, 3000).unwrap()
    }

    fn network(trainer: &Trainer) -> Network {
        trainer.layout().quantise(&trainer.parameters, "").unwrap()
    }

    fn train(trainer: &mut Trainer, data: &DataSet, steps: u64) {
        for _ in 0..steps {
            trainer.step(&data.training);
            if trainer.state.step.is_multiple_of(3) {
                trainer.report(data);
            }
        }
    }

    #[test]
    fn same_seed_same_network() {
        let data = data();
        let [mut a, mut b, mut other] = [trainer(2, 1), trainer(2, 1), trainer(2, 7)];
        assert_eq!(a.steps(), 20);
        for trainer in [&mut a, &mut b, &mut other] {
            train(trainer, &data, 20);
            assert!(trainer.is_finished());
        }
        assert_eq!(a.parameters, b.parameters);
        assert!(network(&a) == network(&b));
        assert!(network(&a) != network(&other));
        let [first, .., last] = &a.state.history[..] else { panic!() };
        assert!(last.training < 0.5 * first.training, "{first:?} {last:?}");
        assert!(last.validation.unwrap() < first.validation.unwrap(), "{first:?} {last:?}");
        // Without validation positions there is no validation loss.
        assert_eq!(a.report(&DataSet::default()).validation, None);
    }

    /// A second run can start with the network of the first.
    #[test]
    fn a_network_can_be_trained_on() {
        let data = data();
        let mut first = trainer(1, 1);
        train(&mut first, &data, 20);
        let begun = network(&first);
        let mut second = trainer(1, 2);
        second.start_from(&begun).unwrap();
        assert!(network(&second) == begun);
        let other = eval::default_network();
        let error = second.start_from(&other).unwrap_err().to_string();
        let wanted = "expected a network of 32 hidden neurons, 1 output bucket, 1 king bucket";
        assert!(error.ends_with(wanted), "{error}");
    }

    /// Training changes both the factoriser and the buckets' own weights. Their sums stay within
    /// the limits of the network's arithmetic.
    #[test]
    fn king_buckets_learn() {
        let data = data();
        let schedule = Schedule { king_buckets: 4, rate: [0.2, 0.1], ..schedule(1) };
        let mut trainer = trainer_by(2, schedule);
        let begun = trainer.parameters.clone();
        train(&mut trainer, &data, 20);
        let tile = 4 * trainer.layout.inputs();
        let (rows, factors) = trainer.parameters[..trainer.layout.biases()].split_at(tile);
        assert!(begun[..tile].iter().all(|&row| row == f32x8::ZERO));
        assert!(rows.iter().filter(|&&row| row != f32x8::ZERO).count() > tile / 4);
        assert_ne!(factors, &begun[tile..trainer.layout.biases()]);
        let largest = trainer.rounded.weights(0).iter().flat_map(|row| row.to_array()).max();
        assert_eq!(largest, Some(505));
        assert!(trainer.layout.quantise(&trainer.parameters, "").is_ok());
    }

    /// The buckets' own weights learn at half the rate of the factoriser and of the other layers.
    #[test]
    fn king_buckets_learn_at_half_the_rate() {
        let schedule = Schedule { king_buckets: 4, rate: [0.01; 2], decay: 0.0, ..schedule(1) };
        let mut trainer = trainer_by(1, schedule);
        let begun = trainer.parameters.clone();
        trainer.step(&data().training);
        let tile = 4 * trainer.layout().inputs();
        let moved = |range: std::ops::Range<usize>| {
            let pairs = trainer.parameters[range.clone()].iter().zip(&begun[range]);
            pairs.flat_map(|(&now, &then)| (now - then).abs().to_array()).fold(0.0, f32::max)
        };
        // The first step of Adam moves each weight with a gradient by the rate.
        let [own, shared] = [moved(0..tile), moved(tile..trainer.layout().biases())];
        assert!((own - 0.005).abs() < 1e-4 && (shared - 0.01).abs() < 1e-4, "{own} {shared}");
    }

    /// The network is the moving average of the weights.
    #[test]
    fn the_mean_of_the_weights_is_kept() {
        let data = data();
        let mut last = trainer(2, 1);
        let mut mean = trainer_by(2, Schedule { average: 0.9, ..schedule(1) });
        let mut expected = mean.parameters.clone();
        for step in 0..20 {
            train(&mut mean, &data, 1);
            train(&mut last, &data, 1);
            let keep = f32x8::splat(mean.run.schedule.average_at(step));
            for (mean, &number) in expected.iter_mut().zip(&last.parameters) {
                *mean = number + (*mean - number) * keep;
            }
        }
        // The average does not affect training.
        assert_eq!(mean.parameters, last.parameters);
        assert_eq!(last.average, last.parameters);
        assert_eq!(mean.average, expected);
        assert_ne!(mean.average, mean.parameters);
        let [mean, last] =
            [&mut mean, &mut last].map(|trainer| trainer.validate(&data.validation).unwrap());
        assert!((mean - last).abs() < 0.1 * last && mean != last, "{mean} {last}");
    }

    /// Another run can start with the weights, their average and the moments.
    #[test]
    fn a_run_begins_with_the_state_of_another() {
        let data = data();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net.checkpoint");
        let mut first = trainer_by(1, Schedule { average: 0.9, ..schedule(1) });
        train(&mut first, &data, 12);
        checkpoint::save(&path, &first).unwrap();
        let mut second = trainer_by(1, Schedule { rate: [1e-4; 2], ..schedule(5) });
        checkpoint::begin_with(&path, &mut second).unwrap();
        assert_eq!((second.state.step, second.state.updates), (0, 12));
        let bytes = std::fs::read(&path).unwrap();
        let sum = u32::from_le_bytes(*bytes.last_chunk().unwrap());
        let from = format!("net.checkpoint (CRC-32 {sum:08x})");
        assert_eq!(second.run.from, Some(from));
        assert_eq!((&second.parameters, &second.moments), (&first.parameters, &first.moments));
        assert_eq!(second.average, first.average);
        assert_ne!(second.average, second.parameters);
        let before = second.validate(&data.validation).unwrap();
        train(&mut second, &data, 5);
        assert_eq!((second.state.step, second.state.updates), (5, 17));
        assert!(second.validate(&data.validation).unwrap() < 1.1 * before);
        let mut other = trainer_by(1, Schedule { hidden: 64, ..schedule(5) });
        let error = checkpoint::begin_with(&path, &mut other).unwrap_err().to_string();
        assert!(error.contains("a network of 32 hidden neurons"), "{error}");
    }

    /// An interrupted and resumed run ends like one that was not interrupted.
    #[test]
    fn resuming_is_exact() {
        let data = data();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net.checkpoint");
        let trainer =
            |threads, seed| trainer_by(threads, Schedule { average: 0.9, ..schedule(seed) });
        let mut whole = trainer(2, 1);
        train(&mut whole, &data, 20);
        let mut begun = trainer(2, 1);
        train(&mut begun, &data, 8);
        checkpoint::save(&path, &begun).unwrap();
        let mut resumed = trainer(2, 1);
        checkpoint::load(&path, &mut resumed).unwrap();
        assert_eq!(resumed.state, begun.state);
        train(&mut resumed, &data, 12);
        assert_eq!(resumed.parameters, whole.parameters);
        assert_eq!(resumed.average, whole.average);
        assert_ne!(resumed.average, resumed.parameters);
        assert_eq!(resumed.moments, whole.moments);
        assert_eq!(resumed.state, whole.state);

        // A run that another build began can be resumed.
        begun.run.build = "another".to_owned();
        checkpoint::save(&path, &begun).unwrap();
        checkpoint::load(&path, &mut resumed).unwrap();
        assert_eq!(resumed.state, begun.state);
        assert_eq!(resumed.run.build, VERSION);

        // The checkpoint of another run and a damaged one are refused.
        let error = format!("{:#}", checkpoint::load(&path, &mut trainer(2, 3)).unwrap_err());
        assert!(error.contains("seed = 1") && error.contains("seed = 3"), "{error}");
        let bytes = std::fs::read(&path).unwrap();
        for length in [0, 7, 12, 40, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(checkpoint::load(&path, &mut trainer(2, 1)).is_err(), "{length}");
        }
        let mut refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            format!("{:#}", checkpoint::load(&path, &mut resumed).unwrap_err())
        };
        for bit in (0..128).chain((0..8 * bytes.len()).step_by(bytes.len() / 10 + 1)) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let error = refused(&flipped);
            assert!(error.contains("checksum is wrong") || bit < 64, "{bit}: {error}");
        }
    }
}
