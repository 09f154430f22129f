//! The text of a Template, for display.

use std::ops::Range;
use std::sync::Arc;

use krm_template_engine::Template;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, DuplicateKeys};

use super::highlight::{Span, masked};
use super::parse;
use super::request::Text;
use super::tokens::{self, Class};
use crate::request::Format;
use krm_template_server_core::{Group, Result};

/// Splits the text of a Template into pieces, and masks its secrets.
pub fn source(group: Group, document: &Arc<Document>) -> Vec<Span> {
    let mut unheard = Diagnostics::new();
    let Some(template) = parse::template(document, group, false, &mut unheard) else {
        return Vec::new();
    };
    let hidden = hidden(&template, document);
    let mut pieces = Vec::new();
    for token in tokens::of(document) {
        let after = hidden.partition_point(|range| range.start <= token.range.start);
        let before = after.checked_sub(1).and_then(|last| hidden.get(last));
        let is_hidden =
            token.class.is_value() && before.is_some_and(|range| token.range.end <= range.end);
        let text = document.slice(token.range);
        let text = if is_hidden { masked(text) } else { text.to_owned() };
        pieces.push(Span { text, class: token.class, from: None });
    }
    pieces
}

/// Splits a YAML text into pieces. A text that is not YAML becomes a single piece.
pub fn pieces(text: &str) -> Vec<Span> {
    let piece = |text: &str, class| Span { text: text.to_owned(), class, from: None };
    match Document::parse(&Source::new("text", text)) {
        Ok(document) => {
            let tokens = tokens::of(&document).into_iter();
            tokens.map(|token| piece(document.slice(token.range), token.class)).collect()
        }
        Err(_) => vec![piece(text, Class::Plain)],
    }
}

/// Returns a Template as YAML. JSON is converted, without the fields that the server sets.
///
/// # Errors
/// 400 if the text is not an object.
pub fn readable(document: Document, syntax: Format) -> Result<Arc<Document>> {
    let document = parse::object("Template", document)?;
    if syntax == Format::Yaml {
        return Ok(document);
    }
    let root = parse::root(&document)?;
    let Some(mut value) = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new()) else {
        return Ok(document);
    };
    if let Some(metadata) = value.get_mut("metadata") {
        for key in ["managedFields", "uid", "resourceVersion", "generation", "creationTimestamp"] {
            metadata.remove(key);
        }
    }
    let text = krm_yaml::to_string(&value);
    drop(value);
    drop(document);
    let syntax = Format::Yaml;
    parse::document("Template", Text { text: &text, syntax })
}

/// Returns the ranges of the secret values in a Template, in order. None is in another one.
fn hidden(template: &Template, document: &Document) -> Vec<Range<usize>> {
    let Some(root) = document.roots().next() else {
        return Vec::new();
    };
    let mut hidden = Vec::new();
    let values = root.get("values");
    for parameter in template.parameters() {
        if parameter.may_show() {
            continue;
        }
        let given = values.and_then(|values| values.get(&parameter.name));
        let own = parameter.node().get("value");
        hidden.extend([own, given].into_iter().flatten().map(|node| node.place().range));
    }
    let objects = root.get("objects").into_iter().flat_map(Cursor::children);
    let is_secret = |object: &Cursor<'_>| object.text_at(["kind"]).as_deref() == Some("Secret");
    for object in objects.filter(is_secret) {
        let data = ["data", "stringData"].map(|key| object.get(key));
        hidden.extend(data.into_iter().flatten().map(|node| node.place().range));
    }
    hidden.sort_by_key(|range| range.start);
    hidden
}
