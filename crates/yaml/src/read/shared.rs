//! A node that keeps its document, without a lifetime.

use std::sync::Arc;

use crate::read::document::{Cursor, Document};
use crate::read::open::Opened;
use crate::table::NodeId;

/// A node that keeps its document: for data that outlives the code that reads it, or is used by
/// several threads.
///
/// ```
/// use std::sync::Arc;
///
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, SharedNode};
///
/// fn objects(text: &str) -> krm_yaml::diagnostic::Result<Vec<SharedNode>> {
///     let document = Arc::new(Document::parse(&Source::new("all.yaml", text))?);
///     Ok(SharedNode::roots(&document).collect())
/// }
///
/// let objects = objects("kind: Pod\n---\nkind: Service\n")?;
/// let kind = std::thread::spawn(move || objects[1].cursor().text_at(["kind"]).map(String::from));
/// assert_eq!(kind.join().expect("no panic").as_deref(), Some("Service"));
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedNode {
    document: Arc<Document>,
    id: NodeId,
}

impl SharedNode {
    /// The node `id`, which must be of this document.
    #[must_use]
    pub fn new(document: &Arc<Document>, id: NodeId) -> Self {
        Self { document: Arc::clone(document), id }
    }

    /// The documents of the stream that are not empty, by their root node.
    pub fn roots(document: &Arc<Document>) -> impl Iterator<Item = Self> {
        document.roots().map(|root| Self::new(document, root.id()))
    }

    /// Another node of the same document.
    #[must_use]
    pub fn with(&self, id: NodeId) -> Self {
        Self::new(&self.document, id)
    }

    /// A cursor that borrows the document.
    pub fn cursor(&self) -> Cursor<'_> {
        self.document.cursor(self.id)
    }

    /// The document it belongs to.
    pub const fn document(&self) -> &Arc<Document> {
        &self.document
    }

    /// The node with all that is in it, as [`Cursor::open`].
    #[must_use]
    pub fn open(&self) -> Self {
        match self.cursor().open() {
            Opened::Here(_) => self.clone(),
            Opened::Part(document, id) => Self { id, document: document.into() },
        }
    }
}
