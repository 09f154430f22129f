//! Joins two lists of a file as lines of text, so that the moved items keep comments and layout.

use std::ops::Range;

use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document};

/// A list that is written in lines of its own.
struct Lines {
    /// From the line of the key.
    whole: Range<usize>,
    /// From the line after that.
    items: Range<usize>,
    /// The columns of the key and of the dashes.
    columns: [usize; 2],
}

/// The text of a file in which the items of the list `old` are in the list `new`: before its own
/// ones, or after them. None if one of them is not written in lines of its own.
pub(super) fn join(text: &str, old: &str, new: &str, is_before: bool) -> Option<String> {
    let document = Document::parse(&Source::new("file", text)).ok()?;
    let root = document.roots().find(|root| !root.is_null())?;
    let old = Lines::of(text, root.get(old)?)?;
    let new = Lines::of(text, root.get(new)?)?;
    let [key, dash] = old.columns;
    let [_, column] = new.columns;
    let above = comments_above(text, old.whole.start);
    let mut moved = shifted(text.get(above..old.whole.start)?, key, column)?;
    moved += &shifted(text.get(old.items)?, dash, column)?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let at = if is_before { new.items.start } else { new.items.end };
    let removed = above..old.whole.end;
    let mut joined = String::with_capacity(text.len());
    for range in [0..at.min(removed.start), removed.end..at] {
        joined += text.get(range).unwrap_or_default();
    }
    close(&mut joined, end);
    joined += &moved;
    close(&mut joined, end);
    for range in [at..removed.start, at.max(removed.end)..text.len()] {
        joined += text.get(range).unwrap_or_default();
    }
    if !text.ends_with('\n') {
        joined.truncate(joined.trim_end_matches(['\r', '\n']).len());
    }
    Some(joined)
}

impl Lines {
    fn of(text: &str, list: Cursor<'_>) -> Option<Self> {
        if !list.is_sequence() || list.is_flow() {
            return None;
        }
        let (key, items) = (list.key_place().range, list.place().range);
        let end = text.get(..items.end)?.trim_end().len();
        let (start, first) = (line_start(text, key.start), line_end(text, key.end));
        let end = line_end(text, end);
        Some(Self {
            whole: start..end,
            items: first..end,
            columns: [key.start - start, items.start - line_start(text, items.start)],
        })
    }
}

fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// The start of the next line.
fn line_end(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    after.find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The start of the comments directly above a line. Those at the start of the file are about the
/// file.
fn comments_above(text: &str, line: usize) -> usize {
    let mut start = line;
    while start > 0 {
        let above = line_start(text, start - 1);
        let is_comment = text.get(above..start).unwrap_or_default();
        if !is_comment.trim_start().starts_with('#') {
            return start;
        }
        start = above;
    }
    line
}

/// Lines with another indentation; none if one has not enough.
fn shifted(lines: &str, from: usize, to: usize) -> Option<String> {
    let mut all = String::with_capacity(lines.len());
    for line in lines.split_inclusive('\n') {
        let text = line.trim_start_matches(' ');
        let indentation = line.len() - text.len();
        let indentation = match (indentation + to).checked_sub(from) {
            _ if text.trim().is_empty() => 0,
            Some(indentation) => indentation,
            None if text.starts_with('#') => to,
            None => return None,
        };
        all.extend(std::iter::repeat_n(' ', indentation));
        all += text;
    }
    Some(all)
}

/// Ends the last line.
fn close(text: &mut String, end: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(end);
    }
}
