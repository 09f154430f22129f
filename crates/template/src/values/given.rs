//! Values that were given for parameters, and where each came from.

use std::collections::BTreeMap;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Way};
use krm_yaml::scalar::{Style, is_timestamp};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, DuplicateKeys, Kind, Scalar, Value, space_hint};

/// A value for a parameter.
#[derive(Clone, Debug)]
pub enum AssignedValue {
    /// Text, as it was written.
    Text(String),
    /// A list or mapping, for a parameter of such a type.
    Structured(Value<'static>),
    /// The bytes of a file: encoded for a parameter of type base64, text for any other.
    Bytes(Vec<u8>),
    /// A placeholder for an unknown value. It passes all checks.
    Unknown(String),
}

/// A value that was given for a parameter by name.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The name, which may be unknown to the Template.
    pub name: String,
    /// The value, not yet checked against the parameter's type.
    pub value: AssignedValue,
    /// Where it was given, in the user's words: `-p`, `params.yaml`.
    pub origin: String,
    /// The place of the value in a file, if it came from one.
    pub place: Option<Place>,
    /// The place of the name in a file, if it came from one.
    pub name_place: Option<Place>,
    /// Whether it came from where secrets are kept and must not be shown.
    pub secret: bool,
}

impl Assignment {
    /// A value from a command line argument.
    pub fn text(
        name: impl Into<String>,
        value: impl Into<String>,
        origin: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            value: AssignedValue::Text(value.into()),
            origin: origin.into(),
            place: None,
            name_place: None,
            secret: false,
        }
    }
}

/// Reads a mapping from parameter names to values that a server received. No message shows one of
/// them. All errors go to `diagnostics`.
pub fn read_values(mapping: Cursor<'_>, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let mut given = entries(mapping, diagnostics);
    for one in &mut given {
        one.secret = true;
    }
    given
}

/// Reads a list of values that a server received: each has a `name` and a `value`. No message shows
/// a value. All errors go to `diagnostics`.
pub fn read_value_list(list: Cursor<'_>, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    const FORM: &str = "write each value as `{name: NAME, value: VALUE}`";
    let mut given = Given::default();
    if !list.is_sequence() {
        let error = Diagnostic::error("expected a list of values").at(list.place());
        diagnostics.push(error.hint(FORM));
        return Vec::new();
    }
    for item in list.children() {
        let wrong = |text: String| Diagnostic::error(text).at(item.place()).hint(FORM);
        let name = item.get("name").and_then(|name| name.text().ok()?);
        let (Some(name), Some(value)) = (name, item.get("value")) else {
            diagnostics.push(wrong("expected a `name` and a `value`".to_owned()));
            continue;
        };
        let keys = item.children().filter_map(|entry| entry.key().ok());
        for key in keys.filter(|key| !matches!(key.as_ref(), "name" | "value")) {
            diagnostics.push(wrong(format!("unknown field `{key}` of a value")));
        }
        let place = item.get("name").map(Cursor::place);
        if let Some(one) = diagnostics.take(assignment(name.into_owned(), place, value)) {
            given.add(one, diagnostics);
        }
    }
    let mut given = given.all;
    for one in &mut given {
        one.secret = true;
    }
    given
}

/// Reads a mapping from parameter names to values (KUDO KEP-26), or the `data` or `values` of a
/// `ParameterValues` or `ConfigMap` object with one. `template` is the name of the Template
/// the values are for: an object may name its Template.
pub fn from_node(
    root: Cursor<'_>,
    template: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Assignment> {
    if root.is_null() {
        return Vec::new();
    }
    let kind = root.text_at(["kind"]).unwrap_or_default();
    let is_object = root.get("apiVersion").is_some()
        && matches!(kind.as_ref(), "ParameterValues" | "ConfigMap");
    if !is_object {
        if let Some(place) = root.get("kind").map(Cursor::place)
            && root.get("apiVersion").is_some()
            && root.get("metadata").is_some()
        {
            diagnostics.push(
                Diagnostic::error(format!("expected values, found `kind: {kind}`"))
                    .at(place)
                    .hint("write each value as `NAME: value`, or all under `values` of `kind: ParameterValues`"),
            );
            return Vec::new();
        }
        return entries(root, diagnostics);
    }
    if let Some(meant) = root.get("template").filter(|meant| !meant.is_null()) {
        let name = meant.text().ok().flatten().unwrap_or_default();
        if name != template {
            diagnostics.push(
                Diagnostic::error(format!(
                    "these values are for the Template `{name}`, not for `{template}`"
                ))
                .at(meant.place())
                .field("template"),
            );
            return Vec::new();
        }
    }
    ["data", "values"]
        .iter()
        .filter_map(|key| root.get(key))
        .filter(|values| !values.is_null())
        .flat_map(|values| from_mapping(values, diagnostics))
        .collect()
}

/// Reads a mapping in an object, with entries `NAME: value`. Reports malformed entries, names given
/// twice, and values that kustomize may have changed.
pub fn from_mapping(mapping: Cursor<'_>, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let given = entries(mapping, diagnostics);
    for entry in mapping.children().filter(|_| mapping.is_mapping()) {
        let name = entry.key_text().unwrap_or_default();
        let text = entry.text().ok().flatten().unwrap_or_default();
        let is_kept = entry.is_null() || is_respelled_alike(&text);
        let warning = unquoted(&name, entry).filter(|_| !is_kept);
        if let Some(warning) = warning {
            // The value may be meant for a secret parameter, also under a misspelt name.
            diagnostics.push(warning.conceal(true));
        }
    }
    given
}

/// The warning for the value of a parameter that is not a string, or is a date: kustomize spells it
/// anew before a function sees it.
pub(crate) fn unquoted(name: &str, value: Cursor<'_>) -> Option<Diagnostic> {
    if matches!(value.kind(), Kind::Mapping | Kind::Sequence) {
        return None;
    }
    let is_plain = value.kind() == Kind::Scalar(Style::Plain);
    let is_string = matches!(value.scalar(), Ok(Some(Scalar::String(_))));
    if is_string && !(is_plain && is_timestamp(value.raw())) {
        return None;
    }
    let warning = Diagnostic::warning(format!("the value of parameter `{name}` is not a string"));
    let warning = warning.rule("unquoted-value").at(value.place());
    Some(warning.hint("write it in quotes, as you meant it: kustomize changes unquoted values before a function sees them, as `1.10` to `1.1`"))
}

/// Whether kustomize leaves the spelling of a number or a bool as it is.
pub(crate) fn is_respelled_alike(text: &str) -> bool {
    let is_integer =
        |text: &str| text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    matches!(text, "true" | "false") || is_integer(text)
}

fn entries(mapping: Cursor<'_>, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    if !mapping.is_mapping() {
        diagnostics.push(
            Diagnostic::error("expected a mapping from parameter names to values")
                .at(mapping.place())
                .conceal(true)
                .maybe_hint(mapping.space_hint())
                .hint("write each value as `NAME: value`")
                .advise(Way::Arguments, "to give a file of `NAME=VALUE` lines, use `--param-file`"),
        );
        return Vec::new();
    }
    let mut given = Given::default();
    for entry in mapping.children() {
        // Nothing tells which of the values are secret.
        let one = from_entry(entry).map_err(|error| Box::new(error.conceal(true)));
        if let Some(one) = diagnostics.take(one) {
            given.add(one, diagnostics);
        }
    }
    given.all
}

/// Values in their order.
#[derive(Default)]
struct Given {
    all: Vec<Assignment>,
    /// The index of the first value of each name.
    first: BTreeMap<String, usize>,
}

impl Given {
    /// Adds a value, and reports a name that is given twice.
    fn add(&mut self, one: Assignment, diagnostics: &mut Diagnostics) {
        let first = *self.first.entry(one.name.clone()).or_insert(self.all.len());
        if let Some(first) = self.all.get(first) {
            let mut diagnostic =
                Diagnostic::error(format!("parameter `{}` is given twice", one.name))
                    .conceal(true)
                    .hint("remove one of the two");
            if let Some(place) = &one.name_place {
                diagnostic = diagnostic.at(place.clone());
            }
            if let Some(place) = &first.name_place {
                diagnostic = diagnostic.related(place.clone(), "first here");
            }
            diagnostics.push(diagnostic);
        }
        self.all.push(one);
    }
}

fn from_entry(entry: Cursor<'_>) -> Result<Assignment> {
    // The source text, before YAML resolves it: a parameter may be called `N`.
    let name = entry.key_text()?.into_owned();
    assignment(name, Some(entry.key_place()), entry)
}

fn assignment(name: String, name_place: Option<Place>, entry: Cursor<'_>) -> Result<Assignment> {
    if entry.is_null() {
        // In `NAME:VALUE`, a space is missing.
        let shown = name.split([':', ' ', '=']).next().unwrap_or_default();
        return Err(Diagnostic::error(format!("parameter `{shown}` is null"))
            .at(entry.place())
            .maybe_hint(space_hint(&name))
            .hint("give a value, or remove the key to use the default")
            .into());
    }
    let value = match entry.kind() {
        Kind::Mapping | Kind::Sequence => {
            let mut found = Diagnostics::new();
            let value = entry.value(DuplicateKeys::Refuse, &mut found);
            if let Some(value) = value {
                AssignedValue::Structured(value.without_origin().into_owned())
            } else {
                let first = found.iter().next().cloned();
                return Err(first.unwrap_or_else(|| Diagnostic::error("unreadable value")).into());
            }
        }
        _ => AssignedValue::Text(entry.text()?.unwrap_or_default().into_owned()),
    };
    Ok(Assignment {
        name,
        value,
        origin: entry.document().source().name().to_owned(),
        place: Some(entry.place()),
        name_place,
        secret: false,
    })
}
