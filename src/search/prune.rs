//! Pruning and reduction rules as pure functions of facts about a node and a move, without access
//! to the board.
//!
//! [`params`](super::params) has the constants. The formulas are similar to those of Stockfish and
//! other strong engines.

use super::params as p;
use crate::chess::score::{Bounds, DECISIVE, INFINITE, Score, is_decisive};

/// Facts that decide whether to prune a whole node.
#[derive(Clone, Copy, Debug)]
pub struct NodeFacts {
    /// Remaining depth, in plies.
    pub depth: i32,
    /// Best estimate of the score without a search: the corrected static evaluation, clamped to the
    /// TT bounds.
    pub estimate: Score,
    /// The static evaluation is higher than two plies ago or, if we were in check then, four.
    pub improving: bool,
    /// The opponent's last move raised the static evaluation, from the side to move's point of
    /// view, by more than 2 centipawns.
    pub opponent_worsening: bool,
    /// How much more than usual the evaluation was corrected, in centipawns.
    pub complexity: Score,
}

/// Returns the complexity of a position: how much more than usual its evaluation was corrected, in
/// centipawns. Negative if it was corrected less than usual.
pub fn complexity(correction: Score) -> Score {
    correction.abs() - p::correction_usual()
}

/// Returns the change of a margin, in centipawns. `weight` is in 1/16 centipawn per centipawn of
/// complexity.
pub fn complexity_margin(complexity: Score, weight: i32) -> Score {
    complexity * weight / 16
}

/// Reverse futility pruning: returns whether the estimate is so far above beta that the node can be
/// expected to fail high without a search.
pub fn reverse_futility(node: NodeFacts, beta: Score) -> bool {
    let margin = p::rfp_margin() * node.depth
        + complexity_margin(node.complexity, p::correction_rfp())
        - if node.improving { p::rfp_improving() } else { 0 }
        - if node.opponent_worsening { p::rfp_worsening() } else { 0 };
    node.depth <= p::rfp_depth()
        && node.estimate - margin.max(p::rfp_least()) >= beta
        && beta > -DECISIVE
}

/// Returns the score of a node that fails high: `score`, moved towards beta. Decisive scores are
/// not moved. The shallower the search, the closer the result is to beta, because shallow searches
/// overestimate the gain.
pub fn fail_high(score: Score, beta: Score, depth: i32) -> Score {
    if is_decisive(score) || is_decisive(beta) {
        score
    } else {
        (score * depth + beta) / (depth + 1)
    }
}

/// Returns the depth reduction of the search after a null move, in plies.
pub fn null_reduction(node: NodeFacts, beta: Score) -> i32 {
    p::null_base()
        + node.depth / p::null_divisor()
        + ((node.estimate - beta) / p::null_evaluation()).clamp(0, 4)
}

/// Facts about a move for pruning and reduction.
#[derive(Clone, Copy, Debug)]
pub struct MoveFacts {
    /// Depth of the node, in plies.
    pub depth: i32,
    /// Number of the move in the move ordering, from 1.
    pub number: i32,
    /// The best score of the moves before it.
    pub best: Score,
    /// The move is neither a capture nor a queen promotion.
    pub quiet: bool,
    /// The move's history score. That of a quiet move below the root includes the picker's bonuses
    /// for its squares (`Safety`, `Offence`). It is 0 for a quiet TT move.
    pub history: i32,
    /// As in [`NodeFacts::improving`].
    pub improving: bool,
    /// The node is a PV node.
    pub pv: bool,
    /// The node is on, or has been on, a principal variation.
    pub was_pv: bool,
    /// The node is an expected cut node.
    pub cut: bool,
    /// The move gives check. Interior nodes do not determine this for their first move, for
    /// castling or for en passant captures.
    pub check: bool,
    /// The side to move is in check at the node.
    pub in_check: bool,
    /// The TT move is a capture or a queen promotion, so quiet moves are unlikely to be best.
    pub tt_capture: bool,
    /// The move is a bad capture: its exchange is worth less than its ordering score requires. Such
    /// captures come last.
    pub losing: bool,
    /// Lower bound of the move's static exchange evaluation, in centipawns; `i32::MIN` if unknown.
    pub exchange: i32,
    /// The lower bound of the TT entry is above alpha.
    pub tt_above: bool,
    /// The upper bound of the TT entry is at most alpha.
    pub tt_below: bool,
    /// The TT entry is at least as deep as this search.
    pub tt_deep: bool,
    /// Number of fail highs at the next ply since the parent was entered. If there are many, moves
    /// at this ply tend to fail low.
    pub cutoffs_below: u32,
    /// The node's evaluation is far below alpha.
    pub hopeless: bool,
    /// How much more than usual the evaluation was corrected, in centipawns.
    pub complexity: Score,
}

impl MoveFacts {
    /// Default facts for root moves. Root moves are not pruned, and neither TT bounds nor exchanges
    /// affect their reductions.
    pub const ROOT: MoveFacts = MoveFacts {
        depth: 1,
        number: 1,
        best: -INFINITE,
        quiet: true,
        history: 0,
        improving: true,
        pv: true,
        was_pv: true,
        cut: false,
        check: false,
        in_check: false,
        tt_capture: false,
        losing: false,
        exchange: i32::MIN,
        tt_above: false,
        tt_below: false,
        tt_deep: false,
        cutoffs_below: 0,
        hopeless: false,
        complexity: 0,
    };
}

/// Late move pruning: returns whether enough moves have been tried to skip the remaining quiet
/// moves. `number` counts all moves, including captures.
pub fn enough_moves(depth: i32, number: i32, improving: bool) -> bool {
    depth <= p::lmp_depth()
        && number > (p::lmp_base() + depth * depth) / if improving { 1 } else { 2 }
}

/// Returns the evaluation plus the most that a quiet move is expected to gain, in centipawns.
pub fn futility(reduced_depth: i32, evaluation: Score, history: i32) -> Score {
    evaluation
        + p::futility_base()
        + p::futility_margin() * reduced_depth
        + history / p::futility_history()
}

/// Futility pruning: returns whether a quiet move is unlikely to raise alpha, because the reduced
/// depth is low and even [`futility`] is at most alpha.
pub fn futile(reduced_depth: i32, evaluation: Score, history: i32, alpha: Score) -> bool {
    reduced_depth <= p::futility_depth() && futility(reduced_depth, evaluation, history) <= alpha
}

/// History pruning: returns whether a quiet move's history is too bad for the depth. The margin
/// grows with the depth before the reduction, because the reduction depends on the history.
pub fn bad_history(depth: i32, reduced_depth: i32, history: i32) -> bool {
    reduced_depth <= p::history_depth() && history < -p::history_margin() * depth
}

/// Returns the static exchange evaluation, in centipawns, below which a move is pruned; `None` if
/// the depth is too great. A capture with a good history may lose more.
pub fn exchange_limit(facts: &MoveFacts, reduced_depth: i32) -> Option<i32> {
    let MoveFacts { depth, history, .. } = *facts;
    (depth <= p::see_depth()).then(|| {
        if facts.quiet {
            -p::see_quiet() * reduced_depth
        } else {
            -(p::see_capture() * depth * depth + history / p::see_history()).max(0)
        }
    })
}

/// `ln(n)` in units of 1/1024.
static LOGARITHMS: [i32; 256] = {
    let mut table = [0; 256];
    let mut ln = 0.0;
    let mut n = 2;
    while n < 256 {
        // ln(n) - ln(n - 1) = 2 artanh(1 / (2n - 1)), as a series.
        let x = 1.0 / (2 * n - 1) as f64;
        let (mut power, mut k) = (x, 1.0);
        while k < 40.0 {
            ln += 2.0 * power / k;
            power *= x * x;
            k += 2.0;
        }
        table[n] = (ln * 1024.0) as i32;
        n += 1;
    }
    table
};

/// Returns the late move reduction, in whole plies. It may be negative.
pub fn reduction(facts: &MoveFacts) -> i32 {
    let log = |n: i32| LOGARITHMS[n.clamp(0, 255) as usize];
    let product = log(facts.depth) * (log(facts.number) / 32) / 32;
    let (product, history) = (product * 1024, facts.history * 1024);
    // In a normal build all divisors are constants, and the compiler replaces the divisions with
    // multiplications.
    let mut reduction = if facts.quiet {
        p::lmr_base() + product / p::lmr_divisor() - history / p::lmr_history()
    } else {
        p::lmr_capture_base() + product / p::lmr_capture_divisor()
            - history / p::lmr_capture_history()
    };
    reduction += if facts.cut { p::lmr_cut() } else { 0 };
    reduction += if facts.pv { 0 } else { p::lmr_non_pv() };
    reduction += if facts.improving { 0 } else { p::lmr_not_improving() };
    reduction += if facts.tt_capture { p::lmr_tt_capture() } else { 0 };
    reduction += if facts.tt_below { p::lmr_tt_below() } else { 0 };
    if facts.cutoffs_below > 2 {
        let all = !facts.cut && !facts.pv;
        reduction += p::lmr_cutoffs() + if all { p::lmr_cutoffs_all() } else { 0 };
    }
    if facts.was_pv {
        reduction -= p::lmr_was_pv();
        reduction -= if facts.pv { p::lmr_pv() } else { 0 };
        reduction -= if facts.tt_above { p::lmr_tt_above() } else { 0 };
        if facts.tt_deep {
            reduction -= p::lmr_tt_deep() + if facts.cut { p::lmr_tt_deep_cut() } else { 0 };
        }
    }
    reduction -= facts.complexity * p::correction_lmr();
    reduction += if facts.hopeless { p::lmr_hopeless() } else { 0 };
    reduction -= if facts.check { p::lmr_check() } else { 0 };
    reduction -= if facts.in_check { p::lmr_in_check() } else { 0 };
    reduction / 1024
}

/// Returns the depth adjustment, in plies, for the re-search of a move that beat alpha at a reduced
/// depth. It is 1 if the move clearly beats the best score, -1 if only just, and 0 otherwise.
pub fn research_adjustment(score: Score, best: Score) -> i32 {
    let better = best > -DECISIVE && score > best + p::lmr_deeper();
    i32::from(better) - i32::from(score < best + p::lmr_shallower())
}

/// Returns the history bonus for a move that failed high at this depth. Each capture searched
/// before it gets the same amount as a malus, and if the move is quiet, so does each quiet move.
pub fn bonus(depth: i32) -> i32 {
    (p::bonus_slope() * depth).min(p::bonus_max())
}

/// Returns the history bonus for the move that led to a node that failed low. It is larger if the
/// move came late in move ordering, or if the score is well below the static evaluation of the node
/// or of its parent. `expected` has these two evaluations from the node's point of view.
pub fn refutation_bonus(
    depth: i32,
    number: i32,
    score: Score,
    expected: [Option<Score>; 2],
) -> i32 {
    let low = |&evaluation: &Score| score <= evaluation - p::surprise_margin();
    let surprises = expected.iter().flatten().filter(|&e| low(e)).count() as i32;
    let surprises = surprises + i32::from(number > 8);
    bonus(depth) * (100 + surprises * p::surprise_bonus()) / 100
}

/// Returns the history bonus for a quiet move that improved the evaluation by `change` centipawns.
pub fn evaluation_bonus(change: Score) -> i32 {
    (p::evaluation_slope() * change).clamp(-p::evaluation_malus(), p::evaluation_bonus())
}

/// Returns the score that no other move may reach if the TT move is to be extended. The margin is
/// doubled at a `former_pv` node: a non-PV node that was on a principal variation.
pub fn singular_bound(bounds: Bounds, depth: i32, former_pv: bool) -> Score {
    bounds.lower - depth * p::singular_margin() * if former_pv { 2 } else { 1 } / 16
}

/// Returns the extension of the TT move, in plies, after a singular search whose score was `gap`
/// centipawns below the singular bound.
pub fn extension(gap: Score, pv: bool, complexity: Score) -> i32 {
    let double = p::double_margin() - complexity_margin(complexity, p::correction_double());
    1 + i32::from(!pv && gap > double)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: MoveFacts =
        MoveFacts { depth: 8, number: 10, best: 0, was_pv: false, ..MoveFacts::ROOT };

    #[test]
    fn later_and_worse_moves_are_reduced_more() {
        let base = reduction(&FACTS);
        assert!((1..=4).contains(&base), "{base}");
        assert!(reduction(&MoveFacts { number: 40, depth: 20, ..FACTS }) > base);
        assert!(reduction(&MoveFacts { history: -16_000, ..FACTS }) > base);
        assert!(reduction(&MoveFacts { history: 16_000, ..FACTS }) < base);
        assert!(reduction(&MoveFacts { cut: true, ..FACTS }) > base);
        assert!(reduction(&MoveFacts { check: true, ..FACTS }) < base);
        assert!(reduction(&MoveFacts { depth: 255, number: 218, ..FACTS }) < 20);
    }

    #[test]
    fn logarithms_match_ln() {
        for (n, &log) in LOGARITHMS.iter().enumerate().skip(1) {
            assert_eq!(log, ((n as f64).ln() * 1024.0) as i32, "{n}");
        }
    }

    #[test]
    fn surprises_raise_the_bonus_of_a_refutation() {
        let plain = refutation_bonus(6, 1, 0, [Some(0), None]);
        assert_eq!(plain, bonus(6));
        let late = refutation_bonus(6, 9, 0, [Some(0), None]);
        let low = refutation_bonus(6, 1, -200, [Some(0), None]);
        let all = refutation_bonus(6, 9, -200, [Some(0), Some(0)]);
        assert!(plain < late && late == low && low < all, "{plain} {late} {low} {all}");
    }

    #[test]
    fn captures_with_a_good_history_may_lose_more() {
        let limit = |history| {
            exchange_limit(&MoveFacts { quiet: false, history, ..FACTS }, FACTS.depth).unwrap()
        };
        assert!(limit(8000) < limit(0) && limit(0) < limit(-8000));
        // A bad history never asks for a gain.
        assert_eq!(
            exchange_limit(&MoveFacts { depth: 1, quiet: false, history: -16_000, ..FACTS }, 1),
            Some(0)
        );
        assert_eq!(exchange_limit(&MoveFacts { depth: 20, ..FACTS }, 20), None);
    }

    #[test]
    fn no_reverse_futility_if_beta_is_lost() {
        let node = NodeFacts {
            depth: 1,
            estimate: 500,
            improving: false,
            opponent_worsening: false,
            complexity: 0,
        };
        assert!(reverse_futility(node, 0));
        assert!(!reverse_futility(node, -DECISIVE - 5));
    }
}
