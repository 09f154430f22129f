//! The text that a bool or a number is as a key: keys of JSON are strings.

use std::borrow::Cow;

use super::resolve::is_non_finite;

/// The text of an integer as a key, as `sigs.k8s.io/yaml` writes it; `None` for an integer from
/// 2^63 on, which it refuses. `digits` is its JSON spelling.
pub(crate) fn integer_key(digits: Cow<'_, str>) -> Option<Cow<'_, str>> {
    match digits.as_ref() {
        "-0" => Some(Cow::Borrowed("0")),
        number => number.parse::<i64>().is_ok().then_some(digits),
    }
}

/// The text of any other number as a key, as `sigs.k8s.io/yaml` writes it: with the precision of
/// 32 bits, in Go's shortest form (`%g`). `digits` is its JSON spelling.
pub(crate) fn float_key(digits: &str) -> String {
    if is_non_finite(digits) {
        return digits.trim_start_matches('+').to_ascii_lowercase();
    }
    let number = digits.parse::<f64>().unwrap_or(f64::NAN);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "sigs.k8s.io/yaml formats float keys with 32 bits"
    )]
    let number = number as f32;
    shortest(number)
}

/// A float as Go formats it with `%g`, and an infinity as YAML spells it.
fn shortest(number: f32) -> String {
    /// From this power of ten on, Go writes an exponent.
    const LARGE: i32 = 6;
    /// Below this power of ten, too.
    const SMALL: i32 = -4;
    if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return format!("{sign}.inf");
    }
    let scientific = format!("{number:e}");
    let parts = scientific.split_once('e');
    let Some((mantissa, power)) = parts else {
        return scientific;
    };
    match power.parse::<i32>() {
        Ok(power) if number != 0.0 && !(SMALL..LARGE).contains(&power) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", power.unsigned_abs())
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{float_key, integer_key};
    use crate::scalar::data::Scalar;
    use crate::scalar::{is_integer, resolve};

    /// Plain keys, and what kubectl 1.37 makes of them.
    const TABLE: &[(&str, Option<&str>)] = &[
        ("1.10", Some("1.1")),
        ("1.0", Some("1")),
        ("1.", Some("1")),
        ("1e3", Some("1000")),
        ("1e5", Some("100000")),
        ("1e6", Some("1e+06")),
        ("1e20", Some("1e+20")),
        ("1234567.0", Some("1.234567e+06")),
        ("123456789.125", Some("1.2345679e+08")),
        ("100000.5", Some("100000.5")),
        ("0.0000001", Some("1e-07")),
        ("0.0001", Some("0.0001")),
        ("3.4e38", Some("3.4e+38")),
        ("3.5e38", Some(".inf")),
        ("-1e300", Some("-.inf")),
        (".inf", Some(".inf")),
        ("+.Inf", Some(".inf")),
        ("-.Inf", Some("-.inf")),
        (".NaN", Some(".nan")),
        ("-0.0", Some("-0")),
        ("0.0", Some("0")),
        ("-0", Some("0")),
        ("0", Some("0")),
        ("+1", Some("1")),
        ("0x10", Some("16")),
        ("0644", Some("420")),
        ("01000009", Some("1.000009e+06")),
        ("1_000", Some("1000")),
        ("16777217", Some("16777217")),
        ("9223372036854775807", Some("9223372036854775807")),
        ("9223372036854775808", None),
        ("18446744073709551615", None),
        ("18446744073709551616", Some("1.8446744e+19")),
    ];

    #[test]
    fn a_number_as_a_key_is_the_text_that_kubectl_makes_of_it() {
        for (plain, expected) in TABLE {
            let Scalar::Number(digits) = resolve(plain) else {
                panic!("`{plain}` is a number");
            };
            let key = if is_integer(plain) {
                integer_key(digits)
            } else {
                Some(float_key(&digits).into())
            };
            assert_eq!(key.as_deref(), *expected, "`{plain}`");
        }
    }
}
