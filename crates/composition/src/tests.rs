//! Kustomize's own test cases through the built-in transformers.

mod bounds;
mod builds;
mod compositions;
mod damage;
mod differences;
mod filters;
mod kustomizations;
mod names;
mod order;
mod patches;
mod plugins;
mod style;

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::functions::{FunctionOutput, Functions};
use crate::engine::program::Program;
use crate::engine::transformer::{Layer, Transformer, TransformerId};
use crate::resources::resource::Resource;
use crate::run::chain::Build;
use crate::run::runner::step;
use krm_core::files::InMemory;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Data, Document, DuplicateKeys, FieldPath, Position, Value, Words};

/// The shared folder. Tests that ask for it run with `--include-ignored`.
fn shared_folder() -> PathBuf {
    let root = std::env::var_os("KRM_TEMPLATE_SHARED");
    PathBuf::from(root.expect("KRM_TEMPLATE_SHARED is not set"))
}

/// A file of the shared folder.
#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn shared(path: &str) -> String {
    std::fs::read_to_string(shared_folder().join(path)).unwrap()
}

/// Finds no function that is not built in.
struct NoFunctions;

impl Functions for NoFunctions {
    fn run(&self, transformer: &Transformer, _: &Program, _: &Arc<Source>) -> FunctionOutput {
        panic!("{} is not built in", transformer.id)
    }
}

/// A transformer from the text of its configuration.
fn transformer(config: &str) -> Transformer {
    let document = Document::parse(&Source::new("config.yaml", config)).unwrap();
    let root = document.roots().next().unwrap();
    let diagnostics = &mut Diagnostics::new();
    let value = root.value_with(DuplicateKeys::Refuse, Words::Texts, diagnostics);
    let config = value.unwrap().into_owned();
    let text = |keys: &[&str]| config.str_at(keys).unwrap_or_default().to_owned();
    let id = TransformerId {
        group: String::new(),
        version: "builtin".to_owned(),
        kind: text(&["kind"]),
        namespace: text(&["metadata", "namespace"]),
        name: text(&["metadata", "name"]),
    };
    let node = root.id();
    Transformer {
        id,
        config,
        directory: ".".to_owned(),
        layers: vec![Layer { document: Arc::new(document), node, at: FieldPath::root() }],
        written_as: Vec::new(),
        read_from: None,
    }
}

/// The output of transformers: the stream of documents, or the messages of the errors.
fn transformed(
    configs: &[&str],
    input: &str,
    files: &[(String, String)],
) -> Result<String, Vec<String>> {
    let files =
        InMemory::new(files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())));
    let mut diagnostics = Diagnostics::new();
    let steps = configs.iter().map(|config| step(transformer(config), &Arc::default()));
    let mut steps: Vec<_> = steps.filter_map(|step| diagnostics.take(step)).collect();
    let document = Document::parse(&Source::new("input.yaml", input)).unwrap();
    let document = Arc::new(document);
    let resources = document
        .roots()
        .map(|root| Resource::read(&document, root.id(), &mut diagnostics).unwrap())
        .collect();
    let build = Build::new(&files, &NoFunctions);
    let resources = build.run(&mut steps, resources, &mut diagnostics).resources;
    if diagnostics.has_errors() {
        let messages = diagnostics.iter().map(|one| one.message.clone());
        return Err(messages.collect());
    }
    let texts = resources.iter().map(|resource| resource.text(Position::Document).unwrap());
    Ok(texts.collect::<Vec<_>>().join("---\n"))
}

/// The documents of a stream as data.
fn values(text: &str) -> Vec<Value<'static>> {
    let document = Document::parse(&Source::new("values", text)).unwrap();
    let values = document.roots().map(|root| {
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
        value.unwrap().into_owned()
    });
    values.collect()
}

/// Takes out the annotations in which kustomize notes former names, until a build is done.
fn without_notes(object: &mut Value<'_>) {
    let Some(metadata) = object.get_mut("metadata") else {
        return;
    };
    let Some(annotations) = metadata.get_mut("annotations") else {
        return;
    };
    if let Data::Mapping(entries) = &mut annotations.data {
        entries.retain(|(key, _)| !key.starts_with("internal.config.kubernetes.io/"));
        if entries.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// The difference between the outcome of a case and `expected`, compared as data and in order.
fn difference(
    outcome: Result<String, Vec<String>>,
    expected: Result<&str, &[String]>,
) -> Option<String> {
    match (outcome, expected) {
        (Ok(text), Ok(expected)) => {
            let mut values_expected = values(expected);
            values_expected.iter_mut().for_each(without_notes);
            (values(&text) != values_expected)
                .then(|| format!("expected\n{expected}\nfound\n{text}"))
        }
        (Err(messages), Ok(_)) => Some(format!("fails: {}", messages.join("\n"))),
        (Ok(text), Err(_)) => Some(format!("should fail, is\n{text}")),
        // Kustomize's words are not ours.
        (Err(_), Err(_)) => None,
    }
}

/// Panics with the cases that differ and are not exceptions, with exceptions that do not differ or do
/// not exist, and if there are no cases.
fn judge(cases: impl IntoIterator<Item = (String, Option<String>)>, exceptions: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    let mut names = Vec::new();
    for (name, difference) in cases {
        let is_exception = exceptions.iter().any(|(exception, _)| *exception == name);
        match (difference, is_exception) {
            (Some(difference), false) => wrong.push(format!("{name}: {difference}")),
            (None, true) => wrong.push(format!("{name}: is listed as different, and is not")),
            _ => {}
        }
        names.push(name);
    }
    assert!(!names.is_empty(), "there are no cases");
    for (exception, _) in exceptions {
        if !names.iter().any(|name| name == exception) {
            wrong.push(format!("{exception}: is listed as different, and is not a case"));
        }
    }
    assert!(wrong.is_empty(), "{} cases\n\n{}", wrong.len(), wrong.join("\n\n"));
}
