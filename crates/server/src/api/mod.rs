//! What all requests share, and the documents of the API: discovery, `OpenAPI`, version, reviews.

pub(crate) mod discovery;
pub(crate) mod documents;
pub(crate) mod long_running;
mod openapi;
pub(crate) mod render;
pub(crate) mod request_head;
pub(crate) mod resource_request;
pub(crate) mod reviews;
mod state;
pub(crate) mod store_dump;

pub use openapi::Documents;
pub(crate) use request_head::{AuditFields, Incoming};
pub(crate) use resource_request::Call;
pub use state::State;
