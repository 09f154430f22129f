//! Why a schema cannot be used.

use krm_yaml::Value;

/// The reason why a valid schema cannot be used.
#[derive(Debug)]
pub(super) enum Problem {
    /// A `$ref` without a target; with the reference.
    Unresolvable(String),
    /// A `$ref` to another file, which is not read; with the address.
    Elsewhere(String),
    /// Schemas refer to one another without end.
    Endless,
    /// The time is up.
    Late,
    /// A pattern that is not a regular expression.
    Pattern {
        pattern: String,
        /// The error of the regular expression.
        reason: String,
    },
}

impl Problem {
    /// The part of a schema that it is about.
    pub(super) fn part<'s>(&self, schema: &'s Value<'static>) -> Option<&'s Value<'static>> {
        let (keyword, text) = match self {
            Self::Unresolvable(reference) | Self::Elsewhere(reference) => ("$ref", reference),
            Self::Pattern { pattern, .. } => ("pattern", pattern),
            Self::Endless | Self::Late => return None,
        };
        part(schema, keyword, text)
    }
}

/// The value with this text under a keyword, or under a key that is a pattern with this text.
fn part<'s>(schema: &'s Value<'static>, keyword: &str, text: &str) -> Option<&'s Value<'static>> {
    let here = schema.entries().unwrap_or_default().iter().find(|(key, value)| {
        key == keyword && value.as_str() == Some(text) || keyword == "pattern" && key == text
    });
    let here = here.map(|(_, value)| value);
    here.or_else(|| schema.children().find_map(|value| part(value, keyword, text)))
}
