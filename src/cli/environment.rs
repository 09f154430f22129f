//! The environment of a function on this machine.

use krm_template_exec::disk::Disk;

use crate::function::Environment;

/// The environment of a function on this machine.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line reads the environment, for all the others"
)]
pub(super) fn environment(disk: &Disk) -> Environment<'_> {
    let seed = std::env::var("KRM_TEMPLATE_SEED")
        .ok()
        .filter(|seed| !seed.is_empty());
    Environment {
        seed: seed.map(String::into_bytes),
        files: Some(disk),
        trace: None,
        #[cfg(feature = "deployment-manager")]
        python: None,
    }
}
