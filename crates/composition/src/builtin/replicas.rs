//! `ReplicaCountTransformer`: sets the number of replicas of the objects with a name.
//!
//! Source: kustomize 5.8, `plugin/builtin/replicacounttransformer`, `api/filters/replicacount`. The
//! name may be a former one.

use serde::Deserialize;

use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::fields::field_tree::FieldTrees;
use crate::resources::resource::{Resource, changeable};
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, Value, ViewMut};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplicasConfig {
    replica: Replica,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Replica {
    name: String,
    count: i64,
}

impl Transform for ReplicasConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let Replica { name, count } = &self.replica;
        let tables = context.tables.fields();
        let fields = self.field_specs.as_deref().unwrap_or(&tables.replicas);
        let mut found = false;
        let mut trees = FieldTrees::default();
        for resource in changeable(resources) {
            let is_former = || resource.previous.iter().any(|former| former.name == *name);
            if resource.str_at(&["metadata", "name"]) != Some(name) && !is_former() {
                continue;
            }
            let tree = trees.of_resource(resource, fields.iter());
            if tree.is_empty() {
                continue;
            }
            found = true;
            let set = &mut |_, replicas: ViewMut<'_, '_>| {
                replicas.value_mut().set(Value::from(*count).data);
                Ok(())
            };
            let problems = tree.visit(resource.view_mut(), MissingField::Scalar, set);
            context.problems(resource, problems);
        }
        if !found {
            let scalable = changeable(resources)
                .filter(|resource| fields.iter().any(|field| field.is_for(resource.view())))
                .filter_map(|resource| resource.str_at(&["metadata", "name"]));
            let field = FieldPath::root().key("replica").key("name");
            let problem = format!("no object with replicas is named `{name}`");
            let hint = closest(name, scalable).map(|known| format!("did you mean `{known}`?"));
            let diagnostic = context.transformer.error(&field, problem).maybe_hint(hint);
            context.diagnostics.push(diagnostic);
        }
    }
}
