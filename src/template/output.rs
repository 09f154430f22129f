//! Objects printed one after another: as a stream of YAML documents, or as one List in JSON.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::template::expand::Object;
use crate::yaml::{self, Data, NodeId, Position, Scalar, Value};

/// How objects are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A stream of documents with `---` between them, each with the layout of the Template.
    Yaml,
    /// A `v1` List, as `oc process -o json` prints it.
    Json,
}

/// Collects the text of the objects handed to it.
pub struct Writer {
    format: Format,
    text: String,
    count: usize,
}

/// Spaces a level of JSON is indented by, as `oc` prints it.
const JSON_WIDTH: usize = 4;

impl Writer {
    /// Nothing printed yet.
    #[must_use]
    pub const fn new(format: Format) -> Self {
        Self {
            format,
            text: String::new(),
            count: 0,
        }
    }

    /// Prints one more object; after an error there is nothing to print for.
    pub fn object(&mut self, object: &Object<'_>, diagnostics: &mut Diagnostics) {
        if diagnostics.has_errors() {
            return;
        }
        match self.format {
            Format::Yaml => {
                let rendered = yaml::render(object.document, &object.value, Position::Document);
                if let Some(text) = diagnostics.take(rendered) {
                    if self.count > 0 {
                        self.text.push_str("---");
                        self.text.push_str(object.document.eol());
                    }
                    self.text.push_str(&text);
                }
            }
            Format::Json => {
                if let Some((digits, origin)) = non_finite(&object.value, object.value.origin) {
                    let mut diagnostic =
                        Diagnostic::error(format!("`{digits}` cannot be written as JSON"))
                            .field(object.field.clone())
                            .hint("put it in quotes if it is a string");
                    diagnostic.place = origin.map(|node| object.document.cursor(node).place());
                    diagnostics.push(diagnostic);
                }
                self.text
                    .push_str(if self.count > 0 { ",\n" } else { "\n" });
                self.text.extend(std::iter::repeat_n(' ', 2 * JSON_WIDTH));
                yaml::json(&mut self.text, &object.value, Some(JSON_WIDTH), 2);
            }
        }
        self.count += 1;
    }

    /// The whole text.
    #[must_use]
    pub fn finish(self) -> String {
        if self.format == Format::Yaml {
            return self.text;
        }
        let head = "{\n    \"kind\": \"List\",\n    \"apiVersion\": \"v1\",\n    \"metadata\": {},\n    \"items\": [";
        let foot = if self.count > 0 {
            "\n    ]\n}\n"
        } else {
            "]\n}\n"
        };
        [head, &self.text, foot].concat()
    }
}

/// The first infinite or undefined number, which YAML has and JSON has not, and the nearest node
/// that holds it.
fn non_finite<'v>(
    value: &'v Value<'_>,
    nearest: Option<NodeId>,
) -> Option<(&'v str, Option<NodeId>)> {
    let nearest = value.origin.or(nearest);
    match &value.data {
        Data::Scalar(Scalar::Number(digits)) if yaml::scalar::is_non_finite(digits) => {
            Some((digits, nearest))
        }
        Data::Scalar(_) => None,
        Data::Sequence(items) => items.iter().find_map(|item| non_finite(item, nearest)),
        Data::Mapping(entries) => entries
            .iter()
            .find_map(|(_, value)| non_finite(value, nearest)),
    }
}
