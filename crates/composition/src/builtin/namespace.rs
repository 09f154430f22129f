//! `NamespaceTransformer`: moves objects to the namespace of its `metadata.namespace`.
//!
//! Source: kustomize 5.8, `plugin/builtin/namespacetransformer`, `api/filters/namespace`. Fields
//! that name a moved object with its namespace are updated, such as subjects and webhooks.

use serde::Deserialize;

use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::fields::field_tree::{FieldTrees, Problem};
use crate::names::references;
use crate::resources::resource::{Resource, changeable};
use crate::values::budget::Budget;
use krm_core::identity::group;
use krm_core::names;
use krm_core::scope::is_namespaced;
use krm_yaml::{Data, FieldPath, Value, ViewMut};

/// The configuration; the namespace is its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NamespaceConfig {
    /// Whether an existing namespace stays.
    #[serde(default)]
    unset_only: bool,
    #[serde(default)]
    set_role_binding_subjects: Subjects,
    field_specs: Option<Vec<FieldSpec>>,
}

/// The subjects of role bindings that are moved although their objects are not among the resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Subjects {
    /// Those named `default`, as every namespace has a service account of that name.
    #[default]
    DefaultOnly,
    AllServiceAccounts,
    None,
}

impl Transform for NamespaceConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let config_value = &context.transformer.config;
        let Some(namespace) = config_value.str_at(&["metadata", "namespace"]) else {
            let diagnostic = context
                .transformer
                .error(&FieldPath::root().key("metadata"), "`metadata.namespace` is missing")
                .hint("write the namespace to move objects to as `metadata.namespace`");
            context.diagnostics.push(diagnostic);
            return;
        };
        // A variable may be in it, whose value comes at the end.
        if !namespace.contains("$(")
            && let Some(problem) = names::check_namespace(namespace)
        {
            let field = FieldPath::root().key("metadata").key("namespace");
            context.warn_of(&field, problem);
        }
        let tables = context.tables.fields();
        let own =
            FieldSpec { path: "metadata/namespace".into(), create: true, ..FieldSpec::default() };
        let mut mover = Mover {
            own,
            trees: FieldTrees::default(),
            budget: context.budget,
            namespace,
            unset_only: self.unset_only,
            subjects: self.set_role_binding_subjects,
            fields: self.field_specs.as_deref().unwrap_or(&tables.namespace),
        };
        for resource in changeable(resources).filter(|resource| !resource.is_of_helm) {
            resource.remember();
            let problems = mover.change(resource.view_mut());
            context.problems(resource, problems);
        }
        references::update(resources, context);
    }
}

struct Mover<'c> {
    /// The field of the object itself.
    own: FieldSpec,
    trees: FieldTrees,
    budget: &'c Budget,
    namespace: &'c str,
    unset_only: bool,
    subjects: Subjects,
    fields: &'c [FieldSpec],
}

impl Mover<'_> {
    fn change(&mut self, mut object: ViewMut<'_, '_>) -> Vec<Problem> {
        let view = object.view();
        let api_version = view.str_at(&["apiVersion"]).unwrap_or_default();
        let kind = view.str_at(&["kind"]).unwrap_or_default();
        let is_binding = matches!(&*kind, "RoleBinding" | "ClusterRoleBinding");
        // A `Namespace` of another group does not define a namespace.
        let is_core = api_version == "v1";
        let own = is_namespaced(group(&api_version), &kind).then_some(&self.own);
        let fields = self.fields.iter().filter(|field| {
            let path = &*field.path;
            let is_done = path == "metadata/namespace"
                || (path == "metadata/name" && !is_core)
                || (is_binding && path == "subjects/namespace" && !field.kind.is_empty());
            !is_done
        });
        let fields = own.into_iter().chain(fields);
        let tree = self.trees.of_kind(&api_version, &kind, fields);
        let mut problems = Vec::new();
        if is_binding
            && let Some(subjects) = object.reborrow().get_mut("subjects")
            && let Err(text) = self.set_subjects(subjects)
        {
            let path = "subjects/namespace".into();
            problems.push(Problem { path, text });
        }
        let set = &mut |_, namespace: ViewMut<'_, '_>| self.set(namespace.value_mut());
        problems.extend(tree.visit(object, MissingField::Scalar, set));
        problems
    }

    fn set(&self, namespace: &mut Value<'_>) -> Result<(), String> {
        if !matches!(namespace.data, Data::Scalar(_)) {
            return Err("a namespace is a string, found a list or mapping".to_owned());
        }
        let is_set = !namespace.is_null() && namespace.as_str() != Some("");
        if !(is_set && self.unset_only) && self.budget.take(self.namespace.len()) {
            namespace.set(Value::string(self.namespace.to_owned()).data);
        }
        Ok(())
    }

    fn set_subjects(&self, subjects: ViewMut<'_, '_>) -> Result<(), String> {
        subjects.try_each_item(|subject| {
            let view = subject.view();
            let kind = view.str_at(&["kind"]);
            let is_moved = match self.subjects {
                // Kubernetes refuses a User or Group in a namespace.
                Subjects::DefaultOnly => {
                    view.str_at(&["name"]).as_deref() == Some("default")
                        && kind.is_none_or(|kind| kind == "ServiceAccount")
                }
                Subjects::AllServiceAccounts => kind.as_deref() == Some("ServiceAccount"),
                Subjects::None => false,
            };
            if !is_moved {
                return Ok(());
            }
            let subject = subject.value_mut();
            if subject.get("namespace").is_none() {
                subject.insert("namespace".into(), Value::string(""));
            }
            let namespace = subject.get_mut("namespace");
            namespace.map_or(Ok(()), |namespace| self.set(namespace))
        })
    }
}
