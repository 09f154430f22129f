//! The scalars, aliases and keys of a document, in order.

use std::ops::Range;

use crate::read::document::Document;
use crate::scalar::data::Style;
use crate::table::{KeyKind, Kind};

/// A scalar, alias or key: it contains no indicators and comments.
pub(crate) struct Token {
    pub(crate) range: Range<usize>,
    pub(crate) kind: TokenKind,
}

#[derive(PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Plain: continues on lines that are indented by at least this number of columns.
    Plain(usize),
    Quoted,
    Block,
    /// An alias, or a collection as a key.
    Other,
}

/// All scalars and aliases, in order.
pub(crate) fn scalars(document: &Document) -> Vec<Token> {
    let mut tokens = Vec::new();
    for node in &document.nodes {
        let is_root = node.key.is_empty() && node.key_kind == KeyKind::None;
        let least = if is_root { 0 } else { document.column(node.entry as usize) + 1 };
        let kind = |style| match style {
            Style::Plain => TokenKind::Plain(least),
            Style::SingleQuoted | Style::DoubleQuoted => TokenKind::Quoted,
            Style::Literal | Style::Folded => TokenKind::Block,
        };
        let key = match node.key_kind {
            KeyKind::None => None,
            KeyKind::Scalar(style) => Some(kind(style)),
            KeyKind::Alias | KeyKind::Complex => Some(TokenKind::Other),
        };
        let value = match node.kind {
            Kind::Scalar(style) => Some(kind(style)),
            Kind::Alias => Some(TokenKind::Other),
            Kind::Mapping | Kind::Sequence | Kind::Deferred => None,
        };
        for (kind, span) in [(key, node.key), (value, node.value)] {
            if let Some(kind) = kind.filter(|_| !span.is_empty()) {
                tokens.push(Token { range: span.range(), kind });
            }
        }
    }
    tokens
}
