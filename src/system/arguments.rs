//! Value parsers for clap. Their error messages say which values are expected.

use std::{
    fmt::Display,
    ops::{Bound, RangeBounds},
    str::FromStr,
    time::Duration,
};

/// The largest count.
const MAX_COUNT: u64 = 10_u64.pow(18);
/// The beginning of the error message for an invalid count.
const EXPECTED_COUNT: &str = "expected a whole number from 1 to 10^18";

/// Returns a value parser for whole numbers in a range, in the notation of [`number_in`].
pub fn whole<T>(
    range: impl RangeBounds<T> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: PartialOrd + Display + FromStr + TryFrom<u64>,
{
    move |text| number_in(text, &range)
}

/// Parses a whole number in a range, in full or in short notation: `250000`, `250k`, `1.5M`, `2G`,
/// `1e6`.
///
/// # Errors
///
/// If the text is not a whole number, or the number is out of range.
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

/// Parses a count from 1 to 10^18, in the notation of [`number_in`].
///
/// # Errors
///
/// If the text is not a whole number, or the number is out of range.
pub fn count(text: &str) -> Result<u64, String> {
    number_in(text, &(1..=MAX_COUNT))
        .map_err(|_| format!("{EXPECTED_COUNT}, such as 250000, 250k, 1.5M or 1e6"))
}

/// Parses a number in short notation.
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

/// Parses a time in hours, from 0 to 10,000.
///
/// # Errors
///
/// If the text is not a number, or the number is out of range.
pub fn hours(text: &str) -> Result<Duration, String> {
    let hours = text.parse::<f64>().ok().filter(|hours| (0.0..=10_000.0).contains(hours));
    hours
        .map(|hours| Duration::from_secs_f64(3600.0 * hours))
        .ok_or_else(|| "expected a number of hours from 0 to 10000, such as 0.5".to_owned())
}

/// The similarity (1 minus the Damerau-Levenshtein distance divided by the longer length) above
/// which a word may be a misspelling of a name.
const SIMILAR: f64 = 0.6;

/// Returns the name that is most similar to a word, if any is similar enough. Ignores the case of
/// the word. The names must be in lower case.
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
            assert!(count(text).unwrap_err().starts_with(EXPECTED_COUNT), "{text}");
        }
    }

    #[test]
    fn numbers_have_limits() {
        let read = whole::<u16>(100..=2000);
        assert_eq!(["100", "2k", "1e3"].map(read.clone()), [Ok(100), Ok(2000), Ok(1000)]);
        for text in ["99", "2001", "70000", "-100", "1.5", "x", ""] {
            assert_eq!(read(text).unwrap_err(), "expected a whole number from 100 to 2000");
        }
        // Full numbers are not parsed as floating-point numbers, which would round them.
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
