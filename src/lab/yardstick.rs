//! Means, and the Knuth-Moore estimate: the nodes that alpha-beta without a table must search if
//! all nodes at the same distance from the root have the same number of moves. (The other
//! yardstick, the replayed tree, is a search: see [`run`](super::run).)

/// Returns the nodes of the minimal tree that alpha-beta must visit, including the root, if a node
/// at distance `k` from the root has `branching[k]` moves. It is the sum over the levels of
///
/// ```text
/// b0 b2 b4 ... + b1 b3 b5 ... - 1
/// ```
///
/// (Knuth and Moore 1975, corollary 1 of theorem 1. Its number of leaves is the term of the last
/// level: `b^ceil(d/2) + b^floor(d/2) - 1` if every node has `b` moves.)
pub fn knuth_moore(branching: &[f64]) -> f64 {
    let mut nodes = 1.0;
    let (mut even, mut odd) = (1.0, 1.0);
    for (ply, b) in branching.iter().enumerate() {
        if ply % 2 == 0 {
            even *= b
        } else {
            odd *= b
        }
        nodes += even + odd - 1.0;
    }
    nodes
}

/// Returns the mean number of moves by distance from the root, from counts of nodes and of their
/// moves. A finished game is a node without moves.
pub fn means(counts: &[[u64; 2]]) -> Vec<f64> {
    counts.iter().map(|&[nodes, moves]| moves as f64 / nodes.max(1) as f64).collect()
}

/// Returns the geometric mean, or 0 if there are no values.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut logs, mut count) = (0.0, 0);
    for value in values {
        logs += value.max(f64::MIN_POSITIVE).ln();
        count += 1;
    }
    if count == 0 { 0.0 } else { (logs / f64::from(count)).exp() }
}

/// Returns the geometric mean of `a[i] / b[i]`, and the half-width of its 95 % confidence interval.
/// The half-width is infinite for fewer than two pairs. It uses Student's distribution. Values
/// below 1 count as 1.
pub fn ratio(a: &[f64], b: &[f64]) -> (f64, f64) {
    let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a.max(1.0) / b.max(1.0)).ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let width = student(count - 1.0) * (variance / count).sqrt();
    (mean.exp(), mean.exp() * if logs.len() < 2 { f64::INFINITY } else { width })
}

/// Returns the quantile of Student's distribution for a two-sided interval of 95 %, within 1 % from
/// 3 degrees of freedom on (the first terms of its Cornish-Fisher expansion).
fn student(freedom: f64) -> f64 {
    1.96 + 2.372 / freedom + 2.823 / freedom.powi(2) + 2.556 / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knuth_moore_of_uniform_trees() {
        // Levels of b = 3: 1, 3, 5, 11 leaves; 3^ceil + 3^floor - 1.
        assert_eq!(knuth_moore(&[]), 1.0);
        assert_eq!(knuth_moore(&[3.0]), 4.0);
        assert_eq!(knuth_moore(&[3.0, 3.0]), 9.0);
        assert_eq!(knuth_moore(&[3.0, 3.0, 3.0]), 20.0);
        assert_eq!(knuth_moore(&[2.0, 5.0]), 1.0 + 2.0 + 6.0);
    }

    #[test]
    fn means_of_counts() {
        assert_eq!(means(&[[1, 20], [20, 410]]), [20.0, 20.5]);
        assert!((geometric_mean([1.0, 100.0]) - 10.0).abs() < 1e-9);
        let (mean, width) = ratio(&[2.0, 8.0], &[1.0, 1.0]);
        let expected = 4.0 * student(1.0) * 2.0_f64.ln();
        assert!((mean - 4.0).abs() < 1e-9 && (width - expected).abs() < 1e-9);
        assert_eq!(ratio(&[5.0], &[5.0]), (1.0, f64::INFINITY));
    }

    #[test]
    fn quantiles_of_students_distribution() {
        for (freedom, quantile) in [(3.0, 3.182), (4.0, 2.776), (7.0, 2.365), (23.0, 2.069)] {
            assert!((student(freedom) / quantile - 1.0).abs() < 0.01, "{freedom}");
        }
    }
}
