//! The error for a `DeploymentConfiguration` in a program without the feature.

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, SharedNode};

use crate::plan::inputs::Inputs;

/// The error, at the kind.
pub(super) fn error(config: Cursor<'_>) -> Diagnostic {
    let place = config.get("kind").map_or_else(|| config.place(), Cursor::place);
    Diagnostic::error(
        "this program was built without the feature `deployment-manager`, which `kind: DeploymentConfiguration` needs",
    )
    .at(place)
    .field("kind")
    .hint("build it with default features: `cargo build --release`")
}

/// That a `DeploymentConfiguration` cannot be checked.
pub fn check(node: &SharedNode, _: &Inputs) -> Diagnostics {
    error(node.cursor()).into()
}
