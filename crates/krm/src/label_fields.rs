//! The fields in which a label must be so that workloads keep selecting their own pods.

use std::sync::OnceLock;

use crate::kinds::{Field, count, field_table};
use crate::pods;

/// A key on the way to fields in which a Template sets its labels.
#[derive(Debug)]
pub struct Branch {
    /// A key of [`Field::path`], without `[]`.
    pub key: &'static str,
    /// When a mapping is added under this key.
    pub create: Create,
    /// Whether a label is set under this key.
    pub sets: Sets,
    /// Which labels are set under this key.
    pub scope: Scope,
    /// Which pods are selected under this key, if it is that of a selector.
    pub selects: Option<Selects>,
    /// The keys in the mapping under this key, or in the items of its list.
    pub children: Vec<Self>,
}

/// Whether a Template sets its labels in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sets {
    /// In every object of the kind.
    Yes,
    /// If the field already holds a label.
    More,
    /// In none: the field is only on the way to others.
    No,
}

/// Labels, by whether they are for selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those for pod templates.
    Templates,
    /// Those for selectors. They never change, so volume claims, whose labels cannot be changed,
    /// get no others.
    Selectors,
}

/// The pods that a selector selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selects {
    /// Those of the `template` beside it.
    Own,
    /// Those of any object.
    Any,
}

/// When a Template adds a mapping on the way to its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// In every object that lacks it.
    Always,
    /// In a mapping that holds something else: `matchLabels` beside `matchExpressions`.
    InSelector,
    /// In no object, so that labels below it are set only where it exists.
    Never,
}

/// The fields of kustomize, and those of OpenShift.
static FIELDS: [&[Field]; 2] = [
    &field_table::<{ count("labels") }>("labels"),
    &field_table::<{ count("labels-of-openshift") }>("labels-of-openshift"),
];

/// For each field the trees of its kind, as far as they were asked for: of its own group, and of the
/// groups that have no tree of their own.
static TREES: [[OnceLock<Vec<Branch>>; 2]; count("labels") + count("labels-of-openshift")] =
    [const { [const { OnceLock::new() }; 2] }; _];

/// The fields in which a Template sets its labels in objects of a group and kind.
///
/// These are kustomize's and OpenShift's, with two rules of our own. A selector that is missing or
/// empty is never added: a Service without one has its endpoints filled by hand, a workload without
/// one selects by the labels of its pod template, and an empty one means "all pods". A selector of
/// [any pods](Selects::Any) is only changed if it selects pods that get the labels.
pub fn for_template(group: &str, kind: &str) -> &'static [Branch] {
    let fields = || FIELDS.into_iter().flatten();
    let is_own = |field: &Field| field.kind == kind && field.own_group() == Some(group);
    let own = fields().position(is_own);
    let Some(at) = own.or_else(|| fields().position(|field| field.kind == kind)) else {
        return &[];
    };
    let trees = TREES.get(at).and_then(|trees| trees.get(usize::from(own.is_some())));
    let tree = trees.map(|tree| {
        tree.get_or_init(|| {
            let mut branches = Vec::new();
            let group = own.map(|_| group);
            let of_kind = fields().filter(|field| field.kind == kind);
            for field in of_kind.filter(|field| [None, group].contains(&field.own_group())) {
                field.grow(&mut branches, field.path);
            }
            branches
        })
    });
    tree.map(Vec::as_slice).unwrap_or_default()
}

/// The fields in which a Template sets its labels in a pod template of any kind.
pub fn for_pod_template() -> &'static [Branch] {
    let below = |branches: &'static [Branch], key| -> &'static [Branch] {
        let branch = branches.iter().find(|branch| branch.key == key);
        branch.map(|branch| branch.children.as_slice()).unwrap_or_default()
    };
    below(below(for_template("apps", "Deployment"), "spec"), "template")
}

/// The paths of these fields, as in [`Field::path`] but without `[]`.
pub fn paths(group: &str, kind: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for branch in for_template(group, kind) {
        branch.paths("", &mut paths);
    }
    paths
}

impl Branch {
    fn paths(&self, above: &str, paths: &mut Vec<String>) {
        let path = [above, self.key].concat();
        let below = [&path, "/"].concat();
        if self.sets != Sets::No {
            paths.push(path);
        }
        for branch in &self.children {
            branch.paths(&below, paths);
        }
    }
}

impl Field {
    /// The API group whose kind has the field; none if the kind of any group has it. A version
    /// without a group is one of the core group.
    fn own_group(&self) -> Option<&'static str> {
        (!self.group.is_empty() || !self.version.is_empty()).then_some(self.group)
    }

    fn scope(&self) -> Scope {
        let is_template = self.path.ends_with("metadata/labels");
        if is_template && !self.path.starts_with("spec/volumeClaimTemplates") {
            Scope::Templates
        } else {
            Scope::Selectors
        }
    }

    /// Which pods are selected under a key of its path.
    fn selects(&self, key: &str) -> Option<Selects> {
        match key {
            "selector" if pods::maker(self.kind).is_some() => Some(Selects::Own),
            "selector" | "podSelector" | "labelSelector" => Some(Selects::Any),
            _ => None,
        }
    }

    /// Adds the rest of its path to the branches of a tree.
    fn grow(&self, branches: &mut Vec<Branch>, path: &'static str) {
        let (key, rest) = path.split_once('/').unwrap_or((path, ""));
        let key = key.strip_suffix("[]").unwrap_or(key);
        let create = match path {
            "metadata/labels" | "labels" => Create::Always,
            "matchLabels" if self.create => Create::InSelector,
            _ => Create::Never,
        };
        let position = branches.iter().position(|branch| branch.key == key);
        let position = position.unwrap_or_else(|| {
            branches.push(Branch {
                key,
                create,
                sets: Sets::No,
                scope: self.scope(),
                selects: self.selects(key),
                children: Vec::new(),
            });
            branches.len() - 1
        });
        let Some(branch) = branches.get_mut(position) else {
            return;
        };
        if rest.is_empty() {
            branch.scope = self.scope();
            branch.sets = match create {
                Create::Never => Sets::More,
                Create::Always | Create::InSelector => Sets::Yes,
            };
        } else {
            self.grow(&mut branch.children, rest);
        }
    }
}
