//! New scalars and entries of blocks, read back on their own lines.
//!
//! How a line of a block is read depends only on the collections around it, if no scalar has
//! several lines. New text on whole lines that leaves these collections as they were can be read
//! alone, and the lines around it need not be read again.

use crate::lines::line_end;
use crate::read::characters::DELETE;
use crate::read::scan::{Memory, scan_into};
use crate::scalar;
use crate::scalar::data::{Scalar, Style};
use crate::table::{Kind, Node, NodeId, Table};
use crate::value::{Data, Value};
use crate::words::is_printable_without;
use crate::write::rewrite::Rewrite;

/// Reads new lines back. What it needs is allocated once.
#[derive(Default)]
pub(super) struct ReadBack {
    line: String,
    memory: Memory,
}

impl ReadBack {
    /// The nodes of lines without those around them.
    fn alone(&mut self) -> Option<(&str, &Table)> {
        let mut lines = self.line.split('\n');
        lines
            .all(|line| is_printable_without(line, [DELETE]))
            .then_some(())?;
        Some((&self.line, scan_into(&self.line, &mut self.memory)?))
    }

    /// Puts a line together.
    fn set(&mut self, pieces: [&str; 3]) {
        /// Most lines are shorter.
        const LENGTH: usize = 128;
        self.line.clear();
        self.line.reserve(LENGTH);
        for piece in pieces {
            self.line.push_str(piece);
        }
    }
}

impl Rewrite<'_> {
    /// Reads back a scalar that takes the place of another on the line of its key or dash, as the
    /// last edit does.
    pub(super) fn read_back_scalar(&mut self, id: NodeId, scalar: &Scalar<'_>) {
        let document = self.document;
        let node = document.node(id);
        let Some(edit) = self.edits.last().filter(|_| self.reads_back) else {
            return;
        };
        let start = document.line_start(node.entry as usize);
        let end = line_end(document.text(), edit.end);
        let (before, after) = (start..edit.start, edit.end..end);
        let line = [document.slice(before), &edit.text, document.slice(after)];
        let is_on_line = |id: &u32| document.node(NodeId(*id)).entry as usize >= start;
        let first = (0..=id.0)
            .rev()
            .take_while(is_on_line)
            .last()
            .unwrap_or(id.0);
        // Alone, the line is a document, and begins with the collection that these nodes are in.
        let is_root = document.node(NodeId(first)).key.is_empty();
        let count = (id.0 - first) as usize + if is_root { 1 } else { 2 };
        self.read_back.set(line);
        let is_read = self.read_back.alone().is_some_and(|(line, table)| {
            let last = table.nodes.last().filter(|_| table.nodes.len() == count);
            last.is_some_and(|last| last.key_kind == node.key_kind && holds(line, last, scalar))
        });
        self.unread -= usize::from(is_read);
    }

    /// Whole lines of entries or items that are taken out, as the last edit does, need no reading: some
    /// of the collection stay.
    pub(super) fn read_back_removal(&mut self, start: usize, end: usize) {
        let text = self.document.text();
        let is_whole = text
            .get(..start)
            .is_some_and(|before| before.ends_with('\n'))
            && text.get(..end).is_some_and(|until| until.ends_with('\n'));
        self.unread -= usize::from(self.reads_back && is_whole);
    }

    /// Reads back new entries of a mapping on lines of their own, as the last edit adds them.
    pub(super) fn read_back_entries(&mut self, value: &Value<'_>, indexes: &[usize]) {
        let Some(edit) = self.edits.last().filter(|_| self.reads_back) else {
            return;
        };
        self.read_back.set([&edit.text, "", ""]);
        let is_read = self.read_back.alone().is_some_and(|(lines, table)| {
            let Some((root, entries)) = table.nodes.split_first() else {
                return false;
            };
            let parts = indexes.iter().map(|index| value.part(*index));
            let mut pairs = entries.iter().zip(parts);
            root.kind == Kind::Mapping
                && entries.len() == indexes.len()
                && pairs.all(|(entry, part)| is_entry(lines, entry, part))
        });
        self.unread -= usize::from(is_read);
    }
}

/// Whether a node of a text has this key and this scalar.
fn is_entry(text: &str, node: &Node, part: Option<(Option<&str>, &Value<'_>)>) -> bool {
    let key = node.key_text().and_then(|key| text.get(key));
    match part {
        Some((own @ Some(_), value)) if own == key => match &value.data {
            Data::Scalar(scalar) => holds(text, node, scalar),
            Data::Sequence(_) | Data::Mapping(_) => false,
        },
        _ => false,
    }
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
