//! Block scalars: the header, the indentation, folding and chomping.

use std::borrow::Cow;

use super::lines::{Line, Lines};
use super::text::{DecodeError, Text};
use crate::scalar::data::Style;

pub(super) fn decode(
    raw: &str,
    style: Style,
    parent_column: Option<usize>,
) -> Result<Cow<'_, str>, DecodeError> {
    let mut lines = Lines::new(raw, 0);
    let header_line = lines.next().map_or("", |line| line.text);
    let header = Header::parse(header_line, style)?;
    let indentation = match header.indentation {
        Some(indicated) => parent_column.unwrap_or(0) + indicated,
        None => find_indentation(raw)?.max(parent_column.map_or(1, |column| column + 1)),
    };
    let mut body = Body {
        text: Text::new(raw),
        is_folded: style == Style::Folded,
        last: None,
        blank_lines: String::new(),
    };
    for line in lines {
        let content = line.skip(leading_spaces(line.text, indentation));
        let is_indented = content.offset - line.offset == indentation;
        if content.text.is_empty() {
            // No line follows the last line break of the text, unless kubectl reads it as a
            // character and adds one.
            if !line.is_last() || !line.text.is_empty() || !raw.ends_with(['\n', '\r']) {
                body.blank_lines.push_str(line.closing_break());
            }
        } else if is_indented {
            body.push(content);
        } else {
            check_after_body(content)?;
            break;
        }
    }
    Ok(body.chomp(header.chomping))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

struct Header {
    chomping: Chomping,
    indentation: Option<usize>,
}

impl Header {
    fn parse(line: &str, style: Style) -> Result<Self, DecodeError> {
        let indicator = if style == Style::Folded { '>' } else { '|' };
        let mut rest = line
            .strip_prefix(indicator)
            .ok_or_else(|| DecodeError::new(0, format!("expected `{indicator}`")))?;
        let mut header = Self { chomping: Chomping::Clip, indentation: None };
        while let Some(next) = rest.chars().next() {
            match next {
                '-' if header.chomping == Chomping::Clip => header.chomping = Chomping::Strip,
                '+' if header.chomping == Chomping::Clip => header.chomping = Chomping::Keep,
                '1'..='9' if header.indentation.is_none() => {
                    header.indentation = next.to_digit(10).map(|digit| digit as usize);
                }
                _ => break,
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        let after = rest.trim_start_matches([' ', '\t']);
        if after.is_empty() || after.starts_with('#') {
            return Ok(header);
        }
        let message = format!("expected a comment or a line break after `{indicator}`");
        Err(DecodeError::new(line.len() - after.len(), message))
    }
}

/// The indentation of the first line with text; as in go-yaml, blank lines before it count as well.
fn find_indentation(raw: &str) -> Result<usize, DecodeError> {
    let mut deepest = 0;
    for line in Lines::new(raw, 0).skip(1) {
        let spaces = leading_spaces(line.text, usize::MAX);
        deepest = deepest.max(spaces);
        let content = line.skip(spaces);
        if content.text.starts_with('\t') {
            return Err(tab(content));
        }
        if !content.text.is_empty() {
            break;
        }
    }
    Ok(deepest)
}

/// How many spaces `text` begins with, at most `limit`.
fn leading_spaces(text: &str, limit: usize) -> usize {
    text.bytes().take(limit).take_while(|byte| *byte == b' ').count()
}

/// Checks that a line indented less than the block is a comment after it.
fn check_after_body(line: Line<'_>) -> Result<(), DecodeError> {
    match line.text.as_bytes().first() {
        Some(b'#') => Ok(()),
        Some(b'\t') => Err(tab(line)),
        _ => Err(DecodeError::new(line.offset, "this line is indented less than its block")),
    }
}

fn tab(line: Line<'_>) -> DecodeError {
    DecodeError::new(line.offset, "a tab cannot indent a block: use spaces")
}

/// The text of a block without the line breaks at its end.
struct Body<'s> {
    text: Text<'s>,
    is_folded: bool,
    /// The last line with text, without its indentation.
    last: Option<Line<'s>>,
    /// The line breaks of the blank lines after it.
    blank_lines: String,
}

impl<'s> Body<'s> {
    fn push(&mut self, line: Line<'s>) {
        match self.last {
            Some(last) if self.is_folded && folds(last, line) => {
                if self.blank_lines.is_empty() {
                    self.text.add(" ");
                }
            }
            _ => self.end_last_line(),
        }
        self.text.add(&self.blank_lines);
        self.blank_lines.clear();
        self.text.copy(line.offset, line.text);
        self.last = Some(line);
    }

    fn end_last_line(&mut self) {
        let Some(last) = self.last else { return };
        if last.ending == last.closing_break() {
            self.text.copy(last.break_offset(), last.ending);
        } else {
            self.text.add(last.closing_break());
        }
    }

    fn chomp(mut self, chomping: Chomping) -> Cow<'s, str> {
        if chomping != Chomping::Strip {
            self.end_last_line();
        }
        if chomping == Chomping::Keep {
            self.text.add(&self.blank_lines);
        }
        self.text.finish()
    }
}

/// Whether the line break between two lines with text folds: not beside a line indented deeper.
fn folds(before: Line<'_>, after: Line<'_>) -> bool {
    let is_deeper = |line: Line<'_>| line.text.starts_with([' ', '\t']);
    before.normal_break() == "\n" && !is_deeper(before) && !is_deeper(after)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use crate::scalar::{Style, decode};

    fn style(raw: &str) -> Style {
        if raw.starts_with('>') { Style::Folded } else { Style::Literal }
    }

    #[track_caller]
    fn check(raw: &str, expected: &str) {
        assert_eq!(decode(raw, style(raw), Some(0)).as_deref(), Ok(expected), "{raw}");
    }

    #[track_caller]
    fn check_error(raw: &str, offset: usize, message: &str) {
        let error = decode(raw, style(raw), Some(0)).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{raw}");
    }

    #[test]
    fn a_literal_keeps_its_lines() {
        check("|\n  a\n    b\n\n  c\n", "a\n  b\n\nc\n");
        check("|\n  a  \n  \tb\n", "a  \n\tb\n");
        check("|\n\n\n  a\n", "\n\na\n");
        check("|\n  # not a comment\n  ---\n", "# not a comment\n---\n");
    }

    #[test]
    fn chomping_decides_the_end() {
        check("|\n  a\n\n\n", "a\n");
        check("|-\n  a\n\n\n", "a");
        check("|+\n  a\n\n\n", "a\n\n\n");
        check("|+\n\n", "\n");
        check("|\n\n", "");
        check("|", "");
    }

    #[test]
    fn the_end_of_the_file_ends_a_line_as_for_kubectl() {
        check("|\n  a", "a\n");
        check("|-\n  a", "a");
        check("|+\n  a", "a\n");
        check(">\n  a\n  b", "a b\n");
        check("|+\n  a\n  ", "a\n\n");
        check("|\n  a\n  ", "a\n");
        check("|\n  a\n   ", "a\n \n");
        check("|+\n  ", "\n");
        check("|+\n", "");
        check("|+", "");
    }

    #[test]
    fn headers_take_indicators_in_either_order_and_a_comment() {
        check("|2-\n    a\n", "  a");
        check("|-2 # why\n    a\n", "  a");
        check("|+  \n  a\n\n", "a\n\n");
        check_error("|0\n  a\n", 1, "expected a comment or a line break after `|`");
        check_error("|-- \n  a\n", 2, "expected a comment or a line break after `|`");
        check_error("> a\n  b\n", 2, "expected a comment or a line break after `>`");
    }

    #[test]
    fn an_indentation_indicator_counts_from_the_parent() {
        assert_eq!(decode("|2\n     a\n", Style::Literal, Some(2)).as_deref(), Ok(" a\n"));
        assert_eq!(decode("|1\n  a\n", Style::Literal, None).as_deref(), Ok(" a\n"));
        assert_eq!(decode("|\n a\n", Style::Literal, None).as_deref(), Ok("a\n"));
    }

    #[test]
    fn folding_spares_blank_and_deeper_lines() {
        check(">\n  a\n  b\n\n  c\n   more\n  d\n", "a b\nc\n more\nd\n");
        check(">\n  a\n\n\n  b\n", "a\n\nb\n");
        check(">-\n  a\n   b\n\n  c\n", "a\n b\n\nc");
        check(">+\n\n  a\n  b\n\n", "\na b\n\n");
        check(">\n  a\n  \tb\n  c\n", "a\n\tb\nc\n");
    }

    #[test]
    fn carriage_returns_are_line_breaks() {
        check("|\r\n  a\r\n\r\n  b\r\n", "a\n\nb\n");
        check(">-\r\n  a\r\n  b\r\n", "a b");
        check("|\r  a\r", "a\n");
    }

    #[test]
    fn one_line_is_borrowed() {
        for raw in ["|-\n  a\n", "|\n  a\n", ">\n  a b\n", "|+\n  a\n"] {
            assert!(matches!(decode(raw, style(raw), Some(0)), Ok(Cow::Borrowed(_))), "{raw}");
        }
    }

    #[test]
    fn says_which_line_is_indented_wrong() {
        check_error("|\n    a\n  b\n", 10, "this line is indented less than its block");
        check_error("|\n    \n  b\n", 9, "this line is indented less than its block");
        check_error("|\n  \ta\n", 4, "a tab cannot indent a block: use spaces");
        check_error("|\n  a\n\tb\n", 6, "a tab cannot indent a block: use spaces");
        check("|\n  a\n # after\n", "a\n");
    }
}
