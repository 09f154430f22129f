//! The KRM function: a ResourceList in, a ResourceList out.
//!
//! Contract: the KRM functions specification. The input items pass through byte for byte. The
//! functionConfig says which Templates are stamped out: each object takes the place of the item
//! that was made of it before, or comes behind the others; items that are made no longer go. On an
//! error the items come back as they were, with `results` that say what is wrong.

mod composed;
mod crossings;
#[cfg(test)]
mod hand_edits;
mod items;
mod located;
mod package;
mod paths;
mod placing;
mod run;
mod stamp;
mod update;

use std::sync::Arc;

pub use self::composed::InProcess;
pub use self::run::{Environment, Output};

use krm_yaml::source::Source;

/// Runs the function on the text of a ResourceList.
#[must_use]
pub fn run(source: &Arc<Source>, environment: &Environment<'_>) -> Output {
    run::run(
        source,
        environment,
        &|list, config, environment, diagnostics| {
            if composed::is_composition(config) {
                composed::changes(list, config, environment, diagnostics)
            } else {
                stamp::changes(list, config, environment, diagnostics)
            }
        },
    )
}
