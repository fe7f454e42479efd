//! The searches behind an explanation: the best two lines, and what either side would
//! do if the other passed.

use std::{
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use shakmaty::Move;

use super::{
    endings::{self, Keeping},
    material::won,
    rules,
};
use crate::{
    chess::{
        position::{Game, Position},
        score::{DECISIVE, DRAW, Score, is_decisive, is_mate, mate_distance, winning_chances},
    },
    engine::{Engine, Job},
    eval::psqt,
    play::{
        limits::Limits,
        report::{Info, Reporter, Silent},
    },
    system::sync::{lock, unpoisoned},
};

/// A free move that gains this much, in centipawns, and wins material is a threat. A
/// move more is worth up to a pawn by itself, in the opening.
const THREAT: Score = 150;
/// It must also raise the expected result by this much: who has won anyway threatens little.
const CHANCES: f64 = 0.1;
/// How far a search by material may fall short, in centipawns, of what it is to confirm.
const DOUBT: Score = 50;
/// Moves up to a mate that is a threat, and not a plan.
const MATE_THREAT: i32 = 3;
/// Scores from here on win, from the side that has them.
const WINNING: Score = 300;
/// Scores up to here, either way, are neither won nor lost.
pub(super) const EVEN: Score = 100;
/// Passing is better than any move by this much, in centipawns, in zugzwang.
const ZUGZWANG: Score = 200;
/// With more pieces than this on the board a move more is never a burden.
const ENDGAME: usize = 12;

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
    /// What no other move does.
    pub(super) only: Option<&'static str>,
    /// Does a search by material alone confirm what the best line wins?
    pub(super) sure: bool,
    /// Would the opponent rather pass after the best move?
    pub(super) zugzwang: bool,
    /// The moves that keep the result, where that is known without a search.
    pub(super) keeping: Option<Keeping>,
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

/// Searches within `limits`, and for a quarter of them after each pass. Where the book knows
/// the result only moves that keep it are searched.
pub(super) fn examine(engine: &mut Engine, game: &Game, limits: &Limits) -> Searched {
    let root = game.position();
    let keeping = endings::keeping(root);
    engine.live().multi_pv.store(2, Ordering::Relaxed);
    let lines = Lines::default();
    let searchmoves = keeping.as_ref().map_or_else(Vec::new, |keeping| keeping.moves.clone());
    let job = Job::new(game.clone(), Limits { searchmoves, ..limits.clone() });
    let outcome = engine.go(&job, &lines);
    engine.live().multi_pv.store(1, Ordering::Relaxed);
    let mut lines = unpoisoned(lines.0.into_inner()).whole;
    let drawn = keeping.as_ref().is_some_and(|keeping| keeping.ending.winner.is_none());
    // The search does not know what the book knows; but it may see a mate.
    if drawn && lines.first().is_some_and(|best| !is_decisive(best.score)) {
        lines.iter_mut().for_each(|line| (line.score, line.drawn) = (DRAW, true));
    }
    let mut lines = lines.into_iter();
    let mut found = Searched {
        best: lines.next(),
        second: lines.next(),
        threat: None,
        next: None,
        only: None,
        sure: false,
        zugzwang: false,
        keeping,
        depth: outcome.info.depth,
        nodes: outcome.info.nodes,
    };
    let quarter = Limits {
        movetime: limits.movetime.map(|time| (time / 4).max(Duration::from_millis(1))),
        nodes: limits.nodes.map(|nodes| (nodes / 4).max(1)),
        ..limits.clone()
    };
    if let Some(best) = &found.best
        && let Some(&m) = best.pv.first()
    {
        let after = root.play(m);
        // Whoever wins by force need not care.
        if best.score <= DECISIVE {
            let threat = passed(engine, root, &quarter);
            found.threat = threat.filter(|threat| threat.gains_upon(-best.score, engine, &quarter));
        }
        let mut next = passed(engine, &after, &quarter);
        let is_zugzwang = |next: &Option<Threat>| {
            next.as_ref().is_some_and(|Threat { info, .. }| is_worse(info.score, best.score))
        };
        // It is so rare that the search with fewer nodes is doubted.
        let board = after.board();
        if board.occupied().count() <= ENDGAME && board.queens().is_empty() && is_zugzwang(&next) {
            next = passed(engine, &after, limits);
            found.zugzwang = is_zugzwang(&next);
        }
        found.next = next.filter(|next| next.gains_upon(best.score, engine, &quarter));
        if let Some(second) = &found.second
            && only(best.score, second.score).is_some()
        {
            // The search of the best move may have left too little for the others.
            let others = root.legal_moves().into_iter().filter(|&other| other != m);
            let limits = Limits { searchmoves: others.collect(), ..limits.clone() };
            let others = engine.go(&Job::new(game.clone(), limits), &Silent).info.score;
            found.only = only(best.score, others.max(second.score));
        }
        found.sure = is_won(engine, game, &best.pv, &quarter);
    }
    found
}

/// Is what the line wins won against every defence, as far as a search by material and
/// piece-square tables sees?
fn is_won(engine: &mut Engine, game: &Game, line: &[Move], limits: &Limits) -> bool {
    let root = game.position();
    let Some(gain) = won(root, line, game.last()) else { return false };
    let network = engine.network().cloned();
    engine.set_network(None);
    let job = Job::new(Game::from(root.play(line[0])), limits.clone());
    let score = -engine.go(&job, &Silent).info.score;
    engine.set_network(network);
    let end = line[..gain.plies].iter().fold(root.clone(), |at, &m| at.play(m));
    let promised = psqt::evaluate(&end);
    score >= if end.turn() == root.turn() { promised } else { -promised } - DOUBT
}

/// What a move with this score does, and a move with the other one does not.
const fn only(score: Score, other: Score) -> Option<&'static str> {
    if score >= WINNING && other <= EVEN {
        Some("wins")
    } else if score >= -EVEN && other <= -WINNING {
        Some("does not lose")
    } else if other < -DECISIVE && is_mate(other) && score > -DECISIVE {
        Some("avoids mate")
    } else {
        None
    }
}

/// Is a side that wins no longer winning with this score, or lost what it held?
const fn is_worse(score: Score, than: Score) -> bool {
    let won = than >= ZUGZWANG && score < EVEN;
    let held = than >= -EVEN && score <= -ZUGZWANG;
    (won || held) && than - score >= ZUGZWANG
}

/// What the opponent would do if the side to move passed.
fn passed(engine: &mut Engine, position: &Position, limits: &Limits) -> Option<Threat> {
    let position = rules::passed(position)?;
    let job = Job::new(Game::from(position.clone()), limits.clone());
    let info = engine.go(&job, &Silent).info;
    (!info.pv.is_empty()).then_some(Threat { position, info })
}

impl Threat {
    /// Does the free move gain something upon `score`, by a mate that is near or by material?
    fn gains_upon(&self, score: Score, engine: &mut Engine, limits: &Limits) -> bool {
        let Threat { position, info } = self;
        match mate_distance(info.score) {
            // Nothing is gained upon a mate but time.
            Some(moves) if moves > 0 => moves <= MATE_THREAT && info.score >= score,
            _ => {
                won(position, &info.pv, None).is_some_and(|gain| {
                    info.score >= score + THREAT.max(gain.value() / 2)
                        && winning_chances(info.score) >= winning_chances(score) + CHANCES
                }) && is_won(engine, &Game::from(position.clone()), &info.pv, limits)
            }
        }
    }
}
