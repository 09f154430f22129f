//! Rules about fields for which Kubernetes requires a type.

use crate::lint::context::{Context, place};
use krm_core::field_types::{self, CONTAINERS, Fields, PROBES, Type, of_pod};
use krm_core::identity::{group, is_built_in};
use krm_core::pods;
use krm_template_engine::{Object, ParameterType, Part, Path, parts};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Scalar, View};

pub(super) fn string_expected(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    check(Type::String, context, object, found);
}

pub(super) fn number_expected(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    check(Type::Number, context, object, found);
}

pub(super) fn bool_expected(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    check(Type::Bool, context, object, found);
}

/// Reports fields that must be `expected` and have another type.
fn check(expected: Type, context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    let is_secret = is_secret(object);
    each_field(object, &mut |value, path, kind| {
        let rule = match kind {
            Type::Port | Type::Share => Type::Number,
            kind => kind,
        };
        if rule == expected
            && let Some(actual) = type_of(context, object, value)
            && is_rejected(context, value, kind, actual)
        {
            let shown = if is_secret {
                format!("a {}", actual.noun())
            } else {
                shown(context, value, actual)
            };
            let mut wrong = Diagnostic::error(format!(
                "`{}` must be {}, found {shown}",
                path.key().unwrap_or_else(|| parent_key(path)),
                kind.with_article(),
            ))
            .at(place(&object.look(), value))
            .conceal(is_secret)
            .field(path.to_string());
            if let Some((hint, fix)) = correction(context, object, value, expected) {
                wrong = wrong.hint(hint);
                wrong.fix = fix.filter(|_| !is_secret);
            }
            found.push(wrong);
        }
    });
}

/// Whether Kubernetes rejects a value of the `actual` type in a field of the type `expected`.
fn is_rejected(context: &Context<'_>, value: View<'_>, expected: Type, actual: Type) -> bool {
    match (expected, actual) {
        (Type::Port | Type::Share, Type::Number) => false,
        (Type::Port | Type::Share, Type::String) => {
            value.as_str().is_some_and(|text| context.is_known(&text) && expected.rejects(&text))
        }
        _ => expected != actual,
    }
}

/// Whether the content of an object must not be shown.
fn is_secret(object: &Object<'_>) -> bool {
    object.value.str_at(&["kind"]) == Some("Secret")
}

fn parent_key<'p>(path: &Path<'p>) -> &'p str {
    match path {
        Path::Index(list, _) => list.key().unwrap_or("item"),
        _ => "item",
    }
}

/// Values longer than this are not shown.
const LONG: usize = 60;

fn shown(context: &Context<'_>, value: View<'_>, actual: Type) -> String {
    let noun = actual.noun();
    match value.scalar() {
        Some(Scalar::Bool(flag)) => format!("the {noun} `{flag}`"),
        Some(Scalar::Number(digits)) if digits.len() <= LONG => {
            format!("the {noun} `{digits}`")
        }
        Some(Scalar::String(text))
            if text.len() <= LONG && context.is_known(&text) && actual == Type::String =>
        {
            format!("the {noun} `{text}`")
        }
        _ => format!("a {noun}"),
    }
}

/// The type of a field's value; `None` if it is unknown or there is no value.
fn type_of(context: &Context<'_>, object: &Object<'_>, value: View<'_>) -> Option<Type> {
    match value.scalar()? {
        Scalar::Bool(_) => Some(Type::Bool),
        Scalar::Number(_) => Some(Type::Number),
        Scalar::String(text) if context.is_known(&text) => Some(Type::String),
        Scalar::String(_) => type_of_unknown(context, object, value),
        Scalar::Null => None,
    }
}

/// The type of a text with remaining references, from the references and their parameters.
fn type_of_unknown(context: &Context<'_>, object: &Object<'_>, value: View<'_>) -> Option<Type> {
    let node = object.document.cursor(value.origin()?);
    let text = node.text().ok()??;
    let dialect = context.template.dialect();
    let mut raw = Vec::new();
    for part in parts(&text, dialect) {
        let (name, is_raw) = match part {
            Part::String { name, .. } => (name, false),
            Part::Raw { name, .. } => (name, true),
            Part::Text(_) | Part::Escaped { .. } | Part::Foreign { .. } => continue,
        };
        let parameters = context.template.parameters();
        // Another rule reports undeclared parameters.
        let declared = parameters.iter().find(|one| one.name == name)?;
        if !is_raw {
            return Some(Type::String);
        }
        raw.push(declared.kind);
    }
    match raw.as_slice() {
        [ParameterType::Bool] => Some(Type::Bool),
        [ParameterType::Int | ParameterType::Number] => Some(Type::Number),
        _ => None,
    }
}

/// The hint how to write the value, and the text to write instead if that is clear: another
/// reference, or the value with or without quotes.
fn correction(
    context: &Context<'_>,
    object: &Object<'_>,
    value: View<'_>,
    expected: Type,
) -> Option<(String, Option<String>)> {
    let node = object.document.cursor(value.origin()?);
    let (raw, written) = (node.raw(), node.text().ok()??);
    let dialect = context.template.dialect();
    let parts: Vec<Part<'_>> = parts(&written, dialect).collect();
    let (hint, fix) = match (parts.as_slice(), expected) {
        ([Part::Raw { name, .. }], Type::String) => {
            let reference = dialect.string_reference(name);
            (format!("`{reference}` inserts a string"), referring(raw, &written, &reference))
        }
        ([Part::String { name, .. }], Type::Number | Type::Bool) => {
            let reference = dialect.raw_reference(name);
            let known = value.as_str().filter(|text| context.is_known(text));
            let is_clear = known.is_none_or(|text| is_spelled_as(&text, expected));
            let fix = referring(raw, &written, &reference).filter(|_| is_clear);
            (format!("`{reference}` inserts the value as a number or a bool"), fix)
        }
        ([Part::Text(_)], Type::String) => {
            let is_clear = match value.scalar()? {
                Scalar::Number(_) => {
                    raw.bytes().all(|b| b.is_ascii_alphanumeric() || b".+-_".contains(&b))
                }
                _ => is_spelled_as(raw, Type::Bool),
            };
            let quoted = if is_secret(object) { String::new() } else { format!(": `\"{raw}\"`") };
            (format!("put it in quotes{quoted}"), is_clear.then(|| format!("\"{raw}\"")))
        }
        ([Part::Text(text)], Type::Number | Type::Bool)
            if is_spelled_as(text, expected)
                || expected == Type::Number && text.parse::<f64>().is_ok() =>
        {
            let is_clear = raw.starts_with(['"', '\'']) && is_spelled_as(text, expected);
            let fix = is_clear.then(|| (*text).to_owned());
            (format!("write it without quotes: `{text}`"), fix)
        }
        _ => return None,
    };
    // A field with an alias may need another type, and a tag sets one.
    let is_plain = node.value_start() == node.place().range.start;
    Some((hint, fix.filter(|_| is_plain)))
}

/// Another reference in the place of the one that is written, with its quotes.
fn referring(raw: &str, written: &str, reference: &str) -> Option<String> {
    if raw == written {
        return Some(reference.to_owned());
    }
    let quote = raw.get(..1).filter(|quote| matches!(*quote, "'" | "\""))?;
    let inner = raw.strip_prefix(quote)?.strip_suffix(quote)?;
    (inner == written).then(|| [quote, reference.trim_matches('"'), quote].concat())
}

/// Whether a text without quotes is a value of this type, and nothing else is meant.
fn is_spelled_as(text: &str, expected: Type) -> bool {
    match expected {
        Type::Number => text.parse::<i32>().is_ok_and(|number| number.to_string() == text),
        Type::Bool => matches!(text, "true" | "false"),
        _ => false,
    }
}

/// Visits a field: its value, its path, and the required type.
type Visit<'f> = dyn FnMut(View<'_>, &Path<'_>, Type) + 'f;

/// Visits all fields of the table that an object has.
fn each_field(object: &Object<'_>, visit: &mut Visit<'_>) {
    let root = Path::Root(&object.field);
    let value = View::from(&object.value);
    let kind = object.value.str_at(&["kind"]).unwrap_or_default();
    let api_version = object.value.str_at(&["apiVersion"]).unwrap_or_default();
    for fields in field_types::of_kind(api_version, kind) {
        each(value, &root, fields, visit);
    }
    if is_built_in(group(api_version)) {
        pods_of(kind, value, &root, visit);
    }
}

/// The fields of the pods that an object has or creates.
fn pods_of(kind: &str, object: View<'_>, root: &Path<'_>, visit: &mut Visit<'_>) {
    if let Some(maker) = pods::maker(kind) {
        follow(object, maker, root, &mut |spec, path| {
            each(spec, path, of_pod("template"), visit);
        });
    }
    if let Some(spec) = pods::spec(kind) {
        follow(object, spec, root, &mut |spec, path| {
            pod(spec, path, visit);
        });
    }
}

fn pod(spec: View<'_>, path: &Path<'_>, visit: &mut Visit<'_>) {
    each(spec, path, of_pod("spec"), visit);
    for list in CONTAINERS {
        follow(spec, &[list], path, &mut |container, path| {
            each(container, path, of_pod("container"), visit);
            for probe in PROBES {
                follow(container, &[probe], path, &mut |probe, path| {
                    each(probe, path, of_pod("probe"), visit);
                });
            }
        });
    }
}

fn each(value: View<'_>, path: &Path<'_>, fields: &Fields, visit: &mut Visit<'_>) {
    for (keys, kind) in fields {
        follow(value, keys, path, &mut |value, path| {
            visit(value, path, *kind);
        });
    }
}

/// Visits all values under `keys`.
pub(super) fn follow(
    value: View<'_>,
    keys: &[&str],
    path: &Path<'_>,
    found: &mut dyn FnMut(View<'_>, &Path<'_>),
) {
    if let Some(items) = value.items() {
        for (index, item) in items.enumerate() {
            follow(item, keys, &Path::Index(path, index), found);
        }
        return;
    }
    match keys {
        [] => found(value, path),
        ["*", rest @ ..] => {
            for (name, value) in value.entries().into_iter().flatten() {
                follow(value, rest, &Path::Key(path, &name), found);
            }
        }
        [key, rest @ ..] => {
            if let Some(value) = value.get(key) {
                follow(value, rest, &Path::Key(path, key), found);
            }
        }
    }
}
