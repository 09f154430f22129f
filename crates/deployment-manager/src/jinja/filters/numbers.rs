//! Filters of numbers.

use minijinja::value::ValueKind;
use minijinja::{Error, State, Value};

use super::common::{Filter, alone};
use crate::jinja::arguments::{bind, flag, required, whole, word};
use crate::jinja::chars::is_blank;
use crate::jinja::containers::is_undefined;
use crate::jinja::operators::to_float;
use crate::jinja::spec;
use crate::jinja::wrong::{named, wrong};

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("abs", |_, args| abs(&alone(args)?)),
    ("int", int),
    ("float", float),
    ("round", round),
    ("filesizeformat", filesizeformat),
];

fn is_whole(value: &Value) -> bool {
    value.is_integer() || value.kind() == ValueKind::Bool
}

/// A whole number as a value.
fn whole_value(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
}

fn undefined() -> Error {
    wrong("an undefined value is not a number")
}

fn not_a_number(value: &Value) -> Error {
    wrong(format!("{} is not a number", named(value)))
}

fn abs(value: &Value) -> Result<Value, Error> {
    match value.kind() {
        _ if is_whole(value) => {
            let size = i128::try_from(value.clone())?.checked_abs();
            size.map(whole_value)
                .ok_or_else(|| wrong("a number is too large"))
        }
        ValueKind::Number => Ok(Value::from(to_float(value)?.abs())),
        _ => Err(not_a_number(value)),
    }
}

/// A float without its fraction, if it is finite.
fn truncated(number: f64) -> Option<Value> {
    (number.abs() < 1e38).then(|| whole_value(spec::to_whole(number)))
}

fn int(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, default, base] = bind(args, ["value", "default", "base"])?;
    let value = required(value, "value")?;
    if is_undefined(&value) {
        return Err(undefined());
    }
    let default = default.unwrap_or_else(|| Value::from(0));
    if is_whole(&value) {
        return Ok(whole_value(i128::try_from(value)?));
    }
    if let Some(text) = value.as_str() {
        let base = whole(base.as_ref(), 10)?;
        let found = parse_whole(text, base).map(whole_value);
        return Ok(found
            .or_else(|| parse_float(text).and_then(truncated))
            .unwrap_or(default));
    }
    if value.kind() != ValueKind::Number {
        return Ok(default);
    }
    Ok(truncated(to_float(&value)?).unwrap_or(default))
}

/// `int(text, base)`.
fn parse_whole(text: &str, base: i64) -> Option<i128> {
    let text = text.trim_matches(is_blank);
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefixed = |marks: [&str; 2]| marks.iter().find_map(|mark| digits.strip_prefix(mark));
    let hexadecimal = prefixed(["0x", "0X"]).filter(|_| base == 16 || base == 0);
    let octal = prefixed(["0o", "0O"]).filter(|_| base == 8 || base == 0);
    let binary = prefixed(["0b", "0B"]).filter(|_| base == 2 || base == 0);
    let (radix, digits, has_prefix) = match (hexadecimal, octal, binary) {
        (Some(digits), _, _) => (16, digits, true),
        (_, Some(digits), _) => (8, digits, true),
        (_, _, Some(digits)) => (2, digits, true),
        _ if base == 0 => {
            // Without a prefix only zeros may start with a zero.
            let is_octal =
                digits.starts_with('0') && digits.contains(|c: char| c != '0' && c != '_');
            (if is_octal { return None } else { 10 }, digits, false)
        }
        _ => (
            u32::try_from(base)
                .ok()
                .filter(|base| (2..=36).contains(base))?,
            digits,
            false,
        ),
    };
    let digits = if has_prefix {
        digits.strip_prefix('_').unwrap_or(digits)
    } else {
        digits
    };
    if digits.starts_with('_')
        || digits.ends_with('_')
        || digits.contains("__")
        || digits.starts_with(['+', '-'])
    {
        return None;
    }
    let number = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(if is_negative { -number } else { number })
}

/// `float(text)`.
fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_blank);
    let has_wrong_underscore = text.starts_with('_')
        || text.ends_with('_')
        || text.contains("__")
        || text.contains("_.")
        || text.contains("._");
    if has_wrong_underscore {
        return None;
    }
    text.replace('_', "").parse().ok()
}

fn float(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, default] = bind(args, ["value", "default"])?;
    let value = required(value, "value")?;
    if is_undefined(&value) {
        return Err(undefined());
    }
    let default = default.unwrap_or_else(|| Value::from(0.0));
    if let Some(text) = value.as_str() {
        return Ok(parse_float(text).map_or(default, Value::from));
    }
    if value.kind() != ValueKind::Number && value.kind() != ValueKind::Bool {
        return Ok(default);
    }
    to_float(&value).map(Value::from)
}

fn round(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, precision, method] = bind(args, ["value", "precision", "method"])?;
    let value = required(value, "value")?;
    if value.kind() != ValueKind::Number && value.kind() != ValueKind::Bool {
        return Err(not_a_number(&value));
    }
    let precision = whole(precision.as_ref(), 0)?.clamp(-400, 400);
    let method = word(method.as_ref(), "common")?;
    if method == "common" {
        return rounded(&value, precision);
    }
    let factor = 10_f64.powf(to_float(&Value::from(precision))?);
    let number = to_float(&value)? * factor;
    let number = match method {
        "ceil" => number.ceil(),
        "floor" => number.floor(),
        _ => {
            return Err(wrong(
                "the method of `round` is `common`, `ceil` or `floor`",
            ));
        }
    };
    Ok(Value::from(number / factor))
}

/// `round(value, precision)`: halves go to the even neighbour.
fn rounded(value: &Value, precision: i64) -> Result<Value, Error> {
    if is_whole(value) {
        let number = i128::try_from(value.clone())?;
        let unit = u32::try_from(-precision).ok().filter(|digits| *digits > 0);
        let Some(unit) = unit.map(|digits| 10_i128.checked_pow(digits)) else {
            return Ok(whole_value(number));
        };
        let Some(unit) = unit else {
            return Ok(Value::from(0));
        };
        let (down, rest) = (number.div_euclid(unit), number.rem_euclid(unit));
        let is_up = rest * 2 > unit || rest * 2 == unit && down % 2 != 0;
        return Ok(whole_value((down + i128::from(is_up)) * unit));
    }
    let number = to_float(value)?;
    if !number.is_finite() {
        return Ok(Value::from(number));
    }
    if let Ok(digits) = usize::try_from(precision) {
        return Ok(Value::from(
            format!("{number:.digits$}").parse().unwrap_or(number),
        ));
    }
    let unit = 10_f64.powf(to_float(&Value::from(-precision))?);
    Ok(Value::from((number / unit).round_ties_even() * unit))
}

fn filesizeformat(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, binary] = bind(args, ["value", "binary"])?;
    let value = required(value, "value")?;
    let bytes = match value.as_str() {
        Some(text) => parse_float(text).ok_or_else(|| not_a_number(&value))?,
        None => to_float(&value).map_err(|_| not_a_number(&value))?,
    };
    let is_binary = flag(binary.as_ref());
    let base = if is_binary { 1024.0 } else { 1000.0 };
    if bytes.to_bits() == 1.0_f64.to_bits() {
        return Ok(Value::from("1 Byte"));
    }
    if bytes < base {
        return Ok(Value::from(format!("{:.0} Bytes", bytes.trunc())));
    }
    let (mut unit, mut prefix) = (base, ' ');
    for next in "kMGTPEZY".chars() {
        prefix = next;
        unit *= base;
        if bytes < unit {
            break;
        }
    }
    let number = format!("{:.1}", base * bytes / unit);
    Ok(Value::from(if is_binary {
        format!("{number} {}iB", prefix.to_ascii_uppercase())
    } else {
        format!("{number} {prefix}B")
    }))
}
