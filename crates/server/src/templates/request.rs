//! The options and the result of processing.

use crate::request::Format;
use krm_template_server_core::Group;

/// The size of the stack that an expansion needs, in bytes: objects may be nested up to
/// [`krm_yaml::MAX_DEPTH`].
pub const STACK: usize = 16 << 20;

/// The text of a request body or a stored object, with its syntax.
#[derive(Clone, Copy)]
pub struct Text<'t> {
    /// The text, decoded from UTF-8.
    pub text: &'t str,
    /// The syntax in which it is read.
    pub syntax: Format,
}

/// The content of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The Template, with values and objects filled in.
    Template,
    /// A `v1` List of the objects.
    List,
}

/// Returns `true` once the time is up, or nobody waits for the result.
pub type IsLate<'l> = &'l (dyn Fn() -> bool + Sync);

/// The limits of an expansion.
#[derive(Clone, Copy)]
pub struct Limits<'l> {
    /// The maximum number of objects.
    pub objects: usize,
    /// The maximum size of the response in bytes.
    pub bytes: usize,
    /// The maximum number of parameters in a Template.
    pub parameters: usize,
    /// Whether the time is up. Called once per object.
    pub is_late: IsLate<'l>,
}

impl<'l> Limits<'l> {
    /// Returns the limits of the server: 10,000 objects, 16 MiB, 5,000 parameters.
    #[must_use]
    pub const fn of_server(is_late: IsLate<'l>) -> Self {
        Self { objects: 10_000, bytes: 16 << 20, parameters: 5_000, is_late }
    }
}

/// The options for processing a Template.
#[derive(Clone)]
pub struct Request<'r> {
    /// The API group of the URL, which selects the dialect.
    pub group: Group,
    /// The namespace of the URL.
    pub namespace: &'r str,
    /// Labels for all objects, which override the labels of the Template.
    pub labels: Vec<(String, String)>,
    /// The namespace of objects that do not set one.
    pub target_namespace: Option<&'r str>,
    /// The content of the response.
    pub output: Output,
    /// Whether the response contains a source map.
    pub source_map: bool,
    /// Whether the objects are checked as the API server of a cluster does. Findings are warnings.
    pub checks: bool,
    /// The syntax of the response. A YAML response keeps the comments of a YAML body.
    pub syntax: Format,
    /// The limits of the expansion.
    pub limits: Limits<'r>,
}

/// The response to a processing request.
#[derive(Clone, PartialEq, Eq)]
pub struct Processed {
    /// The body, in the requested syntax, with a trailing line feed.
    pub body: String,
    /// The texts of the `Warning` headers: at most 20, of at most 256 characters, without values.
    pub warnings: Vec<String>,
    /// The number of objects that the expansion created.
    pub objects: usize,
}
