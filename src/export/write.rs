//! Writes the Template.

use std::borrow::Cow;

use crate::export::parameters::Parameters;
use crate::template::Dialect;
use krm_yaml::diagnostic::Result;
use krm_yaml::source::Source;
use krm_yaml::{Document, Position, Value};

/// Spaces that a level of JSON is indented by.
const JSON_WIDTH: usize = 2;
/// How deep the objects of a Template are.
const JSON_DEPTH: usize = 2;

/// The part of the Template before the objects.
pub(super) struct Head<'h> {
    /// Paragraphs of comments above the Template.
    pub(super) comments: &'h [String],
    pub(super) name: &'h str,
    pub(super) dialect: Dialect,
    pub(super) parameters: &'h Parameters,
    pub(super) labels: Vec<(String, String)>,
    /// Whether namespaces of objects must be kept.
    pub(super) keeps_namespaces: bool,
}

/// The text of a Template with the texts of its objects, as items of a list.
pub(super) fn template(head: &Head<'_>, objects: Vec<String>) -> Result<String> {
    let comments = head
        .comments
        .iter()
        .map(|paragraph| format!("{paragraph}\n\n"));
    let mut text: String = comments.collect();
    text.push_str(&krm_yaml::render_new(&head.value(), Position::Document)?);
    text.reserve(objects.iter().map(String::len).sum::<usize>() + 16);
    text.push_str("objects:\n");
    for object in objects {
        text.push_str(&object);
    }
    Ok(text)
}

/// The same in JSON, with the texts of [`json_object`].
pub(super) fn json(head: &Head<'_>, objects: &[String]) -> Result<String> {
    let mut text = krm_yaml::render_json(&head.value(), Some(JSON_WIDTH))?;
    let open = text.strip_suffix("\n}").map_or(text.len(), str::len);
    text.truncate(open);
    text.reserve(objects.iter().map(|object| object.len() + 6).sum::<usize>() + 32);
    text.push_str(",\n  \"objects\": [");
    for (index, object) in objects.iter().enumerate() {
        text.push_str(if index == 0 { "\n    " } else { ",\n    " });
        text.push_str(object);
    }
    text.push_str("\n  ]\n}\n");
    if cfg!(debug_assertions) {
        Document::parse(&Source::new("template", text.as_str()))?;
    }
    Ok(text)
}

/// The text of an object in JSON.
pub(super) fn json_object(object: &Value<'_>) -> Result<String> {
    krm_yaml::render_json_at(object, JSON_WIDTH, JSON_DEPTH)
}

fn text<'t>(key: &'static str, text: &'t str) -> (Cow<'t, str>, Value<'t>) {
    (Cow::Borrowed(key), Value::string(text))
}

impl Head<'_> {
    /// The Template without its objects.
    fn value(&self) -> Value<'_> {
        let api_version = match self.dialect {
            Dialect::Proposal => "template.krm.dev/v1alpha1",
            Dialect::OpenShift => "template.openshift.io/v1",
        };
        let mut metadata = vec![text("name", self.name)];
        if self.keeps_namespaces && self.dialect == Dialect::OpenShift {
            let keep = text("template.krm.dev/keep-namespace", "true");
            metadata.push(("annotations".into(), Value::mapping(vec![keep])));
        }
        let mut entries = vec![
            text("apiVersion", api_version),
            text("kind", "Template"),
            ("metadata".into(), Value::mapping(metadata)),
        ];
        if !self.labels.is_empty() {
            let labels = self.labels.iter();
            let labels = labels
                .map(|(key, label)| (Cow::Borrowed(key.as_str()), Value::string(label.as_str())));
            entries.push(("labels".into(), Value::mapping(labels.collect())));
        }
        if self.parameters.iter().next().is_some() {
            entries.push(("parameters".into(), self.parameters.declarations()));
        }
        Value::mapping(entries)
    }
}
