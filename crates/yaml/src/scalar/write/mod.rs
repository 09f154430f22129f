//! Writing a scalar so that go-yaml v2, go-yaml v3 and `sigs.k8s.io/yaml` all read exactly it.

mod ambiguous;
mod characters;

pub(crate) use self::ambiguous::may_be_typed;
use self::characters::{is_forbidden, is_unclear, needs_escape};
use crate::scalar::data::Scalar;
use crate::scalar::data::Style;
use crate::words;

/// The position of a scalar.
///
/// ```
/// use krm_yaml::scalar::{Context, write_string};
///
/// let spelled = |context| {
///     let mut out = String::new();
///     write_string(&mut out, "-v, -q", context, None, 0, "\n");
///     out
/// };
/// assert_eq!(spelled(Context::BlockValue), "-v, -q");
/// assert_eq!(spelled(Context::FlowValue), "'-v, -q'"); // in `[]`, a comma ends an item
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// The value of a block mapping, or an item of a block sequence.
    BlockValue,
    /// A value or an item between `{}` or `[]`.
    FlowValue,
    /// A key of a block mapping.
    Key,
    /// A key between `{}`: a `,` or a bracket in it needs quotes.
    FlowKey,
}

/// Adds `text` to `out`, spelled so that every reader reads exactly this text.
///
/// `keep` is the style of the scalar it replaces. Quotes stay quotes (single ones become double
/// where single ones cannot hold the text); a block becomes a literal one, also for one line, or
/// double quotes where a block cannot hold the text. A plain or new scalar stays plain if that is
/// safe, otherwise it is quoted; with several lines, it becomes a literal block in a
/// [`Context::BlockValue`]. An invisible character (as U+00A0) is escaped in new text, but not in
/// single quotes and blocks that are kept. A folded block is never written.
///
/// The lines of a block begin with `body_indent` spaces (at least one is written) and are separated
/// by `eol`. The last line is not ended: the caller must end it with `eol`, at the end of the file
/// too, for that line break belongs to the text. For a text that ends in several line breaks, the
/// blank lines that `|+` needs are added up to that last line end.
///
/// ```
/// use krm_yaml::scalar::{Context, Style, write_string};
///
/// let spelled = |text, context, keep| {
///     let mut out = String::new();
///     write_string(&mut out, text, context, keep, 2, "\n");
///     out
/// };
/// assert_eq!(spelled("nginx:1.29", Context::BlockValue, None), "nginx:1.29");
/// assert_eq!(spelled("on", Context::BlockValue, None), "\"on\"");
/// assert_eq!(spelled("a, b", Context::FlowValue, None), "'a, b'");
/// assert_eq!(spelled("web", Context::Key, Some(Style::DoubleQuoted)), "\"web\"");
/// assert_eq!(spelled("listen 80\nroot /srv\n", Context::BlockValue, None), "|\n  listen 80\n  root /srv");
/// ```
pub fn write_string(
    out: &mut String,
    text: &str,
    context: Context,
    keep: Option<Style>,
    body_indent: usize,
    eol: &str,
) {
    match choose_style(text, context, keep) {
        Style::Plain => out.push_str(text),
        Style::SingleQuoted => write_single_quoted(out, text),
        Style::DoubleQuoted => write_double_quoted(out, text),
        Style::Literal | Style::Folded => write_literal(out, text, body_indent, eol),
    }
}

/// Adds a scalar to `out`: a string as [`write_string`] does, anything else in its canonical spelling.
///
/// A number is written as it is spelled; `resolve` must read this spelling as a number.
pub(crate) fn write_scalar(
    out: &mut String,
    scalar: &Scalar<'_>,
    context: Context,
    keep: Option<Style>,
    body_indent: usize,
    eol: &str,
) {
    match scalar {
        Scalar::Null => out.push_str("null"),
        Scalar::Bool(true) => out.push_str("true"),
        Scalar::Bool(false) => out.push_str("false"),
        Scalar::Number(digits) => out.push_str(digits),
        Scalar::String(text) => write_string(out, text, context, keep, body_indent, eol),
    }
}

/// Adds `text` to `out` as a JSON string.
///
/// Besides the characters that JSON requires, it escapes those that go-yaml refuses or reads as
/// line breaks. So the string means the same in a YAML document.
pub fn write_json_string(out: &mut String, text: &str) {
    out.push('"');
    if is_clear(text) {
        out.push_str(text);
        out.push('"');
        return;
    }
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_forbidden(character) => write_code(out, 'u', 4, character),
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Whether a key may be too long to be followed by its `:`, and so must be written as `? key`, a
/// line break, and `: value`.
///
/// YAML readers look for the `:` within 1,024 characters of the start of a key, as it is written.
pub fn key_needs_explicit(text: &str) -> bool {
    const LONGEST: usize = 1_000;
    /// The maximum number of bytes written for one byte of a text, in any style.
    const GROWTH: usize = 4;
    if text.len() * GROWTH <= LONGEST {
        return false;
    }
    let longest_spelling = |character: char| match character {
        '\'' => 2,
        _ => double_quoted_length(character),
    };
    text.chars().map(longest_spelling).sum::<usize>() > LONGEST
}

fn choose_style(text: &str, context: Context, keep: Option<Style>) -> Style {
    let fits_block = || context == Context::BlockValue && fits_literal(text);
    match keep {
        Some(Style::SingleQuoted) if fits_single_quoted(text) => Style::SingleQuoted,
        Some(Style::Literal | Style::Folded) if fits_block() => Style::Literal,
        Some(Style::SingleQuoted | Style::DoubleQuoted | Style::Literal | Style::Folded) => {
            Style::DoubleQuoted
        }
        Some(Style::Plain) | None => choose_new_style(text, context, fits_block),
    }
}

/// The style of a text that need not stay in quotes or a block.
fn choose_new_style(text: &str, context: Context, fits_block: impl Fn() -> bool) -> Style {
    if fits_plain(text, context) {
        Style::Plain
    } else if !is_common(text) && text.contains(is_unclear) {
        Style::DoubleQuoted
    } else if text.contains('\n') && fits_block() && !text.split('\n').any(is_blank) {
        Style::Literal
    } else if may_be_typed(text) || text.contains('\'') || !fits_single_quoted(text) {
        Style::DoubleQuoted
    } else {
        Style::SingleQuoted
    }
}

fn fits_plain(text: &str, context: Context) -> bool {
    starts_plain(text, context)
        && (is_tame(text, context) || continues_plain(text, context))
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !may_be_typed(text)
}

fn starts_plain(text: &str, context: Context) -> bool {
    match text.as_bytes() {
        [b'-' | b'?' | b':', second, ..] => {
            context == Context::BlockValue && !matches!(second, b' ' | b'\t')
        }
        [] | [b'-' | b'?' | b':'] => false,
        [first, ..] => !is_indicator(*first),
    }
}

/// Whether a plain text cannot begin with a byte.
const fn is_indicator(first: u8) -> bool {
    matches!(
        first,
        b' ' | b'\t'
            | b','
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'#'
            | b'&'
            | b'*'
            | b'!'
            | b'|'
            | b'>'
            | b'\''
            | b'"'
            | b'%'
            | b'@'
            | b'`'
    )
}

/// Whether a quick look shows that no reader reads an indicator inside a text.
fn is_tame(text: &str, context: Context) -> bool {
    if context == Context::BlockValue {
        return words::is_printable_without(text, [b':', b'#']) && !text.ends_with(' ');
    }
    let is_tame = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    text.bytes().all(is_tame)
}

fn continues_plain(text: &str, context: Context) -> bool {
    let indicators: &[char] = match context {
        Context::BlockValue => &[],
        Context::Key => &[',', '[', ']', '{', '}', '?', '#', '&', '*', '!'],
        Context::FlowValue | Context::FlowKey => {
            &[',', '[', ']', '{', '}', '?', '#', '&', '*', '!', ':']
        }
    };
    !text.ends_with([' ', ':'])
        && !has_indicator(text.as_bytes())
        && (indicators.is_empty() || !text.contains(indicators))
        && (is_common(text) || (!text.contains(is_unclear) && fits_single_quoted(text)))
}

/// Whether a text has a `: `, which ends a key, or a ` #`, which begins a comment.
fn has_indicator(text: &[u8]) -> bool {
    let mut at = 0;
    loop {
        at += words::plain_stop(text.get(at..).unwrap_or_default());
        match text.get(at) {
            None => return false,
            Some(b':') if text.get(at + 1) == Some(&b' ') => return true,
            Some(b'#') if text.get(..at).is_some_and(|before| before.ends_with(b" ")) => {
                return true;
            }
            Some(_) => at += 1,
        }
    }
}

/// Whether a text is printable ASCII on one line, and so needs no look at each character.
fn is_common(text: &str) -> bool {
    /// A character that is not printable, so that no printable one is excluded.
    const NONE: u8 = 0x7f;
    words::is_printable_without(text, [NONE])
}

/// Whether a text fits on one line without escapes.
fn fits_single_quoted(text: &str) -> bool {
    is_common(text)
        || !text.contains(|character| matches!(character, '\t' | '\n') || is_forbidden(character))
}

/// Whether a literal block can hold a text: without escapes, and with a clear indentation.
fn fits_literal(text: &str) -> bool {
    !text.is_empty() && !text.starts_with([' ', '\t', '\n']) && !text.contains(is_forbidden)
}

/// Whether a line holds nothing but spaces and tabs, so that an editor may strip it.
fn is_blank(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn write_single_quoted(out: &mut String, text: &str) {
    out.push('\'');
    for (index, piece) in text.split('\'').enumerate() {
        if index > 0 {
            out.push_str("''");
        }
        out.push_str(piece);
    }
    out.push('\'');
}

/// Whether no character of a text is escaped in double quotes.
fn is_clear(text: &str) -> bool {
    words::is_printable_without(text, [b'"', b'\\'])
}

fn write_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    if is_clear(text) {
        out.push_str(text);
        out.push('"');
        return;
    }
    for character in text.chars() {
        match short_escape(character) {
            Some(escape) => {
                out.push('\\');
                out.push(escape);
            }
            None if !needs_escape(character) => out.push(character),
            None => match u32::from(character) {
                0..=0xff => write_code(out, 'x', 2, character),
                0x100..=0xffff => write_code(out, 'u', 4, character),
                _ => write_code(out, 'U', 8, character),
            },
        }
    }
    out.push('"');
}

fn double_quoted_length(character: char) -> usize {
    match u32::from(character) {
        _ if short_escape(character).is_some() => 2,
        _ if !needs_escape(character) => character.len_utf8(),
        0..=0xff => 4,
        0x100..=0xffff => 6,
        _ => 10,
    }
}

fn short_escape(character: char) -> Option<char> {
    Some(match character {
        '"' | '\\' => character,
        '\0' => '0',
        '\t' => 't',
        '\n' => 'n',
        '\r' => 'r',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => return None,
    })
}

/// Adds `\`, `prefix` and the code of `character` in `digits` hexadecimal digits.
fn write_code(out: &mut String, prefix: char, digits: u32, character: char) {
    out.push('\\');
    out.push(prefix);
    for place in (0..digits).rev() {
        let digit = char::from_digit((u32::from(character) >> (4 * place)) & 0xf, 16);
        out.extend(digit.map(|digit| digit.to_ascii_uppercase()));
    }
}

fn write_literal(out: &mut String, text: &str, body_indent: usize, eol: &str) {
    let body = text.trim_end_matches('\n');
    let line_breaks = text.len() - body.len();
    out.push_str(match line_breaks {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    for line in body.split('\n') {
        out.push_str(eol);
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', body_indent.max(1)));
            out.push_str(line);
        }
    }
    for _ in 1..line_breaks {
        out.push_str(eol);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_in(text: &str, context: Context, keep: Option<Style>, expected: &str) {
        let mut out = String::new();
        write_string(&mut out, text, context, keep, 2, "\n");
        assert_eq!(out, expected, "{text:?}");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        check_in(text, Context::BlockValue, None, expected);
    }

    #[test]
    fn what_is_safe_stays_plain() {
        for text in [
            "a",
            "a b",
            "nginx:1.25",
            "http://a/b?c#d",
            "a, b",
            "-a",
            "a'b\"c",
            "1.2.3",
            "100m",
            "é日本😀",
            "${A}",
            "a\\b",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_reads_as_another_type_is_double_quoted() {
        for text in
            ["", "yes", "~", "0644", "1_000", "1e3", ".inf", "12:30", "2001-01-01", "<<", "0b-1"]
        {
            check(text, &format!("\"{text}\""));
        }
    }

    #[test]
    fn what_reads_as_structure_is_single_quoted() {
        for text in [
            "- a", "a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "%a", "@a", "[a]", "{a}", " a",
            "a ", "---", "-", "\"a",
        ] {
            check(text, &format!("'{text}'"));
        }
        check("'a'", "\"'a'\"");
        check("it's: so", "\"it's: so\"");
    }

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        check("a\tb", "\"a\\tb\"");
        check("\u{7}\u{1b}\u{85}\u{2028}\u{2029}\0\r", "\"\\x07\\x1B\\N\\L\\P\\0\\r\"");
        check("\u{feff}\u{a0}\u{1ffff}\\", "\"\\uFEFF\\xA0\\U0001FFFF\\\\\"");
        check("a\nb\u{200b}", "\"a\\nb\\u200B\"");
    }

    #[test]
    fn indicators_of_flow_are_quoted_in_flow() {
        for context in [Context::FlowValue, Context::FlowKey] {
            for text in ["a,b", "a]", "a:b", "-a", "a?"] {
                check_in(text, context, None, &format!("'{text}'"));
            }
            check_in("a b", context, None, "a b");
            check_in("a\nb", context, Some(Style::Literal), "\"a\\nb\"");
        }
        check_in("a:b/c", Context::Key, None, "a:b/c");
        check_in("a\nb", Context::Key, None, "\"a\\nb\"");
    }

    #[test]
    fn several_lines_become_a_literal_block() {
        check("a\nb", "|-\n  a\n  b");
        check("a\n\n  b\n", "|\n  a\n\n    b");
        check("a\n\n\n", "|+\n  a\n\n");
        check("#a\n\tb\n", "|\n  #a\n  \tb");
        check(" a\nb", "\" a\\nb\"");
        check("\na", "\"\\na\"");
        check("a\n \nb", "\"a\\n \\nb\"");
        check("\n", "\"\\n\"");
    }

    #[test]
    fn quotes_stay_quotes() {
        check_in("a", Context::BlockValue, Some(Style::SingleQuoted), "'a'");
        check_in("it's", Context::BlockValue, Some(Style::SingleQuoted), "'it''s'");
        check_in("a\nb", Context::BlockValue, Some(Style::SingleQuoted), "\"a\\nb\"");
        check_in("", Context::BlockValue, Some(Style::SingleQuoted), "''");
        check_in("a \"b\"", Context::BlockValue, Some(Style::DoubleQuoted), "\"a \\\"b\\\"\"");
        check_in("a\nb\n", Context::BlockValue, Some(Style::DoubleQuoted), "\"a\\nb\\n\"");
    }

    #[test]
    fn a_block_stays_a_block_of_its_new_text() {
        for keep in [Style::Literal, Style::Folded] {
            check_in("a", Context::BlockValue, Some(keep), "|-\n  a");
            check_in("yes\n", Context::BlockValue, Some(keep), "|\n  yes");
            check_in("", Context::BlockValue, Some(keep), "\"\"");
            check_in("  a\n", Context::BlockValue, Some(keep), "\"  a\\n\"");
            check_in("a\n \nb\u{a0}", Context::BlockValue, Some(keep), "|-\n  a\n   \n  b\u{a0}");
            check_in("a\u{85}", Context::BlockValue, Some(keep), "\"a\\N\"");
        }
    }

    #[test]
    fn a_block_has_the_line_ends_and_indentation_it_is_given() {
        let mut out = String::new();
        write_string(&mut out, "a\n\nb\n\n", Context::BlockValue, None, 4, "\r\n");
        assert_eq!(out, "|+\r\n    a\r\n\r\n    b\r\n");
        out.clear();
        write_string(&mut out, "a\nb", Context::BlockValue, None, 0, "\n");
        assert_eq!(out, "|-\n a\n b");
    }

    #[test]
    fn other_scalars_are_written_canonically() {
        let scalars = [
            Scalar::Null,
            Scalar::Bool(true),
            Scalar::Bool(false),
            Scalar::Number("1.10".into()),
            Scalar::String("1".into()),
        ];
        let mut out = String::new();
        for scalar in &scalars {
            write_scalar(&mut out, scalar, Context::BlockValue, None, 2, "\n");
            out.push(' ');
        }
        assert_eq!(out, "null true false 1.10 \"1\" ");
    }

    #[test]
    fn json_strings_are_escaped_but_not_for_html() {
        let mut out = String::new();
        write_json_string(&mut out, "<a & \"b\">\\\n\t\r\0\u{1f}\u{7f}\u{2028}é😀");
        assert_eq!(out, r#""<a & \"b\">\\\n\t\r\u0000\u001F\u007F\u2028é😀""#);
        let text = "\u{85}\u{feff}\u{8}/";
        out.clear();
        write_json_string(&mut out, text);
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
    }

    #[test]
    fn a_key_is_too_long_as_it_is_written() {
        assert!(!key_needs_explicit(&"a".repeat(1_000)));
        assert!(key_needs_explicit(&"a".repeat(1_001)));
        assert!(key_needs_explicit(&"\u{7}".repeat(251)));
        assert!(!key_needs_explicit(&"\u{7}".repeat(250)));
        assert!(key_needs_explicit(&"'".repeat(501)));
    }
}
