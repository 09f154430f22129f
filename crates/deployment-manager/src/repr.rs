//! Writes values as Python prints them.

use krm_yaml::scalar::{Scalar, is_non_finite};
use krm_yaml::shorten::{MAX_QUOTED, cut};
use krm_yaml::{Data, Value};

/// The text that Python's `repr` makes of a value.
pub fn repr(value: &Value<'_>) -> String {
    let mut out = String::new();
    write(&mut out, value, usize::MAX);
    out
}

/// The text that Python's `repr` makes of a value, cut to the length that a message may quote.
pub fn quoted(value: &Value<'_>) -> String {
    let mut out = String::new();
    write(&mut out, value, MAX_QUOTED);
    cut(&mut out, MAX_QUOTED);
    out
}

/// Writes a value, or its beginning if that is longer than `most`.
fn write(out: &mut String, value: &Value<'_>, most: usize) {
    if out.len() > most {
        return;
    }
    match &value.data {
        Data::Scalar(Scalar::Null) => out.push_str("None"),
        Data::Scalar(Scalar::Bool(true)) => out.push_str("True"),
        Data::Scalar(Scalar::Bool(false)) => out.push_str("False"),
        Data::Scalar(Scalar::Number(digits)) => out.push_str(&number(digits)),
        Data::Scalar(Scalar::String(text)) => write_text(out, text, most),
        Data::Sequence(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if out.len() > most {
                    return;
                }
                separate(out, index);
                write(out, item, most);
            }
            out.push(']');
        }
        Data::Mapping(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if out.len() > most {
                    return;
                }
                separate(out, index);
                write_text(out, key, most);
                out.push_str(": ");
                write(out, value, most);
            }
            out.push('}');
        }
    }
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push_str(", ");
    }
}

/// A text in quotes, as Python's `repr` writes it.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(&mut out, text, usize::MAX);
    out
}

/// As [`text`], cut to the length that a message may quote.
pub fn quoted_text(text: &str) -> String {
    let mut out = String::new();
    write_text(&mut out, text, MAX_QUOTED);
    cut(&mut out, MAX_QUOTED);
    out
}

fn write_text(out: &mut String, text: &str, most: usize) {
    use std::fmt::Write;
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        if out.len() > most {
            return;
        }
        let code = u32::from(c);
        // Writing to a string does not fail.
        let _ = match c {
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            _ if c == quote => write!(out, "\\{c}"),
            ' ' => out.write_char(c),
            _ if !c.is_control() && !c.is_whitespace() => out.write_char(c),
            _ if code < 0x100 => write!(out, "\\x{code:02x}"),
            _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
            _ => write!(out, "\\U{code:08x}"),
        };
    }
    out.push(quote);
}

/// A number, from its JSON spelling.
pub fn number(digits: &str) -> String {
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
    use super::repr;
    use krm_yaml::Value;

    fn of(json: &str) -> String {
        repr(&Value::from(serde_json::from_str::<serde_json::Value>(json).unwrap()))
    }

    #[test]
    fn values_are_printed_as_python_prints_them() {
        for (json, expected) in [
            ("null", "None"),
            ("true", "True"),
            ("[1, \"a\", false]", "[1, 'a', False]"),
            ("{\"a\": 1, \"b\": {}}", "{'a': 1, 'b': {}}"),
            ("\"it's\"", "\"it's\""),
            ("\"it's \\\"x\\\"\"", "'it\\'s \"x\"'"),
            ("\"a\\n\\\\\\t\\u0001\\u00a0é\"", "'a\\n\\\\\\t\\x01\\xa0é'"),
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
