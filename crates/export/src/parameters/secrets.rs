//! Secrets: required parameters whose values are never in the Template.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::fields::credentials::{self, is_secret_name, is_secret_option};
use crate::fields::parameter_fields::{Form, ParameterField};
use crate::parameters::declarations::NewParameter;
use crate::parameters::maker::{Maker, Object};
use crate::references::marks;
use krm_yaml::{Data, Scalar, Value};

/// Makes parameters of the values of a Secret.
pub(crate) fn of_secret(part: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    for (map, kind) in [("stringData", "string"), ("data", "base64")] {
        let data = part.get_mut(map).map(|map| &mut map.data);
        let Some(Data::Mapping(entries)) = data else {
            // No API server takes it, and it may hold a secret.
            part.remove(map);
            continue;
        };
        for (key, field) in entries {
            let Some(text) = text_of(field) else {
                continue;
            };
            let value = match kind {
                "base64" => text.split_ascii_whitespace().collect(),
                _ => text,
            };
            if value.is_empty() {
                continue;
            }
            let kind = if is_base64(&value) || kind == "string" { kind } else { "string" };
            let new = NewParameter {
                name: &[object.word, key],
                title: &[key, " of ", object.short()],
                origin: &["`", key, "` of ", object.called],
                kind: Some(kind),
                ..secret(&value, object)
            };
            let name = maker.parameters.add(&new, &|_| false);
            *field = Value::string(marks::text(name));
        }
    }
}

fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}

/// A parameter for a secret of an object.
fn secret<'v>(value: &'v str, object: &Object<'v>) -> NewParameter<'v> {
    NewParameter {
        value,
        group: object.called,
        is_required: true,
        is_secret: true,
        ..NewParameter::default()
    }
}

/// The text of a value that is not null.
fn text_of<'f>(field: &'f Value<'_>) -> Option<Cow<'f, str>> {
    match field.scalar() {
        Some(Scalar::Null) => None,
        Some(Scalar::String(text)) => Some(Cow::Borrowed(text)),
        _ => Some(Cow::Owned(field.to_json())),
    }
}

/// Makes parameters of the secret fields of a row.
pub(crate) fn of_fields(
    part: &mut Value<'_>,
    row: &ParameterField,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let (parent, key) = row.path.rsplit_once('/').unwrap_or(("", row.path));
    crate::visit::each(part, parent, &mut |parent| {
        let text = parent.str_at(&[key]);
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        let path = row.path.replace('/', ".");
        let from = match row.form {
            Form::Generated(from) => Some(from),
            _ => None,
        };
        let new = NewParameter {
            name: &[object.word, row.field],
            title: &[row.title, " of ", object.short()],
            origin: &["`", &path, "` of ", object.called],
            from,
            is_required: from.is_none(),
            ..secret(text, object)
        };
        let name = maker.parameters.add(&new, &|_| false);
        replace(parent, key, name);
    });
}

/// Replaces an entry. Comments beside the old one are left out, for they may hold the secret.
fn replace(parent: &mut Value<'_>, key: &str, name: &str) {
    if let Some(field) = parent.get_mut(key) {
        *field = Value::string(marks::text(name));
    }
}

/// Makes parameters of the variables of a container whose names say that they are secret, and of
/// credentials in the values of others.
pub(crate) fn of_variables(container: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let variables = container.get_mut("env").and_then(Value::items_mut);
    let mut before: BTreeSet<String> = BTreeSet::new();
    for variable in variables.into_iter().flatten() {
        let own = variable.str_at(&["name"]);
        let own = own.unwrap_or_default().to_owned();
        if let Some(value) = secret_of(variable) {
            let new = NewParameter {
                name: &[object.word, &own],
                title: &[&own, " of ", object.short()],
                origin: &["the variable `", &own, "` in ", object.called],
                ..secret(&value, object)
            };
            let name = maker.parameters.add(&new, &|name| before.contains(name));
            replace(variable, "value", name);
        } else if let Some(value) = variable.get_mut("value") {
            let origin = ["the variable `", &own, "`"].concat();
            in_text(value, &own, &origin, object, maker);
        }
        before.insert(own);
    }
}

/// Makes parameters of credentials in the command and the arguments of a container.
pub(crate) fn of_arguments(container: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    for list in ["command", "args"] {
        let arguments = container.get_mut(list).and_then(Value::items_mut);
        let mut option: Option<String> = None;
        for argument in arguments.into_iter().flatten() {
            let text = argument.as_str().unwrap_or_default().to_owned();
            match option.take().filter(|_| credentials::is_value(&text)) {
                Some(option) => {
                    let own = option.trim_start_matches('-');
                    let new = NewParameter {
                        name: &[object.word, own],
                        title: &[own, " of ", object.short()],
                        origin: &["the argument `", &option, "` in ", object.called],
                        ..secret(&text, object)
                    };
                    let name = maker.parameters.add(&new, &|_| false);
                    *argument = Value::string(marks::text(name));
                }
                None => in_text(argument, "", "an argument", object, maker),
            }
            option = Some(text).filter(|text| is_secret_option(text));
        }
    }
}

/// Makes parameters of the credentials in a text, which `origin` describes. `word` is a part of
/// their names.
fn in_text(
    field: &mut Value<'_>,
    word: &str,
    origin: &str,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let text = field.as_str().unwrap_or_default().to_owned();
    let found = credentials::find(&text);
    if found.is_empty() {
        return;
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for one in found {
        let value = text.get(one.range.clone()).unwrap_or_default();
        let new = NewParameter {
            name: &[object.word, word, &one.name],
            title: &[&one.name, " of ", object.short()],
            origin: &["`", &one.name, "` in ", origin, " of ", object.called],
            ..secret(value, object)
        };
        out.push_str(text.get(done..one.range.start).unwrap_or_default());
        marks::add_text(&mut out, maker.parameters.add(&new, &|_| false));
        done = one.range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    *field = Value::string(out);
}

/// The value of a variable, if its name says that it is secret.
fn secret_of<'v>(variable: &'v Value<'_>) -> Option<Cow<'v, str>> {
    let value = variable.get("value").and_then(text_of);
    let value = value.filter(|text| !text.is_empty() && !is_reference(text))?;
    is_secret_name(variable.str_at(&["name"])?).then_some(value)
}

/// Whether a value is only a reference to another variable.
fn is_reference(text: &str) -> bool {
    let name = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    name.is_some_and(|name| !name.contains(['$', '(', ')']))
}
