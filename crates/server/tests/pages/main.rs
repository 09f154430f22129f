//! The pages for people, without a browser: forms, results, deployments, login, and
//! what other sites may not do.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod deployment_rights;
mod deployments;
mod forms;
mod login;
mod manifests;
mod real;
mod site;
mod uploads;
