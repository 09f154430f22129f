//! Arguments shared by `process` and `explain`: which Templates to expand, and with which values.

mod arguments;
mod inputs;
mod values;

pub(crate) use self::arguments::Arguments;

use self::inputs::Inputs;
use crate::args::environment;
use krm_template_engine::{
    self as template, Assignment, Cause, Generation, Inspect, Label, Options, Scope, Seed, SetBy,
    Template, Trace,
};
use krm_template_exec::console::Console;
use krm_template_function::plan::{self, Input, InputOrigin, Instance};
use krm_template_workspace::expansion::{self, Inspector, Targets};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Way};
use krm_yaml::{Document, SharedNode};

impl Arguments {
    /// Validates what clap cannot.
    pub(crate) fn check(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        if let Some(name) = self.values.iter().find(|value| !value.contains('=')) {
            let hint = values::file_hint(name)
                .unwrap_or_else(|| format!("to set a parameter, write `NAME={name}`"));
            found.push(
                Diagnostic::error(format!(
                    "`{name}` names a Template stored in a cluster, which krm-template does not read"
                ))
                .hint("name the file with the Template: `-f FILE`")
                .hint(hint),
            );
            return found;
        }
        for argument in self.values.iter().chain(&self.assignments) {
            found.take(values::assignment(argument));
        }
        for path in &self.parameter_files {
            found.take(values::refuse_value(path));
        }
        for argument in &self.value_files {
            found.take(inputs::value_file(argument));
        }
        self.given_labels(&mut found);
        found
    }

    /// The labels of the arguments.
    fn given_labels(&self, diagnostics: &mut Diagnostics) -> Vec<Label> {
        let mut all = labels(&self.labels, Scope::Selectors, diagnostics);
        let objects = &self.labels_without_selector;
        all.extend(labels(objects, Scope::Objects, diagnostics));
        all
    }

    /// Reads all files and calls `run` with the expansions, unless there are errors. `others` are
    /// other files to read, of which one may be standard input.
    pub(crate) fn read<T>(
        &self,
        others: &[String],
        console: Console,
        diagnostics: &mut Diagnostics,
        run: &dyn Fn(&Expansions<'_>, &mut Diagnostics) -> T,
    ) -> Option<T> {
        let mut inputs = Inputs::read(self, others, console, diagnostics)?;
        let (made, found) = loop {
            let mut found = Diagnostics::new();
            let expansions = self.expansions(&inputs, &mut found);
            let made = expansions.map(|expansions| run(&expansions, &mut found));
            found.dedup();
            match Document::upgrade_all(&mut inputs.documents) {
                Ok(true) => {}
                Ok(false) => break (made, found),
                Err(errors) => break (None, errors),
            }
        };
        diagnostics.append(found);
        diagnostics.address(Way::Arguments);
        self.fail_on.apply(diagnostics);
        made.filter(|_| !diagnostics.has_errors())
    }

    fn expansions<'e>(
        &'e self,
        inputs: &'e Inputs,
        diagnostics: &mut Diagnostics,
    ) -> Option<Expansions<'e>> {
        let roots = inputs.documents.iter().flat_map(SharedNode::roots);
        let objects = plan::Inputs::of(roots.filter_map(Input::of_document), InputOrigin::Files);
        let instance = self.instance.as_deref();
        let targets = expansion::read(&inputs.documents, &objects, instance, diagnostics)?;
        let labels = self.given_labels(diagnostics);
        Some(Expansions { arguments: self, inputs, targets, labels })
    }
}

/// All that is to be expanded.
pub(crate) struct Expansions<'e> {
    arguments: &'e Arguments,
    inputs: &'e Inputs,
    targets: Targets,
    /// The labels of `--labels`.
    labels: Vec<Label>,
}

impl Expansions<'_> {
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.targets.templates()
    }

    /// Hands each expansion to `run`, but not after an error in its Template, labels or values.
    pub(crate) fn each<'e>(
        &'e self,
        diagnostics: &mut Diagnostics,
        mut run: impl FnMut(Expansion<'e>, &mut Diagnostics),
    ) {
        let has_failed = diagnostics.has_errors();
        for (instance, inspector) in self.targets.each() {
            let mut found = Diagnostics::new();
            if let Some(expansion) = self.one(instance, inspector, &mut found)
                && !has_failed
                && !found.has_errors()
            {
                run(expansion, &mut found);
            }
            if let Some(place) = &instance.place {
                found.relate(place, &format!("for the instance `{}`", instance.name));
            }
            diagnostics.append(found);
        }
    }

    /// Checks the objects of all expansions.
    pub(crate) fn check_objects(&self, diagnostics: &mut Diagnostics) {
        self.targets.check_objects(diagnostics);
    }

    /// Random values, or those of a scope.
    fn generation(&self, instance: &Instance, template: &Template) -> Generation<'static> {
        let scope = self.arguments.seed_scope.text();
        if scope.is_empty() {
            return Generation::Once(Seed::default());
        }
        // As of a Template that is a functionConfig.
        let alone = instance.seed.is_empty().then(|| template.name());
        Generation::Reproducible {
            seed: environment::seed(),
            scope,
            instance: alone.unwrap_or(&instance.seed).to_owned(),
            earlier: &(),
        }
    }

    fn one<'e>(
        &'e self,
        instance: &'e Instance,
        inspector: &'e Inspector,
        diagnostics: &mut Diagnostics,
    ) -> Option<Expansion<'e>> {
        let template = self.targets.template(instance)?;
        let arguments = self.arguments;
        let namespace = arguments.namespace.as_ref().or(instance.namespace.as_ref());
        Some(Expansion {
            instance: &instance.name,
            template,
            given: values::given(arguments, self.inputs, &self.targets, instance, diagnostics),
            options: Options {
                labels: [instance.labels.as_slice(), &self.labels].concat(),
                namespace: namespace.cloned(),
                ignore_unknown_parameters: arguments.ignore_unknown_parameters,
                strict: arguments.fail_on.includes_warnings(),
                require_name: false,
                inspect: Some(inspector),
                keep_namespace: arguments.keep_namespace,
                shows_secrets: false,
                budget: None,
                generation: self.generation(instance, template),
            },
            own_labels: instance.labels.len(),
            is_own_namespace: arguments.namespace.is_none(),
        })
    }
}

/// One Template with its values. However often it is expanded, the objects are the same.
pub(crate) struct Expansion<'e> {
    /// The name of the instance; empty if it is none.
    pub(crate) instance: &'e str,
    pub(crate) template: &'e Template,
    pub(crate) given: Vec<Assignment>,
    pub(crate) options: Options<'e>,
    /// How many of the labels are those of the instance; the others stand in the arguments.
    own_labels: usize,
    /// Whether the namespace is that of the instance.
    is_own_namespace: bool,
}

impl Expansion<'_> {
    /// Returns the expansion with another inspector.
    pub(crate) fn inspected_by<'i>(&'i self, inspect: &'i dyn Inspect) -> Expansion<'i> {
        Expansion {
            given: self.given.clone(),
            options: Options {
                labels: self.options.labels.clone(),
                namespace: self.options.namespace.clone(),
                inspect: Some(inspect),
                generation: self.options.generation.clone(),
                ..self.options
            },
            ..*self
        }
    }

    /// Traces the origin of the fields of each object.
    pub(crate) fn trace(&self, diagnostics: &mut Diagnostics) -> Option<Trace> {
        template::trace(self.template, &self.given, &self.options, diagnostics)
    }

    /// The source of a field that expansion added.
    pub(crate) const fn set_by(&self, cause: Cause) -> SetBy {
        match cause {
            Cause::Object => SetBy::Object,
            Cause::Labels => SetBy::Labels,
            Cause::GivenLabel(index) if index < self.own_labels => SetBy::InstanceLabels,
            Cause::GivenLabel(_) => SetBy::ArgumentLabels,
            Cause::Namespace if self.is_own_namespace => SetBy::InstanceNamespace,
            Cause::Namespace => SetBy::ArgumentNamespace,
        }
    }
}

/// Reads arguments of the form `key=value,key=value`.
fn labels(arguments: &[String], scope: Scope, diagnostics: &mut Diagnostics) -> Vec<Label> {
    arguments
        .iter()
        .flat_map(|argument| argument.split(','))
        .filter_map(|label| diagnostics.take(one_label(label)))
        .map(|(key, value)| Label { key, value, scope })
        .collect()
}

fn one_label(label: &str) -> Result<(String, String)> {
    match label.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.contains('=') => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err(Diagnostic::error(format!("`{label}` is not a label"))
            .hint("write it as `key=value`")
            .into()),
    }
}
