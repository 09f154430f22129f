//! The values of parameters in one expansion.

use std::borrow::Cow;

use crate::declare::parameter::ParameterType;
use foldhash::fast::RandomState;
use indexmap::IndexMap;
use krm_core::secrets::KnownSecrets;
use krm_yaml::Value;
use krm_yaml::source::Place;

/// The effective value of a parameter.
#[derive(Debug)]
pub struct ParameterValue<'d> {
    /// The text for a string reference: for a list or mapping, its JSON.
    pub text: Cow<'d, str>,
    /// The list or mapping for a raw reference.
    pub structured: Option<Value<'d>>,
    /// The type it was checked against.
    pub kind: ParameterType,
    /// Whether it is empty, and a field that is only a raw reference to it is left out.
    pub omits: bool,
    /// Whether a message may show it.
    pub may_show: bool,
    /// The source of the value.
    pub origin: Origin,
    /// The place of the value in a file, or of the expression that generated it.
    pub place: Option<Place>,
}

/// The source of the value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was given: the file and line, or the argument.
    Given(String),
    /// The `value` of the parameter in its Template.
    Default,
    /// The result of its `from`, new or of an earlier run.
    Generated,
    /// There is neither a value nor an expression.
    Nowhere,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Given(origin) => origin,
            Self::Default => "default",
            Self::Generated => "generated",
            Self::Nowhere => "no value",
        })
    }
}

/// The effective values of a Template's parameters, by name.
#[derive(Debug, Default)]
pub struct Parameters<'d> {
    pub(crate) values: IndexMap<&'d str, ParameterValue<'d>, RandomState>,
}

impl<'d> Parameters<'d> {
    /// The value of the parameter with this name, if one is declared.
    pub fn get(&self, name: &str) -> Option<&ParameterValue<'d>> {
        self.values.get(name)
    }

    /// The name, if a parameter with this name is declared.
    pub(crate) fn declared(&self, name: &str) -> Option<&'d str> {
        self.values.get_key_value(name).map(|(name, _)| *name)
    }

    /// Whether a text may be shown: it contains no secret value.
    pub fn may_show(&self, text: &str) -> bool {
        self.values.values().all(|value| {
            value.may_show || value.text.is_empty() || !text.contains(value.text.as_ref())
        })
    }

    /// The secret values, and their parts.
    pub fn secrets(&self) -> KnownSecrets {
        let mut known = KnownSecrets::default();
        for value in self.values.values().filter(|value| !value.may_show) {
            known.add_encoded(&value.text);
            value.structured.iter().for_each(|value| known.add_all(value));
        }
        known
    }

    /// The names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.values.keys().copied().collect();
        names.sort_unstable();
        names.into_iter()
    }
}
