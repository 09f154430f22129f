//! Authentication and authorization, with real certificates, files and a fake cluster.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod arguments;
mod certificates;
mod cluster;
mod front_proxy;
mod rbac;
mod recorded;
mod reload;
mod reviews;
mod support;
mod tokens;
