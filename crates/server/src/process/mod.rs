//! Expanding Templates: a body of a request in, the body of its answer out.
//!
//! This is work for a thread of its own, with a stack of [`STACK`] bytes: nothing here waits.
//!
//! | file | purpose |
//! |---|---|
//! | `preview` | an expansion for people |
//! | `source` | a Template for people |
//! | `painter` | the text of objects in pieces, with their origin |
//! | `expand` | processing a Template of the request, or a stored one |
//! | `schema` | the JSON Schema of the values of a Template, and their form |
//! | `source_map` | where each field of the objects comes from |
//! | `answer`, `text` | the answer in JSON, and in YAML with comments |
//! | `parameters` | the body `Parameters` |
//! | `metadata` | the metadata of a processed Template |
//! | `tokens` | the parts of a text in YAML |
//! | `read` | from text to a Template |
//! | `upstream` | what OpenShift's API refuses, in its words |
//! | `causes` | messages of the engine as causes of a `Status`, and as warnings |
//! | `json`, `number` | values as JSON, spelled as Go spells it |
//! | `request` | what a request asks for |

mod answer;
mod causes;
mod expand;
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
pub use request::{Limits, Output, Processed, Request, STACK, Syntax, Text};
pub use schema::{Described, described, schema, tags};
pub use source::{api_version, pieces, readable, source};
pub use tokens::Class;
