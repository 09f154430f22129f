//! `--output-dir`: a file for each object, named as kpt names them.

use std::collections::BTreeMap;

use krm_core::created;
use krm_core::identity::group;
use krm_core::lists;
use krm_template_engine::{Format, Object};
use krm_template_exec::staged::Access;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Position, Value};

/// A file to be written.
pub(crate) struct File {
    /// Its path in the folder, with `/`.
    path: String,
    text: String,
    /// The object, in the user's words.
    object: String,
    /// Whether it has a secret: it is a Secret, or refers to a secret parameter.
    pub(crate) is_secret: bool,
    /// The API group of the object, which distinguishes objects of the same kind and name.
    group: String,
}

impl File {
    /// The file for an object, with its text.
    pub(crate) fn of(object: &Value<'_>, text: String, format: Format) -> Self {
        let (kind, namespace, name) = names(object);
        let slash = if namespace.is_empty() { "" } else { "/" };
        Self {
            path: path(object, format),
            text,
            is_secret: kind == "Secret",
            object: format!("{kind} {namespace}{slash}{name}"),
            group: group_of(object),
        }
    }

    /// Returns the file with another path.
    pub(crate) fn at(self, path: String) -> Self {
        Self { path, ..self }
    }

    /// Its path in the folder, with `/`.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Who may read it.
    pub(crate) const fn access(&self) -> Access {
        if self.is_secret { Access::Owner } else { Access::Usual }
    }
}

/// The file of an object.
pub(crate) fn file(object: &Object<'_>, format: Format, found: &mut Diagnostics) -> Option<File> {
    let text = match format {
        Format::Json => found.take(krm_yaml::render_json(&object.value, Some(4)))? + "\n",
        _ => found.take(lists::render(object.document, &object.value, Position::Document))?,
    };
    let file = File::of(&object.value, text, format);
    let origin = object.value.origin;
    let place = origin.map(|origin| object.document.cursor(origin).key_place());
    found.take(created::check(&object.value, file.path(), place))?;
    Some(file)
}

/// The path of an object's file in the folder, with `/`.
pub(crate) fn path(object: &Value<'_>, format: Format) -> String {
    let (kind, namespace, name) = names(object);
    let extension = if format == Format::Json { "json" } else { "yaml" };
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{}{slash}{}_{}.{extension}", safe(namespace), safe(kind).to_lowercase(), safe(name))
}

/// Kind, namespace and name of an object.
fn names<'o>(object: &'o Value<'_>) -> (&'o str, &'o str, &'o str) {
    let part = |keys: &[&str]| object.str_at(keys).unwrap_or_default();
    let name = match part(&["metadata", "name"]) {
        "" => part(&["metadata", "generateName"]),
        name => name,
    };
    (part(&["kind"]), part(&["metadata", "namespace"]), name)
}

fn group_of(object: &Value<'_>) -> String {
    group(object.str_at(&["apiVersion"]).unwrap_or_default()).to_owned()
}

/// A text as a safe part of a path: only letters, digits, `-`, `_`, and `.` except at the start.
fn safe(text: &str) -> String {
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let replaced = text.chars().map(|c| if is_safe(&c) { c } else { '-' });
    let replaced: String = replaced.collect();
    match replaced.strip_prefix('.') {
        Some(rest) => format!("-{rest}"),
        None => replaced,
    }
}

/// Reports objects that would be written to the same file, ignoring case.
pub(crate) fn check(files: &[File], diagnostics: &mut Diagnostics) {
    let mut seen: BTreeMap<String, &File> = BTreeMap::new();
    for file in files {
        let Some(first) = seen.insert(file.path.to_lowercase(), file) else {
            continue;
        };
        let with_group = |file: &File| match file.group.as_str() {
            "" => format!("`{}`", file.object),
            group => format!("`{}` of `{group}`", file.object),
        };
        diagnostics.push(
            Diagnostic::error(format!(
                "{} and {} would both be written to `{}`",
                with_group(first),
                with_group(file),
                file.path
            ))
            .hint("change the name or namespace of one of them"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn names_stay_in_their_folder() {
        for (text, expected) in [
            ("web", "web"),
            ("system:node-proxier", "system-node-proxier"),
            ("../../etc/passwd", "-.-..-etc-passwd"),
            ("..", "-."),
            ("a\\b\0c", "a-b-c"),
            ("ä", "-"),
        ] {
            assert_eq!(safe(text), expected, "{text:?}");
        }
    }
}
