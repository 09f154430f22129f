//! Long lists read item by item: one table for the whole text, with the extent of each item, and
//! one table for each opened item.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::diagnostic::{Diagnostics, Result};
use crate::read::document::{Cursor, Document};
use crate::read::json;
use crate::read::scan::{self, LongLists, defers_documents, scan_item};
use crate::read::text::{check_text, is_json};
use crate::source::Source;
use crate::table::{Kind, NodeId};

impl Document {
    /// Reads a text; if a fast path can read it, only the extents of the items of `lists` are read.
    /// [Open](Cursor::open) such an item to read it: its table needs memory only while it is in
    /// use.
    ///
    /// An item may turn out to need the full path. So use what you read only after
    /// [`upgrade`](Self::upgrade) returns `None`.
    ///
    /// # Errors
    /// If the text is not YAML, as far as it is read.
    pub fn open(source: &Arc<Source>, lists: LongLists) -> Result<Self> {
        let characters = check_text(source)?;
        let text = source.text();
        let table = match (is_json(text), defers_documents(lists)) {
            (false, _) => scan::scan_shallowly(text, characters, lists),
            (true, true) => json::scan_shallowly(text, characters),
            (true, false) => None,
        };
        if let Some(table) = table {
            let mut document = Self::new(source, table);
            document.deferred.characters = characters;
            let opened = &mut document.deferred.opened;
            opened.resize_with(document.nodes.len(), AtomicBool::default);
            return Ok(document);
        }
        Self::parse_checked(source, characters)
    }

    /// Opens all items that were not opened yet. If one needs the full path, returns the document
    /// read as a whole: then what was read from this one may be wrong, because text in quotes may
    /// go on left of its item. Read it again from the new one, which needs no upgrade.
    ///
    /// # Errors
    /// If the text is not YAML.
    pub fn upgrade(&self) -> Result<Option<Self>> {
        if self.is_sound() {
            return Ok(None);
        }
        Self::parse(&self.source).map(Some)
    }

    /// [Opens](Self::open) several texts.
    ///
    /// # Errors
    /// If a text is not YAML; with the errors of all texts.
    pub fn open_all(
        sources: &[Arc<Source>],
        lists: LongLists,
    ) -> Result<Vec<Arc<Self>>, Diagnostics> {
        let opened = sources.iter();
        let opened = opened.map(|one| Self::open(one, lists).map(Arc::new));
        let opened: Result<Vec<_>> = opened.collect();
        opened.map_err(|_| errors(sources.iter()))
    }

    /// [Upgrades](Self::upgrade) each document that needs it, in its place. Returns whether one did:
    /// then what was read from the documents does not count.
    ///
    /// # Errors
    /// If a text is not YAML; with the errors of all texts.
    pub fn upgrade_all(documents: &mut [Arc<Self>]) -> Result<bool, Diagnostics> {
        let upgraded: Result<Vec<_>> = documents.iter().map(|one| one.upgrade()).collect();
        let Ok(upgraded) = upgraded else {
            return Err(errors(documents.iter().map(|one| one.source())));
        };
        let mut is_upgraded = false;
        for (document, whole) in documents.iter_mut().zip(upgraded) {
            if let Some(whole) = whole {
                *document = Arc::new(whole);
                is_upgraded = true;
            }
        }
        Ok(is_upgraded)
    }

    /// The table of one item of a long list, and its node there; `None` if it needs the full path.
    fn part(&self, id: NodeId) -> Option<(Self, NodeId)> {
        let node = self.node(id);
        let characters = self.deferred.characters;
        let has_dash = node.key.start < node.key.end;
        let table = if self.is_json {
            json::scan_item(self.text(), characters, node.value.range())
        } else {
            let start = self.line_start(node.entry as usize);
            scan_item(self.text(), characters, start..node.value.end as usize)
        };
        if let Some(opened) = self.deferred.opened.get(id.0 as usize) {
            opened.store(true, Relaxed);
        }
        let Some(table) = table else {
            self.deferred.failed.store(true, Relaxed);
            return None;
        };
        let id = if has_dash { ITEM } else { NodeId(0) };
        Some((Self::new(&self.source, table), id))
    }

    /// Whether each deferred item can be read by itself. Otherwise [upgrade](Self::upgrade).
    pub fn is_sound(&self) -> bool {
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

/// The errors of all texts that are not YAML.
fn errors<'s>(sources: impl Iterator<Item = &'s Arc<Source>>) -> Diagnostics {
    let mut errors = Diagnostics::new();
    for source in sources {
        errors.take(Document::parse(source));
    }
    errors
}

/// A node with all nodes in it. The table of a document may have only the extent of each item of a
/// long list; such an item becomes a document of its own when it is opened.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Opened};
///
/// let text = "items:\n- kind: Pod\n- kind: Service\n";
/// let document = Document::open(&Source::new("list.yaml", text), &[&["items"]])?;
/// let item = document.roots().next().and_then(|root| root.lookup(&"items[1]".parse().ok()?));
/// let item = item.expect("an item").open();
/// assert!(matches!(item, Opened::Part(..)));
/// assert_eq!(item.cursor().text_at(["kind"]).as_deref(), Some("Service"));
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
pub enum Opened<'d> {
    /// The node is in the table of its document.
    Here(Cursor<'d>),
    /// The node has a table of its own, of the same text.
    Part(Box<Document>, NodeId),
}

/// The item of a list in a table of its own, whose root is a list of this one item.
const ITEM: NodeId = NodeId(1);

impl Opened<'_> {
    /// The node in its table: that of the document, or its own.
    pub fn cursor(&self) -> Cursor<'_> {
        match self {
            Self::Here(cursor) => *cursor,
            Self::Part(document, id) => document.cursor(*id),
        }
    }
}

impl<'d> Cursor<'d> {
    /// The node with all that is in it.
    pub fn open(self) -> Opened<'d> {
        if self.node().kind != Kind::Deferred {
            return Opened::Here(self);
        }
        match self.document.part(self.id) {
            Some((part, id)) => Opened::Part(Box::new(part), id),
            None => Opened::Here(self),
        }
    }
}
