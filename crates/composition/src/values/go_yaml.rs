//! YAML as kustomize prints it: as `sigs.k8s.io/yaml` and the emitter of go-yaml v2 write it.
//!
//! Source: `encode.go`, `sorter.go` and `emitterc.go` of go-yaml 2.4.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::values::quote::number_in_yaml;
use krm_yaml::scalar::{is_timestamp, resolve};
use krm_yaml::{Data, Scalar, Value};

/// A line is folded at the first space behind this column.
const WIDTH: usize = 80;
const INDENT: usize = 2;
/// The most bytes of a key without a `?` before it.
const LONGEST_KEY: usize = 128;
const BOM: char = '\u{feff}';

/// A document as kustomize prints it.
#[must_use]
pub fn kustomize_style(value: &Value<'_>) -> String {
    let mut emitter = Emitter {
        out: String::new(),
        column: 0,
        is_at_start: true,
    };
    emitter.value(value, 0, false);
    emitter.begin_line(0);
    emitter.out
}

struct Emitter {
    out: String,
    /// Characters on this line.
    column: usize,
    /// Whether this line holds only indentation and the indicators `-`, `?` and `:` of blocks.
    is_at_start: bool,
}

impl Emitter {
    /// Writes a value; if it is a block, with this indentation.
    fn value(&mut self, value: &Value<'_>, indent: usize, is_in_mapping: bool) {
        match &value.data {
            Data::Mapping(entries) if entries.is_empty() => self.word("{}"),
            Data::Sequence(items) if items.is_empty() => self.word("[]"),
            Data::Mapping(entries) => self.mapping(entries, indent),
            Data::Sequence(items) => {
                let is_flush = is_in_mapping && !self.is_at_start;
                let indent = indent.saturating_sub(if is_flush { INDENT } else { 0 });
                for item in items {
                    self.begin_line(indent);
                    self.indicator('-');
                    self.value(item, indent + INDENT, false);
                }
            }
            Data::Scalar(Scalar::Null) => self.word("null"),
            Data::Scalar(Scalar::Bool(flag)) => self.word(if *flag { "true" } else { "false" }),
            Data::Scalar(Scalar::Number(digits)) => self.word(&number_in_yaml(digits)),
            Data::Scalar(Scalar::String(text)) => self.string(text, indent, true),
        }
    }

    fn mapping(&mut self, entries: &[(Cow<'_, str>, Value<'_>)], indent: usize) {
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by(|(one, _), (other, _)| order(one, other));
        for (key, value) in entries {
            self.begin_line(indent);
            if key.len() <= LONGEST_KEY && !key.contains(is_break) {
                self.string(key, indent + INDENT, false);
                self.put(':');
            } else {
                self.indicator('?');
                self.string(key, indent + INDENT, true);
                self.begin_line(indent);
                self.indicator(':');
            }
            self.value(value, indent + INDENT, true);
        }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
        self.is_at_start = false;
    }

    fn indicator(&mut self, c: char) {
        let is_at_start = self.is_at_start;
        self.separate();
        self.put(c);
        self.is_at_start = is_at_start;
    }

    fn word(&mut self, word: &str) {
        self.separate();
        word.chars().for_each(|c| self.put(c));
    }

    /// Writes a space after an indicator.
    fn separate(&mut self) {
        if self.column > 0 && !self.out.ends_with(' ') {
            self.put(' ');
        }
    }

    fn line_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
        self.is_at_start = true;
    }

    /// Begins a line, unless this one has just begun, and indents it.
    fn begin_line(&mut self, indent: usize) {
        if !self.is_at_start || self.column > indent {
            self.line_break('\n');
        }
        let missing = indent.saturating_sub(self.column);
        self.out.extend(std::iter::repeat_n(' ', missing));
        self.column += missing;
        self.is_at_start = true;
    }

    /// Writes a string, whose further lines have this indentation.
    fn string(&mut self, text: &str, indent: usize, folds: bool) {
        self.separate();
        let fits = Fits::of(text);
        if text.contains('\n') && fits.block {
            self.literal(text, indent);
        } else if text.contains('\n') || is_typed(text) || !(fits.plain || fits.single_quoted) {
            self.double_quoted(text, indent, folds);
        } else if fits.plain {
            self.folded(text, indent, folds);
        } else {
            self.put('\'');
            self.folded(&text.replace('\'', "''"), indent, folds);
            self.put('\'');
        }
    }

    /// Writes what is plain or in single quotes.
    fn folded(&mut self, text: &str, indent: usize, folds: bool) {
        let mut before = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let next = rest.clone().next();
            if is_break(c) {
                self.line_break(c);
            } else if folds && next != Some(' ') && self.folds_at(before, c, next) {
                self.begin_line(indent);
            } else {
                if before.is_some_and(is_break) {
                    self.begin_line(indent);
                }
                self.put(c);
            }
            before = Some(c);
        }
    }

    /// Whether `c` is a space behind the width, the first one, and neither at the beginning nor at
    /// the end of its text.
    fn folds_at(&self, before: Option<char>, c: char, next: Option<char>) -> bool {
        let is_first = before.is_some_and(|before| before != ' ');
        self.column > WIDTH && c == ' ' && is_first && next.is_some()
    }

    fn double_quoted(&mut self, text: &str, indent: usize, folds: bool) {
        // go-yaml looks for a byte order mark at the beginning, whichever character it is at.
        let escapes_all = text.starts_with(BOM);
        let mut before = None;
        let mut rest = text.chars();
        self.put('"');
        while let Some(c) = rest.next() {
            let next = rest.clone().next();
            if escapes_all || matches!(c, '"' | '\\') || is_break(c) || !is_printable(c) {
                self.escape(c);
            } else if folds && self.folds_at(before, c, next) {
                self.begin_line(indent);
                if next == Some(' ') {
                    self.put('\\');
                }
            } else {
                self.put(c);
            }
            before = Some(c);
        }
        self.put('"');
    }

    fn escape(&mut self, c: char) {
        let escape = match c {
            '\0' => "\\0",
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\u{b}' => "\\v",
            '\u{c}' => "\\f",
            '\r' => "\\r",
            '\u{1b}' => "\\e",
            '"' => "\\\"",
            '\\' => "\\\\",
            '\u{85}' => "\\N",
            '\u{a0}' => "\\_",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            _ => match u32::from(c) {
                code @ ..=0xff => &format!("\\x{code:02X}"),
                code @ ..=0xffff => &format!("\\u{code:04X}"),
                code => &format!("\\U{code:08X}"),
            },
        };
        escape.chars().for_each(|c| self.put(c));
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.put('|');
        if text.starts_with(' ') || text.starts_with(is_break) {
            self.put('2');
        }
        match text.strip_suffix(is_break) {
            None => self.put('-'),
            Some(body) if body.is_empty() || body.ends_with(is_break) => self.put('+'),
            Some(_) => {}
        }
        self.line_break('\n');
        for c in text.chars() {
            if is_break(c) {
                self.line_break(c);
                continue;
            }
            if self.column == 0 {
                self.begin_line(indent);
            }
            self.put(c);
        }
    }
}

/// The styles that can hold a text.
struct Fits {
    plain: bool,
    single_quoted: bool,
    block: bool,
}

impl Fits {
    fn of(text: &str) -> Self {
        let mut fits = Self {
            plain: !has_indicator(text) && !text.starts_with(' ') && !text.ends_with(' '),
            single_quoted: true,
            block: !text.ends_with(' '),
        };
        let mut before = 'x';
        for c in text.chars() {
            let is_break_before_space = is_break(before) && c == ' ';
            let is_special = !is_printable(c) || before == ' ' && is_break(c);
            fits.plain &= !is_break(c) && !is_special;
            fits.single_quoted &= !is_break_before_space && !is_special;
            fits.block &= !is_special;
            before = c;
        }
        fits
    }
}

/// Whether a plain text would begin something else, or hold a key or a comment.
fn has_indicator(text: &str) -> bool {
    let starts = ["---", "...", "? ", "- "];
    matches!(text, "?" | "-")
        || starts.iter().any(|start| text.starts_with(start))
        || text.starts_with(|c| "#,[]{}&*!|>'\"%@`".contains(c))
        || text.ends_with(':')
        || [": ", " #"].iter().any(|inside| text.contains(inside))
}

/// Whether go-yaml reads a plain text as another type, or YAML 1.1 as a number of base 60.
fn is_typed(text: &str) -> bool {
    !matches!(resolve(text), Scalar::String(_)) || is_timestamp(text) || is_of_base_60(text)
}

/// Whether a text is like `1:30` or `190:20:30.15`.
fn is_of_base_60(text: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit() || c == b'_');
    let Some((first, rest)) = text.split_once(':') else {
        return false;
    };
    let first = first.strip_prefix(['+', '-']).unwrap_or(first);
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    first.starts_with(|c: char| c.is_ascii_digit())
        && is_digits(first)
        && is_digits(fraction)
        && rest.split(':').all(|part| match part.as_bytes() {
            [digit] | [b'0'..=b'5', digit] => digit.is_ascii_digit(),
            _ => false,
        })
}

const fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

const fn is_printable(c: char) -> bool {
    c != BOM && matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}')
}

/// Compares keys: digits by their value, and letters after all other characters.
///
/// go-yaml compares `a1b` and `a10` by the letter, `a1b` and `a2` by the number. That is not an
/// order, and what it prints then varies; here, numbers come first.
fn order(one: &str, other: &str) -> Ordering {
    let pairs = one.char_indices().zip(other.chars());
    let same = pairs.take_while(|((_, a), b)| a == b).last();
    let same = same.map_or(0, |((at, c), _)| at + c.len_utf8());
    let is_digit = |c: char| c.is_ascii_digit();
    let common = one.get(..same).unwrap_or_default();
    let start = common.trim_end_matches(is_digit).len();
    let (a, b) = (digits(one, start), digits(other, start));
    if !a.is_empty() && !b.is_empty() && a != b {
        return weight(a).cmp(&weight(b));
    }
    let rank = |text: &str| {
        let next = text.get(same..).and_then(|rest| rest.chars().next());
        next.map(|c| (c.is_alphabetic(), is_digit(c), c))
    };
    rank(one).cmp(&rank(other))
}

/// The digits of a key from this place on.
fn digits(key: &str, start: usize) -> &str {
    let rest = key.get(start..).unwrap_or_default();
    let end = rest.find(|c: char| !c.is_ascii_digit());
    end.and_then(|end| rest.get(..end)).unwrap_or(rest)
}

/// What digits are compared by: their value, then their number.
fn weight(digits: &str) -> (usize, &str, usize) {
    let value = digits.trim_start_matches('0');
    (value.len(), value, digits.len())
}
