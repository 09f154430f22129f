//! Texts as HTML, times, and client commands.

use krm_yaml::Value;
use minijinja::context;
use serde::Serialize;

use super::address::Address;
use crate::templates::pieces;
use crate::ui::list::{ago, server};
use crate::ui::pages::{self, Data};
use crate::ui::visit::Visit;

/// The maximum length of a text on a page, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// Renders a text in YAML or another language as a part of a page.
pub(super) fn part(number: usize, title: &'static str, text: &str) -> Data {
    let shown = beginning(text);
    context! {
        title,
        file => String::new(),
        code => yaml(number, shown),
        is_open => true,
        is_cut => shown.len() < text.len(),
    }
}

/// Renders a value as a part of a page.
pub(super) fn value(number: usize, title: &'static str, value: &Value<'_>) -> Data {
    part(number, title, &krm_yaml::to_string(value))
}

/// Returns the first lines of a text, up to [`MAX_TEXT`].
pub(super) fn beginning(text: &str) -> &str {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let end = text.floor_char_boundary(MAX_TEXT);
    let text = text.get(..end).unwrap_or_default();
    let end = text.rfind('\n').map_or(end, |at| at + 1);
    text.get(..end).unwrap_or_default()
}

/// Renders YAML with syntax highlighting. The `id` of each line contains `number`.
pub(super) fn yaml(number: usize, text: &str) -> Data {
    Data::from_safe_string(pages::object(number, &pieces(text)))
}

/// Converts a stored timestamp for display.
pub(in crate::ui) fn moment(visit: &Visit<'_>, at: &str) -> Data {
    context! { at => at.to_owned(), ago => ago(at, visit.incoming.at.as_second()) }
}

/// Returns a client command. Its words are names and need no quotes.
pub(super) fn command(visit: &Visit<'_>, namespace: &str, words: &str) -> String {
    let server = server(visit);
    format!(
        "krm-template-server deployments {words} \\\n    --namespace {namespace} --server {server}"
    )
}

/// Returns the client commands for a deployment.
pub(super) fn uses(visit: &Visit<'_>, address: &Address, manifest: &str) -> Vec<Data> {
    let name = &address.target.name;
    let commands = [
        ("update", "Update", format!("update {name} --config config.yaml")),
        ("manifest", "Manifest", format!("manifest {name} {manifest}")),
        ("get", "Show", format!("get {name}")),
        ("delete", "Delete", format!("delete {name}")),
    ];
    let commands = commands.into_iter();
    commands
        .map(|(id, title, words)| {
            context! {
                id,
                title,
                text => command(visit, &address.target.namespace, &words),
            }
        })
        .collect()
}

/// Returns the text of a name or a type, which need not be a string.
pub(super) fn name(value: &Value<'_>) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => krm_yaml::to_string(value).trim_end().to_owned(),
    }
}

/// Returns the word for a state in the API.
pub(super) fn word(state: &impl Serialize) -> String {
    let word = serde_json::to_value(state).ok();
    let word = word.as_ref().and_then(serde_json::Value::as_str);
    word.unwrap_or_default().to_owned()
}
