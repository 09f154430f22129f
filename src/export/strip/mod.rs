//! Strips objects of the fields that the cluster and its tools set.

mod evidence;
mod kinds;
mod leave_out;
mod secret;
mod spelling;
mod system;

use std::collections::BTreeMap;

use crate::export::cluster::Cluster;
use crate::export::options::Options;
use crate::export::visit::Tree;
use crate::krm::annotations::remove_empty;
use crate::krm::identity::{group, is_built_in};
use crate::krm::pods;
use krm_yaml::{View, ViewMut};

pub(super) use leave_out::{is_bare, reason};
pub(super) use spelling::canonical;

/// The tables of fields, as options leave them.
pub(super) struct Tables<'o> {
    options: &'o Options,
    fields: Tree<()>,
    /// By kind.
    kinds: BTreeMap<String, kinds::Tables>,
}

impl<'o> Tables<'o> {
    pub(super) fn of(options: &'o Options) -> Self {
        Self {
            options,
            fields: system::fields(options),
            kinds: BTreeMap::new(),
        }
    }
}

/// Strips an object; `say` reports the fields that are not the cluster's.
pub(super) fn strip(
    mut object: ViewMut<'_, '_>,
    cluster: &Cluster,
    tables: &mut Tables<'_>,
    say: &mut dyn FnMut(String),
) {
    let options = tables.options;
    let text = |key| object.view().str_at(&[key]).unwrap_or_default();
    let kind = text("kind").into_owned();
    let group = group(&text("apiVersion")).to_owned();
    let facts = (!options.exact && is_built_in(&group))
        .then(|| kinds::Facts::of(object.view(), &kind, cluster, options));
    let fields = (&tables.fields, options);
    system::strip(object.by_ref(), (&group, &kind), fields, say);
    if let Some(facts) = facts {
        let tables = tables.kinds.entry(kind.clone());
        let tables = tables.or_insert_with(|| kinds::Tables::of(&kind, options));
        facts.strip(object.by_ref(), tables, say);
    }
    for pattern in &options.drop {
        if remove(object.by_ref(), pattern.keys()) {
            say(format!(
                "dropped `{}`, as `--drop` says",
                pattern.keys().join(".")
            ));
        }
    }
    if kind == "Secret" && group.is_empty() {
        secret::to_text(object.by_ref().value());
    }
    if !options.exact {
        remove_empty_metadata(object, &kind);
    }
}

/// Whether stripping an object only drops parts of it.
pub(super) fn only_drops(object: View<'_>) -> bool {
    let kind = object.str_at(&["kind"]);
    !matches!(
        kind.as_deref(),
        Some("Secret" | "DeploymentConfig" | "ImageStream")
    )
}

/// Removes the entries at a path, through all lists. Returns whether there were any.
fn remove(part: ViewMut<'_, '_>, keys: &[String]) -> bool {
    if part.view().is_sequence() {
        let mut found = false;
        part.each_item(|item| found |= remove(item, keys));
        return found;
    }
    match keys {
        [] => false,
        [last] => {
            let is_there = part.view().get(last).is_some();
            part.remove(last);
            is_there
        }
        [first, rest @ ..] => part.get(first).is_some_and(|field| remove(field, rest)),
    }
}

/// Removes the metadata of templates that have none left.
fn remove_empty_metadata(mut object: ViewMut<'_, '_>, kind: &str) {
    let job: &[&str] = &["spec", "jobTemplate"];
    let pod = pods::pod(kind).filter(|pod| !pod.is_empty());
    let paths = pod.iter().map(Vec::as_slice);
    for path in paths.chain((kind == "CronJob").then_some(job)) {
        if let Some(template) = object.by_ref().at(path) {
            remove_empty(template, "metadata");
        }
    }
}
