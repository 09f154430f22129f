//! Messages of the engine as causes of a `Status`, and as warnings.

use std::sync::Arc;

use krm_template::template::{AssignedValue, Assignment, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::{Cursor, Document, FieldPath};

use crate::status::Cause;

/// The most causes of one `Status`.
const MAX_CAUSES: usize = 1_000;
/// The most warnings of one answer, and the most characters of one.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING: usize = 256;

/// The texts that messages are about.
pub(super) struct Reporter<'r> {
    /// The Template, and the values that were given for it.
    pub(super) documents: Vec<&'r Document>,
    pub(super) hidden: Hidden,
}

impl Reporter<'_> {
    /// The errors, each as a cause.
    pub(super) fn causes(&self, diagnostics: &Diagnostics) -> Vec<Cause> {
        let errors = diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Error);
        errors
            .take(MAX_CAUSES)
            .map(|error| self.cause(error))
            .collect()
    }

    /// An error as a cause: its message, and after `; ` each hint.
    pub(super) fn cause(&self, error: &Diagnostic) -> Cause {
        let reason = match error.rule {
            Some("given-value") => "FieldValueRequired",
            Some("duplicate-key") => "FieldValueDuplicate",
            _ => "FieldValueInvalid",
        };
        Cause {
            reason,
            message: self.message(error),
            field: self.field(error),
        }
    }

    /// The texts of the warnings, without those about fields that are not known: reading a body
    /// reports these.
    pub(super) fn warnings(&self, diagnostics: &Diagnostics) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        let warnings = diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Warning);
        for warning in warnings.filter(|one| one.rule != Some("unknown-field")) {
            if texts.len() == MAX_WARNINGS {
                break;
            }
            let (field, message) = (self.field(warning), self.message(warning));
            let text = if field.is_empty() {
                message
            } else {
                format!("{field}: {message}")
            };
            let text = shortened(&text);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    fn message(&self, diagnostic: &Diagnostic) -> String {
        let hints = diagnostic.hints.iter().map(String::as_str);
        let parts: Vec<&str> = [diagnostic.message.as_str()]
            .into_iter()
            .chain(hints)
            .collect();
        self.hidden.in_names(&parts.join("; "))
    }

    /// The field of the request's body.
    fn field(&self, diagnostic: &Diagnostic) -> String {
        let is_required = diagnostic.rule == Some("given-value");
        let field = diagnostic.field.clone().or_else(|| {
            let place = diagnostic.place.as_ref()?;
            let mut documents = self.documents.iter();
            let document = documents.find(|one| Arc::ptr_eq(one.source(), &place.source))?;
            Some(field_at(document.roots().next()?, place.range.start))
        });
        let field = field.unwrap_or_default();
        match self.documents.as_slice() {
            [template, _] if is_required => value_of(template, &field).unwrap_or(field),
            _ => self.hidden.in_field(field),
        }
    }
}

/// The field of `Parameters` with the value of the parameter at `parameters[0].value`.
fn value_of(template: &Document, field: &str) -> Option<String> {
    let parameter = template
        .roots()
        .next()?
        .lookup(&field.strip_suffix(".value")?.parse().ok()?)?;
    Some(
        FieldPath::default()
            .key("values")
            .key(parameter.text_at(["name"])?)
            .to_string(),
    )
}

/// The path of the innermost field around an offset.
fn field_at(root: Cursor<'_>, offset: usize) -> String {
    let mut path = FieldPath::default();
    let mut node = root;
    loop {
        let is_around = |child: &Cursor<'_>| child.start() <= offset && offset < child.end();
        let mut children = node.children().enumerate();
        let Some((index, child)) = children.find(|(_, child)| is_around(child)) else {
            return path.to_string();
        };
        path = match child.key() {
            Ok(key) if node.is_mapping() => path.key(key),
            _ => path.index(index),
        };
        node = child;
    }
}

/// A text of at most [`MAX_WARNING`] characters on one line.
fn shortened(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    if text.chars().count() <= MAX_WARNING {
        return text;
    }
    let start: String = text.chars().take(MAX_WARNING - 1).collect();
    start + "…"
}

/// Values that no message may show. The engine hides them; but a key with a reference is named as
/// it becomes.
#[derive(Default)]
pub(super) struct Hidden(Vec<String>);

impl Hidden {
    /// Shorter values are in too many words.
    const SHORTEST: usize = 6;
    const MASK: &str = "***";

    /// The values that a Template declares, and those given for it.
    pub(super) fn of(template: &Template, given: &[Assignment]) -> Self {
        let mut hidden = Self::default();
        for parameter in template.parameters() {
            hidden.add(parameter.default_text().as_deref().unwrap_or_default());
        }
        for one in given {
            if let AssignedValue::Text(text) = &one.value {
                hidden.add(text);
            }
        }
        hidden
    }

    pub(super) fn add(&mut self, text: &str) {
        if text.len() >= Self::SHORTEST {
            self.0.push(text.to_owned());
        }
    }

    /// A message without the values where it names something, which it does in backticks.
    fn in_names(&self, message: &str) -> String {
        let parts = message.split('`').enumerate();
        let parts = parts.map(|(index, part)| match index % 2 {
            0 => part.to_owned(),
            _ => self.masked(part),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// A field path without the values. They can only be in the keys of objects and labels.
    fn in_field(&self, field: String) -> String {
        let is_free = ["objects[", "labels"]
            .iter()
            .any(|start| field.starts_with(start));
        if is_free { self.masked(&field) } else { field }
    }

    fn masked(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.0 {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), Self::MASK);
            }
        }
        text
    }
}
