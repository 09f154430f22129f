//! Errors of an expansion, in our words and in those of the original service.

use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

use crate::repr::{quoted, repr};

/// The errors of an expansion that failed.
#[derive(Clone, Debug)]
pub struct ExpandError {
    /// The first error, in the words of the original.
    pub cause: Cause,
    /// All errors and the warnings.
    pub diagnostics: Diagnostics,
}

/// The errors of the original.
#[derive(Clone, Debug)]
pub enum Cause {
    /// This resource has no `name`.
    NameMissing(Value<'static>),
    /// This resource has no `type`.
    TypeMissing(Value<'static>),
    /// Two resources of a list have the same name.
    NotUnique {
        /// The second resource with the name.
        resource: Value<'static>,
        /// `config`, or the type of the template that made the list.
        list: String,
    },
    /// A template of this type created no `resources`.
    NoResources(String),
    /// The path of a template does not tell its language.
    Unsupported(String),
    /// A template ended with an exception.
    Exception {
        /// The name of the import.
        file: String,
        /// The message of the exception.
        text: String,
    },
    /// The properties of a resource do not fit the schema, or the schema itself is invalid.
    Invalid {
        /// `Invalid schema 'S':` or `Invalid properties for 'T':`, and the lines.
        text: String,
        /// The name of the resource.
        resource: String,
    },
    /// A text is not YAML.
    Yaml(String),
    /// A Python template of this type returned something else.
    Returned {
        /// The name of the import.
        file: String,
        /// The type that it returned.
        found: String,
    },
    /// The expansion exceeded a limit.
    Limit(Overrun),
    /// An error that does not exist in the original, or has no text there.
    Other(String),
}

/// The limit that an expansion exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// It makes more resources than these.
    Resources(usize),
    /// It makes more bytes than these.
    Bytes(usize),
    /// It takes longer than allowed.
    Time,
}

impl std::fmt::Display for Overrun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resources(most) => write!(f, "the expansion has more than {most} resources"),
            Self::Bytes(most) => write!(f, "the expansion is larger than {most} bytes"),
            Self::Time => f.write_str("the expansion takes too long"),
        }
    }
}

impl ExpandError {
    /// The message of the original service.
    pub fn original(&self) -> String {
        let (text, resource) = match &self.cause {
            Cause::NameMissing(resource) => {
                ("Resource does not have a name.".to_owned(), quoted(resource))
            }
            Cause::TypeMissing(resource) => {
                ("Resource does not have type defined.".to_owned(), quoted(resource))
            }
            Cause::NotUnique { resource, list } => {
                let name = resource.get("name").map(name_text).unwrap_or_default();
                let text = format!("Resource name '{name}' is not unique in {list}.");
                (text, quoted(resource))
            }
            Cause::NoResources(kind) => {
                ("Template did not return a 'resources:' field.".to_owned(), kind.clone())
            }
            Cause::Unsupported(path) => {
                return format!("Unsupported source file: {path}. Resource: config");
            }
            Cause::Exception { file, text } => {
                (format!("Exception in {file}\n{text}\n"), file.clone())
            }
            Cause::Invalid { text, resource } => (format!("{text}\n"), resource.clone()),
            Cause::Yaml(text) => return format!("Error parsing YAML: {text} Resource: config"),
            Cause::Returned { file, found } => (
                format!("Python expansion must return dict, str or unicode type, but was {found}"),
                file.clone(),
            ),
            Cause::Limit(overrun) => return format!("{overrun} Resource: config"),
            Cause::Other(text) => return format!("{text} Resource: config"),
        };
        format!("{text} Resource: {resource} Resource: config")
    }
}

impl From<Diagnostic> for ExpandError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { cause: Cause::Other(diagnostic.message.clone()), diagnostics: diagnostic.into() }
    }
}

impl std::fmt::Display for ExpandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let errors = self.diagnostics.errors();
        for (index, error) in errors.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ExpandError {}

/// A name as Python's `str` prints it: a text as it is.
pub fn name_text(name: &Value<'_>) -> String {
    name.as_str().map_or_else(|| repr(name), str::to_owned)
}
