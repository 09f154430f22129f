//! Programs that run functions, as configurations name them.

use serde::Deserialize;

use crate::engine::transformer::Transformer;
use krm_core::files::is_below;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, FieldPath, Value};

/// The annotations that name the program in a Kustomization; the second is the older one.
const ANNOTATIONS: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];

/// A function that is another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A container, which gets no network.
    Container(Container),
    /// An executable of this machine.
    Exec(Exec),
}

/// The runtime that a configuration names for a transformer.
#[derive(Debug)]
pub(crate) enum Runtime {
    Program(Program),
    /// A Starlark script, which this program does not run.
    Starlark,
}

/// A function in a container image.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `image`")]
pub struct Container {
    /// The name of the image.
    pub image: String,
    /// Whether it asks for a network.
    #[serde(default)]
    pub network: bool,
    /// Variables for its environment, as `NAME=VALUE`, or `NAME` for one of ours.
    #[serde(default)]
    pub envs: Vec<String>,
    /// Storage that it sees.
    #[serde(default)]
    pub mounts: Vec<Mount>,
}

/// Storage that a container sees.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `src` and `dst`")]
pub struct Mount {
    /// Its kind, such as `bind`.
    #[serde(rename = "type", default = "bind")]
    pub kind: String,
    /// Its path; of a bind mount, in or below the directory of the file that names it.
    #[serde(rename = "src", alias = "source", default)]
    pub source: String,
    /// Its path in the container.
    #[serde(rename = "dst", alias = "target")]
    pub target: String,
    /// Whether the container may write to it.
    #[serde(rename = "rw", default)]
    pub is_writable: bool,
    /// The directory that a bind mount must not leave, also not by a link; none for one that the
    /// user asks for.
    #[serde(skip)]
    pub root: Option<String>,
}

fn bind() -> String {
    "bind".to_owned()
}

/// A function that is an executable.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `path`")]
pub struct Exec {
    /// Its file; a name without a slash is looked for on the `PATH`.
    pub path: String,
    /// The arguments, passed without a shell.
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
#[serde(deny_unknown_fields, expecting = "a mapping with `container`, `exec` or `starlark`")]
struct Spec {
    container: Option<Container>,
    exec: Option<Exec>,
    starlark: Option<Starlark>,
}

/// The one thing that a [`Spec`] names.
enum Named {
    Container(Container),
    Exec(Exec),
    Starlark(Starlark),
}

impl Runtime {
    /// The runtime that the configuration of a transformer names, if any.
    ///
    /// # Errors
    /// If the configuration names several, or one that is malformed.
    pub(crate) fn of(transformer: &Transformer) -> Result<Option<Self>> {
        let Some((field, value)) = field_of(transformer)? else {
            return Ok(None);
        };
        let spec: Spec = transformer.read_part(&field, &value)?;
        let runtime = match spec.only(transformer, &field)? {
            Named::Container(container) => {
                let container = container.resolved(transformer, &field.key("container"))?;
                Self::Program(Program::Container(container))
            }
            Named::Exec(exec) => {
                let exec = exec.resolved(transformer, &field.key("exec"))?;
                Self::Program(Program::Exec(exec))
            }
            Named::Starlark(starlark) => {
                starlark
                    .check()
                    .map_err(|problem| placed(*problem, transformer, &field.key("starlark")))?;
                Self::Starlark
            }
        };
        Ok(Some(runtime))
    }
}

fn placed(problem: Diagnostic, transformer: &Transformer, field: &FieldPath) -> Box<Diagnostic> {
    let mut placed = transformer.error(field, &problem.message);
    placed.hints = problem.hints;
    placed.into()
}

impl Spec {
    fn only(self, transformer: &Transformer, field: &FieldPath) -> Result<Named> {
        let named = [
            self.container.map(Named::Container),
            self.exec.map(Named::Exec),
            self.starlark.map(Named::Starlark),
        ];
        let mut named = named.into_iter().flatten();
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(transformer
                .error(field, format!("`{field}` names no runtime"))
                .hint("name an image under `container.image`, or a program under `exec.path`")
                .into()),
            (Some(_), Some(_)) => Err(transformer
                .error(field, format!("`{field}` names more than one runtime"))
                .hint("keep one of `container`, `exec` and `starlark`; an override can remove the others with `null`")
                .into()),
        }
    }
}

/// The transports by which podman reads an image from files of the machine.
#[rustfmt::skip]
const FILES: [&str; 8] = [
    "containers-storage", "dir", "docker-archive", "docker-daemon", "oci", "oci-archive", "ostree",
    "sif",
];

impl Container {
    /// Checks it, and resolves its mounts against the directory of the file that names them.
    fn resolved(mut self, transformer: &Transformer, field: &FieldPath) -> Result<Self> {
        let error = |problem: &str| transformer.error(field, problem);
        if self.image.is_empty() {
            return Err(error("the container has no `image`").into());
        }
        let is_file = |(transport, _): (&str, &str)| FILES.contains(&transport);
        let is_of_image = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
        if !self.image.starts_with(|c: char| c.is_ascii_alphanumeric())
            || !self.image.chars().all(is_of_image)
            || self.image.contains(":/")
            || self.image.split_once(':').is_some_and(is_file)
        {
            let problem = format!("`{}` is not the name of an image", self.image);
            return Err(error(&problem)
                .hint("an image is named like `example.com/path/name:v1`")
                .into());
        }
        if let Some(wrong) = self.envs.iter().find(|variable| !is_variable(variable)) {
            let name = wrong.split_once('=').map_or(wrong.as_str(), |(name, _)| name);
            let problem = format!("`{name}` does not set a variable");
            return Err(transformer
                .error(&field.clone().key("envs"), problem)
                .hint("write `NAME=VALUE`, or `NAME` for a variable of your environment")
                .into());
        }
        for (index, mount) in self.mounts.iter_mut().enumerate() {
            let at = field.clone().key("mounts").index(index);
            mount.resolve(transformer, &at)?;
        }
        Ok(self)
    }
}

/// Whether a text sets one variable. Podman reads `*` in a name as any characters.
fn is_variable(text: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_of_name)
        && !text.contains(char::is_control)
}

impl Mount {
    /// Whether a container engine reads a path in the value of `--mount` as it is.
    pub fn is_plain(path: &str) -> bool {
        !path.contains(|c: char| c.is_control() || matches!(c, ',' | '"'))
    }

    /// Checks it, and resolves its source against the directory of the file that names it.
    fn resolve(&mut self, transformer: &Transformer, at: &FieldPath) -> Result<()> {
        let (kind, source, target) = (&self.kind, &self.source, &self.target);
        let root = transformer.directory_of(at);
        let path = transformer.resolve(at, source);
        let is_bind = kind == "bind";
        let is_odd = |path: &str| !Self::is_plain(path) || path.contains(['=', '\'', '\\']);
        let mut parts = target.split('/').filter(|part| !matches!(*part, "" | "."));
        let is_below_top = target.starts_with('/') && parts.next().is_some();
        let (problem, hint) = if !is_bind && kind != "tmpfs" {
            let problem = format!("`{kind}` is not a type of mount that may be used");
            (problem, "write `type: bind` or `type: tmpfs`, in lower case")
        } else if is_odd(source) || is_odd(target) || is_bind == source.is_empty() {
            let problem = format!("the mount of {source:?} to {target:?} cannot be made");
            let hint = "`src` is a path for `bind` and missing for `tmpfs`; paths have no quotes, commas, `=` or control characters";
            (problem, hint)
        } else if is_bind && (source.starts_with('/') || !is_below(root, &path)) {
            let hint = "to mount what is elsewhere, use `--mount type=bind,src=DIR,dst=DIR`";
            (format!("`{source}` is not in or below `{root}`"), hint)
        } else if !is_below_top || target.split('/').any(|part| part == "..") {
            let hint = "name a directory in the container as `dst`, such as `/data`";
            (format!("`{target}` is not a path below `/`"), hint)
        } else if is_bind {
            self.root = Some(root.to_owned());
            self.source = path;
            return Ok(());
        } else {
            return Ok(());
        };
        Err(transformer.error(at, problem).hint(hint).into())
    }
}

impl Exec {
    /// Resolves its paths against the directory of the file that names them.
    fn resolved(mut self, transformer: &Transformer, field: &FieldPath) -> Result<Self> {
        if self.path.is_empty() {
            return Err(transformer.error(field, "there is no `path` of a program").into());
        }
        let at = field.clone().key("path");
        transformer.directory_of(&at).clone_into(&mut self.directory);
        if self.path.contains('/') {
            let path = transformer.resolve(&at, &self.path);
            // Without a slash it would be looked for on the `PATH`.
            let here = if path.contains('/') { "" } else { "./" };
            self.path = format!("{here}{path}");
        }
        Ok(self)
    }
}

impl Starlark {
    fn check(&self) -> Result<()> {
        let is_given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        if is_given(&self.path) || is_given(&self.url) {
            return Ok(());
        }
        Err(Diagnostic::error("there is no `path` of a script").into())
    }
}

/// The field that names the runtime of a transformer, with its value.
fn field_of(transformer: &Transformer) -> Result<Option<(FieldPath, Value<'static>)>> {
    let fields = ["provider", "runtime"].map(|key| FieldPath::root().key(key));
    let annotation = |key| FieldPath::root().key("metadata").key("annotations").key(key);
    let all = fields.into_iter().chain(ANNOTATIONS.map(annotation));
    let mut said = all.filter_map(|field| {
        let value = transformer.config.lookup(&field)?;
        (!value.is_null()).then(|| (field, value.clone()))
    });
    let Some((field, value)) = said.next() else {
        return Ok(None);
    };
    if let Some((other, _)) = said.next() {
        let problem = format!("`{field}` and `{other}` both name a runtime");
        let mut wrong = transformer.error(&other, problem);
        if let Some(place) = transformer.place_of(&field) {
            wrong = wrong.related(place, "also named here");
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
        Ok(None) => Err(transformer.error(field, "the annotation is empty").into()),
        Err(problem) => Err(transformer
            .error(field, format!("the annotation is not valid YAML: {}", problem.message))
            .into()),
    }
}
