//! Strips objects of the fields that the cluster and its tools set.

mod evidence;
mod kinds;
mod leave_out;
mod secret;
mod spelling;
mod system;

use crate::export::cluster::Cluster;
use crate::export::options::Options;
use crate::export::visit::at_mut;
use crate::krm::annotations::remove_empty;
use crate::krm::identity::{group, is_built_in};
use crate::krm::pods;
use krm_yaml::{Data, Value};

pub(super) use leave_out::{is_bare, reason};
pub(super) use spelling::canonical;

/// Strips an object; `say` reports the fields that are not the cluster's.
pub(super) fn strip(
    object: &mut Value<'_>,
    cluster: &Cluster,
    options: &Options,
    say: &mut dyn FnMut(String),
) {
    let kind = object.str_at(&["kind"]).unwrap_or_default().to_owned();
    let group = group(object.str_at(&["apiVersion"]).unwrap_or_default()).to_owned();
    let facts = (!options.exact && is_built_in(&group))
        .then(|| kinds::Facts::of(object, &kind, cluster, options));
    system::strip(object, (&group, &kind), options, say);
    if let Some(facts) = facts {
        facts.strip(object, say);
    }
    for pattern in &options.drop {
        if remove(object, pattern.keys()) {
            say(format!(
                "dropped `{}`, as `--drop` says",
                pattern.keys().join(".")
            ));
        }
    }
    if kind == "Secret" && group.is_empty() {
        secret::to_text(object);
    }
    if !options.exact {
        remove_empty_metadata(object, &kind);
    }
}

/// Whether stripping an object only drops parts of it.
pub(super) fn only_drops(object: &Value<'_>) -> bool {
    let kind = object.str_at(&["kind"]);
    !matches!(kind, Some("Secret" | "DeploymentConfig" | "ImageStream"))
}

/// Removes the entries at a path, through all lists. Returns whether there were any.
fn remove(value: &mut Value<'_>, keys: &[String]) -> bool {
    if let Data::Sequence(items) = &mut value.data {
        let mut found = false;
        for item in items {
            found |= remove(item, keys);
        }
        return found;
    }
    match keys {
        [] => false,
        [last] => value.remove(last).is_some(),
        [first, rest @ ..] => value
            .get_mut(first)
            .is_some_and(|field| remove(field, rest)),
    }
}

/// Removes the metadata of templates that have none left.
fn remove_empty_metadata(object: &mut Value<'_>, kind: &str) {
    let job: &[&str] = &["spec", "jobTemplate"];
    let pod = pods::pod(kind).filter(|pod| !pod.is_empty());
    let paths = pod.iter().map(Vec::as_slice);
    for path in paths.chain((kind == "CronJob").then_some(job)) {
        if let Some(template) = at_mut(object, path) {
            remove_empty(template, "metadata");
        }
    }
}
