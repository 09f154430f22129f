//! Decimal numbers as YAML spells them, in their parts.

/// A decimal number in its parts: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
pub(super) struct Decimal<'a> {
    pub(super) sign: &'a str,
    integer: &'a str,
    fraction: Option<&'a str>,
    exponent: &'a str,
}

impl<'a> Decimal<'a> {
    /// The parts of `text`, if all of it is a decimal number.
    pub(super) fn split(text: &'a str) -> Option<Self> {
        let (sign, rest) = split_sign(text);
        let (integer, rest) = split_digits(rest);
        let (fraction, exponent) = match rest.strip_prefix('.').map(split_digits) {
            Some((fraction, rest)) => (Some(fraction), rest),
            None => (None, rest),
        };
        if integer.is_empty() && fraction.is_none_or(str::is_empty) {
            return None;
        }
        if let Some(power) = exponent.strip_prefix(['e', 'E']) {
            let (digits, rest) = split_digits(split_sign(power).1);
            if digits.is_empty() || !rest.is_empty() {
                return None;
            }
        } else if !exponent.is_empty() {
            return None;
        }
        Some(Self { sign, integer, fraction, exponent })
    }

    /// Whether JSON spells the number with these digits, apart from a plus in front.
    pub(super) fn has_json_digits(&self) -> bool {
        (self.integer == "0" || !self.integer.is_empty() && !self.integer.starts_with('0'))
            && self.fraction != Some("")
    }

    /// Whether a 64-bit float can hold it; `text` is the whole number.
    pub(super) fn is_finite(&self, text: &str) -> bool {
        // The largest float has 309 digits.
        (self.exponent.is_empty() && self.integer.len() < 309)
            || text.parse::<f64>().is_ok_and(f64::is_finite)
    }

    /// The number in the spelling of JSON.
    pub(super) fn to_json(&self) -> String {
        let minus = if self.sign == "-" { "-" } else { "" };
        let integer = match self.integer.trim_start_matches('0') {
            "" => "0",
            integer => integer,
        };
        let (dot, fraction) = match self.fraction {
            None | Some("") => ("", ""),
            Some(fraction) => (".", fraction),
        };
        [minus, integer, dot, fraction, self.exponent].concat()
    }
}

/// The ASCII digits at the start of `text`, and the rest.
pub(super) fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// A `+` or `-` at the start of a text, and the rest.
pub(super) fn split_sign(text: &str) -> (&str, &str) {
    text.split_at(usize::from(text.starts_with(['+', '-'])))
}
