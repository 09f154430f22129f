//! Nodes that can be read only one way, found without reading them.

use std::borrow::Cow;

use crate::diagnostic::Diagnostics;
use crate::read::document::Cursor;
use crate::read::values::{DuplicateKeys, Words, is_word};
use crate::scalar::data::Scalar;
use crate::scalar::{Style, is_non_finite};
use crate::table::{Flags, Kind, NodeId};
use crate::value::Value;

/// A node that is read without a message, and as the same value whatever the [`DuplicateKeys`] and
/// whether words are bools or texts. JSON can hold the value.
#[derive(Clone, Copy, Debug)]
pub struct Ordinary<'d>(Cursor<'d>);

impl<'d> Ordinary<'d> {
    /// The node, if a look at each part of it shows that it is ordinary.
    #[must_use]
    pub fn of(node: Cursor<'d>) -> Option<Self> {
        let is_ordinary = node.document.is_simple && node.has_ordinary_parts();
        debug_assert!(!is_ordinary || is_undisputed(node), "{:?}", node.raw());
        is_ordinary.then_some(Self(node))
    }

    /// The node.
    #[must_use]
    pub const fn cursor(self) -> Cursor<'d> {
        self.0
    }

    /// Its value.
    #[must_use]
    pub fn value(self) -> Value<'d> {
        self.0.ordinary_value()
    }
}

/// Whether the meanings of a node agree: the guard in debug builds.
fn is_undisputed(node: Cursor<'_>) -> bool {
    let diagnostics = &mut Diagnostics::new();
    let texts = node.value_with(DuplicateKeys::Refuse, Words::Texts, diagnostics);
    let bools = node.value_with(DuplicateKeys::Refuse, Words::Bools, diagnostics);
    texts.is_some() && texts == bools && diagnostics.iter().next().is_none()
}

impl<'d> Cursor<'d> {
    /// The value of an ordinary node, or of a part of one.
    pub(crate) fn ordinary_value(self) -> Value<'d> {
        let diagnostics = &mut Diagnostics::new();
        let duplicates = DuplicateKeys::Refuse;
        self.read(duplicates, Words::Texts, diagnostics).0
    }

    /// Whether all parts of a node that a fast path read are ordinary.
    fn has_ordinary_parts(self) -> bool {
        let ids = self.id.0..self.node().next;
        let nodes = self
            .document
            .nodes
            .get(ids.start as usize..ids.end as usize);
        let mut parts = ids.zip(nodes.unwrap_or_default());
        parts.all(|(id, node)| {
            let part = || self.document.cursor(NodeId(id));
            match node.kind {
                Kind::Scalar(_) if node.has(Flags::TEXT) => true,
                Kind::Scalar(style) => part().is_ordinary_scalar(style),
                Kind::Mapping => part().has_ordinary_keys(),
                Kind::Sequence => true,
                Kind::Alias | Kind::Deferred => false,
            }
        })
    }

    fn is_ordinary_scalar(self, style: Style) -> bool {
        match style {
            // Plain text can always be decoded.
            Style::Plain => {
                let text = self.raw();
                let may_be_word = text.len() <= LONGEST_WORD;
                !(may_be_word && is_word(text) || is_non_finite(text))
            }
            _ => matches!(self.scalar(), Ok(Some(Scalar::String(_)))),
        }
    }

    /// Whether the keys of a mapping are different strings, spelled as they are read.
    fn has_ordinary_keys(self) -> bool {
        self.keys_differ(Self::ordinary_key).unwrap_or_else(|| {
            let mut keys = self.children().map(Self::ordinary_key);
            keys.all(|key| key.is_some()) && self.has_distinct_keys()
        })
    }

    #[inline]
    fn ordinary_key(self) -> Option<&'d [u8]> {
        self.noted_key().or_else(|| self.unnoted_ordinary_key())
    }

    #[cold]
    fn unnoted_ordinary_key(self) -> Option<&'d [u8]> {
        match self.key().ok()? {
            // A word is read one way or the other.
            Cow::Borrowed(key) if !is_word(key) && !matches!(key, "true" | "false") => {
                Some(key.as_bytes())
            }
            _ => None,
        }
    }
}

/// The length of the longest text that is a [word](is_word).
const LONGEST_WORD: usize = "off".len();
