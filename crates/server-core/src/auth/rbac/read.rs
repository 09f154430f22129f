//! Reads RBAC objects from YAML or JSON.
//!
//! Unlike in kube-apiserver, an unknown field is an error: `resourceName` instead of
//! `resourceNames` would grant access to all objects.

use std::collections::BTreeMap;

use krm_core::typed::{self, Problem, or_default};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::{Cursor, Document, DuplicateKeys, FieldPath, Step, Value, decode};
use serde::de::{DeserializeOwned, Error, IgnoredAny};
use serde::{Deserialize, Deserializer};

use super::model::{Binding, RoleKey, Rule, Subject};

/// The API group of roles and bindings.
const GROUP: &str = "rbac.authorization.k8s.io";

/// The beginning of the labels that add a role to another in a cluster.
const AGGREGATE: &str = "rbac.authorization.k8s.io/aggregate-to-";

/// The roles and bindings of files, by namespace and name.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) roles: BTreeMap<RoleKey, Vec<Rule>>,
    pub(super) bindings: BTreeMap<RoleKey, Binding>,
}

/// Reads all objects of a file into `objects`. Objects of other groups are skipped with a warning.
pub(super) fn read(
    name: &str,
    bytes: Vec<u8>,
    objects: &mut Objects,
    diagnostics: &mut Diagnostics,
) {
    let document = decode(name, bytes).and_then(|source| Document::parse(&source));
    let Some(document) = diagnostics.take(document) else {
        return;
    };
    for root in document.roots() {
        let Some(value) = root.value(DuplicateKeys::Refuse, diagnostics) else {
            continue;
        };
        if value.is_null() {
            continue;
        }
        let items = match value.get("items").and_then(Value::items) {
            Some(items) if value.str_at(&["kind"]).is_some_and(|kind| kind.ends_with("List")) => {
                items
            }
            _ => std::slice::from_ref(&value),
        };
        for value in items {
            // A value that an alias refers to has no node.
            let node = value.origin.map_or(root, |id| document.cursor(id));
            let result = Object { value, node }.read(objects);
            if let Some(Some(warning)) = diagnostics.take(result) {
                diagnostics.push(warning);
            }
        }
    }
}

/// The type of an object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    #[serde(deserialize_with = "not_empty")]
    api_version: String,
    kind: String,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(deserialize_with = "not_empty")]
    name: String,
    namespace: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    labels: BTreeMap<String, String>,
}

/// A `Role` or `ClusterRole` after its `kind` and `apiVersion`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RoleFields {
    metadata: Metadata,
    #[serde(default, deserialize_with = "or_default")]
    rules: Vec<Rule>,
    aggregation_rule: Option<IgnoredAny>,
}

/// A `RoleBinding` or `ClusterRoleBinding` after its `kind` and `apiVersion`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct BindingFields {
    metadata: Metadata,
    role_ref: Reference,
    #[serde(default, deserialize_with = "or_default")]
    subjects: Vec<Reference>,
}

/// A role or a subject. A role has no namespace.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Reference {
    api_group: Option<String>,
    kind: String,
    #[serde(deserialize_with = "not_empty")]
    name: String,
    namespace: Option<String>,
}

/// Reads a string that must not be empty.
fn not_empty<'v, D: Deserializer<'v>>(field: D) -> Result<String, D::Error> {
    let text = String::deserialize(field)?;
    if text.is_empty() {
        return Err(Error::custom("expected a string that is not empty"));
    }
    Ok(text)
}

/// An object of a document.
#[derive(Clone, Copy)]
struct Object<'d> {
    value: &'d Value<'d>,
    node: Cursor<'d>,
}

impl Object<'_> {
    /// Reads the object into `objects`, or returns a warning.
    fn read(self, objects: &mut Objects) -> Result<Option<Diagnostic>> {
        let Header { api_version, kind } = self.typed(&[])?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        if group != GROUP {
            let message = format!("`{kind}` of `{api_version}` is not an RBAC object: skipped");
            return Ok(Some(Diagnostic::warning(message).at(self.node.place())));
        }
        if version != "v1" {
            return Err(self.error("apiVersion", format!("expected `{GROUP}/v1`")));
        }
        match kind.as_str() {
            "Role" => return self.role(true, objects),
            "ClusterRole" => return self.role(false, objects),
            "RoleBinding" => self.binding(true, objects)?,
            "ClusterRoleBinding" => self.binding(false, objects)?,
            _ => return Err(self.error("kind", format!("unknown kind `{kind}`"))),
        }
        Ok(None)
    }

    /// Reads a role, and returns a warning if it is labelled as a part of another one.
    fn role(self, is_namespaced: bool, objects: &mut Objects) -> Result<Option<Diagnostic>> {
        let fields: RoleFields = self.typed(&["apiVersion", "kind"])?;
        let key = self.key(&fields.metadata, is_namespaced)?;
        for (index, rule) in fields.rules.iter().enumerate() {
            if let Some(problem) = problem(rule, is_namespaced) {
                return Err(self.error(&format!("rules[{index}]"), problem));
            }
        }
        if fields.aggregation_rule.is_some() {
            let problem = "roles in files are not aggregated";
            let hint = "write the `rules` of the selected roles into this one";
            return Err(Box::new(self.error("aggregationRule", problem).hint(hint)));
        }
        if objects.roles.insert(key, fields.rules).is_some() {
            return Err(self.error("", "a role with this name already exists"));
        }
        let label = fields.metadata.labels.keys().find_map(|key| key.strip_prefix(AGGREGATE));
        Ok(label.map(|role| {
            let message = format!("the label `{AGGREGATE}{role}` has no effect in files");
            let hint = format!("bind this role to those who have the role `{role}`");
            Diagnostic::warning(message).at(self.node.place()).hint(hint)
        }))
    }

    fn binding(self, is_namespaced: bool, objects: &mut Objects) -> Result<()> {
        let fields: BindingFields = self.typed(&["apiVersion", "kind"])?;
        let key = self.key(&fields.metadata, is_namespaced)?;
        let role = self.role_key(fields.role_ref, &key.namespace)?;
        let subjects = fields.subjects.into_iter().enumerate();
        let subjects = subjects.map(|(index, subject)| {
            self.subject(subject, &key.namespace, &format!("subjects[{index}]"))
        });
        let binding = Binding {
            namespace: key.namespace.clone(),
            role,
            subjects: subjects.collect::<Result<_>>()?,
        };
        match objects.bindings.insert(key, binding) {
            None => Ok(()),
            Some(_) => Err(self.error("", "a binding with this name already exists")),
        }
    }

    fn role_key(self, role: Reference, namespace: &str) -> Result<RoleKey> {
        if role.namespace.is_some() {
            return Err(self.error("roleRef.namespace", "unknown field `namespace`"));
        }
        if !matches!(role.api_group.as_deref(), None | Some("" | GROUP)) {
            return Err(self.error("roleRef.apiGroup", format!("expected `{GROUP}`")));
        }
        let wrong = |problem| Err(self.error("roleRef.kind", problem));
        let namespace = match (role.kind.as_str(), namespace) {
            ("ClusterRole", _) => "",
            ("Role", "") => return wrong("a `ClusterRoleBinding` cannot refer to a `Role`"),
            ("Role", own) => own,
            _ => return wrong("expected `Role` or `ClusterRole`"),
        };
        Ok(RoleKey { namespace: namespace.to_owned(), name: role.name })
    }

    fn subject(self, subject: Reference, namespace: &str, at: &str) -> Result<Subject> {
        let Reference { kind, name, .. } = subject;
        let own = subject.namespace.filter(|own| !own.is_empty());
        let expected = if kind == "ServiceAccount" { "" } else { GROUP };
        let group = subject.api_group.unwrap_or_default();
        if !group.is_empty() && group != expected {
            return Err(self.error(&format!("{at}.apiGroup"), format!("expected {expected:?}")));
        }
        match kind.as_str() {
            "User" => Ok(Subject::User(name)),
            "Group" => Ok(Subject::Group(name)),
            "ServiceAccount" => match own.as_deref().unwrap_or(namespace) {
                "" => Err(self.error(at, "`namespace` is missing")),
                namespace => Ok(Subject::service_account(namespace, &name)),
            },
            _ => {
                let message = "expected `User`, `Group` or `ServiceAccount`";
                Err(self.error(&format!("{at}.kind"), message))
            }
        }
    }

    /// Returns the name of the object, and its namespace if its kind is namespaced.
    fn key(self, metadata: &Metadata, is_namespaced: bool) -> Result<RoleKey> {
        let namespace = metadata.namespace.as_deref().filter(|_| is_namespaced);
        let namespace = namespace.unwrap_or_default().to_owned();
        if is_namespaced && namespace.is_empty() {
            return Err(self.error("metadata", "`namespace` is missing"));
        }
        Ok(RoleKey { namespace, name: metadata.name.clone() })
    }

    /// Reads the object, without some of its fields, as a type.
    fn typed<T: DeserializeOwned>(self, without: &[&str]) -> Result<T> {
        typed::read_without(without, self.value, None).map_err(|mismatch| {
            let path = mismatch.field(&FieldPath::root());
            let (mut message, hint) = mismatch.in_words();
            let key = path.steps().iter().rev().find_map(|step| match step {
                Step::Key(key) => Some(key),
                Step::Index(_) => None,
            });
            let node = self.node.lookup(&path).unwrap_or(self.node);
            let mut place = node.place();
            match (&mismatch.problem, key) {
                (Problem::Type { .. } | Problem::Number(_) | Problem::Other(_), Some(key)) => {
                    message = format!("`{key}`: {message}");
                }
                (Problem::UnknownField(..), _) => place = node.key_place(),
                _ => {}
            }
            Box::new(Diagnostic::error(message).at(place).maybe_hint(hint))
        })
    }

    /// Creates an error about a field, or about the object if the field is absent.
    fn error(self, field: &str, message: impl Into<String>) -> Box<Diagnostic> {
        let node = field.parse().ok().and_then(|path| self.node.lookup(&path));
        Box::new(Diagnostic::error(message).at(node.unwrap_or(self.node).place()))
    }
}

/// Returns the problem of a rule, if it has one.
fn problem(rule: &Rule, is_namespaced: bool) -> Option<&'static str> {
    let Rule { verbs, api_groups, resources, resource_names, non_resource_urls } = rule;
    if verbs.is_empty() {
        Some("the rule has no `verbs`")
    } else if non_resource_urls.is_empty() {
        match (api_groups.is_empty(), resources.is_empty()) {
            (true, _) => Some("the rule has no `apiGroups`"),
            (_, true) => Some("the rule has no `resources`"),
            _ => None,
        }
    } else if is_namespaced {
        Some("a `Role` cannot have `nonResourceURLs`")
    } else if !(api_groups.is_empty() && resources.is_empty() && resource_names.is_empty()) {
        Some("a rule has either resources or `nonResourceURLs`, not both")
    } else {
        None
    }
}
