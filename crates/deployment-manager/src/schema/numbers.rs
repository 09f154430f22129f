//! Numbers and values as Python compares them.

use std::cmp::Ordering;

use krm_yaml::scalar::{Scalar, is_non_finite, write_json_string};
use krm_yaml::{Data, Value};

/// A number as Python compares it: whole ones exactly.
#[derive(Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn of(value: &Value<'_>) -> Option<Self> {
        let Data::Scalar(Scalar::Number(digits)) = &value.data else {
            return None;
        };
        if is_non_finite(digits) {
            let sign = if digits.starts_with('-') { -1.0 } else { 1.0 };
            let is_infinite = digits.to_ascii_lowercase().ends_with("inf");
            let size = if is_infinite { f64::INFINITY } else { f64::NAN };
            return Some(Self::Float(size * sign));
        }
        let int = digits.parse().map(Self::Int).ok();
        int.or_else(|| digits.parse().map(Self::Float).ok())
    }

    #[expect(clippy::cast_precision_loss, reason = "Python also computes with the nearest float")]
    const fn float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }
}

/// Whether the value is a number without a fraction and an exponent.
pub(super) fn is_integer(value: &Value<'_>) -> bool {
    match &value.data {
        Data::Scalar(Scalar::Number(digits)) => {
            let digits = digits.trim_start_matches(['+', '-']);
            digits.bytes().all(|digit| digit.is_ascii_digit())
        }
        _ => false,
    }
}

/// The order of two numbers; `None` if a value is not a number.
pub(super) fn compare(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    match (Number::of(one)?, Number::of(other)?) {
        (Number::Int(one), Number::Int(other)) => Some(one.cmp(&other)),
        (one, other) => one.float().partial_cmp(&other.float()),
    }
}

/// Whether a number is a multiple of another as Python computes it: by a float, the quotient must
/// be a whole number. What is not a number is a multiple.
pub(super) fn is_multiple(number: &Value<'_>, divisor: &Value<'_>) -> bool {
    match (Number::of(number), Number::of(divisor)) {
        (Some(Number::Int(number)), Some(Number::Int(divisor))) => {
            number.checked_rem(divisor).is_none_or(|rest| rest == 0)
        }
        (Some(number), Some(Number::Float(divisor))) => (number.float() / divisor).fract() == 0.0,
        (Some(number), Some(divisor)) => number.float() % divisor.float() == 0.0,
        _ => true,
    }
}

/// A text that two values share if Python finds them equal: `1`, `1.0` and, within a list or a
/// mapping, `true`.
pub(super) fn identity(value: &Value<'_>) -> String {
    let mut out = String::new();
    match &value.data {
        Data::Scalar(Scalar::Bool(flag)) => out.push_str(if *flag { "True" } else { "False" }),
        _ => write_identity(&mut out, value),
    }
    out
}

fn write_identity(out: &mut String, value: &Value<'_>) {
    match &value.data {
        Data::Scalar(Scalar::Null) => out.push_str("None"),
        Data::Scalar(Scalar::Bool(flag)) => out.push_str(if *flag { "1" } else { "0" }),
        Data::Scalar(Scalar::Number(digits)) => match Number::of(value) {
            Some(Number::Int(int)) => out.push_str(&int.to_string()),
            Some(Number::Float(float)) => out.push_str(&float.to_string()),
            None => out.push_str(digits),
        },
        Data::Scalar(Scalar::String(string)) => write_json_string(out, string),
        Data::Sequence(items) => {
            out.push('[');
            for item in items {
                write_identity(out, item);
                out.push(',');
            }
            out.push(']');
        }
        Data::Mapping(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
            out.push('{');
            for (key, value) in sorted {
                write_json_string(out, key);
                out.push(':');
                write_identity(out, value);
                out.push(',');
            }
            out.push('}');
        }
    }
}
