//! A consolidated list of transformers as a Composition, with the origin of each part as comments.

use std::fmt::Write as _;

use crate::engine::step::Step;
use crate::engine::transformer::Transformer;
use krm_yaml::diagnostic::Result;
use krm_yaml::{FieldPath, Value};

const HEAD: &str =
    "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Composition\ntransformers:\n";

/// Prints transformers. A part that an override or a default added gets its origin as a comment.
///
/// # Errors
/// If the text is not valid YAML.
pub fn show(steps: &[Step]) -> Result<String> {
    if steps.is_empty() {
        return Ok(HEAD.replace("transformers:", "transformers: []"));
    }
    let mut text = HEAD.to_owned();
    for Step { transformer, .. } in steps {
        let place = transformer.place().map(|place| place.to_text());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {}", place.as_deref().unwrap_or("?"));
        let start = text.len();
        mapping(&mut text, transformer, &FieldPath::root(), &transformer.config, 1);
        text.replace_range(start..start + 2, "- ");
    }
    krm_yaml::Document::parse(&krm_yaml::source::Source::new("consolidated", text.as_str()))?;
    Ok(text)
}

fn mapping(
    text: &mut String,
    transformer: &Transformer,
    at: &FieldPath,
    value: &Value<'_>,
    depth: usize,
) {
    for (key, value) in value.entries().unwrap_or_default() {
        let path = at.clone().key(key.as_ref());
        let is_parted = value.entries().is_some_and(|entries| !entries.is_empty());
        let entry = Value::mapping(vec![(key.clone(), value.clone().without_origin())]);
        let lines = krm_yaml::to_string(&entry);
        if is_parted && !is_of_one_origin(transformer, &path, value) {
            let first = lines.lines().next().unwrap_or_default();
            indented(text, first, depth, "");
            mapping(text, transformer, &path, value, depth + 1);
            continue;
        }
        let comment = comment(transformer, &path, value);
        for (index, line) in lines.lines().enumerate() {
            indented(text, line, depth, if index == 0 { &comment } else { "" });
        }
    }
}

fn indented(text: &mut String, line: &str, depth: usize, comment: &str) {
    if !line.is_empty() {
        text.extend(std::iter::repeat_n("  ", depth));
        text.push_str(line);
        text.push_str(comment);
    }
    text.push('\n');
}

/// Whether the declaration holds all of a value.
fn is_of_one_origin(transformer: &Transformer, at: &FieldPath, value: &Value<'_>) -> bool {
    let is_declared = transformer.file_of(at) == Some(transformer.file());
    let mut entries = value.entries().unwrap_or_default().iter();
    is_declared
        && !transformer.is_changed_within(at)
        && entries
            .all(|(key, value)| is_of_one_origin(transformer, &at.clone().key(key.as_ref()), value))
}

/// The origin of a part, if that is not the declaration.
fn comment(transformer: &Transformer, at: &FieldPath, value: &Value<'_>) -> String {
    if transformer.is_changed_within(at) && value.items().is_some() {
        let mut files: Vec<&str> = transformer.files_within(at);
        files.dedup();
        return format!(" # merged: {}", files.join(", "));
    }
    match transformer.file_of(at) {
        None => " # by default".to_owned(),
        Some(file) if file == transformer.file() => String::new(),
        Some(_) => {
            let place = transformer.place_of(at).map(|place| place.to_text());
            format!(" # {}", place.as_deref().unwrap_or("?"))
        }
    }
}
