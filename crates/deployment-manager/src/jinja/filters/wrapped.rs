//! The filter `wordwrap`, as Python's `textwrap` breaks lines.

use minijinja::{Error, State, Value};

use super::common::Filter;
use crate::jinja::arguments::{bind, required, whole, word};
use crate::jinja::chars;
use crate::jinja::print;
use crate::jinja::wrong::wrong;

pub(super) const FILTERS: &[(&str, Filter)] = &[("wordwrap", wordwrap)];

fn wordwrap(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let names = [
        "s",
        "width",
        "break_long_words",
        "wrapstring",
        "break_on_hyphens",
    ];
    let [value, width, long, wrapstring, hyphens] = bind(args, names)?;
    let text = print::text(&required(value, "s")?)?;
    let width = usize::try_from(whole(width.as_ref(), 79)?).unwrap_or(0);
    if width == 0 {
        return Err(wrong("the width of `wordwrap` must be positive"));
    }
    let wrapstring = wrapstring.filter(|text| !text.is_none());
    let wrapstring = word(wrapstring.as_ref(), "\n")?;
    let breaks_words = long.is_none_or(|long| long.is_true());
    let breaks_hyphens = hyphens.is_none_or(|hyphens| hyphens.is_true());
    let mut wrapped = Vec::new();
    for line in chars::lines(&text, false) {
        let lines = wrap(line, width, breaks_words, breaks_hyphens);
        wrapped.push(lines.join(wrapstring));
    }
    Ok(Value::from(wrapped.join("\n")))
}

/// Breaks one line.
fn wrap(line: &str, width: usize, breaks_words: bool, breaks_hyphens: bool) -> Vec<String> {
    let mut chunks: Vec<&str> = chunks(line, breaks_hyphens);
    chunks.reverse();
    let mut lines: Vec<String> = Vec::new();
    let is_blank = |chunk: &str| chunk.chars().all(chars::is_blank);
    while let Some(&next) = chunks.last() {
        if is_blank(next) && !lines.is_empty() {
            chunks.pop();
            if chunks.is_empty() {
                break;
            }
        }
        let (mut current, mut length): (Vec<&str>, usize) = (Vec::new(), 0);
        while let Some(&chunk) = chunks.last() {
            let size = chunk.chars().take(width + 1).count();
            if length + size > width {
                break;
            }
            length += size;
            current.push(chunk);
            chunks.pop();
        }
        if let Some(chunk) = chunks.last_mut()
            && chunk.chars().nth(width).is_some()
        {
            if breaks_words {
                let left = (width - length).max(1);
                let at = chunk
                    .char_indices()
                    .nth(left)
                    .map_or(chunk.len(), |(at, _)| at);
                let (head, tail) = chunk.split_at(at);
                current.push(head);
                *chunk = tail;
            } else if current.is_empty() {
                current.extend(chunks.pop());
            }
        }
        if current.last().is_some_and(|last| is_blank(last)) {
            current.pop();
        }
        if !current.is_empty() {
            lines.push(current.concat());
        }
    }
    lines
}

/// Words, the blanks between them, and the parts of words with hyphens.
fn chunks(line: &str, breaks_hyphens: bool) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let blank = chars::is_blank(first);
        let end = rest
            .find(|c| chars::is_blank(c) != blank)
            .unwrap_or(rest.len());
        let (chunk, after) = rest.split_at(end);
        let mut start = 0;
        let breaks = if breaks_hyphens && !blank {
            hyphens(chunk)
        } else {
            Vec::new()
        };
        for at in breaks {
            found.extend(chunk.get(start..at));
            start = at;
        }
        found.extend(chunk.get(start..));
        rest = after;
    }
    found
}

/// Where a word may be broken: after a hyphen between letters.
fn hyphens(word: &str) -> Vec<usize> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let at = |index: usize| chars.get(index).map(|(_, c)| *c);
    let is_letter = |index: usize| at(index).is_some_and(|c| c.is_alphabetic() || c == '_');
    let is_hyphen = |index: usize| at(index) == Some('-');
    let breaks = (2..chars.len()).filter(|&index| {
        let is_before = is_letter(index - 1)
            && (is_letter(index - 2) || index > 2 && is_hyphen(index - 2) && is_letter(index - 3));
        let is_after = is_letter(index + 1)
            && (is_letter(index + 2) || is_hyphen(index + 2) && is_letter(index + 3));
        is_hyphen(index) && is_before && is_after
    });
    breaks
        .filter_map(|index| chars.get(index).map(|(place, _)| place + 1))
        .collect()
}
