//! BuildConfigs.

use std::collections::BTreeSet;

use krm_yaml::View;

use crate::walk::{Walk, get, has, list, steps, text};

/// Checks what is built, and from what.
pub(crate) fn build<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let strategy = get(spec, "strategy");
    triggers(walk, spec, strategy);
}

/// Checks that triggers are about different images.
fn triggers<'v>(walk: &mut Walk<'v>, spec: View<'v>, strategy: Option<View<'v>>) {
    let mut changes = BTreeSet::new();
    for (index, trigger) in list(spec, "triggers").enumerate() {
        if !matches!(text(trigger, "type").as_deref(), Some("ImageChange" | "imageChange")) {
            continue;
        }
        let from = get(trigger, "imageChange").and_then(|change| get(change, "from"));
        let image =
            from.map(|from| (text(from, "kind"), text(from, "namespace"), text(from, "name")));
        // Without one it is the image of the strategy.
        let is_known = from.is_some() || strategy.is_some_and(|one| has(one, "sourceStrategy"));
        if is_known && !changes.insert(image) {
            let what = "must have another image than the other triggers";
            walk.refuse(spec, steps!["triggers", index], what);
        }
    }
}
