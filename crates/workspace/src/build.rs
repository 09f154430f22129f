//! Builds the resources of Kustomizations and Compositions.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::objects::has_placeholder;
use krm_core::files::InMemory;
use krm_core::identity::Identity;
use krm_core::secrets::KnownSecrets;
use krm_template_composition::chain::{Build, Stat};
use krm_template_composition::{Functions, Resource, Step};
use krm_template_engine::{Trace, Traced};
use krm_template_function::{Environment, InProcess};
use krm_template_object_check::Checker;
use krm_yaml::View;
use krm_yaml::diagnostic::{Diagnostics, ObjectReference};

/// The rule of the error for a program that is not run.
pub const NOT_RUN: &str = "not-run";

/// Runs the steps of builds.
#[derive(Clone, Copy)]
pub struct Builder<'b> {
    /// The files, and what generated values are derived from.
    pub environment: &'b Environment<'b>,
    /// The programs of others.
    pub functions: &'b dyn Functions,
    /// Whether the resources know which transformer has set each field.
    pub keeps_history: bool,
    /// Whether the objects of Templates know where each field comes from.
    pub traces: bool,
}

/// The result of a build.
pub struct Built<'d> {
    /// The resources, except those that are only for tools. After an error, do not use them.
    pub resources: Vec<Resource<'d>>,
    /// The objects of Templates, as these created them.
    pub traced: Vec<Traced>,
    /// The time and the output of each step.
    pub stats: Vec<Stat>,
    /// The number of objects and directories that were read.
    pub count: usize,
}

impl Builder<'_> {
    /// Passes resources through all steps.
    pub fn run<'d>(
        &self,
        steps: &'d mut [Step],
        given: Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) -> Built<'d> {
        let traced = RefCell::new(Vec::new());
        let trace = |mut trace: Trace| traced.borrow_mut().append(&mut trace.objects);
        let environment =
            Environment { trace: self.traces.then_some(&trace), ..self.environment.clone() };
        let nothing = InMemory::default();
        let functions = InProcess::new(&environment, self.functions);
        let run = Build {
            keeps_history: self.keeps_history,
            ..Build::new(environment.files.unwrap_or(&nothing), &functions)
        };
        let built = run.run(steps, given, diagnostics);
        let mut resources = built.resources;
        resources.retain(|resource| !resource.is_local());
        Built { resources, traced: traced.take(), stats: built.stats, count: built.count }
    }
}

impl Built<'_> {
    /// Checks the resources as an API server does. A finding in an object of a Template is at its line
    /// there.
    pub fn check(&self, checker: &mut Checker, diagnostics: &mut Diagnostics) {
        let Self { resources, traced, .. } = self;
        for resource in resources {
            if resource.str_at(&["kind"]) == Some("CustomResourceDefinition") {
                checker.definitions.add(View::of(resource.value()));
            }
        }
        let mut found = Diagnostics::new();
        let mut by_identity = BTreeMap::new();
        for (index, one) in traced.iter().enumerate() {
            if let Some(identity) = Identity::of(&one.value) {
                by_identity.insert(identity.to_string(), index);
            }
        }
        for resource in resources {
            let value = resource.value();
            let is_secret = resource.str_at(&["kind"]) == Some("Secret");
            for finding in checker.check(View::of(value), &has_placeholder) {
                let node = resource.document().zip(finding.origin);
                let node = node.map(|(document, origin)| document.cursor(origin));
                let mut diagnostic = finding.diagnostic(node, is_secret);
                diagnostic.place = diagnostic.place.or_else(|| resource.place_of(&finding.path));
                if diagnostic.place.as_ref().is_some_and(|place| place.source.maker().is_some()) {
                    // The text has the values of secrets.
                    diagnostic.conceals = true;
                    diagnostic.fix = None;
                    let identity = resource.first_identity();
                    let index = identity.and_then(|one| by_identity.get(&one.to_string()));
                    if let Some(object) = index.and_then(|index| traced.get(*index)) {
                        if object.hides(&finding.path) {
                            continue;
                        }
                        diagnostic.place = object.place(&finding.path).cloned();
                    }
                }
                let text = |keys: &[&str]| resource.str_at(keys).unwrap_or_default().to_owned();
                diagnostic.object = Some(ObjectReference {
                    api_version: text(&["apiVersion"]),
                    kind: text(&["kind"]),
                    namespace: text(&["metadata", "namespace"]),
                    name: text(&["metadata", "name"]),
                    ..ObjectReference::default()
                });
                found.push(diagnostic);
            }
        }
        if found.iter().next().is_some() {
            let mut known = KnownSecrets::default();
            let values = resources.iter().map(Resource::value);
            values.for_each(|value| known.add_secret(value));
            known.conceal(&mut found);
        }
        diagnostics.append(found);
    }
}
