//! The web pages, without a browser: forms, results, deployments, login, and protection from other
//! sites.

mod deployment_rights;
mod deployments;
mod forms;
mod login;
mod manifests;
mod real;
pub(crate) mod site;
mod uploads;
mod usage;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        deployment_rights::trials(),
        deployments::trials(),
        forms::trials(),
        login::trials(),
        manifests::trials(),
        real::trials(),
        uploads::trials(),
        usage::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
