//! Style sheets and scripts, each with a hash for its address.

use std::sync::LazyLock;

use krm_core::visible::hex;
use krm_template_authoring::form;
use sha2::{Digest as _, Sha256};

/// A file that pages load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asset {
    /// The media type with its charset.
    pub content_type: &'static str,
    /// The content, built into the program.
    pub text: &'static str,
    /// The beginning of the SHA-256 hash.
    pub hash: &'static str,
}

const FILES: [(&str, &str, &str); 4] = [
    ("style.css", "text/css; charset=utf-8", form::STYLE),
    ("page.css", "text/css; charset=utf-8", include_str!("assets/page.css")),
    ("page.js", "text/javascript; charset=utf-8", include_str!("assets/page.js")),
    ("controls.js", "text/javascript; charset=utf-8", form::CONTROLS),
];

/// The hashes of [`FILES`], in the same order.
pub(super) static HASHES: LazyLock<[String; 4]> = LazyLock::new(|| {
    FILES.map(|(_, _, text)| {
        let digest = Sha256::digest(text);
        hex(digest.get(..8).unwrap_or_default())
    })
});

/// Returns the file with a name.
pub(crate) fn asset(name: &str) -> Option<Asset> {
    let mut files = FILES.iter().zip(HASHES.iter());
    let ((_, content_type, text), hash) = files.find(|((known, ..), _)| *known == name)?;
    Some(Asset { content_type, text, hash })
}
