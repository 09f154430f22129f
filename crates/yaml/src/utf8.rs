//! Decodes bytes into a [`Source`].

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Result};
use crate::source::{Place, Source};

/// The source with the UTF-8 text in `bytes`, under the name that it is reported with.
///
/// ```
/// use krm_yaml::{Document, decode};
///
/// let source = decode("web.yaml", b"kind: Pod\n".to_vec())?;
/// assert_eq!(Document::parse(&source)?.text(), "kind: Pod\n");
///
/// let error = decode("web.yaml", b"name: caf\xe9\n".to_vec()).unwrap_err();
/// assert_eq!(error.message, "`web.yaml` is not UTF-8: byte 0xE9 at offset 9");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
///
/// # Errors
/// If the bytes are not UTF-8: with the offset of the first one that is not.
pub fn decode(name: impl Into<String>, bytes: Vec<u8>) -> Result<Arc<Source>> {
    let name = name.into();
    String::from_utf8(bytes)
        .map(|text| Source::new(name.clone(), text))
        .map_err(|error| not_utf8(name, &error))
}

fn not_utf8(name: String, error: &std::string::FromUtf8Error) -> Box<Diagnostic> {
    let offset = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let byte = bytes.get(offset).copied().unwrap_or_default();
    let valid = String::from_utf8_lossy(bytes.get(..offset).unwrap_or_default()).into_owned();
    let message = if utf16 {
        format!("`{name}` is UTF-16, expected UTF-8")
    } else {
        format!("`{name}` is not UTF-8: byte 0x{byte:02X} at offset {offset}")
    };
    let hint = if !utf16 && bytes.contains(&0) {
        "the file contains zero bytes: is it a text file?"
    } else {
        "save it as UTF-8"
    };
    Diagnostic::error(message)
        .at(Place { source: Source::new(name, valid), range: offset..offset })
        // Nothing tells whether the line holds a secret.
        .conceal(true)
        .hint(hint)
        .into()
}
