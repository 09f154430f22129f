//! Reads printed objects again.

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, DuplicateKeys, Value};

/// The objects of a stream.
pub(super) fn read(text: &str) -> Vec<Value<'static>> {
    let document = Document::parse(&Source::new("output", text))
        .unwrap_or_else(|error| panic!("{text:?}: {}", error.message));
    let value = |root: Cursor<'_>| {
        let mut diagnostics = Diagnostics::new();
        let value = root.value(DuplicateKeys::Refuse, &mut diagnostics);
        value.map_or_else(|| panic!("{text:?}: {diagnostics:?}"), Value::into_owned)
    };
    document.roots().map(value).collect()
}
