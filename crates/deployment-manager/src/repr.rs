//! Prints scalars as Python does.

use krm_yaml::scalar::{Scalar, is_non_finite};
use krm_yaml::{Data, Value};

/// A value as Python's `str` prints it: a text as it is, and a list or a mapping as JSON.
pub fn text(value: &Value<'_>) -> String {
    match &value.data {
        Data::Scalar(Scalar::Null) => "None".to_owned(),
        Data::Scalar(Scalar::Bool(true)) => "True".to_owned(),
        Data::Scalar(Scalar::Bool(false)) => "False".to_owned(),
        Data::Scalar(Scalar::Number(digits)) => number(digits),
        Data::Scalar(Scalar::String(text)) => text.to_string(),
        Data::Sequence(_) | Data::Mapping(_) => value.to_json(),
    }
}

/// A number, from its JSON spelling.
fn number(digits: &str) -> String {
    if is_non_finite(digits) {
        let sign = if digits.starts_with('-') { "-" } else { "" };
        let word = digits.trim_start_matches(['+', '-', '.']);
        return format!("{sign}{}", word.to_ascii_lowercase());
    }
    match digits.parse::<f64>() {
        Ok(value) if digits.contains(['.', 'e', 'E']) => float(value),
        _ => digits.to_owned(),
    }
}

/// A finite float: the shortest digits that read back, with an exponent where Python has one.
pub fn float(value: f64) -> String {
    /// From this power of ten on, Python writes an exponent.
    const LARGE: i32 = 16;
    /// Below this power of ten, too.
    const SMALL: i32 = -4;
    let scientific = format!("{value:e}");
    let Some((mantissa, power)) = scientific.split_once('e') else {
        return scientific;
    };
    match power.parse::<i32>() {
        Ok(power) if value != 0.0 && !(SMALL..LARGE).contains(&power) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", power.unsigned_abs())
        }
        _ => format!("{value:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use krm_yaml::Value;

    fn of(json: &str) -> String {
        text(&Value::from(serde_json::from_str::<serde_json::Value>(json).unwrap()))
    }

    #[test]
    fn values_are_printed_as_python_prints_them() {
        for (json, expected) in [
            ("null", "None"),
            ("true", "True"),
            ("[1, \"a\", false]", "[1,\"a\",false]"),
            ("\"it's\"", "it's"),
            ("1.10", "1.1"),
            ("1.0", "1.0"),
            ("-0.0", "-0.0"),
            ("1e3", "1000.0"),
            ("1e16", "1e+16"),
            ("123456789012345680000.0", "1.2345678901234568e+20"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            assert_eq!(of(json), expected, "{json}");
        }
    }
}
