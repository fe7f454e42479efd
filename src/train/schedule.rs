//! Settings of a training run. They are written to a TOML file and stored in the network.

use std::{fmt, ops::RangeInclusive};

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::{filter::Filter, layout::Layout, model::Objective};
use lancet::eval::nnue::{features::KING_BUCKETS, network::MAX_BUCKETS};

/// Scale in centipawns, used if the results do not determine one.
pub(crate) const USUAL_SCALE: f32 = 330.0;
/// Possible scales, in centipawns.
pub(crate) const SCALES: RangeInclusive<f64> = 50.0..=2000.0;

/// All settings of a training run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Schedule {
    /// Hidden neurons per view, a multiple of 32.
    pub hidden: usize,
    /// Output buckets by piece count.
    pub buckets: usize,
    /// King buckets, 1 or 4.
    pub king_buckets: usize,
    /// Seed of the initial weights and of the order of positions.
    pub seed: u64,
    /// Number of positions to train on, repeats included.
    pub samples: u64,
    /// Positions per step.
    pub batch: usize,
    /// Steps in which the learning rate rises from zero, at most a tenth of the run.
    pub warm_up: u64,
    /// Decay per step of the moving average (EMA) of the weights, which becomes the network. 0
    /// takes the last weights.
    pub average: f32,
    /// Learning rate at the start, apart from the warm-up, and at the last step. In between, it
    /// falls by cosine decay.
    pub rate: [f32; 2],
    /// Weight of the game's result in the target at the first and the last step, interpolated
    /// linearly. The rest of the target is the score of the search.
    pub result_weight: [f32; 2],
    /// Weight of the result in positions with many pieces, see [`Objective`]. `None` uses
    /// `result_weight` for all positions.
    pub result_full: Option<f32>,
    /// AdamW: decay rates of the moments.
    pub betas: [f32; 2],
    /// AdamW: weight decay.
    pub decay: f32,
    /// Largest magnitude of an initial first-layer weight. Some twenty inputs are active, so this
    /// must be small enough that neurons start below their upper limit.
    pub initial: f32,
    /// Advantage, in centipawns, that multiplies the odds of winning by e. Scores are first
    /// multiplied by the search's weight for material. `None` fits the scale to the results.
    pub scale: Option<f32>,
    /// Share of games used for validation, rounded to a permille.
    pub validation: f64,
    /// Filter of the training data.
    pub filter: Filter,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            hidden: 256,
            buckets: 1,
            king_buckets: 1,
            seed: 1,
            samples: 100_000_000,
            batch: 16384,
            warm_up: 2000,
            average: 0.9995,
            rate: [1e-3, 1e-5],
            // With few positions, results of games are mostly noise (`src/eval/nnue/HISTORY.md`,
            // "The weight of the result").
            result_weight: [0.1, 0.1],
            result_full: None,
            betas: [0.9, 0.999],
            decay: 0.01,
            initial: 0.06,
            scale: None,
            validation: 0.01,
            filter: Filter::default(),
        }
    }
}

impl Schedule {
    /// Checks the ranges of the settings.
    ///
    /// # Errors
    ///
    /// If a setting is out of range. The error names the setting and its range.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let unit = 0.0..=1.0;
        let hidden = self.hidden.is_multiple_of(32) && (32..=4096).contains(&self.hidden);
        let scale = self.scale.is_none_or(|scale| SCALES.contains(&f64::from(scale)));
        let full = self.result_full.is_none_or(|weight| unit.contains(&weight));
        let ensure = |valid: bool, name: &str, found: &dyn fmt::Debug, expected: &str| {
            ensure!(valid, "{name} = {found:?}: expected {expected}");
            Ok(())
        };
        let (share, below_1) = ("a number from 0 to 1", "a number of at least 0 and below 1");
        ensure(hidden, "hidden", &self.hidden, "a multiple of 32 from 32 to 4096")?;
        let buckets = format!("1 to {MAX_BUCKETS}");
        ensure((1..=MAX_BUCKETS).contains(&self.buckets), "buckets", &self.buckets, &buckets)?;
        let king_buckets = KING_BUCKETS.contains(&self.king_buckets);
        ensure(king_buckets, "king_buckets", &self.king_buckets, "1 or 4")?;
        ensure(self.samples > 0, "samples", &self.samples, "at least 1")?;
        ensure((1..=1 << 24).contains(&self.batch), "batch", &self.batch, "1 to 16777216")?;
        for rate in self.rate {
            ensure(unit.contains(&rate), "rate", &rate, share)?;
        }
        for weight in self.result_weight {
            ensure(unit.contains(&weight), "result_weight", &weight, share)?;
        }
        ensure(full, "result_full", &self.result_full.unwrap_or_default(), share)?;
        for beta in self.betas {
            ensure((0.0..1.0).contains(&beta), "betas", &beta, below_1)?;
        }
        ensure(unit.contains(&self.decay), "decay", &self.decay, share)?;
        ensure(unit.contains(&self.initial), "initial", &self.initial, share)?;
        ensure((0.0..1.0).contains(&self.average), "average", &self.average, below_1)?;
        ensure(scale, "scale", &self.scale.unwrap_or_default(), "50 to 2000 centipawns")?;
        let validation = (0.0..=0.5).contains(&self.validation);
        ensure(validation, "validation", &self.validation, "a number from 0 to 0.5")?;
        Ok(())
    }

    /// Returns the shape of the network.
    pub(crate) const fn layout(&self) -> Layout {
        let Schedule { king_buckets, hidden, buckets, .. } = *self;
        Layout { king_buckets, hidden, buckets }
    }

    /// Returns the learning rate of step number `step`, counted from 0, of `steps`.
    pub(crate) fn rate_at(&self, step: u64, steps: u64) -> f32 {
        let [first, last] = self.rate.map(f64::from);
        let cosine = (std::f64::consts::PI * progress(step, steps)).cos();
        let rate = last + (first - last) * (1.0 + cosine) / 2.0;
        let warm_up = self.warm_up.min(steps / 10).max(1);
        (rate * ((step + 1) as f64 / warm_up as f64).min(1.0)) as f32
    }

    /// Returns the objective of step number `step`, counted from 0, of `steps`.
    pub(crate) fn objective_at(&self, step: u64, steps: u64) -> Objective {
        let [first, last] = self.result_weight.map(f64::from);
        let result_weight = (first + (last - first) * progress(step, steps)) as f32;
        Objective {
            result_weight,
            result_full: self.result_full.unwrap_or(result_weight),
            scale: self.scale.unwrap_or(USUAL_SCALE),
        }
    }

    /// Returns the decay of the moving average of the weights at step number `step`, counted from
    /// 0. It is smaller in early steps, so that the average soon forgets them.
    pub(crate) fn average_at(&self, step: u64) -> f32 {
        let step = step as f32;
        self.average.min((1.0 + step) / (10.0 + step))
    }
}

/// Returns the progress of the run at step number `step` of `steps`, from 0 to 1.
fn progress(step: u64, steps: u64) -> f64 {
    (step as f64 / steps.saturating_sub(1).max(1) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_weights() {
        let schedule = Schedule {
            rate: [4e-3, 1e-5],
            result_weight: [0.5, 0.3],
            warm_up: 0,
            ..Schedule::default()
        };
        assert!((schedule.rate_at(0, 101) - 4e-3).abs() < 1e-9);
        assert!((schedule.rate_at(50, 101) - 2.005e-3).abs() < 1e-8);
        assert!((schedule.rate_at(100, 101) - 1e-5).abs() < 1e-9);
        assert!((schedule.objective_at(50, 101).result_weight - 0.4).abs() < 1e-6);
        // The warm-up is at most a tenth of the run.
        let warm = Schedule { rate: [1.0, 1.0], warm_up: 2000, ..schedule };
        let rates = [0, 9, 10, 99].map(|step| warm.rate_at(step, 101));
        assert_eq!(rates, [0.1, 1.0, 1.0, 1.0]);
        let rates = [0, 999, 1999, 50_000].map(|step| warm.rate_at(step, 100_000));
        assert_eq!(rates, [1.0 / 2000.0, 0.5, 1.0, 1.0]);
        // The average of a short run also forgets the first steps.
        assert!(warm.average_at(0) <= 0.1 && warm.average_at(90) < 0.92);
        assert_eq!(warm.average_at(1_000_000), warm.average);
    }

    #[test]
    fn files() {
        let schedule = Schedule { hidden: 512, buckets: 8, ..Schedule::default() };
        let text = toml::to_string(&schedule).unwrap();
        assert_eq!(toml::from_str::<Schedule>(&text).unwrap(), schedule);
        let partial: Schedule = toml::from_str("hidden = 64\n[filter]\nskip_plies = 10\n").unwrap();
        assert_eq!((partial.hidden, partial.batch, partial.filter.skip_plies), (64, 16384, 10));
        assert!(toml::from_str::<Schedule>("hiden = 64").is_err());
        assert!(schedule.check().is_ok());
        assert!(Schedule { hidden: 48, ..schedule }.check().is_err());
    }
}
