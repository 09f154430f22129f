//! Finds the runtime of a transformer.

use std::sync::Arc;

use crate::builtin::table::{self, BUILTINS};
use crate::engine::field_tables::Additions;
use crate::engine::program::{Program, Runtime};
use crate::engine::step::{Nested, Runner, Step};
use crate::engine::transformer::Transformer;
use crate::kustomization::file;
use crate::read::model::GROUP;
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::suggest::closest;

/// Kinds that this program expands itself.
const OWN_KINDS: [&str; 4] =
    ["Template", "TemplateInstance", "TemplateExport", "DeploymentConfiguration"];
/// The name of this program's image, in whatever registry.
const OWN_IMAGE: &str = "krm-template";

/// The step for a transformer.
///
/// # Errors
/// If nothing runs it, or its configuration is wrong.
pub(crate) fn step(transformer: Transformer, additions: &Arc<Additions>) -> Result<Step> {
    let runner = match Runtime::of(&transformer)? {
        None => internal(&transformer)?,
        Some(Runtime::Starlark) => Runner::Starlark,
        Some(Runtime::Program(Program::Container(container))) if is_ours(&container.image) => {
            if transformer.id.group == GROUP {
                internal(&transformer)?
            } else {
                Runner::Own
            }
        }
        Some(Runtime::Program(program)) => Runner::Program(program),
    };
    Ok(Step { transformer, runner, additions: Arc::clone(additions), is_of_kustomization: false })
}

fn internal(transformer: &Transformer) -> Result<Runner> {
    let id = &transformer.id;
    if id.kind == "Kustomization" && (id.is_builtin() || id.group == GROUP) {
        let mut found = Diagnostics::new();
        // It is read again when it runs; here only to report errors before anything runs.
        file::of_transformer(transformer, &mut found);
        return match found.errors().iter().next() {
            Some(wrong) => Err(Box::new(wrong.clone())),
            None => Ok(Runner::Nested(Nested::Kustomization, Vec::new())),
        };
    }
    if let Some(builtin) = table::find(id) {
        return (builtin.read)(transformer, None).map(Runner::Builtin);
    }
    if id.group == GROUP && id.kind == "Composition" {
        return Ok(Runner::Nested(Nested::Composition, Vec::new()));
    }
    if OWN_KINDS.contains(&id.kind.as_str()) {
        return Ok(Runner::Own);
    }
    let field = FieldPath::root().key("kind");
    if id.is_builtin() {
        let kinds = BUILTINS.iter().flat_map(|builtin| builtin.kinds).copied();
        let hint = match closest(&id.kind, kinds) {
            Some(known) => format!("did you mean `{known}`?"),
            None if id.kind == "Composition" => {
                "as a transformer it needs `apiVersion: kustomize.config.k8s.io/v1alpha1`"
                    .to_owned()
            }
            None => "a transformer of your own has an `apiVersion` with a group, and a `runtime`"
                .to_owned(),
        };
        return Err(transformer
            .error(&field, "there is no built-in transformer of this kind")
            .hint(hint)
            .into());
    }
    Err(transformer
        .error(&field, "it names no runtime")
        .hint(
            "name an image under `runtime.container.image`, or a program under `runtime.exec.path`",
        )
        .into())
}

/// Whether an image is that of this program, in any registry.
fn is_ours(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    let name = name.split(['@', ':']).next().unwrap_or_default();
    name == OWN_IMAGE
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn our_image_is_known_in_each_registry_and_version() {
        for image in ["krm-template", "krm-template:v1", "localhost:5000/a/krm-template@sha256:0"] {
            assert!(is_ours(image), "{image}");
        }
        for image in ["", "a/krm-templates", "krm-template/other", "a:krm-template"] {
            assert!(!is_ours(image), "{image}");
        }
    }
}
