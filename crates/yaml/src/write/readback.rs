//! New scalars and entries of blocks, read back by themselves.
//!
//! How a line of a block is read depends only on the collections around it, if no scalar has
//! several lines. New lines that leave these collections as they were can be read alone, and so can
//! a scalar on the line of its key: the text around it need not be read again.

use crate::lines::byte_at;
use crate::read::characters::{DELETE, first_uncommon};
use crate::read::parts::EntryLine;
use crate::read::scan::{Memory, scan_into};
use crate::scalar;
use crate::scalar::data::{Scalar, Style};
use crate::table::{Flags, Kind, Node, Table};
use crate::value::{Data, Value};
use crate::words::is_printable_without;
use crate::write::emit::Layout;
use crate::write::rewrite::{Rewrite, is_shallow};

impl EntryLine {
    /// Writes an entry. `None` if it takes several lines, or a look at its line does not show that it
    /// holds the value.
    pub fn of(key: &str, value: Value<'static>) -> Option<Self> {
        let mut text = String::new();
        Layout::default().entry(&mut text, key, &value, 0);
        let mut memory = Memory::default();
        let is_read = match alone(&text, &mut memory)?.nodes.as_slice() {
            [root, entry] => {
                root.kind == Kind::Mapping && is_entry(&text, entry, Some(key), &value)
            }
            _ => false,
        };
        let key = key.to_owned();
        is_read.then_some(Self { key, value, text })
    }
}

impl Rewrite<'_> {
    /// Reads back a scalar that replaces another on the line of its key or dash, as the last edit
    /// does. A text that is a scalar after one dash is one after any dash or key.
    pub(super) fn read_back_scalar(&mut self, scalar: &Scalar<'_>) {
        let Some(edit) = self.edits.last().filter(|_| self.reads_back) else {
            return;
        };
        let is_read = is_clearly(&edit.text, scalar) || {
            let item = ["- ", &edit.text].concat();
            let table = alone(&item, &mut self.memory);
            table.is_some_and(|table| match table.nodes.as_slice() {
                [_, node] => holds(&item, node, scalar),
                _ => false,
            })
        };
        if is_read {
            self.note_scalar_read();
        }
    }

    /// Notes that the scalar of the last edit reads back in any such place, if nothing directly
    /// follows it.
    pub(super) fn note_scalar_read(&mut self) {
        let end = self.edits.last().map(|edit| edit.end);
        let after = end.and_then(|end| byte_at(self.document.text(), end));
        let is_apart = after.is_none_or(|byte| byte.is_ascii_whitespace());
        self.unread -= usize::from(self.reads_back && is_apart);
    }

    /// Removed lines of entries or items, as in the last edit, need not be read back if some
    /// entries or items of the collection stay.
    pub(super) fn read_back_removal(&mut self, start: usize, end: usize) {
        let text = self.document.text();
        let is_whole = text.get(..start).is_some_and(|before| before.ends_with('\n'))
            && text.get(..end).is_some_and(|until| until.ends_with('\n'));
        self.unread -= usize::from(self.reads_back && is_whole);
    }

    /// Reads back new entries of a mapping on lines of their own, as the last edit adds them.
    pub(super) fn read_back_entries<'v>(
        &mut self,
        parts: impl Iterator<Item = (Option<&'v str>, &'v Value<'v>)>,
    ) {
        let Some(edit) = self.edits.last().filter(|_| self.reads_back) else {
            return;
        };
        let lines = edit.text.as_str();
        // In an item, a mapping in a new entry is nested two levels deeper.
        let may_nest = is_shallow(self.document.cursor(self.top), 2);
        let is_read = alone(lines, &mut self.memory).is_some_and(|table| {
            let mut parts = parts;
            let is_mapping = table.nodes.first().map(|root| root.kind) == Some(Kind::Mapping);
            let end = parts.try_fold(1, |at, (key, value)| {
                let end = after_entry(lines, &table.nodes, at, key, value)?;
                (may_nest || end == at + 1).then_some(end)
            });
            is_mapping && end == Some(table.nodes.len())
        });
        self.unread -= usize::from(is_read);
    }
}

/// Whether a text is this scalar as the value of any block: in quotes without escapes, or plain and
/// without characters that could begin or end something else there.
pub(super) fn is_clearly(text: &str, scalar: &Scalar<'_>) -> bool {
    match text.as_bytes() {
        [quote @ (b'"' | b'\''), .., last] if quote == last => {
            let content = text.get(1..text.len() - 1).unwrap_or_default();
            let is_meant = matches!(scalar, Scalar::String(meant) if meant == content);
            is_meant && is_printable_without(content, [*quote, b'\\'])
        }
        _ => is_plain(text) && scalar::resolve(text) == *scalar,
    }
}

/// Whether a quick look shows that a text is written as it is, and read as itself, as the value of
/// any block.
pub(super) fn stays_itself(text: &str) -> bool {
    is_plain(text) && !scalar::may_be_typed(text)
}

/// Whether a quick look shows that a text is one plain scalar as the value of any block.
fn is_plain(text: &str) -> bool {
    let first = text.as_bytes().first();
    // A `: ` ends a key, and a ` #` begins a comment.
    first.is_some_and(|first| first.is_ascii_alphanumeric() || b"$/_".contains(first))
        && (is_printable_without(text, [b':', b'#']) || is_printable_without(text, [b' ', b'#']))
        && !text.ends_with([' ', ':'])
}

/// The nodes of a text without what is around it.
fn alone<'m>(text: &str, memory: &'m mut Memory) -> Option<&'m Table> {
    let content = text.strip_suffix('\n').unwrap_or(text);
    let is_common =
        is_printable_without(content, [DELETE]) || first_uncommon(content.as_bytes()).is_none();
    is_common.then(|| scan_into(text, memory)).flatten()
}

/// Whether a node of a text has this key and this scalar.
fn is_entry(text: &str, node: &Node, key: Option<&str>, value: &Value<'_>) -> bool {
    let own = node.key_text().and_then(|own| text.get(own));
    match &value.data {
        Data::Scalar(scalar) => own.is_some() && own == key && holds(text, node, scalar),
        Data::Sequence(_) | Data::Mapping(_) => false,
    }
}

/// The index after the entry at `at`, if that has this key, and this scalar or mapping of scalars.
fn after_entry(
    text: &str,
    nodes: &[Node],
    at: usize,
    key: Option<&str>,
    value: &Value<'_>,
) -> Option<usize> {
    let node = nodes.get(at)?;
    let Data::Mapping(entries) = &value.data else {
        return is_entry(text, node, key, value).then_some(at + 1);
    };
    let own = node.key_text().and_then(|own| text.get(own));
    let is_block = node.kind == Kind::Mapping && !node.has(Flags::FLOW);
    (is_block && own.is_some() && own == key).then_some(())?;
    let end = entries.iter().try_fold(at + 1, |at, (key, value)| {
        is_entry(text, nodes.get(at)?, Some(key), value).then_some(at + 1)
    })?;
    (end == node.next as usize).then_some(end)
}

/// Whether a node of a text is this scalar. False if that takes more than a look.
fn holds(text: &str, node: &Node, scalar: &Scalar<'_>) -> bool {
    let slice = |range| text.get(range).unwrap_or_default();
    match (node.value_text(), scalar) {
        (Some(range), Scalar::String(meant)) => slice(range) == meant,
        (None, _) if node.kind == Kind::Scalar(Style::Plain) && !node.value.is_empty() => {
            scalar::resolve(slice(node.value.range())) == *scalar
        }
        _ => false,
    }
}
