//! Reports what no table knows: texts that may refer to objects or be secrets, and stay.

use std::collections::BTreeSet;

use crate::fields::credentials::{self, is_secret_name};
use crate::options::Group;
use crate::parameters::maker::{Maker, Object};
use crate::references::marks;
use krm_core::identity::is_built_in;
use krm_template_engine::Path;
use krm_yaml::{Scalar, Value};

/// Reports the references and secrets of an object that stay.
pub(super) fn of_object(
    part: &Value<'_>,
    object: &Object<'_>,
    maker: &Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    let identity = object.identity;
    for (key, value) in part.entries().into_iter().flatten() {
        let knows = match (identity.group.as_str(), identity.kind.as_str(), key.as_ref()) {
            ("", "Secret", _) => continue,
            ("", "ConfigMap", "data") => Knows::Nothing,
            (group, _, _) if is_built_in(group) => Knows::Fields,
            (_, _, "spec" | "data") => Knows::Words,
            _ => Knows::Fields,
        };
        let mut leftovers = Leftovers { knows, maker, say, secrets: BTreeSet::new() };
        leftovers.below(value, &Path::Root(key), key);
    }
}

/// The fields of an object that the tables know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knows {
    /// The tables know those that refer to objects and those that hold secrets.
    Fields,
    /// Nothing, but names with `secret` or `key` are often those of references.
    Words,
    Nothing,
}

struct Leftovers<'l, 'm> {
    knows: Knows,
    maker: &'l Maker<'m>,
    say: &'l mut dyn FnMut(String),
    /// The paths of secrets that were reported.
    secrets: BTreeSet<String>,
}

impl Leftovers<'_, '_> {
    fn below(&mut self, value: &Value<'_>, path: &Path<'_>, key: &str) {
        let mut option = false;
        for (index, item) in value.items().into_iter().flatten().enumerate() {
            let path = Path::Index(path, index);
            let text = item.as_str().unwrap_or_default();
            if option && !marks::has_any(text) && credentials::is_value(text) {
                self.secret(&path);
            }
            option = credentials::is_secret_option(text);
            self.below(item, &path, key);
        }
        if let Some(name) = value.str_at(&["name"])
            && let Some(text) = value.str_at(&["value"])
        {
            let is_secret = is_secret_name(name) || name == "Authorization";
            if is_secret && !text.is_empty() && !marks::has_any(text) && !text.contains("$(") {
                self.secret(&Path::Key(path, "value"));
            }
        }
        self.stream(value, path);
        for (key, value) in value.entries().into_iter().flatten() {
            self.below(value, &Path::Key(path, key), key);
        }
        if let Some(Scalar::String(text)) = value.scalar()
            && !text.is_empty()
            && !marks::has_any(text)
        {
            self.text(text, path, key);
        }
    }

    /// Reports a text that may refer to an object, or may be or hold a secret.
    fn text(&mut self, text: &str, path: &Path<'_>, key: &str) {
        let found = named(text, self.maker).filter(|_| self.knows != Knows::Fields);
        if let Some(name) = found {
            (self.say)(format!(
                "kept `{path}`, which may refer to `{name}`: it does not change with NAME"
            ));
        }
        let is_secret = match self.knows {
            Knows::Fields => false,
            Knows::Words => is_secret_name(key) && !credentials::may_name_reference(key),
            Knows::Nothing => is_secret_name(key),
        };
        if is_secret {
            self.secret(path);
        } else if let Some(one) = credentials::find(text).first()
            && self.is_new(path)
        {
            let name = &one.name;
            (self.say)(format!(
                "kept `{path}`, where `{name}` may be a secret: its value is in the Template"
            ));
        }
    }

    fn secret(&mut self, path: &Path<'_>) {
        if self.is_new(path) {
            (self.say)(format!(
                "kept `{path}`, which may be a secret: its value is in the Template"
            ));
        }
    }

    /// Whether a secret is reported for the first time.
    fn is_new(&mut self, path: &Path<'_>) -> bool {
        self.secrets.insert(path.to_string())
    }

    /// Reports the namespace of an image stream, which is that of another project.
    fn stream(&mut self, value: &Value<'_>, path: &Path<'_>) {
        let kind = value.str_at(&["kind"]).unwrap_or_default();
        let is_stream = kind.starts_with("ImageStream");
        let namespace = value.str_at(&["namespace"]).filter(|_| is_stream);
        if let Some(namespace) = namespace.filter(|one| !one.is_empty() && !marks::has_any(one)) {
            let path = Path::Key(path, "namespace");
            (self.say)(format!("kept `{path}`: the image comes from the namespace `{namespace}`"));
        }
    }
}

/// The object that a text may refer to: one with its name, or a Service whose DNS name is in it.
fn named<'t>(text: &'t str, maker: &Maker<'_>) -> Option<&'t str> {
    if !maker.makes(Group::Names) {
        return None;
    }
    let scope = maker.scope;
    let is_own = |name: &&str| scope.prefix.as_deref() != Some(name);
    if scope.names.contains(text) {
        return Some(text).filter(is_own);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let hosts = text.split(|c| !is_part(c));
    let mut labels = hosts.filter_map(|word| word.split('.').next());
    labels.find(|label| is_own(label) && scope.services.contains_key(*label))
}
