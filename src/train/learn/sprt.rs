//! Statistics of a match: Elo, its error, and the sequential probability ratio test (SPRT, A. Wald
//! 1945). The test uses pairs of games from the same opening with colours reversed, and follows M.
//! Van den Bergh's derivation of the generalised test ("A practical introduction to the GSPRT").

use serde::{Deserialize, Serialize};

/// Elo difference of the null hypothesis.
const ELO_0: f64 = 0.0;
/// Elo difference of the alternative hypothesis. A network is promoted if the test chooses it.
const ELO_1: f64 = 10.0;
/// Bound on the log-likelihood ratio (LLR): ln(0.95 / 0.05), for error rates of 5 % (alpha and
/// beta).
const BOUND: f64 = 2.944;
/// Added to the number of pairs with each result, because the variance of a few pairs is uncertain,
/// in particular if they have the same result.
const PRIOR: f64 = 0.5;

/// Pentanomial counts: numbers of game pairs, by the half points of the new side, 0 to 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs(pub [u64; 5]);

/// Verdict of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The new side is better.
    Better,
    /// The new side is not better.
    NotBetter,
    /// More games are needed.
    Open,
}

impl Pairs {
    /// Adds a pair, by half points of the new side.
    ///
    /// # Panics
    ///
    /// If `half_points` is more than 4.
    pub const fn add(&mut self, half_points: usize) {
        self.0[half_points] += 1;
    }

    /// Returns the number of games in all pairs.
    pub fn games(&self) -> u64 {
        2 * self.0.iter().sum::<u64>()
    }

    /// Returns the number of pairs, and the mean and variance of a pair's points per game, all with
    /// [`PRIOR`] included.
    fn moments(&self) -> (f64, f64, f64) {
        let weights = self.0.map(|count| count as f64 + PRIOR);
        let number: f64 = weights.iter().sum();
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            let sum = weights.iter().zip(0..).map(|(weight, n)| weight * value(f64::from(n) / 4.0));
            sum.sum::<f64>() / number
        };
        let mean = mean_of(&|points| points);
        (number, mean, mean_of(&|points| (points - mean).powi(2)))
    }

    /// Returns the Elo difference of the new side, and the half-width of its 95 % confidence
    /// interval.
    pub fn elo(&self) -> (f64, f64) {
        let (number, mean, variance) = self.moments();
        let elo = 400.0 * (mean / (1.0 - mean)).log10();
        let slope = 400.0 / (std::f64::consts::LN_10 * mean * (1.0 - mean));
        (elo, 1.96 * (variance / number).sqrt() * slope)
    }

    /// Returns the logarithm of the likelihood ratio of the hypotheses [`ELO_1`] and [`ELO_0`].
    fn log_likelihood_ratio(&self) -> f64 {
        let expected = |elo: f64| 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
        let (low, high) = (expected(ELO_0), expected(ELO_1));
        let (number, mean, variance) = self.moments();
        number * (high - low) * (2.0 * mean - low - high) / (2.0 * variance)
    }

    /// Returns the verdict so far. If another pair would exceed `games` games, the likelier
    /// hypothesis decides.
    pub fn verdict(&self, games: u64) -> Verdict {
        let ratio = self.log_likelihood_ratio();
        let over = self.games() + 2 > games;
        if ratio >= BOUND || over && ratio > 0.0 {
            Verdict::Better
        } else if ratio <= -BOUND || over {
            Verdict::NotBetter
        } else {
            Verdict::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn elo_and_error() {
        // 150 of 200 points, with pairs as in independent games.
        let (elo, error) = Pairs([6, 0, 38, 0, 56]).elo();
        assert!((elo - 184.0).abs() < 4.0, "{elo}");
        assert!((40.0..60.0).contains(&error), "{error}");
        let (elo, _) = Pairs([0, 0, 0, 0, 50]).elo();
        assert!((550.0..900.0).contains(&elo), "{elo}");
        let (even, error) = Pairs([1, 5, 20, 5, 1]).elo();
        assert!(even.abs() < 1e-9 && error > 10.0);
        assert!(Pairs::default().elo().0.abs() < 1e-9);
    }

    /// Matches between equal players seldom promote, and matches between unequal ones seldom fail.
    #[test]
    fn wrong_verdicts_are_rare() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut decide = |mean: f64| {
            let mut pairs = Pairs::default();
            while pairs.verdict(100_000) == Verdict::Open {
                // Two games with a third of draws.
                let mut game = || {
                    let x: f64 = rng.random();
                    usize::from(x < mean + 1.0 / 6.0) + usize::from(x < mean - 1.0 / 6.0)
                };
                let points = game() + game();
                pairs.add(points);
            }
            pairs.verdict(100_000) == Verdict::Better
        };
        let wins = |mean: f64, decide: &mut dyn FnMut(f64) -> bool| {
            (0..300).filter(|_| decide(mean)).count()
        };
        let (equal, better) = (wins(0.5, &mut decide), wins(0.5144, &mut decide));
        assert!(equal < 30, "{equal} of 300 equals were promoted");
        assert!(better > 270, "{better} of 300 better ones were promoted");
    }

    #[test]
    fn a_match_ends() {
        assert_eq!(Pairs([0, 0, 10, 1, 0]).verdict(100), Verdict::Open);
        assert_eq!(Pairs([1, 5, 30, 9, 5]).verdict(100), Verdict::Better);
        assert_eq!(Pairs([5, 9, 30, 5, 1]).verdict(100), Verdict::NotBetter);
        assert_eq!(Pairs([40, 10, 5, 0, 0]).verdict(1000), Verdict::NotBetter);
        assert_eq!(Pairs([0, 0, 5, 10, 40]).verdict(1000), Verdict::Better);
    }
}
