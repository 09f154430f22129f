//! Templates and TemplateInstances as Kubernetes API objects: decoding, validation, storage format and responses.
//!
//! [`decode`] reads a body into a [`Draft`], [`meta`] sets its system fields and validates it, and
//! [`Stored`] encodes it for the store. An [`answer`] copies the encoded bytes and inserts the
//! `resourceVersion`, so reading a Template parses no JSON. Nothing here uses HTTP, the store or
//! the clock.
//!
//! | file | purpose |
//! |---|---|
//! | `yaml` | responses in YAML, with the comments of the posted text |
//! | `answer` | single objects, lists, tables, `PartialObjectMetadata` |
//! | `stored` | the storage format of objects |
//! | `cells` | the cells of a table row |
//! | `meta` | system fields and validation |
//! | `instance`, `schema` | validation of TemplateInstances; of our group's Templates |
//! | `decode`, `types` | decoding of bodies and patch results; types of fields |
//! | `draft`, `normal` | an object as received; the form of its values in Go |
//! | `json` | JSON with a limit of depth, in the format of Go |

pub mod answer;
mod cells;
pub mod decode;
mod draft;
pub mod instance;
pub(crate) mod json;
pub mod meta;
mod normal;
mod schema;
mod stored;
#[cfg(test)]
mod tests;
pub(crate) mod types;
mod yaml;

pub use draft::Draft;
pub use json::pretty;
pub use stored::Stored;
pub use yaml::{yaml, yaml_object};
