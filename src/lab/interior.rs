//! The algorithms inside the tree, each one short function to be read beside
//! its source. What every node needs whatever the algorithm (table, delay,
//! counting) happens in [`Search::node`], around these functions.
//!
//! In all of them a move displaces the best one only if it is better (`>`).
//! The notes write `>=`, and then a move that merely failed low, and so came
//! back with a bound equal to the best score, would displace the move that
//! truly has that score.

use clap::ValueEnum;

use super::{
    game::{Game, NodeResult},
    node::{Search, Selectivity},
};
use lancet::chess::score::{Bounds, INFINITE, MATE, Score, Window};

/// The axis "interior".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Interior {
    /// The reference: no pruning. Shallow only.
    Minimax,
    /// Minimax that leaves a node as soon as it has found a won move.
    StopAtWin,
    /// Alpha-beta that returns alpha, beta or a number in between.
    FailHard,
    /// Alpha-beta that returns the best score found, inside the window or not.
    FailSoft,
    /// Alpha-beta that returns a lower and an upper bound.
    Bounds,
    /// Null-window tests by alpha-beta, then a re-search, in maximin form.
    Scout,
    /// Principal variation search (NegaScout): the same in negamax form.
    Pvs,
    /// PVS that searches again although the test already failed high.
    PvsAlways,
    /// PVS whose null windows are searched by a function of depth and alpha alone.
    PvsZw,
    /// Fail-hard alpha-beta whose sides each carry a lower bound of their own.
    OwnBounds,
    /// Fail-hard alpha-beta as the lecture notes print it: returns the last score.
    FailHardPrinted,
    /// PVS as the lecture notes print it: tests every move against the node's alpha.
    PvsPrinted,
    /// `own-bounds` begun with minus and plus infinity, as other listings are.
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

    /// Is it a listing with its mistakes, whose score or best move may be wrong?
    pub const fn is_printed(self) -> bool {
        use Interior::{FailHardPrinted, OwnBoundsPrinted, PvsPrinted};
        matches!(self, FailHardPrinted | PvsPrinted | OwnBoundsPrinted)
    }

    /// Another way to write a search whose tree is (nearly) the same.
    pub const fn is_variant(self) -> bool {
        matches!(self, Interior::PvsAlways | Interior::PvsZw | Interior::OwnBounds)
            || self.is_printed()
    }
}

/// A node whose moves are to be searched.
pub(super) struct Node<'a, G: Game> {
    pub(super) position: &'a G,
    /// In the order in which they are searched; at least one.
    pub(super) moves: &'a [G::Move],
    /// Plies, at least one.
    pub(super) depth: u32,
    /// For the side to move.
    pub(super) window: Window,
}

impl<G: Game> Node<'_, G> {
    /// The score of the position after a move, for the side to move there.
    fn child(&self, s: &mut Search<G>, by: Interior, m: G::Move, window: Window) -> Score {
        s.score(by, &self.position.make(m), self.depth - 1, window)
    }

    /// The same with window and score as MAX sees them.
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

    /// What it means after a search with `window`: below the window nobody
    /// knows which move is best.
    fn within(self, window: Window) -> NodeResult<M> {
        let best = if self.score > window.alpha { self.best } else { None };
        NodeResult { bounds: Bounds::of(self.score, window), best }
    }
}

/// Minimax in negamax form: every move of every node, unless one is worth
/// `enough`. Minimax proper never has enough. "Stop when you get to a win"
/// (Burch 1997) has when a move wins: nothing beats a won game, so no other move
/// needs to be looked at. (Under a delay no win is the best one thinkable, so
/// there the two are the same.)
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

/// Basic (fail-hard) alpha-beta: Eppstein 1999, and Burch 1997, where each side
/// carries its own lower bound. As printed, a move need only equal alpha, and a score
/// above beta is returned as it is.
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

/// Fail-soft alpha-beta: Eppstein 1999. The current score has a variable of
/// its own, so that a failure says by how much.
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

/// Alpha-beta that returns bounds: Scout notes. The maximum of intervals is the
/// interval of the maxima; a move not looked at could be worth anything.
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

/// Scout at a MAX node: Scout notes, where all values are MAX's. Alpha-beta asks
/// whether the move beats the best one so far; only if so does Scout look for
/// its value. As in the source, the first move too is left to alpha-beta, with
/// the whole window: that is what PVS does better.
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

/// Scout at a MIN node, which the source calls symmetric: the window closes
/// from above. Written out beside `scout_max`, as the source does: one function
/// for both would be the negamax form, which is PVS. `n.window` and the result are the
/// mover's, as everywhere; inside, values are MAX's.
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

/// Principal variation search, fail-soft: Eppstein 1999. The notes' listing
/// forgets to raise alpha by the first move's score (and to cut on it); then
/// every null window would test against the node's alpha instead of the move.
///
/// Is a move that passed the test searched again? The notes ask for `score < beta`: a
/// score of beta or more is a lower bound that cuts, and nothing is gained by a second
/// one. A program whose tests are reduced, or that wants the line of moves behind a fail
/// high, searches again all the same ([`Interior::PvsAlways`]); at a null window that
/// would repeat the test itself.
fn pvs<G: Game>(s: &mut Search<G>, n: &Node<G>, itself: Interior) -> NodeResult<G::Move> {
    let Window { mut alpha, beta } = n.window;
    let always = itself == Interior::PvsAlways && !n.window.is_null();
    let reduces = n.depth >= 3 && s.selects(Selectivity::Reductions);
    let mut current = Best::NONE;
    for (i, &m) in n.moves.iter().enumerate() {
        let full = Window::new(-beta, -alpha);
        let first = if i == 0 { full } else { Window::null(alpha).flip() };
        let late = reduces && i >= 3 && n.position.gain(m) == 0;
        let shallow = late.then(|| -s.score(itself, &n.position.make(m), n.depth - 2, first));
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

/// PVS as Eppstein 1999 prints it: the first move's score neither raises alpha nor cuts.
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

/// What is left of PVS, and all that is needed of MTD(f), in a null window: "a simpler
/// two-parameter form", says Eppstein 1999. Beta is one more than alpha, so a score above
/// alpha cuts, and alpha never rises.
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

/// Alpha-beta as Burch 1997 writes it: no beta, but what the opponent has (`other`), as
/// the opponent sees it. A move passes both on, swapped, without a sign. The listing is
/// right, if it is begun right: with two bounds that are both as low as can be. Printed, it is
/// begun with `other` at plus infinity.
fn own_bounds<G: Game>(s: &mut Search<G>, n: &Node<G>, itself: Interior) -> NodeResult<G::Move> {
    let begun_wrong = itself == Interior::OwnBoundsPrinted && n.window == Window::FULL;
    let other = if begun_wrong { INFINITE } else { -n.window.beta };
    let mut own = n.window.alpha;
    let mut best = None;
    for &m in n.moves {
        // Inside, the window is (other, -own).
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
