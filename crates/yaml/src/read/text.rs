//! Checks of a text before it is read, and the choice of the fast path.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Result};
use crate::limits::MAX_LENGTH;
use crate::read::characters::{Characters, DELETE, first_forbidden, first_uncommon};
use crate::read::json;
use crate::read::scan;
use crate::source::{Place, Source};
use crate::table::Table;

/// The table, if a fast path can read the text.
pub(crate) fn fast(text: &str, characters: Characters) -> Option<Table> {
    if is_json(text) { json::scan(text, characters) } else { scan::scan(text, characters) }
}

/// Whether a text that a fast path reads is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    let first = text.trim_start_matches('\u{feff}').trim_ascii_start();
    first.starts_with(['{', '['])
}

/// Refuses texts that no YAML reader of Kubernetes accepts, in any context.
pub(crate) fn check_text(source: &Arc<Source>) -> Result<Characters> {
    check_length(source, MAX_LENGTH)?;
    let text = source.text();
    // Most texts need no other search.
    let Some(uncommon) = first_uncommon(text.as_bytes()) else {
        return Ok(Characters::Common);
    };
    let Some(at) = first_forbidden(text.as_bytes(), uncommon) else {
        return Ok(Characters::Any);
    };
    let byte = text.as_bytes().get(at).copied().unwrap_or_default();
    if byte == DELETE && is_json(text) && json::scan(text, Characters::Any).is_some() {
        // JSON strings may have it, and no other control character.
        return Ok(Characters::Any);
    }
    let place = Place { source: Arc::clone(source), range: at..at + 1 };
    let message = format!("control character U+{byte:04X} is not allowed in YAML");
    Err(Diagnostic::error(message)
        .at(place)
        .hint(if byte == 0 && at == 1 {
            "the text looks like UTF-16: save it as UTF-8".to_owned()
        } else {
            format!("in a double-quoted string, write it as `\\x{byte:02X}`")
        })
        .into())
}

/// Refuses a text of more than `limit` bytes.
pub(crate) fn check_length(source: &Source, limit: usize) -> Result<()> {
    let length = source.text().len();
    if length <= limit {
        return Ok(());
    }
    let name = source.name();
    let message =
        format!("`{name}` is {length} bytes long, more than the {limit} that can be read");
    Err(Diagnostic::error(message).into())
}
