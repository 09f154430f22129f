//! The files that `validate` reads.

use std::sync::Arc;

use krm_yaml::source::Source;

/// A file that was read.
pub(super) struct File {
    pub(super) path: String,
    pub(super) source: Arc<Source>,
    /// Whether the arguments name it.
    pub(super) is_named: bool,
    /// Whether a Composition was built with it.
    pub(super) is_composed: bool,
}
