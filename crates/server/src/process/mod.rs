//! Template processing: from the body of a request to the body of its response.
//!
//! Processing never waits, but needs a separate thread with a stack of [`STACK`] bytes.
//!
//! | file | purpose |
//! |---|---|
//! | `preview` | previews of an expansion, for the web pages |
//! | `source` | the text of a Template, for the web pages |
//! | `painter` | the text of objects in pieces, with the origin of each value |
//! | `instance` | expansion of a TemplateInstance |
//! | `expand` | processing a Template from the request, or a stored one |
//! | `schema` | the JSON Schema and the form of a Template's values |
//! | `source_map` | the origin of each field of the objects |
//! | `answer`, `text` | the response in JSON, and in YAML with comments |
//! | `parameters` | the request body `Parameters` |
//! | `metadata` | the metadata of a processed Template |
//! | `tokens` | the tokens of a YAML text |
//! | `read` | parsing Templates |
//! | `upstream` | the validation errors of OpenShift's API |
//! | `causes` | diagnostics as causes of a `Status`, and as warnings |
//! | `json`, `number` | JSON in the format of Go |
//! | `request` | the options and the result of processing |

mod answer;
mod causes;
mod checks;
mod expand;
pub mod instance;
mod json;
mod metadata;
mod number;
mod painter;
mod parameters;
mod preview;
mod read;
mod request;
mod schema;
mod source;
mod source_map;
mod text;
mod tokens;
mod upstream;

pub use expand::{stored, template};
pub use painter::{From, Piece, Shown};
pub use preview::{Look, Preview, View, preview};
pub use request::{IsLate, Limits, Output, Processed, Request, STACK, Syntax, Text};
pub use schema::{Described, described, schema, tags};
pub use source::{pieces, readable, source};
pub use tokens::Class;
