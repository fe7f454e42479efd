//! The searches for an explanation: the best two lines, and the threats of both sides.

use std::{
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use shakmaty::{Color, Move};

use super::{
    endings::{self, Keeping},
    material::won,
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

/// Minimum gain of a threat, in centipawns: the difference between the scores with and without a
/// free move. In the opening, a free move by itself is worth up to a pawn.
const THREAT: Score = 150;
/// Minimum gain of a threat in expected score, from 0 to 1. A side that is winning anyway gains
/// little by a threat.
const CHANCES: f64 = 0.1;
/// Tolerance, in centipawns, of the search that confirms a gain. It evaluates with material and
/// piece-square tables.
const DOUBT: Score = 50;
/// Maximum number of moves to mate for a threat.
const MATE_THREAT: i32 = 3;
/// Minimum score of a won position.
const WINNING: Score = 300;
/// Minimum score of a won position with few pieces, where smaller advantages may not win: about the
/// value of a new queen.
pub(super) const SURE: Score = 700;
/// Maximum absolute score of a position that counts as even.
pub(super) const EVEN: Score = 100;
/// Minimum advantage, in centipawns, of a pass compared with any move in zugzwang.
const ZUGZWANG: Score = 200;
/// Maximum number of pieces in an endgame. Zugzwang is considered only in an endgame. There, a
/// position counts as won only from a score of [`SURE`].
const ENDGAME: usize = 12;

/// The results of the searches.
#[derive(Default)]
pub(super) struct Searched {
    /// The best line.
    pub(super) best: Option<Info>,
    /// The best line that begins with another move.
    pub(super) second: Option<Info>,
    /// The opponent's threat: what it would play if the side to move passed.
    pub(super) threat: Option<Threat>,
    /// The threat that the best move makes: the line that would follow if the opponent passed.
    pub(super) next: Option<Threat>,
    /// The result that only the best move achieves.
    pub(super) only: Option<&'static str>,
    /// Whether a search with material and piece-square tables confirms the gain of the best line.
    pub(super) sure: bool,
    /// The side that would be better off passing: the opponent after the best move, or the side to
    /// move.
    pub(super) zugzwang: Option<Color>,
    /// The moves that keep the result, if it is known without a search.
    pub(super) keeping: Option<Keeping>,
    /// Depth of the search for the two lines.
    pub(super) depth: u32,
    /// Nodes of that search.
    pub(super) nodes: u64,
}

/// The line that a side would play with a free move.
pub(super) struct Threat {
    /// The position after the pass.
    pub(super) position: Position,
    /// The search result for the side to move there. Its line is not empty.
    pub(super) info: Info,
}

/// Keeps the best two lines of the last complete iteration, because lines of different iterations
/// cannot be compared.
#[derive(Default)]
struct Lines(Mutex<Pair>);

#[derive(Default)]
struct Pair {
    /// The first line of the current iteration.
    first: Option<Info>,
    /// Both lines of the last complete iteration, or one if there is only one move.
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

/// Runs all searches. `limits` applies to the main search. The searches after a pass get a quarter
/// of the time and nodes. The main search is limited to the moves of [`endings::keeping`], if it
/// returns any.
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
    // A known draw overrides the score of the search, unless the search found a mate.
    if drawn && lines.first().is_some_and(|best| !is_decisive(best.score)) {
        lines.iter_mut().for_each(|line| (line.score, line.drawn) = (DRAW, true));
    }
    let mut lines = lines.into_iter();
    let mut found = Searched {
        best: lines.next(),
        second: lines.next(),
        keeping,
        depth: outcome.info.depth,
        nodes: outcome.info.nodes,
        ..Searched::default()
    };
    let quarter = quarters(limits, 1);
    if let Some(best) = &found.best
        && let Some(&m) = best.pv.first()
    {
        let after = root.play(m);
        // A side that wins by force need not care about threats.
        let threat = if best.score <= DECISIVE { passed(engine, root, &quarter) } else { None };
        let next = passed(engine, &after, &quarter);
        let passes = [(&after, &next, best.score), (root, &threat, -best.score)];
        found.zugzwang = passes.into_iter().find_map(|(at, free, score)| {
            let free = free.as_ref().filter(|free| is_worse(free.info.score, score))?;
            is_zugzwang(engine, at, &free.position, limits).then(|| at.turn())
        });
        found.threat = threat.filter(|threat| threat.gains_upon(-best.score, engine, &quarter));
        found.next = next.filter(|next| next.gains_upon(best.score, engine, &quarter));
        let endgame = root.board().occupied().count() <= ENDGAME;
        let winning = if endgame { SURE } else { WINNING };
        if let Some(second) = &found.second
            && only(best.score, second.score, winning).is_some()
        {
            // The main search may have spent few nodes on the other moves, so search them again.
            let others = root.legal_moves().into_iter().filter(|&other| other != m);
            let limits = Limits { searchmoves: others.collect(), ..limits.clone() };
            let others = engine.go(&Job::new(game.clone(), limits), &Silent).info.score;
            found.only = only(best.score, others.max(second.score), winning);
        }
        found.sure = is_won(engine, game, &best.pv, &quarter);
    }
    found
}

/// Returns whether the line wins its material against every defence, according to a search with
/// material and piece-square tables.
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

/// Returns the result that a move with this score achieves and a move with the other score does
/// not. A score of `winning` wins.
const fn only(score: Score, other: Score, winning: Score) -> Option<&'static str> {
    if score >= winning && other <= EVEN {
        Some("wins")
    } else if score >= -EVEN && other <= -winning {
        Some("does not lose")
    } else if other < -DECISIVE && is_mate(other) && score > -DECISIVE {
        Some("avoids mate")
    } else {
        None
    }
}

/// Returns whether `than` is a win and `score` is not, or `score` is a loss and `than` is not. The
/// scores must also differ by at least [`ZUGZWANG`].
const fn is_worse(score: Score, than: Score) -> bool {
    let won = than >= ZUGZWANG && score < EVEN;
    let held = than >= -EVEN && score <= -ZUGZWANG;
    (won || held) && than - score >= ZUGZWANG
}

/// Returns the limits with time and nodes multiplied by `count` quarters.
fn quarters(limits: &Limits, count: u32) -> Limits {
    let time = |time: Duration| (time.saturating_mul(count) / 4).max(Duration::from_millis(1));
    let nodes = |nodes: u64| (nodes.saturating_mul(count.into()) / 4).max(1);
    Limits { movetime: limits.movetime.map(time), nodes: limits.nodes.map(nodes), ..limits.clone() }
}

/// Returns whether every move of the side to move in `at` loses something that a pass, which leads
/// to `free`, would keep. Zugzwang is rare, so searches with twice the time and nodes confirm it.
fn is_zugzwang(engine: &mut Engine, at: &Position, free: &Position, limits: &Limits) -> bool {
    let board = at.board();
    let drawn = || endings::known(at).is_some_and(|known| known.winner.is_none());
    if board.occupied().count() > ENDGAME || board.queens().any() || drawn() {
        return false;
    }
    let limits = quarters(limits, 8);
    let mut score = |at: &Position| {
        engine.go(&Job::new(Game::from(at.clone()), limits.clone()), &Silent).info.score
    };
    is_worse(score(at), -score(free))
}

/// Searches the position after a pass. Returns `None` in check, or if no move follows the pass.
fn passed(engine: &mut Engine, position: &Position, limits: &Limits) -> Option<Threat> {
    let position = position.play_null()?;
    let job = Job::new(Game::from(position.clone()), limits.clone());
    let info = engine.go(&job, &Silent).info;
    (!info.pv.is_empty()).then_some(Threat { position, info })
}

impl Threat {
    /// Returns whether the free move improves on `score` by a near mate or by material.
    fn gains_upon(&self, score: Score, engine: &mut Engine, limits: &Limits) -> bool {
        let Threat { position, info } = self;
        match mate_distance(info.score) {
            // A near mate is a threat unless there is an earlier one without the free move.
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
