//! Keys and scalars of nodes, as Kubernetes reads them.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use crate::diagnostic::{Diagnostic, Result};
use crate::read::document::Cursor;
use crate::scalar;
use crate::scalar::data::{Scalar, Style};
use crate::source::Place;
use crate::table::{Flags, KeyKind, Kind, NodeId};
use crate::words;

impl<'d> Cursor<'d> {
    /// The key of a mapping entry, as Kubernetes reads it: `n: x` has the key `false`.
    ///
    /// # Errors
    /// If the key is a collection, or its escapes are malformed.
    #[inline]
    pub fn key(self) -> Result<Cow<'d, str>> {
        match self.node().key_text() {
            Some(text) => Ok(Cow::Borrowed(self.document.slice(text))),
            None => self.unnoted_key(),
        }
    }

    fn unnoted_key(self) -> Result<Cow<'d, str>> {
        let node = self.node();
        if let KeyKind::Scalar(style) = node.key_kind
            && node.entry == node.key.start
            && let Some(text) = literally(self.document.slice(node.key.range()), style)
            && (style != Style::Plain || matches!(scalar::resolve(text), Scalar::String(_)))
        {
            return Ok(Cow::Borrowed(text));
        }
        self.key_slowly()
    }

    #[cold]
    fn key_slowly(self) -> Result<Cow<'d, str>> {
        let node = self.node();
        match node.key_kind {
            KeyKind::None => Ok(Cow::Borrowed("")),
            KeyKind::Scalar(_) => self.scalar_key(),
            KeyKind::Alias => match self.key_target().map(Self::text) {
                Some(Ok(Some(text))) => Ok(text),
                _ => Err(self.complex_key()),
            },
            KeyKind::Complex => Err(self.complex_key()),
        }
    }

    /// Whether the entry is a merge key.
    pub fn is_merge_key(self) -> bool {
        let node = self.node();
        node.key_kind == KeyKind::Scalar(Style::Plain)
            && !node.has(Flags::KEY_TEXT)
            && self.document.slice(node.key.range()) == "<<"
    }

    /// The key as it is written, without its quotes: `n: x` has the key `n`.
    ///
    /// # Errors
    /// If the key is a collection, or its escapes are malformed.
    pub fn key_text(self) -> Result<Cow<'d, str>> {
        let node = self.node();
        match node.key_kind {
            KeyKind::Scalar(style) => {
                let raw = self.document.slice(node.key.range());
                self.decode(raw, style, node.key.start)
            }
            _ => self.key(),
        }
    }

    /// The node that an alias used as a key refers to.
    pub(crate) fn key_target(self) -> Option<Self> {
        let targets = &self.document.key_targets;
        let at = targets.binary_search_by_key(&self.id.0, |(entry, _)| *entry);
        let (_, target) = targets.get(at.ok()?)?;
        Some(self.document.cursor(NodeId(*target)))
    }

    /// Kubernetes has string keys only: sigs.k8s.io/yaml turns bools and numbers into text.
    fn scalar_key(self) -> Result<Cow<'d, str>> {
        match self.key_scalar()? {
            Scalar::String(text) => Ok(text),
            Scalar::Bool(flag) => Ok(Cow::Borrowed(if flag { "true" } else { "false" })),
            Scalar::Number(digits) => {
                let (start, end) = (self.start(), self.node().key.start as usize);
                let has_float_tag = self.document.slice(start..end).contains("float");
                let is_integer = scalar::is_integer(&self.key_text()?);
                if is_integer && (!has_float_tag || digits == "-0") {
                    return scalar::integer_key(digits)
                        .ok_or_else(|| self.no_string_key("a number beyond 63 bits"));
                }
                Ok(Cow::Owned(scalar::float_key(&digits)))
            }
            Scalar::Null => Err(self.no_string_key("null")),
        }
    }

    fn no_string_key(self, found: &str) -> Box<Diagnostic> {
        let raw = self.document.slice(self.node().key.range());
        Diagnostic::error(format!("a mapping key must be a string, found {found}"))
            .at(self.key_place())
            .hint(format!("put it in quotes: `\"{raw}\"`"))
            .into()
    }

    fn complex_key(self) -> Box<Diagnostic> {
        Diagnostic::error("a mapping key must be a string, found a collection")
            .at(self.key_place())
            .hint("Kubernetes objects have string keys only; a text that begins with `{` or `[` needs quotes")
            .into()
    }

    /// The key, if it is a scalar, as go-yaml reads it: a bool, a number or text.
    pub(crate) fn key_scalar(self) -> Result<Scalar<'d>> {
        let node = self.node();
        let text = self.key_text()?;
        let props = node.entry as usize..node.key.start as usize;
        if self.document().slice(props.clone()).contains('!') {
            return self.tagged(text, props, self.key_place());
        }
        let is_plain = node.key_kind == KeyKind::Scalar(Style::Plain);
        Ok(if is_plain { resolve(text, scalar::resolve) } else { Scalar::String(text) })
    }
}

impl<'d> Cursor<'d> {
    /// Whether the value is absent, `null` or `~`.
    pub fn is_null(self) -> bool {
        matches!(self.scalar(), Ok(Some(Scalar::Null)))
    }

    /// The text of a string, if the reader of the text noted that it is spelled as it is read.
    pub fn literal(self) -> Option<&'d str> {
        let text = self.node().value_text()?;
        Some(self.document.slice(text))
    }

    /// Whether it is a scalar of several lines: in other columns, these may have another meaning.
    pub(crate) fn has_lines(self) -> bool {
        let node = self.node();
        match node.kind {
            Kind::Scalar(Style::Literal | Style::Folded) => true,
            Kind::Scalar(_) if !node.has(Flags::TEXT) => {
                memchr::memchr(b'\n', self.raw().as_bytes()).is_some()
            }
            _ => false,
        }
    }

    /// The key as it is written, if JSON spells it in the same way: in double quotes, without
    /// characters that need an escape.
    pub(crate) fn json_key(self) -> Option<&'d str> {
        let node = self.node();
        let is_quoted = node.key_kind == KeyKind::Scalar(Style::DoubleQuoted);
        (is_quoted && node.has(Flags::KEY_TEXT)).then(|| self.document.slice(node.key.range()))
    }

    /// The value as it is written, if JSON spells it in the same way.
    pub(crate) fn json_value(self) -> Option<&'d str> {
        let node = self.node();
        let is_quoted = node.kind == Kind::Scalar(Style::DoubleQuoted);
        (is_quoted && node.has(Flags::TEXT)).then(|| self.document.slice(node.value.range()))
    }

    /// The value as text, if it is a scalar: the source text of a plain scalar, the content of a
    /// quoted or block one. An absent value is the empty text.
    ///
    /// # Errors
    /// If its escapes are malformed.
    pub fn text(self) -> Result<Option<Cow<'d, str>>> {
        if let Some(text) = self.node().value_text() {
            return Ok(Some(Cow::Borrowed(self.document.slice(text))));
        }
        if let Some(entry) = self.entry_of_key() {
            return entry.key_text().map(Some);
        }
        let resolved = self.resolved();
        let node = resolved.node();
        let Kind::Scalar(style) = node.kind else {
            return Ok(None);
        };
        resolved.decode(resolved.raw(), style, node.value.start).map(Some)
    }

    /// The value, if it is a scalar, as Kubernetes reads it.
    ///
    /// # Errors
    /// If its escapes are malformed or its tag does not fit.
    #[inline]
    pub fn scalar(self) -> Result<Option<Scalar<'d>>> {
        match self.literal() {
            Some(text) => Ok(Some(Scalar::String(Cow::Borrowed(text)))),
            None => self.unnoted_scalar(),
        }
    }

    fn unnoted_scalar(self) -> Result<Option<Scalar<'d>>> {
        let node = self.node();
        if node.kind == Kind::Scalar(Style::Plain)
            && !node.has(Flags::TAG)
            && scalar::is_short_integer(self.raw().as_bytes())
        {
            return Ok(Some(Scalar::Number(Cow::Borrowed(self.raw()))));
        }
        if let Some(entry) = self.entry_of_key() {
            return entry.key_scalar().map(Some);
        }
        let resolved = self.resolved();
        let node = resolved.node();
        let Kind::Scalar(style) = node.kind else {
            return Ok(None);
        };
        if style == Style::Plain && node.value.is_empty() && !node.has(Flags::TAG) {
            return Ok(Some(Scalar::Null));
        }
        let text = resolved.decode(resolved.raw(), style, node.value.start)?;
        if node.has(Flags::TAG) {
            let props = node.props as usize..node.value.start as usize;
            return resolved.tagged(text, props, resolved.place()).map(Some);
        }
        Ok(Some(if style == Style::Plain {
            resolve(text, scalar::resolve)
        } else {
            Scalar::String(text)
        }))
    }

    /// A scalar with an explicit tag in `props`, read as go-yaml does: the core tags decide the
    /// type, others make it a string.
    fn tagged(self, text: Cow<'d, str>, props: Range<usize>, place: Place) -> Result<Scalar<'d>> {
        let props = self.document().slice(props);
        let tag =
            props.split_ascii_whitespace().find(|word| word.starts_with('!')).unwrap_or_default();
        let core = tag
            .strip_prefix("!<tag:yaml.org,2002:")
            .and_then(|rest| rest.strip_suffix('>'))
            .or_else(|| tag.strip_prefix("!!"));
        let resolved = || resolve(text.clone(), scalar::resolve);
        let (scalar, expected) = match core {
            Some("null") => (Some(resolved()).filter(Scalar::is_null), "null"),
            Some("bool") => (Some(resolved()).filter(Scalar::is_bool), "a bool"),
            Some("int") => {
                let integer = Some(resolved()).filter(|_| scalar::is_integer(&text));
                (integer, "an integer of 64 bits")
            }
            Some("float") => (Some(resolved()).filter(Scalar::is_number), "a number"),
            Some("timestamp") => {
                let is_date = scalar::is_timestamp(&text);
                (is_date.then(|| Scalar::String(text.clone())), "a date")
            }
            Some("binary") => {
                let decoded = decode_base64(&text).map(|text| Scalar::String(text.into()));
                (decoded, "the base64 encoding of a text")
            }
            _ => return Ok(Scalar::String(text)),
        };
        scalar.ok_or_else(|| {
            let message = format!("expected {expected} after the tag `{tag}`, found `{text}`");
            Diagnostic::error(message)
                .at(place)
                .hint("remove the tag, or write a value of its type")
                .into()
        })
    }

    pub(crate) fn decode(self, raw: &'d str, style: Style, start: u32) -> Result<Cow<'d, str>> {
        if let Some(text) = literally(raw, style) {
            return Ok(Cow::Borrowed(text));
        }
        self.decode_slowly(raw, style, start)
    }

    #[cold]
    fn decode_slowly(self, raw: &'d str, style: Style, start: u32) -> Result<Cow<'d, str>> {
        let decoded = match style {
            Style::DoubleQuoted if self.document.is_json => scalar::decode_json(raw),
            Style::Literal | Style::Folded => scalar::decode(raw, style, self.block_parent()),
            _ => scalar::decode(raw, style, None),
        };
        decoded.map_err(|error| {
            let at = start as usize + error.offset;
            Diagnostic::error(error.message).at(self.document.place(at..at + 1)).into()
        })
    }

    /// The column a block scalar's own indentation counts from: that of the entry it is in.
    /// `None` for a document's root.
    pub(crate) fn block_parent(self) -> Option<usize> {
        let node = self.node();
        if node.key.is_empty() && node.key_kind == KeyKind::None {
            return None;
        }
        Some(self.document.column(node.entry as usize))
    }
}

impl<'d> Cursor<'d> {
    /// The value, if it is a scalar, as PyYAML reads it; with a tag, as [`scalar`](Self::scalar).
    pub(super) fn scalar_of_pyyaml(self) -> Result<Option<Scalar<'d>>> {
        let scalar = self.scalar()?;
        let is_plain = if let Some(entry) = self.entry_of_key() {
            entry.node().key_kind == KeyKind::Scalar(Style::Plain)
        } else {
            let node = self.resolved().node();
            node.kind == Kind::Scalar(Style::Plain) && !node.has(Flags::TAG)
        };
        if !is_plain {
            return Ok(scalar.map(|scalar| self.without_end(scalar)));
        }
        Ok(self.text()?.map(|text| resolve(text, scalar::resolve_pyyaml)))
    }

    /// A block scalar at the end of a text without a line break has none, either.
    fn without_end(self, scalar: Scalar<'d>) -> Scalar<'d> {
        let resolved = self.resolved();
        let node = resolved.node();
        let is_block = matches!(node.kind, Kind::Scalar(Style::Literal | Style::Folded));
        let text = self.document.text();
        if !is_block || text.ends_with('\n') || (node.value.end as usize) < text.len() {
            return scalar;
        }
        match scalar {
            Scalar::String(read) => {
                let last = text.rsplit('\n').next().unwrap_or_default();
                let is_blank = last.trim_start_matches(' ').is_empty();
                match read.strip_suffix('\n') {
                    Some(kept) if !is_blank || kept.ends_with(' ') => {
                        Scalar::String(Cow::Owned(kept.to_owned()))
                    }
                    _ => Scalar::String(read),
                }
            }
            other => other,
        }
    }

    /// The key as text: a bool, a number and null as JSON spells them.
    pub(super) fn key_of_pyyaml(self) -> Result<Cow<'d, str>> {
        let node = self.node();
        let is_plain = node.key_kind == KeyKind::Scalar(Style::Plain);
        if !is_plain || node.entry != node.key.start {
            return self.key();
        }
        Ok(match resolve(self.key_text()?, scalar::resolve_pyyaml) {
            Scalar::Null => Cow::Borrowed("null"),
            Scalar::Bool(flag) => Cow::Borrowed(if flag { "true" } else { "false" }),
            Scalar::Number(text) | Scalar::String(text) => text,
        })
    }
}

/// The text of a scalar that is spelled as it is read: on one line, in ASCII, without escapes.
fn literally(raw: &str, style: Style) -> Option<&str> {
    let (text, escape) = match style {
        Style::Plain => (raw, b'\n'),
        Style::DoubleQuoted => (raw.strip_prefix('"')?.strip_suffix('"')?, b'\\'),
        Style::SingleQuoted => (raw.strip_prefix('\'')?.strip_suffix('\'')?, b'\''),
        Style::Literal | Style::Folded => return None,
    };
    words::is_printable_without(text, [escape]).then_some(text)
}

/// Resolves the text of a plain scalar, borrowed or not.
fn resolve(text: Cow<'_, str>, rules: fn(&str) -> Scalar<'_>) -> Scalar<'_> {
    match text {
        Cow::Borrowed(text) => rules(text),
        Cow::Owned(text) => match rules(&text) {
            Scalar::Null => Scalar::Null,
            Scalar::Bool(flag) => Scalar::Bool(flag),
            Scalar::Number(digits) => Scalar::Number(Cow::Owned(digits.into_owned())),
            Scalar::String(_) => Scalar::String(Cow::Owned(text)),
        },
    }
}

/// The text that a `!!binary` encodes, as Go reads it: RFC 4648 with padding, on several lines.
pub(crate) fn decode_base64(text: &str) -> Option<String> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
    );
    let bytes = ENGINE.decode(text.replace(['\r', '\n'], "")).ok()?;
    String::from_utf8(bytes).ok()
}
