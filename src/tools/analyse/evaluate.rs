//! Evaluates the positions of a game with several engines in parallel. The last position is
//! searched first, so that the table already has the results of later positions.

use std::{
    mem,
    sync::atomic::{AtomicUsize, Ordering},
};

use shakmaty::Move;

use crate::{
    chess::{
        notation,
        position::{Game, Position},
        score::Score,
    },
    engine::{Engine, Job},
    play::{limits::Limits, report::Silent},
    tools::{interrupt::Interrupt, share},
};

/// Maximum number of plies of history for a search. The seventy-five-move rule ends a game after
/// this many plies without a capture or a pawn move, so earlier moves do not matter.
const HISTORY: usize = 150;

/// The engine's evaluation of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Evaluation {
    /// The score from White's point of view.
    pub white: Score,
    /// The PV; empty if the game is over.
    pub line: Vec<Move>,
}

/// Returns the positions of a game, first to last. A move of `None` is a null move, which must not
/// be played in check.
pub(super) fn positions(start: &Position, moves: &[Option<Move>]) -> Vec<Position> {
    let mut positions = vec![start.clone()];
    for (index, &m) in moves.iter().enumerate() {
        let before = &positions[index];
        let after = match m {
            Some(m) => before.play(m),
            None => before.play_null().unwrap_or_else(|| before.clone()),
        };
        positions.push(after);
    }
    positions
}

/// Returns the game that led to position `index`, with the history that a search needs. It is built
/// anew for each search, because keeping one for every position would take memory quadratic in the
/// length of the game.
pub(super) fn game(positions: &[Position], moves: &[Option<Move>], index: usize) -> Game {
    let mut begin = index;
    while index - begin < HISTORY
        && begin > 0
        && let Some(m) = moves[begin - 1]
    {
        begin -= 1;
        if m.is_zeroing() {
            break;
        }
    }
    let mut game = Game::from(positions[begin].clone());
    moves[begin..index].iter().flatten().for_each(|&m| game.play(m));
    game
}

/// The error after the user has interrupted the analysis.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(super) struct Interrupted;

/// The engines that evaluate positions, with their limits.
pub(super) struct Evaluator<'a> {
    /// The engines, which search in parallel.
    pub engines: Vec<Engine>,
    /// The limits of each search.
    pub limits: Limits,
    /// Ends the searches.
    pub interrupt: &'a Interrupt,
}

impl Evaluator<'_> {
    /// Evaluates the last positions of `count` games, which `game` builds. Calls `tick` with the
    /// number of positions done, from any thread. With one engine on one thread and a node limit,
    /// the result is the same every time.
    ///
    /// # Errors
    ///
    /// If no thread can be started, or [`Interrupted`].
    pub(super) fn evaluate(
        &mut self,
        count: usize,
        game: &(dyn Fn(usize) -> Game + Sync),
        tick: &(dyn Fn(usize) + Sync),
    ) -> anyhow::Result<Vec<Evaluation>> {
        let (limits, interrupt) = (&self.limits, self.interrupt);
        let done = AtomicUsize::new(0);
        let search = |(engine, is_new): &mut (&mut Engine, bool), index: usize| {
            if mem::take(is_new) {
                engine.new_game();
                // Clearing a large table must not count as search time. This call does not resize
                // the table, so it cannot fail.
                let _ = engine.prepare(&|| !interrupt.is_raised());
            }
            // From the last position to the first.
            let job = Job::new(game(count - 1 - index), limits.clone());
            interrupt.watch(&job.signals);
            let info = engine.go(&job, &Silent).info;
            if interrupt.is_raised() {
                return None;
            }
            tick(done.fetch_add(1, Ordering::Relaxed) + 1);
            let white = notation::white(info.score, job.game.position().turn());
            Some(Evaluation { white, line: info.pv })
        };
        let engines = self.engines.iter_mut().map(|engine| (engine, true));
        let results = share(engines, count, search)?.into_iter().rev();
        Ok(results.collect::<Option<_>>().ok_or(Interrupted)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::notation::read_move;

    /// Plays moves in UCI notation, `0000` for a null move. Returns the moves, and the game after
    /// each.
    fn played(words: &[&str]) -> (Vec<Option<Move>>, Vec<Game>) {
        let (mut moves, mut games) = (Vec::new(), vec![Game::default()]);
        for word in words {
            let mut game = games[games.len() - 1].clone();
            if *word == "0000" {
                game = Game::from(game.position().play_null().unwrap());
                moves.push(None);
            } else {
                let m = read_move(game.position(), word).unwrap();
                game.play(m);
                moves.push(Some(m));
            }
            games.push(game);
        }
        (moves, games)
    }

    #[test]
    fn games_are_those_that_were_played() {
        let words = "g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 g1f3 b8c6 f3g1 c6b8 0000 b8c6 f1c4 g8f6 d2d4 \
                     e5d4 g1f3 f8c5 e1g1 e8g8";
        let (moves, games) = played(&words.split_whitespace().collect::<Vec<_>>());
        let positions = positions(&Position::default(), &moves);
        assert_eq!(positions.len(), games.len());
        for (index, expected) in games.iter().enumerate() {
            let game = game(&positions, &moves, index);
            assert_eq!(game.position().fen(), expected.position().fen());
            assert_eq!((game.keys(), game.last()), (expected.keys(), expected.last()), "{index}");
        }
    }

    /// Tests ten thousand repetitions. The keys of all their games would fill 6 GB.
    #[test]
    fn the_history_of_a_position_is_bounded() {
        let (cycle, _) = played(&["g1f3", "g8f6", "f3g1", "f6g8"]);
        let moves = cycle.repeat(10_000);
        let positions = positions(&Position::default(), &moves);
        assert_eq!(positions.len(), 40_001);
        let last = game(&positions, &moves, 40_000);
        assert_eq!((last.keys().len(), last.position().halfmoves()), (HISTORY, 40_000));
        assert!(last.ending().is_some());
    }
}
