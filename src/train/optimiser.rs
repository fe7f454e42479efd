//! The optimiser: AdamW with clipped weights.

use wide::f32x8;

/// First and second moments of the gradient, in the layout of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Running means of the gradient.
    pub first: Vec<f32x8>,
    /// Running means of its squares.
    pub second: Vec<f32x8>,
}

/// Settings of one step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Number of the step, from 1.
    pub number: u64,
    /// Learning rate.
    pub rate: f32,
    /// Weight decay, decoupled from the gradient.
    pub decay: f32,
    /// Decay rates of the two running means.
    pub betas: [f32; 2],
    /// Factor for the sum of the gradients: one over the batch size.
    pub scale: f32,
}

/// Keeps the step finite if the gradient is 0.
const EPSILON: f32 = 1e-8;

impl Moments {
    /// Returns moments of zero.
    pub fn new(length: usize) -> Moments {
        Moments { first: vec![f32x8::ZERO; length], second: vec![f32x8::ZERO; length] }
    }
}

impl Step {
    /// Updates `parameters` and their moments `first` and `second` with the sum of `gradients`. All
    /// slices cover the same part of the model. Every parameter is updated on its own, so parts may
    /// be updated in any order. But the gradients are summed in the given order, so that the result
    /// is always the same. The magnitude of a parameter is limited to `limit`.
    pub fn apply(
        &self,
        parameters: &mut [f32x8],
        first: &mut [f32x8],
        second: &mut [f32x8],
        gradients: &[&[f32x8]],
        limit: f32,
    ) {
        let [b1, b2] = self.betas;
        let power = i32::try_from(self.number).unwrap_or(i32::MAX);
        let correction = [1.0 - b1.powi(power), 1.0 - b2.powi(power)];
        let rate = f32x8::splat(self.rate / correction[0]);
        let second_scale = f32x8::splat(1.0 / correction[1]);
        let keep = f32x8::splat(1.0 - self.rate * self.decay);
        let (b1, b2) = (f32x8::splat(b1), f32x8::splat(b2));
        let (rest1, rest2) = (f32x8::ONE - b1, f32x8::ONE - b2);
        let limit = f32x8::splat(limit);
        for (i, ((p, m), v)) in parameters.iter_mut().zip(first).zip(second).enumerate() {
            let sum = gradients.iter().fold(f32x8::ZERO, |sum, gradient| sum + gradient[i]);
            let g = sum * f32x8::splat(self.scale);
            *m = *m * b1 + g * rest1;
            *v = *v * b2 + g * g * rest2;
            let size = (*v * second_scale).sqrt() + f32x8::splat(EPSILON);
            let next = *p * keep - rate * *m / size;
            *p = next.fast_max(-limit).fast_min(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps agree with the formulas in double precision.
    #[test]
    fn steps_follow_the_formulas() {
        let (mut p, mut m, mut v) = (1.5_f64, 0.0_f64, 0.0_f64);
        let mut parameters = [f32x8::splat(1.5)];
        let mut moments = Moments::new(1);
        for number in 1..=200 {
            let gradient = (f64::from(number as u32) * 0.7).sin() - 0.3;
            let step = Step { number, rate: 0.01, decay: 0.01, betas: [0.9, 0.999], scale: 0.5 };
            let halves = [[f32x8::splat(gradient as f32)], [f32x8::splat(gradient as f32)]];
            step.apply(
                &mut parameters,
                &mut moments.first,
                &mut moments.second,
                &[&halves[0], &halves[1]],
                1.98,
            );
            m = 0.9 * m + 0.1 * gradient;
            v = 0.999 * v + 0.001 * gradient * gradient;
            let n = number as i32;
            let (mean, size) = (m / (1.0 - 0.9_f64.powi(n)), v / (1.0 - 0.999_f64.powi(n)));
            p -= 0.01 * (mean / (size.sqrt() + 1e-8) + 0.01 * p);
            p = p.clamp(-1.98, 1.98);
            let found = f64::from(parameters[0].to_array()[3]);
            assert!((found - p).abs() < 1e-4, "step {number}: {found}, expected {p}");
        }
        assert!(p.abs() > 0.1);
    }
}
