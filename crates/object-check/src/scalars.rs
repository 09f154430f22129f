//! Scalars as the API server decodes them.

/// The largest exponent of a quantity: larger ones keep a server busy.
const MAX_EXPONENT: i64 = 1_000;

/// A number of a resource, in thousandths as far as they fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// Near enough to compare quantities that people write.
    pub(crate) value: f64,
}

/// Reads a quantity as `resource.ParseQuantity` behaves.
pub(crate) fn quantity(text: &str) -> Option<Quantity> {
    let text = text.trim_matches(' ');
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("-", rest)) => (-1.0, rest),
        Some(("+", rest)) => (1.0, rest),
        Some(_) => (1.0, text),
        None => return None,
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (digits, suffix) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
    if digits.matches('.').count() > 1 {
        return None;
    }
    let has_digits = digits.bytes().any(|byte| byte.is_ascii_digit());
    let factor = factor(suffix)?;
    if suffix == "Ei" && digits.is_empty() {
        return None;
    }
    // `5.` and `.5` are numbers to Rust as well.
    let number: f64 = if has_digits { digits.parse().ok()? } else { 0.0 };
    Some(Quantity { value: sign * number * factor })
}

/// The factor that a suffix means.
fn factor(suffix: &str) -> Option<f64> {
    let power = |base: f64, exponent: i32| Some(base.powi(exponent));
    match suffix {
        "" => Some(1.0),
        "n" => power(10.0, -9),
        "u" => power(10.0, -6),
        "m" => power(10.0, -3),
        "k" => power(10.0, 3),
        "M" => power(10.0, 6),
        "G" => power(10.0, 9),
        "T" => power(10.0, 12),
        "P" => power(10.0, 15),
        "E" => power(10.0, 18),
        "Ki" => power(2.0, 10),
        "Mi" => power(2.0, 20),
        "Gi" => power(2.0, 30),
        "Ti" => power(2.0, 40),
        "Pi" => power(2.0, 50),
        "Ei" => power(2.0, 60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let exponent: i64 = is_number.then(|| exponent.parse().ok()).flatten()?;
            (exponent.abs() <= MAX_EXPONENT)
                .then(|| 10f64.powi(i32::try_from(exponent).unwrap_or(0)))
        }
    }
}

/// An integer, as JSON spells those that Go takes for one.
pub(crate) fn integer(digits: &str) -> Option<i64> {
    let rest = digits.strip_prefix('-').unwrap_or(digits);
    let is_plain = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten()
}

/// Whether a text is base64: the standard alphabet, padded, with line breaks anywhere.
pub(crate) fn is_base64(text: &str) -> bool {
    let bytes = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r'));
    let (mut count, mut padding) = (0usize, 0usize);
    for byte in bytes {
        count += 1;
        match byte {
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => {}
            _ => return false,
        }
    }
    count.is_multiple_of(4) && padding <= 2
}

/// Whether a text is a time of RFC 3339, with an upper-case T and Z.
pub(crate) fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |at: usize, width: usize| -> Option<u32> {
        let digits = text.get(at..at + width)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let separators = is(4, b'-') && is(7, b'-') && is(10, b'T') && is(13, b':') && is(16, b':');
    let parts =
        (number(0, 4), number(5, 2), number(8, 2), number(11, 2), number(14, 2), number(17, 2));
    let (Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)) = parts else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    let is_valid = (1..=days).contains(&day) && hour < 24 && minute < 60 && second < 60;
    let mut zone = text.get(19..).unwrap_or_default();
    if let Some(fraction) = zone.strip_prefix('.') {
        let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == fraction.len() {
            return false;
        }
        zone = rest;
    }
    let is_zone = zone == "Z" || {
        let at = text.len() - zone.len();
        zone.len() == 6
            && zone.starts_with(['+', '-'])
            && is(at + 3, b':')
            && number(at + 1, 2).is_some_and(|hours| hours < 24)
            && number(at + 4, 2).is_some_and(|minutes| minutes < 60)
    };
    separators && is_valid && is_zone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_those_of_the_server() {
        for text in [
            "1", " 1 ", ".5Gi", "5.Gi", "+1Gi", "1e3", "1E", ".", "Gi", "+", "e3", "E", "1E-3",
            "1e+3", "-0", "00012",
        ] {
            assert!(quantity(text).is_some(), "{text}");
        }
        for text in [
            "",
            " ",
            "1e",
            "1M2",
            "1e3Ki",
            "1..2",
            "Ei",
            "K",
            "1 Gi",
            "1\n",
            "1e2147483648",
            "+-1",
            "1_0",
            "١",
        ] {
            assert!(quantity(text).is_none(), "{text}");
        }
    }

    #[test]
    fn times_are_of_rfc_3339() {
        for text in ["2024-02-29T10:00:00Z", "2024-01-01T00:00:00.5+01:00"] {
            assert!(is_time(text), "{text}");
        }
        for text in [
            "",
            "2023-02-29T10:00:00Z",
            "2024-01-01t00:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn base64_may_have_line_breaks() {
        assert!(is_base64("aGk=") && is_base64("aG\nk=") && is_base64(""));
        assert!(
            !is_base64("aGk") && !is_base64("aG k=") && !is_base64("a===") && !is_base64("aG=k")
        );
    }
}
