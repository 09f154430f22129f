//! Durations, sizes and times as texts.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Parses a duration such as `10s`, `500ms`, `1m 30s` or `0`.
///
/// # Errors
///
/// Fails if the text is not a duration, or is negative.
pub fn duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let signed: SignedDuration =
        text.parse().map_err(|_| "expected a duration such as `10s` or `500ms`".to_owned())?;
    Duration::try_from(signed).map_err(|_| "must not be negative".to_owned())
}

/// Parses a duration that is longer than zero.
///
/// # Errors
///
/// Fails if the text is not a duration, or is not positive.
pub(crate) fn timeout(text: &str) -> Result<Duration, String> {
    let read = duration(text)?;
    if read.is_zero() { Err("must be more than 0".to_owned()) } else { Ok(read) }
}

/// Parses a number of bytes, with an optional suffix `Ki`, `Mi` or `Gi`.
///
/// # Errors
///
/// Fails if the text is not a positive number of bytes, or exceeds the address space.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    const UNITS: [(&str, usize); 3] = [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)];
    let (digits, unit) = UNITS
        .into_iter()
        .find_map(|(suffix, unit)| text.strip_suffix(suffix).map(|digits| (digits, unit)))
        .unwrap_or((text, 1));
    digits
        .parse::<usize>()
        .ok()
        .and_then(|count| count.checked_mul(unit))
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected a number of bytes such as `1048576` or `1Mi`".to_owned())
}

/// Formats a time in RFC 3339 format, in UTC with whole seconds.
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, expected) in [
            ("10s", Some(Duration::from_secs(10))),
            ("500ms", Some(Duration::from_millis(500))),
            ("1m 30s", Some(Duration::from_secs(90))),
            ("0", Some(Duration::ZERO)),
            ("0s", Some(Duration::ZERO)),
            ("-1s", None),
            ("10", None),
            ("", None),
            ("soon", None),
        ] {
            assert_eq!(duration(text).ok(), expected, "{text}");
        }
        assert_eq!(timeout("0s"), Err("must be more than 0".to_owned()));
    }

    #[test]
    fn sizes_have_suffixes_of_kubernetes() {
        for (text, expected) in [
            ("1", Some(1)),
            ("64Ki", Some(65_536)),
            ("3Mi", Some(3_145_728)),
            ("1Gi", Some(1_073_741_824)),
            ("0", None),
            ("0Mi", None),
            ("-1", None),
            ("3MB", None),
            ("18446744073709551615Ki", None),
            ("", None),
        ] {
            assert_eq!(bytes(text).ok(), expected, "{text}");
        }
    }
}
