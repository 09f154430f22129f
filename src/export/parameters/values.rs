//! The fields of the table, and those of volume claims and ConfigMaps.

use crate::export::fields::places::{Form, Place, QUANTITY, places};
use crate::export::marks;
use crate::export::options::Group;
use crate::export::parameters::images;
use crate::export::parameters::made::{Made, name};
use crate::export::parameters::maker::{Maker, Object};
use crate::export::parameters::{hosts, namespaces, secrets};
use crate::export::visit;
use krm_yaml::{Data, Scalar, Value};

/// Makes the parameters of the table.
pub(crate) fn of_object(value: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let kind = object.identity.kind.as_str();
    for place in places(kind) {
        if maker.makes(place.group) {
            of_place(value, place, object, maker);
        }
    }
    match kind {
        "StatefulSet" if maker.makes(Group::Storage) => claims(value, object, maker),
        "ConfigMap" if maker.makes(Group::ConfigMaps) => config_map(value, object, maker),
        _ => {}
    }
}

fn of_place(value: &mut Value<'_>, place: &Place, object: &Object<'_>, maker: &mut Maker<'_>) {
    let path = || place.path.replace('/', ".").replace("%2F", "/");
    match place.form {
        Form::Image => visit::each(value, place.path, &mut |from| {
            let is_image = from.str_at(&["kind"]) == Some("DockerImage");
            if let Some(name) = from.get_mut("name").filter(|_| is_image) {
                images::of_text(name, "a tag", object, maker);
            }
        }),
        // The entry itself is replaced, so that no comment beside it stays.
        Form::Secret | Form::Generated(_) => {
            secrets::of_fields(value, place, object, maker);
        }
        _ => visit::each_scalar(value, place.path, &mut |field| match place.form {
            Form::Host => hosts::of_field(field, &path(), object, maker),
            Form::Namespace => namespaces::of_field(field, maker),
            _ => of_field(field, place, &path(), object, maker),
        }),
    }
}

fn of_field(
    field: &mut Value<'_>,
    place: &Place,
    path: &str,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let made = Made {
        name: name(&[object.word, place.field]),
        title: [place.title, " of ", object.short()].concat().into(),
        origin: ["`", path, "` of ", object.called].concat().into(),
        group: object.called,
        ..Made::default()
    };
    match place.form {
        Form::Count(least) => count(field, least, made, maker),
        Form::Quantity => quantity(field, made, maker),
        Form::Shared => {
            let made = Made {
                name: place.field.to_owned(),
                title: place.title.into(),
                group: "",
                ..made
            };
            shared(field, place.field, made, maker);
        }
        Form::SecretName => {
            let is_there = field
                .as_str()
                .is_some_and(|name| maker.scope.secrets.contains(name));
            if !is_there {
                shared(field, place.field, made, maker);
            }
        }
        _ => {
            if let Some(made) = text(field, made) {
                let name = maker.parameters.add(made, &|_| false);
                field.set(Value::string(marks::text(name)).data);
            }
        }
    }
}

/// A parameter of a text, which others share.
fn shared(field: &mut Value<'_>, word: &'static str, made: Made, maker: &mut Maker<'_>) {
    if let Some(made) = text(field, made) {
        let marked = maker.shared(word, &made.value.clone(), || made);
        field.set(Value::string(marked).data);
    }
}

/// A parameter of a text that is not empty and holds no mark.
fn text<'f>(field: &'f Value<'_>, made: Made<'f>) -> Option<Made<'f>> {
    let text = field
        .as_str()
        .filter(|text| !text.is_empty() && !marks::has_any(text))?;
    Some(Made {
        value: text.into(),
        is_required: true,
        ..made
    })
}

/// A whole number.
fn count(field: &mut Value<'_>, least: &'static str, made: Made, maker: &mut Maker<'_>) {
    let Data::Scalar(Scalar::Number(digits)) = &field.data else {
        return;
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return;
    }
    let made = Made {
        value: digits.as_ref().into(),
        kind: Some("int"),
        minimum: Some(least),
        is_required: true,
        ..made
    };
    let name = maker.parameters.add(made, &|_| false);
    field.set(Value::string(marks::raw(name)).data);
}

/// An amount; a number stays one.
pub(crate) fn quantity(field: &mut Value<'_>, made: Made, maker: &mut Maker<'_>) {
    let (value, is_number) = match &field.data {
        Data::Scalar(Scalar::String(text)) => (text.as_ref(), false),
        Data::Scalar(Scalar::Number(digits)) => (digits.as_ref(), true),
        _ => return,
    };
    let fits = regex_lite::Regex::new(QUANTITY).is_ok_and(|pattern| pattern.is_match(value));
    if !fits {
        return;
    }
    let made = Made {
        value: value.into(),
        pattern: Some(QUANTITY),
        is_required: true,
        ..made
    };
    let name = maker.parameters.add(made, &|_| false);
    let marked = if is_number {
        marks::raw(name)
    } else {
        marks::text(name)
    };
    field.set(Value::string(marked).data);
}

/// The sizes of the claims of a stateful set.
fn claims(value: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    visit::each(value, "spec/volumeClaimTemplates", &mut |claims| {
        for claim in claims.items_mut().into_iter().flatten() {
            let own = claim
                .str_at(&["metadata", "name"])
                .unwrap_or_default()
                .to_owned();
            visit::each(claim, "spec/resources/requests/storage", &mut |field| {
                let made = Made {
                    name: name(&[object.word, &own, "SIZE"]),
                    title: format!("Size of {own} of {}", object.short()).into(),
                    origin: format!("the size of the claim `{own}` of {}", object.called).into(),
                    group: object.called,
                    ..Made::default()
                };
                quantity(field, made, maker);
            });
        }
    });
}

/// The values of a ConfigMap that are one line.
fn config_map(value: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let Some(Data::Mapping(entries)) = value.get_mut("data").map(|data| &mut data.data) else {
        return;
    };
    for (key, field) in entries {
        let is_line = field.as_str().is_some_and(|text| !text.contains('\n'));
        let made = Made {
            name: name(&[object.word, key]),
            title: format!("{key} of {}", object.short()).into(),
            origin: format!("`data[{key}]` of {}", object.called).into(),
            group: object.called,
            ..Made::default()
        };
        if let Some(made) = text(field, made).filter(|_| is_line) {
            let made = Made {
                is_required: false,
                ..made
            };
            let name = maker.parameters.add(made, &|_| false);
            field.set(Value::string(marks::text(name)).data);
        }
    }
}
