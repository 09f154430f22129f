//! Entity tags of documents that only change with the program.

use std::fmt::Write as _;

use sha2::{Digest, Sha512};

/// Returns the SHA-512 hash of a document in uppercase hexadecimal digits.
pub(crate) fn of(document: &[u8]) -> String {
    Sha512::digest(document).iter().fold(String::with_capacity(128), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// Returns `true` if `If-None-Match` matches the entity tag (RFC 9110, section 13.1.2).
pub(crate) fn is_known(tag: &str, if_none_match: Option<&str>) -> bool {
    if_none_match.unwrap_or_default().split(',').map(str::trim).any(|known| {
        let known = known.strip_prefix("W/").unwrap_or(known);
        known == "*"
            || known.strip_prefix('"').and_then(|known| known.strip_suffix('"')) == Some(tag)
    })
}
