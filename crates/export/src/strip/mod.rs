//! Strips objects of the fields that the cluster and its tools set.

pub(crate) mod content;
mod evidence;
mod kinds;
mod leave_out;
mod secret;
mod spelling;
pub(crate) mod stripped;
mod system;
mod tables;

use crate::options::Options;
use crate::read::cluster::Cluster;
use crate::strip::tables::Table;
use crate::visit::ByKind;
use krm_core::annotations::remove_empty;
use krm_core::identity::{Identity, is_built_in};
use krm_core::pods;
use krm_yaml::{Data, Value};

pub(super) use leave_out::{is_bare, reason};
pub(super) use spelling::canonical;

/// The tables of fields, as options leave them.
pub(super) struct Tables<'o> {
    options: &'o Options,
    kinds: ByKind<Table>,
}

impl<'o> Tables<'o> {
    pub(super) fn of(options: &'o Options) -> Self {
        Self { options, kinds: ByKind::default() }
    }
}

/// Strips an object; `say` reports the fields that are not the cluster's.
pub(super) fn strip(
    object: &mut Value<'_>,
    identity: &Identity,
    cluster: &Cluster,
    tables: &mut Tables<'_>,
    say: &mut dyn FnMut(String),
) {
    let options = tables.options;
    let Identity { group, kind, .. } = identity;
    let own = (group.as_str(), kind.as_str());
    let table = tables.kinds.get(own, || Table::of(own, options));
    let facts = kinds::Facts::of((object, identity), &table, cluster, options);
    system::strip(object, kind, options, say);
    if !options.exact && is_built_in(group) {
        // First: an image that a trigger fills in becomes one space, and the default of
        // `imagePullPolicy` depends on it.
        facts.codes(object, say);
    }
    facts.strip(object, &table, say);
    for pattern in &options.drop {
        if remove(object, pattern.keys()) {
            say(format!("dropped `{}`, as `--drop` says", pattern.keys().join(".")));
        }
    }
    if kind == "Secret" && group.is_empty() {
        secret::to_text(object);
    }
    if !options.exact {
        remove_empty_metadata(object, kind);
    }
}

/// Removes the entries at a path, through all lists. Returns whether there were any.
fn remove(part: &mut Value<'_>, keys: &[String]) -> bool {
    if let Data::Sequence(items) = &mut part.data {
        let found = items.iter_mut().map(|item| remove(item, keys));
        return found.fold(false, |any, found| any | found);
    }
    match keys {
        [] => false,
        [last] => part.remove(last).is_some(),
        [first, rest @ ..] => part.get_mut(first).is_some_and(|field| remove(field, rest)),
    }
}

/// Removes the metadata of templates that have none left.
fn remove_empty_metadata(object: &mut Value<'_>, kind: &str) {
    let job: &[&str] = &["spec", "jobTemplate"];
    let pod = pods::pod(kind).filter(|pod| !pod.is_empty());
    for path in pod.into_iter().chain((kind == "CronJob").then_some(job)) {
        if let Some(template) = object.at_mut(path) {
            remove_empty(template, "metadata");
        }
    }
}
