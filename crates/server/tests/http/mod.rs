//! The program on a port: hostile and slow clients, limits, HTTP/2, shutdown, and secrets.

mod canary;
mod damage;
mod end;
mod framing;
mod legacy;
mod limits;
mod lists;
pub(crate) mod program;
mod start;
mod two;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        canary::trials(),
        damage::trials(),
        end::trials(),
        framing::trials(),
        legacy::trials(),
        limits::trials(),
        lists::trials(),
        start::trials(),
        two::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
