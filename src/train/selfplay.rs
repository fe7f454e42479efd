//! Self-play games and their adjudication.

use std::sync::Arc;

use clap::Args as ClapArgs;
use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Position as _};
use shakmaty_syzygy::{Tablebase, Wdl};

use super::format::{GameResult, NO_LABEL, Record};
use lancet::{
    chess::{
        position::{Ending, Game, Position},
        score::{Score, is_decisive},
    },
    engine::{Engine, Job, MemoryError, Settings},
    eval::{self, nnue::Network},
    play::{
        limits::Limits,
        openings::BALANCE,
        report::{Bound, Info, Outcome, Silent},
        signals::Signals,
    },
    system::{arguments, random::mix},
};

/// Last ply of a game that is played on (`play_on`). At this ply, the scores decide its result.
const PLAYED_ON_PLIES: usize = 250;
/// Plies without a capture or a pawn move after which such a game is drawn.
const PLAYED_ON_HALFMOVES: u32 = 60;
/// The last ply of any game.
const MAX_PLIES: usize = 500;

/// Rules of adjudication: when a game ends early. Scores are in centipawns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ClapArgs)]
#[serde(deny_unknown_fields)]
pub(crate) struct Adjudication {
    /// Lowest score, in centipawns, with which a side counts as winning
    #[arg(long, value_name = "CP", default_value_t = Adjudication::DEFAULT.win_score, value_parser = arguments::whole::<i32>(1..))]
    pub win_score: Score,
    /// Plies in a row with winning scores after which a game is adjudicated as a win
    #[arg(long, value_name = "N", default_value_t = Adjudication::DEFAULT.win_plies, value_parser = arguments::whole::<u32>(1..))]
    pub win_plies: u32,
    /// Largest score, in centipawns for either side, of a level position
    #[arg(long, value_name = "CP", default_value_t = Adjudication::DEFAULT.draw_score, value_parser = arguments::whole::<i32>(0..))]
    pub draw_score: Score,
    /// Plies in a row with level scores after which a game is adjudicated as a draw
    #[arg(long, value_name = "N", default_value_t = Adjudication::DEFAULT.draw_plies, value_parser = arguments::whole::<u32>(1..))]
    pub draw_plies: u32,
    /// Earliest ply at which a game is adjudicated as a draw
    #[arg(long, value_name = "PLY", default_value_t = Adjudication::DEFAULT.draw_from, value_parser = arguments::whole::<u32>(..))]
    pub draw_from: u32,
    /// Percentage of games that are played on to ply 250, or to 60 plies without a capture or pawn
    /// move, whatever their scores
    #[arg(long, value_name = "PERCENT", default_value_t = Adjudication::DEFAULT.play_on, value_parser = arguments::whole::<u32>(0..=100))]
    pub play_on: u32,
}

impl Adjudication {
    /// Defaults of the command.
    pub const DEFAULT: Adjudication = Adjudication {
        win_score: 1000,
        win_plies: 4,
        draw_score: 5,
        draw_plies: 20,
        draw_from: 100,
        play_on: 25,
    };

    /// Returns whether a game from this position is not adjudicated by its scores. The answer
    /// depends only on the position and on `play_on`.
    fn plays_on(&self, start: &Position) -> bool {
        mix(start.key()) % 100 < u64::from(self.play_on)
    }
}

/// Counters of an adjudication.
#[derive(Debug)]
struct Adjudicator<'a> {
    rules: &'a Adjudication,
    /// Whether this game is not adjudicated by its scores.
    plays_on: bool,
    /// Consecutive plies in which White (positive) or Black (negative) was winning.
    winning: i64,
    /// Consecutive level plies.
    level: u32,
    plies: usize,
}

impl Adjudicator<'_> {
    fn new<'a>(rules: &'a Adjudication, start: &Position) -> Adjudicator<'a> {
        Adjudicator { rules, plays_on: rules.plays_on(start), winning: 0, level: 0, plies: 0 }
    }

    /// Counts a ply with this score, from White's point of view, and this halfmove clock after its
    /// move. Returns the result if the game ends here.
    fn count(&mut self, score: Score, halfmoves: u32) -> Option<GameResult> {
        let rules = self.rules;
        self.plies += 1;
        self.level = if score.abs() <= rules.draw_score { self.level + 1 } else { 0 };
        self.winning = if score >= rules.win_score {
            self.winning.max(0) + 1
        } else if score <= -rules.win_score {
            self.winning.min(0) - 1
        } else {
            0
        };
        let won = self.winning.unsigned_abs() >= u64::from(rules.win_plies);
        let won = won.then(|| GameResult::win(Color::from_white(self.winning > 0)));
        if self.plays_on {
            // A side that makes no progress is not winning, whatever the score.
            let stuck = halfmoves >= PLAYED_ON_HALFMOVES;
            let over = stuck || self.plies >= PLAYED_ON_PLIES;
            return over.then(|| won.filter(|_| !stuck).unwrap_or(GameResult::Draw));
        }
        let level = self.level >= rules.draw_plies && self.plies >= rules.draw_from as usize;
        let drawn = level || self.plies >= MAX_PLIES;
        won.or(drawn.then_some(GameResult::Draw))
    }
}

/// Conditions under which a game is played.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Nodes per move after which no new iteration starts.
    pub(crate) soft: u64,
    /// Nodes per move that no search exceeds.
    pub(crate) hard: u64,
    /// Rules of adjudication.
    pub(crate) adjudication: Adjudication,
}

/// Default ratio of the hard to the soft limit of nodes.
pub(crate) const HARD_BY_SOFT: u64 = 8;

impl Conditions {
    /// Returns conditions with `soft` nodes for all searches, and defaults for everything else.
    pub fn nodes(soft: u64) -> Conditions {
        Conditions {
            soft,
            hard: soft.saturating_mul(HARD_BY_SOFT),
            adjudication: Adjudication::DEFAULT,
        }
    }

    /// Checks that there is memory for this number of engines under these conditions.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub(crate) fn check_memory(&self, engines: usize) -> Result<(), MemoryError> {
        settings(self).check_memory(engines)
    }
}

/// Players of a game: one engine that plays both sides, or two engines, each with its own table and
/// histories.
#[derive(Debug)]
pub struct SelfPlay {
    /// One engine for both sides, or White's, then Black's.
    engines: Vec<Engine>,
    conditions: Conditions,
    /// Largest absolute score that the first search may give an opening, in centipawns.
    balance: Score,
    tablebase: Option<Arc<Tablebase<Chess>>>,
}

/// Outcome of an attempt to play a game.
#[derive(Debug)]
pub enum Played {
    /// The game was completed.
    Game(Box<Record>),
    /// The opening favours one side too much.
    Unbalanced,
    /// The game was interrupted.
    Stopped,
}

impl SelfPlay {
    /// Creates an engine for each of these networks: one that plays both sides, or White's and
    /// Black's. `None` stands for material and piece-square tables. A single engine is faster: both
    /// sides use the same table entries, and only half as much memory has to be cleared for a new
    /// game and kept in cache. A game ends as soon as `tablebase` has its result.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the tables.
    pub fn new(
        conditions: Conditions,
        networks: &[Option<&Arc<Network>>],
        tablebase: Option<Arc<Tablebase<Chess>>>,
    ) -> Result<SelfPlay, MemoryError> {
        let player = |network: &Option<&Arc<Network>>| -> Result<Engine, MemoryError> {
            let mut engine = Engine::new(settings(&conditions))?;
            engine.set_network(network.cloned());
            Ok(engine)
        };
        let engines = networks.iter().map(player).collect::<Result<Vec<_>, _>>()?;
        Ok(SelfPlay { engines, conditions, balance: BALANCE, tablebase })
    }

    /// Plays a game from `start`, unless `signals` stop it. Adds the nodes searched to `nodes`.
    pub fn play(&mut self, start: Position, nodes: &mut u64, signals: &Arc<Signals>) -> Played {
        self.engines.iter_mut().for_each(Engine::new_game);
        let mut game = Game::from(start.clone());
        let mut moves = Vec::new();
        let Conditions { soft, hard, ref adjudication } = self.conditions;
        let mut adjudicator = Adjudicator::new(adjudication, &start);
        loop {
            if let Some(result) = self.result(&game) {
                return Played::Game(Box::new(Record { start, result, moves }));
            }
            let turn = game.position().turn();
            let number = usize::from(turn.is_black()) % self.engines.len();
            let engine = &mut self.engines[number];
            let limits = Limits { soft_nodes: Some(soft), nodes: Some(hard), ..Limits::default() };
            let job = Job { game: game.clone(), limits, signals: Arc::clone(signals) };
            let outcome = engine.go(&job, &Silent);
            *nodes += outcome.info.nodes;
            // An interrupted search may have chosen another move.
            let best = outcome.best.filter(|_| !signals.is_stopped());
            let Some(m) = best else { return Played::Stopped };
            let score = if turn.is_white() { outcome.info.score } else { -outcome.info.score };
            if moves.is_empty() && score.abs() > self.balance {
                return Played::Unbalanced;
            }
            moves.push((m, label(&outcome, game.position())));
            game.play(m);
            if let Some(result) = adjudicator.count(score, game.position().halfmoves()) {
                // The rules take precedence: the move may give mate or stalemate.
                let result = self.result(&game).unwrap_or(result);
                return Played::Game(Box::new(Record { start, result, moves }));
            }
        }
    }

    /// Returns the result if the game is over by the rules or by a tablebase.
    fn result(&self, game: &Game) -> Option<GameResult> {
        let position = game.position();
        match game.ending() {
            Some(Ending::Checkmate) => return Some(GameResult::win(!position.turn())),
            Some(Ending::Draw) => return Some(GameResult::Draw),
            None => {}
        }
        let tablebase = self.tablebase.as_deref()?;
        // The WDL value is exact when the halfmove clock is 0.
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

/// Returns the label of a searched position, from White's point of view: the score, divided by the
/// factor for material. An interrupted iteration may leave a bound, which is not a label.
fn label(outcome: &Outcome, position: &Position) -> i16 {
    let Info { score, bound: Bound::Exact, .. } = outcome.info else { return NO_LABEL };
    let score = if is_decisive(score) { score } else { eval::unweighted(score, position.board()) };
    let white = if position.turn().is_white() { score } else { -score };
    i16::try_from(white).unwrap_or(NO_LABEL)
}

/// Returns the settings of a player. The size of its table suits its searches.
fn settings(conditions: &Conditions) -> Settings {
    // A game has about a hundred searches, and a node needs about 16 bytes. Small tables are
    // cleared quickly and stay in cache.
    let hash = usize::try_from(conditions.soft / 600).unwrap_or(usize::MAX).clamp(1, 16);
    Settings { hash: hash.next_power_of_two(), neutral: true, ..Settings::default() }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use lancet::play::openings::Openings;

    const RULES: Adjudication = Adjudication {
        win_score: 600,
        win_plies: 3,
        draw_score: 5,
        draw_plies: 12,
        draw_from: 60,
        play_on: 0,
    };

    /// Returns the ply at which a game with these scores ends, and its result.
    fn end(
        rules: &Adjudication,
        halfmoves: u32,
        scores: impl IntoIterator<Item = Score>,
    ) -> Option<(usize, GameResult)> {
        let mut adjudicator = Adjudicator::new(rules, &Position::default());
        scores
            .into_iter()
            .zip(1..)
            .find_map(|(score, ply)| Some((ply, adjudicator.count(score, halfmoves)?)))
    }

    #[test]
    fn adjudication() {
        use GameResult::{BlackWins, Draw, WhiteWins};
        let end = |scores: &mut dyn Iterator<Item = Score>| end(&RULES, 99, scores);
        assert_eq!(end(&mut [600; 20].into_iter()), Some((3, WhiteWins)));
        assert_eq!(end(&mut [-31_990; 20].into_iter()), Some((3, BlackWins)));
        assert_eq!(end(&mut [600, 600, 599].into_iter().cycle().take(400)), None);
        assert_eq!(end(&mut [3000, -3000].into_iter().cycle().take(400)), None);
        assert_eq!(end(&mut [0; 100].into_iter()), Some((60, Draw)));
        assert_eq!(end(&mut [40; 59].into_iter().chain([-5; 20])), Some((71, Draw)));
        assert_eq!(end(&mut [40; 600].into_iter()), Some((500, Draw)));
    }

    /// Games that ignore the score end at ply 250, where the score decides the result, or after too
    /// many plies without a capture or a pawn move.
    #[test]
    fn games_that_go_on() {
        use GameResult::{BlackWins, Draw, WhiteWins};
        let on = Adjudication { play_on: 100, ..RULES };
        for (halfmoves, score, ply, result) in [
            (59, 2000, 250, WhiteWins),
            (59, -600, 250, BlackWins),
            (59, 599, 250, Draw),
            (59, 0, 250, Draw),
            (60, 2000, 1, Draw),
        ] {
            assert_eq!(end(&on, halfmoves, [score; 300]), Some((ply, result)), "{score}");
        }
        // A winning score of one ply is not enough.
        assert_eq!(end(&on, 0, [0; 249].into_iter().chain([900])), Some((250, Draw)));
    }

    /// The share of games that ignore the score is the requested one.
    #[test]
    fn share_of_games_that_go_on() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let openings = Openings::random();
        let starts: Vec<_> =
            (0..4000).map(|_| openings.make(&mut rng, || false).unwrap()).collect();
        for (play_on, range) in [(0, 0..=0), (25, 900..=1100), (100, 4000..=4000)] {
            let rules = Adjudication { play_on, ..RULES };
            let count = starts.iter().filter(|start| rules.plays_on(start)).count();
            assert!(range.contains(&count), "{play_on}: {count}");
        }
    }

    /// A game that is stopped during a search is dropped, and does not change later games.
    #[test]
    fn searches_are_stopped() {
        let usual = Conditions::nodes(200);
        let mut players = SelfPlay::new(usual.clone(), &[None], None).unwrap();
        let mut play = |conditions: &Conditions, signals: &Arc<Signals>| {
            players.conditions = conditions.clone();
            players.play(Position::default(), &mut 0, signals)
        };
        let Played::Game(whole) = play(&usual, &Arc::default()) else { panic!() };
        let signals = Arc::new(Signals::default());
        let stopped = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                signals.stop();
            });
            play(&Conditions::nodes(u64::MAX), &signals)
        });
        assert!(matches!(stopped, Played::Stopped), "{stopped:?}");
        let Played::Game(again) = play(&usual, &Arc::default()) else { panic!() };
        assert_eq!(again.encode(), whole.encode());
    }

    /// Labels are in the units of the network's output, from White's point of view.
    #[test]
    fn labels_of_scores() {
        let mut engine = Engine::new(settings(&Conditions::nodes(100))).unwrap();
        let limits = Limits { depth: Some(1), ..Limits::default() };
        let searched = engine.go(&Job::new(Game::default(), limits), &Silent);
        let outcome = |bound, score| {
            let mut outcome = searched.clone();
            (outcome.info.bound, outcome.info.score) = (bound, score);
            outcome
        };
        let full = |turn: &str| {
            let fen = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR {turn} KQkq - 0 1");
            Position::from_fen(&fen).unwrap()
        };
        let [white, black] = [full("w"), full("b")];
        let exact = outcome(Bound::Exact, 300);
        let unweighted = eval::unweighted(300, white.board()) as i16;
        assert_ne!(unweighted, 300);
        assert_eq!(label(&exact, &white), unweighted);
        assert_eq!(label(&exact, &black), -unweighted);
        assert_eq!(label(&outcome(Bound::Exact, 31_990), &white), 31_990);
        assert_eq!(label(&outcome(Bound::Lower, 300), &white), NO_LABEL);
        assert!(settings(&Conditions::nodes(100)).neutral);
    }

    /// The result and the sign of the scores are from White's point of view, whichever side moves
    /// first.
    #[test]
    fn labels_are_from_whites_point_of_view() {
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
            let start = Position::from_fen(mate).unwrap();
            let mut players = SelfPlay::new(Conditions::nodes(1000), &[None], None).unwrap();
            let (mut nodes, signals) = (0, Arc::default());
            // A mate in one is not a balanced opening.
            let Played::Unbalanced = players.play(start, &mut nodes, &signals) else { panic!() };
            assert!(nodes > 0);
            players.balance = 5000;

            let start = Position::from_fen(won).unwrap();
            let Played::Game(game) = players.play(start, &mut nodes, &signals) else { panic!() };
            assert_eq!(game.result, GameResult::win(winner), "{won}");
            let (_, score) = game.moves[0];
            assert!(score.signum() == if winner.is_white() { 1 } else { -1 }, "{score}");
            let (_, last) = game.moves[game.moves.len() - 1];
            assert!(last.signum() == score.signum() && last.abs() > 900, "{last}");
        }
    }
}
