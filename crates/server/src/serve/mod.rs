//! The HTTP server: connections, requests and responses.

mod activity;
mod answer;
mod app;
mod call;
mod collection;
mod compression;
mod deletion;
#[cfg(feature = "deployments")]
mod deployments;
mod discovery;
mod documents;
mod etag;
mod incoming;
mod listen;
mod openapi;
mod processing;
mod render;
mod reviews;
mod state;
mod templates;
mod ui;
mod version;
mod watching;

pub use answer::Body;
pub use app::App;
pub use listen::serve;
pub use openapi::Documents;
pub use state::State;
