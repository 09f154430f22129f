//! YAML as kustomize prints it: as `sigs.k8s.io/yaml` and the emitter of go-yaml v2 write it.
//!
//! Source: `encode.go`, `sorter.go` and `emitterc.go` of go-yaml 2.4.

use std::borrow::Cow;

use crate::values::quote::number_in_yaml;
use krm_yaml::scalar::{Style, is_timestamp, resolve};
use krm_yaml::{Data, Document, Kind, Scalar, Value};

/// A line is folded at the first space after this column.
const WIDTH: usize = 80;
const INDENT: usize = 2;
/// The most bytes of a key without a `?` before it.
const LONGEST_KEY: usize = 128;
const BOM: char = '\u{feff}';

type Entry<'s> = (Cow<'s, str>, Value<'s>);

/// An object as kustomize prints it. `document` is what it was read from.
pub(crate) fn text(object: &Value<'_>, document: Option<&Document>) -> String {
    let mut emitter = Emitter { document, out: String::new(), column: 0, is_at_start: true };
    emitter.value(object, 0, false);
    emitter.begin_line(0);
    emitter.out
}

struct Emitter<'d> {
    document: Option<&'d Document>,
    out: String,
    /// Characters on this line.
    column: usize,
    /// Whether this line holds only indentation and the indicators `-`, `?` and `:` of blocks.
    is_at_start: bool,
}

impl Emitter<'_> {
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
            Data::Scalar(Scalar::String(text)) if self.is_folded(value, text) => {
                self.string(&read_again(text), indent, true);
            }
            Data::Scalar(Scalar::String(text)) => self.string(text, indent, true),
        }
    }

    /// Whether a text is as it was read from a block scalar with `>`, and can be printed as one.
    fn is_folded(&self, value: &Value<'_>, text: &str) -> bool {
        let node = self.document.zip(value.origin);
        let node = node.map(|(document, origin)| document.cursor(origin).resolved());
        node.is_some_and(|node| {
            node.kind() == Kind::Scalar(Style::Folded)
                && node.text().is_ok_and(|read| read.as_deref() == Some(text))
                && !text.trim_start_matches('\n').starts_with([' ', '\t'])
                && Fits::of(text).block
        })
    }

    fn mapping(&mut self, entries: &[Entry<'_>], indent: usize) {
        for (key, value) in sorted(entries) {
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

    /// Whether `c` is a space after the width, the first one, and neither at the beginning nor at
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

/// The entries in the order of their keys.
///
/// That order has cycles (`a1b`, `a2`, `a10`), for which `sort_by` may panic. What go-yaml prints
/// then varies.
fn sorted<'v, 's>(entries: &'v [Entry<'s>]) -> Vec<&'v Entry<'s>> {
    if entries.len() < 2 {
        return entries.iter().collect();
    }
    let (left, right) = entries.split_at(entries.len() / 2);
    let (left, right) = (sorted(left), sorted(right));
    let mut right = right.into_iter().peekable();
    let mut all = Vec::with_capacity(entries.len());
    for entry in left {
        while let Some(before) = right.next_if(|other| is_before(&other.0, &entry.0)) {
            all.push(before);
        }
        all.push(entry);
    }
    all.extend(right);
    all
}

/// Compares keys: digits by their value, and letters after all other characters.
fn is_before(one: &str, other: &str) -> bool {
    let pairs = one.char_indices().zip(other.chars());
    let same = pairs.take_while(|((_, a), b)| a == b).last();
    let same = same.map_or(0, |((at, c), _)| at + c.len_utf8());
    let (common, one) = one.split_at_checked(same).unwrap_or_default();
    let other = other.get(same..).unwrap_or_default();
    let (Some(a), Some(b)) = (one.chars().next(), other.chars().next()) else {
        return one.len() < other.len();
    };
    if a.is_alphabetic() || b.is_alphabetic() {
        return (a.is_alphabetic(), a) < (b.is_alphabetic(), b);
    }
    let start = common.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let has_number = common.bytes().skip(start).any(|digit| digit != b'0');
    let lead = i64::from(has_number && (a == '0' || b == '0'));
    (number(one, lead), a) < (number(other, lead), b)
}

/// The number that a text begins with, after a digit before it, and its length.
fn number(text: &str, lead: i64) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((lead, 0), |(number, length), digit| {
        let digit = i64::from(digit - b'0');
        (number.wrapping_mul(10).wrapping_add(digit), length + 1)
    })
}

/// A folded text as kustomize reads it again after it printed it: with one line break more before
/// lines that are indented deeper, and at the end of a text that keeps several.
fn read_again(text: &str) -> String {
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    let mut out = String::with_capacity(text.len() + 1);
    let mut breaks = 0;
    let mut is_flush = false;
    for (index, line) in text.split('\n').enumerate() {
        breaks += usize::from(index > 0);
        if !line.is_empty() {
            breaks += usize::from(is_flush && is_indented(line));
            out.extend(std::iter::repeat_n('\n', breaks));
            out.push_str(line);
            breaks = 0;
            is_flush = !is_indented(line);
        }
    }
    breaks += usize::from(is_flush && breaks > 1);
    out.extend(std::iter::repeat_n('\n', breaks));
    out
}
