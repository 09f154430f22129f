//! Runs an installed kustomize: it builds a temporary Kustomization among the files of the
//! directory that declares the transformer.

use std::borrow::Cow;
use std::sync::Arc;

use crate::builtin::known::Known;
use crate::engine::functions::Kustomize;
use crate::engine::step::Context;
use crate::resources::resource::Resource;
use krm_core::files::{self, Entry, join};
use krm_yaml::{Data, Document, FieldPath, Scalar, Value};

/// The file of a Kustomization.
pub(crate) const KUSTOMIZATION: &str = "kustomization.yaml";
/// The file with the configuration of a generator.
const GENERATOR: &str = "krm-template-generator.yaml";

/// Fields that hold paths; `*` is each item of a list.
pub(crate) type Paths = &'static [&'static [&'static str]];

/// A configuration with paths that kustomize can read.
pub(crate) struct Relocated {
    pub(crate) config: Value<'static>,
    /// Files and directories from elsewhere: the path of each in the directory, and its own path.
    links: Vec<(String, String)>,
}

/// Adds the objects of a generator of kustomize.
pub(crate) fn generate(
    paths: Paths,
    calls_helm: bool,
    resources: &mut Vec<Resource<'_>>,
    context: &mut Context<'_>,
) {
    let mut generator = relocated(paths, context);
    generator
        .config
        .insert("apiVersion".into(), "builtin".into());
    let names = Value::sequence(vec![GENERATOR.into()]);
    let kustomization = Value::mapping(vec![("generators".into(), names), sorted()]);
    let files = [
        (KUSTOMIZATION, kustomization.to_json()),
        (GENERATOR, generator.config.to_json()),
    ];
    if let Some(new) = build(&files, &generator, calls_helm, context) {
        Known::of(resources).add(
            resources,
            new,
            &FieldPath::root(),
            context.transformer,
            context.diagnostics,
        );
    }
}

/// The option that keeps the order of the objects.
pub(crate) fn sorted() -> (Cow<'static, str>, Value<'static>) {
    let order = vec![("order".into(), "fifo".into())];
    ("sortOptions".into(), Value::mapping(order))
}

/// The objects that kustomize prints; none if it fails, which is reported.
pub(crate) fn build<'d>(
    files: &[(&str, String)],
    relocated: &Relocated,
    calls_helm: bool,
    context: &mut Context<'_>,
) -> Option<Vec<Resource<'d>>> {
    let transformer = context.transformer;
    if context.diagnostics.has_errors() {
        return None;
    }
    let built = context.functions.kustomize(&Kustomize {
        directory: &transformer.directory,
        files,
        links: &relocated.links,
        calls_helm,
    });
    let source = built.map_err(|mut problem| {
        problem.message = format!("{}: {}", transformer.id, problem.message);
        problem.place = problem.place.or_else(|| transformer.place());
        problem
    });
    let source = context.diagnostics.take(source)?;
    let document = context.diagnostics.take(Document::parse(&source))?;
    let document = Arc::new(document);
    let roots = document.roots();
    let read = roots.filter_map(|root| Resource::read(&document, root.id(), context.diagnostics));
    Some(read.map(Resource::into_owned).collect())
}

/// The configuration, with all paths relative to the directory that declares it: an override may
/// bring paths from elsewhere.
pub(crate) fn relocated(paths: Paths, context: &mut Context<'_>) -> Relocated {
    let transformer = context.transformer;
    let mut relocated = Relocated {
        config: transformer.config.clone().without_origin(),
        links: Vec::new(),
    };
    for key in ["provider", "runtime"] {
        relocated.config.remove(key);
    }
    let links = &mut relocated.links;
    for way in paths {
        let root = FieldPath::root();
        relocate(&mut relocated.config, way, &root, &mut |field, text| {
            linked(field, text, links, context)
        });
    }
    relocated
}

/// Replaces the strings at a path by those that `path_of` returns.
pub(crate) fn relocate(
    value: &mut Value<'_>,
    way: &[&str],
    field: &FieldPath,
    path_of: &mut impl FnMut(&FieldPath, &str) -> Option<String>,
) {
    match (way, &mut value.data) {
        ([], Data::Scalar(Scalar::String(text))) => {
            if let Some(path) = path_of(field, text) {
                *text = Cow::Owned(path);
            }
        }
        (["*", rest @ ..], Data::Sequence(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                relocate(item, rest, &field.clone().index(index), path_of);
            }
        }
        ([key, rest @ ..], Data::Mapping(_)) => {
            if let Some(value) = value.get_mut(key) {
                relocate(value, rest, &field.clone().key(*key), path_of);
            }
        }
        _ => {}
    }
}

/// `PATH` or `KEY=PATH` with a link, if the path was written elsewhere.
fn linked(
    field: &FieldPath,
    text: &str,
    links: &mut Vec<(String, String)>,
    context: &mut Context<'_>,
) -> Option<String> {
    let (key, path) = match text.split_once('=') {
        Some((_, path)) => (text.strip_suffix(path)?, path),
        None => ("", text),
    };
    let transformer = context.transformer;
    let directory = transformer.directory_of(field);
    if directory == transformer.directory {
        return None;
    }
    let there = join(directory, path);
    let (parent, name) = (files::directory_of(&there), there.rsplit('/').next()?);
    let name = if name.starts_with("..") {
        "directory"
    } else {
        name
    };
    // Other strings may be a patch or an address.
    let may_be_path = !path.contains(['\n', ':', '{']) && context.files.entry(parent).is_some();
    if !may_be_path && context.files.entry(&there).is_none() {
        return None;
    }
    if context.files.entry(&there) == Some(Entry::File)
        && let Err(mut problem) = context.files.check(&there, directory)
    {
        problem.place = transformer.place_of(field);
        context.diagnostics.push(*problem);
        return None;
    }
    // The name of a file counts: it is the key in a ConfigMap.
    let link = format!("krm-template-{}/{name}", links.len());
    let path = format!("{key}{link}");
    links.push((link, there));
    Some(path)
}
