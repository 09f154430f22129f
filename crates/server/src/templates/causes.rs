//! Conversion of diagnostics to causes of a `Status`, and to warnings.

use std::cell::OnceCell;
use std::sync::Arc;

use krm_core::secrets::KnownSecrets;
use krm_template_engine::{AssignedValue, Assignment, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::{Cursor, Document, FieldPath};

use krm_template_server_core::{Cause, status::MAX_CAUSES};

/// The maximum number of warnings in a response, and of characters in each.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING: usize = 256;

/// Converts diagnostics about these documents.
pub(super) struct Reporter<'r> {
    /// The Template, and the document with its values if there is one.
    pub(super) documents: Vec<&'r Document>,
    pub(super) hidden: Hidden,
}

impl Reporter<'_> {
    /// Converts the errors to causes.
    pub(super) fn causes(&self, diagnostics: &Diagnostics) -> Vec<Cause> {
        let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
        let total = errors.clone().count() + diagnostics.more(Severity::Error);
        Cause::list(total, errors.take(MAX_CAUSES).map(|error| self.cause(error)))
    }

    /// Converts an error to a cause. Its message and hints are separated by `; `.
    pub(super) fn cause(&self, error: &Diagnostic) -> Cause {
        let reason = match error.rule {
            Some("given-value") => "FieldValueRequired",
            Some("duplicate-key") => "FieldValueDuplicate",
            _ => "FieldValueInvalid",
        };
        Cause { reason, message: self.message(error), field: self.field(error) }
    }

    /// Returns the texts of the warnings, except warnings about unknown fields: reading the body
    /// reports those.
    pub(super) fn warnings(&self, diagnostics: &Diagnostics) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        let warnings = diagnostics.iter().filter(|one| one.severity == Severity::Warning);
        for warning in warnings.filter(|one| one.rule != Some("unknown-field")) {
            if texts.len() == MAX_WARNINGS {
                break;
            }
            let (field, message) = (self.field(warning), self.message(warning));
            let text = if field.is_empty() { message } else { format!("{field}: {message}") };
            let text = shortened(&text);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    fn message(&self, diagnostic: &Diagnostic) -> String {
        let hints = diagnostic.hints.iter().map(String::as_str);
        let parts: Vec<&str> = [diagnostic.message.as_str()].into_iter().chain(hints).collect();
        self.hidden.in_names(&parts.join("; "))
    }

    /// Returns the field path in the request body.
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

/// Returns the field path in `Parameters` for a value at a path such as `parameters[0].value`.
fn value_of(template: &Document, field: &str) -> Option<String> {
    let parameter =
        template.roots().next()?.lookup(&field.strip_suffix(".value")?.parse().ok()?)?;
    Some(FieldPath::default().key("values").key(parameter.text_at(["name"])?).to_string())
}

/// Returns the path of the innermost field that contains an offset.
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

/// Truncates a text to [`MAX_WARNING`] characters, and puts it on one line.
fn shortened(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    if text.chars().count() <= MAX_WARNING {
        return text;
    }
    let start: String = text.chars().take(MAX_WARNING - 1).collect();
    start + "…"
}

/// Values that no message may show.
///
/// The engine hides them, but it names a key with a parameter reference by its expanded text.
#[derive(Default)]
pub(super) struct Hidden {
    values: Vec<String>,
    /// Their spellings, which only messages need.
    known: OnceCell<KnownSecrets>,
}

impl Hidden {
    /// Collects the default values of a Template, and the values that are given for it.
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
        self.values.push(text.to_owned());
        self.known.take();
    }

    /// Masks the values in the names of a message, which are in backticks.
    fn in_names(&self, message: &str) -> String {
        let parts = message.split('`').enumerate();
        let parts = parts.map(|(index, part)| match index % 2 {
            0 => part.to_owned(),
            _ => self.masked(part),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// Masks the values in a field path. They can only occur in the keys of objects and labels.
    fn in_field(&self, field: String) -> String {
        let is_free = ["objects[", "labels"].iter().any(|start| field.starts_with(start));
        if is_free { self.masked(&field) } else { field }
    }

    fn masked(&self, text: &str) -> String {
        let known = self.known.get_or_init(|| {
            let mut known = KnownSecrets::default();
            self.values.iter().for_each(|value| known.add(value));
            known
        });
        known.masked(text).into_owned()
    }
}
