//! Expands resources one after the other, and the resources that their templates create.

use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity, Way};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Data, Document, Scalar, Value};

use crate::error::{ExpandError, Failure, Overrun};
use crate::expand::budget::Budget;
use crate::expand::check;
use crate::expand::outputs;
use crate::expand::warnings;
use crate::expansion::{Expansion, Layout, LayoutResource, Resource};
use crate::jinja::{Context, Environment};
use crate::model::{Env, Import, Limits, Request};
use crate::python::{Call, Interpreter, Output, Session};
use crate::schema::Schemas;
use crate::yaml::{self, Located, kind_of};
use crate::{references, repr};

/// How deep templates may use one another.
pub const MAX_NESTING: usize = 64;

/// How many resources an expansion may have.
pub const MAX_RESOURCES: usize = 100_000;

/// The beginning of a note that names the resource of a template.
const IN_RESOURCE: &str = "in resource";

/// After so many errors, the expansion stops.
const MAX_ERRORS: usize = 20;

/// Expands a configuration.
///
/// # Errors
/// With all errors that were found.
pub fn expand<'r>(
    request: &'r Request,
    python: &mut dyn Interpreter,
) -> Result<Expansion<'r>, ExpandError> {
    expand_with(request, python, Budget::new(None))
}

/// Expands a configuration, and stops when it exceeds the limits.
///
/// # Errors
/// As [`expand`]; with an [`Overrun`] if it was stopped.
pub fn expand_within<'r>(
    request: &'r Request,
    python: &mut dyn Interpreter,
    limits: Limits<'_>,
) -> Result<Expansion<'r>, ExpandError> {
    expand_with(request, python, Budget::new(Some(limits)))
}

fn expand_with<'r>(
    request: &'r Request,
    python: &mut dyn Interpreter,
    budget: Budget<'_>,
) -> Result<Expansion<'r>, ExpandError> {
    let strict = request.options.strict_schemas;
    let schemas = Schemas::new(&request.imports, strict, budget.is_late());
    let mut expander = Expander {
        request,
        budget,
        jinja: Environment::new(&request.imports),
        python: Session::new(python),
        schemas,
        resources: Vec::new(),
        template_stack: Vec::new(),
        overrun: None,
        diagnostics: Diagnostics::new(),
        errors: 0,
    };
    let done = expander.config().filter(|_| expander.errors == 0);
    if let Some((_, layout)) = &done {
        let found = warnings::warnings(&expander.resources, layout, &request.config);
        expander.diagnostics.append(found);
    }
    expander.diagnostics.dedup();
    let Expander { overrun, diagnostics, resources: config, .. } = expander;
    match done {
        Some((text, layout)) => Ok(Expansion { config, layout, text, diagnostics }),
        None => Err(ExpandError { overrun, diagnostics }),
    }
}

/// How to go on in spite of a schema.
const WITHOUT_SCHEMA: &str =
    "to expand without schemas and their defaults, use `--no-validate-schema`";

struct Expander<'r, 'p> {
    request: &'r Request,
    budget: Budget<'p>,
    jinja: Environment<'r>,
    python: Session<'p>,
    schemas: Schemas<'r, 'p>,
    resources: Vec<Resource<'r>>,
    /// The types of the templates around, outermost first.
    template_stack: Vec<String>,
    /// The limit that stopped the expansion.
    overrun: Option<Overrun>,
    diagnostics: Diagnostics,
    errors: usize,
}

/// A configuration, or the result of a template.
struct Level<'r> {
    value: Value<'r>,
    document: Option<Arc<Document>>,
}

impl Level<'_> {
    fn located<'l>(&'l self, value: &'l Value<'l>) -> Located<'l> {
        Located { value, document: self.document.as_ref() }
    }
}

/// The resources of a level in the layout, and its outputs.
type Expanded<'r> = (Vec<LayoutResource<'r>>, Option<Value<'r>>);

impl<'r> Expander<'r, '_> {
    /// Records an error and goes on; the value is for `?`.
    fn fail<T>(&mut self, failure: impl Into<Failure>) -> Option<T> {
        match failure.into() {
            Failure::Wrong(error) => self.fail_with((*error).into()),
            Failure::Limit(overrun) => {
                self.overrun = Some(overrun);
                self.fail_with::<T>(Diagnostic::error(overrun.to_string()).into());
                // Nothing more is tried.
                self.errors = MAX_ERRORS;
                None
            }
        }
    }

    fn fail_with<T>(&mut self, errors: Diagnostics) -> Option<T> {
        self.errors += errors.iter().count();
        self.diagnostics.append(errors);
        None
    }

    /// Stops the expansion if it exceeds a limit.
    fn check_limits(&mut self, counted: Result<(), Overrun>) -> Option<()> {
        counted.map_or_else(|overrun| self.fail(overrun), Some)
    }

    fn config(&mut self) -> Option<(Option<String>, Layout<'r>)> {
        let document = self.request.config.document();
        let value = document.map_err(Diagnostics::clone);
        let value = value.and_then(|document| yaml::value(document, &mut self.diagnostics));
        let value = self.readable(value)?;
        let level = Level { value, document: document.ok().cloned() };
        match &level.value.data {
            Data::Mapping(_) => {
                for warning in check::misspelt_sections(level.located(&level.value)) {
                    self.diagnostics.push(warning);
                }
            }
            Data::Sequence(_) => {
                let message = "a configuration is a mapping with `resources`, found a list";
                let error = Diagnostic::error(message).hint("write `resources:` above the list");
                return self.fail(level.located(&level.value).mark(error));
            }
            Data::Scalar(scalar) => {
                let text = match scalar {
                    Scalar::Null => {
                        self.diagnostics.push(check::empty(self.request.config.source()));
                        String::new()
                    }
                    _ => repr::text(&level.value),
                };
                return Some((Some(text), Layout::default()));
            }
        }
        let (resources, outputs) = self.level(level)?;
        Some((None, Layout { resources, outputs }))
    }

    /// Returns a configuration or a rendered template that was read; reports the errors of one that
    /// is not YAML.
    fn readable<T>(&mut self, read: Result<T, Diagnostics>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(mut errors) => {
                errors.attribute_to_rule("syntax");
                self.fail_with(errors)
            }
        }
    }

    /// Expands the resources of a level.
    fn level(&mut self, mut level: Level<'r>) -> Option<Expanded<'r>> {
        let outputs = level.value.remove("outputs");
        let Some(resources) = level.value.remove("resources") else {
            return self.finish(&level, Vec::new(), outputs.as_ref(), self.resources.len());
        };
        let resources = match resources.data {
            Data::Sequence(items) => items,
            Data::Scalar(Scalar::Null) => Vec::new(),
            _ => {
                let message = format!("`resources` is a list, found {}", kind_of(&resources));
                let error = Diagnostic::error(message)
                    .hint("write a `-` before the first field of each resource");
                return self.fail(level.located(&resources).mark(error));
            }
        };
        let duplicates = check::duplicates(&resources, level.document.as_ref());
        if duplicates.has_errors() {
            return self.fail_with(duplicates);
        }
        let first = self.resources.len();
        let mut entries = Vec::with_capacity(resources.len());
        for resource in resources {
            match self.resource(resource, level.document.as_ref()) {
                Some(entry) => entries.push(entry),
                None if self.errors >= MAX_ERRORS => return None,
                None => {}
            }
        }
        self.finish(&level, entries, outputs.as_ref(), first)
    }

    /// Resolves the outputs of a level whose resources, from `first` on, are made.
    fn finish(
        &mut self,
        level: &Level<'_>,
        entries: Vec<LayoutResource<'r>>,
        outputs: Option<&Value<'_>>,
        first: usize,
    ) -> Option<Expanded<'r>> {
        if self.errors > 0 {
            return None;
        }
        if !self.request.options.outputs {
            return Some((entries, None));
        }
        let outputs = outputs.map(|outputs| level.located(outputs));
        let made = self.resources.get_mut(first..).unwrap_or_default();
        match outputs::resolve(outputs, &entries, made, &mut self.budget) {
            Ok(outputs) => Some((entries, outputs)),
            Err(failure) => self.fail(failure),
        }
    }

    /// Expands a resource: its entry in the layout.
    fn resource(
        &mut self,
        resource: Value<'r>,
        document: Option<&Arc<Document>>,
    ) -> Option<LayoutResource<'r>> {
        let located = Located { value: &resource, document };
        let (name, kind) = match check::name_and_type(&resource, document) {
            Ok(found) => found,
            Err(failure) => return self.fail(failure),
        };
        for warning in check::misspelt_fields(located) {
            self.diagnostics.push(warning);
        }
        self.check_limits(self.budget.check(self.resources.len()))?;
        let request = self.request;
        let template = kind.as_str().and_then(|kind| request.imports.get(kind));
        let entry = LayoutResource {
            name: name.clone().without_origin(),
            kind: kind.clone().without_origin(),
            depends_on: references::needed(&resource).into_iter().collect(),
            resources: Vec::new(),
            properties: None,
            outputs: None,
        };
        let Some(template) = template else {
            return self.plain_resource(resource, document, entry);
        };
        if self.template_stack.len() >= MAX_NESTING {
            return self.fail(too_deep(&self.template_stack, located));
        }
        let place = located.place();
        let label =
            format!("{IN_RESOURCE} `{}` (of type `{}`)", repr::text(&entry.name), template.name);
        let before = std::mem::take(&mut self.diagnostics);
        self.template_stack.push(template.name.clone());
        let done = self.template(template, resource, document, entry);
        self.template_stack.pop();
        let inside = std::mem::replace(&mut self.diagnostics, before);
        match place {
            Some(place) if inside.has_errors() => {
                self.diagnostics.append(inside.map(|one| with_resource(one, &place, &label)));
            }
            _ => self.diagnostics.append(inside),
        }
        done
    }

    fn plain_resource(
        &mut self,
        value: Value<'r>,
        document: Option<&Arc<Document>>,
        entry: LayoutResource<'r>,
    ) -> Option<LayoutResource<'r>> {
        let resource = Resource { value, document: document.cloned() };
        if self.resources.len() >= MAX_RESOURCES {
            let message = format!("the configuration has more than {MAX_RESOURCES} resources");
            return self.fail(resource.located().mark(Diagnostic::error(message)));
        }
        if let Some(warning) = check::unknown_template(resource.located(), &self.request.imports) {
            self.diagnostics.push(warning);
        }
        self.resources.push(resource);
        Some(entry)
    }

    fn template(
        &mut self,
        template: &Import,
        mut resource: Value<'r>,
        document: Option<&Arc<Document>>,
        mut entry: LayoutResource<'r>,
    ) -> Option<LayoutResource<'r>> {
        let mut env = self.request.env.clone();
        env.insert("name".to_owned(), entry.name.clone().into_owned());
        env.insert("type".to_owned(), entry.kind.clone().into_owned());
        self.validate(template, &mut resource, document)?;
        let located = Located { value: &resource, document };
        let (level, properties) = self.run(template, located, &env)?;
        (entry.resources, entry.outputs) = self.level(level)?;
        entry.properties = properties.filter(|_| !entry.resources.is_empty());
        Some(entry)
    }

    /// Sets the defaults of the template's schema in the properties of a resource, and checks them.
    fn validate(
        &mut self,
        template: &Import,
        resource: &mut Value<'r>,
        document: Option<&Arc<Document>>,
    ) -> Option<()> {
        let schema = format!("{}.schema", template.name);
        if !self.request.options.validate_schema || self.request.imports.get(&schema).is_none() {
            return Some(());
        }
        let located = Located { value: resource, document };
        match self.schemas.check(&schema, located) {
            Ok(checked) => {
                self.diagnostics.append(checked.warnings);
                let counted = self.budget.add_value(Some(&checked.properties));
                resource.insert("properties".into(), checked.properties);
                self.check_limits(counted)
            }
            Err(mut errors) => {
                self.check_limits(self.budget.check(self.resources.len()))?;
                errors.advise(Way::Arguments, WITHOUT_SCHEMA);
                self.fail_with(errors)
            }
        }
    }

    /// Runs a template. Returns its result, and the properties afterwards.
    fn run(
        &mut self,
        template: &Import,
        located: Located<'_>,
        env: &Env,
    ) -> Option<(Level<'r>, Option<Value<'static>>)> {
        let ends = |ending: &str| template.path.ends_with(ending);
        if ends("jinja") || ends("yaml") {
            self.jinja(template, located, env)
        } else if ends("py") {
            self.python(template, located, env)
        } else {
            let path = &template.path;
            let error = Diagnostic::error(format!(
                "`{path}` is not a template: Jinja ends in `.jinja`, Python in `.py`"
            ));
            let error = error.hint("rename the file, or give it an import with another path");
            self.fail(located.mark(error))
        }
    }

    fn jinja(
        &mut self,
        template: &Import,
        located: Located<'_>,
        env: &Env,
    ) -> Option<(Level<'r>, Option<Value<'static>>)> {
        let context = Context { resource: located.value, env };
        let rendered = match self.jinja.render(template, context) {
            Ok(rendered) => rendered,
            Err(error) => return self.fail(error.rule("dm-template")),
        };
        let counted = self.budget.add(rendered.text.len());
        self.check_limits(counted)?;
        let level = self.text(template, rendered.text, located)?;
        Some((level, rendered.properties))
    }

    fn python(
        &mut self,
        template: &Import,
        located: Located<'_>,
        env: &Env,
    ) -> Option<(Level<'r>, Option<Value<'static>>)> {
        let call = Call {
            template,
            properties: located.value.get("properties"),
            env,
            imports: &self.request.imports,
        };
        let returned = match self.python.call(call) {
            Ok(returned) => returned,
            Err(error) => return self.fail(error.rule("dm-python")),
        };
        let level = match returned.result {
            Output::Text(text) => {
                let counted = self.budget.add(text.len());
                self.check_limits(counted)?;
                self.text(template, text, located)?
            }
            Output::Data(value) => {
                let counted = self.budget.add_value(Some(&value));
                self.check_limits(counted)?;
                let level = Level { value, document: None };
                self.with_resources(level, template, located)?
            }
            Output::Other(found) => {
                let message =
                    format!("`{}` must return a mapping or a string, found {found}", template.name);
                let error = Diagnostic::error(message).rule("dm-python");
                return self.fail(located.mark(error));
            }
        };
        Some((level, returned.properties))
    }

    /// The result of a template as text.
    fn text(
        &mut self,
        template: &Import,
        text: String,
        resource: Located<'_>,
    ) -> Option<Level<'r>> {
        let name = resource.value.get("name").map(repr::text).unwrap_or_default();
        let source = Source::new(format!("{} (rendered for `{name}`)", template.path), text);
        let read = yaml::read(&source, &mut self.diagnostics);
        let parsed = self.readable(read)?;
        let level = Level { value: parsed.value, document: Some(parsed.document) };
        self.with_resources(level, template, resource)
    }

    /// Rejects the result of a template if it has no key `resources`.
    fn with_resources(
        &mut self,
        level: Level<'r>,
        template: &Import,
        resource: Located<'_>,
    ) -> Option<Level<'r>> {
        if level.value.get("resources").is_some() {
            return Some(level);
        }
        let found = match level.value.entries() {
            Some(entries) => {
                let keys: Vec<String> = entries.iter().map(|(key, _)| format!("`{key}`")).collect();
                format!("a mapping with {}", keys.join(", "))
            }
            None => kind_of(&level.value).to_owned(),
        };
        let message = format!("`{}` created no `resources`, found {found}", template.name);
        let error = Diagnostic::error(message)
            .rule("dm-template")
            .hint("a template creates a mapping with a list of `resources`, which may be empty");
        let made = level.located(&level.value);
        let at = if made.place().is_some() { made } else { resource };
        self.fail(at.mark(error))
    }
}

/// The error with the resource whose template it is in. Of many nested resources, it has the
/// innermost ones and the outermost.
fn with_resource(mut error: Diagnostic, resource: &Place, label: &str) -> Diagnostic {
    /// So many resources are named.
    const NAMED: usize = 3;
    let is_elsewhere = |place: &Place| !Arc::ptr_eq(&place.source, &resource.source);
    if error.severity != Severity::Error || !error.place.as_ref().is_none_or(is_elsewhere) {
        return error;
    }
    let is_resource = |(_, label): &&(Place, String)| label.starts_with(IN_RESOURCE);
    if error.related.iter().filter(is_resource).count() == NAMED {
        error.related.pop();
    }
    error.related(resource.clone(), label)
}

fn too_deep(around: &[String], at: Located<'_>) -> Diagnostic {
    /// The number of templates named in the message.
    const NAMED: usize = 3;
    let first: Vec<&str> = around.iter().take(NAMED).map(String::as_str).collect();
    let names = first.join(" › ");
    let message = format!("templates nest more than {MAX_NESTING} deep: {names} …");
    let error = Diagnostic::error(message).hint("does a template use itself?");
    at.mark(error)
}
