//! Authentication and authorization, with real certificates, files and a fake cluster.

mod arguments;
mod certificates;
mod cluster;
mod creating;
mod front_proxy;
mod rbac;
mod recorded;
mod reload;
mod reviews;
mod support;
mod tokens;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        arguments::trials(),
        certificates::trials(),
        cluster::trials(),
        creating::trials(),
        front_proxy::trials(),
        rbac::trials(),
        recorded::trials(),
        reload::trials(),
        reviews::trials(),
        tokens::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
