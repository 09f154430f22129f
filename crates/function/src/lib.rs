//! The KRM function: a ResourceList in, a ResourceList out.
//!
//! Contract: the KRM functions specification. The input items pass through byte for byte. The
//! functionConfig selects the Templates to expand: each object replaces the item that an earlier
//! run created for it, or follows the others; items that are no longer created are removed. After
//! an error the function returns the items unchanged, with `results` that describe the error.
//!
//! Functions decide first, and then apply: the decision which objects to add, change and remove is
//! data. `input/objects` applies it to the items of a ResourceList, whose text is edited;
//! `run/transformer` to the resources of a Composition in which one of our own kinds is a transformer.
//!
//! Two annotations are the mark of an object: its owner, `KIND/NAMESPACE/NAME[/INSTANCE]` of the
//! functionConfig, and its origin, which is its identity as created and the place of the
//! functionConfig. There is no other state: no lock file, no hash of the last run, no three-way
//! merge. The mark proves whose an object is (`ownership`), finds it again under another name
//! (`matching`), and allows to remove what is no longer created; nothing else is removed. Where
//! objects are not written back, as in kustomize, there is none; paths on the items distinguish the
//! two cases. An object of the same name without our mark is an error with two ways out, not a
//! merge. Objects are removed only if all instances were expanded without errors.
//!
//! All kinds of functionConfig take one path: plan, expand, match, update, remove. What is found may
//! depend on what else is created, which is known only afterwards; then the objects are created a
//! second time (`creation`).

mod input;
mod ownership;
mod placing;
pub mod plan;
mod run;
#[cfg(test)]
mod tests;
mod update;

use std::sync::Arc;

pub use self::run::composition::InProcess;
pub use self::run::transformer::DEPLOYMENT;
#[cfg(feature = "deployment-manager")]
pub use self::run::transformer::check_deployment;
pub use self::run::{Environment, Output};

use self::input::items::Items;
use self::input::objects::ListItems;
use self::run::{composition, expand};
use krm_yaml::SharedNode;
use krm_yaml::source::Source;

/// Runs the function on the text of a ResourceList.
pub fn run(source: &Arc<Source>, environment: &Environment<'_>) -> Output {
    run::run(source, environment, &|list, config, environment, diagnostics| {
        if run::is_composition(config) {
            composition::changes(list, config, environment, diagnostics)
        } else {
            let items = ListItems::of(list);
            let heads = Items::read(&items.nodes, config);
            let config = SharedNode::new(list.document(), config.id());
            expand::decide(&items, heads, &config, environment, None, diagnostics).into()
        }
    })
}
