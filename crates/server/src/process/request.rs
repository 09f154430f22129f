//! What a request asks for, and what it gets.

use crate::groups::Group;

/// The stack that expanding needs, in bytes: objects may be nested as deep as
/// [`krm_yaml::MAX_DEPTH`].
pub const STACK: usize = 16 << 20;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// A body, or a stored object.
#[derive(Clone, Copy)]
pub struct Text<'t> {
    /// The text.
    pub text: &'t str,
    /// How it is written.
    pub syntax: Syntax,
}

/// What the answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The processed Template.
    Template,
    /// A `v1` List of the objects.
    List,
}

/// What an expansion may use.
#[derive(Clone, Copy)]
pub struct Limits<'l> {
    /// The most objects.
    pub objects: usize,
    /// The most bytes of the answer.
    pub bytes: usize,
    /// The most parameters of a Template.
    pub parameters: usize,
    /// Whether the time is up. It is asked once an object.
    pub is_late: &'l (dyn Fn() -> bool + Sync),
}

impl<'l> Limits<'l> {
    /// The limits of the server: 10,000 objects, 16 MiB, 5,000 parameters.
    #[must_use]
    pub const fn of_server(is_late: &'l (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            objects: 10_000,
            bytes: 16 << 20,
            parameters: 5_000,
            is_late,
        }
    }
}

/// How to process a Template.
#[derive(Clone)]
pub struct Request<'r> {
    /// The API group of the URL, which decides the dialect.
    pub group: Group,
    /// The namespace of the URL.
    pub namespace: &'r str,
    /// Labels for all objects, which win over those of the Template.
    pub labels: Vec<(String, String)>,
    /// The namespace of objects that name none.
    pub target_namespace: Option<&'r str>,
    /// What the answer holds.
    pub output: Output,
    /// Whether the answer says of each field of the objects where it comes from.
    pub source_map: bool,
    /// How the answer is written. The comments of a body in YAML stay in an answer in YAML.
    pub syntax: Syntax,
    /// What the expansion may use.
    pub limits: Limits<'r>,
}

/// The answer.
#[derive(Clone, PartialEq, Eq)]
pub struct Processed {
    /// The body, in the syntax that was asked for, with a line feed at the end.
    pub body: String,
    /// Texts for `Warning` headers: at most 20, of at most 256 characters, without values.
    pub warnings: Vec<String>,
    /// How many objects the expansion created.
    pub objects: usize,
}
