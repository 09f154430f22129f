//! Writes the Template.

use std::borrow::Cow;

use crate::json;
use crate::parameters::Declarations;
use krm_template_engine::Dialect;
use krm_yaml::diagnostic::Result;
use krm_yaml::source::Source;
use krm_yaml::{Document, Position, Value};

/// The part of the Template before its lists.
pub(super) struct Head<'h> {
    /// Paragraphs of comments above the Template.
    pub(super) comments: &'h [String],
    pub(super) name: &'h str,
    pub(super) dialect: Dialect,
    pub(super) labels: Vec<(String, String)>,
    /// Whether namespaces of objects must be kept.
    pub(super) keeps_namespaces: bool,
}

/// The text of a Template with the texts of its objects.
pub(super) fn template(
    head: &Head<'_>,
    declarations: &Declarations,
    objects: Vec<String>,
) -> Result<String> {
    match declarations {
        Declarations::Yaml(text) => as_yaml(head, text, objects),
        Declarations::Json(items) => as_json(head, items, &objects),
    }
}

fn as_yaml(head: &Head<'_>, declarations: &str, objects: Vec<String>) -> Result<String> {
    let comments = head.comments.iter().map(|paragraph| format!("{paragraph}\n\n"));
    let mut text: String = comments.collect();
    text.push_str(&krm_yaml::render_new(&head.value(), Position::Document)?);
    let length = objects.iter().map(String::len).sum::<usize>() + declarations.len();
    text.reserve(length + 32);
    if !declarations.is_empty() {
        text.push_str("parameters:\n");
        text.push_str(declarations);
    }
    text.push_str("objects:\n");
    let is_crlf = objects.iter().any(|object| object.contains("\r\n"));
    for object in objects {
        text.push_str(&object);
    }
    Ok(if is_crlf { with_crlf(&text) } else { text })
}

/// A text with the line ends that a part of it has.
fn with_crlf(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    lines.collect::<Vec<_>>().join("\r\n")
}

fn as_json(head: &Head<'_>, declarations: &[String], objects: &[String]) -> Result<String> {
    let mut text = krm_yaml::render_json(&head.value(), Some(json::WIDTH))?;
    let open = text.strip_suffix("\n}").map_or(text.len(), str::len);
    text.truncate(open);
    let items = declarations.iter().chain(objects);
    text.reserve(items.map(|item| item.len() + 6).sum::<usize>() + 64);
    if !declarations.is_empty() {
        json::add_list(&mut text, "parameters", declarations);
    }
    json::add_list(&mut text, "objects", objects);
    text.push_str("\n}\n");
    if cfg!(debug_assertions) {
        Document::parse(&Source::new("template", text.as_str()))?;
    }
    Ok(text)
}

fn text<'t>(key: &'static str, text: &'t str) -> (Cow<'t, str>, Value<'t>) {
    (Cow::Borrowed(key), Value::string(text))
}

impl Head<'_> {
    /// The Template without its lists.
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
        Value::mapping(entries)
    }
}
