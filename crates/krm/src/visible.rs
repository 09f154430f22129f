//! Texts for people, which show what a terminal would obey or hide.
//!
//! Names, messages and diffs contain texts of others. A control character in one moves the cursor
//! or changes the terminal, and a bidirectional control shows a text in another order, so both are
//! shown as escapes. Joiners stay: they are in words of several languages and in emoji.

use std::borrow::Cow;

/// Whether a terminal obeys a character, or shows nothing for it.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `1 rule` or `2 rules`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// A text of several lines, with an escape such as `\u{1b}` for each hidden character. Tabs and the
/// ends of lines stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c, next| matches!(c, '\n' | '\t') || (c == '\r' && next == Some('\n')))
}

/// The same, with our own colours.
pub fn visible_in_color(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('\u{1b}');
    let mut shown = visible(parts.next().unwrap_or_default());
    for part in parts {
        let (color, rest) = part.split_at(color_length(part));
        let escape = if color.is_empty() { "\\u{1b}" } else { "\u{1b}" };
        let rest = visible(rest);
        shown.to_mut().extend([escape, color, &rest]);
    }
    shown
}

/// The length of the sequence for a colour, such as `[1;31m`, after the escape character.
fn color_length(text: &str) -> usize {
    let numbers = text.strip_prefix('[').unwrap_or_default();
    let end = numbers.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    match end.strip_prefix('m') {
        Some(rest) => text.len() - rest.len(),
        None => 0,
    }
}

/// A text on one line, with an escape for each hidden character, also for tabs and ends of lines.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_, _| false)
}

/// Escapes the hidden characters but those that stay, by the character and the next one.
fn escaped(text: &str, stays: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    let end = if stays('\n', None) { b'\n' } else { b' ' };
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') || *byte == end;
    // Not `all`: without a way out of the loop, it looks at several bytes at a time.
    if text.bytes().fold(0, |odd, byte| odd | u8::from(!is_plain(&byte))) == 0 {
        return Cow::Borrowed(text);
    }
    let run = |text: &str| text.bytes().take_while(is_plain).count();
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, other)) = rest.split_at_checked(run(rest)) {
        shown.push_str(plain);
        let mut others = other.chars();
        let Some(c) = others.next() else { break };
        rest = others.as_str();
        if is_hidden(c) && !stays(c, others.next()) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::{on_one_line, visible, visible_in_color};

    #[test]
    fn what_a_terminal_obeys_or_hides_is_escaped() {
        for (text, expected) in [
            ("plain ~", "plain ~"),
            ("日本 é 👩\u{200d}👩", "日本 é 👩\u{200d}👩"),
            ("a\n\tb\r\nc", "a\n\tb\r\nc"),
            ("over\rwritten", "over\\rwritten"),
            ("\u{1b}]0;title\u{7}\u{7f}", "\\u{1b}]0;title\\u{7}\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("\u{200b}\u{feff}\u{ad}", "\\u{200b}\\u{feff}\\u{ad}"),
            ("\u{e0041}\u{2028}", "\\u{e0041}\\u{2028}"),
        ] {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(on_one_line("a\r\n\tb"), "a\\r\\n\\tb");
    }

    #[test]
    fn only_colours_of_other_sequences_stay() {
        let red = "\u{1b}[1m\u{1b}[1;31mred\u{1b}[0m\n";
        assert_eq!(visible_in_color(red), red);
        for (text, expected) in [
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}[31", "\\u{1b}[31"),
            ("\u{1b}]8;;m", "\\u{1b}]8;;m"),
            ("a\u{1b}", "a\\u{1b}"),
            ("\u{1b}\u{1b}[m", "\\u{1b}\u{1b}[m"),
            ("\u{1b}[1m\u{9b}", "\u{1b}[1m\\u{9b}"),
        ] {
            assert_eq!(visible_in_color(text), expected);
        }
    }
}
