//! The fields of the table, and those of volume claims and ConfigMaps.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::export::fields::places::{Form, Place, QUANTITY, places};
use crate::export::marks;
use crate::export::options::Group;
use crate::export::parameters::images;
use crate::export::parameters::made::Made;
use crate::export::parameters::maker::{Maker, Object};
use crate::export::parameters::{hosts, namespaces, secrets};
use crate::export::visit;
use krm_yaml::{Data, Scalar, Value};

/// Makes the parameters of the table.
pub(crate) fn of_object(part: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    let kind = object.identity.kind.as_str();
    for place in places(kind) {
        if maker.makes(place.group) {
            of_place(part, place, object, maker);
        }
    }
    match kind {
        "StatefulSet" if maker.makes(Group::Storage) => claims(part, object, maker),
        "ConfigMap" if maker.makes(Group::ConfigMaps) => config_map(part, object, maker),
        _ => {}
    }
}

fn of_place(part: &mut Value<'_>, place: &Place, object: &Object<'_>, maker: &mut Maker<'_>) {
    // Only paths of namespaces have a `%2F`, and no message shows them.
    let path = || place.path.replace('/', ".");
    match place.form {
        Form::Image => visit::each(part, place.path, &mut |from| {
            let is_image = from.str_at(&["kind"]) == Some("DockerImage");
            if let Some(name) = from.get_mut("name").filter(|_| is_image) {
                images::of_text(name, ["a tag", "", ""], object, maker);
            }
        }),
        // The entry itself is replaced, so that no comment beside it stays.
        Form::Secret | Form::Generated(_) => {
            secrets::of_fields(part, place, object, maker);
        }
        _ => visit::each_scalar(part, place.path, &mut |field| match place.form {
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
        name: &[object.word, place.field],
        title: &[place.title, " of ", object.short()],
        origin: &["`", path, "` of ", object.called],
        group: object.called,
        ..Made::default()
    };
    match place.form {
        Form::Count(least) => count(field, least, made, maker),
        Form::Quantity => quantity(field, made, maker),
        Form::Shared => {
            let made = Made {
                name: &[place.field],
                title: &[place.title],
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
            if let Some(value) = text(field) {
                let made = Made {
                    value,
                    is_required: true,
                    ..made
                };
                let name = maker.parameters.add(&made, &|_| false);
                field.set(Value::string(marks::text(name)).data);
            }
        }
    }
}

/// A parameter of a text, which others share.
fn shared(field: &mut Value<'_>, word: &'static str, made: Made<'_>, maker: &mut Maker<'_>) {
    if let Some(value) = text(field) {
        let made = Made { value, ..made };
        let marked = maker.shared(word, made).to_owned();
        field.set(Value::string(marked).data);
    }
}

/// A text that is not empty and holds no mark.
fn text<'f>(field: &'f Value<'_>) -> Option<&'f str> {
    let text = field.as_str();
    text.filter(|text| !text.is_empty() && !marks::has_any(text))
}

/// Makes a parameter of a whole number that is not negative.
fn count(field: &mut Value<'_>, least: &'static str, made: Made<'_>, maker: &mut Maker<'_>) {
    let Some(Scalar::Number(digits)) = field.scalar() else {
        return;
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return;
    }
    let made = Made {
        value: digits,
        kind: Some("int"),
        minimum: Some(least),
        is_required: true,
        ..made
    };
    let name = maker.parameters.add(&made, &|_| false);
    field.set(Value::string(marks::raw(name)).data);
}

/// An amount; a number stays one.
pub(crate) fn quantity(field: &mut Value<'_>, made: Made<'_>, maker: &mut Maker<'_>) {
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
    let made = Made {
        value,
        pattern: Some(QUANTITY),
        is_required: true,
        ..made
    };
    let name = maker.parameters.add(&made, &|_| false);
    let marked = if is_number {
        marks::raw(name)
    } else {
        marks::text(name)
    };
    field.set(Value::string(marked).data);
}

/// The sizes of the claims of a stateful set.
fn claims(part: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    visit::each(part, "spec/volumeClaimTemplates", &mut |claims| {
        for claim in claims.items_mut().into_iter().flatten() {
            let own = claim.str_at(&["metadata", "name"]);
            let own = own.unwrap_or_default().to_owned();
            visit::each(claim, "spec/resources/requests/storage", &mut |field| {
                let made = Made {
                    name: &[object.word, &own, "SIZE"],
                    title: &["Size of ", &own, " of ", object.short()],
                    origin: &["the size of the claim `", &own, "` of ", object.called],
                    group: object.called,
                    ..Made::default()
                };
                quantity(field, made, maker);
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
            let made = Made {
                name: &[object.word, key],
                title: &[key, " of ", object.short()],
                origin: &["`data[", key, "]` of ", object.called],
                group: object.called,
                value,
                ..Made::default()
            };
            let name = maker.parameters.add(&made, &|_| false);
            field.set(Value::string(marks::text(name)).data);
        }
    }
}
