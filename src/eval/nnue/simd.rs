//! The arithmetic of the network: adding rows of weights, and the output layer. The other unsafe
//! code of this crate is in `system::pages` and in three functions of `system::files`.
//!
//! The code that adds rows uses the vector types of `wide`, which support any target. The output
//! layer has AVX-512, AVX2 and portable implementations. One of them is chosen at compile time, and
//! all give the same bits.
#![allow(unsafe_code)]

use bytemuck::{Pod, Zeroable};
use wide::i16x32;

/// Neurons in a block.
pub(super) const BLOCK_NEURONS: usize = 32;

/// 32 neurons or weights: a cache line, one AVX-512 or two AVX2 registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Block(pub(super) [i16; BLOCK_NEURONS]);

/// Sets `target` to `source` (or to `target` itself without a source) plus the rows `added` minus
/// the rows `removed`, modulo 2^16. `weights` holds rows of `target.len()` blocks each.
///
/// # Panics
///
/// If a row is outside `weights`, or `source` is shorter than `target`.
#[inline]
pub(super) fn update(
    target: &mut [Block],
    source: Option<&[Block]>,
    weights: &[Block],
    added: &[u16],
    removed: &[u16],
) {
    // The differences between positions one move apart, or between two children of a position.
    match (added, removed) {
        (&[a], &[b]) => replace(target, source, weights, [a], [b]),
        (&[a], &[b, c]) => replace(target, source, weights, [a], [b, c]),
        (&[a, b], &[c, d]) => replace(target, source, weights, [a, b], [c, d]),
        (&[a, b], &[c, d, e]) => replace(target, source, weights, [a, b], [c, d, e]),
        (&[a, b, c], &[d, e]) => replace(target, source, weights, [a, b, c], [d, e]),
        _ => update_any(target, source, weights, added, removed),
    }
}

/// Implements [`update`] for any number of rows.
fn update_any(
    target: &mut [Block],
    source: Option<&[Block]>,
    weights: &[Block],
    added: &[u16],
    removed: &[u16],
) {
    // Update a few blocks at a time, so that their sums stay in registers while all rows are added
    // and removed.
    let length = target.len();
    let mut at = 0;
    while at < length {
        let (rest, source) = (&mut target[at..], source.map(|source| &source[at..]));
        let (weights, rows) = (&weights[at..], [added, removed]);
        at += match rest.len() {
            1 => update_tile::<1>(rest, source, weights, rows, length),
            2..4 => update_tile::<2>(rest, source, weights, rows, length),
            _ => update_tile::<4>(rest, source, weights, rows, length),
        };
    }
}

/// Implements [`update`] for a number of rows known at compile time.
#[inline(always)]
fn replace<const A: usize, const R: usize>(
    target: &mut [Block],
    source: Option<&[Block]>,
    weights: &[Block],
    added: [u16; A],
    removed: [u16; R],
) {
    let length = target.len();
    let row = |row: u16| &weights[usize::from(row) * length..][..length];
    let (added, removed) = (added.map(row), removed.map(row));
    let sum = |before: &Block, i: usize| {
        let mut sum = i16x32::new(before.0);
        for row in added {
            sum += i16x32::new(row[i].0);
        }
        for row in removed {
            sum -= i16x32::new(row[i].0);
        }
        sum.to_array()
    };
    if let Some(source) = source {
        for (i, (block, before)) in target.iter_mut().zip(&source[..length]).enumerate() {
            block.0 = sum(before, i);
        }
    } else {
        for (i, block) in target.iter_mut().enumerate() {
            block.0 = sum(block, i);
        }
    }
}

/// Updates the first `N` blocks of `target` by the rows added and removed. Row `i` begins at `i *
/// stride` of `weights`. Returns `N`.
#[inline(always)]
fn update_tile<const N: usize>(
    target: &mut [Block],
    source: Option<&[Block]>,
    weights: &[Block],
    [added, removed]: [&[u16]; 2],
    stride: usize,
) -> usize {
    // The compiler keeps vector types in registers, but not arrays.
    let load = |blocks: &[Block], at: usize| -> [i16x32; N] {
        let mut sums = [i16x32::ZERO; N];
        for (sum, block) in sums.iter_mut().zip(&blocks[at..at + N]) {
            *sum = i16x32::new(block.0);
        }
        sums
    };
    let mut sums = load(source.unwrap_or(target), 0);
    for &row in added {
        let row = load(weights, usize::from(row) * stride);
        for i in 0..N {
            sums[i] += row[i];
        }
    }
    for &row in removed {
        let row = load(weights, usize::from(row) * stride);
        for i in 0..N {
            sums[i] -= row[i];
        }
    }
    for (block, sum) in target[..N].iter_mut().zip(sums) {
        block.0 = sum.to_array();
    }
    N
}

/// Maximum number of adjacent neurons of a block whose products go into the same 32-bit sum.
pub(super) const LANE_NEURONS: usize = 2;

/// Returns the sum of `clamp(v, 0, 255)^2 * u` over the neurons `v` of both views and their weights
/// `u`. All four slices must have the same length.
///
/// Two conditions prevent overflow. First, weights must be within `-128..=128`. Second, the
/// products in the same lane of all blocks are summed in 32 bits (see [`LANE_NEURONS`]), so the
/// positive weights of a lane must sum to at most 33,025, and the negative ones to at least
/// -33,025.
#[inline]
pub(super) fn output(views: [&[Block]; 2], weights: [&[Block]; 2]) -> i64 {
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512bw"))]
    // SAFETY: this is compiled only for processors with these features.
    return unsafe { x86::output_avx512(views, weights) };
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx2",
        not(all(target_feature = "avx512f", target_feature = "avx512bw"))
    ))]
    // SAFETY: this is compiled only for processors with AVX2.
    return unsafe { x86::output_avx2(views, weights) };
    #[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
    output_portable(views, weights)
}

/// Returns the name of the instruction set that the arithmetic of this build uses, or `portable`.
pub const fn name() -> &'static str {
    if cfg!(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512bw")) {
        "AVX-512"
    } else if cfg!(all(target_arch = "x86_64", target_feature = "avx2")) {
        "AVX2"
    } else if cfg!(all(target_arch = "aarch64", target_feature = "neon")) {
        // The compiler vectorises the portable form. `wide` adds rows with NEON instructions.
        "NEON"
    } else {
        "portable"
    }
}

/// Implements [`output`] for any machine.
#[allow(dead_code, reason = "the reference where a faster form exists")]
fn output_portable(views: [&[Block]; 2], weights: [&[Block]; 2]) -> i64 {
    let mut sums = [0_i32; BLOCK_NEURONS];
    for (values, weights) in views.into_iter().zip(weights) {
        for (value, weight) in values.iter().zip(weights) {
            for (sum, (v, u)) in sums.iter_mut().zip(value.0.into_iter().zip(weight.0)) {
                let v = v.clamp(0, 255);
                *sum += i32::from(v * u) * i32::from(v);
            }
        }
    }
    sums.into_iter().map(i64::from).sum()
}

#[cfg(target_arch = "x86_64")]
#[allow(dead_code, reason = "one form is chosen when compiling, all are tested")]
mod x86 {
    use super::Block;
    use core::arch::x86_64::{
        __m256i, __m512i, _mm_add_epi64, _mm_cvtsi128_si64, _mm_unpackhi_epi64, _mm256_add_epi32,
        _mm256_add_epi64, _mm256_castsi256_si128, _mm256_cvtepi32_epi64, _mm256_extracti128_si256,
        _mm256_load_si256, _mm256_madd_epi16, _mm256_max_epi16, _mm256_min_epi16,
        _mm256_mullo_epi16, _mm256_set1_epi16, _mm256_setzero_si256, _mm512_add_epi32,
        _mm512_add_epi64, _mm512_castsi512_si256, _mm512_cvtepi32_epi64, _mm512_extracti64x4_epi64,
        _mm512_load_si512, _mm512_madd_epi16, _mm512_max_epi16, _mm512_min_epi16,
        _mm512_mullo_epi16, _mm512_reduce_add_epi64, _mm512_set1_epi16, _mm512_setzero_si512,
    };

    /// Implements [`super::output`] with AVX2.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn output_avx2([ours, theirs]: [&[Block]; 2], weights: [&[Block]; 2]) -> i64 {
        let (low, high) = (_mm256_setzero_si256(), _mm256_set1_epi16(255));
        let mut sums = [_mm256_setzero_si256(); 2];
        // Both views in one loop: fewer iterations, and independent sums that run in parallel.
        for ((a, u), (b, w)) in ours.iter().zip(weights[0]).zip(theirs.iter().zip(weights[1])) {
            for (value, weight) in [(a, u), (b, w)] {
                let value = (&raw const *value).cast::<__m256i>();
                let weight = (&raw const *weight).cast::<__m256i>();
                for (half, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: a block is 64 bytes, aligned to 64, so two aligned 32-byte loads are
                    // inside it.
                    let (v, u) = unsafe {
                        (_mm256_load_si256(value.add(half)), _mm256_load_si256(weight.add(half)))
                    };
                    let v = _mm256_min_epi16(_mm256_max_epi16(v, low), high);
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(_mm256_mullo_epi16(v, u), v));
                }
            }
        }
        let [a, b] = sums.map(|sum| {
            let (low, high) = (_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
            _mm256_add_epi64(_mm256_cvtepi32_epi64(low), _mm256_cvtepi32_epi64(high))
        });
        let sum = _mm256_add_epi64(a, b);
        let sum = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        _mm_cvtsi128_si64(_mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum)))
    }

    /// Implements [`super::output`] with AVX-512.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    pub(super) fn output_avx512([ours, theirs]: [&[Block]; 2], weights: [&[Block]; 2]) -> i64 {
        let (low, high) = (_mm512_setzero_si512(), _mm512_set1_epi16(255));
        let mut sums = [_mm512_setzero_si512(); 2];
        // Both views in one loop: fewer iterations, and independent sums that run in parallel.
        for ((a, u), (b, w)) in ours.iter().zip(weights[0]).zip(theirs.iter().zip(weights[1])) {
            for (sum, (value, weight)) in sums.iter_mut().zip([(a, u), (b, w)]) {
                let value = (&raw const *value).cast::<__m512i>();
                let weight = (&raw const *weight).cast::<__m512i>();
                // SAFETY: a block is 64 bytes, aligned to 64, so one aligned load reads it.
                let (v, u) = unsafe { (_mm512_load_si512(value), _mm512_load_si512(weight)) };
                let v = _mm512_min_epi16(_mm512_max_epi16(v, low), high);
                *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(_mm512_mullo_epi16(v, u), v));
            }
        }
        let [a, b] = sums.map(|sum| {
            let (low, high) = (_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
            _mm512_add_epi64(_mm512_cvtepi32_epi64(low), _mm512_cvtepi32_epi64(high))
        });
        _mm512_reduce_add_epi64(_mm512_add_epi64(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    fn blocks(rng: &mut ChaCha8Rng, count: usize, range: i16) -> Vec<Block> {
        (0..count)
            .map(|_| Block(std::array::from_fn(|_| rng.random_range(-range..=range))))
            .collect()
    }

    #[test]
    fn all_forms_give_the_same_bits() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for length in (0..=40).chain([64]) {
            let mut values = blocks(&mut rng, 2 * length, 600);
            let mut weights = blocks(&mut rng, 2 * length, 128);
            if length == 64 {
                // The extremes: saturated neurons, the largest weights, the most blocks for them.
                values.fill(Block([i16::MAX; BLOCK_NEURONS]));
                weights.fill(Block([128; BLOCK_NEURONS]));
                assert!(2 * length * LANE_NEURONS * 128 <= 33_025);
            }
            let expected: i64 = values
                .iter()
                .zip(&weights)
                .flat_map(|(value, weight)| value.0.into_iter().zip(weight.0))
                .map(|(v, u)| i64::from(v.clamp(0, 255)).pow(2) * i64::from(u))
                .sum();
            let views = <[&[Block]; 2]>::from(values.split_at(length));
            let weights = <[&[Block]; 2]>::from(weights.split_at(length));
            assert_eq!(output(views, weights), expected, "{}", name());
            assert_eq!(output_portable(views, weights), expected);
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2.
                    assert_eq!(unsafe { x86::output_avx2(views, weights) }, expected);
                }
                if is_x86_feature_detected!("avx512bw") {
                    // SAFETY: the processor has AVX-512 with byte and word instructions.
                    assert_eq!(unsafe { x86::output_avx512(views, weights) }, expected);
                }
            }
        }
    }

    #[test]
    fn rows_are_added_and_removed() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for length in 1..=9 {
            let weights = blocks(&mut rng, 20 * length, i16::MAX);
            let source = blocks(&mut rng, length, i16::MAX);
            for (a, r) in (0..4).flat_map(|a| (0..4).map(move |r| (a, r))) {
                let (added, removed) = (&[3, 17, 0][..a], &[19, 5, 3][..r]);
                let mut target = vec![Block([0; BLOCK_NEURONS]); length];
                update(&mut target, Some(&source), &weights, added, removed);
                for i in 0..length * BLOCK_NEURONS {
                    let at = |row: &u16| {
                        weights[usize::from(*row) * length + i / BLOCK_NEURONS].0[i % BLOCK_NEURONS]
                    };
                    let sum = added
                        .iter()
                        .fold(source[i / BLOCK_NEURONS].0[i % BLOCK_NEURONS], |sum, row| {
                            sum.wrapping_add(at(row))
                        });
                    let expected = removed.iter().fold(sum, |sum, row| sum.wrapping_sub(at(row)));
                    assert_eq!(target[i / BLOCK_NEURONS].0[i % BLOCK_NEURONS], expected);
                }
                let before = target.clone();
                update(&mut target, None, &weights, added, removed);
                update(&mut target, None, &weights, removed, added);
                assert_eq!(target, before);
            }
        }
    }
}
