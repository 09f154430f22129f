//! The values that a Template declares for its parameters, before any value is given: for lists,
//! forms and skeletons.
//!
//! This is the one decision about secrets: the value of a parameter if none is given, or only that
//! there is one if it must not be shown. The table, the lists, the schema and the values files use
//! it. A comparison with an older text cannot know its secrets, so it masks the secret fields in
//! both.

use std::borrow::Cow;

use crate::declare::dialect::{Dialect, OWN_GROUP};
use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::declare::reference::{Part, parts};
use crate::values::given::AssignedValue;
use crate::values::text::read_text;
use krm_core::identity::group;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{DuplicateKeys, Value};

/// The value of a parameter for which none is given.
#[derive(Debug)]
pub enum DefaultValue<'t> {
    /// No value, or the empty text.
    Nothing,
    /// This text, which is not empty.
    Text(Cow<'t, str>),
    /// This list or mapping, for a parameter of such a type.
    Structured(Value<'t>),
    /// This text, after references to other parameters are replaced.
    Computed(Cow<'t, str>),
    /// A value that is generated from this expression.
    Generated(&'t str),
    /// One that must not be shown.
    Hidden,
}

impl Template {
    /// Whether a default may refer to other parameters: only in our own API version.
    pub fn defaults_refer(&self) -> bool {
        group(&self.reference.api_version) == OWN_GROUP
    }

    /// The value of `parameter` if none is given: the one in the map `values`, else its default,
    /// else a generated one.
    pub fn default_value<'t>(&'t self, parameter: &'t Parameter) -> DefaultValue<'t> {
        let mut values = self.values.iter().rev();
        let value = match values.find(|given| given.name == parameter.name) {
            Some(given) => match &given.value {
                AssignedValue::Text(text) => plain(parameter, text.into()),
                AssignedValue::Structured(value) => DefaultValue::Structured(value.clone()),
                // Those of files are given with the map, never in it.
                AssignedValue::Bytes(_) | AssignedValue::Unknown(_) => DefaultValue::Hidden,
            },
            None => self.default(parameter),
        };
        match value {
            DefaultValue::Nothing | DefaultValue::Generated(_) => value,
            _ if parameter.may_show() => value,
            _ => DefaultValue::Hidden,
        }
    }

    fn default<'t>(&'t self, parameter: &'t Parameter) -> DefaultValue<'t> {
        let Some(default) = parameter.value() else {
            return generated(parameter);
        };
        if default.is_mapping() || default.is_sequence() {
            let value = default.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
            return value.map_or(DefaultValue::Nothing, |value| {
                DefaultValue::Structured(value.without_origin())
            });
        }
        match default.text().ok().flatten() {
            Some(text) if text.is_empty() => generated(parameter),
            Some(text) if self.defaults_refer() && refers(&text) => DefaultValue::Computed(text),
            Some(text) => plain(parameter, text),
            None => generated(parameter),
        }
    }

    /// Its parameters, each name once: of several declarations, a given value belongs to the first.
    pub fn named_parameters(&self) -> impl Iterator<Item = &Parameter> {
        let mut seen = std::collections::BTreeSet::new();
        let parameters = self.parameters.iter();
        parameters.filter(move |parameter| seen.insert(parameter.name.as_str()))
    }

    /// Its display name and description, as OpenShift's catalog has them.
    pub fn title(&self) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
        (self.annotation("openshift.io/display-name"), self.annotation("description"))
    }
}

fn generated(parameter: &Parameter) -> DefaultValue<'_> {
    match parameter.expression() {
        Some(from) => DefaultValue::Generated(from),
        None => DefaultValue::Nothing,
    }
}

/// A text as the value of a parameter.
fn plain<'t>(parameter: &Parameter, text: Cow<'t, str>) -> DefaultValue<'t> {
    if text.is_empty() {
        return DefaultValue::Nothing;
    }
    let value = parameter.kind.is_structured().then(|| read_text(&text));
    match value.flatten() {
        Some(value) if value.non_finite().is_none() => DefaultValue::Structured(value),
        _ => DefaultValue::Text(text),
    }
}

fn refers(text: &str) -> bool {
    let mut parts = parts(text, Dialect::Proposal);
    parts.any(|part| !matches!(part, Part::Text(_) | Part::Foreign { .. }))
}

impl Parameter {
    /// Whether a value must be given.
    pub const fn needs_value(&self, default: &DefaultValue<'_>) -> bool {
        self.required && matches!(default, DefaultValue::Nothing)
    }

    /// The conditions that a value must meet besides its type, in a few words each.
    pub(crate) fn conditions(&self) -> Vec<String> {
        let mut conditions = Vec::new();
        if !self.allowed.is_empty() {
            conditions.push(format!("one of {}", self.allowed.join(", ")));
        }
        if let Some(pattern) = &self.pattern {
            conditions.push(format!("matches {pattern}"));
        }
        conditions.extend(self.bounds());
        conditions
    }

    /// Its range and its lengths in words.
    pub fn bounds(&self) -> Vec<String> {
        let range = |least: Option<String>, most: Option<String>, unit: &str| match (least, most) {
            (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
            (Some(least), None) => Some(format!("at least {least}{unit}")),
            (None, Some(most)) => Some(format!("at most {most}{unit}")),
            (None, None) => None,
        };
        let length = |bound: Option<usize>| bound.map(|bound| bound.to_string());
        let lengths = (length(self.min_length), length(self.max_length));
        let numbers = range(self.minimum.clone(), self.maximum.clone(), "");
        let lengths = range(lengths.0, lengths.1, " characters");
        numbers.into_iter().chain(lengths).collect()
    }
}
