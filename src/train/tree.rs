//! Positions from inside the search: what the players looked at and did not play.
//!
//! A game goes from good move to good move, but the search that will use the network
//! asks it about positions after bad ones, too (nodchip and others, Stockfish pull
//! request 264, 2021).

use std::sync::Arc;

use rand::{Rng as _, SeedableRng as _, seq::IteratorRandom as _};
use rand_chacha::ChaCha8Rng;

use super::{
    filter::Filter,
    format::{GameResult, Record},
    label,
};
use lancet::{
    chess::{
        position::{Game, Position},
        score::{NO_SCORE, Score},
    },
    engine::{Engine, Job},
    play::report::{Limits, Signals, Silent},
};

/// How far, in centipawns, the static evaluation of a leaf may be from the root's
/// score.
const MARGIN: Score = 200;
/// The table knows no end: positions repeat.
const MAX_PLIES: usize = 32;

/// Picks quiet leaves out of search trees and searches them, with an engine of its
/// own: the games are played as without it.
#[derive(Debug)]
pub struct Sampler {
    engine: Engine,
    /// Share of the searches that a leaf is taken from, in percent.
    share: u32,
    rng: ChaCha8Rng,
    /// The leaves of this game.
    leaves: Vec<Record>,
}

impl Sampler {
    /// A sampler that takes a leaf from `share` percent of the searches, and searches
    /// it with this engine.
    pub fn new(share: u32, engine: Engine) -> Sampler {
        Sampler { engine, share, rng: ChaCha8Rng::seed_from_u64(0), leaves: Vec::new() }
    }

    /// A game from this position begins: what is picked depends on that alone.
    pub fn new_game(&mut self, start: &Position) {
        self.engine.new_game();
        self.rng = ChaCha8Rng::seed_from_u64(start.key());
        self.leaves.clear();
    }

    /// Takes a leaf, perhaps, from what `player` has just searched from `root`, whose
    /// score for the side to move was `score`. Adds the nodes searched to `nodes`. If
    /// `signals` stop it, the leaf is not worth keeping.
    pub fn see(
        &mut self,
        player: &Engine,
        root: &Position,
        score: Score,
        limits: &Limits,
        nodes: &mut u64,
        signals: &Arc<Signals>,
    ) {
        if self.rng.random_range(0..100) >= self.share {
            return;
        }
        let Some(leaf) = quiet_leaf(player, root, score, &mut self.rng) else { return };
        let (game, limits, signals) = (leaf.clone().into(), limits.clone(), Arc::clone(signals));
        let outcome = self.engine.go(&Job { game, limits, signals }, &Silent);
        *nodes += outcome.info.nodes;
        let Some(m) = outcome.best else { return };
        let moves = vec![(m, label::of(&outcome, &leaf, self.engine.network().is_some()))];
        let leaf = Record { start: leaf, result: GameResult::Unknown, moves };
        // It is there for the trainer alone.
        let mut kept = false;
        leaf.visit(|visit| kept = Filter::default().label(visit).is_some());
        self.leaves.extend(kept.then_some(leaf));
    }

    /// The leaves of this game so far: a position, its score, and its best move.
    pub fn leaves(&self) -> &[Record] {
        &self.leaves
    }
}

/// Walks from `root` through the table by random moves to positions that are stored,
/// as far as they go. The last quiet position on the way, if there is one: not in
/// check, and evaluated near `score`, the root's.
fn quiet_leaf(
    player: &Engine,
    root: &Position,
    score: Score,
    rng: &mut ChaCha8Rng,
) -> Option<Position> {
    let (mut position, mut score) = (root.clone(), score);
    let mut leaf = None;
    for _ in 0..MAX_PLIES {
        let stored = |m| {
            let child = position.play(m);
            player.probe(&child).map(|entry| (child, entry.evaluation))
        };
        let children = position.legal_moves().into_iter().filter_map(stored);
        let Some((child, evaluation)) = children.choose_stable(rng) else { break };
        score = -score;
        let quiet =
            !child.is_check() && evaluation != NO_SCORE && (evaluation - score).abs() <= MARGIN;
        position = child;
        if quiet && Game::from(position.clone()).ending().is_none() {
            leaf = Some(position.clone());
        }
    }
    leaf
}
