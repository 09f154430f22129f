//! The files that `validate` reads.

use std::sync::Arc;

use krm_template_engine::env_file;
use krm_yaml::Document;
use krm_yaml::diagnostic::Result;
use krm_yaml::source::Source;

/// A file that is checked.
pub struct File {
    pub(super) path: String,
    pub(super) document: Result<Arc<Document>>,
    pub(super) source: Arc<Source>,
    /// Whether the arguments name it.
    pub(super) is_named: bool,
    /// Whether an option names it as one with values.
    pub(super) has_values: bool,
    /// Whether a Composition was built with it.
    pub(super) is_composed: bool,
}

impl File {
    /// Parses a file. Whether the arguments name it decides what is reported of it.
    pub fn parse(path: String, source: Arc<Source>, is_named: bool) -> Self {
        let document = Document::parse(&source).map(Arc::new);
        Self { path, document, source, is_named, has_values: false, is_composed: false }
    }

    /// Tells whether it is a file of values, whatever kind it names. Lines with `NAME=VALUE` are not
    /// read.
    #[must_use]
    pub fn with_values(self, has_values: bool) -> Self {
        let has_values = has_values && !env_file::has_lines(self.source.text());
        Self { has_values, ..self }
    }
}
