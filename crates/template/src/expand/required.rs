//! The fields that every object must have.

use crate::declare::dialect::Dialect;
use crate::declare::model::Template;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Data, Scalar, Value};

const API_VERSION: [&str; 1] = ["apiVersion"];
const NAME: [&str; 2] = ["metadata", "name"];
const GENERATE_NAME: [&str; 2] = ["metadata", "generateName"];
/// The fields that every object must have.
const REQUIRED: [&[&str]; 3] = [&API_VERSION, &["kind"], &NAME];

/// Reports the fields that every Kubernetes object has and this one does not; whether it can be
/// created all the same.
pub(super) fn is_complete(
    value: &Value<'_>,
    node: Cursor<'_>,
    field: &str,
    template: &Template,
    require_name: bool,
    diagnostics: &mut Diagnostics,
) -> bool {
    let place_of = |origin| node.document().cursor(origin).place();
    let mut complete = true;
    for keys in REQUIRED {
        if *keys == API_VERSION && template.is_upstream {
            // As OpenShift's API.
            continue;
        }
        let Some((problem, hint)) = missing(value, keys, require_name) else {
            continue;
        };
        let is_name = *keys == NAME;
        let generate_name = value.at(&GENERATE_NAME).filter(|_| is_name);
        let origin = value.at(keys).or(generate_name).and_then(|one| one.origin);
        let place = origin.or(value.origin).map_or_else(|| node.place(), place_of);
        // As `oc`, which leaves it to the cluster.
        let passes = is_name && !require_name && template.dialect == Dialect::OpenShift;
        let diagnostic =
            if passes { Diagnostic::warning(problem) } else { Diagnostic::error(problem) };
        diagnostics.push(
            diagnostic
                .at(place)
                .field(format!("{field}.{}", keys.join(".")))
                .maybe_hint(in_other_case(value, keys))
                .maybe_hint(keys.first().and_then(|key| node.get(key)?.space_hint()))
                .hint(hint),
        );
        complete &= passes;
    }
    complete
}

/// The problem with a required field of an object, and a hint; nothing if the field is fine.
fn missing(
    object: &Value<'_>,
    keys: &[&str],
    require_name: bool,
) -> Option<(String, &'static str)> {
    let may_be_empty = keys == NAME && !require_name;
    let generate_name = object.str_at(&GENERATE_NAME).unwrap_or_default();
    let generates = keys == NAME && !generate_name.is_empty();
    let what = keys.join(".");
    match object.at(keys).map(|value| &value.data) {
        Some(Data::Scalar(Scalar::String(text))) if !text.is_empty() => None,
        // As `oc`: an empty parameter makes an empty name.
        Some(Data::Scalar(Scalar::String(_))) if may_be_empty => None,
        Some(Data::Scalar(Scalar::String(_))) => {
            Some((format!("`{what}` is empty"), "give a value to the parameter that it comes from"))
        }
        None | Some(Data::Scalar(Scalar::Null)) if generates && may_be_empty => None,
        None | Some(Data::Scalar(Scalar::Null)) => {
            let hint = match keys {
                ["apiVersion"] => "`kubectl explain KIND` shows the API version of a kind",
                ["kind"] => "every Kubernetes object has one, for example `kind: Deployment`",
                _ if generates => {
                    "`generateName` is not enough: kustomize and kpt identify an object by its name; \
                     use `krm-template process` and `kubectl create`"
                }
                _ => "every Kubernetes object has one",
            };
            Some((format!("the object has no `{what}`"), hint))
        }
        Some(_) => Some((
            format!("`{what}` must be a string"),
            "put it in quotes; where a raw reference makes it a number, write `$(NAME)` or `${NAME}`",
        )),
    }
}

/// A field of an object that differs in case only from the one under `keys`.
fn in_other_case(object: &Value<'_>, keys: &[&str]) -> Option<String> {
    let (name, above) = keys.split_last()?;
    let mut keys = object.at(above)?.entries()?.iter().map(|(key, _)| key);
    let key = keys.find(|key| key != name && key.eq_ignore_ascii_case(name))?;
    Some(format!("did you mean `{name}` instead of `{key}`?"))
}

/// The error for an object that is not a mapping.
pub(super) fn not_a_mapping(is_null: bool, place: Place, field: String) -> Diagnostic {
    let what = if is_null { "is empty" } else { "is not a mapping" };
    Diagnostic::error(format!("the object {what}"))
        .at(place)
        .field(field)
        .hint("an object has `apiVersion`, `kind` and `metadata.name`")
}
