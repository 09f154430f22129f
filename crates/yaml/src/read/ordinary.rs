//! Nodes that can be read only one way, found without reading them.

use std::borrow::Cow;

use crate::diagnostic::Diagnostics;
use crate::read::document::Cursor;
use crate::read::keys::Marks;
use crate::read::values::{DuplicateKeys, Words, is_word};
use crate::scalar::data::Scalar;
use crate::scalar::{Style, is_non_finite};
use crate::table::{Flags, Kind, NodeId};
use crate::value::Value;

/// A node that is read without a message, and as the same value whatever the [`DuplicateKeys`] and
/// whether words are bools or texts. JSON can hold the value.
#[derive(Clone, Copy, Debug)]
pub struct Ordinary<'d> {
    node: Cursor<'d>,
    /// Whether a scalar in it has several lines.
    has_lines: bool,
}

impl<'d> Ordinary<'d> {
    /// The node, if a look at each part of it shows that it is ordinary.
    pub fn of(node: Cursor<'d>) -> Option<Self> {
        node.document.is_simple.then_some(())?;
        let has_lines = node.look_at_parts()?;
        debug_assert!(is_undisputed(node), "{:?}", node.raw());
        Some(Self { node, has_lines })
    }

    /// A cursor to the same node.
    pub const fn cursor(self) -> Cursor<'d> {
        self.node
    }

    /// Whether a scalar in it has several lines.
    pub(crate) const fn has_lines(self) -> bool {
        self.has_lines
    }

    /// Reads the node, without any message.
    pub fn value(self) -> Value<'d> {
        self.node.ordinary_value()
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

    /// Looks at the parts of a node that a fast path read, and returns whether a scalar has several
    /// lines. `None` if not all parts are ordinary.
    fn look_at_parts(self) -> Option<bool> {
        let document = self.document;
        let ids = self.id.0..self.node().next;
        let nodes = document.nodes.get(ids.start as usize..ids.end as usize)?;
        let mut any_has_lines = false;
        for (id, node) in ids.zip(nodes) {
            let part = document.cursor(NodeId(id));
            match node.kind {
                Kind::Scalar(_) if node.has(Flags::TEXT) => {}
                Kind::Scalar(style) => {
                    any_has_lines |= part.has_lines();
                    part.is_ordinary_scalar(style).then_some(())?;
                }
                Kind::Mapping => part.has_ordinary_keys().then_some(())?,
                Kind::Sequence => {}
                Kind::Alias | Kind::Deferred => return None,
            }
        }
        Some(any_has_lines)
    }

    /// Whether the keys of a mapping are ordinary and distinct.
    fn has_ordinary_keys(self) -> bool {
        let mut marks = Marks::default();
        let mut may_repeat = false;
        for entry in self.document.children(self.id) {
            let key = entry.noted_key();
            let Some(key) = key.or_else(|| entry.unnoted_ordinary_key()) else {
                return false;
            };
            may_repeat |= marks.add(key);
        }
        !may_repeat || self.has_distinct_keys()
    }

    fn is_ordinary_scalar(self, style: Style) -> bool {
        match style {
            // Plain text can always be decoded.
            Style::Plain => {
                let text = self.raw();
                let may_be_word = text.len() <= LONGEST_WORD;
                let is_digit = text.starts_with(|first: char| first.is_ascii_digit());
                is_digit || !(may_be_word && is_word(text) || is_non_finite(text))
            }
            _ => matches!(self.scalar(), Ok(Some(Scalar::String(_)))),
        }
    }

    /// The key of an entry, if it is a string that is spelled as it is read, though that is not noted.
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
