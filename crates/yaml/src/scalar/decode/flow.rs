//! Flow scalars, plain and quoted: escapes, and the folding of those that span lines.

use std::borrow::Cow;

use memchr::memchr;

use super::lines::{Line, Lines};
use super::text::{DecodeError, Text};

/// The spaces and tabs that folding removes around a line break.
const BLANKS: [char; 2] = [' ', '\t'];

pub(super) fn plain(raw: &str) -> Cow<'_, str> {
    let mut text = Text::new(raw);
    for piece in Fold::new(raw, 0, false) {
        piece.join(&mut text);
        text.copy(piece.line.offset, piece.line.text);
    }
    text.finish()
}

pub(super) fn single(raw: &str) -> Result<Cow<'_, str>, DecodeError> {
    let inner = inside(raw, '\'')?;
    let mut text = Text::new(raw);
    for piece in Fold::new(inner, 1, false) {
        piece.join(&mut text);
        halve_quotes(piece.line, &mut text)?;
    }
    Ok(text.finish())
}

pub(super) fn double(raw: &str) -> Result<Cow<'_, str>, DecodeError> {
    let inner = inside(raw, '"')?;
    let mut text = Text::new(raw);
    for piece in Fold::new(inner, 1, true) {
        piece.join(&mut text);
        unescape(piece.line, Surrogates::Refused, &mut text)?;
    }
    Ok(text.finish())
}

/// The text of a JSON string: no line break folds, and half a surrogate pair is U+FFFD, as in Go.
pub(crate) fn json(raw: &str) -> Result<Cow<'_, str>, DecodeError> {
    let inner = inside(raw, '"')?;
    let mut text = Text::new(raw);
    let line = Line { offset: 1, text: inner, ending: "" };
    unescape(line, Surrogates::Replaced, &mut text)?;
    Ok(text.finish())
}

/// The treatment of half a surrogate pair, which is not a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surrogates {
    Refused,
    /// It is read as U+FFFD.
    Replaced,
}

fn inside(raw: &str, quote: char) -> Result<&str, DecodeError> {
    let inner = raw
        .strip_prefix(quote)
        .ok_or_else(|| DecodeError::new(0, format!("expected `{quote}`")))?;
    inner.strip_suffix(quote).ok_or_else(|| {
        DecodeError::new(raw.len(), format!("expected `{quote}` at the end of the text"))
    })
}

/// A line with text, and the line breaks before it.
struct Piece<'s> {
    line: Line<'s>,
    joint: Joint<'s>,
    blank_lines: String,
}

/// How a line of text ended.
#[derive(Clone, Copy)]
enum Joint<'s> {
    /// No join: the next line is the first one.
    Start,
    /// With `\` before the line break.
    Escaped,
    Break(&'s str),
}

impl Piece<'_> {
    /// Adds the text of the line breaks before the line: a space, or one `\n` fewer than there are.
    fn join(&self, text: &mut Text<'_>) {
        match self.joint {
            Joint::Break("\n") if self.blank_lines.is_empty() => text.add(" "),
            Joint::Start | Joint::Escaped | Joint::Break("\n") => {}
            Joint::Break(kept) => text.add(kept),
        }
        text.add(&self.blank_lines);
    }
}

/// The lines of a flow scalar without what folding removes: blank lines, and spaces around line breaks.
struct Fold<'s> {
    lines: Lines<'s>,
    joint: Joint<'s>,
    has_escapes: bool,
}

impl<'s> Fold<'s> {
    fn new(text: &'s str, offset: usize, has_escapes: bool) -> Self {
        Self { lines: Lines::new(text, offset), joint: Joint::Start, has_escapes }
    }
}

impl<'s> Iterator for Fold<'s> {
    type Item = Piece<'s>;

    fn next(&mut self) -> Option<Piece<'s>> {
        let joint = self.joint;
        let is_first = matches!(joint, Joint::Start);
        let mut blank_lines = String::new();
        loop {
            let line = self.lines.next()?;
            let mut line = if is_first { line } else { line.trim_start() };
            if line.is_last() {
                return Some(Piece { line, joint, blank_lines });
            }
            let (text, is_escaped) = trim_end(line.text, self.has_escapes);
            if text.is_empty() && !is_escaped && !is_first {
                blank_lines.push_str(line.normal_break());
                continue;
            }
            self.joint =
                if is_escaped { Joint::Escaped } else { Joint::Break(line.normal_break()) };
            line.text = text;
            return Some(Piece { line, joint, blank_lines });
        }
    }
}

/// The text of a line that is not the last, and whether its line break is escaped.
fn trim_end(text: &str, has_escapes: bool) -> (&str, bool) {
    let trimmed = text.trim_end_matches(BLANKS);
    let backslashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
    if !has_escapes || backslashes.is_multiple_of(2) {
        return (trimmed, false);
    }
    match text.get(..=trimmed.len()) {
        Some(with_escaped_blank) => (with_escaped_blank, false),
        None => (trimmed.strip_suffix('\\').unwrap_or(trimmed), true),
    }
}

/// Adds the text of a line in single quotes, where `''` is a quote.
fn halve_quotes(mut line: Line<'_>, text: &mut Text<'_>) -> Result<(), DecodeError> {
    while let Some(quote) = memchr(b'\'', line.text.as_bytes()) {
        let (with_quote, rest) = line.text.split_at(quote + 1);
        if !rest.starts_with('\'') {
            return Err(DecodeError::new(
                line.offset + quote,
                "a quote inside single quotes must be doubled",
            ));
        }
        text.copy(line.offset, with_quote);
        line = line.skip(quote + 2);
    }
    text.copy(line.offset, line.text);
    Ok(())
}

/// Adds the text of a line in double quotes.
fn unescape(
    mut line: Line<'_>,
    surrogates: Surrogates,
    text: &mut Text<'_>,
) -> Result<(), DecodeError> {
    while let Some(backslash) = memchr(b'\\', line.text.as_bytes()) {
        let (before, escape) = line.text.split_at(backslash);
        text.copy(line.offset, before);
        let (character, length) = read_escape(escape, surrogates)
            .map_err(|message| DecodeError::new(line.offset + backslash, message))?;
        text.add(character.encode_utf8(&mut [0; 4]));
        line = line.skip(backslash + length);
    }
    if let Some(quote) = memchr(b'"', line.text.as_bytes()) {
        return Err(DecodeError::new(
            line.offset + quote,
            "a quote inside double quotes must be escaped",
        ));
    }
    text.copy(line.offset, line.text);
    Ok(())
}

/// The character of the escape at the start of `text`, and the length of the escape.
fn read_escape(text: &str, surrogates: Surrogates) -> Result<(char, usize), String> {
    let Some(code) = text.chars().nth(1) else {
        return Err("expected an escape after `\\`".to_owned());
    };
    let character = match code {
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\x0b',
        'f' => '\x0c',
        'r' => '\r',
        'e' => '\x1b',
        ' ' | '"' | '\'' | '/' | '\\' => code,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => return read_code(text, 2, surrogates),
        'u' => return read_code(text, 4, surrogates),
        'U' => return read_code(text, 8, surrogates),
        _ => return Err(format!("unknown escape `\\{code}`")),
    };
    Ok((character, 1 + code.len_utf8()))
}

fn read_code(text: &str, digits: usize, surrogates: Surrogates) -> Result<(char, usize), String> {
    let code = hexadecimal(text, digits).ok_or_else(|| {
        let name: String = text.chars().take(2).collect();
        format!("expected {digits} hexadecimal digits after `{name}`")
    })?;
    let length = 2 + digits;
    if let (4, 0xD800..=0xDBFF) = (digits, code) {
        let low = text
            .get(length..)
            .filter(|rest| rest.starts_with("\\u"))
            .and_then(|rest| hexadecimal(rest, 4));
        if let Some(low @ 0xDC00..=0xDFFF) = low {
            let code = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            return char::from_u32(code)
                .map(|character| (character, 2 * length))
                .ok_or_else(not_a_character);
        }
    }
    let is_half = (0xD800..=0xDFFF).contains(&code) && surrogates == Surrogates::Replaced;
    char::from_u32(code)
        .or_else(|| is_half.then_some(char::REPLACEMENT_CHARACTER))
        .map(|character| (character, length))
        .ok_or_else(not_a_character)
}

fn not_a_character() -> String {
    "this escape is not a Unicode character".to_owned()
}

/// The number after a two-byte `\x`, `\u` or `\U`.
fn hexadecimal(escape: &str, digits: usize) -> Option<u32> {
    let digits = escape.get(2..2 + digits)?;
    if digits.starts_with('+') {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use crate::scalar::{Style, decode, decode_json};

    #[track_caller]
    fn check(raw: &str, expected: &str) {
        let style = match raw.as_bytes()[0] {
            b'\'' => Style::SingleQuoted,
            b'"' => Style::DoubleQuoted,
            _ => Style::Plain,
        };
        assert_eq!(decode(raw, style, Some(0)).as_deref(), Ok(expected), "{raw}");
    }

    #[track_caller]
    fn check_error(raw: &str, offset: usize, message: &str) {
        let style = if raw.starts_with('\'') { Style::SingleQuoted } else { Style::DoubleQuoted };
        let error = decode(raw, style, None).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{raw}");
    }

    #[test]
    fn one_line_is_borrowed() {
        for (raw, style) in [
            ("a b", Style::Plain),
            ("'a \"b\" \\n'", Style::SingleQuoted),
            ("\"a 'b' é\"", Style::DoubleQuoted),
        ] {
            assert!(matches!(decode(raw, style, None), Ok(Cow::Borrowed(_))), "{raw}");
        }
        check("''", "");
        check("\"\"", "");
    }

    #[test]
    fn lines_fold_to_spaces_and_blank_lines_to_endings() {
        check("a\n  b", "a b");
        check("a  \t\r\n\t b", "a b");
        check("a\n\n\n  b c", "a\n\nb c");
        check("'a\n  \n b'", "a\nb");
        check("'\n a\n'", " a ");
        check("\" a \n\n\n b \"", " a\n\nb ");
        check("\"a\r\n\r\nb\"", "a\nb");
    }

    #[test]
    fn quotes_are_doubled_in_single_quotes() {
        check("'it''s'", "it's");
        check("''''", "'");
        check("'a\\n'''", "a\\n'");
        check_error("'a'b'", 2, "a quote inside single quotes must be doubled");
    }

    #[test]
    fn every_escape_is_read() {
        check(r#""\0\a\b\t\n\v\f\r\e\ \"\'\/\\""#, "\0\x07\x08\t\n\x0b\x0c\r\x1b \"'/\\");
        check(r#""\N\_\L\P""#, "\u{85}\u{a0}\u{2028}\u{2029}");
        check(r#""\x41\u00e9\U0001F600""#, "Aé😀");
        check("\"\\\t\"", "\t");
    }

    #[test]
    fn json_surrogate_pairs_are_one_character() {
        check(r#""a\uD83D\uDE00b""#, "a😀b");
        check(r#""\ud83d\ude00""#, "😀");
        check_error(r#""a\uD83D""#, 2, "this escape is not a Unicode character");
        check_error(r#""\uD83D\u0041""#, 1, "this escape is not a Unicode character");
        check_error(r#""\uDE00""#, 1, "this escape is not a Unicode character");
    }

    #[test]
    fn json_strings_are_read_as_go_reads_them() {
        for (raw, expected) in [
            (r#""a\ud83d\ude00\/b""#, "a😀/b"),
            (r#""\ud800""#, "\u{fffd}"),
            (r#""\udc00\ud83dA""#, "\u{fffd}\u{fffd}A"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            ("\"a\u{85}\u{2028} \u{2029}b\u{7f}\u{80}\"", "a\u{85}\u{2028} \u{2029}b\u{7f}\u{80}"),
        ] {
            assert_eq!(decode_json(raw).as_deref(), Ok(expected), "{raw}");
        }
    }

    #[test]
    fn an_escaped_ending_joins_its_lines() {
        check("\"a\\\n  b\"", "ab");
        check("\"a \\\n  b\"", "a b");
        check("\"a\\\n\n  b\"", "a\nb");
        check("\"a\\\\\n  b\"", "a\\ b");
        check("\"a\\ \n  \\ b\"", "a   b");
    }

    #[test]
    fn rare_endings_fold_as_in_go() {
        check("'a\u{85}b'", "a b");
        check("'a \u{2028} b'", "a\u{2028}b");
        check("a\u{2029}\n b", "a\u{2029}\nb");
    }

    #[test]
    fn says_which_escape_is_wrong() {
        check_error(r#""ab\q""#, 3, "unknown escape `\\q`");
        check_error(r#""\x4""#, 1, "expected 2 hexadecimal digits after `\\x`");
        check_error(r#""\u+041""#, 1, "expected 4 hexadecimal digits after `\\u`");
        check_error(r#""\U00110000""#, 1, "this escape is not a Unicode character");
        check_error("\"a\n  \\q\"", 5, "unknown escape `\\q`");
        check_error("\"a\\\"", 2, "expected an escape after `\\`");
        check_error("\"a", 2, "expected `\"` at the end of the text");
    }
}
