//! Secrets: required parameters whose values are never in the Template.

use std::borrow::Cow;

use crate::export::fields::places::{Form, Place, SECRET_WORDS};
use crate::export::marks;
use crate::export::parameters::made::{Made, name};
use crate::export::parameters::maker::{Maker, Object};
use krm_yaml::{Scalar, Value, View, ViewMut};

/// Makes parameters of the values of a Secret.
pub(crate) fn of_secret(mut part: ViewMut<'_, '_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    for (map, kind) in [("stringData", "string"), ("data", "base64")] {
        let Some(entries) = part.by_ref().get(map) else {
            continue;
        };
        entries.each_entry(|key, field| {
            let Some(text) = text_of(field.view()) else {
                return;
            };
            let value = match kind {
                "base64" => text.split_ascii_whitespace().collect(),
                _ => text,
            };
            if value.is_empty() {
                return;
            }
            let kind = if is_base64(&value) || kind == "string" {
                kind
            } else {
                "string"
            };
            let made = Made {
                title: format!("{key} of {}", object.short()).into(),
                origin: format!("`{key}` of {}", object.called).into(),
                kind: Some(kind),
                ..secret(name(&[object.word, key]), value, object)
            };
            let name = maker.parameters.add(made, &|_| false);
            *field.value() = Value::string(marks::text(name));
        });
    }
}

fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .is_ok()
}

/// A parameter for a secret of an object.
fn secret<'v>(name: String, value: Cow<'v, str>, object: &Object<'v>) -> Made<'v> {
    Made {
        name,
        value,
        group: object.called,
        is_required: true,
        is_secret: true,
        ..Made::default()
    }
}

/// The text of a scalar that is not null.
fn text_of(field: View<'_>) -> Option<Cow<'_, str>> {
    match field.scalar()? {
        Scalar::Null => None,
        Scalar::String(text) => Some(text),
        Scalar::Bool(_) | Scalar::Number(_) => Some(Cow::Owned(field.to_json())),
    }
}

/// Makes parameters of the secret fields of a place.
pub(crate) fn of_fields(
    part: ViewMut<'_, '_>,
    place: &Place,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let (parent, key) = place.path.rsplit_once('/').unwrap_or(("", place.path));
    crate::export::visit::each(part, parent, &mut |parent| {
        let text = parent.view().str_at(&[key]);
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        let path = place.path.replace('/', ".");
        let from = match place.form {
            Form::Generated(from) => Some(from),
            _ => None,
        };
        let made = Made {
            title: format!("{} of {}", place.title, object.short()).into(),
            origin: format!("`{path}` of {}", object.called).into(),
            from,
            is_required: from.is_none(),
            ..secret(name(&[object.word, place.field]), text, object)
        };
        let name = maker.parameters.add(made, &|_| false);
        replace(parent, key, name);
    });
}

/// Replaces an entry. Comments beside the old one are left out, for they may hold the secret.
fn replace(parent: ViewMut<'_, '_>, key: &str, name: &str) {
    if let Some(field) = parent.get(key) {
        *field.value() = Value::string(marks::text(name));
    }
}

/// Makes parameters of the variables of a container whose names say that they are secret.
pub(crate) fn of_variables(container: ViewMut<'_, '_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let Some(variables) = container.get("env") else {
        return;
    };
    let mut before: Vec<String> = Vec::new();
    variables.each_item(|variable| {
        let own = variable.view().str_at(&["name"]);
        let own = own.unwrap_or_default().into_owned();
        let is_secret = || {
            let upper = own.to_ascii_uppercase();
            SECRET_WORDS.iter().any(|word| upper.contains(word))
        };
        let value = variable.view().get("value").and_then(text_of);
        let value = value.filter(|text| !text.is_empty() && !is_reference(text) && is_secret());
        if let Some(value) = value {
            let made = Made {
                title: format!("{own} of {}", object.short()).into(),
                origin: format!("the variable `{own}` in {}", object.called).into(),
                ..secret(name(&[object.word, &own]), value, object)
            };
            let name = maker
                .parameters
                .add(made, &|name| before.iter().any(|one| one == name));
            replace(variable, "value", name);
            maker.changes_variables = true;
        }
        before.push(own);
    });
}

/// Whether a value is only a reference to another variable.
fn is_reference(text: &str) -> bool {
    let name = text
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'));
    name.is_some_and(|name| !name.contains(['$', '(', ')']))
}
