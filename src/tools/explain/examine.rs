//! The searches behind an explanation: the best two lines, and what either side would
//! do if the other passed.

use std::{
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use shakmaty::{Color, Move, Role};

use crate::{
    chess::{
        position::{Game, Position},
        score::{DECISIVE, Score, is_decisive},
        see::value,
    },
    engine::{Engine, Job},
    play::{
        limits::Limits,
        report::{Info, Reporter, Silent},
    },
    system::sync::{lock, unpoisoned},
};

/// A free move that gains this much, in centipawns, and wins material is a threat. A
/// move more is worth up to a pawn by itself, in the opening.
const THREAT: Score = 100;
/// Plies after which a threat must have won something.
const THREAT_PLIES: usize = 6;

/// What the engine found.
pub(super) struct Searched {
    /// The best line.
    pub(super) best: Option<Info>,
    /// The best line that begins with another move.
    pub(super) second: Option<Info>,
    /// What the opponent would do if the side to move passed.
    pub(super) threat: Option<Threat>,
    /// What would follow the best move if the opponent passed.
    pub(super) next: Option<Threat>,
    /// Iterations of the search for the two lines.
    pub(super) depth: u32,
    /// Nodes of that search.
    pub(super) nodes: u64,
}

/// A line that a side would play if it had a move more.
pub(super) struct Threat {
    /// After the pass.
    pub(super) position: Position,
    /// From there, for the side to move; the line is not empty.
    pub(super) info: Info,
}

/// Remembers the best two lines of the last whole iteration: the first of one
/// that was broken off cannot be compared with the second of another.
#[derive(Default)]
struct Lines(Mutex<Pair>);

#[derive(Default)]
struct Pair {
    /// The first line of the iteration that is being reported.
    first: Option<Info>,
    /// Both lines; one if there is only one move.
    whole: Vec<Info>,
}

impl Reporter for Lines {
    fn info(&self, info: &Info) {
        let mut pair = lock(&self.0);
        if info.multipv == 1 {
            pair.first = Some(info.clone());
            if pair.whole.len() < 2 {
                pair.whole = vec![info.clone()];
            }
        } else {
            pair.whole = pair.first.take().into_iter().chain([info.clone()]).collect();
        }
    }
}

/// Searches within `limits`, and for a quarter of them after each pass.
pub(super) fn examine(engine: &mut Engine, game: &Game, limits: &Limits) -> Searched {
    engine.live().multi_pv.store(2, Ordering::Relaxed);
    let lines = Lines::default();
    let outcome = engine.go(&Job::new(game.clone(), limits.clone()), &lines);
    engine.live().multi_pv.store(1, Ordering::Relaxed);
    let mut lines = unpoisoned(lines.0.into_inner()).whole.into_iter();
    let (best, second) = (lines.next(), lines.next());
    let limits = Limits {
        movetime: limits.movetime.map(|time| (time / 4).max(Duration::from_millis(1))),
        nodes: limits.nodes.map(|nodes| (nodes / 4).max(1)),
        ..limits.clone()
    };
    let (mut threat, mut next) = (None, None);
    if let Some(best) = &best
        && let Some(&m) = best.pv.first()
    {
        let root = game.position();
        // Whoever wins by force need not care.
        if best.score <= DECISIVE {
            threat = if_passed(engine, root, -best.score, &limits);
        }
        next = if_passed(engine, &root.play(m), best.score, &limits);
    }
    Searched { best, second, threat, next, depth: outcome.info.depth, nodes: outcome.info.nodes }
}

/// Is the side to move better off by a pawn after the beginning of this line?
fn wins_material(position: &Position, line: &[Move]) -> bool {
    let us = position.turn();
    let balance = |position: &Position| {
        let count = |color: Color| -> i32 {
            let pieces = position.board().by_color(color).into_iter();
            pieces.filter_map(|square| position.board().role_at(square)).map(value).sum()
        };
        count(us) - count(!us)
    };
    let beginning = line.iter().take(THREAT_PLIES);
    let end = beginning.fold(position.clone(), |position, &m| position.play(m));
    balance(&end) >= balance(position) + value(Role::Pawn)
}

/// What the opponent would do if the side to move passed, if that gains something upon
/// `score`, which is the opponent's.
fn if_passed(
    engine: &mut Engine,
    position: &Position,
    score: Score,
    limits: &Limits,
) -> Option<Threat> {
    if position.is_check() || position.legal_moves().is_empty() {
        return None;
    }
    let position = position.play_null()?;
    let job = Job::new(Game::from(position.clone()), limits.clone());
    let info = engine.go(&job, &Silent).info;
    // Nothing is gained upon a win but time: a win as quick is threatened, too.
    let wins = info.score > DECISIVE && info.score >= score;
    let gains = !is_decisive(score)
        && info.score >= score + THREAT
        && (is_decisive(info.score) || wins_material(&position, &info.pv));
    (!info.pv.is_empty() && (wins || gains)).then_some(Threat { position, info })
}
