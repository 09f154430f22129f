//! Writes the Template.

use std::borrow::Cow;

use crate::export::parameters::Parameters;
use crate::template::Dialect;
use krm_yaml::diagnostic::Result;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Position, Value};

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

/// The same Template as JSON.
pub(super) fn to_json(text: String) -> Result<String> {
    let document = Document::parse(&Source::new("template", text))?;
    let mut found = krm_yaml::diagnostic::Diagnostics::new();
    let value = document
        .roots()
        .next()
        .and_then(|root| root.value(DuplicateKeys::Refuse, &mut found));
    let value = value.unwrap_or_else(|| Value::mapping(Vec::new()));
    Ok(krm_yaml::render_json(&value, Some(2))? + "\n")
}

impl Head<'_> {
    /// The Template without its objects.
    fn value(&self) -> Value<'static> {
        let api_version = match self.dialect {
            Dialect::Proposal => "template.krm.dev/v1alpha1",
            Dialect::OpenShift => "template.openshift.io/v1",
        };
        let text = |key: &'static str, text: &str| -> (Cow<'static, str>, Value<'static>) {
            (Cow::Borrowed(key), Value::string(text.to_owned()))
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
            let labels =
                labels.map(|(key, label)| (Cow::Owned(key.clone()), Value::string(label.clone())));
            entries.push(("labels".into(), Value::mapping(labels.collect())));
        }
        if self.parameters.iter().next().is_some() {
            entries.push(("parameters".into(), self.parameters.declarations()));
        }
        Value::mapping(entries)
    }
}
