//! The meaning of plain scalars to Kubernetes: the rules of go-yaml v2, as `sigs.k8s.io/yaml` uses
//! it.

use std::borrow::Cow;

use super::decimal::{Decimal, split_sign};
use crate::scalar::data::Scalar;

/// Reads a plain scalar as Kubernetes does. `plain` is decoded: one line, without spaces around it.
///
/// `yes`, `on` and `y` are true, a date and `12:30:45` are text, `0644` is 420. A number that JSON
/// could spell the same keeps its digits (`1.10`, `1e3`, 30 digits); another gets a JSON spelling
/// (`+1` → `1`, `.5` → `0.5`, `0x1F` → `31`). A number that is too large for go-yaml is text, as in
/// go-yaml.
///
/// `.inf` and `.nan` are numbers that JSON cannot spell: they are returned as
/// [`Scalar::Number`] with the text as written.
///
/// ```
/// use krm_yaml::Scalar;
/// use krm_yaml::scalar::resolve;
///
/// assert_eq!(resolve("on"), Scalar::Bool(true));
/// assert_eq!(resolve("0644"), Scalar::Number("420".into()));
/// assert_eq!(resolve("1.10"), Scalar::Number("1.10".into()));
/// assert_eq!(resolve("1.2.3"), Scalar::String("1.2.3".into()));
/// ```
pub fn resolve(plain: &str) -> Scalar<'_> {
    match plain.as_bytes().first() {
        None => Scalar::Null,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
            number(plain).map_or(Scalar::String(Cow::Borrowed(plain)), Scalar::Number)
        }
        Some(b'~' | b'f' | b'F' | b'n' | b'N' | b'o' | b'O' | b't' | b'T' | b'y' | b'Y')
            if plain.len() <= LONGEST_WORD =>
        {
            word(plain)
        }
        Some(_) => Scalar::String(Cow::Borrowed(plain)),
    }
}

/// Whether its first byte and its length tell that a plain scalar is a string.
#[inline]
pub(crate) fn is_surely_string(first: u8, length: usize) -> bool {
    let longest = OTHER_UP_TO.get(usize::from(first));
    longest.is_some_and(|longest| length > *longest)
}

/// Whether its first two bytes and its length tell that a short plain scalar is a string, although
/// it begins like a word that is null or a bool: `name` and `type`, which are frequent, are strings.
pub(crate) fn is_surely_no_word(plain: &[u8]) -> bool {
    let [first, second, ..] = plain else {
        return false;
    };
    let start = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
    let may_be_word = match plain.len() {
        2 => matches!(start, (b'n', b'o') | (b'o', b'n')),
        3 => matches!(start, (b'y', b'e') | (b'o', b'f')),
        4 => matches!(start, (b'n', b'u') | (b't', b'r')),
        LONGEST_WORD => start == (b'f', b'a'),
        _ => false,
    };
    first.is_ascii_alphabetic() && !may_be_word
}

/// For each first byte of a plain scalar: the greatest length at which it may not be a string.
static OTHER_UP_TO: [usize; 256] = {
    let lengths = with(b"~fFnNoOtTyY", LONGEST_WORD, &[0; 256]);
    with(b"0123456789+-.", usize::MAX, &lengths)
};

/// The table `lengths` with another length for these first bytes.
const fn with(firsts: &[u8], length: usize, lengths: &[usize; 256]) -> [usize; 256] {
    let mut lengths = *lengths;
    let mut rest = firsts;
    while let [first, after @ ..] = rest {
        #[expect(clippy::indexing_slicing, reason = "a byte is less than 256")]
        {
            lengths[*first as usize] = length;
        }
        rest = after;
    }
    lengths
}

/// Whether a plain scalar is a float without a JSON spelling: `.inf`, `-.inf`, `.nan` and their casings.
pub fn is_non_finite(plain: &str) -> bool {
    matches!(plain, ".nan" | ".NaN" | ".NAN")
        || matches!(split_sign(plain).1, ".inf" | ".Inf" | ".INF")
}

/// Whether go-yaml reads a plain scalar as an integer: one of 64 bits, with or without a sign.
pub(crate) fn is_integer(plain: &str) -> bool {
    let text = plain.replace('_', "");
    let (sign, digits) = split_sign(&text);
    let largest = if sign.is_empty() { i128::from(u64::MAX) } else { i128::from(i64::MAX) };
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let decimal = || {
        let value = text.parse::<i128>().ok()?;
        (i128::from(i64::MIN)..=largest).contains(&value).then_some(value)
    };
    let starts_as_number = plain.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    let integer =
        if is_decimal { decimal() } else { radix_integer(&text).or_else(|| signed_binary(&text)) };
    starts_as_number && integer.is_some()
}

/// Bytes of the longest text that [`word`] knows, `false`.
const LONGEST_WORD: usize = 5;

fn word(plain: &str) -> Scalar<'_> {
    match plain {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y" => {
            Scalar::Bool(true)
        }
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n" | "N" => {
            Scalar::Bool(false)
        }
        _ => Scalar::String(Cow::Borrowed(plain)),
    }
}

/// The JSON spelling of a number, or none if `plain` is text.
fn number(plain: &str) -> Option<Cow<'_, str>> {
    if is_short_integer(plain.as_bytes()) {
        return Some(Cow::Borrowed(plain));
    }
    if is_non_finite(plain) {
        return Some(Cow::Borrowed(plain));
    }
    if !plain.contains('_') {
        return json_spelling(plain);
    }
    // go-yaml drops every underscore. If the first byte is a dot, Go itself drops them, and allows
    // them only between digits.
    if plain.starts_with('.') && !separates_digits(plain) {
        return None;
    }
    json_spelling(&plain.replace('_', "")).map(|digits| Cow::Owned(digits.into_owned()))
}

/// Whether a plain scalar is an integer that every reader reads alike: `0`, or a few digits of
/// which the first is not zero.
pub(crate) fn is_short_integer(plain: &[u8]) -> bool {
    /// The most digits that always fit into 63 bits.
    const MOST_DIGITS: usize = 18;
    let has_leading_zero = plain.len() > 1 && plain.first() == Some(&b'0');
    (1..=MOST_DIGITS).contains(&plain.len())
        && !has_leading_zero
        && plain.iter().all(u8::is_ascii_digit)
}

/// Whether each underscore is between two digits.
fn separates_digits(plain: &str) -> bool {
    let mut parts = plain.split('_').peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        let starts = is_first || part.starts_with(|c: char| c.is_ascii_digit());
        let ends = parts.peek().is_none() || part.ends_with(|c: char| c.is_ascii_digit());
        if !starts || !ends {
            return false;
        }
        is_first = false;
    }
    true
}

fn json_spelling(text: &str) -> Option<Cow<'_, str>> {
    let decimal = Decimal::split(text);
    if let Some(decimal) = &decimal {
        let digits = if decimal.sign == "+" { text.strip_prefix('+')? } else { text };
        if decimal.has_json_digits() {
            return decimal.is_finite(digits).then_some(Cow::Borrowed(digits));
        }
    }
    if let Some(integer) = radix_integer(text) {
        return Some(Cow::Owned(integer.to_string()));
    }
    match decimal {
        Some(decimal) => decimal.is_finite(text).then(|| Cow::Owned(decimal.to_json())),
        None => signed_binary(text).map(|integer| Cow::Owned(integer.to_string())),
    }
}

/// `0x1F`, `0b101`, `0o17` and `017`, signed or not, as far as Go's 64-bit integers reach.
fn radix_integer(text: &str) -> Option<i128> {
    let magnitude = split_sign(text).1;
    let after_zero = magnitude.strip_prefix('0')?;
    let (radix, digits) = match after_zero.as_bytes() {
        [b'x' | b'X', _, ..] => (16, after_zero.get(1..)?),
        [b'o' | b'O', _, ..] => (8, after_zero.get(1..)?),
        [b'b' | b'B', _, ..] => (2, after_zero.get(1..)?),
        _ => (8, magnitude),
    };
    let value = i128::from(unsigned(digits, radix)?);
    let (value, largest) = match text.as_bytes().first() {
        Some(b'-') => (-value, i128::from(i64::MAX)),
        Some(b'+') => (value, i128::from(i64::MAX)),
        _ => (value, i128::from(u64::MAX)),
    };
    (i128::from(i64::MIN)..=largest).contains(&value).then_some(value)
}

/// `0b-101`: go-yaml removes the prefix and reads the rest as a signed binary number.
fn signed_binary(text: &str) -> Option<i128> {
    let signed = text.strip_prefix("0b")?;
    let value = i128::from(unsigned(signed.strip_prefix(['+', '-'])?, 2)?);
    let value = if signed.starts_with('-') { -value } else { value };
    i64::try_from(value).is_ok().then_some(value)
}

/// [`u64::from_str_radix`] without the sign it allows.
fn unsigned(digits: &str, radix: u32) -> Option<u64> {
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Plain scalars and their JSON; `text` means that the scalar is its own text.
    const TABLE: &[(&str, &str)] = &[
        ("", "null"),
        ("~", "null"),
        ("null", "null"),
        ("Null", "null"),
        ("NULL", "null"),
        ("nUll", "text"),
        ("true", "true"),
        ("True", "true"),
        ("TRUE", "true"),
        ("tRue", "text"),
        ("yes", "true"),
        ("On", "true"),
        ("Y", "true"),
        ("false", "false"),
        ("no", "false"),
        ("OFF", "false"),
        ("n", "false"),
        ("none", "text"),
        ("0", "0"),
        ("-0", "-0"),
        ("+0", "0"),
        ("+1", "1"),
        ("+-1", "text"),
        ("1", "1"),
        ("-17", "-17"),
        ("0644", "420"),
        ("-0644", "-420"),
        ("+017", "15"),
        ("00", "0"),
        ("08", "8"),
        ("-09", "-9"),
        ("0o644", "420"),
        ("0O644", "420"),
        ("0o8", "text"),
        ("0o-7", "text"),
        ("0x1F", "31"),
        ("+0X1f", "31"),
        ("0x1G", "text"),
        ("0x", "text"),
        ("0b101", "5"),
        ("-0b101", "-5"),
        ("0b-101", "-5"),
        ("0b+1", "1"),
        ("0B-1", "text"),
        ("0b2", "text"),
        ("0x_1", "1"),
        ("1_000", "1000"),
        ("1_", "1"),
        ("_1", "text"),
        ("0_7", "7"),
        ("-_1", "-1"),
        ("-._5", "-0.5"),
        ("._5", "text"),
        (".5_0", "0.50"),
        (".5e1_0", "0.5e10"),
        (".5_", "text"),
        (".5__0", "text"),
        ("685_230.15", "685230.15"),
        ("1e5_0", "1e50"),
        ("12345678901234567890", "12345678901234567890"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0xFFFFFFFFFFFFFFFF", "18446744073709551615"),
        ("0xFFFFFFFFFFFFFFFFF", "text"),
        ("+0xFFFFFFFFFFFFFFFF", "text"),
        ("-0x8000000000000000", "-9223372036854775808"),
        ("-0x8000000000000001", "text"),
        ("0777777777777777777777777", "777777777777777777777777"),
        ("1.10", "1.10"),
        ("1.", "1"),
        ("0.", "0"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("+.5", "0.5"),
        ("00.5", "0.5"),
        (".", "text"),
        ("1.2.3", "text"),
        ("1e3", "1e3"),
        ("1E+03", "1E+03"),
        ("1.e1", "1e1"),
        ("+12e03", "12e03"),
        ("1e", "text"),
        ("1e400", "text"),
        ("1e-400", "1e-400"),
        ("1e3a", "text"),
        (".inf", ".inf"),
        ("-.Inf", "-.Inf"),
        (".nan", ".nan"),
        ("-.nan", "text"),
        ("inf", "text"),
        ("NaN", "text"),
        ("2001-01-01", "text"),
        ("2001-12-14T21:59:43Z", "text"),
        ("12:30:45", "text"),
        ("<<", "text"),
        ("=", "text"),
        ("-", "text"),
        ("100m", "text"),
        ("1Gi", "text"),
        ("v1", "text"),
        ("٣", "text"),
    ];

    #[test]
    fn plain_scalars_have_the_types_of_kubernetes() {
        check(TABLE, resolve);
    }

    /// Compares the type of each plain scalar, or its digits, with the table.
    pub(in crate::scalar) fn check(
        table: &[(&'static str, &str)],
        resolve: fn(&'static str) -> Scalar<'static>,
    ) {
        for (plain, expected) in table {
            let found = match resolve(plain) {
                Scalar::Null => "null".to_owned(),
                Scalar::Bool(value) => value.to_string(),
                Scalar::Number(digits) => digits.into_owned(),
                Scalar::String(text) => {
                    assert_eq!(text, *plain);
                    "text".to_owned()
                }
            };
            assert_eq!(found, *expected, "`{plain}`");
        }
    }

    #[test]
    fn integers_are_those_of_64_bits() {
        for plain in [
            "0",
            "-0",
            "+1",
            "1_000",
            "0x1F",
            "0644",
            "0o17",
            "0b-101",
            "18446744073709551615",
            "-9223372036854775808",
        ] {
            assert!(is_integer(plain), "`{plain}`");
        }
        for plain in [
            "",
            "-",
            "1.5",
            "1.0",
            "5.",
            "1e3",
            "08",
            "12:30",
            "~",
            "x",
            "_1",
            "true",
            "18446744073709551616",
            "+18446744073709551615",
            "-9223372036854775809",
        ] {
            assert!(!is_integer(plain), "`{plain}`");
        }
    }

    #[test]
    fn an_integer_beyond_every_float_is_text() {
        assert!(matches!(resolve(&"9".repeat(308)), Scalar::Number(_)));
        assert!(matches!(resolve(&"9".repeat(309)), Scalar::String(_)));
    }

    #[test]
    fn numbers_that_json_spells_the_same_are_borrowed() {
        for plain in ["1", "-1.50", "+7"] {
            assert!(matches!(resolve(plain), Scalar::Number(Cow::Borrowed(_))), "`{plain}`");
        }
    }

    #[test]
    fn only_infinities_and_nan_are_non_finite() {
        assert!([".inf", "+.INF", "-.Inf", ".NaN"].into_iter().all(is_non_finite));
        assert!(!["inf", "1", "-.nan", "..inf", ".iNF", ""].into_iter().any(is_non_finite));
    }
}
