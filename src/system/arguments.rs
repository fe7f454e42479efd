//! Readers of values on command lines, for clap. What a wrong value is told says what
//! was expected.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

/// A whole number in a range.
///
/// # Errors
///
/// If it is none, or out of the range.
pub fn number_in<T>(text: &str, range: &RangeInclusive<T>) -> Result<T, String>
where
    T: PartialOrd + Display + FromStr,
{
    text.parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
}

/// A time in hours, up to 10,000 of them.
///
/// # Errors
///
/// If it is no number, or out of the range.
pub fn hours(text: &str) -> Result<Duration, String> {
    let hours = text.parse::<f64>().ok().filter(|hours| (0.0..=10_000.0).contains(hours));
    hours
        .map(|hours| Duration::from_secs_f64(3600.0 * hours))
        .ok_or_else(|| "expected a number of hours up to 10000, such as 0.5".to_owned())
}

/// A whole number, plain or short: `250000`, `250k`, `1.5M`, `2G`, `1e6`.
///
/// # Errors
///
/// If it is none of these, or not from 1 to 10^18.
pub fn count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.chars().last() {
        Some('k' | 'K') => (&text[..text.len() - 1], 1e3),
        Some('m' | 'M') => (&text[..text.len() - 1], 1e6),
        Some('g' | 'G') => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let plain = digits.chars().all(|c| c.is_ascii_digit() || ".eE+".contains(c));
    let number = digits.parse::<f64>().ok().filter(|_| plain).map(|number| number * factor);
    let whole = |number: &f64| (number - number.round()).abs() < 1e-6;
    number
        .filter(|number| whole(number) && (1.0..=1e18).contains(number))
        .map(|number| number.round() as u64)
        .ok_or_else(|| "expected a whole number such as 250000, 250k, 1.5M or 1e6".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_short() {
        for (text, number) in [
            ("1", 1),
            ("250000", 250_000),
            ("250k", 250_000),
            ("1.5M", 1_500_000),
            ("2G", 2_000_000_000),
            ("1e6", 1_000_000),
            ("1000000000000000000", 1_000_000_000_000_000_000),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in ["", "0", "-1", "k", "1.5", "1.2345k", "1e30", "inf", "nan", "1kk", "0x10", "é"]
        {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
