//! Long lists read item by item: a table of the whole with the extent of each item, and one a item.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::diagnostic::{Diagnostics, Result};
use crate::read::document::{Cursor, Document};
use crate::read::scan::{self, LongLists, scan_item};
use crate::read::text::{check_text, is_json};
use crate::source::Source;
use crate::table::{Kind, NodeId};

impl Document {
    /// Calls `read` with the document of `source`. `read` must [open](Cursor::open) the items of
    /// long lists: each item has a table of its own, which needs memory only while it is in use. If
    /// an item turns out to need the full path, `read` is called again with a document that is read
    /// as a whole.
    ///
    /// # Errors
    /// If the text is not YAML.
    pub fn read_with<T>(
        source: &Arc<Source>,
        lists: LongLists,
        read: impl Fn(&Self) -> T,
    ) -> Result<T> {
        let document = Self::open(source, lists)?;
        let result = read(&document);
        if document.is_sound() {
            return Ok(result);
        }
        drop(document);
        Self::parse(source).map(|document| read(&document))
    }

    /// As [`read_with`](Self::read_with), for several texts at once. If an item of any text needs
    /// the full path, `read` is called a second time, with all texts read as a whole.
    ///
    /// # Errors
    /// If a text is not YAML; with the errors of all texts.
    pub fn read_all_with<T>(
        sources: &[Arc<Source>],
        lists: LongLists,
        read: impl Fn(&[Self]) -> T,
    ) -> Result<T, Diagnostics> {
        let opened: Result<Vec<Self>> = sources
            .iter()
            .map(|source| Self::open(source, lists))
            .collect();
        if let Ok(documents) = opened {
            let result = read(&documents);
            if documents.iter().all(Self::is_sound) {
                return Ok(result);
            }
        }
        let mut errors = Diagnostics::new();
        let parsed = sources.iter().map(Self::parse);
        let documents: Vec<Self> = parsed.filter_map(|one| errors.take(one)).collect();
        if errors.has_errors() {
            return Err(errors);
        }
        Ok(read(&documents))
    }

    /// Reads a text; if a fast path can read it, only the extents of the items of its long lists.
    fn open(source: &Arc<Source>, lists: LongLists) -> Result<Self> {
        check_text(source)?;
        if !is_json(source.text())
            && let Some(table) = scan::scan_shallowly(source.text(), lists)
        {
            let mut document = Self::new(source, table);
            let opened = &mut document.deferred.opened;
            opened.resize_with(document.nodes.len(), AtomicBool::default);
            return Ok(document);
        }
        Self::parse(source)
    }

    /// The table of one item of a long list; `None` if it needs the full path.
    fn part(&self, id: NodeId) -> Option<Self> {
        let node = self.node(id);
        let start = self.line_start(node.entry as usize);
        let table = scan_item(self.text(), start..node.value.end as usize);
        if let Some(opened) = self.deferred.opened.get(id.0 as usize) {
            opened.store(true, Relaxed);
        }
        let Some(table) = table else {
            self.deferred.failed.store(true, Relaxed);
            return None;
        };
        Some(Self::new(&self.source, table))
    }

    /// Whether the table is right: all deferred items can be read.
    pub(crate) fn is_sound(&self) -> bool {
        let is_opened = |id: usize| {
            let opened = self.deferred.opened.get(id);
            opened.is_some_and(|opened| opened.load(Relaxed))
        };
        let opens = |id| u32::try_from(id).is_ok_and(|id| self.part(NodeId(id)).is_some());
        let mut nodes = self.nodes.iter().enumerate();
        !self.deferred.failed.load(Relaxed)
            && nodes.all(|(id, node)| node.kind != Kind::Deferred || is_opened(id) || opens(id))
    }
}

/// A node with all nodes in it. The table of a document may have only the extent of each item of a
/// long list; such an item becomes a document of its own when it is opened.
pub enum Opened<'d> {
    /// The node is in the table of its document.
    Here(Cursor<'d>),
    /// The node has a table of its own, of the same text.
    Part(Box<Document>),
}

impl Opened<'_> {
    /// The node.
    #[must_use]
    pub fn cursor(&self) -> Cursor<'_> {
        match self {
            Self::Here(cursor) => *cursor,
            // The root is a list of this one item.
            Self::Part(document) => document.cursor(NodeId(1)),
        }
    }
}

impl<'d> Cursor<'d> {
    /// The node with all that is in it.
    #[must_use]
    pub fn open(self) -> Opened<'d> {
        if self.node().kind != Kind::Deferred {
            return Opened::Here(self);
        }
        match self.document.part(self.id) {
            Some(part) => Opened::Part(Box::new(part)),
            None => Opened::Here(self),
        }
    }
}
