//! Readers of values on command lines, for clap. What a wrong value is told says what
//! was expected.

use std::{
    fmt::Display,
    ops::{Bound, RangeBounds},
    str::FromStr,
    time::Duration,
};

/// The largest count.
const MAX_COUNT: u64 = 10_u64.pow(18);

/// A reader of whole numbers in a range, as [`number_in`] reads them.
pub fn whole<T>(
    range: impl RangeBounds<T> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: PartialOrd + Display + FromStr + TryFrom<u64>,
{
    move |text| number_in(text, &range)
}

/// A whole number in a range, plain or short: `250000`, `250k`, `1.5M`, `2G`, `1e6`.
///
/// # Errors
///
/// If it is none, or out of the range.
pub fn number_in<T>(text: &str, range: &impl RangeBounds<T>) -> Result<T, String>
where
    T: PartialOrd + Display + FromStr + TryFrom<u64>,
{
    let number = text.parse().ok().or_else(|| T::try_from(short(text)?).ok());
    number.filter(|number| range.contains(number)).ok_or_else(|| {
        let limits = match (range.start_bound(), range.end_bound()) {
            (Bound::Included(least), Bound::Included(most)) => format!(" from {least} to {most}"),
            (Bound::Included(least), _) => format!(" of at least {least}"),
            _ => String::new(),
        };
        format!("expected a whole number{limits}")
    })
}

/// A count of anything: a whole number, plain or short.
///
/// # Errors
///
/// If it is none of these, or not from 1 to 10^18.
pub fn count(text: &str) -> Result<u64, String> {
    number_in(text, &(1..=MAX_COUNT))
        .map_err(|_| "expected a whole number such as 250000, 250k, 1.5M or 1e6".to_owned())
}

/// The number that a short form stands for.
fn short(text: &str) -> Option<u64> {
    let (digits, factor) = match text.chars().last() {
        Some('k' | 'K') => (&text[..text.len() - 1], 1e3),
        Some('m' | 'M') => (&text[..text.len() - 1], 1e6),
        Some('g' | 'G') => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let plain = digits.chars().all(|c| c.is_ascii_digit() || ".eE+".contains(c));
    let number = factor * digits.parse::<f64>().ok().filter(|_| plain)?;
    let whole = (number - number.round()).abs() < 1e-6 && number <= MAX_COUNT as f64;
    whole.then_some(number.round() as u64)
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

/// Similarity, from 0 to 1, beyond which a word may be another one, misspelt.
const SIMILAR: f64 = 0.6;

/// The name that a word is most similar to, if it is similar to any.
pub fn nearest<T: AsRef<str>>(word: &str, names: impl IntoIterator<Item = T>) -> Option<T> {
    let word = word.to_lowercase();
    let similarity = |name: &T| strsim::normalized_damerau_levenshtein(&word, name.as_ref());
    let all = names.into_iter().map(|name| (similarity(&name), name));
    let similar = all.filter(|(similarity, _)| *similarity > SIMILAR);
    similar.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
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

    #[test]
    fn numbers_have_limits() {
        let read = whole::<u16>(100..=2000);
        assert_eq!(["100", "2k", "1e3"].map(read.clone()), [Ok(100), Ok(2000), Ok(1000)]);
        for text in ["99", "2001", "70000", "-100", "1.5", "x", ""] {
            assert_eq!(read(text).unwrap_err(), "expected a whole number from 100 to 2000");
        }
        // Not by way of a floating-point number.
        assert_eq!(whole(..)("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(whole(-5..=5)("-5"), Ok(-5));
        assert_eq!(whole(2_u32..)("1").unwrap_err(), "expected a whole number of at least 2");
        assert_eq!(whole::<u32>(..)("x").unwrap_err(), "expected a whole number");
    }

    #[test]
    fn misspelt_words_are_known() {
        let names = ["analyse", "bench", "epd", "explain", "perft", "study"];
        for (word, name) in [
            ("analize", Some("analyse")),
            ("Analyze", Some("analyse")),
            ("pertf", Some("perft")),
            ("explane", Some("explain")),
            ("ebd", Some("epd")),
            ("xyzzy", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), name, "{word}");
        }
    }
}
