//! The dates that go-yaml reads as a `!!timestamp`.

use super::decimal::split_digits;

/// Whether go-yaml reads `text` as a timestamp: `2001-1-2`, `2001-01-02 03:04:05.6` or
/// `2001-01-02T03:04:05Z`.
pub fn is_timestamp(text: &str) -> bool {
    parse(text).is_some()
}

fn parse(text: &str) -> Option<()> {
    let (year, rest) = split_digits(text);
    let (month, rest) = number(rest.strip_prefix('-')?, 1..=12)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 1..=31)?;
    if year.len() != 4 || day > days(year.parse().ok()?, month) {
        return None;
    }
    if rest.is_empty() {
        return Some(());
    }
    let has_zone = rest.starts_with(['T', 't']);
    let (_, rest) = number(rest.strip_prefix(['T', 't', ' '])?, 0..=23)?;
    let (_, rest) = number(rest.strip_prefix(':')?, 0..=59)?;
    let (_, rest) = number(rest.strip_prefix(':')?, 0..=59)?;
    let rest = match rest.strip_prefix(['.', ',']).map(split_digits) {
        Some((fraction, rest)) if !fraction.is_empty() => rest,
        _ => rest,
    };
    let ends = if has_zone { is_zone(rest) } else { rest.is_empty() };
    ends.then_some(())
}

/// A number of one or two digits, and the rest.
fn number(text: &str, range: std::ops::RangeInclusive<u32>) -> Option<(u32, &str)> {
    let (digits, _) = split_digits(text);
    let digits = digits.get(..2).unwrap_or(digits);
    let number = digits.parse().ok()?;
    let rest = text.get(digits.len()..)?;
    range.contains(&number).then_some((number, rest))
}

/// Whether a text is a time zone: `Z` or `+01:00`.
fn is_zone(text: &str) -> bool {
    let parts = || {
        let (hours, minutes) = text.strip_prefix(['+', '-'])?.split_once(':')?;
        let is_full = hours.len() == 2 && minutes.len() == 2;
        let (_, after_hours) = number(hours, 0..=24)?;
        let (_, after_minutes) = number(minutes, 0..=59)?;
        (is_full && after_hours.is_empty() && after_minutes.is_empty()).then_some(())
    };
    text == "Z" || parts().is_some()
}

const fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::is_timestamp;

    #[test]
    fn dates_that_go_yaml_reads_are_timestamps() {
        for text in [
            "2001-01-01",
            "2001-1-1",
            "2000-02-29",
            "2001-01-01 00:00:00",
            "2001-01-01 1:02:03",
            "2001-01-01 00:00:00.5",
            "2001-01-01T00:00:00Z",
            "2001-1-1T1:2:3Z",
            "2001-01-01t1:2:3+01:00",
            "2001-01-01T00:00:00,5Z",
            "2001-12-14t21:59:43.10-05:00",
            "2001-01-01T00:00:00+24:00",
        ] {
            assert!(is_timestamp(text), "`{text}`");
        }
    }

    #[test]
    fn other_texts_are_not_timestamps() {
        for text in [
            "",
            "xx",
            "5",
            "~",
            "2001-13-45",
            "2001-02-30",
            "1900-02-29",
            "1-1-1",
            "02001-01-01",
            "2001-001-01",
            "2001-01-01T00:00:00",
            "2001-01-01 00:00:00 Z",
            "2001-01-01T24:00:00Z",
            "2001-01-01T00:00:60Z",
            "2001-01-01T00:00:00.Z",
            "2001-01-01T00:00:00+1:00",
            "2001-01-01x",
        ] {
            assert!(!is_timestamp(text), "`{text}`");
        }
    }
}
