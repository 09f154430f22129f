//! Builds the Kustomizations, Components and Compositions that `validate` reads.
//!
//! Each Kustomization is built once: by itself, or as a part of another one. A Component by itself is
//! only read, with the paths in it, as it changes the objects of others. What a Kustomization builds
//! that no other one names is also checked as an API server does: any other may still be completed.
//! So is what such a Composition builds, but its errors are not reported: a function or `build` may
//! give it objects.

use std::collections::BTreeSet;
use std::rc::Rc;
#[cfg(feature = "deployment-manager")]
use std::sync::Arc;

use super::file::File;
use crate::build::{Builder, NOT_RUN};
use crate::listing::{Listing, Listings};
use crate::recording::RecordingFiles;
use krm_core::files::{Entry, Files, join};
use krm_core::identity::group;
use krm_template_composition::chain::report_unread;
use krm_template_composition::{
    COMPOSITIONS, Ending, Functions, GROUP, Step, consolidate_kustomization, consolidate_node,
    consolidate_root,
};
#[cfg(feature = "deployment-manager")]
use krm_template_deployment_manager::python::Forbidden;
use krm_template_function::Environment;
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};

/// The maximum number of objects and directories that are read to build Kustomizations; what is
/// read twice counts twice.
const MAX_READ: usize = 500_000;

/// Hints where a configuration needs Python, which `validate` does not run.
#[cfg(feature = "deployment-manager")]
pub(super) const NO_PYTHON: Forbidden = Forbidden(&[
    "to check the configuration with Python, use `krm-template dm validate CONFIG --allow-python`",
    "to build a Composition with it, use `krm-template build --allow-python`",
]);

/// The files and programs of a machine.
pub struct Machine<'m> {
    /// The files that Kustomizations name.
    pub files: &'m dyn Files,
    /// The files that Compositions name.
    pub compositions: &'m dyn Files,
    /// What generated values are derived from.
    pub environment: Environment<'m>,
    /// The programs of others.
    pub functions: &'m dyn Functions,
}

/// The builds of Kustomizations and Compositions.
pub(super) struct Builds<'b> {
    machine: &'b Machine<'b>,
    files: RecordingFiles<'b>,
    /// The number of objects and directories that were read.
    count: usize,
}

impl<'b> Builds<'b> {
    pub(super) const fn new(machine: &'b Machine<'b>) -> Self {
        Self { machine, files: RecordingFiles::new(machine.files), count: 0 }
    }

    /// Whether there may be another build. Reports that there were too many.
    fn may_read(&self, target: &Listing, found: &mut Diagnostics) -> bool {
        if self.count <= MAX_READ {
            return true;
        }
        let problem = format!(
            "`{}` is not checked: more than {MAX_READ} objects were read to build others",
            target.file
        );
        let hint = "check it with a command of its own";
        let warning = Diagnostic::warning(problem).hint(hint);
        found.push(warning.rule("kustomization"));
        false
    }

    /// Runs the steps of a build, unless they cannot be used, and checks what it builds with
    /// `server`. The steps of a Component do not run. Returns what an API server refuses; the other
    /// mistakes are added to `own`.
    fn run(
        &mut self,
        mut steps: Vec<Step>,
        is_component: bool,
        server: Option<&mut Checker>,
        own: &mut Diagnostics,
    ) -> Diagnostics {
        let mut refused = Diagnostics::new();
        if is_component {
            report_unread(&steps, &self.files, own);
        } else if !own.has_errors() {
            let environment = Environment {
                files: Some(&self.files),
                #[cfg(feature = "deployment-manager")]
                python: Some(Arc::new(NO_PYTHON)),
                ..self.machine.environment.clone()
            };
            let builder = Builder {
                environment: &environment,
                functions: self.machine.functions,
                keeps_history: false,
                traces: server.is_some(),
            };
            let built = builder.run(&mut steps, Vec::new(), own);
            if let Some(server) = server.filter(|_| !own.has_errors()) {
                built.check(server, &mut refused);
            }
            self.count = self.count.saturating_add(built.count);
        }
        refused
    }

    /// Builds a Composition. Returns what `server` refuses of it; `None` after an error, as its
    /// configuration is checked where it is read.
    fn compose(&mut self, target: &Listing, server: &mut Checker) -> Option<Diagnostics> {
        let mut own = Diagnostics::new();
        let (document, root) = target.root()?;
        let steps = consolidate_node(&self.files, document, root, &target.directory, &mut own);
        let refused = self.run(steps, false, Some(server), &mut own);
        (!own.has_errors()).then_some(refused)
    }

    /// Builds a Kustomization and checks the result with `server`, or reads a Component. Returns
    /// what is wrong. One in a file of another name, or in standard input, is not `in_place`.
    pub(super) fn kustomize(
        &mut self,
        target: &Listing,
        in_place: bool,
        server: Option<&mut Checker>,
    ) -> Diagnostics {
        let mut own = Diagnostics::new();
        // A function may be configured by a Composition beside it.
        let is_beside =
            |name: &&str| self.files.entry(&join(&target.directory, name)) == Some(Entry::File);
        let is_alone = in_place && !COMPOSITIONS.iter().any(is_beside);
        let steps = match target.root().filter(|_| !is_alone) {
            Some((document, root)) => {
                consolidate_kustomization(&self.files, document, root, &target.directory, &mut own)
            }
            None => consolidate_root(&self.files, &target.directory, &Ending::default(), &mut own),
        };
        let refused = self.run(steps, target.is_component, server, &mut own);
        let mut found = own_mistakes(own);
        found.append(refused);
        found
    }
}

/// The mistakes in a Kustomization, of those in its build.
fn own_mistakes(mut built: Diagnostics) -> Diagnostics {
    // Information is about what the build would print.
    built.retain(|one| one.severity != Severity::Info);
    let mut found = built.map(|mut one| {
        if one.rule == Some(NOT_RUN) {
            one.rule = None;
            one.severity = Severity::Info;
            one.hints = vec!["what comes after it is not checked".to_owned()];
        }
        one
    });
    found.attribute_to_rule("kustomization");
    found
}

/// The files that were read to build others.
pub(super) struct Read {
    /// Files read for Compositions.
    pub(super) composed: BTreeSet<String>,
    /// Files read for Kustomizations.
    pub(super) others: BTreeSet<String>,
}

/// Checks what the Compositions among `others` build, then the Kustomizations in files, with what
/// they build. Objects of Flux are no Kustomizations: it takes them out.
pub(super) fn check(
    paths: &mut Vec<String>,
    others: &[File],
    listings: &mut Listings<'_>,
    builds: &mut Builds<'_>,
    server: &mut Checker,
    found: &mut Diagnostics,
) -> Read {
    let mut targets: Vec<Rc<Listing>> = Vec::new();
    paths.retain(|path| {
        let target = listings.get(path);
        let last = targets.last();
        if last.is_some_and(|last| last.directory == target.directory) {
            return true;
        }
        let is_kept = !target.is_of_flux;
        targets.extend(is_kept.then_some(target));
        is_kept
    });
    let compositions: Vec<Listing> = others.iter().filter_map(composition).collect();
    let named = targets.iter().flat_map(|one| &one.names);
    let named: BTreeSet<String> = named.cloned().collect();
    let of_compositions = compositions.iter().flat_map(|one| &one.names);
    let all: BTreeSet<String> = of_compositions.chain(&named).cloned().collect();
    let mut composed = BTreeSet::new();
    for target in compositions.iter().filter(|one| !one.is_in(&all)) {
        if builds.may_read(target, found) {
            let refused = builds.compose(target, server);
            let read = builds.files.names.take();
            if let Some(refused) = refused {
                composed.extend(read);
                found.append(refused);
            }
        }
    }
    // Those that others name are built on the way, unless an error keeps the build from them.
    let is_last = |one: &&Rc<Listing>| one.is_component || one.is_in(&named);
    let last = targets.iter().filter(is_last);
    for target in targets.iter().filter(|one| !is_last(one)).chain(last) {
        let is_read = builds.files.names.borrow().contains(&target.file);
        if is_read || !builds.may_read(target, found) {
            continue;
        }
        let is_root = !target.is_in(&named) && !composed.contains(&target.file);
        let server = is_root.then_some(&mut *server);
        found.append(builds.kustomize(target, true, server));
    }
    Read { composed, others: builds.files.names.take() }
}

/// The listing of a file that holds a Composition.
fn composition(file: &File) -> Option<Listing> {
    let document = file.document.as_ref().ok()?;
    let root = document.roots().next()?;
    let api_version = root.text_at(["apiVersion"]).unwrap_or_default();
    let is_one = root.text_at(["kind"]).as_deref() == Some("Composition")
        && (api_version.is_empty() || group(&api_version) == GROUP);
    is_one.then(|| Listing::of(&file.path, Some(document.clone())))
}
