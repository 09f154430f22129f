//! `ReplicaCountTransformer`: sets the number of replicas of the objects with a name.
//!
//! Source: kustomize 5.8, `plugin/builtin/replicacounttransformer`, `api/filters/replicacount`. The
//! name may be a former one.

use serde::Deserialize;

use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::resources::resource::{Resource, changeable};
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, Value};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplicasConfig {
    replica: Replica,
    #[serde(rename = "fieldSpecs")]
    field_specs: Option<Vec<FieldSpec>>,
}

#[derive(Debug, Deserialize)]
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
        for resource in changeable(resources) {
            if !resource.is_or_was(|identity| identity.name == *name) {
                continue;
            }
            for field in fields {
                if !field.is_for_resource(resource) {
                    continue;
                }
                found = true;
                let outcome = field.visit(
                    resource.value_mut(),
                    MissingField::Scalar,
                    &mut |replicas| {
                        replicas.set(Value::from(*count).data);
                        Ok(())
                    },
                );
                context.outcome(resource, outcome);
            }
        }
        if !found {
            let scalable = changeable(resources)
                .filter(|resource| fields.iter().any(|field| field.is_for_resource(resource)))
                .filter_map(|resource| resource.str_at(&["metadata", "name"]));
            let field = FieldPath::root().key("replica").key("name");
            let problem = format!("no object with replicas is named `{name}`");
            let hint = closest(name, scalable).map(|known| format!("did you mean `{known}`?"));
            let diagnostic = context.transformer.error(&field, problem).maybe_hint(hint);
            context.diagnostics.push(diagnostic);
        }
    }
}
