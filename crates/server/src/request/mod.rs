//! Parsing of requests: paths, queries, `Accept`, `Content-Type`, options, selectors.
//!
//! The functions are pure. Errors have the messages of Kubernetes, unless the documentation of an
//! item says otherwise.

pub mod accept;
pub mod content_type;
pub mod continue_token;
pub mod field_selector;
pub mod list_options;
pub mod path;
pub mod query;
pub mod resources;
pub mod write_options;

pub use accept::{Discovery, Include, MetaVersion, ResponseFormat, Scope, Shape};
pub use content_type::{Format, PatchType, ReviewFormat};
pub use continue_token::Continue;
pub use field_selector::FieldSelector;
pub use list_options::{At, ListOptions, Selectors, WatchOptions};
pub use path::{DEFAULT_NAMESPACE, DeploymentPath, Path, Resource, Verb};
pub use query::Query;
pub use resources::{Handler, Review};
pub use write_options::{DeleteOptions, Dependents, FieldValidation, PatchOptions, WriteOptions};
