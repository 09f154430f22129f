//! The tokens of a YAML text: keys, scalars by type, comments, and the text between them.

use std::ops::Range;

use krm_yaml::{Cursor, Document, FieldPath, Scalar, Step};

/// The class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Punctuation and white space between tokens.
    Plain,
    /// A key of a mapping.
    Key,
    /// A string, with or without quotes.
    String,
    /// A number, as Kubernetes reads it.
    Number,
    /// `true` or `false`, in any spelling.
    Bool,
    /// `null`, `~` or an absent value.
    Null,
    /// A comment from its `#` on.
    Comment,
}

impl Class {
    /// Returns `true` if the token is the value of a field.
    pub const fn is_value(self) -> bool {
        matches!(self, Self::String | Self::Number | Self::Bool | Self::Null)
    }

    /// Returns the name of the class, which is empty for punctuation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Key => "key",
            Self::String => "string",
            Self::Number => "number",
            Self::Bool => "bool",
            Self::Null => "null",
            Self::Comment => "comment",
        }
    }
}

/// A token of a text.
pub(super) struct Token {
    pub(super) range: Range<usize>,
    pub(super) class: Class,
    /// The field path of a key or a value.
    pub(super) path: Option<String>,
}

/// Splits the text of a document into tokens, without gaps.
pub(super) fn of(document: &Document) -> Vec<Token> {
    let mut found = Vec::new();
    for root in document.roots() {
        node(root, &mut FieldPath::root(), &mut found);
    }
    found.sort_by_key(|token| token.range.start);
    let text = document.text();
    let mut tokens = Vec::with_capacity(2 * found.len());
    let mut at = 0;
    for token in found {
        // The children of an alias are at another place.
        if token.range.start < at || token.range.is_empty() {
            continue;
        }
        between(text, at..token.range.start, &mut tokens);
        at = token.range.end;
        tokens.push(token);
    }
    between(text, at..text.len(), &mut tokens);
    tokens
}

fn node(cursor: Cursor<'_>, path: &mut FieldPath, found: &mut Vec<Token>) {
    let is_alias = cursor.resolved().id() != cursor.id();
    if !is_alias && (cursor.is_mapping() || cursor.is_sequence()) {
        let is_mapping = cursor.is_mapping();
        let mut count = 0;
        for (index, child) in cursor.children().enumerate() {
            path.push(if is_mapping {
                Step::Key(child.key().unwrap_or_default().into_owned())
            } else {
                Step::Index(index)
            });
            if is_mapping {
                found.push(Token {
                    range: child.key_place().range,
                    class: Class::Key,
                    path: Some(path.to_string()),
                });
            }
            node(child, path, found);
            path.pop();
            count += 1;
        }
        if count > 0 {
            return;
        }
    }
    let range = cursor.place().range;
    if range == cursor.key_place().range && !path.steps().is_empty() && has_key(path) {
        // A missing value has no text.
        return;
    }
    let class = match cursor.scalar() {
        _ if is_alias => Class::String,
        Ok(Some(Scalar::Number(_))) => Class::Number,
        Ok(Some(Scalar::Bool(_))) => Class::Bool,
        Ok(Some(Scalar::String(_))) | Err(_) => Class::String,
        Ok(Some(Scalar::Null) | None) => Class::Null,
    };
    found.push(Token { range, class, path: Some(path.to_string()) });
}

fn has_key(path: &FieldPath) -> bool {
    matches!(path.steps().last(), Some(Step::Key(_)))
}

/// Adds the tokens between two nodes: punctuation and comments.
fn between(text: &str, range: Range<usize>, tokens: &mut Vec<Token>) {
    let mut at = range.start;
    let mut push = |range: Range<usize>, class| {
        if !range.is_empty() {
            tokens.push(Token { range, class, path: None });
        }
    };
    let part = text.get(range.clone()).unwrap_or_default();
    for line in part.split_inclusive('\n') {
        let end = at + line.len();
        match line.find('#') {
            Some(start) => {
                let without_break = at + line.trim_end_matches(['\n', '\r']).len();
                push(at..at + start, Class::Plain);
                push(at + start..without_break, Class::Comment);
                push(without_break..end, Class::Plain);
            }
            None => push(at..end, Class::Plain),
        }
        at = end;
    }
}
