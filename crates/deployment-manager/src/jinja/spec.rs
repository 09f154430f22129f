//! The format of one value in Python: fill, sign, width, precision and kind.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::chars::padded;
use super::print::{self, too_long};
use super::wrong::wrong;

/// The most digits after the point.
const MAX_PRECISION: usize = 10_000;

/// On which side a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    Center,
    /// Blanks are between the sign and the digits.
    Sign,
}

/// A format.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub fill: char,
    pub align: Option<Align>,
    pub sign: char,
    pub is_alternate: bool,
    pub is_zero_filled: bool,
    pub width: usize,
    pub group: Option<char>,
    pub precision: Option<usize>,
    /// The kind, or a blank.
    pub kind: char,
    /// Whether it follows `%` instead of a `:`.
    pub is_classic: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            fill: ' ',
            align: None,
            sign: '-',
            is_alternate: false,
            is_zero_filled: false,
            width: 0,
            group: None,
            precision: None,
            kind: ' ',
            is_classic: false,
        }
    }
}

impl Spec {
    /// Reads a format as it is after the `:` in braces.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut spec = Self::default();
        let align = |c: Option<char>| match c? {
            '<' => Some(Align::Left),
            '>' => Some(Align::Right),
            '^' => Some(Align::Center),
            '=' => Some(Align::Sign),
            _ => None,
        };
        let mut chars = text.chars().peekable();
        if let (Some(fill), Some(found)) = (text.chars().next(), align(text.chars().nth(1))) {
            (spec.fill, spec.align) = (fill, Some(found));
            chars.nth(1);
        } else if let Some(found) = align(text.chars().next()) {
            spec.align = Some(found);
            chars.next();
        }
        if let Some(sign) = chars.next_if(|c| "+- ".contains(*c)) {
            spec.sign = sign;
        }
        spec.is_alternate = chars.next_if_eq(&'#').is_some();
        spec.is_zero_filled = chars.next_if_eq(&'0').is_some();
        if spec.is_zero_filled && spec.align.is_some() && spec.fill == ' ' {
            spec.fill = '0';
        }
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut number = None;
            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                chars.next();
                let digit = usize::try_from(digit).unwrap_or_default();
                let old: usize = number.unwrap_or(0);
                number = Some(old.saturating_mul(10).saturating_add(digit));
            }
            number
        };
        spec.width = number(&mut chars).unwrap_or(0);
        spec.group = chars.next_if(|c| ",_".contains(*c));
        if chars.next_if_eq(&'.').is_some() {
            let digits = number(&mut chars);
            spec.precision = Some(digits.ok_or_else(|| wrong("a format has no precision"))?);
        }
        spec.kind = chars.next().unwrap_or(' ');
        if chars.next().is_some() {
            return Err(wrong(format!("invalid format `{text}`")));
        }
        Ok(spec)
    }

    /// A value in this format.
    pub(super) fn value(&self, value: &Value) -> Result<String, Error> {
        match value.kind() {
            ValueKind::Number => self.number(value),
            ValueKind::Bool if self.kind != ' ' => self.number(value),
            ValueKind::String if matches!(self.kind, ' ' | 's') => {
                self.text(value.as_str().unwrap_or_default())
            }
            ValueKind::String => Err(wrong(format!("format `{}` does not fit a text", self.kind))),
            _ => self.text(&print::text(value)?),
        }
    }

    /// A text in this format.
    pub(super) fn text(&self, text: &str) -> Result<String, Error> {
        let end = self
            .precision
            .and_then(|most| text.char_indices().nth(most))
            .map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        self.padded("", text, self.align.unwrap_or(Align::Left))
    }

    /// A number in this format.
    pub(super) fn number(&self, value: &Value) -> Result<String, Error> {
        let is_whole = value.is_integer() || value.kind() == ValueKind::Bool;
        let number = || {
            f64::try_from(value.clone()).or_else(|_| i128::try_from(value.clone()).map(to_float))
        };
        let (is_negative, prefix, digits) = match self.kind {
            'd' | 'o' | 'x' | 'X' | 'b' | 'n' | 'c' | ' ' if is_whole => {
                self.whole(i128::try_from(value.clone())?)?
            }
            'd' | 'o' | 'x' | 'X' if self.is_classic => {
                let number = number()?.trunc();
                if !number.is_finite() || number.abs() > 1e37 {
                    return Err(wrong("a number is too large for an integer"));
                }
                self.whole(to_whole(number))?
            }
            ' ' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' | 'n' => self.float(number()?)?,
            kind => return Err(wrong(format!("format `{kind}` does not fit a number"))),
        };
        let sign = match (is_negative, self.sign) {
            (true, _) => "-",
            (false, '+') => "+",
            (false, ' ') => " ",
            (false, _) => "",
        };
        let is_zero_filled = self.is_zero_filled && (self.align.is_none() || self.is_classic);
        let head = format!("{sign}{prefix}");
        if is_zero_filled {
            let zeros = Self {
                fill: '0',
                ..self.clone()
            };
            return zeros.padded(&head, &self.grouped(&digits), Align::Sign);
        }
        self.padded(
            &head,
            &self.grouped(&digits),
            self.align.unwrap_or(Align::Right),
        )
    }

    fn whole(&self, number: i128) -> Result<(bool, &'static str, String), Error> {
        let size = number.unsigned_abs();
        let (prefix, mut digits) = match self.kind {
            'o' => ("0o", format!("{size:o}")),
            'x' => ("0x", format!("{size:x}")),
            'X' => ("0X", format!("{size:X}")),
            'b' => ("0b", format!("{size:b}")),
            'c' => {
                let c = u32::try_from(number).ok().and_then(char::from_u32);
                let c = c.ok_or_else(|| wrong("`c` needs a character"))?;
                return Ok((false, "", c.to_string()));
            }
            _ => ("", size.to_string()),
        };
        if let Some(least) = self.precision {
            if !self.is_classic {
                return Err(wrong("a whole number has no precision"));
            }
            digits = padded(&digits, least.saturating_sub(digits.len()), 0, '0')?;
        }
        let prefix = if self.is_alternate { prefix } else { "" };
        Ok((number < 0, prefix, digits))
    }

    fn float(&self, number: f64) -> Result<(bool, &'static str, String), Error> {
        let precision = self.precision.unwrap_or(6);
        if precision > MAX_PRECISION {
            return Err(too_long());
        }
        let size = number.abs();
        let is_negative = number.is_sign_negative() && !number.is_nan();
        let mut digits = match self.kind {
            _ if size.is_nan() => "nan".to_owned(),
            _ if size.is_infinite() => "inf".to_owned(),
            'f' | 'F' => format!("{size:.precision$}"),
            '%' => format!("{:.precision$}%", size * 100.0),
            'e' | 'E' => exponential(size, precision),
            ' ' if self.precision.is_none() => print::float(size),
            kind => self.general(size, precision.max(1), kind == ' '),
        };
        if self.kind.is_ascii_uppercase() {
            digits.make_ascii_uppercase();
        }
        Ok((is_negative, "", digits))
    }

    /// The format `g`.
    fn general(&self, size: f64, precision: usize, is_default: bool) -> String {
        let scientific = exponential(size, precision - 1);
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let power: i64 = exponent.parse().unwrap_or(0);
        let limit = i64::try_from(precision).unwrap_or(i64::MAX) - i64::from(is_default);
        let trimmed = |digits: &str| {
            if self.is_alternate || !digits.contains('.') {
                return digits.to_owned();
            }
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        };
        if power < -4 || power >= limit {
            return format!("{}e{exponent}", trimmed(mantissa));
        }
        let after = limit + i64::from(is_default) - 1 - power;
        let after = usize::try_from(after).unwrap_or(0);
        let digits = trimmed(&format!("{size:.after$}"));
        if is_default && !digits.contains('.') {
            return format!("{digits}.0");
        }
        digits
    }

    /// Digits with a sign between groups of three.
    fn grouped(&self, digits: &str) -> String {
        let Some(group) = self.group else {
            return digits.to_owned();
        };
        let size = if "xXob".contains(self.kind) { 4 } else { 3 };
        let end = digits
            .find(|c: char| !c.is_ascii_hexdigit() || c == 'e')
            .unwrap_or(digits.len());
        let (whole, rest) = digits.split_at(end);
        let mut out = String::with_capacity(digits.len() * 2);
        for (index, c) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % size == 0 {
                out.push(group);
            }
            out.push(c);
        }
        out + rest
    }

    fn padded(&self, head: &str, text: &str, align: Align) -> Result<String, Error> {
        let length = head.len() + text.chars().count();
        let missing = self.width.saturating_sub(length);
        let whole = || format!("{head}{text}");
        match align {
            Align::Left => padded(&whole(), 0, missing, self.fill),
            Align::Right => padded(&whole(), missing, 0, self.fill),
            Align::Center => padded(&whole(), missing / 2, missing - missing / 2, self.fill),
            Align::Sign => Ok(format!("{head}{}", padded(text, missing, 0, self.fill)?)),
        }
    }
}

/// The format `e`.
fn exponential(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

/// The nearest float.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
pub(super) const fn to_float(whole: i128) -> f64 {
    whole as f64
}

/// A float without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller has checked the size"
)]
pub(super) const fn to_whole(number: f64) -> i128 {
    number as i128
}
