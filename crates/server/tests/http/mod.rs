//! The program on a port: hostile and slow clients, limits, HTTP/2, shutdown, and secrets.

mod aggregated;
mod canary;
mod damage;
mod dependents;
mod end;
mod existence;
mod framing;
mod lasting;
mod legacy;
mod limits;
mod lists;
pub(crate) mod program;
mod start;
mod stored;
mod two;
mod watches;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        aggregated::trials(),
        canary::trials(),
        damage::trials(),
        dependents::trials(),
        end::trials(),
        existence::trials(),
        framing::trials(),
        lasting::trials(),
        legacy::trials(),
        limits::trials(),
        lists::trials(),
        start::trials(),
        stored::trials(),
        two::trials(),
        watches::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
