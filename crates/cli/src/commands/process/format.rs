//! The values of `-o`.

use clap::builder::PossibleValue;

use krm_template_engine::Format;
use krm_yaml::suggest::closest;

/// The value of `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    /// The expanded objects, in one of the formats for them.
    Objects(Format),
    /// The Template itself, with its objects expanded.
    Template,
}

/// The names and descriptions of the formats.
#[rustfmt::skip]
const NAMES: &[(&str, OutputFormat, &str)] = &[
    ("yaml", OutputFormat::Objects(Format::Yaml), "A stream of documents"),
    ("json", OutputFormat::Objects(Format::Json), "A `v1` List in JSON"),
    ("list", OutputFormat::Objects(Format::List), "A `v1` List in YAML"),
    ("resourcelist", OutputFormat::Objects(Format::ResourceList), "A ResourceList"),
    ("name", OutputFormat::Objects(Format::Name), "`KIND/NAME`, one line for each object"),
    ("template", OutputFormat::Template, "The Template with its objects expanded and the values used"),
];

/// Prefixes of `oc`'s output formats with a query language.
const LANGUAGES: &[&str] = &["jsonpath", "go-template", "custom-columns"];

impl OutputFormat {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some((_, format, _)) = NAMES.iter().find(|(name, ..)| *name == text) {
            return Ok(*format);
        }
        if let Some(language) = LANGUAGES.iter().find(|name| text.starts_with(**name)) {
            return Err(format!(
                "`{language}` is not supported; select from JSON instead: `-o json | jq …`"
            ));
        }
        let names = NAMES.iter().map(|(name, ..)| *name);
        Err(match closest(text, names.clone()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("use one of {}", names.collect::<Vec<_>>().join(", ")),
        })
    }

    /// The values that shells and `--help` offer.
    pub(super) fn words() -> Vec<PossibleValue> {
        let words = NAMES.iter();
        words.map(|(name, _, help)| PossibleValue::new(*name).help(*help)).collect()
    }

    pub(super) const fn format(self) -> Option<Format> {
        match self {
            Self::Objects(format) => Some(format),
            Self::Template => None,
        }
    }
}
