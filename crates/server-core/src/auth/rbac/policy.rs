//! RBAC policies and their decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use krm_yaml::diagnostic::Diagnostics;

use super::model::{Binding, RoleKey, Rule};
use super::read::{Objects, read};
use crate::auth::request::{Attributes, User};
use crate::reload::{Content, Watched};

/// The roles and bindings that decide about requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    roles: BTreeMap<RoleKey, Vec<Rule>>,
    bindings: Vec<Binding>,
}

impl Policy {
    /// Creates a policy without the default roles of a cluster.
    #[must_use]
    pub const fn new(roles: BTreeMap<RoleKey, Vec<Rule>>, bindings: Vec<Binding>) -> Self {
        Self { roles, bindings }
    }

    /// Opens the policy in a file or folder, which is reread when it changes.
    ///
    /// The policy includes the default roles of a cluster that concern this server, unless a file
    /// overrides one by its name.
    ///
    /// # Errors
    /// If a file cannot be read or is invalid. The message lists all errors as
    /// `file:line:column: message`.
    pub fn open(path: PathBuf) -> anyhow::Result<Arc<Watched<Self>>> {
        Watched::open("--rbac", vec![path], |contents| {
            let mut objects = Objects::default();
            let mut diagnostics = Diagnostics::new();
            for Content { path, bytes } in contents {
                read(&path.display().to_string(), bytes.clone(), &mut objects, &mut diagnostics);
            }
            let mut defaults = Objects::default();
            read(
                "built-in roles",
                include_bytes!("builtin.yaml").into(),
                &mut defaults,
                &mut diagnostics,
            );
            if diagnostics.has_errors() {
                let errors = diagnostics.errors();
                let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
                return Err(anyhow!(lines.join("\n")));
            }
            for warning in &diagnostics {
                tracing::warn!("{warning}");
            }
            Ok(objects.over(defaults))
        })
    }

    /// Checks that a rule allows the request of a user.
    ///
    /// # Errors
    /// The reason, which may be empty, if no rule allows the request.
    pub fn decide(&self, user: &User, wanted: &Attributes<'_>) -> Result<(), String> {
        let mut missing = BTreeSet::new();
        let namespace = if wanted.path.is_some() { "" } else { wanted.namespace };
        for binding in self.bindings_of(user, namespace) {
            match self.roles.get(&binding.role) {
                Some(rules) if rules.iter().any(|rule| rule.allows(wanted)) => return Ok(()),
                Some(_) => {}
                None => {
                    missing.insert(&binding.role);
                }
            }
        }
        Err(reason(&missing))
    }

    /// Returns the rules for a user in a namespace, and a message about missing roles, which may be
    /// empty.
    pub fn rules(&self, user: &User, namespace: &str) -> (Vec<&Rule>, String) {
        let mut missing = BTreeSet::new();
        let mut rules = Vec::new();
        for binding in self.bindings_of(user, namespace) {
            match self.roles.get(&binding.role) {
                Some(role) => rules.extend(role),
                None => {
                    missing.insert(&binding.role);
                }
            }
        }
        (rules, reason(&missing))
    }

    /// Returns the bindings of a user that apply in a namespace: all `ClusterRoleBinding`s, and the
    /// `RoleBinding`s of the namespace.
    fn bindings_of(&self, user: &User, namespace: &str) -> impl Iterator<Item = &Binding> {
        self.bindings
            .iter()
            .filter(move |binding| binding.namespace.is_empty() || binding.namespace == namespace)
            .filter(|binding| binding.subjects.iter().any(|subject| subject.is(user)))
    }
}

impl Objects {
    /// Creates a policy from these objects, which override the ones of `defaults` with the same
    /// name.
    fn over(self, mut defaults: Self) -> Policy {
        defaults.bindings.extend(self.bindings);
        defaults.roles.extend(self.roles);
        Policy::new(defaults.roles, defaults.bindings.into_values().collect())
    }
}

/// Returns the Kubernetes message for missing roles, or an empty string if none is missing.
fn reason(missing: &BTreeSet<&RoleKey>) -> String {
    let texts: Vec<String> = missing
        .iter()
        .map(|RoleKey { namespace, name }| {
            let kind = if namespace.is_empty() { "clusterrole" } else { "role" };
            format!("{kind}.rbac.authorization.k8s.io {name:?} not found")
        })
        .collect();
    match texts.as_slice() {
        [] => String::new(),
        [one] => format!("RBAC: {one}"),
        all => format!("RBAC: [{}]", all.join(", ")),
    }
}
