//! Times the `position` command of a long game: once when it adds two moves to the previous
//! command, and once when all its moves are new. Run it with `cargo bench --bench position`.

use divan::Bencher;
use lancet::{
    chess::{notation::move_text, position::Game},
    uci::{
        UciMessage,
        command::{self, Command},
        setup::Setup,
    },
};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use shakmaty::CastlingMode;

fn main() {
    divan::main();
}

/// Returns a `position` command with `moves` random moves of each side.
fn line(moves: usize) -> String {
    let mut seed = 0;
    loop {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut game, mut line) = (Game::default(), "position startpos moves".to_owned());
        for ply in 0..=2 * moves {
            if ply == 2 * moves {
                return line;
            }
            let legal = game.position().legal_moves();
            if legal.is_empty() {
                break;
            }
            let m = legal[rng.random_range(0..legal.len())];
            line = format!("{line} {}", move_text(m, CastlingMode::Standard));
            game.play(m);
        }
        seed += 1;
    }
}

fn apply(setup: &mut Setup, line: &str) {
    match command::parse(line.as_bytes()) {
        Ok(Some(Command::Message(UciMessage::Position { fen, moves, .. }, extension))) => {
            setup.apply(fen, moves, &extension.moves, Some(CastlingMode::Standard)).unwrap();
        }
        other => panic!("{other:?}"),
    }
}

/// Parses and applies the command, as the reading thread does.
#[divan::bench(args = [60, 600])]
fn two_moves_more(bencher: Bencher, moves: usize) {
    let long = line(moves);
    let (short, _) = long.rsplit_once(' ').unwrap();
    let (short, _) = short.rsplit_once(' ').unwrap();
    let mut before = Setup::default();
    apply(&mut before, short);
    bencher.with_inputs(|| before.clone()).bench_values(|mut setup| {
        apply(&mut setup, &long);
        setup
    });
}

#[divan::bench(args = [60, 600])]
fn all_moves(bencher: Bencher, moves: usize) {
    let long = line(moves);
    bencher.bench(|| {
        let mut setup = Setup::default();
        apply(&mut setup, &long);
        setup
    });
}
