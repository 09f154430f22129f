//! Objects that are pods or make pods: by their kind, or by the shape of a pod template.

use std::sync::LazyLock;

use crate::identity::group;
use crate::kinds::{Row, count, table};
use crate::label_selector::LabelSelector;
use krm_yaml::View;

/// The kinds of Kubernetes and OpenShift that are pods or make them, with the field path of the
/// specification of the pods.
static SPECS: LazyLock<[(&str, Row); count("pods")]> =
    LazyLock::new(|| table("pods").map(|[kind, path]| (kind, path.split('/').collect())));

/// The field path of the specification of the pods.
pub fn spec(kind: &str) -> Option<&'static [&'static str]> {
    let spec = SPECS.iter().find(|(own, _)| *own == kind);
    spec.map(|(_, path)| path.as_slice())
}

/// The field path of the pod itself or of the pod template: it has `metadata` and `spec`.
pub fn pod(kind: &str) -> Option<&'static [&'static str]> {
    spec(kind)?.strip_suffix(&["spec"])
}

/// The field path of the mapping that has the pod template as `template`, if objects of this kind
/// make pods.
pub fn maker(kind: &str) -> Option<&'static [&'static str]> {
    pod(kind)?.strip_suffix(&["template"])
}

/// The kinds of `KubeVirt`, whose pods have the labels of a template without containers, with the
/// field path of the template.
const MACHINES: &[(&str, &[&str])] = &[
    ("VirtualMachine", &["spec", "template"]),
    ("VirtualMachineInstance", &[]),
    ("VirtualMachineInstanceReplicaSet", &["spec", "template"]),
    ("VirtualMachinePool", &["spec", "virtualMachineTemplate", "spec", "template"]),
];

/// The depth to which pod templates are looked for. `spec.replicatedJobs[].template.spec.template`
/// of a `JobSet` has 6.
const MAX_DEPTH: usize = 8;

/// The position of a part of an object: of each entry or item on the way to it.
pub type Position = Vec<usize>;

/// The pods and pod templates in an object, with their positions.
///
/// An object of a kind that is not known has a pod template where there are `metadata` and `spec`
/// with `containers`, or where its own selector selects the labels of its `spec.template`.
pub fn found_in(object: View<'_>) -> Vec<(View<'_>, Position)> {
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let is_machine = group(&api_version).ends_with("kubevirt.io");
    let mut machines = MACHINES.iter().filter(|_| is_machine);
    let machine = machines.find_map(|(own, path)| (*own == kind).then_some(*path));
    let known = pod(&kind).or(machine).and_then(|path| at(object, path));
    if let Some(known) = known {
        return vec![known];
    }
    let mut found = Vec::new();
    if let Some((spec, position)) = at(object, &["spec"]) {
        if let Some((template, position)) = selected_by(spec, &position) {
            found.push((template, position));
        } else {
            look(spec, &position, &mut found);
        }
    }
    found
}

/// Follows keys downwards.
fn at<'v>(object: View<'v>, keys: &[&str]) -> Option<(View<'v>, Position)> {
    keys.iter().try_fold((object, Position::new()), |(value, mut position), key| {
        let mut entries = value.entries()?.enumerate();
        let (index, (_, value)) = entries.find(|(_, (own, _))| own == key)?;
        position.push(index);
        Some((value, position))
    })
}

/// The `template` in a `spec`, if the `selector` there selects its labels.
pub(crate) fn selected_by<'v>(spec: View<'v>, position: &[usize]) -> Option<(View<'v>, Position)> {
    let selector = LabelSelector::of_workload(spec.get("selector")?)?;
    let (template, rest) = at(spec, &["template"])?;
    let labels = template.at(&["metadata", "labels"])?;
    let is_own = !selector.is_empty() && selector.fits(Some(labels));
    is_own.then(|| (template, [position, &rest].concat()))
}

/// Finds pod templates by their shape. Objects within the object are others' matter.
fn look<'v>(value: View<'v>, position: &[usize], found: &mut Vec<(View<'v>, Position)>) {
    if position.len() > MAX_DEPTH || value.get("kind").is_some() && is_text(value, "apiVersion") {
        return;
    }
    if is_template(value) {
        found.push((value, position.to_vec()));
        return;
    }
    let items = value.items().into_iter().flatten();
    let entries = value.entries().into_iter().flatten();
    let parts = items.chain(entries.map(|(_, value)| value));
    for (index, part) in parts.enumerate() {
        look(part, &[position, &[index]].concat(), found);
    }
}

fn is_text(value: View<'_>, key: &str) -> bool {
    value.get(key).is_some_and(|text| text.as_str().is_some())
}

/// Whether a value has the shape of a pod template.
fn is_template(value: View<'_>) -> bool {
    let metadata = value.get("metadata").filter(|metadata| metadata.is_mapping());
    let containers = value.at(&["spec", "containers"]);
    metadata.is_some() && containers.is_some_and(View::is_sequence)
}
