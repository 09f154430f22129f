//! Processing of Templates: recorded responses of OpenShift's API, real Templates, limits, secrets.
//!
//! The recorded responses and real Templates are in the folder that `KRM_TEMPLATE_SHARED` names.
//! Without it, these tests are ignored.

mod bounds;
mod hostile;
mod own;
mod real;
mod recorded;
mod shared;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [bounds::trials(), hostile::trials(), own::trials(), recorded::trials(), real::trials()]
        .into_iter()
        .flatten()
        .collect()
}
