//! The algorithms inside the tree. Each is one short function that can be compared with its source.
//! [`Search::node`] does what every node needs for any algorithm: table, score delay and counting.
//!
//! In all of them, except the listings as printed, a move replaces the best move only if it is
//! better (`>`). The lecture notes write `>=`. With `>=`, a move that merely failed low, and
//! returned a bound equal to the best score, replaces the move that really has that score.

use clap::ValueEnum;

use super::{
    game::{Game, NodeResult},
    node::{Search, Selectivity},
};
use lancet::chess::score::{Bounds, INFINITE, MATE, Score, Window};

/// The axis "interior".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Interior {
    /// Plain minimax, without pruning. For small depths only.
    Minimax,
    /// Minimax that leaves a node as soon as it finds a winning move.
    StopAtWin,
    /// Alpha-beta that returns no score below alpha or above beta.
    FailHard,
    /// Alpha-beta that returns the best score found, inside the window or not.
    FailSoft,
    /// Alpha-beta that returns a lower and an upper bound.
    Bounds,
    /// Null-window tests by alpha-beta with re-searches, in maximin form.
    Scout,
    /// Principal variation search (NegaScout): Scout in negamax form.
    Pvs,
    /// PVS that re-searches even if the test returned beta or more.
    PvsAlways,
    /// PVS with a separate null-window search that takes only depth and alpha.
    PvsZw,
    /// Fail-hard alpha-beta in which each side carries its own lower bound.
    OwnBounds,
    /// Fail-hard alpha-beta as the lecture notes print it, which may return a score above beta.
    FailHardPrinted,
    /// PVS as the lecture notes print it, in which the first move does not raise alpha.
    PvsPrinted,
    /// `own-bounds` started with minus and plus infinity, as other listings are.
    OwnBoundsPrinted,
}

impl Interior {
    /// Searches the moves of one node with this algorithm.
    pub(super) fn search<G: Game>(self, s: &mut Search<G>, n: &Node<G>) -> NodeResult<G::Move> {
        match self {
            Interior::Minimax => minimax(s, n, self, INFINITE),
            Interior::StopAtWin => minimax(s, n, self, MATE),
            Interior::FailHard | Interior::FailHardPrinted => fail_hard(s, n, self),
            Interior::FailSoft => fail_soft(s, n),
            Interior::Bounds => bounds(s, n),
            Interior::Scout if n.position.max_to_move() => scout_max(s, n),
            Interior::Scout => scout_min(s, n),
            Interior::PvsZw if n.window.is_null() => zero_window(s, n),
            Interior::Pvs | Interior::PvsAlways | Interior::PvsZw => pvs(s, n, self),
            Interior::PvsPrinted => pvs_printed(s, n),
            Interior::OwnBounds | Interior::OwnBoundsPrinted => own_bounds(s, n, self),
        }
    }

    /// Returns whether this is a listing as printed, whose score or best move may be wrong.
    pub const fn is_printed(self) -> bool {
        use Interior::{FailHardPrinted, OwnBoundsPrinted, PvsPrinted};
        matches!(self, FailHardPrinted | PvsPrinted | OwnBoundsPrinted)
    }

    /// Returns whether this is a variant of another interior with (nearly) the same tree, or a
    /// listing as printed.
    pub const fn is_variant(self) -> bool {
        matches!(self, Interior::PvsAlways | Interior::PvsZw | Interior::OwnBounds)
            || self.is_printed()
    }
}

/// A node that is being searched.
pub(super) struct Node<'a, G: Game> {
    pub(super) position: &'a G,
    /// The moves in search order; at least one.
    pub(super) moves: &'a [G::Move],
    /// Depth in plies, at least one.
    pub(super) depth: u32,
    /// The window, from the point of view of the side to move.
    pub(super) window: Window,
}

impl<G: Game> Node<'_, G> {
    /// Searches the position after a move, and returns the score for the side to move there.
    fn child(&self, s: &mut Search<G>, by: Interior, m: G::Move, window: Window) -> Score {
        s.score(by, &self.position.make(m), self.depth - 1, window)
    }

    /// Does the same as `child`, with window and score from MAX's point of view.
    fn child_for_max(&self, s: &mut Search<G>, by: Interior, m: G::Move, window: Window) -> Score {
        // Where MAX moves here, MIN moves in the child.
        if self.position.max_to_move() {
            -self.child(s, by, m, window.flip())
        } else {
            self.child(s, by, m, window)
        }
    }
}

/// The best score so far and its move.
struct Best<M> {
    score: Score,
    best: Option<M>,
}

impl<M> Best<M> {
    const NONE: Best<M> = Best { score: -INFINITE, best: None };

    fn improve(&mut self, score: Score, m: M) {
        if score > self.score {
            *self = Best { score, best: Some(m) };
        }
    }

    /// Returns the node's result after a search with `window`. If the search failed low, the best
    /// move is not known.
    fn within(self, window: Window) -> NodeResult<M> {
        let best = if self.score > window.alpha { self.best } else { None };
        NodeResult { bounds: Bounds::of(self.score, window), best }
    }
}

/// Searches with minimax in negamax form: every move of every node, until one is worth `enough`.
///
/// For minimax proper, `enough` is infinite. For "stop when you get to a win" (Burch 1997) it is
/// the score of a won game, because no other move can be better. (With a score delay, no win in the
/// lab's games has this score at the node. Then the search never stops early, and is plain
/// minimax.)
fn minimax<G: Game>(
    s: &mut Search<G>,
    n: &Node<G>,
    itself: Interior,
    enough: Score,
) -> NodeResult<G::Move> {
    let mut current = Best::NONE;
    for &m in n.moves {
        current.improve(-n.child(s, itself, m, Window::FULL), m);
        if current.score >= enough {
            break;
        }
    }
    NodeResult { bounds: Bounds::exact(current.score), best: current.best }
}

/// Searches with basic (fail-hard) alpha-beta: Eppstein 1999. (For the form of Burch 1997, in which
/// each side carries its own lower bound, see [`own_bounds`].) As printed, a move that only equals
/// alpha replaces the best move, and a score above beta is returned unchanged.
fn fail_hard<G: Game>(s: &mut Search<G>, n: &Node<G>, itself: Interior) -> NodeResult<G::Move> {
    let printed = itself == Interior::FailHardPrinted;
    let Window { mut alpha, beta } = n.window;
    let mut best = None;
    for &m in n.moves {
        let score = -n.child(s, itself, m, Window::new(-beta, -alpha));
        if score > alpha || printed && score == alpha {
            alpha = score;
            best = Some(m);
        }
        if alpha >= beta {
            if !printed {
                alpha = beta;
            }
            break;
        }
    }
    NodeResult { bounds: Bounds::of(alpha, n.window), best }
}

/// Searches with fail-soft alpha-beta: Eppstein 1999. The best score has a variable of its own, so
/// that the result of a search that fails shows by how much it fails.
fn fail_soft<G: Game>(s: &mut Search<G>, n: &Node<G>) -> NodeResult<G::Move> {
    let Window { mut alpha, beta } = n.window;
    let mut current = Best::NONE;
    for &m in n.moves {
        let score = -n.child(s, Interior::FailSoft, m, Window::new(-beta, -alpha));
        current.improve(score, m);
        alpha = alpha.max(score);
        if alpha >= beta {
            break;
        }
    }
    current.within(n.window)
}

/// Searches with alpha-beta that returns bounds: Scout notes. The interval of a node runs from the
/// maximum of its moves' lower bounds to the maximum of their upper bounds. A move that was not
/// searched could be worth anything, so the upper bound is then infinite.
fn bounds<G: Game>(s: &mut Search<G>, n: &Node<G>) -> NodeResult<G::Move> {
    let Window { mut alpha, beta } = n.window;
    let mut bound = Bounds::exact(-INFINITE);
    let mut best = None;
    for &m in n.moves {
        if alpha >= beta {
            bound.upper = INFINITE;
            break;
        }
        let position = n.position.make(m);
        let window = Window::new(-beta, -alpha);
        let child = s.node(Interior::Bounds, &position, n.depth - 1, window).flip();
        if child.lower > bound.lower {
            best = Some(m);
        }
        bound = Bounds::new(bound.lower.max(child.lower), bound.upper.max(child.upper));
        alpha = alpha.max(bound.lower);
    }
    NodeResult { bounds: bound, best }
}

/// Searches a MAX node with Scout: Scout notes, where all values are from MAX's point of view.
/// Alpha-beta tests whether a move is better than the best one so far. If it is, Scout searches for
/// its value. As in the source, alpha-beta also searches the first move, with the whole window. PVS
/// tests with null windows below the first move too.
fn scout_max<G: Game>(s: &mut Search<G>, n: &Node<G>) -> NodeResult<G::Move> {
    let Window { mut alpha, beta } = n.window;
    let mut current = Best::NONE;
    let mut b = beta;
    for &m in n.moves {
        if alpha >= beta {
            break;
        }
        let mut score = n.child_for_max(s, Interior::FailSoft, m, Window::new(alpha, b));
        if b <= score && score < beta {
            s.cost.researches += 1;
            score = n.child_for_max(s, Interior::Scout, m, Window::new(b, beta));
        }
        current.improve(score, m);
        alpha = alpha.max(current.score);
        b = alpha + 1;
    }
    current.within(n.window)
}

/// Searches a MIN node with Scout. The source calls it symmetric: the window closes from above. As
/// in the source, it is a separate function, because one function for both would be the negamax
/// form, which is PVS. `n.window` and the result are from the point of view of the side to move, as
/// everywhere. Inside the function, values are from MAX's point of view.
fn scout_min<G: Game>(s: &mut Search<G>, n: &Node<G>) -> NodeResult<G::Move> {
    let Window { alpha, mut beta } = n.window.flip();
    let mut current = Best::NONE;
    let mut a = alpha;
    for &m in n.moves {
        if alpha >= beta {
            break;
        }
        let mut score = n.child_for_max(s, Interior::FailSoft, m, Window::new(a, beta));
        if alpha < score && score <= a {
            s.cost.researches += 1;
            score = n.child_for_max(s, Interior::Scout, m, Window::new(alpha, a));
        }
        current.improve(-score, m);
        beta = beta.min(-current.score);
        a = beta - 1;
    }
    current.within(n.window)
}

/// Searches with fail-soft principal variation search: Eppstein 1999. The notes' listing does not
/// raise alpha to the first move's score (nor cut on it). So its null windows test moves against
/// the node's alpha, until a later move is as good as the best one.
///
/// The notes re-search a move that passed the test only if `score < beta`. A score of beta or more
/// is a lower bound that cuts, so a re-search gains nothing. A program whose tests are reduced, or
/// that needs the principal variation after a fail high, re-searches nevertheless
/// ([`Interior::PvsAlways`]). In a null window this would only repeat the test.
fn pvs<G: Game>(s: &mut Search<G>, n: &Node<G>, itself: Interior) -> NodeResult<G::Move> {
    let Window { mut alpha, beta } = n.window;
    let always = itself == Interior::PvsAlways && !n.window.is_null();
    let reduces = n.depth >= 3 && s.selects(Selectivity::Reductions);
    let mut current = Best::NONE;
    for (i, &m) in n.moves.iter().enumerate() {
        let full = Window::new(-beta, -alpha);
        let first = if i == 0 { full } else { Window::null(alpha).flip() };
        let late = reduces && i >= 3 && n.position.gain(m) == 0;
        let shallow = late.then(|| {
            // The distance from the root is `root_depth` less the remaining depth.
            s.root_depth -= 1;
            let score = -s.score(itself, &n.position.make(m), n.depth - 2, first);
            s.root_depth += 1;
            score
        });
        let mut score = match shallow {
            Some(score) if score <= alpha => score,
            _ => -n.child(s, itself, m, first),
        };
        if i > 0 && alpha < score && (score < beta || always) {
            s.cost.researches += 1;
            score = -n.child(s, itself, m, full);
        }
        current.improve(score, m);
        alpha = alpha.max(score);
        if alpha >= beta {
            break;
        }
    }
    current.within(n.window)
}

/// Searches with PVS as Eppstein 1999 prints it: the first move's score neither raises alpha nor
/// cuts.
fn pvs_printed<G: Game>(s: &mut Search<G>, n: &Node<G>) -> NodeResult<G::Move> {
    let Window { mut alpha, beta } = n.window;
    let mut current = Best::NONE;
    for (i, &m) in n.moves.iter().enumerate() {
        let full = Window::new(-beta, -alpha);
        let first = if i == 0 { full } else { Window::null(alpha).flip() };
        let mut score = -n.child(s, Interior::PvsPrinted, m, first);
        if i > 0 && alpha < score && score < beta {
            s.cost.researches += 1;
            score = -n.child(s, Interior::PvsPrinted, m, full);
        }
        if score >= current.score {
            current = Best { score, best: Some(m) };
            if i > 0 {
                alpha = alpha.max(score);
                if score >= beta {
                    break;
                }
            }
        }
    }
    current.within(n.window)
}

/// Searches with a null window, as PVS does in its tests and MTD(f) in every pass: "a simpler
/// two-parameter form" (Eppstein 1999). Beta is alpha + 1, so a score above alpha cuts, and alpha
/// never rises.
fn zero_window<G: Game>(s: &mut Search<G>, n: &Node<G>) -> NodeResult<G::Move> {
    let alpha = n.window.alpha;
    let mut current = Best::NONE;
    for &m in n.moves {
        current.improve(-n.child(s, Interior::PvsZw, m, Window::null(alpha).flip()), m);
        if current.score > alpha {
            break;
        }
    }
    current.within(n.window)
}

/// Searches with alpha-beta as Burch 1997 writes it. Instead of beta it has the opponent's own
/// lower bound (`other`), from the opponent's point of view. A move swaps the two bounds and
/// negates neither. The listing is correct if it starts with both bounds at minus infinity.
/// `own-bounds-printed` starts with `other` at plus infinity.
fn own_bounds<G: Game>(s: &mut Search<G>, n: &Node<G>, itself: Interior) -> NodeResult<G::Move> {
    let begun_wrong = itself == Interior::OwnBoundsPrinted && n.window == Window::FULL;
    let other = if begun_wrong { INFINITE } else { -n.window.beta };
    let mut own = n.window.alpha;
    let mut best = None;
    for &m in n.moves {
        // In the child, the window is (other, -own).
        let value = -n.child(s, itself, m, Window::new(other, -own));
        if value > own {
            own = value;
            best = Some(m);
            if own >= -other {
                return NodeResult { bounds: Bounds::at_least(-other), best };
            }
        }
    }
    NodeResult { bounds: Bounds::of(own, n.window), best }
}
