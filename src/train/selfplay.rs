//! One game of Lancet against itself, and when it is over.

use std::sync::Arc;

use shakmaty::{Chess, Color, Position as _};
use shakmaty_syzygy::{Tablebase, Wdl};

use super::{
    format::{GameResult, Record},
    label,
    openings::BALANCE,
    tree::Sampler,
};
use crate::{
    chess::{
        position::{Ending, Game, Position},
        score::Score,
    },
    engine::{Engine, Job, MemoryError, Settings},
    eval::nnue::Network,
    play::report::{Limits, Silent},
    system::random::mix,
};

/// When a side that is winning has won.
#[derive(Clone, Copy, Debug)]
pub(super) struct WinRule {
    /// A side is winning at this score, in centipawns ...
    pub(super) score: Score,
    /// ... and has won when both sides have agreed for this many plies.
    plies: i32,
}

/// Decided positions teach little, and were half of all: most games end early. What that
/// is worth is in `eval/nnue/README.md`.
pub(super) const USUAL_WIN: WinRule = WinRule { score: 600, plies: 4 };
/// One game in [`PLAYED_ON`] goes on: the network must see won positions, too.
const CLEAR_WIN: WinRule = WinRule { score: 2500, plies: 6 };
/// One game in so many goes on until the win is clear.
const PLAYED_ON: u64 = 8;

impl WinRule {
    /// The rule for games from this position: always the same one.
    fn for_start(start: &Position) -> WinRule {
        if mix(start.key()).is_multiple_of(PLAYED_ON) { CLEAR_WIN } else { USUAL_WIN }
    }
}

/// A position is level within this score ...
const DRAW_SCORE: Score = 5;
/// ... and the game drawn after this many level plies in a row ...
const DRAW_PLIES: u32 = 12;
/// ... but not before this ply of the game.
const DRAW_FROM: usize = 60;
/// Longer games are drawn.
const MAX_PLIES: usize = 500;

/// Counts towards an adjudication.
#[derive(Debug)]
struct Adjudicator {
    win: WinRule,
    /// Plies in a row that White (positive) or Black (negative) was winning.
    winning: i32,
    /// Plies in a row that were level.
    level: u32,
    plies: usize,
}

impl Adjudicator {
    const fn new(win: WinRule) -> Adjudicator {
        Adjudicator { win, winning: 0, level: 0, plies: 0 }
    }

    /// Looks at the score of the next ply, from White's point of view.
    fn see(&mut self, score: Score) -> Option<GameResult> {
        self.plies += 1;
        self.level = if score.abs() <= DRAW_SCORE { self.level + 1 } else { 0 };
        self.winning = if score >= self.win.score {
            self.winning.max(0) + 1
        } else if score <= -self.win.score {
            self.winning.min(0) - 1
        } else {
            0
        };
        if self.winning.abs() >= self.win.plies {
            return Some(GameResult::win(Color::from_white(self.winning > 0)));
        }
        let level = self.level >= DRAW_PLIES && self.plies >= DRAW_FROM;
        (level || self.plies >= MAX_PLIES).then_some(GameResult::Draw)
    }
}

/// Plays games: one engine against itself, or two, each with its own table and histories.
#[derive(Debug)]
pub struct SelfPlay {
    /// That of both sides, or White's, then Black's.
    engines: Vec<Engine>,
    limits: Limits,
    /// No game begins from a position that its first search scores beyond this.
    balance: Score,
    tablebase: Option<Arc<Tablebase<Chess>>>,
    sampler: Option<Sampler>,
}

/// What became of a game.
#[derive(Debug)]
pub enum Played {
    /// It was played to an end.
    Game(Box<Record>),
    /// The opening favours one side too much.
    Unbalanced,
    /// It was interrupted.
    Stopped,
}

impl SelfPlay {
    /// A player of both sides that begins no new iteration after `soft` nodes and stops at
    /// `hard` nodes, and evaluates by `network`. What it finds for one side helps the other,
    /// and half as much has to be cleared for a new game and kept in cache. `tablebase` ends
    /// games as soon as it knows the result.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table.
    pub fn new(
        soft: u64,
        hard: u64,
        network: Option<&Arc<Network>>,
        tablebase: Option<Arc<Tablebase<Chess>>>,
    ) -> Result<SelfPlay, MemoryError> {
        let engines = vec![player(network, settings(soft))?];
        Ok(SelfPlay { tablebase, ..SelfPlay::of(engines, soft, hard) })
    }

    /// Two players, with a network for White and another for Black.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the tables.
    pub fn between(
        [white, black]: [Option<&Arc<Network>>; 2],
        soft: u64,
        hard: u64,
    ) -> Result<SelfPlay, MemoryError> {
        let engines = vec![player(white, settings(soft))?, player(black, settings(soft))?];
        Ok(SelfPlay::of(engines, soft, hard))
    }

    fn of(engines: Vec<Engine>, soft: u64, hard: u64) -> SelfPlay {
        let limits = Limits { soft_nodes: Some(soft), nodes: Some(hard), ..Limits::default() };
        SelfPlay { engines, limits, balance: BALANCE, tablebase: None, sampler: None }
    }

    /// From `share` percent of the searches a quiet leaf is searched from now on, by
    /// as many nodes.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for another table.
    pub fn sample_trees(&mut self, share: u32) -> Result<(), MemoryError> {
        let first = &self.engines[0];
        let engine = player(first.network(), first.settings().clone())?;
        self.sampler = Some(Sampler::new(share, engine));
        Ok(())
    }

    /// The leaves of the last game's trees: positions with a score and the best move.
    #[must_use]
    pub fn leaves(&self) -> &[Record] {
        self.sampler.as_ref().map_or(&[], Sampler::leaves)
    }

    /// Plays a game from `start`. Adds the nodes searched to `nodes`; asks
    /// `stopped` before every move.
    pub fn play(&mut self, start: Position, nodes: &mut u64, stopped: impl Fn() -> bool) -> Played {
        self.engines.iter_mut().for_each(Engine::new_game);
        if let Some(sampler) = &mut self.sampler {
            sampler.new_game(&start);
        }
        let mut game = Game::from(start.clone());
        let mut moves = Vec::new();
        let mut adjudicator = Adjudicator::new(WinRule::for_start(&start));
        loop {
            if let Some(result) = self.result(&game) {
                return Played::Game(Box::new(Record { start, result, moves }));
            }
            if stopped() {
                return Played::Stopped;
            }
            let turn = game.position().turn();
            let job = Job::new(game.clone(), self.limits.clone());
            let number = usize::from(turn.is_black()) % self.engines.len();
            let engine = &mut self.engines[number];
            let outcome = engine.go(&job, &Silent);
            *nodes += outcome.info.nodes;
            let Some(m) = outcome.best else { return Played::Stopped };
            let score = if turn.is_white() { outcome.info.score } else { -outcome.info.score };
            if moves.is_empty() && score.abs() > self.balance {
                return Played::Unbalanced;
            }
            if let Some(sampler) = &mut self.sampler {
                sampler.see(engine, game.position(), outcome.info.score, &self.limits, nodes);
            }
            moves.push((m, label::of(&outcome, game.position(), engine.network().is_some())));
            game.play(m);
            if let Some(result) = adjudicator.see(score) {
                // Rules come first: the move may have mated or stalemated.
                let result = self.result(&game).unwrap_or(result);
                return Played::Game(Box::new(Record { start, result, moves }));
            }
        }
    }

    /// The result if the game is over by the rules or by a tablebase.
    fn result(&self, game: &Game) -> Option<GameResult> {
        let position = game.position();
        match game.ending() {
            Some(Ending::Checkmate) => return Some(GameResult::win(!position.turn())),
            Some(Ending::Draw) => return Some(GameResult::Draw),
            None => {}
        }
        let tablebase = self.tablebase.as_deref()?;
        // With a fresh fifty-move counter the win-draw-loss value is exact.
        let known = position.halfmoves() == 0
            && position.board().occupied().count() <= tablebase.max_pieces()
            && position.chess().castles().is_empty();
        if !known {
            return None;
        }
        Some(match tablebase.probe_wdl_after_zeroing(position.chess()).ok()? {
            Wdl::Win => GameResult::win(position.turn()),
            Wdl::Loss => GameResult::win(!position.turn()),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => GameResult::Draw,
        })
    }
}

/// Those of a player that begins no new iteration after `soft` nodes.
fn settings(soft: u64) -> Settings {
    // A game is some hundred searches; about 16 bytes of table for a node.
    // Small tables are quickly cleared and stay in cache.
    let hash = usize::try_from(soft / 600).unwrap_or(usize::MAX).clamp(1, 16);
    Settings { hash: hash.next_power_of_two(), ..Settings::default() }
}

fn player(network: Option<&Arc<Network>>, settings: Settings) -> Result<Engine, MemoryError> {
    let mut engine = Engine::new(settings)?;
    engine.set_network(network.cloned());
    Ok(engine)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use shakmaty::CastlingMode;

    use super::{super::openings::Openings, *};

    fn see(win: WinRule, scores: impl IntoIterator<Item = Score>) -> Option<(usize, GameResult)> {
        let mut adjudicator = Adjudicator::new(win);
        scores.into_iter().zip(1..).find_map(|(score, ply)| Some((ply, adjudicator.see(score)?)))
    }

    #[test]
    fn adjudication() {
        use GameResult::{BlackWins, Draw, WhiteWins};
        for (win, enough, too_little) in [(USUAL_WIN, 600, 599), (CLEAR_WIN, 2500, 2499)] {
            let plies = win.plies as usize;
            assert_eq!(see(win, [enough; 20]), Some((plies, WhiteWins)));
            assert_eq!(see(win, [-31_990; 20]), Some((plies, BlackWins)));
            let interrupted = [&vec![enough; plies - 1][..], &[too_little]].concat();
            assert_eq!(see(win, interrupted.into_iter().cycle().take(400)), None);
            assert_eq!(see(win, [3000, -3000].into_iter().cycle().take(400)), None);
            assert_eq!(see(win, [0; 100]), Some((60, Draw)));
            assert_eq!(see(win, [40; 59].into_iter().chain([-5; 20])), Some((71, Draw)));
            assert_eq!(see(win, [40; 600]), Some((500, Draw)));
        }
    }

    #[test]
    fn an_eighth_of_the_games_is_played_on() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let openings = Openings::random();
        let long = (0..4000)
            .filter(|_| {
                WinRule::for_start(&openings.make(&mut rng, || false).unwrap()).score
                    == CLEAR_WIN.score
            })
            .count();
        assert!((400..600).contains(&long), "{long}");
    }

    /// The result and the sign of the scores belong to White, whoever is to
    /// move first.
    #[test]
    fn labels_are_whites() {
        for (mate, won, winner) in [
            (
                "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
                "4k3/8/8/8/8/8/4P3/R3K2n w - - 0 1",
                Color::White,
            ),
            (
                "r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",
                "r3k2N/4p3/8/8/8/8/8/4K3 b - - 0 1",
                Color::Black,
            ),
        ] {
            let start = Position::from_fen(mate, CastlingMode::Standard).unwrap();
            let mut players = SelfPlay::new(1000, 10_000, None, None).unwrap();
            let mut nodes = 0;
            // A mate in one is not a balanced opening.
            let Played::Unbalanced = players.play(start, &mut nodes, || false) else { panic!() };
            assert!(nodes > 0);
            players.balance = 1000;

            let start = Position::from_fen(won, CastlingMode::Standard).unwrap();
            let Played::Game(game) = players.play(start, &mut nodes, || false) else { panic!() };
            assert_eq!(game.result, GameResult::win(winner), "{won}");
            let (_, score) = game.moves[0];
            assert!(score.signum() == if winner.is_white() { 1 } else { -1 }, "{score}");
            let (_, last) = game.moves[game.moves.len() - 1];
            assert!(
                last.signum() == score.signum() && i32::from(last.abs()) > USUAL_WIN.score * 9 / 10
            );
        }
    }
}
