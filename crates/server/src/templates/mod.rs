//! Template processing: from the body of a request to the body of its response.
//!
//! Processing never waits, but needs a separate thread with a stack of [`STACK`] bytes.
//!
//! | file | purpose |
//! |---|---|
//! | `preview` | previews of an expansion, for the web pages |
//! | `source` | the text of a Template, for the web pages |
//! | `highlight` | the text of objects in pieces, with the origin of each value |
//! | `instance` | expansion of a TemplateInstance |
//! | `expand` | processing a Template from the request, or a stored one |
//! | `values_schema` | the JSON Schema and the form of a Template's values |
//! | `source_map` | the origin of each field of the objects |
//! | `response`, `yaml_response` | the response in JSON, and in YAML with comments |
//! | `parameters` | the request body `Parameters` |
//! | `tokens` | the tokens of a YAML text |
//! | `parse` | parsing Templates |
//! | `openshift_errors` | the validation errors of OpenShift's API |
//! | `causes` | diagnostics as causes of a `Status`, and as warnings |
//! | `json` | JSON in the format of Go |
//! | `request` | the options and the result of processing |

mod causes;
mod expand;
mod highlight;
pub mod instance;
mod json;
mod openshift_errors;
mod parameters;
mod parse;
mod preview;
mod request;
mod response;
mod source;
mod source_map;
mod tokens;
mod values_schema;
mod yaml_response;

pub use expand::{stored, template};
pub use highlight::{From, HighlightedObject, Span};
pub use preview::{Preview, PreviewOptions, View, preview};
pub use request::{IsLate, Limits, Output, Processed, Request, STACK, Text};
pub use source::{pieces, readable, source};
pub use tokens::Class;
pub use values_schema::{Described, described, schema, tags};
