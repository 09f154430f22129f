//! The web pages, without a browser: forms, results, deployments, instances, login, and protection
//! from other sites.

mod deployment_rights;
mod deployments;
mod forms;
mod instances;
mod login;
mod manifests;
mod real;
pub(crate) mod site;
mod strangers;
mod uploads;
mod usage;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        deployment_rights::trials(),
        deployments::trials(),
        forms::trials(),
        instances::trials(),
        login::trials(),
        manifests::trials(),
        real::trials(),
        strangers::trials(),
        uploads::trials(),
        usage::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
