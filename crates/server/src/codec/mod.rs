//! API objects from and to text: decoding, storage format and responses.
//!
//! [`decode`] reads a body into a [`Draft`], and [`Stored`] encodes it for the store. [`encode`]
//! copies the encoded bytes and inserts the `resourceVersion`, so reading an object parses no JSON.
//! Nothing here uses HTTP, the store or the clock.
//!
//! | file | purpose |
//! |---|---|
//! | `yaml` | responses in YAML, with the comments of the posted text |
//! | `encode` | single objects, lists, tables, `PartialObjectMetadata` |
//! | `stored` | the storage format of objects |
//! | `cells` | the cells of a table row |
//! | `decode`, `field_types` | decoding of bodies and patch results; types of fields |
//! | `template_schema` | the fields of our group's Templates |
//! | `draft`, `normalize` | an object as received; its values as Go encodes them |
//! | `json` | JSON with a limit of depth, in the format of Go |

mod cells;
pub mod decode;
mod draft;
pub mod encode;
pub(crate) mod field_types;
pub(crate) mod json;
pub(crate) mod normalize;
mod stored;
pub(crate) mod template_schema;
#[cfg(test)]
mod tests;
mod yaml;

pub use draft::Draft;
pub use json::pretty;
pub use stored::Stored;
pub use yaml::{yaml, yaml_object};
