//! Reads a text as PyYAML does, and finds the places of its values.

use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Data, Document, DuplicateKeys, Scalar, Value, Words};

/// A text and its value.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The text; the parts of the value are from it.
    pub document: Arc<Document>,
    /// The value; null if the text is empty.
    pub value: Value<'static>,
}

/// Reads a text with one document, as [`value`] does.
///
/// # Errors
/// If it is not YAML, or has several documents; warnings go to `warnings` in any case.
pub fn read(source: &Arc<Source>, warnings: &mut Diagnostics) -> Result<Parsed, Diagnostics> {
    let document = Document::parse(source)?;
    let value = value(&document, warnings)?.into_owned();
    Ok(Parsed { document: Arc::new(document), value })
}

/// The value of a text with one document; null if it is empty. The last of equal keys counts, with
/// a warning.
///
/// # Errors
/// If it has several documents or cannot be read; warnings go to `warnings` in any case.
pub fn value<'d>(
    document: &'d Document,
    warnings: &mut Diagnostics,
) -> Result<Value<'d>, Diagnostics> {
    let mut roots = document.roots();
    let value = match roots.next() {
        None => Value::from(Data::Scalar(Scalar::Null)),
        Some(root) => {
            let mut found = Diagnostics::new();
            let value = root.value_with(DuplicateKeys::LastWins, Words::PyYaml, &mut found);
            let Some(value) = value else {
                return Err(found);
            };
            warnings.append(found);
            value
        }
    };
    if let Some(second) = roots.next() {
        let message = "expected one document, found several";
        return Err(Diagnostic::error(message)
            .at(first_line(second.place()))
            .hint("remove the `---` before it, or expand each document on its own")
            .into());
    }
    Ok(value)
}

/// A resource or another part of a text, if it is from one.
#[derive(Clone, Copy, Debug)]
pub struct Located<'v> {
    /// A value that knows its node, if it was read from a text.
    pub value: &'v Value<'v>,
    /// The text that the value is from.
    pub document: Option<&'v Arc<Document>>,
}

impl Located<'_> {
    /// Where the value is: a scalar itself, of a collection only its start.
    pub fn place(&self) -> Option<Place> {
        let cursor = self.document?.cursor(self.value.origin?);
        Some(match self.value.data {
            Data::Scalar(_) => cursor.place(),
            _ => first_line(cursor.place()),
        })
    }

    /// A diagnostic about the value.
    pub fn mark(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.place() {
            Some(place) => diagnostic.at(place),
            None => diagnostic,
        }
    }

    /// A diagnostic about the key of the value.
    pub fn mark_key(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.document.zip(self.value.origin) {
            Some((document, node)) => diagnostic.at(document.cursor(node).key_place()),
            None => diagnostic,
        }
    }
}

/// The first line of a place.
pub fn first_line(place: Place) -> Place {
    let text = place.source.text().get(place.range.clone());
    let first = text.and_then(|text| text.lines().next()).unwrap_or_default();
    let end = place.range.start + first.trim_end().len().max(1);
    Place { range: place.range.start..end, ..place }
}

/// A few words that describe a value.
pub const fn kind_of(value: &Value<'_>) -> &'static str {
    match &value.data {
        Data::Scalar(Scalar::Null) => "nothing",
        Data::Scalar(Scalar::Bool(_)) => "a boolean",
        Data::Scalar(Scalar::Number(_)) => "a number",
        Data::Scalar(Scalar::String(_)) => "a string",
        Data::Sequence(_) => "a list",
        Data::Mapping(_) => "a mapping",
    }
}

/// Whether Python's `not` is true of a value.
pub fn is_falsy(value: &Value<'_>) -> bool {
    match &value.data {
        Data::Scalar(Scalar::Null | Scalar::Bool(false)) => true,
        Data::Scalar(Scalar::Bool(true)) => false,
        Data::Scalar(Scalar::Number(digits)) => digits.parse() == Ok(0.0),
        Data::Scalar(Scalar::String(text)) => text.is_empty(),
        Data::Sequence(items) => items.is_empty(),
        Data::Mapping(entries) => entries.is_empty(),
    }
}
