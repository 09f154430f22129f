//! What the environment of this machine adds to an expansion.

use clap::Args;

use krm_template_exec::console::Console;
use krm_template_exec::disk::{Disk, LoadRestrictor};
use krm_template_exec::subprocess::SEED;
use krm_template_function::Environment;

/// For whom values are derived from the seed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SeedScope {
    /// Derive the values of `generate: expression` from `KRM_TEMPLATE_SEED` and this text, so that
    /// each scope has its own
    #[arg(long, value_name = "SCOPE")]
    seed_scope: Option<String>,
}

impl SeedScope {
    /// The option, or else the variable; empty without both.
    pub(crate) fn text(&self) -> String {
        let scope = self.seed_scope.clone();
        scope.or_else(|| variable("KRM_TEMPLATE_SEED_SCOPE")).unwrap_or_default()
    }
}

/// The secret that values are derived from.
pub(crate) fn seed() -> Option<Vec<u8>> {
    let seed = variable(SEED).filter(|seed| !seed.is_empty());
    seed.map(String::into_bytes)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line reads the environment, for all the others"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The environment of a function on this machine.
pub(crate) fn environment<'e>(disk: &'e Disk, scope: &SeedScope) -> Environment<'e> {
    Environment {
        seed: seed(),
        seed_scope: scope.text(),
        files: Some(disk),
        trace: None,
        #[cfg(feature = "deployment-manager")]
        python: None,
    }
}

/// The files that `owner` may name.
pub(crate) const fn disk(console: Console, owner: &'static str) -> Disk {
    Disk {
        console,
        restrictor: LoadRestrictor::RootOnly,
        owner,
        way_out: "move it there",
        clones: None,
    }
}
