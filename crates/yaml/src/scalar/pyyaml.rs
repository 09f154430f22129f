//! The meaning of plain scalars to PyYAML's `safe_load`: YAML 1.1 with its own patterns.

use std::borrow::Cow;

use super::decimal::split_sign;
use super::resolve::is_non_finite;
use crate::scalar::data::Scalar;

/// Reads a plain scalar as PyYAML does. `plain` is decoded: one line, without spaces around it.
///
/// `yes` and `on` are true, `y` is text; `0644` is 420, `08` and `1e3` are text, `1:30` is 90. A
/// date is text in its own spelling. An integer has no limit in PyYAML; here one of other bases
/// than ten is text beyond 127 bits.
pub(crate) fn resolve_pyyaml(plain: &str) -> Scalar<'_> {
    let text = || Scalar::String(Cow::Borrowed(plain));
    match plain.as_bytes().first() {
        None => Scalar::Null,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => number(plain).map_or_else(text, Scalar::Number),
        Some(_) => match plain {
            "~" | "null" | "Null" | "NULL" => Scalar::Null,
            "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
                Scalar::Bool(true)
            }
            "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
                Scalar::Bool(false)
            }
            _ => text(),
        },
    }
}

/// The JSON spelling of a number, or none if `plain` is text.
fn number(plain: &str) -> Option<Cow<'_, str>> {
    if is_non_finite(plain) {
        return Some(Cow::Borrowed(plain));
    }
    let (sign, magnitude) = split_sign(plain);
    let sign = if sign == "-" { "-" } else { "" };
    if let Some(digits) = integer(magnitude) {
        let sign = if digits == "0" { "" } else { sign };
        return Some(join(plain, sign, digits));
    }
    // Only digits may follow the sign of a float.
    if plain.len() > magnitude.len() && magnitude.starts_with('.') {
        return None;
    }
    let float = float(magnitude)?;
    let is_finite = float.parse::<f64>().is_ok_and(f64::is_finite);
    is_finite.then(|| join(plain, sign, float))
}

fn join<'t>(plain: &'t str, sign: &str, digits: Cow<'t, str>) -> Cow<'t, str> {
    match digits {
        Cow::Borrowed(digits) if sign.is_empty() => Cow::Borrowed(digits),
        Cow::Borrowed(digits) if plain.len() == digits.len() + 1 => Cow::Borrowed(plain),
        digits => Cow::Owned(format!("{sign}{digits}")),
    }
}

/// The decimal digits of an integer without its sign.
fn integer(text: &str) -> Option<Cow<'_, str>> {
    let in_base = |digits: &str, radix| {
        let allowed = |c: char| c == '_' || c.is_digit(radix);
        let digits = digits.chars().all(allowed).then(|| plain_digits(digits))?;
        let value = i128::from_str_radix(&digits, radix).ok()?;
        Some(Cow::Owned(value.to_string()))
    };
    let first = text.bytes().next()?;
    if first != b'0' {
        return match text.split_once(':') {
            Some((head, rest)) => {
                sexagesimal(&decimal(head)?, rest).map(|value| Cow::Owned(value.to_string()))
            }
            None => decimal(text),
        };
    }
    match text.get(1..)? {
        "" => Some(Cow::Borrowed(text)),
        rest if rest.starts_with('b') => in_base(rest.get(1..)?, 2),
        rest if rest.starts_with('x') => in_base(rest.get(1..)?, 16),
        _ => in_base(text, 8),
    }
}

/// The digits of `[0-9][0-9_]*`, without underscores.
fn decimal(text: &str) -> Option<Cow<'_, str>> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_digit());
    is_number.then(|| plain_digits(text))
}

fn plain_digits(text: &str) -> Cow<'_, str> {
    if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) }
}

/// The value of `1:30`: `head` sixties and the parts after it, each below 60.
fn sexagesimal(head: &str, rest: &str) -> Option<i128> {
    rest.split(':').try_fold(head.parse().ok()?, |value: i128, part| {
        let is_part = match part.as_bytes() {
            [b'0'..=b'9'] => true,
            [tens, ones] => (b'0'..=b'5').contains(tens) && ones.is_ascii_digit(),
            _ => false,
        };
        let part = part.parse::<i128>().ok().filter(|_| is_part)?;
        value.checked_mul(60)?.checked_add(part)
    })
}

/// The JSON spelling of a float without its sign.
fn float(text: &str) -> Option<Cow<'_, str>> {
    let (whole, rest) = text.split_once('.')?;
    if let Some((head, minutes)) = whole.split_once(':') {
        let value = sexagesimal(&decimal(head)?, minutes)?;
        let fraction = fraction(rest)?;
        return Some(Cow::Owned(format!("{value}.{fraction}")));
    }
    let (digits, exponent) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let signed = exponent.get(1..).unwrap_or_default();
    let power = signed.strip_prefix(['+', '-']);
    let is_power = power
        .is_some_and(|power| !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit()));
    if !exponent.is_empty() && !is_power {
        return None;
    }
    if whole.is_empty() && !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let fraction = fraction(digits)?;
    let whole = if whole.is_empty() { Cow::Borrowed("0") } else { decimal(whole)? };
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let spelled = format!("{whole}.{fraction}{exponent}");
    Some(if spelled == text { Cow::Borrowed(text) } else { Cow::Owned(spelled) })
}

/// The digits after the point, at least one.
fn fraction(text: &str) -> Option<String> {
    let digits = plain_digits(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| if digits.is_empty() { "0".to_owned() } else { digits.into_owned() })
}

#[cfg(test)]
mod tests {
    use super::resolve_pyyaml;
    use crate::scalar::resolve::tests::check;

    /// Plain scalars and the JSON of what PyYAML makes of them; `text` is the scalar itself.
    const TABLE: &[(&str, &str)] = &[
        ("", "null"),
        ("~", "null"),
        ("null", "null"),
        ("Null", "null"),
        ("NULL", "null"),
        ("nULL", "text"),
        ("yes", "true"),
        ("Yes", "true"),
        ("YES", "true"),
        ("yES", "text"),
        ("no", "false"),
        ("No", "false"),
        ("NO", "false"),
        ("true", "true"),
        ("True", "true"),
        ("TRUE", "true"),
        ("false", "false"),
        ("False", "false"),
        ("FALSE", "false"),
        ("on", "true"),
        ("On", "true"),
        ("ON", "true"),
        ("off", "false"),
        ("Off", "false"),
        ("OFF", "false"),
        ("y", "text"),
        ("Y", "text"),
        ("n", "text"),
        ("N", "text"),
        ("0", "0"),
        ("-0", "0"),
        ("+0", "0"),
        ("1", "1"),
        ("+1", "1"),
        ("-17", "-17"),
        ("1_000", "1000"),
        ("-1_0", "-10"),
        ("1_", "1"),
        ("_1", "text"),
        ("+-1", "text"),
        ("0644", "420"),
        ("-0644", "-420"),
        ("00", "0"),
        ("0_7", "7"),
        ("08", "text"),
        ("09", "text"),
        ("0o17", "text"),
        ("0b101", "5"),
        ("-0b1_01", "-5"),
        ("0B1", "text"),
        ("0b2", "text"),
        ("0x1F", "31"),
        ("+0x_f", "15"),
        ("0X1F", "text"),
        ("0x1G", "text"),
        ("1:30", "90"),
        ("-1:30", "-90"),
        ("1:2:3", "3723"),
        ("190:20:30", "685230"),
        ("1_0:5", "605"),
        ("1:60", "text"),
        ("1:123", "text"),
        ("0:30", "text"),
        ("01:30", "text"),
        ("1:", "text"),
        ("12345678901234567890", "12345678901234567890"),
        ("1.5", "1.5"),
        ("1.10", "1.10"),
        ("1.", "1.0"),
        ("-1.5", "-1.5"),
        ("+1.5", "1.5"),
        ("1_0.5_0", "10.50"),
        ("08.5", "8.5"),
        ("00.5", "0.5"),
        (".5", "0.5"),
        ("-.5", "text"),
        ("._5", "text"),
        (".5_0", "0.50"),
        (".", "text"),
        ("1.5e+3", "1.5e+3"),
        ("1.5E-3", "1.5E-3"),
        ("1.5e3", "text"),
        ("1e3", "text"),
        ("1e+3", "text"),
        ("1.5e+", "text"),
        (".5e+1", "0.5e+1"),
        ("1:30.5", "90.5"),
        ("0:30.5", "30.5"),
        ("1:30.5e+1", "text"),
        ("1.2.3", "text"),
        (".inf", ".inf"),
        ("-.INF", "-.INF"),
        ("+.Inf", "+.Inf"),
        (".nan", ".nan"),
        ("-.nan", "text"),
        ("inf", "text"),
        ("2020-01-01", "text"),
        ("2020-01-01T00:00:00Z", "text"),
        ("2001-12-14 21:59:43.10 -5", "text"),
        ("<<", "text"),
        ("=", "text"),
        ("-", "text"),
        ("100m", "text"),
        ("٣", "text"),
    ];

    #[test]
    fn plain_scalars_have_the_types_of_pyyaml() {
        check(TABLE, resolve_pyyaml);
    }
}
