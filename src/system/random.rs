//! A hash of 64-bit keys, with the same results on every machine. Use the generators of `rand` for
//! sequences of random numbers.

/// A bijection on 64-bit numbers: one step of splitmix64 (S. Vigna).
pub const fn mix(key: u64) -> u64 {
    let x = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of splitmix64 for the seed 1234567 (Rosetta Code, "Pseudo-random
    /// numbers/Splitmix64"). Each number is the mixed state.
    #[test]
    fn the_finaliser_is_splitmix64s() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let outputs = (0..3).map(|i: u64| mix(1_234_567 + i.wrapping_mul(step)));
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert!(outputs.eq(expected));
    }
}
