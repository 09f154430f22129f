//! BuildConfigs.

use std::collections::BTreeSet;

use krm_yaml::View;

use crate::walk::{Walk, get, has, list, steps, text};

/// Checks what is built, and from what.
pub(crate) fn build<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let strategy = get(spec, "strategy");
    if let Some(source) = get(spec, "source") {
        let directory = text(source, "contextDir");
        if directory.is_some_and(|directory| directory.split('/').next() == Some("..")) {
            walk.refuse(spec, steps!["source", "contextDir"], "must be a path in the source");
        }
    }
    if strategy.is_some_and(|one| get(one, "dockerStrategy").is_some()) {
        let inputs = ["git", "binary", "dockerfile"];
        let is_empty = get(spec, "source").is_some_and(|source| {
            // A type alone means an empty source.
            source.is_mapping()
                && !has(source, "type")
                && inputs.iter().all(|field| get(source, field).is_none())
                && list(source, "images").next().is_none()
        });
        if is_empty {
            let what = "must have one of `git`, `binary`, `dockerfile` and `images`";
            walk.refuse(spec, steps!["source"], what);
        }
    }
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
