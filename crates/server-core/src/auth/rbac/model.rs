//! Roles and bindings.

use krm_core::typed::or_default;
use serde::Deserialize;

use crate::auth::request::{Attributes, SERVICE_ACCOUNT, User};

/// The wildcard of a rule.
pub(super) const ALL: &str = "*";

/// A policy rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Rule {
    /// The verbs; `*` for all.
    #[serde(deserialize_with = "or_default")]
    pub verbs: Vec<String>,
    /// The API groups; `*` for all.
    #[serde(deserialize_with = "or_default")]
    pub api_groups: Vec<String>,
    /// The resources: `a`, `a/subresource`, `*/subresource`, or `*` for all.
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<String>,
    /// The names of the objects; all objects if empty.
    #[serde(deserialize_with = "or_default")]
    pub resource_names: Vec<String>,
    /// The non-resource URLs: `/a`, `/a/*`, or `*` for all.
    #[serde(rename = "nonResourceURLs", deserialize_with = "or_default")]
    pub non_resource_urls: Vec<String>,
}

impl Rule {
    /// Returns `true` if the rule allows the request.
    pub fn allows(&self, wanted: &Attributes<'_>) -> bool {
        if !has(&self.verbs, wanted.verb) {
            return false;
        }
        match wanted.path {
            Some(path) => self.non_resource_urls.iter().any(|pattern| is_path(pattern, path)),
            None => {
                has(&self.api_groups, wanted.group)
                    && self.resources.iter().any(|pattern| is_resource(pattern, wanted))
                    && (self.resource_names.is_empty()
                        || self.resource_names.iter().any(|name| name == wanted.name))
            }
        }
    }
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|item| item == ALL || item == text)
}

fn is_path(pattern: &str, path: &str) -> bool {
    pattern == path || (pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')))
}

fn is_resource(pattern: &str, wanted: &Attributes<'_>) -> bool {
    if pattern == ALL {
        return true;
    }
    if wanted.subresource.is_empty() {
        return pattern == wanted.resource;
    }
    pattern.split_once('/').is_some_and(|(resource, subresource)| {
        subresource == wanted.subresource && (resource == ALL || resource == wanted.resource)
    })
}

/// The namespace and name of a role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoleKey {
    /// The namespace; empty for a `ClusterRole`.
    pub namespace: String,
    /// The name, which is unique in the namespace.
    pub name: String,
}

/// A `RoleBinding` or `ClusterRoleBinding`, which grants a role to subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The namespace; empty for a `ClusterRoleBinding`.
    pub namespace: String,
    /// The role that it grants.
    pub role: RoleKey,
    /// The users and groups that get the role.
    pub subjects: Vec<Subject>,
}

/// A subject of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The user with this name.
    User(String),
    /// All users in this group.
    Group(String),
}

impl Subject {
    /// Returns the user of a service account.
    #[must_use]
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::User(format!("{SERVICE_ACCOUNT}{namespace}:{name}"))
    }

    /// Returns `true` if the subject includes the user.
    pub fn is(&self, user: &User) -> bool {
        match self {
            Self::User(name) => user.name == *name,
            Self::Group(name) => user.is_in(name),
        }
    }
}
