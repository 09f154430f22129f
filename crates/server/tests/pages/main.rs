//! The web pages, without a browser: forms, results, deployments, login, and protection from other
//! sites.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
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
mod usage;
