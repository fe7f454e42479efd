//! Evaluates the positions of a game: several engines side by side, from the
//! last position to the first, so that what comes later is known already.

use std::{
    io,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use shakmaty::Move;

use crate::{
    chess::{
        notation,
        position::{Game, Position},
        score::Score,
    },
    engine::{Engine, Job, threads},
    play::report::{Limits, Silent},
    system::sync::{lock, unpoisoned},
    tools::interrupt::Interrupt,
};

/// What the engine thinks of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// From White's point of view.
    pub white: Score,
    /// The best line; empty where the game is over.
    pub line: Vec<Move>,
}

/// The positions of a game, first to last. Where no move is given, the side to move
/// passes; it must not be in check.
#[must_use]
pub fn positions(start: &Position, moves: &[Option<Move>]) -> Vec<Game> {
    let mut game = Game::from(start.clone());
    let mut positions = vec![game.clone()];
    for &m in moves {
        match m {
            Some(m) => game.play(m),
            None => game = game.position().play_null().map_or(game, Game::from),
        }
        positions.push(game.clone());
    }
    positions
}

/// Evaluates all positions; `None` if interrupted. `tick` is told the number of
/// positions done, from any thread. With one engine and a limit of nodes the
/// result is the same every time.
///
/// # Errors
///
/// If the system gives no thread.
pub fn evaluate(
    engines: &mut [Engine],
    positions: &[Game],
    limits: &Limits,
    interrupt: &Interrupt,
    tick: &(dyn Fn(usize) + Sync),
) -> io::Result<Option<Vec<Evaluation>>> {
    let left = AtomicUsize::new(positions.len());
    let done = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; positions.len()]);
    // An engine without a position would only clear its table.
    let jobs = engines.iter_mut().take(positions.len()).map(|engine| {
        || {
            engine.new_game();
            // Clearing a large table is none of the search's time. It is not resized: that
            // could fail.
            let _ = engine.prepare(&|| !interrupt.is_raised());
            while let Some(index) = take(&left)
                && let Some(found) = search(engine, &positions[index], limits, interrupt)
            {
                lock(&results)[index] = Some(found);
                tick(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        }
    });
    threads::all("analysis", jobs)?;
    Ok(unpoisoned(results.into_inner()).into_iter().collect())
}

/// The next position from the end.
fn take(left: &AtomicUsize) -> Option<usize> {
    let before =
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    before.ok().map(|left| left - 1)
}

fn search(
    engine: &mut Engine,
    game: &Game,
    limits: &Limits,
    interrupt: &Interrupt,
) -> Option<Evaluation> {
    let job = Job::new(game.clone(), limits.clone());
    interrupt.watch(&job.signals);
    let info = engine.go(&job, &Silent).info;
    let white = notation::white(info.score, game.position().turn());
    (!interrupt.is_raised()).then_some(Evaluation { white, line: info.pv })
}
