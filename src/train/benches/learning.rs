//! `cargo bench -p lancet-train`: time per update and per evaluation of networks, and positions per
//! second of the trainer.

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use lancet::{
    chess::position::Position,
    eval::{
        nnue::{Accumulators, Network, features::INPUTS, network::Parameters, simd},
        psqt,
    },
};
use lancet_train::{
    format::GameResult,
    sample::Sample,
    schedule::Schedule,
    trainer::{Trainer, TrainingRun},
};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Hidden neurons per view; the built-in network has 512.
const WIDTHS: [usize; 6] = [64, 128, 256, 512, 768, 1024];
/// Number of positions of a benchmark.
const POSITIONS: usize = 1000;
/// Number of entries of the accumulator stack that the positions use in turn.
const PLIES: usize = 64;

fn main() {
    println!("arithmetic: {}", simd::name());
    divan::main();
}

/// Returns positions of random games, each one move after the previous one.
fn positions(count: usize) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut position = Position::default();
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || position.halfmoves() > 60 {
            position = Position::default();
            continue;
        }
        position = position.play(moves[rng.random_range(0..moves.len())]);
        positions.push(position.clone());
    }
    positions
}

fn network(hidden: usize) -> Arc<Network> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut numbers = |count: usize, range: i16| -> Vec<i16> {
        (0..count).map(|_| rng.random_range(-range..=range)).collect()
    };
    let parameters = Parameters {
        weights: numbers(INPUTS * hidden, 100),
        biases: numbers(hidden, 100),
        output_weights: numbers(2 * hidden * 8, 30),
        output_biases: vec![0; 8],
        output_unit: 64,
    };
    Arc::new(Network::new(&parameters, "random").expect("numbers within range"))
}

/// Benchmarks `work` on a sequence of positions, each one move after the one before, and their
/// plies. Only one position in `PLIES`, and the first of each game, has no predecessor in the
/// accumulators. The median is therefore the time of one move.
fn one_by_one(bencher: Bencher, mut work: impl FnMut(&Position, usize)) {
    let positions = positions(POSITIONS);
    let mut next = 0;
    bencher.bench_local(|| {
        work(&positions[next], next % PLIES + 1);
        next = (next + 1) % POSITIONS;
    });
}

/// Material and piece-square tables, for comparison.
#[divan::bench]
fn psqt(bencher: Bencher) {
    one_by_one(bencher, |position, _| {
        divan::black_box(psqt::evaluate(position));
    });
}

/// The hidden layer of both views after a move.
#[divan::bench(args = WIDTHS)]
fn update_after_a_move(bencher: Bencher, hidden: usize) {
    let mut accumulators = Accumulators::new(network(hidden));
    one_by_one(bencher, |position, ply| {
        accumulators.update(position.board(), ply);
        divan::black_box(&accumulators);
    });
}

/// An update by one move and the output layer.
#[divan::bench(args = WIDTHS)]
fn evaluate_after_a_move(bencher: Bencher, hidden: usize) {
    let mut accumulators = Accumulators::new(network(hidden));
    one_by_one(bencher, |position, ply| {
        divan::black_box(accumulators.evaluate(position, ply));
    });
}

/// The output layer alone: the accumulators already have the position.
#[divan::bench(args = WIDTHS)]
fn evaluate_again(bencher: Bencher, hidden: usize) {
    let mut accumulators = Accumulators::new(network(hidden));
    let position = Position::default();
    bencher.bench_local(|| accumulators.evaluate(divan::black_box(&position), 0));
}

/// The hidden layer of both views from scratch, and the output layer.
#[divan::bench(args = WIDTHS)]
fn evaluate_from_scratch(bencher: Bencher, hidden: usize) {
    let network = network(hidden);
    one_by_one(bencher, |position, _| {
        divan::black_box(network.evaluate(position.board(), position.turn()));
    });
}

/// One training step of a batch on all cores.
#[divan::bench(args = WIDTHS, sample_count = 20)]
fn train(bencher: Bencher, hidden: usize) {
    let samples: Vec<Sample> = positions(100_000)
        .iter()
        .map(|position| Sample::new(position.chess(), 30, GameResult::WhiteWins))
        .collect();
    let run = TrainingRun {
        lancet: String::new(),
        build: String::new(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        from: None,
        schedule: Schedule { hidden, samples: 1 << 40, ..Schedule::default() },
        sources: Vec::new(),
    };
    let mut trainer = Trainer::new(run, samples.len()).expect("threads");
    bencher
        .counter(ItemsCount::new(trainer.batch()))
        .bench_local(|| divan::black_box(trainer.step(&samples)));
}
