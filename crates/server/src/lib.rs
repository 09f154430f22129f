//! The API of the Kubernetes Templates proposal and of OpenShift's Templates, served over HTTP.
//!
//! Each module uses only the modules below it:
//!
//! | module | purpose |
//! |---|---|
//! | `listen`, `app` | connections; from a request to its handler |
//! | `ui` | the web pages |
//! | `registry` | the verbs of stored objects |
//! | [`instances`] | the controllers of TemplateInstances |
//! | `deployments` | the Deployment Manager API |
//! | `api` | what all requests share; discovery, `OpenAPI` |
//! | `http` | connections, request and response bodies |
//! | [`templates`] | expansion of Templates |
//! | [`patch`] | the four patch types, and managed fields |
//! | [`validation`] | system fields and validation of objects |
//! | [`codec`] | objects from and to text |
//! | [`request`] | paths, queries, `Accept`, options, selectors |

mod api;
mod app;
pub mod codec;
mod deployments;
mod http;
pub mod instances;
mod listen;
pub mod patch;
mod registry;
pub mod request;
pub mod templates;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod testing;
mod ui;
pub mod validation;

pub use self::http::Body;
pub use api::{Documents, State};
pub use app::App;
pub use listen::serve;
