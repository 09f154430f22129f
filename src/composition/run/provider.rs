//! What runs a transformer: this program, a container, or another program.

use serde::Deserialize;

use crate::composition::builtin::table::{self, BUILTINS};
use crate::composition::engine::transformer::Transformer;
use crate::composition::read::model::GROUP;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::suggest::closest;
use krm_yaml::{Document, DuplicateKeys, FieldPath, Value};

/// The annotations that say it in a Kustomization; the second is the older one.
const ANNOTATIONS: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];
/// Kinds that this program expands itself.
const OWN_KINDS: [&str; 2] = ["Template", "TemplateInstance"];
/// What the image of this program is called, wherever it is kept.
const OWN_IMAGE: &str = "krm-template";

/// What runs a transformer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// It is built in.
    Builtin,
    /// It is a list of transformers itself.
    Composition,
    /// Our own function, in this process.
    Own,
    /// A container.
    Container(Container),
    /// A program.
    Exec(Exec),
    /// A Starlark script, which nothing here runs.
    Starlark,
}

/// A function in a container image.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `image`")]
pub struct Container {
    /// The name of the image.
    pub image: String,
    /// Whether it asks for a network, which it does not get.
    #[serde(default)]
    network: bool,
    /// Variables for its environment, as `NAME=VALUE`, or `NAME` for one of ours.
    #[serde(default)]
    pub envs: Vec<String>,
}

/// A function that is a program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `path`")]
pub struct Exec {
    /// Its file; a name without a slash is looked for where programs are.
    pub path: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables for its environment besides ours, as `NAME=VALUE`.
    #[serde(default)]
    pub envs: Vec<String>,
    /// Where it runs: the directory of the file that names it.
    #[serde(skip)]
    pub directory: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `path`")]
struct Starlark {
    path: Option<String>,
    url: Option<String>,
    #[expect(dead_code, reason = "kustomize has it for messages")]
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `container`, `exec` or `starlark`"
)]
struct Spec {
    container: Option<Container>,
    exec: Option<Exec>,
    starlark: Option<Starlark>,
}

impl Provider {
    /// What runs a transformer.
    ///
    /// # Errors
    /// If it says that more than once, wrongly, or not at all where it must.
    pub fn of(transformer: &Transformer) -> Result<Self> {
        match named(transformer)? {
            Some((field, value)) => external(transformer, &field, &value),
            None => internal(transformer),
        }
    }
}

/// The field that says what runs a transformer, with its value.
fn named(transformer: &Transformer) -> Result<Option<(FieldPath, Value<'static>)>> {
    let fields = ["provider", "runtime"].map(|key| FieldPath::root().key(key));
    let annotation = |key| {
        FieldPath::root()
            .key("metadata")
            .key("annotations")
            .key(key)
    };
    let all = fields.into_iter().chain(ANNOTATIONS.map(annotation));
    let mut said = all.filter_map(|field| {
        let value = transformer.config.lookup(&field)?;
        (!value.is_null()).then(|| (field, value.clone()))
    });
    let Some((field, value)) = said.next() else {
        return Ok(None);
    };
    if let Some((other, _)) = said.next() {
        let problem = format!("`{field}` and `{other}` both say what runs it");
        let mut wrong = transformer.error(&other, problem);
        if let Some(place) = transformer.place_of(&field) {
            wrong = wrong.related(place, "said here, too");
        }
        return Err(wrong.hint("they mean the same: keep one of them").into());
    }
    let value = match value.as_str() {
        Some(text) if field.steps().len() > 1 => from_annotation(transformer, &field, text)?,
        _ => value,
    };
    Ok(Some((field, value)))
}

/// The text of the annotation is YAML.
fn from_annotation(
    transformer: &Transformer,
    field: &FieldPath,
    text: &str,
) -> Result<Value<'static>> {
    let read = Document::parse(&Source::new(field.to_string(), text)).map(|document| {
        let root = document.roots().next()?;
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new())?;
        Some(value.into_owned().without_origin())
    });
    match read {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(transformer
            .error(field, "the annotation says nothing")
            .into()),
        Err(problem) => Err(transformer
            .error(
                field,
                format!("the annotation is no YAML: {}", problem.message),
            )
            .into()),
    }
}

fn external(transformer: &Transformer, field: &FieldPath, value: &Value<'_>) -> Result<Provider> {
    let spec: Spec = transformer.read_part(field, value)?;
    let error = |key: &str, problem: &str| transformer.error(&field.clone().key(key), problem);
    match spec {
        Spec {
            container: Some(container),
            exec: None,
            starlark: None,
        } => {
            if container.image.is_empty() {
                return Err(error("container", "the container has no `image`").into());
            }
            if container.image.starts_with('-') {
                let problem = format!("`{}` is not the name of an image", container.image);
                return Err(error("container", &problem)
                    .hint("an image begins with a letter or a digit")
                    .into());
            }
            if container.network {
                return Err(error("container", "functions get no network here")
                    .hint("take `network` out; what it needs must be among the resources")
                    .into());
            }
            Ok(if !is_ours(&container.image) {
                Provider::Container(container)
            } else if transformer.id.group == GROUP {
                return internal(transformer);
            } else {
                Provider::Own
            })
        }
        Spec {
            container: None,
            exec: Some(mut exec),
            starlark: None,
        } => {
            if exec.path.is_empty() {
                return Err(error("exec", "there is no `path` of a program").into());
            }
            let at = field.clone().key("exec").key("path");
            transformer.directory_of(&at).clone_into(&mut exec.directory);
            if exec.path.contains('/') {
                let path = transformer.resolve(&at, &exec.path);
                // Without a slash it would be looked for where programs are.
                let here = if path.contains('/') { "" } else { "./" };
                exec.path = format!("{here}{path}");
            }
            Ok(Provider::Exec(exec))
        }
        Spec {
            container: None,
            exec: None,
            starlark: Some(starlark),
        } => {
            let is_named = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
            if !is_named(&starlark.path) && !is_named(&starlark.url) {
                return Err(error("starlark", "there is no `path` of a script").into());
            }
            Ok(Provider::Starlark)
        }
        Spec {
            container: None,
            exec: None,
            starlark: None,
        } => Err(transformer
            .error(field, format!("`{field}` names nothing that runs it"))
            .hint("name an image under `container.image`, or a program under `exec.path`")
            .into()),
        _ => Err(transformer
            .error(field, format!("`{field}` names more than one thing that runs it"))
            .hint("keep one of `container`, `exec` and `starlark`; an override takes the other out with `null`")
            .into()),
    }
}

fn internal(transformer: &Transformer) -> Result<Provider> {
    let id = &transformer.id;
    if table::find(id).is_some() {
        return Ok(Provider::Builtin);
    }
    if id.group == GROUP && id.kind == "Composition" {
        return Ok(Provider::Composition);
    }
    if OWN_KINDS.contains(&id.kind.as_str()) {
        return Ok(Provider::Own);
    }
    let field = FieldPath::root().key("kind");
    if id.is_builtin() {
        let kinds = BUILTINS.iter().flat_map(|builtin| builtin.kinds).copied();
        let hint = match closest(&id.kind, kinds) {
            Some(known) => format!("did you mean `{known}`?"),
            None if id.kind == "Composition" => {
                "as a transformer it needs its `apiVersion: kustomize.config.k8s.io/v1alpha1`"
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
        .error(&field, "it does not say what runs it")
        .hint(
            "name an image under `runtime.container.image`, or a program under `runtime.exec.path`",
        )
        .into())
}

/// Whether an image is that of this program: it is called so, in whatever registry.
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
        for image in [
            "krm-template",
            "krm-template:v1",
            "localhost:5000/a/krm-template@sha256:0",
        ] {
            assert!(is_ours(image), "{image}");
        }
        for image in [
            "",
            "a/krm-templates",
            "krm-template/other",
            "a:krm-template",
        ] {
            assert!(!is_ours(image), "{image}");
        }
    }
}
