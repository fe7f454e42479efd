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
