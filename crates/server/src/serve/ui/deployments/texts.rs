//! Texts in HTML, times, and commands of the client.

use krm_yaml::Value;
use serde::Serialize;

use super::super::list::{ago, server};
use super::super::visit::Visit;
use super::place::Place;
use crate::pages::{self, Html, Moment, Part, Use};
use crate::process::pieces;

/// The most bytes of a text on a page.
const MAX_TEXT: usize = 64 << 10;

/// A text of YAML, or of another language, as a part of a page.
pub(super) fn part(number: usize, title: &'static str, text: &str) -> Part {
    let shown = beginning(text);
    Part {
        title,
        file: String::new(),
        code: yaml(number, shown),
        is_open: true,
        is_cut: shown.len() < text.len(),
    }
}

/// A value as a part of a page.
pub(super) fn value(number: usize, title: &'static str, value: &Value<'_>) -> Part {
    part(number, title, &krm_yaml::to_string(value))
}

/// The lines of a text that are shown.
fn beginning(text: &str) -> &str {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let end = text.floor_char_boundary(MAX_TEXT);
    let text = text.get(..end).unwrap_or_default();
    let end = text.rfind('\n').map_or(end, |at| at + 1);
    text.get(..end).unwrap_or_default()
}

/// A text of YAML with colours. The ids of its lines contain the number.
pub(super) fn yaml(number: usize, text: &str) -> Html {
    Html::from_safe_string(pages::object(number, &pieces(text)))
}

/// A time that is stored.
pub(super) fn moment(visit: &Visit<'_>, at: &str) -> Moment {
    Moment {
        at: at.to_owned(),
        ago: ago(at, visit.incoming.at.as_second()),
    }
}

/// `1 resource`, `2 resources`
pub(super) fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

/// A command of the client. Its words are names, which no shell changes.
pub(super) fn command(visit: &Visit<'_>, namespace: &str, words: &str) -> String {
    let server = server(visit);
    format!(
        "krm-template-server deployments {words} \\\n    --namespace {namespace} --server {server}"
    )
}

/// Commands for a deployment.
pub(super) fn uses(visit: &Visit<'_>, place: &Place, manifest: &str) -> Vec<Use> {
    let name = &place.target.name;
    let commands = [
        (
            "update",
            "Update",
            format!("update {name} --config config.yaml"),
        ),
        (
            "manifest",
            "Manifest",
            format!("manifest {name} {manifest}"),
        ),
        ("get", "Show", format!("get {name}")),
        ("delete", "Delete", format!("delete {name}")),
    ];
    let commands = commands.into_iter();
    commands
        .map(|(id, title, words)| Use {
            id,
            title,
            text: command(visit, &place.target.namespace, &words),
        })
        .collect()
}

/// The text of a name or a type, which need not be a string.
pub(super) fn name(value: &Value<'_>) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => krm_yaml::to_string(value).trim_end().to_owned(),
    }
}

/// The word for a state, as the API has it.
pub(super) fn word(state: &impl Serialize) -> String {
    let word = serde_json::to_value(state).ok();
    let word = word.as_ref().and_then(serde_json::Value::as_str);
    word.unwrap_or_default().to_owned()
}
