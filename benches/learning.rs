//! `cargo bench`: nanoseconds per network update and evaluation, positions per
//! second of the trainer.

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use lancet::{
    eval::nnue::{Accumulators, Network, features::INPUTS, network::Parameters, simd},
    position::Position,
    train::{
        format::GameResult,
        sample::Sample,
        schedule::Schedule,
        trainer::{Run, Trainer},
    },
};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

fn main() {
    println!("arithmetic: {}", simd::name());
    divan::main();
}

/// Positions of random games, each a move after the one before.
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

/// An update by one move and the output layer.
#[divan::bench(args = [64, 256, 512])]
fn evaluate_after_a_move(bencher: Bencher, hidden: usize) {
    let positions = positions(1000);
    let mut accumulators = Accumulators::new(network(hidden));
    bencher.counter(ItemsCount::new(positions.len())).bench_local(|| {
        for (ply, position) in positions.iter().enumerate() {
            divan::black_box(accumulators.evaluate(position, ply % 64 + 1));
        }
    });
}

/// The output layer alone: the position is already there.
#[divan::bench(args = [64, 256, 512])]
fn evaluate_again(bencher: Bencher, hidden: usize) {
    let positions = positions(1000);
    let mut accumulators = Accumulators::new(network(hidden));
    for (ply, position) in positions.iter().enumerate() {
        accumulators.evaluate(position, ply);
    }
    bencher.counter(ItemsCount::new(positions.len())).bench_local(|| {
        for (ply, position) in positions.iter().enumerate() {
            divan::black_box(accumulators.evaluate(position, ply));
        }
    });
}

/// Both hidden layers from scratch.
#[divan::bench(args = [64, 256, 512])]
fn evaluate_from_scratch(bencher: Bencher, hidden: usize) {
    let positions = positions(1000);
    let network = network(hidden);
    bencher.counter(ItemsCount::new(positions.len())).bench_local(|| {
        for position in &positions {
            divan::black_box(network.evaluate(position.board(), position.turn()));
        }
    });
}

/// One training step of 16384 positions on all cores.
#[divan::bench(args = [64, 256, 512], sample_count = 20)]
fn train(bencher: Bencher, hidden: usize) {
    let samples: Vec<Sample> = positions(100_000)
        .iter()
        .map(|position| Sample::new(position.chess(), 30, GameResult::WhiteWins))
        .collect();
    let run = Run {
        lancet: String::new(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        schedule: Schedule { hidden, passes: 1000, ..Schedule::default() },
        sources: Vec::new(),
    };
    let mut trainer = Trainer::new(run, samples.len()).expect("threads");
    bencher
        .counter(ItemsCount::new(trainer.batch()))
        .bench_local(|| divan::black_box(trainer.step(&samples)));
}
