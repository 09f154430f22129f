//! The pages for people, without a browser: forms, results, deployments, login, and
//! what other sites may not do.
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
