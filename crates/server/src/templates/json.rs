//! Serialization of values as JSON on one line.

use std::borrow::Cow;

use krm_yaml::scalar::is_non_finite;
use krm_yaml::{Scalar, Value, View};

use crate::codec::json;

#[derive(Clone, Copy)]
pub(super) struct Style {
    /// Whether to sort the keys of mappings and format numbers as in Go.
    pub(super) is_go: bool,
}

/// A JSON writer with a size limit.
pub(super) struct Writer {
    pub(super) text: String,
    style: Style,
    /// The maximum size in bytes.
    limit: usize,
    is_over: bool,
    has_non_finite: bool,
}

impl Writer {
    pub(super) fn new(style: Style, limit: usize) -> Self {
        /// Most answers are not much longer.
        const CAPACITY: usize = 2048;
        Self {
            text: String::with_capacity(CAPACITY),
            style,
            limit,
            is_over: false,
            has_non_finite: false,
        }
    }

    /// Returns `true` if the text exceeds the limit. It is incomplete then.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns `true` if a number is not finite, such as `.nan`. The text is not JSON then.
    pub(super) const fn has_non_finite(&self) -> bool {
        self.has_non_finite
    }

    /// Writes text that is already JSON.
    pub(super) fn raw(&mut self, json: &str) {
        if self.has_room(json.len()) {
            self.text.push_str(json);
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        if json::is_plain(text) {
            if self.has_room(text.len()) {
                self.text.extend(["\"", text, "\""]);
            }
        } else if self.has_room(longest(text)) {
            json::write(text, &mut self.text);
        }
    }

    /// Writes `"key":`, with a comma before it unless it is the first key of its mapping.
    pub(super) fn key(&mut self, is_first: bool, key: &str) {
        self.comma(is_first);
        self.string(key);
        self.raw(":");
    }

    pub(super) fn comma(&mut self, is_first: bool) {
        if !is_first {
            self.raw(",");
        }
    }

    pub(super) fn value(&mut self, value: &Value<'_>) {
        self.view(View::from(value));
    }

    pub(super) fn view(&mut self, view: View<'_>) {
        /// Few mappings have more entries.
        const FEW: usize = 8;
        if self.is_over {
            return;
        }
        if let Some(scalar) = view.scalar() {
            return self.scalar(&scalar);
        }
        if let Some(items) = view.items() {
            self.raw("[");
            for (index, item) in items.enumerate() {
                self.comma(index == 0);
                self.view(item);
            }
            return self.raw("]");
        }
        self.raw("{");
        if let Some(entries) = view.entries() {
            if self.style.is_go {
                let mut sorted: Vec<(Cow<'_, str>, View<'_>)> = Vec::with_capacity(FEW);
                sorted.extend(entries);
                sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
                self.entries(sorted);
            } else {
                self.entries(entries);
            }
        }
        self.raw("}");
    }

    fn entries<'v>(&mut self, entries: impl IntoIterator<Item = (Cow<'v, str>, View<'v>)>) {
        for (index, (key, value)) in entries.into_iter().enumerate() {
            self.key(index == 0, &key);
            self.view(value);
        }
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) {
        match scalar {
            Scalar::Number(digits) if is_non_finite(digits) => self.has_non_finite = true,
            Scalar::String(text) => self.string(text),
            Scalar::Number(digits) if self.style.is_go => self.raw(&spelled(digits)),
            Scalar::Number(digits) => self.raw(digits),
            Scalar::Bool(flag) => self.raw(if *flag { "true" } else { "false" }),
            Scalar::Null => self.raw("null"),
        }
    }

    /// Returns `true` if `more` bytes fit. Called before they are written.
    fn has_room(&mut self, more: usize) -> bool {
        self.is_over |= self.text.len() + more > self.limit;
        !self.is_over
    }
}

/// Returns the maximum length of a string in JSON, without its quotes.
fn longest(text: &str) -> usize {
    /// The maximum number of bytes that an escape adds.
    const MORE: usize = 5;
    let special = text.bytes().filter(|byte| json::is_special(*byte));
    text.len() + MORE * special.count()
}

/// Formats a number as OpenShift's API does: a 64-bit integer unchanged, any other number as a
/// 64-bit float. Keeps the digits if the float has another value.
///
/// Source: `encoding/json` of Go, `floatEncoder`.
fn spelled(digits: &str) -> Cow<'_, str> {
    if let Ok(integer) = digits.parse::<i64>() {
        return Cow::Borrowed(if integer == 0 { "0" } else { digits });
    }
    let float = digits.parse::<f64>().ok().filter(|float| float.is_finite());
    let spelled = float.map(float_text);
    let same = spelled.filter(|spelled| decimal(spelled) == decimal(digits));
    same.map_or(Cow::Borrowed(digits), Cow::Owned)
}

fn float_text(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        _ => text,
    }
}

/// Returns the significant digits of a number, and the power of ten of the last one.
fn decimal(text: &str) -> (String, i64) {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = [integer, fraction].concat();
    let significant = all.trim_end_matches('0');
    let zeros = all.len() - significant.len();
    let power: i64 = power.trim_start_matches('+').parse().unwrap_or(i64::MAX);
    let shift = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let power = power.saturating_sub(shift(fraction.len())).saturating_add(shift(zeros));
    match significant.trim_start_matches('0') {
        "" => (String::new(), 0),
        significant => (significant.to_owned(), power),
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys};

    use super::*;

    #[track_caller]
    fn written(text: &str, is_go: bool, limit: usize) -> Option<String> {
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let value = document.roots().next().unwrap();
        let value =
            value.value(DuplicateKeys::Refuse, &mut krm_yaml::diagnostic::Diagnostics::new());
        let mut writer = Writer::new(Style { is_go }, limit);
        writer.value(&value.unwrap());
        (!writer.is_over()).then_some(writer.text)
    }

    #[test]
    fn keys_are_sorted_only_as_in_go() {
        let text = r#"{"b": [1.0, {}, []], "a": null, "é": "<&>\u2028\n", "B": true}"#;
        let escaped = r#""\u003c\u0026\u003e\u2028\n""#;
        assert_eq!(
            written(text, true, 1000).unwrap(),
            format!(r#"{{"B":true,"a":null,"b":[1,{{}},[]],"é":{escaped}}}"#)
        );
        assert_eq!(
            written(text, false, 1000).unwrap(),
            format!(r#"{{"b":[1.0,{{}},[]],"a":null,"é":{escaped},"B":true}}"#)
        );
    }

    #[test]
    fn a_text_stops_at_the_limit() {
        assert_eq!(written(r#"["aaaa"]"#, true, 8).as_deref(), Some(r#"["aaaa"]"#));
        assert_eq!(written(r#"["aaaa"]"#, true, 7), None);
    }

    #[test]
    fn numbers_are_spelled_as_in_go_unless_that_changes_them() {
        for (digits, expected) in [
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("1.10", "1.1"),
            ("0.000001", "0.000001"),
            ("1E-7", "1e-7"),
            ("-0", "0"),
            ("-0.0", "-0"),
            ("1e21", "1e+21"),
            ("100000000000000000000000", "1e+23"),
            ("123456789012345680000", "123456789012345680000"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("-1.5e300", "-1.5e+300"),
            // Go: 12345678901234567000.
            ("12345678901234567890", "12345678901234567890"),
            // Go: 9223372036854775808 becomes 9223372036854776000.
            ("9223372036854775808", "9223372036854775808"),
            // Go panics.
            ("1e400", "1e400"),
        ] {
            assert_eq!(spelled(digits), expected, "{digits}");
        }
    }
}
