//! The text of objects in pieces, with the origin of each field.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm_template_engine::{Field, Origin, Trace, Traced, TracedParameter};
use krm_yaml::shorten::MASK;
use krm_yaml::source::{Place, Source};
use krm_yaml::{Document, FieldPath, Step};

use super::tokens::{self, Class, Token};

/// An object, split for highlighting.
#[derive(Clone, Debug)]
pub struct HighlightedObject {
    /// The field `kind` of the object.
    pub kind: String,
    /// The field `metadata.name` of the object.
    pub name: String,
    /// The YAML of the object, in order.
    pub pieces: Vec<Span>,
    /// The number of fields that refer to parameters.
    pub from_parameters: usize,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text, or the mask of a secret.
    pub text: String,
    /// The class of the text.
    pub class: Class,
    /// The origin of the text, if it is a value.
    pub from: Option<From>,
}

/// The origin of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct From {
    /// The line in the Template, starting at 1, or zero if the value is not in the Template.
    pub line: usize,
    /// The parameters that the value refers to.
    pub parameters: Vec<String>,
    /// A description of the origin.
    pub words: String,
}

/// Returns a mask that ends with the trailing white space of `text`.
pub(super) fn masked(text: &str) -> String {
    let end = text.get(text.trim_end().len()..).unwrap_or_default();
    format!("{MASK}{end}")
}

/// Splits objects into pieces with their origin.
pub(super) struct Highlighter<'p> {
    trace: &'p Trace,
    parameters: BTreeMap<&'p str, &'p TracedParameter>,
    /// The offsets of the lines of the Template.
    lines: Vec<usize>,
    document: &'p Arc<Document>,
    shows_secrets: bool,
}

impl<'p> Highlighter<'p> {
    pub(super) fn new(document: &'p Arc<Document>, trace: &'p Trace, shows_secrets: bool) -> Self {
        let breaks = document.text().match_indices('\n').map(|(at, _)| at + 1);
        Self {
            trace,
            parameters: trace.parameters.iter().rev().map(|one| (&*one.name, one)).collect(),
            lines: std::iter::once(0).chain(breaks).collect(),
            document,
            shows_secrets,
        }
    }

    /// Splits the texts of the objects into pieces. Returns nothing if they are not as many as the
    /// traced objects: a text could then have the secrets of another one.
    pub(super) fn objects(&self, texts: &[&str]) -> Vec<HighlightedObject> {
        if texts.len() != self.trace.objects.len() {
            return Vec::new();
        }
        let objects = self.trace.objects.iter().zip(texts);
        objects.map(|(object, text)| self.object(object, text)).collect()
    }

    fn object(&self, object: &Traced, text: &str) -> HighlightedObject {
        let value = |keys: &[&str]| object.value.str_at(keys).unwrap_or_default().to_owned();
        let name = object
            .fields
            .iter()
            .find(|field| field.path.to_string() == "metadata.name" && object.is_secret(field));
        let name = if name.is_some() && !self.shows_secrets {
            MASK.to_owned()
        } else {
            let name = value(&["metadata", "name"]);
            if name.is_empty() { value(&["metadata", "generateName"]) } else { name }
        };
        let is_from = |field: &&Field| !field.references.is_empty();
        HighlightedObject {
            kind: value(&["kind"]),
            name,
            pieces: self.pieces(object, text),
            from_parameters: object.fields.iter().filter(is_from).count(),
        }
    }

    fn pieces(&self, object: &Traced, text: &str) -> Vec<Span> {
        let Ok(document) = Document::parse(&Source::new("object", text)) else {
            // A text that cannot be parsed may contain a secret.
            return Vec::new();
        };
        if document.roots().count() != 1 {
            return Vec::new();
        }
        let fields: BTreeMap<String, &Field> =
            object.fields.iter().map(|field| (field.path.to_string(), field)).collect();
        let secrets = object.fields.iter().filter(|field| object.is_secret(field));
        let keys: BTreeSet<String> = secrets.clone().flat_map(secret_keys).collect();
        let has_secrets = secrets.count() > 0;
        let tokens = tokens::of(&document);
        let piece = |token: Token| {
            let text = document.slice(token.range);
            let field = token.path.as_ref().and_then(|path| fields.get(path));
            let is_secret = match (token.class, &token.path, field) {
                (Class::Key, Some(path), _) => keys.contains(path),
                (class, _, Some(field)) if class.is_value() => object.is_secret(field),
                (class, ..) => class.is_value() && has_secrets,
            };
            let is_masked = is_secret && !self.shows_secrets;
            Span {
                text: if is_masked { masked(text) } else { text.to_owned() },
                from: field
                    .filter(|_| token.class.is_value())
                    .map(|field| self.from(field, is_secret)),
                class: token.class,
            }
        };
        tokens.into_iter().map(piece).collect()
    }

    fn from(&self, field: &Field, is_secret: bool) -> From {
        let line = field.place.as_ref().map_or(0, |place| self.line(place));
        let parameters: Vec<String> = field.parameters().into_iter().map(str::to_owned).collect();
        let last = field.path.steps().last();
        let last = match last {
            Some(Step::Key(key)) if field.shown == field.path => key.clone(),
            Some(Step::Index(index)) => format!("[{index}]"),
            _ => String::new(),
        };
        let mut words = last;
        if !parameters.is_empty() {
            let origins: Vec<String> =
                parameters.iter().map(|name| self.parameter(name, is_secret)).collect();
            words = format!("{words} ← {}", origins.join(", "));
        }
        if line > 0 {
            words = format!("{words} · template line {line}");
        }
        From { line, parameters, words }
    }

    /// Describes a parameter and the source of its value.
    fn parameter(&self, name: &str, is_secret: bool) -> String {
        let Some(parameter) = self.parameters.get(name) else {
            return name.to_owned();
        };
        let source = match parameter.origin {
            Origin::Given(_) => "your value",
            Origin::Default => "default",
            Origin::Generated => "generated",
            Origin::Nowhere => "no value",
        };
        match &parameter.value {
            Some(value) if !is_secret && !value.is_empty() && value.len() <= 80 => {
                format!("{name} ({source} {value})")
            }
            _ => format!("{name} ({source})"),
        }
    }

    fn line(&self, place: &Place) -> usize {
        if !Arc::ptr_eq(&place.source, self.document.source()) {
            return 0;
        }
        self.lines.partition_point(|start| *start <= place.range.start)
    }
}

/// Returns the paths of the keys in a field path that contain a secret.
fn secret_keys(field: &Field) -> Vec<String> {
    let mut path = FieldPath::root();
    let mut keys = Vec::new();
    let shown = field.shown.steps();
    for (index, step) in field.path.steps().iter().enumerate() {
        path.push(step.clone());
        if shown.get(index) != Some(step) {
            keys.push(path.to_string());
        }
    }
    keys
}
