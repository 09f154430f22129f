//! Lists of several texts, joined in one of them with their comments and layout.

use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::{Cursor, Document, DuplicateKeys, Edit, Edited, Position, ends_line, next_line};

/// How the items of other texts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// With all lines between them.
    Copied,
    /// Each by itself, without the lines between them.
    Rendered,
}

/// The text of `base` with the items of the others after its own, for each of the lists `keys` of
/// the first object in each text.
pub(super) fn lists(
    base: &Document,
    others: &[Document],
    keys: &[&str],
    lines: Lines,
) -> Result<String> {
    let mut edits = Vec::new();
    for key in keys {
        let list = |document: &'_ Document| Some(document.roots().next()?.get(key)?.id());
        let lists = others.iter().filter_map(|other| Some(other.cursor(list(other)?)));
        let lists: Vec<Cursor<'_>> = lists.filter(has_items).collect();
        let Some(target) = list(base).map(|list| base.cursor(list)) else {
            continue;
        };
        if !lists.is_empty() {
            append(target, &lists, lines, &mut edits)?;
        }
    }
    Ok(Edited::new(base, edits)?.to_string())
}

fn has_items(list: &Cursor<'_>) -> bool {
    list.children().next().is_some()
}

/// Appends the items of `lists` to one list.
fn append(
    target: Cursor<'_>,
    lists: &[Cursor<'_>],
    lines: Lines,
    edits: &mut Vec<Edit>,
) -> Result<()> {
    let document = target.document();
    let column = column_of(target, lists);
    // A list in brackets is written with dashes too: items with dashes cannot follow it.
    let has_dashes = has_items(&target) && !target.is_flow();
    let own = [target].into_iter().filter(|list| list.is_flow() && has_items(list));
    let lists: Vec<Cursor<'_>> = own.chain(lists.iter().copied()).collect();
    let is_spaced = lists.iter().chain([&target]).any(|list| is_spaced(*list));
    let mut text = String::new();
    for (index, list) in lists.iter().enumerate() {
        let is_first = index == 0 && !has_dashes;
        if is_spaced && !is_first && lines == Lines::Copied {
            text.push('\n');
        }
        text.push_str(&items(*list, column, lines)?);
    }
    let eol = document.eol();
    if eol != "\n" {
        text = text.replace('\n', eol);
    }
    let own_lines = krm_yaml::lines_of_items(target).filter(|_| has_dashes);
    let at = if let Some((_, end)) = own_lines {
        end
    } else {
        let (key, end) = (target.after_key(), target.end().max(target.after_key()));
        edits.push(Edit { start: key, end, text: String::new() });
        next_line(document.text(), end)
    };
    if !ends_line(document.text(), at) {
        text.insert_str(0, eol);
    }
    edits.push(Edit::insert(at, text));
    Ok(())
}

/// The column of the dashes: that of the list, or as far from its key as in the first one with items,
/// however many are joined at a time. Items in brackets get the column of the key.
fn column_of(target: Cursor<'_>, lists: &[Cursor<'_>]) -> usize {
    let first = [target].into_iter().chain(lists.iter().copied()).find(has_items);
    let column = |list: &Cursor<'_>| list.document().column(list.start());
    let indentation = first.filter(|list| !list.is_flow()).and_then(|list| {
        let item = list.document().column(list.children().next()?.start());
        item.checked_sub(column(&list))
    });
    column(&target) + indentation.unwrap_or_default()
}

/// Whether there is a blank line between the first two items.
fn is_spaced(list: Cursor<'_>) -> bool {
    let mut items = list.children();
    let (Some(first), Some(second)) = (items.next(), items.next()) else {
        return false;
    };
    let document = list.document();
    let from = next_line(document.text(), first.end());
    let between = document.slice(from..document.line_start(second.start()));
    !list.is_flow() && between.lines().any(|line| line.trim().is_empty())
}

/// The lines of the items, with dashes at this column and `\n` at their ends.
fn items(list: Cursor<'_>, column: usize, lines: Lines) -> Result<String> {
    let document = list.document();
    let mut text = match krm_yaml::lines_of_items(list).filter(|_| !list.is_flow()) {
        Some((_, end)) if lines == Lines::Copied => {
            let start = after_blank_lines(document, next_line(document.text(), list.after_key()));
            let from = list.children().next().map_or(0, |item| document.column(item.start()));
            moved(document.slice(start..end), from, column)
        }
        _ => rendered(list, column)?,
    };
    if !ends_line(&text, text.len()) {
        text.push('\n');
    }
    Ok(text.replace("\r\n", "\n"))
}

/// The first line from `at` on that is not blank.
fn after_blank_lines(document: &Document, at: usize) -> usize {
    let rest = document.slice(at..document.text().len());
    let blank = rest.split_inclusive('\n').take_while(|line| line.trim().is_empty());
    at + blank.map(str::len).sum::<usize>()
}

fn rendered(list: Cursor<'_>, column: usize) -> Result<String> {
    let mut text = String::new();
    for item in list.children() {
        let value = item.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
        if let Some(value) = value {
            let position = Position::Item { column };
            text.push_str(&krm_yaml::render(list.document(), &value, position)?);
        }
    }
    Ok(text)
}

/// Moves lines from one column to another; empty lines stay empty.
fn moved(text: &str, from: usize, to: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if !line.trim_end_matches(['\r', '\n']).is_empty() {
            out.extend(std::iter::repeat_n(' ', to.saturating_sub(from)));
        }
        let taken = spaces.min(from.saturating_sub(to));
        out.push_str(line.get(taken..).unwrap_or_default());
    }
    out
}
