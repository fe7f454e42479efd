//! Limited strength that resembles weaker human play.
//!
//! A player with a lower rating searches fewer nodes to a lower depth, misjudges positions, and
//! overlooks moves: the opponent's replies, and its own moves after them. It overlooks mostly
//! quiet, long and backward moves. It never gives pieces away at random, and it plays the best move
//! that it sees. Obvious moves take little time, and some others a lot. Up to a rating of 2000, the
//! player misses no mate in one, and no recapture or promotion that wins more than a pawn. It makes
//! no errors in the endings that players of its rating know.
//!
//! A misjudgement depends only on the rating, the position and the game's seed. Therefore a
//! position is misjudged in the same way wherever it occurs in the tree. An oversight also depends
//! on the move and on the distance from the root: at a later ply, a move is easier to overlook.
//! Each game has its own errors.

use std::{ops::RangeInclusive, time::Duration};

use shakmaty::{Board, Color, Move, Role, Square, attacks};

use crate::{
    chess::{
        movegen::Generator,
        position::{Game, PackedMove, Position},
        score::Score,
        see,
    },
    eval::endings::{self, Technique, promotion_square},
    play::{
        clock::{Budget, Stability},
        limits::Limits,
    },
    system::random::mix,
};

/// The limits of a player with a given rating.
#[derive(Clone, Copy, Debug)]
struct Level {
    elo: u32,
    /// Nodes for a move.
    nodes: f64,
    /// Search depth, in plies.
    depth: f64,
    /// Standard deviation of the error in evaluating a position, in centipawns.
    error: f64,
    /// Share of short quiet moves that are overlooked one ply from the root. See
    /// [`Handicap::overlooks`] for later plies and [`obscurity`] for other moves.
    oversight: f64,
}

const fn level(elo: u32, nodes: f64, depth: f64, error: f64, oversight: f64) -> Level {
    Level { elo, nodes, depth, error, oversight }
}

/// The scale. Values for other ratings are interpolated, those of nodes logarithmically. From 1400
/// to 2200 it was measured against Stockfish's UCI_Elo. Below 1400, and from 2200 to 2600, it was
/// measured in self-play. Higher ratings were not measured. See `README.md` in this folder.
const LEVELS: [Level; 13] = [
    level(500, 25.0, 1.0, 620.0, 0.84),
    level(600, 52.0, 1.2, 352.0, 0.56),
    level(800, 90.0, 1.5, 255.0, 0.44),
    level(1000, 158.0, 2.0, 187.0, 0.333),
    level(1200, 281.0, 2.8, 139.0, 0.249),
    level(1400, 530.0, 4.1, 105.0, 0.184),
    level(1600, 1_310.0, 6.1, 74.0, 0.118),
    level(1800, 2_900.0, 8.1, 53.0, 0.077),
    level(2000, 8_800.0, 12.4, 31.0, 0.038),
    level(2200, 20_300.0, 16.4, 18.0, 0.016_5),
    level(2400, 51_000.0, 22.6, 8.0, 0.005_7),
    level(2600, 126_000.0, 31.0, 4.4, 0.003),
    level(3000, 1_200_000.0, 60.0, 0.8, 0.000_4),
];

/// The range of UCI_Elo.
pub const ELO_RANGE: RangeInclusive<u32> = LEVELS[0].elo..=LEVELS[LEVELS.len() - 1].elo;
/// The range of Skill Level. The last level is full strength.
pub const SKILL_RANGE: RangeInclusive<u32> = 0..=20;

/// Returns the rating of a skill level. The levels divide the scale into even steps; full strength
/// has no rating.
pub const fn skill_rating(level: u32) -> Option<u32> {
    let (elo, levels) = (ELO_RANGE, *SKILL_RANGE.end());
    let step = (*elo.end() - *elo.start()) / levels;
    if level < levels { Some(*elo.start() + step * level) } else { None }
}

/// The default of UCI_Elo.
pub const DEFAULT_ELO: u32 = 1500;

/// Highest rating at which only [sure moves](sure_moves) are searched where there are any. Stronger
/// players search the other moves too.
const SURE_UP_TO: u32 = 2000;

/// Minimum number of nodes for a move in an ending that the player knows. `README.md` in this
/// folder shows how many of 50 such endings the player wins within fifty moves.
const KNOWN_NODES: u64 = 5_000;

/// A player of limited strength, in one game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handicap {
    /// Nodes for a move.
    nodes: u64,
    /// Search depth, in plies.
    depth: u32,
    elo: u32,
    error: f64,
    oversight: f64,
    seed: u64,
}

impl Handicap {
    /// Returns a player of this rating, clamped to [`ELO_RANGE`]. `seed` determines its oversights
    /// and misjudgements.
    pub fn new(elo: u32, seed: u64) -> Handicap {
        let elo = elo.clamp(*ELO_RANGE.start(), *ELO_RANGE.end());
        let above = LEVELS.partition_point(|level| level.elo < elo).max(1);
        let (a, b) = (LEVELS[above - 1], LEVELS[above]);
        let share = f64::from(elo - a.elo) / f64::from(b.elo - a.elo);
        let between = |a: f64, b: f64| a + share * (b - a);
        Handicap {
            nodes: between(a.nodes.ln(), b.nodes.ln()).exp().round() as u64,
            depth: between(a.depth, b.depth).round() as u32,
            error: between(a.error, b.error),
            oversight: between(a.oversight, b.oversight),
            elo,
            seed,
        }
    }

    /// Returns a player without errors in an ending that every player of the rating can win;
    /// otherwise `self`.
    #[must_use]
    pub fn in_ending(self, game: &Game) -> Handicap {
        if needed(game.position()).is_none_or(|elo| elo > self.elo) {
            return self;
        }
        let nodes = self.nodes.max(KNOWN_NODES);
        Handicap { nodes, depth: u32::MAX, error: 0.0, oversight: 0.0, ..self }
    }

    /// Returns a hash of everything that this player's evaluations depend on.
    pub fn fingerprint(&self) -> u64 {
        mix(mix(self.seed ^ u64::from(self.elo)) ^ self.error.to_bits())
    }

    /// Returns the limits of a search by this player. Up to a rating of 2000, it searches only the
    /// sure moves, if there are any.
    #[must_use]
    pub fn limit(&self, limits: &Limits, game: &Game) -> Limits {
        let mut searchmoves = limits.searchmoves.clone();
        if searchmoves.is_empty() && self.elo <= SURE_UP_TO {
            searchmoves = sure_moves(game);
        }
        Limits {
            nodes: Some(limits.nodes.map_or(self.nodes, |nodes| nodes.min(self.nodes))),
            depth: Some(limits.depth.map_or(self.depth, |depth| depth.min(self.depth))),
            searchmoves,
            ..limits.clone()
        }
    }

    /// Returns the error in evaluating a position, in centipawns for the side to move. A third of
    /// its variance depends only on the pawn structure, so that the player is wrong in the same way
    /// for many moves.
    pub fn misjudgement(&self, position: &Position) -> Score {
        let keys = position.keys();
        let structure = normal(mix(keys.pawns ^ self.seed));
        let structure = if position.turn().is_white() { structure } else { -structure };
        let moment = normal(mix(keys.position ^ self.seed));
        (self.error * (0.58 * structure + 0.81 * moment)) as Score
    }

    /// Returns whether the player overlooks this move, `ply` plies from the root. It overlooks no
    /// move at the root, because people consider those one by one, and no reply to a check. At
    /// later plies, it overlooks a larger share: a tenth more for each ply after the first, up to
    /// twice that of the first ply.
    pub fn overlooks(&self, position: &Position, m: Move, ply: usize) -> bool {
        if ply == 0 || position.is_check() {
            return false;
        }
        let share =
            self.oversight * obscurity(position, m) * (1.0 + 0.1 * (ply - 1).min(10) as f64);
        let bits = u64::from(PackedMove::from(m).bits());
        let random = mix(position.key() ^ self.seed ^ bits << 40) >> 32;
        (random as f64) < share.min(0.9) * f64::from(u32::MAX)
    }

    /// Returns the time to use before playing `m`. On average, the player uses as much time as the
    /// engine at full strength. The time varies like a human's: its distribution is roughly
    /// log-normal. It never exceeds the budget. `stability` is that of the search that found the
    /// move.
    pub fn thinking_time(
        &self,
        budget: Budget,
        game: &Game,
        m: Move,
        stability: &Stability,
    ) -> Duration {
        let Some(soft) = budget.soft else { return budget.hard };
        let doubt = if is_obvious(game, m) {
            OBVIOUS
        } else if stability.iterations < TELLING_DEPTH {
            1.0
        } else {
            stability.without_scores().scale().clamp(0.4, 2.0)
        };
        // Mixed twice to be independent of the misjudgements.
        let mood = IRREGULARITY * normal(mix(mix(game.position().key() ^ self.seed)));
        let mean = (IRREGULARITY * IRREGULARITY / 2.0).exp();
        // Dividing by the mean of exp(mood) keeps the average time.
        soft.mul_f64(doubt * mood.exp() / mean).min(budget.hard)
    }
}

/// Standard deviation of the logarithm of the time for a move. The value is conventional and was
/// not measured.
const IRREGULARITY: f64 = 0.6;
/// Time for an obvious move as a share of the usual time. The value is conventional and was not
/// measured.
const OBVIOUS: f64 = 0.3;

/// Minimum number of iterations for a meaningful [`Stability`].
const TELLING_DEPTH: u32 = 5;

/// Returns the minimum rating at which players are assumed to win this ending for the side to move;
/// `None` for other positions.
fn needed(position: &Position) -> Option<u32> {
    let (board, us) = (position.board(), position.turn());
    if endings::against_bare_king(board) == Some(us)
        && let Some(technique) = endings::technique(board, us)
    {
        return Some(match technique {
            Technique::Queen => 800,
            Technique::Rook => 1200,
            Technique::Bishops => 1700,
            Technique::BishopAndKnight => 2000,
        });
    }
    let (ours, theirs) = (board.by_color(us), board.by_color(!us));
    if let Some(pawn) = (theirs & board.pawns()).single_square()
        && theirs.count() == 2
        && ours.is_subset(board.kings() | board.queens())
        && ours.count() == 2
    {
        return (pawn.distance(promotion_square(pawn, !us)) >= 2).then_some(1200);
    }
    runs(board, us).then_some(800)
}

/// Returns whether `us`, the side to move, has an unstoppable passed pawn: the opponent has only
/// king and pawns, its king is too far away, and its pawns need more moves to promote.
fn runs(board: &Board, us: Color) -> bool {
    let (pawns, theirs) = (board.pawns(), board.by_color(!us));
    let moves = |pawn: Square, color| {
        let far = pawn.distance(promotion_square(pawn, color));
        // A first move may be two squares long.
        if far == 6 { 5 } else { far }
    };
    let fastest = (theirs & pawns).into_iter().map(|pawn| moves(pawn, !us)).min();
    let escapes = |pawn: Square| {
        let goal = promotion_square(pawn, us);
        let way = attacks::between(pawn, goal).with(goal);
        (board.occupied() & way).is_empty()
            && (theirs & pawns).into_iter().all(|other| other.file().distance(pawn.file()) > 1)
            && board.king_of(!us).is_some_and(|king| king.distance(goal) > pawn.distance(goal))
            && fastest.is_none_or(|fastest| fastest > moves(pawn, us))
    };
    theirs.is_subset(board.kings() | pawns) && (pawns & board.by_color(us)).into_iter().any(escapes)
}

/// Returns the moves that people do not miss. If there are moves that mate, it returns these.
/// Otherwise, if a recapture or a promotion wins more than a pawn, it returns all moves that win
/// more than a pawn. In all other positions the list is empty. Underpromotions and stalemates do
/// not count as wins.
fn sure_moves(game: &Game) -> Vec<Move> {
    let position = game.position();
    let moves = position.legal_moves();
    let replies = |m| {
        let child = position.play(m);
        (Generator::new(&child).any(), child.is_check())
    };
    let mates = |m: &Move| replies(*m) == (false, true);
    let wins = |m: &Move| {
        m.promotion().is_none_or(|role| role == Role::Queen)
            && see::see_ge(position, *m, see::value(Role::Pawn) + 1)
            && replies(*m) != (false, false)
    };
    let stands_out = |m: &Move| see::recaptures(game.last(), *m) || m.is_promotion();
    if moves.iter().any(mates) {
        moves.into_iter().filter(mates).collect()
    } else if moves.iter().any(|m| stands_out(m) && wins(m)) {
        moves.into_iter().filter(wins).collect()
    } else {
        Vec::new()
    }
}

/// Returns whether `m` is obvious: it recaptures, or every other move loses material at once.
fn is_obvious(game: &Game, m: Move) -> bool {
    let position = game.position();
    let only = || {
        let keeps = |other: &Move| see::see_ge(position, *other, 0);
        position.legal_moves().iter().all(|other| keeps(other) == (*other == m))
    };
    see::recaptures(game.last(), m) || only()
}

/// Returns how easily a move is overlooked, relative to a short quiet one.
fn obscurity(position: &Position, m: Move) -> f64 {
    let kind = match m.capture() {
        // Captures of a more valuable piece are easy to see.
        Some(captured) if see::value(captured) > see::value(m.role()) => 0.25,
        Some(_) => 0.4,
        None if m.is_promotion() => 0.4,
        None => 1.0,
    };
    let Some(from) = m.from().filter(|_| !m.is_castle()) else { return kind };
    let to = m.to();
    let long = if from.distance(to) >= 4 { 1.5 } else { 1.0 };
    let forward = i32::from(to.rank()) - i32::from(from.rank());
    let backward = if position.turn().is_white() { forward < 0 } else { forward > 0 };
    kind * long * if backward { 1.3 } else { 1.0 }
}

/// Converts random bits to a number that is roughly normally distributed, with mean 0 and standard
/// deviation 1. It is a sum of four uniform numbers, which has mean 2 and standard deviation sqrt(4
/// / 12) = 0.577 before it is shifted and scaled.
fn normal(bits: u64) -> f64 {
    let sum: u64 = (0..4).map(|i| bits >> (16 * i) & 0xffff).sum();
    (sum as f64 / 65_536.0 - 2.0) / 0.577
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn skill_levels_are_even_steps_of_the_scale() {
        let ratings: Vec<u32> = SKILL_RANGE.map_while(skill_rating).collect();
        assert_eq!(ratings.len(), 20);
        assert_eq!((ratings[0], ratings[19]), (500, 2875));
        assert!(ratings.windows(2).all(|pair| pair[1] - pair[0] == 125), "{ratings:?}");
        assert_eq!(skill_rating(20), None);
    }

    fn positions() -> Vec<Position> {
        let mut position = Position::default();
        let mut positions = Vec::new();
        let mut random = 1;
        while positions.len() < 400 {
            let moves = position.legal_moves();
            if moves.is_empty() || positions.len().is_multiple_of(80) {
                position = Position::default();
            } else {
                random = mix(random);
                position = position.play(moves[(random % moves.len() as u64) as usize]);
            }
            positions.push(position.clone());
        }
        positions
    }

    /// Returns the share of all replies that a player of this rating overlooks.
    fn overlooked(elo: u32, choose: impl Fn(Move) -> bool) -> f64 {
        let handicap = Handicap::new(elo, 7);
        let (mut all, mut missed) = (0.0, 0.0);
        for position in positions() {
            for m in position.legal_moves().into_iter().filter(|&m| choose(m)) {
                all += 1.0;
                missed += f64::from(u8::from(handicap.overlooks(&position, m, 1)));
            }
        }
        missed / all
    }

    fn error(elo: u32) -> f64 {
        let handicap = Handicap::new(elo, 7);
        let squares =
            positions().iter().map(|p| f64::from(handicap.misjudgement(p)).powi(2)).sum::<f64>();
        (squares / positions().len() as f64).sqrt()
    }

    #[test]
    fn better_players_see_more_and_err_less() {
        let ratings: Vec<u32> = ELO_RANGE.step_by(100).collect();
        for pair in ratings.windows(2) {
            let (weak, strong) = (Handicap::new(pair[0], 1), Handicap::new(pair[1], 1));
            assert!(weak.nodes < strong.nodes && weak.depth <= strong.depth, "{pair:?}");
            assert!(weak.error > strong.error && weak.oversight > strong.oversight, "{pair:?}");
        }
        assert_eq!(Handicap::new(0, 1), Handicap::new(*ELO_RANGE.start(), 1));
        assert_eq!(Handicap::new(9999, 1), Handicap::new(*ELO_RANGE.end(), 1));
        for pair in [500, 1000, 1500, 2000, 2500, 3000].windows(2) {
            assert!(overlooked(pair[0], |_| true) > overlooked(pair[1], |_| true), "{pair:?}");
            assert!(error(pair[0]) > error(pair[1]), "{pair:?}");
        }
        assert!(overlooked(3000, |_| true) < 0.001);
        assert!(error(3000) < 1.0);
    }

    /// Errors have the size given in [`LEVELS`] and the kind that the module describes.
    #[test]
    fn errors_are_human() {
        for level in LEVELS {
            assert!((error(level.elo) - level.error).abs() < 0.15 * level.error + 1.0);
        }
        let quiet = overlooked(1000, |m| !m.is_capture());
        let captures = overlooked(1000, |m| m.is_capture());
        assert!(quiet > 1.5 * captures, "{quiet} {captures}");
        let far =
            |m: Move| !m.is_castle() && m.from().is_some_and(|from| from.distance(m.to()) >= 4);
        let long = overlooked(1000, |m| !m.is_capture() && far(m));
        let short = overlooked(1000, |m| !m.is_capture() && !far(m));
        assert!(long > 1.2 * short, "{long} {short}");
        let checked = Position::from_fen("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1");
        let checked = checked.unwrap();
        let weakest = |seed| Handicap::new(500, seed);
        for m in checked.legal_moves() {
            assert!((0..100).all(|seed| !weakest(seed).overlooks(&checked, m, 3)));
        }
        for position in positions() {
            for m in position.legal_moves() {
                assert!(!weakest(3).overlooks(&position, m, 0), "a move is overlooked at the root");
            }
        }
    }

    /// The errors are the same throughout a game and differ between games.
    #[test]
    fn errors_belong_to_the_game() {
        let all = |seed| -> Vec<Score> {
            positions().iter().map(|p| Handicap::new(900, seed).misjudgement(p)).collect()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
    }

    fn game(fen: &str, moves: &[&str]) -> Game {
        let position = Position::from_fen(fen).unwrap();
        let mut game = Game::from(position);
        for text in moves {
            game.play(crate::chess::notation::read_move(game.position(), text).unwrap());
        }
        game
    }

    /// Most moves take less than the mean and some take far longer. The mean is the planned time.
    #[test]
    fn time_is_used_irregularly() {
        let budget = Budget { soft: Some(Duration::from_secs(1)), hard: Duration::from_secs(60) };
        // A move of average difficulty, for which the factor is 1.
        let stability = Stability {
            iterations: 9,
            same_best: 2,
            changes: 0.4,
            same_score: 5,
            best_share: 0.76,
            ..Stability::default()
        };
        assert!((stability.scale() - 1.0).abs() < 0.01);
        let times = |game: &Game, m: Move| -> Vec<f64> {
            let time = |seed| Handicap::new(1500, seed).thinking_time(budget, game, m, &stability);
            let mut times: Vec<f64> = (0..4000).map(|seed| time(seed).as_secs_f64()).collect();
            times.sort_by(f64::total_cmp);
            times
        };
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
        let start = Game::default();
        let usual = times(&start, start.position().legal_moves()[0]);
        assert!((mean(&usual) - 1.0).abs() < 0.05, "{}", mean(&usual));
        let (short, middle, long) = (usual[200], usual[2000], usual[3800]);
        assert!((0.7..0.95).contains(&middle), "{middle}");
        assert!(short < 0.4 && long > 2.0, "{short} {long}");

        let exchanged = game(crate::chess::position::START_FEN, &["e2e4", "d7d5", "e4d5"]);
        let back = crate::chess::notation::read_move(exchanged.position(), "d8d5").unwrap();
        let quick = times(&exchanged, back);
        assert!((mean(&quick) / mean(&usual) - OBVIOUS).abs() < 0.02, "{}", mean(&quick));

        // After few iterations the stability does not matter.
        let (m, handicap) = (start.position().legal_moves()[0], Handicap::new(700, 1));
        let time = |iterations, stability| {
            let stability = Stability { iterations, ..stability };
            handicap.thinking_time(budget, &start, m, &stability)
        };
        let fresh = Stability::default();
        assert_eq!(time(1, fresh), time(1, stability));
        assert!(time(9, fresh) > time(9, stability));
    }

    #[test]
    fn obvious_moves() {
        let obvious = |game: &Game, text: &str| {
            is_obvious(game, crate::chess::notation::read_move(game.position(), text).unwrap())
        };
        let exchanged = game(crate::chess::position::START_FEN, &["e2e4", "d7d5", "e4d5"]);
        assert!(obvious(&exchanged, "d8d5"));
        assert!(!obvious(&exchanged, "g8f6"));
        // A capture, but not a recapture.
        assert!(!obvious(&game(crate::chess::position::START_FEN, &["e2e4", "d7d5"]), "e4d5"));
        // One of the two replies to the check loses the queen.
        let checked = game("3rk3/8/8/8/4r3/8/3P1P2/3QK3 w - - 0 1", &[]);
        assert!(obvious(&checked, "e1f1"));
        assert!(!obvious(&checked, "d1e2"));
    }

    #[test]
    fn sure_moves_of_examples() {
        let start = crate::chess::position::START_FEN;
        for (fen, moves, sure) in [
            (start, &["f2f3", "e7e5", "g2g4"][..], &["d8h4"][..]),
            (start, &["e2e4", "d7d5"], &[]),
            (start, &["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6"], &["b7c6", "d7c6"]),
            // A promotion to a queen, unless it is captured or gives stalemate.
            ("8/P6k/8/8/8/8/7K/8 w - - 0 1", &[], &["a7a8q"]),
            ("8/P7/1k6/8/8/7K/r7/8 w - - 0 1", &[], &[]),
            ("8/2P5/k1K5/8/8/8/8/8 w - - 0 1", &[], &["c7c8q"]),
            ("8/k1P5/2K5/8/8/8/8/8 w - - 0 1", &[], &[]),
            ("k7/2P5/1K6/8/8/8/8/8 w - - 0 1", &[], &["c7c8q", "c7c8r"]),
        ] {
            let game = game(fen, moves);
            let mut found: Vec<String> = sure_moves(&game)
                .into_iter()
                .map(|m| m.to_uci(shakmaty::CastlingMode::Standard).to_string())
                .collect();
            found.sort();
            assert_eq!(found, sure, "{fen} {moves:?}");
        }
    }

    #[test]
    fn endings_are_known_from_a_minimum_rating() {
        for (fen, rating) in [
            ("8/8/8/3k4/8/8/8/KQ6 w - - 0 1", Some(800)),
            ("8/8/8/3k4/8/8/8/KQ6 b - - 0 1", None),
            ("8/8/8/3k4/8/8/8/KRR5 w - - 0 1", Some(800)),
            ("8/8/8/3k4/8/8/7P/KRB5 w - - 0 1", Some(1200)),
            ("8/8/8/3k4/8/8/8/KBB5 w - - 0 1", Some(1700)),
            ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", Some(2000)),
            ("8/8/8/3k4/8/8/8/KNN5 w - - 0 1", None),
            ("8/8/8/3k4/8/p7/8/5KQ1 w - - 0 1", Some(1200)),
            ("8/8/8/3k4/8/8/p7/5KQ1 w - - 0 1", None),
            // The pawn is unstoppable, or a king catches it, or its path is not free.
            ("8/P6k/8/8/8/8/7K/8 w - - 0 1", Some(800)),
            ("8/8/5k2/8/P7/8/7K/8 w - - 0 1", Some(800)),
            ("8/8/4k3/8/P7/8/7K/8 w - - 0 1", None),
            ("8/8/6pk/8/P7/8/6PP/6K1 w - - 0 1", Some(800)),
            ("8/1p4pk/8/8/P7/8/6PP/6K1 w - - 0 1", None),
            // Another pawn promotes first, or needs as many moves.
            ("8/8/8/8/P7/8/5p2/K6k w - - 0 1", None),
            ("8/8/8/8/P5p1/8/8/K6k w - - 0 1", None),
            ("8/8/6p1/8/P7/8/8/K6k w - - 0 1", Some(800)),
            ("8/K7/7k/8/P7/8/8/8 w - - 0 1", None),
            ("8/P4r1k/8/8/8/8/7K/8 w - - 0 1", None),
            (crate::chess::position::START_FEN, None),
        ] {
            assert_eq!(needed(game(fen, &[]).position()), rating, "{fen}");
        }
    }

    proptest! {
        #[test]
        fn no_time_beyond_the_clock(
            elo in ELO_RANGE,
            seed: u64,
            soft in 0_u64..100_000,
            rest in 0_u64..100_000,
            same_best in 0_u32..20,
            best_share in 0.0..1.0,
            iterations in 0_u32..20,
        ) {
            let millis = Duration::from_millis;
            let budget = Budget { soft: Some(millis(soft)), hard: millis(soft + rest) };
            let stability = Stability { iterations, same_best, best_share, ..Stability::default() };
            let game = Game::default();
            let m = game.position().legal_moves()[0];
            let handicap = Handicap::new(elo, seed);
            let time = |budget| handicap.thinking_time(budget, &game, m, &stability);
            prop_assert!(time(budget) <= budget.hard);
            let exact = Budget { soft: None, ..budget };
            prop_assert_eq!(time(exact), budget.hard);
        }
    }
}
