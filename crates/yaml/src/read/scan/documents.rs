//! Where documents begin and end.

use crate::read::scan::scanner::{Pending, Scanner, defers_documents};
use crate::table::{Slot, span};

impl Scanner<'_> {
    /// Whether `---`, `...` or a directive may begin here, in the first column.
    pub(super) fn is_marker(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.starts_with(b"---") || rest.starts_with(b"...") || rest.starts_with(b"%")
    }

    /// A `---` alone on its line.
    pub(super) fn marker(&mut self, at: usize) -> Option<usize> {
        let end = at + 3;
        if self.bytes.get(at..end)? != b"---" {
            return None;
        }
        if self.documents > 0 || !self.is_before_root() {
            self.end_document()?;
        }
        self.documents += 1;
        self.pending = Some(Pending { slot: Slot::ROOT, at: end });
        let line = self.ends(end)?;
        let is_first = self.table.roots.is_empty();
        if !is_first && defers_documents(self.long_lists) {
            return Some(self.deferred_document(line));
        }
        Some(line)
    }

    /// Skips a document up to the next marker: no scalar or collection can have one at the start of a
    /// line. An empty document is left to be read.
    fn deferred_document(&mut self, line: usize) -> usize {
        let rest = self.bytes.get(line..).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', rest).map(|newline| line + newline + 1);
        let lines = std::iter::once(line).chain(lines);
        let mut start = None;
        let mut end = self.bytes.len();
        for line in lines {
            if self.is_marker(line) {
                end = line;
                break;
            }
            let at = self.skip_indentation(line);
            if start.is_none() && !matches!(self.byte(at), None | Some(b'#' | b'\r' | b'\n')) {
                start = Some(at);
            }
        }
        let Some(start) = start else {
            return line;
        };
        self.pending = None;
        self.table.deferred(Slot::ROOT, span(start, end));
        self.end = end;
        self.continues = false;
        end
    }

    pub(super) fn is_before_root(&self) -> bool {
        self.pending.is_some_and(|pending| pending.slot.is_root())
    }

    /// Closes all collections. Gives up on empty documents.
    pub(super) fn end_document(&mut self) -> Option<()> {
        if self.is_before_root() {
            return None;
        }
        if let Some(pending) = self.pending {
            self.absent(pending);
        }
        while !self.blocks.is_empty() {
            self.close();
        }
        Some(())
    }
}
