//! The fields of the table, and those of volume claims and ConfigMaps.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::fields::parameter_fields::{Form, ParameterField, QUANTITY, parameter_fields};
use crate::options::Group;
use crate::parameters::declarations::NewParameter;
use crate::parameters::images;
use crate::parameters::maker::{Maker, Object};
use crate::parameters::{hosts, namespaces, secrets};
use crate::references::marks;
use crate::visit;
use krm_yaml::{Data, Scalar, Value};

/// Makes the parameters of the table.
pub(crate) fn of_object(part: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let kind = object.identity.kind.as_str();
    for row in parameter_fields(kind) {
        if maker.makes(row.group) {
            of_row(part, row, object, maker);
        }
    }
    match kind {
        "StatefulSet" if maker.makes(Group::Storage) => claims(part, object, maker),
        "ConfigMap" if maker.makes(Group::ConfigMaps) => config_map(part, object, maker),
        _ => {}
    }
}

fn of_row(part: &mut Value<'_>, row: &ParameterField, object: &Object<'_>, maker: &mut Maker<'_>) {
    // Only paths of namespaces have a `%2F`, and no message shows them.
    let path = || row.path.replace('/', ".");
    match row.form {
        Form::Image => visit::each(part, row.path, &mut |from| {
            let is_image = from.str_at(&["kind"]) == Some("DockerImage");
            if let Some(name) = from.get_mut("name").filter(|_| is_image) {
                images::of_text(name, ["a tag", "", ""], object, maker);
            }
        }),
        // The entry itself is replaced, so that no comment beside it stays.
        Form::Secret | Form::Generated(_) => {
            secrets::of_fields(part, row, object, maker);
        }
        _ => visit::each_scalar(part, row.path, &mut |field| match row.form {
            Form::Host => hosts::of_field(field, &path(), object, maker),
            Form::Namespace => namespaces::of_field(field, maker),
            _ => of_field(field, row, &path(), object, maker),
        }),
    }
}

fn of_field(
    field: &mut Value<'_>,
    row: &ParameterField,
    path: &str,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let new = NewParameter {
        name: &[object.word, row.field],
        title: &[row.title, " of ", object.short()],
        origin: &["`", path, "` of ", object.called],
        group: object.called,
        ..NewParameter::default()
    };
    match row.form {
        Form::Count(least) => count(field, least, new, maker),
        Form::Quantity => quantity(field, new, maker),
        Form::Shared => {
            let new = NewParameter { name: &[row.field], title: &[row.title], group: "", ..new };
            shared(field, row.field, new, maker);
        }
        Form::SecretName => {
            let is_there = field.as_str().is_some_and(|name| maker.scope.secrets.contains(name));
            if !is_there {
                shared(field, row.field, new, maker);
            }
        }
        _ => {
            if let Some(value) = text(field) {
                let new = NewParameter { value, is_required: true, ..new };
                let name = maker.parameters.add(&new, &|_| false);
                field.set(Value::string(marks::text(name)).data);
            }
        }
    }
}

/// A parameter of a text, which others share.
fn shared(field: &mut Value<'_>, word: &'static str, new: NewParameter<'_>, maker: &mut Maker<'_>) {
    if let Some(value) = text(field) {
        let new = NewParameter { value, ..new };
        let marked = maker.shared(word, new).to_owned();
        field.set(Value::string(marked).data);
    }
}

/// A text that is not empty and holds no mark.
fn text<'f>(field: &'f Value<'_>) -> Option<&'f str> {
    let text = field.as_str();
    text.filter(|text| !text.is_empty() && !marks::has_any(text))
}

/// Makes a parameter of a whole number that is not negative.
fn count(field: &mut Value<'_>, least: &'static str, new: NewParameter<'_>, maker: &mut Maker<'_>) {
    let Some(Scalar::Number(digits)) = field.scalar() else {
        return;
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return;
    }
    let new = NewParameter {
        value: digits,
        kind: Some("int"),
        minimum: Some(least),
        is_required: true,
        ..new
    };
    let name = maker.parameters.add(&new, &|_| false);
    field.set(Value::string(marks::raw(name)).data);
}

/// An amount; a number stays one.
pub(crate) fn quantity(field: &mut Value<'_>, new: NewParameter<'_>, maker: &mut Maker<'_>) {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(QUANTITY).ok());
    let (value, is_number) = match field.scalar() {
        Some(Scalar::String(text)) => (text, false),
        Some(Scalar::Number(digits)) => (digits, true),
        _ => return,
    };
    let fits = |pattern: &Regex| pattern.is_match(value);
    if !PATTERN.as_ref().is_some_and(fits) {
        return;
    }
    let new = NewParameter { value, pattern: Some(QUANTITY), is_required: true, ..new };
    let name = maker.parameters.add(&new, &|_| false);
    let marked = if is_number { marks::raw(name) } else { marks::text(name) };
    field.set(Value::string(marked).data);
}

/// The sizes of the claims of a stateful set.
fn claims(part: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    visit::each(part, "spec/volumeClaimTemplates", &mut |claims| {
        for claim in claims.items_mut().into_iter().flatten() {
            let own = claim.str_at(&["metadata", "name"]);
            let own = own.unwrap_or_default().to_owned();
            visit::each(claim, "spec/resources/requests/storage", &mut |field| {
                let new = NewParameter {
                    name: &[object.word, &own, "SIZE"],
                    title: &["Size of ", &own, " of ", object.short()],
                    origin: &["the size of the claim `", &own, "` of ", object.called],
                    group: object.called,
                    ..NewParameter::default()
                };
                quantity(field, new, maker);
            });
        }
    });
}

/// The values of a ConfigMap that are one line.
fn config_map(part: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let Some(Data::Mapping(data)) = part.get_mut("data").map(|data| &mut data.data) else {
        return;
    };
    for (key, field) in data {
        if let Some(value) = text(field).filter(|text| !text.contains('\n')) {
            let new = NewParameter {
                name: &[object.word, key],
                title: &[key, " of ", object.short()],
                origin: &["`data[", key, "]` of ", object.called],
                group: object.called,
                value,
                ..NewParameter::default()
            };
            let name = maker.parameters.add(&new, &|_| false);
            field.set(Value::string(marks::text(name)).data);
        }
    }
}
