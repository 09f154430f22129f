//! Numbers in the format of Go.

use std::borrow::Cow;

/// Formats a number as OpenShift's API does: a 64-bit integer unchanged, any other number as a
/// 64-bit float. Keeps the digits if the float has another value.
///
/// Source: `encoding/json` of Go, `floatEncoder`.
pub(super) fn spelled(digits: &str) -> Cow<'_, str> {
    if let Ok(integer) = digits.parse::<i64>() {
        return Cow::Borrowed(if integer == 0 { "0" } else { digits });
    }
    let float = digits.parse::<f64>().ok().filter(|float| float.is_finite());
    let spelled = float.map(float_text);
    let same = spelled.filter(|spelled| decimal(spelled) == decimal(digits));
    same.map_or(Cow::Borrowed(digits), Cow::Owned)
}

fn float_text(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        _ => text,
    }
}

/// Returns the significant digits of a number, and the power of ten of the last one.
fn decimal(text: &str) -> (String, i64) {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = [integer, fraction].concat();
    let significant = all.trim_end_matches('0');
    let zeros = all.len() - significant.len();
    let power: i64 = power.trim_start_matches('+').parse().unwrap_or(i64::MAX);
    let shift = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let power = power.saturating_sub(shift(fraction.len())).saturating_add(shift(zeros));
    match significant.trim_start_matches('0') {
        "" => (String::new(), 0),
        significant => (significant.to_owned(), power),
    }
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn numbers_are_spelled_as_in_go_unless_that_changes_them() {
        for (digits, expected) in [
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("1.10", "1.1"),
            ("0.000001", "0.000001"),
            ("1E-7", "1e-7"),
            ("-0", "0"),
            ("-0.0", "-0"),
            ("1e21", "1e+21"),
            ("100000000000000000000000", "1e+23"),
            ("123456789012345680000", "123456789012345680000"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("-1.5e300", "-1.5e+300"),
            // Go: 12345678901234567000.
            ("12345678901234567890", "12345678901234567890"),
            // Go: 9223372036854775808 becomes 9223372036854776000.
            ("9223372036854775808", "9223372036854775808"),
            // Go panics.
            ("1e400", "1e400"),
        ] {
            assert_eq!(spelled(digits), expected, "{digits}");
        }
    }
}
