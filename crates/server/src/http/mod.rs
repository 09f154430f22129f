//! HTTP: connections, bodies of requests and responses.
//!
//! hyper serves connections as tasks on tokio.

pub(crate) mod compression;
pub(crate) mod connections;
pub(crate) mod etag;
pub(crate) mod request_body;
pub(crate) mod response;
pub(crate) mod timeouts;
pub(crate) mod websocket;

pub use response::Body;
pub(crate) use response::{Answer, JSON, YAML};
