//! The map `values` of the merged Template.

use std::borrow::Cow;

use crate::merge::options::{Options, Prefer};
use crate::merge::part::Part;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Data, Scalar, Value};

/// Brings the values of all Templates into the first one.
pub(super) fn unify(parts: &mut [Part<'_>], options: &Options, found: &mut Diagnostics) {
    for later in 1..parts.len() {
        let (before, rest) = parts.split_at_mut(later);
        if let Some(part) = rest.first() {
            add(before, part, options, found);
        }
    }
}

/// The value of a parameter as it is compared: the text of a scalar as it is written, empty if there
/// is none.
pub(super) fn compared(part: &Part<'_>, value: Option<&Value<'_>>) -> Value<'static> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Value::string("");
    };
    match &value.data {
        Data::Scalar(Scalar::String(text)) => Value::string(text.clone().into_owned()),
        Data::Scalar(_) => {
            let node = value.origin.map(|node| part.root.document().cursor(node));
            let text = node.and_then(|node| node.text().ok().flatten());
            Value::string(text.map_or_else(|| value.to_json(), Cow::into_owned))
        }
        Data::Sequence(_) | Data::Mapping(_) => value.clone().into_owned().without_origin(),
    }
}

/// The default of the parameter with this new name, if the Template declares it.
fn default_of(part: &Part<'_>, name: &str) -> Option<Value<'static>> {
    let mut parameters = part.template.parameters().iter();
    let parameter = parameters.find(|one| part.renamed(&one.name) == name)?;
    let item = part.items("parameters").get(parameter.index);
    Some(compared(part, item.and_then(|item| item.get("value"))))
}

/// Adds the values of one Template to those of the first.
fn add(before: &mut [Part<'_>], part: &Part<'_>, options: &Options, found: &mut Diagnostics) {
    let Some(first) = before.first() else { return };
    let mut taken: Vec<(String, Option<Value<'static>>)> = Vec::new();
    for key in keys(first, part) {
        let (ours, theirs) = (value_of(first, &key), value_of(part, &key));
        let (value, other) = match (ours, theirs) {
            (Some(_), Some(_)) => (compared(first, ours), Some(compared(part, theirs))),
            (Some(_), None) => (compared(first, ours), default_of(part, &key)),
            (None, _) => {
                let default = before.iter().find_map(|one| default_of(one, &key));
                (compared(part, theirs), default)
            }
        };
        let differs = other.is_some_and(|other| other != value);
        match (differs, options.prefer) {
            (false, _) if ours.is_some() => {}
            (true, Some(Prefer::First)) => {}
            (true, None) => found.push(conflict(&key, first, ours, part, theirs)),
            (false, _) | (true, Some(Prefer::Last)) => {
                taken.push((key, theirs.map(|value| compared(part, Some(value)))));
            }
        }
    }
    if let (Some(first), false) = (before.first_mut(), taken.is_empty()) {
        set(&mut first.value, taken);
    }
}

/// The names in the maps of both Templates, each once.
fn keys(first: &Part<'_>, part: &Part<'_>) -> Vec<String> {
    let maps = [first, part].map(|part| part.value.get("values").and_then(Value::entries));
    let mut keys: Vec<String> = Vec::new();
    for (key, _) in maps.into_iter().flatten().flatten() {
        if !keys.iter().any(|known| known == key) {
            keys.push(key.clone().into_owned());
        }
    }
    keys
}

fn value_of<'p, 'd>(part: &'p Part<'d>, key: &str) -> Option<&'p Value<'d>> {
    part.value.at(&["values", key])
}

/// Sets or removes entries of the map.
fn set(template: &mut Value<'_>, taken: Vec<(String, Option<Value<'static>>)>) {
    let Some(values) = template.mapping_at("values") else {
        return;
    };
    for (key, value) in taken {
        values.remove(&key);
        if let Some(value) = value {
            values.insert(Cow::Owned(key), value);
        }
    }
}

/// Two values for one parameter, of which one may be a default.
fn conflict(
    name: &str,
    first: &Part<'_>,
    ours: Option<&Value<'_>>,
    part: &Part<'_>,
    theirs: Option<&Value<'_>>,
) -> Diagnostic {
    let (first_label, label) = (&first.label, &part.label);
    let diagnostic = match (ours, theirs) {
        (Some(_), Some(_)) => part
            .error(
                format!(
                    "`values` sets `{name}` to different values in `{first_label}` and `{label}`"
                ),
                theirs,
            )
            .related(first.place(ours), "the other value"),
        (None, _) => part.error(
            format!(
                "`values` of `{label}` sets `{name}`, which has another value in `{first_label}`"
            ),
            theirs,
        ),
        (Some(_), None) => first.error(
            format!(
                "`values` of `{first_label}` sets `{name}`, which has another value in `{label}`"
            ),
            ours,
        ),
    };
    diagnostic
        .field(format!("values.{name}"))
        .hint(PREFER_HINT)
        .hint(part.prefix_hint())
}

/// How to choose between two values.
pub(super) const PREFER_HINT: &str = "to use the value of the first or of the last Template, add `--prefer first` or `--prefer last`";
