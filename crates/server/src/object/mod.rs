//! Templates as objects of a Kubernetes API, from bytes to bytes, without HTTP, store and clock.
//!
//! A body is read into a [`Draft`] ([`decode`]), gets its system fields and is checked ([`meta`]),
//! and is brought into the form in which it is [`Stored`]. An [`answer`] copies the bytes of that
//! form and writes the `resourceVersion` between them. So reading a Template parses no JSON.
//!
//! | file | purpose |
//! |---|---|
//! | `yaml` | answers as YAML, with the comments of the text that was posted |
//! | `answer` | single objects, lists, tables, `PartialObjectMetadata` |
//! | `stored` | the form in which a Template is stored |
//! | `cells` | the cells of a row |
//! | `meta`, `schema` | system fields; the schema of our group |
//! | `decode`, `types` | bodies and results of patches; types of fields |
//! | `draft` | a Template as it came |
//! | `json` | JSON with order, spans and spelling |

pub mod answer;
mod cells;
pub mod decode;
mod draft;
pub(crate) mod json;
pub mod meta;
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
