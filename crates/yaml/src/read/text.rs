//! Checks of a text before it is read, and the choice of the fast path.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Result};
use crate::limits::MAX_LENGTH;
use crate::read::json;
use crate::read::scan;
use crate::source::{Place, Source};
use crate::table::Table;

/// The table, if a fast path can read the text.
pub(crate) fn fast(text: &str) -> Option<Table> {
    if is_json(text) {
        json::scan(text)
    } else {
        scan::scan(text)
    }
}

/// Whether a text that a fast path reads is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    let first = text.trim_start_matches('\u{feff}').trim_ascii_start();
    first.starts_with(['{', '['])
}

/// Refuses texts that no YAML reader of Kubernetes accepts, in any context.
pub(crate) fn check_text(source: &Arc<Source>) -> Result<()> {
    check_length(source, MAX_LENGTH)?;
    let text = source.text();
    let Some(at) = forbidden(text.as_bytes()) else {
        return Ok(());
    };
    let byte = text.as_bytes().get(at).copied().unwrap_or_default();
    if byte == DELETE && is_json(text) && json::scan(text).is_some() {
        // JSON strings may have it, and no other control character.
        return Ok(());
    }
    let place = Place {
        source: Arc::clone(source),
        range: at..at + 1,
    };
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

/// The control character after those that are printed.
const DELETE: u8 = 0x7f;

/// The first control character that is neither a tab nor part of a line break.
fn forbidden(bytes: &[u8]) -> Option<usize> {
    /// So many bytes are looked at together, which the compiler turns into a few instructions.
    const BLOCK: usize = 128;
    let is_forbidden = |byte: u8| {
        (byte < 0x20 && byte != b'\t' && byte != b'\n' && byte != b'\r') || byte == DELETE
    };
    let block = bytes.chunks(BLOCK).position(|block| {
        block
            .iter()
            .fold(false, |any, &byte| any | is_forbidden(byte))
    })?;
    let rest = bytes.get(block * BLOCK..)?;
    rest.iter()
        .position(|&byte| is_forbidden(byte))
        .map(|at| block * BLOCK + at)
}
