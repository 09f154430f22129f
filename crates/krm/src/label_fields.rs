//! The fields in which a label must be so that workloads keep selecting their own pods.

use std::sync::LazyLock;

use crate::kinds::{Field, fields};
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

/// The fields of all kinds in the table.
static TREES: LazyLock<Vec<Tree>> = LazyLock::new(trees);

/// The fields of one kind.
struct Tree {
    kind: &'static str,
    /// None for the groups that have no tree of their own.
    group: Option<&'static str>,
    branches: Vec<Branch>,
}

/// The fields in which a Template sets its labels in objects of a group and kind.
///
/// These are kustomize's and OpenShift's, with two rules of our own. A selector that is missing or
/// empty is never added: a Service without one has its endpoints filled by hand, a workload without
/// one selects by the labels of its pod template, and an empty one means "all pods". A selector of
/// [any pods](Selects::Any) is only changed if it selects pods that get the labels.
pub fn for_template(group: &str, kind: &str) -> &'static [Branch] {
    let of_kind = || TREES.iter().filter(|tree| tree.kind == kind);
    let tree = of_kind().find(|tree| tree.group == Some(group));
    let tree = tree.or_else(|| of_kind().find(|tree| tree.group.is_none()));
    tree.map(|tree| tree.branches.as_slice()).unwrap_or_default()
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

fn trees() -> Vec<Tree> {
    let known: Vec<Field> = fields("labels").chain(fields("labels-of-openshift")).collect();
    let all = || known.iter();
    let mut trees: Vec<Tree> = Vec::new();
    for field in all() {
        for (kind, group) in [(field.kind, field.own_group()), (field.kind, None)] {
            if trees.iter().any(|tree| (tree.kind, tree.group) == (kind, group)) {
                continue;
            }
            let mut branches = Vec::new();
            let of_kind = all().filter(|field| field.kind == kind);
            for field in of_kind.filter(|field| [None, group].contains(&field.own_group())) {
                field.grow(&mut branches, field.path);
            }
            trees.push(Tree { kind, group, branches });
        }
    }
    trees
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
