//! What `-o` takes.

use crate::suggest::closest;
use crate::template::Format;

/// How the outcome is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    /// The objects.
    Objects(Format),
    /// The Template itself, with its objects expanded.
    Template,
}

const NAMES: &[(&str, OutputFormat)] = &[
    ("yaml", OutputFormat::Objects(Format::Yaml)),
    ("json", OutputFormat::Objects(Format::Json)),
    ("list", OutputFormat::Objects(Format::List)),
    ("resourcelist", OutputFormat::Objects(Format::ResourceList)),
    ("name", OutputFormat::Objects(Format::Name)),
    ("template", OutputFormat::Template),
];

/// What `oc` prints by a language of its own, by how it begins.
const LANGUAGES: &[&str] = &["jsonpath", "go-template", "custom-columns"];

impl OutputFormat {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some((_, format)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*format);
        }
        if let Some(language) = LANGUAGES.iter().find(|name| text.starts_with(**name)) {
            return Err(format!(
                "`{language}` is not supported; choose from JSON: `-o json | jq …`"
            ));
        }
        let names = NAMES.iter().map(|(name, _)| *name);
        Err(match closest(text, names.clone()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("use one of {}", names.collect::<Vec<_>>().join(", ")),
        })
    }

    pub(super) const fn format(self) -> Option<Format> {
        match self {
            Self::Objects(format) => Some(format),
            Self::Template => None,
        }
    }
}
