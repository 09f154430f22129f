//! Reports what no table knows: texts that may refer to objects or be secrets, and stay.

use crate::export::marks;
use crate::export::options::Group;
use crate::export::parameters::maker::{Maker, Object};
use krm_core::identity::is_built_in;
use krm_template_engine::Path;
use krm_yaml::{Scalar, Value};

/// Words in the names of fields whose values are secrets. `secret` and `key` are also in the names
/// of references.
const SECRET_WORDS: [&str; 4] = ["password", "passwd", "passphrase", "token"];

/// Reports the fields of a ConfigMap, or of an object whose kind is not Kubernetes' own.
pub(super) fn of_object(
    part: &Value<'_>,
    object: &Object<'_>,
    maker: &Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    let identity = object.identity;
    let fields: &[&str] = match (identity.group.as_str(), identity.kind.as_str()) {
        ("", "ConfigMap") => &["data"],
        (group, _) if is_built_in(group) => &[],
        _ => &["spec", "data"],
    };
    for field in fields {
        if let Some(value) = part.get(field) {
            below(value, &Path::Root(field), field, maker, say);
        }
    }
}

fn below(
    value: &Value<'_>,
    path: &Path<'_>,
    key: &str,
    maker: &Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    for (index, item) in value.items().into_iter().flatten().enumerate() {
        below(item, &Path::Index(path, index), key, maker, say);
    }
    for (key, value) in value.entries().into_iter().flatten() {
        below(value, &Path::Key(path, key), key, maker, say);
    }
    match value.scalar() {
        Some(Scalar::String(text)) if !marks::has_any(text) => {
            if let Some(name) = named(text, maker) {
                say(format!(
                    "kept `{path}`, which may refer to `{name}`: it does not change with NAME"
                ));
            }
            let key = key.to_ascii_lowercase();
            if !text.is_empty() && SECRET_WORDS.iter().any(|word| key.contains(word)) {
                say(format!(
                    "kept `{path}`, which may be a secret: its value is in the Template"
                ));
            }
        }
        _ => {}
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
