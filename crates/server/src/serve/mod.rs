//! The HTTP server: connections, requests and responses.
//!
//! hyper serves connections as tasks on tokio. An expansion runs on a thread for blocking work, a
//! short one in OpenShift's group on the thread of its request, with a permit of `ops::admission`:
//! as many at once as there are processors, some more in a queue, the others refused.

mod activity;
mod answer;
mod app;
mod call;
mod collection;
mod compression;
mod connections;
mod deletion;
mod deployments;
mod discovery;
mod documents;
mod dump;
mod etag;
mod incoming;
pub mod instances;
mod items;
mod kept;
mod lasting;
mod listen;
mod listing;
mod openapi;
mod processing;
mod render;
mod requester;
mod reviews;
mod state;
mod templates;
mod ui;
mod version;
mod watching;
mod websocket;

pub use answer::Body;
pub use app::App;
pub use listen::serve;
pub use openapi::Documents;
pub use state::State;
