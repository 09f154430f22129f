//! Which pods an object selects: its selector, and the labels of the pods it creates.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::identity::{group, is_built_in};
use crate::label_selector::LabelSelector;
use crate::pods;
use krm_yaml::View;

/// Labels or a selector: keys with their values.
pub type Pairs<'v> = Vec<(Cow<'v, str>, Cow<'v, str>)>;

/// Labels that the cluster adds to pods.
pub const GIVEN: &[&str] = &[
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-name",
    "controller-revision-hash",
    "deployment",
    "deploymentconfig",
    "job-name",
    "leaderworkerset.sigs.k8s.io/group-index",
    "leaderworkerset.sigs.k8s.io/name",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "pod-template-hash",
    "rollouts-pod-template-hash",
    "statefulset.kubernetes.io/pod-name",
    "vm.kubevirt.io/name",
];

/// The labels of the pods that an object creates, for each of its pod templates with labels.
pub fn pod_labels(object: View<'_>) -> Vec<(Pairs<'_>, View<'_>)> {
    let found = pods::found_in(object).into_iter();
    let labels = found.filter_map(|(pod, _)| {
        let labels = pod.at(&["metadata", "labels"])?;
        Some((pairs(labels)?, labels))
    });
    labels.collect()
}

/// The selector of an object, and whether it is plain labels, as that of a Service.
pub fn selector_field(object: View<'_>) -> Option<(View<'_>, bool)> {
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let group = group(&api_version);
    if !is_built_in(group) && group != "apps.openshift.io" {
        let spec = object.get("spec")?;
        pods::selected_by(spec, &[])?;
        let selector = spec.get("selector")?;
        return Some((selector, selector.get("matchLabels").is_none()));
    }
    let (field, is_plain) = match (group, object.str_at(&["kind"])?.as_ref()) {
        ("", "Service" | "ReplicationController") | ("apps.openshift.io", "DeploymentConfig") => {
            ("selector", true)
        }
        ("networking.k8s.io", "NetworkPolicy") => ("podSelector", false),
        (_, "DaemonSet" | "Deployment" | "PodDisruptionBudget" | "ReplicaSet" | "StatefulSet") => {
            ("selector", false)
        }
        _ => return None,
    };
    Some((object.at(&["spec", field])?, is_plain))
}

/// The labels by which an object selects pods. One without labels, or with expressions as well,
/// has no such selector.
pub fn selector(object: View<'_>) -> Option<Pairs<'_>> {
    let (selector, is_plain) = selector_field(object)?;
    if is_plain {
        return pairs(selector);
    }
    if selector.get("matchExpressions").is_some() {
        return None;
    }
    pairs(selector.get("matchLabels")?)
}

fn pairs(mapping: View<'_>) -> Option<Pairs<'_>> {
    let entries = mapping.entries()?;
    let pairs = entries.map(|(key, value)| Some((key, value.as_str()?)));
    let pairs = pairs.collect::<Option<Pairs<'_>>>()?;
    (!pairs.is_empty()).then_some(pairs)
}

/// The labels of pods. One that is about to change may have both values.
pub type Labels = BTreeSet<(String, String)>;

/// Pods, found by their labels, and what they belong to.
#[derive(Debug)]
pub struct Pods<O> {
    /// Each namespace with each set of labels once.
    all: Vec<Pod<O>>,
    known: BTreeMap<(String, Arc<Labels>), usize>,
    /// Those with a label: a namespace, a key and a value.
    by_label: BTreeMap<(String, String, String), Vec<usize>>,
}

#[derive(Debug)]
struct Pod<O> {
    namespace: String,
    labels: Arc<Labels>,
    owners: Vec<O>,
}

impl<O> Default for Pods<O> {
    fn default() -> Self {
        Self { all: Vec::new(), known: BTreeMap::new(), by_label: BTreeMap::new() }
    }
}

impl<O: PartialEq> Pods<O> {
    /// Adds pods of an owner.
    pub fn add(&mut self, namespace: &str, labels: Labels, owner: O) {
        let namespace = namespace.to_owned();
        let labels = Arc::new(labels);
        let index = match self.known.entry((namespace.clone(), Arc::clone(&labels))) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let index = self.all.len();
                new.insert(index);
                for (key, value) in &*labels {
                    let label = (namespace.clone(), key.clone(), value.clone());
                    self.by_label.entry(label).or_default().push(index);
                }
                self.all.push(Pod { namespace, labels, owners: Vec::new() });
                index
            }
        };
        if let Some(pod) = self.all.get_mut(index)
            && pod.owners.last() != Some(&owner)
        {
            pod.owners.push(owner);
        }
    }

    /// An owner of pods in a namespace that a selector selects.
    pub fn find(
        &self,
        namespace: &str,
        selector: &LabelSelector,
        is_meant: impl Fn(&O) -> bool,
    ) -> Option<&O> {
        let mut fewest: Option<&[usize]> = None;
        for (key, value) in selector.pairs() {
            let label = (namespace.to_owned(), key.to_owned(), value.to_owned());
            // With a label that no pod has, nothing is selected.
            let list = self.by_label.get(&label)?.as_slice();
            fewest = Some(fewest.filter(|one| one.len() < list.len()).unwrap_or(list));
        }
        let listed = fewest.into_iter().flatten();
        let listed = listed.filter_map(|index| self.all.get(*index));
        let all = self.all.iter().filter(|_| fewest.is_none());
        let mut selected = listed
            .chain(all)
            .filter(|pod| pod.namespace == namespace && selector.matches_some(&pod.labels));
        selected.find_map(|pod| pod.owners.iter().find(|owner| is_meant(owner)))
    }
}
