//! Strips objects of the fields that the cluster and its tools set.

mod evidence;
mod kinds;
mod leave_out;
mod secret;
mod spelling;
mod system;
mod tables;

use crate::export::cluster::Cluster;
use crate::export::options::Options;
use crate::export::strip::tables::Table;
use crate::export::visit::ByKind;
use krm_core::annotations::remove_empty;
use krm_core::identity::{Identity, is_built_in};
use krm_core::pods;
use krm_yaml::ViewMut;

pub(super) use leave_out::{is_bare, reason};
pub(super) use spelling::canonical;

/// The tables of fields, as options leave them.
pub(super) struct Tables<'o> {
    options: &'o Options,
    kinds: ByKind<Table>,
}

impl<'o> Tables<'o> {
    pub(super) fn of(options: &'o Options) -> Self {
        Self {
            options,
            kinds: ByKind::default(),
        }
    }
}

/// Strips an object; `say` reports the fields that are not the cluster's.
pub(super) fn strip(
    mut object: ViewMut<'_, '_>,
    identity: &Identity,
    cluster: &Cluster,
    tables: &mut Tables<'_>,
    say: &mut dyn FnMut(String),
) {
    let options = tables.options;
    let Identity { group, kind, .. } = identity;
    let own = (group.as_str(), kind.as_str());
    let table = tables.kinds.get(own, || Table::of(own, options));
    let facts = kinds::Facts::of((object.view(), identity), &table, cluster, options);
    system::strip(object.by_ref(), kind, options, say);
    if !options.exact && is_built_in(group) {
        // First: an image that a trigger fills in becomes blank, and the default of
        // `imagePullPolicy` depends on it.
        facts.codes(object.by_ref(), say);
    }
    facts.strip(object.by_ref(), &table, say);
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
        remove_empty_metadata(object, kind);
    }
}

/// Whether stripping an object of a kind only drops parts of it.
pub(super) fn only_drops(kind: &str) -> bool {
    !matches!(kind, "Secret" | "DeploymentConfig" | "ImageStream")
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
    for path in pod.into_iter().chain((kind == "CronJob").then_some(job)) {
        if let Some(template) = object.by_ref().at(path) {
            remove_empty(template, "metadata");
        }
    }
}
