//! The files that `validate` reads.

use std::sync::Arc;

use krm_yaml::diagnostic::Result;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document};

/// A file that was read.
pub(super) struct File {
    pub(super) path: String,
    pub(super) document: Result<Arc<Document>>,
    pub(super) source: Arc<Source>,
    /// Whether the arguments name it.
    pub(super) is_named: bool,
    /// Whether a Composition was built with it.
    pub(super) is_composed: bool,
}

impl File {
    pub(super) fn parse(path: String, source: Arc<Source>, is_named: bool) -> Self {
        let document = Document::parse(&source).map(Arc::new);
        Self { path, document, source, is_named, is_composed: false }
    }

    /// The documents; none of a file that is not YAML or JSON.
    pub(super) fn roots(&self) -> impl Iterator<Item = Cursor<'_>> {
        self.document.iter().flat_map(|document| document.roots())
    }
}
