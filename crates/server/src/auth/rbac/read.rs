//! Reads RBAC objects from YAML or JSON.
//!
//! Unlike in kube-apiserver, an unknown field is an error: `resourceName` instead of
//! `resourceNames` would grant access to all objects.

use std::collections::BTreeMap;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::{Cursor, Data, Document, DuplicateKeys, Scalar, Value, decode};

use super::labels::{Operator, Requirement, Selector};
use super::model::{Binding, Role, RoleKey, Rule, Subject};

/// The API group of roles and bindings.
const GROUP: &str = "rbac.authorization.k8s.io";

/// The roles and bindings of files, by namespace and name.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) roles: BTreeMap<RoleKey, Role>,
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
        let reader = Reader {
            document: &document,
            root,
        };
        let items = match value.get("items").and_then(Value::items) {
            Some(items)
                if value
                    .str_at(&["kind"])
                    .is_some_and(|kind| kind.ends_with("List")) =>
            {
                items
            }
            _ => std::slice::from_ref(&value),
        };
        for object in items {
            let result = reader.object(object, objects);
            if let Some(Some(warning)) = diagnostics.take(result) {
                diagnostics.push(warning);
            }
        }
    }
}

/// A reader of the objects in a document.
#[derive(Clone, Copy)]
struct Reader<'d> {
    document: &'d Document,
    root: Cursor<'d>,
}

impl<'d> Reader<'d> {
    /// Reads an object, or returns a warning.
    fn object(self, object: &Value<'_>, objects: &mut Objects) -> Result<Option<Diagnostic>> {
        let api_version = self.text(object, "apiVersion")?;
        let kind = self.text(object, "kind")?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        if group != GROUP {
            let message = format!("`{kind}` of `{api_version}` is not an RBAC object: skipped");
            return Ok(Some(
                Diagnostic::warning(message).at(self.cursor(object).place()),
            ));
        }
        if version != "v1" {
            return Err(self.error_at(object, "apiVersion", format!("expected `{GROUP}/v1`")));
        }
        match kind.as_str() {
            "Role" => self.role(object, true, objects)?,
            "ClusterRole" => self.role(object, false, objects)?,
            "RoleBinding" => self.binding(object, true, objects)?,
            "ClusterRoleBinding" => self.binding(object, false, objects)?,
            _ => return Err(self.error_at(object, "kind", format!("unknown kind `{kind}`"))),
        }
        Ok(None)
    }

    fn role(self, object: &Value<'_>, is_namespaced: bool, objects: &mut Objects) -> Result<()> {
        let fields: &[&str] = if is_namespaced {
            &["apiVersion", "kind", "metadata", "rules"]
        } else {
            &["apiVersion", "kind", "metadata", "rules", "aggregationRule"]
        };
        self.known(object, fields)?;
        let key = self.key(object, is_namespaced)?;
        let labels = self.labels(object)?;
        let mut rules = Vec::new();
        for rule in self.list(object, "rules")? {
            rules.push(self.rule(rule, is_namespaced)?);
        }
        let aggregated = match present(object, "aggregationRule") {
            Some(rule) => self.aggregation(rule)?,
            None => Vec::new(),
        };
        let role = Role {
            labels,
            rules,
            aggregated,
        };
        match objects.roles.insert(key, role) {
            None => Ok(()),
            Some(_) => Err(self.error(object, "a role with this name already exists")),
        }
    }

    fn rule(self, rule: &Value<'_>, is_namespaced: bool) -> Result<Rule> {
        let fields = [
            "verbs",
            "apiGroups",
            "resources",
            "resourceNames",
            "nonResourceURLs",
        ];
        self.known(rule, &fields)?;
        let [
            verbs,
            api_groups,
            resources,
            resource_names,
            non_resource_urls,
        ] = fields.map(|field| self.texts(rule, field));
        let rule_read = Rule {
            verbs: verbs?,
            api_groups: api_groups?,
            resources: resources?,
            resource_names: resource_names?,
            non_resource_urls: non_resource_urls?,
        };
        let Rule {
            api_groups,
            resources,
            resource_names,
            non_resource_urls,
            ..
        } = &rule_read;
        let problem = if rule_read.verbs.is_empty() {
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
        };
        problem.map_or(Ok(rule_read), |problem| Err(self.error(rule, problem)))
    }

    fn aggregation(self, rule: &Value<'_>) -> Result<Vec<Selector>> {
        self.known(rule, &["clusterRoleSelectors"])?;
        let selectors = self.list(rule, "clusterRoleSelectors")?;
        if selectors.is_empty() {
            return Err(self.error(rule, "expected at least one of `clusterRoleSelectors`"));
        }
        selectors
            .iter()
            .map(|selector| self.selector(selector))
            .collect()
    }

    fn selector(self, selector: &Value<'_>) -> Result<Selector> {
        self.known(selector, &["matchLabels", "matchExpressions"])?;
        let mut requirements = Vec::new();
        if let Some(labels) = present(selector, "matchLabels") {
            for (key, value) in self.text_map(labels)? {
                let operator = Operator::In;
                requirements.push(Requirement {
                    key,
                    operator,
                    values: vec![value],
                });
            }
        }
        for expression in self.list(selector, "matchExpressions")? {
            self.known(expression, &["key", "operator", "values"])?;
            let operator = match self.text(expression, "operator")?.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                _ => {
                    let message = "expected `In`, `NotIn`, `Exists` or `DoesNotExist`";
                    return Err(self.error_at(expression, "operator", message));
                }
            };
            let key = self.text(expression, "key")?;
            let values = self.texts(expression, "values")?;
            if matches!(operator, Operator::In | Operator::NotIn) == values.is_empty() {
                let message = "`In` and `NotIn` need `values`, the other operators have none";
                return Err(self.error(expression, message));
            }
            requirements.push(Requirement {
                key,
                operator,
                values,
            });
        }
        Ok(Selector(requirements))
    }

    fn binding(self, object: &Value<'_>, is_namespaced: bool, objects: &mut Objects) -> Result<()> {
        self.known(
            object,
            &["apiVersion", "kind", "metadata", "roleRef", "subjects"],
        )?;
        let key = self.key(object, is_namespaced)?;
        let role = self.role_ref(object, &key.namespace)?;
        let subjects = self.list(object, "subjects")?.iter();
        let subjects = subjects
            .map(|one| self.subject(one, &key.namespace))
            .collect::<Result<_>>()?;
        let binding = Binding {
            namespace: key.namespace.clone(),
            role,
            subjects,
        };
        match objects.bindings.insert(key, binding) {
            None => Ok(()),
            Some(_) => Err(self.error(object, "a binding with this name already exists")),
        }
    }

    fn role_ref(self, binding: &Value<'_>, namespace: &str) -> Result<RoleKey> {
        let Some(of) = present(binding, "roleRef") else {
            return Err(self.error(binding, "`roleRef` is missing"));
        };
        self.known(of, &["apiGroup", "kind", "name"])?;
        if !matches!(self.optional(of, "apiGroup")?.as_str(), "" | GROUP) {
            return Err(self.error_at(of, "apiGroup", format!("expected `{GROUP}`")));
        }
        let name = self.text(of, "name")?;
        let namespace = match self.text(of, "kind")?.as_str() {
            "ClusterRole" => String::new(),
            "Role" if !namespace.is_empty() => namespace.to_owned(),
            "Role" => {
                let message = "a `ClusterRoleBinding` cannot refer to a `Role`";
                return Err(self.error_at(of, "kind", message));
            }
            _ => return Err(self.error_at(of, "kind", "expected `Role` or `ClusterRole`")),
        };
        Ok(RoleKey { namespace, name })
    }

    fn subject(self, subject: &Value<'_>, namespace: &str) -> Result<Subject> {
        self.known(subject, &["apiGroup", "kind", "name", "namespace"])?;
        let name = self.text(subject, "name")?;
        let group = self.optional(subject, "apiGroup")?;
        let own_namespace = self.optional(subject, "namespace")?;
        let kind = self.text(subject, "kind")?;
        let expected = if kind == "ServiceAccount" { "" } else { GROUP };
        if !group.is_empty() && group != expected {
            return Err(self.error_at(subject, "apiGroup", format!("expected {expected:?}")));
        }
        match kind.as_str() {
            "User" => Ok(Subject::User(name)),
            "Group" => Ok(Subject::Group(name)),
            "ServiceAccount" => {
                let namespace = if own_namespace.is_empty() {
                    namespace
                } else {
                    &own_namespace
                };
                if namespace.is_empty() {
                    return Err(self.error(subject, "`namespace` is missing"));
                }
                Ok(Subject::service_account(namespace, &name))
            }
            _ => {
                let message = "expected `User`, `Group` or `ServiceAccount`";
                Err(self.error_at(subject, "kind", message))
            }
        }
    }

    /// Returns the name of an object, and its namespace if its kind is namespaced.
    fn key(self, object: &Value<'_>, is_namespaced: bool) -> Result<RoleKey> {
        let Some(metadata) = present(object, "metadata") else {
            return Err(self.error(object, "`metadata` is missing"));
        };
        let name = self.text(metadata, "name")?;
        let namespace = if is_namespaced {
            self.text(metadata, "namespace")?
        } else {
            String::new()
        };
        Ok(RoleKey { namespace, name })
    }

    fn labels(self, object: &Value<'_>) -> Result<BTreeMap<String, String>> {
        let labels = object
            .at(&["metadata", "labels"])
            .filter(|labels| !labels.is_null());
        labels.map_or_else(|| Ok(BTreeMap::new()), |labels| self.text_map(labels))
    }

    fn text_map(self, value: &Value<'_>) -> Result<BTreeMap<String, String>> {
        let Some(entries) = value.entries() else {
            return Err(self.error(value, "expected a mapping of texts"));
        };
        let texts = entries.iter().map(|(key, value)| {
            let text = value
                .as_str()
                .ok_or_else(|| self.error(value, "expected a string"))?;
            Ok((key.clone().into_owned(), text.to_owned()))
        });
        texts.collect()
    }

    /// Returns the string in a field, which is required and must not be empty.
    fn text(self, object: &Value<'_>, key: &str) -> Result<String> {
        let text = self.optional(object, key)?;
        if text.is_empty() {
            return Err(self.error(object, format!("`{key}` is missing")));
        }
        Ok(text)
    }

    /// Returns the string in a field, or an empty string if the field is absent.
    fn optional(self, object: &Value<'_>, key: &str) -> Result<String> {
        if object.entries().is_none() {
            return Err(self.error(object, "expected a mapping"));
        }
        match present(object, key) {
            None => Ok(String::new()),
            Some(value) => value
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| self.error(value, format!("`{key}`: expected a string"))),
        }
    }

    fn list<'v, 's>(self, object: &'v Value<'s>, key: &str) -> Result<&'v [Value<'s>]> {
        match present(object, key) {
            None => Ok(&[]),
            Some(value) => value
                .items()
                .ok_or_else(|| self.error(value, format!("`{key}`: expected a list"))),
        }
    }

    fn texts(self, object: &Value<'_>, key: &str) -> Result<Vec<String>> {
        let texts = self.list(object, key)?.iter().map(|item| {
            let text = item.as_str().map(str::to_owned);
            text.ok_or_else(|| self.error(item, format!("`{key}`: expected a string")))
        });
        texts.collect()
    }

    /// Rejects a value that is not a mapping, and fields that are not in `known`.
    fn known(self, object: &Value<'_>, known: &[&str]) -> Result<()> {
        let Some(entries) = object.entries() else {
            return Err(self.error(object, "expected a mapping"));
        };
        match entries.iter().find(|(key, _)| !known.contains(&&**key)) {
            None => Ok(()),
            Some((key, value)) => {
                let message = format!("unknown field `{key}`");
                Err(Box::new(
                    Diagnostic::error(message).at(self.cursor(value).key_place()),
                ))
            }
        }
    }

    fn error(self, value: &Value<'_>, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(message).at(self.cursor(value).place()))
    }

    /// Returns the node of a value, or the document's root for a value that an alias refers to.
    fn cursor(self, value: &Value<'_>) -> Cursor<'d> {
        value
            .origin
            .map_or(self.root, |id| self.document.cursor(id))
    }

    /// Creates an error about the value of a field.
    fn error_at(
        self,
        object: &Value<'_>,
        key: &str,
        message: impl Into<String>,
    ) -> Box<Diagnostic> {
        self.error(object.get(key).unwrap_or(object), message)
    }
}

/// Returns the value of a field, unless it is absent or null.
fn present<'v, 's>(object: &'v Value<'s>, key: &str) -> Option<&'v Value<'s>> {
    object
        .get(key)
        .filter(|value| !matches!(value.data, Data::Scalar(Scalar::Null)))
}
