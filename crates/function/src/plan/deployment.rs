//! The plan of a `DeploymentConfiguration`: one expansion of its configuration.

use std::sync::Arc;

use crate::plan::inputs::Inputs;
use crate::plan::written::written;
use krm_core::identity;
use krm_core::scope::set_namespace;
use krm_template_deployment_manager::configuration::{
    self, Configuration, ImportSource, Keys, Text,
};
use krm_template_deployment_manager::expand::{expand, unused_imports};
use krm_template_deployment_manager::model::{Config, Import, Imports, Request};
use krm_template_deployment_manager::objects::{self, objects};
use krm_template_deployment_manager::python::Interpreters;
use krm_template_engine::{Assignment, Expander, Object, Options, Parameter, Sink};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference, Result, Severity};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Cursor, SharedNode};

/// The rule of the error for a ConfigMap that cannot be found.
const MISSING_CONFIG_MAP: &str = "missing-config-map";

/// Checks a `DeploymentConfiguration`. Every place is in its own text.
pub fn check(node: &SharedNode, inputs: &Inputs) -> Diagnostics {
    let config = node.cursor();
    let reference = identity::reference(config);
    let mut found = Diagnostics::new();
    let deployment = configuration::read(config, &mut found)
        .and_then(|read| Deployment::new(read, node, reference, inputs, &mut found));
    let text = deployment.as_ref().map(|deployment| Arc::clone(deployment.request.config.source()));
    if let Some(deployment) = deployment.filter(|_| !found.has_errors()) {
        found.append(deployment.check(config));
    }
    found.map(|one| moved(unless_generated(one), text.as_ref(), config))
}

/// A warning in place of the error for a ConfigMap that a generator may well create.
fn unless_generated(mut one: Diagnostic) -> Diagnostic {
    if one.rule != Some(MISSING_CONFIG_MAP) {
        return one;
    }
    one.rule = None;
    if !one.hints.iter().any(|hint| hint.starts_with("did you mean")) {
        one.severity = Severity::Warning;
        one.message.push_str(": the configuration cannot be checked");
        one.hints = vec!["also name the file of the ConfigMap".to_owned()];
    }
    one
}

/// The diagnostic with its place in the file: where the text is written that it is about.
fn moved(mut one: Diagnostic, text: Option<&Arc<Source>>, config: Cursor<'_>) -> Diagnostic {
    let own = config.place();
    if let Some(text) = text {
        one = at_written(one, text, config);
        for (place, _) in &mut one.related {
            if let Some((written, _)) = in_object(place, text, config) {
                *place = written;
            }
        }
    }
    let Some(place) = one.place.take() else {
        return one;
    };
    if Arc::ptr_eq(&place.source, &own.source) {
        return one.at(place);
    }
    let name = place.source.name();
    let name = name.split(" (rendered for").next().unwrap_or_default();
    let (at, field) = import(config, name)
        .or_else(|| {
            let keys = ["config", "configFrom"].into_iter();
            keys.filter_map(|key| Some((key, config.at(["spec", key])?)))
                .map(|(key, node)| (node.place(), format!("spec.{key}")))
                .next()
        })
        .unwrap_or((own, "spec".to_owned()));
    one.related.insert(0, (place, "here in its text".to_owned()));
    one.field.get_or_insert(field);
    one.at(at)
}

/// The diagnostic with its place in the object if it is about the printed configuration.
fn at_written(mut one: Diagnostic, text: &Arc<Source>, config: Cursor<'_>) -> Diagnostic {
    let written = one.place.as_ref();
    if let Some((place, field)) = written.and_then(|place| in_object(place, text, config)) {
        one.place = Some(place);
        one.field.get_or_insert(field);
    }
    one
}

/// The place in the object of a place in the configuration, and its field.
fn in_object(place: &Place, text: &Arc<Source>, config: Cursor<'_>) -> Option<(Place, String)> {
    Arc::ptr_eq(&place.source, text).then(|| written(place, config)).flatten()
}

/// Where an import with this name is written, and its field.
fn import(config: Cursor<'_>, name: &str) -> Option<(Place, String)> {
    let mut imports = config.at(["spec", "imports"])?.children().enumerate();
    imports.find_map(|(index, item)| {
        let is = |field| item.text_at([field]).is_some_and(|text| text == name);
        let is_it = is("name") || is("path") || is("key");
        is_it.then(|| (item.place(), format!("spec.imports[{index}]")))
    })
}

/// A configuration with its imports, ready to be expanded.
pub(super) struct Deployment {
    node: SharedNode,
    reference: ObjectReference,
    request: Request,
    options: objects::Options,
    python: Arc<dyn Interpreters>,
}

impl Deployment {
    /// Finds the texts of a configuration among the inputs. All errors go to `diagnostics`.
    pub(super) fn new(
        configuration: Configuration,
        node: &SharedNode,
        reference: ObjectReference,
        inputs: &Inputs,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let finder = Finder { inputs, namespace: &reference.namespace };
        let mut found = Diagnostics::new();
        let mut imports = Imports::default();
        for source in configuration.imports {
            match source {
                ImportSource::Given(import) => imports.insert(import),
                ImportSource::Keys(keys, name) => {
                    let texts = found.take(finder.texts(&keys));
                    for (key, content) in texts.unwrap_or_default() {
                        let name = name.clone().unwrap_or(key);
                        imports.insert(Import { path: name.clone(), name, content });
                    }
                }
                ImportSource::Path(place, path) => {
                    let message = format!("`{path}` is a file, and a function reads no files");
                    let error = Diagnostic::error(message)
                        .at(place)
                        .hint("put it into a ConfigMap: `- {configMap: NAME}`, which kustomize's `configMapGenerator` makes of files");
                    found.push(error);
                }
            }
        }
        let config = match configuration.config {
            Text::Given(source) => Some(source),
            Text::Key(keys) => {
                let texts = found.take(finder.texts(&keys)).unwrap_or_default();
                texts.into_iter().next().map(|(_, source)| source)
            }
        };
        found.attribute_to(&reference);
        diagnostics.append(found);
        Some(Self {
            node: node.clone(),
            reference,
            request: Request {
                name: configuration.name,
                config: Config::new(config?),
                imports,
                env: configuration.env,
                options: configuration.options,
            },
            options: objects::Options {
                skip_others: configuration.skip_others,
                ..objects::Options::default()
            },
            python: Arc::clone(&inputs.python),
        })
    }

    /// The objects of the configuration.
    fn objects(&self, found: &mut Diagnostics) -> Option<Vec<objects::Object<'_>>> {
        match expand(&self.request, self.python.interpreter().as_mut()) {
            Ok(expansion) => {
                found.append(expansion.diagnostics.clone());
                objects(&expansion, self.options, found)
            }
            Err(error) => {
                found.append(error.diagnostics);
                None
            }
        }
    }

    /// Checks the expansion, and reports imports that it does not use. A ConfigMap that is imported
    /// as a whole may well have others.
    fn check(&self, config: Cursor<'_>) -> Diagnostics {
        let expansion = match expand(&self.request, self.python.interpreter().as_mut()) {
            Ok(expansion) => expansion,
            Err(error) => return error.diagnostics,
        };
        let mut found = expansion.diagnostics.clone();
        if objects(&expansion, self.options, &mut found).is_none() {
            return found;
        }
        for unused in unused_imports(&self.request, &expansion) {
            if let Some((place, field)) = import(config, &unused.name) {
                let message = format!("import `{}` is not used", unused.name);
                let unused = Diagnostic::info(message).rule("dm-unused-import");
                found.push(unused.at(place).field(field).hint("remove it"));
            }
        }
        found
    }
}

/// Finds ConfigMaps among the inputs.
struct Finder<'f> {
    inputs: &'f Inputs,
    namespace: &'f str,
}

impl Finder<'_> {
    /// The texts of a ConfigMap by their keys.
    fn texts(&self, keys: &Keys) -> Result<Vec<(String, Arc<Source>)>> {
        let name = &keys.config_map;
        let found = self.inputs.find("ConfigMap", name, self.namespace);
        let at = |error: Diagnostic| error.at(keys.place.clone()).field(keys.field.clone());
        let found = found.map_err(|error| at(error.rule(MISSING_CONFIG_MAP)))?;
        let data = found.node().cursor().get("data");
        let mut texts = Vec::new();
        for entry in data.into_iter().flat_map(Cursor::children) {
            let key = entry.key()?.into_owned();
            if keys.key.as_ref().is_some_and(|wanted| *wanted != key) {
                continue;
            }
            let text = entry.text()?.unwrap_or_default().into_owned();
            texts.push((key.clone(), Source::new(key, text)));
        }
        match &keys.key {
            Some(key) if texts.is_empty() => {
                let message = format!("ConfigMap `{name}` has no key `{key}`");
                Err(at(Diagnostic::error(message)).into())
            }
            _ => Ok(texts),
        }
    }
}

impl Expander for Deployment {
    fn reference(&self) -> &ObjectReference {
        &self.reference
    }

    fn parameters(&self) -> &[Parameter] {
        &[]
    }

    fn expand(
        &self,
        _: &[Assignment],
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
    ) -> Option<String> {
        let mut found = Diagnostics::new();
        let objects = self.objects(&mut found);
        let source = self.request.config.source();
        diagnostics.append(found.map(|one| at_written(one, source, self.node.cursor())));
        for object in objects? {
            let mut value = object.value;
            if let Some(namespace) = &options.namespace {
                set_namespace(&mut value, namespace);
            }
            let object =
                Object { value, document: &object.document, field: "spec.config".to_owned() };
            sink(object, diagnostics);
        }
        None
    }
}
