//! Builds the Kustomizations, Components and Compositions that `validate` reads.
//!
//! Each Kustomization is built once: by itself, or as a part of another one. A Component by itself is
//! only read, with the paths in it, as it changes the objects of others. What a Kustomization builds
//! that no other one names is also checked as an API server does: any other may still be completed.
//! So is what such a Composition builds, but its errors are not reported: a function or `build` may
//! give it objects.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::file::File;
use crate::args::environment::{SeedScope, environment};
use crate::args::object_check::check_built;
use crate::programs::no_exec::{NOT_RUN, NoPrograms};
use krm_core::files::{Entry, Files, directory_of, join};
use krm_core::identity::group;
use krm_template_composition::chain::{Build, Built, report_unread};
use krm_template_composition::{
    COMPOSITIONS, Ending, GROUP, Step, consolidate_kustomization, consolidate_node,
    consolidate_root,
};
#[cfg(feature = "deployment-manager")]
use krm_template_deployment_manager::python::Forbidden;
use krm_template_engine::Trace;
use krm_template_exec::disk::Disk;
use krm_template_function::{Environment, InProcess};
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::{Cursor, Document, NodeId};

/// The maximum number of objects and directories that are read to build Kustomizations; what is
/// read twice counts twice.
const MAX_READ: usize = 500_000;
const COMPONENT: &str = "Component";
/// The group in which a Kustomization is an object for the controllers of Flux.
const FLUX: &str = "kustomize.toolkit.fluxcd.io";
/// The fields with files and directories, also of the transformers of a Composition.
const NAMES: [&str; 8] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
    "transformersFrom",
    "paths",
];

/// Hints where a configuration needs Python, which `validate` does not run.
#[cfg(feature = "deployment-manager")]
pub(super) const NO_PYTHON: Forbidden = Forbidden(&[
    "to check the configuration with Python, use `krm-template dm validate CONFIG --allow-python`",
    "to build a Composition with it, use `krm-template build --allow-python`",
]);

/// The files of this machine. It notes which are read.
struct Noted {
    disk: Disk,
    names: RefCell<BTreeSet<String>>,
    /// The number of objects and directories that were read.
    count: Cell<usize>,
}

impl Files for Noted {
    fn entry(&self, path: &str) -> Option<Entry> {
        self.disk.entry(path)
    }

    fn check(&self, path: &str, root: &str) -> Result<()> {
        self.disk.check(path, root)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.disk.list(directory)
    }

    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>> {
        let bytes = self.disk.read(path, root)?;
        self.names.borrow_mut().insert(path.to_owned());
        Ok(bytes)
    }
}

impl Noted {
    const fn of(disk: Disk) -> Self {
        Self { disk, names: RefCell::new(BTreeSet::new()), count: Cell::new(0) }
    }

    /// Whether there may be another build. Reports that there were too many.
    fn may_read(&self, target: &Target, found: &mut Diagnostics) -> bool {
        if self.count.get() <= MAX_READ {
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
        &self,
        mut steps: Vec<Step>,
        is_component: bool,
        server: Option<&mut Checker>,
        own: &mut Diagnostics,
    ) -> Diagnostics {
        let mut refused = Diagnostics::new();
        if is_component {
            report_unread(&steps, self, own);
        } else if !own.has_errors() {
            let traced = RefCell::new(Vec::new());
            let trace = |mut trace: Trace| traced.borrow_mut().append(&mut trace.objects);
            let environment = Environment {
                files: Some(self),
                trace: server.is_some().then_some(&trace),
                #[cfg(feature = "deployment-manager")]
                python: Some(Arc::new(NO_PYTHON)),
                ..environment(&self.disk, &SeedScope::default())
            };
            let functions = InProcess::new(&environment, &NoPrograms);
            let run = Build::new(self, &functions).run(&mut steps, Vec::new(), own);
            let Built { resources: mut built, count, .. } = run;
            if let Some(server) = server.filter(|_| !own.has_errors()) {
                built.retain(|resource| !resource.is_local());
                check_built(&built, &traced.borrow(), server, &mut refused);
            }
            self.count.set(self.count.get().saturating_add(count));
        }
        refused
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

/// Checks the Kustomization or Component in a file of another name, or in standard input, and with
/// `server` what it builds.
pub(super) fn check_node(
    document: &Arc<Document>,
    root: Cursor<'_>,
    disk: Disk,
    server: &mut Checker,
) -> Diagnostics {
    let files = Noted::of(disk);
    let mut own = Diagnostics::new();
    let directory = directory_of(document.source().name());
    let steps = consolidate_kustomization(&files, document, root.id(), directory, &mut own);
    let is_component = root.text_at(["kind"]).as_deref() == Some(COMPONENT);
    let refused = files.run(steps, is_component, Some(server), &mut own);
    let mut found = own_mistakes(own);
    found.append(refused);
    found
}

/// The files that were read to build others.
pub(super) struct Read {
    /// Those of Compositions.
    pub(super) composed: BTreeSet<String>,
    /// Those of Kustomizations.
    pub(super) others: BTreeSet<String>,
}

/// Checks what the Compositions among `others` build, then the Kustomizations in files, with what
/// they build. Objects of Flux are no Kustomizations: it takes them out.
pub(super) fn check(
    paths: &mut Vec<String>,
    others: &[File],
    disk: Disk,
    server: &mut Checker,
    found: &mut Diagnostics,
) -> Read {
    let files = Noted::of(disk);
    let mut targets: Vec<Target> = Vec::new();
    paths.retain(|path| {
        let target = Target::read(path, &files.disk);
        let last = targets.last();
        if last.is_some_and(|last| last.directory == target.directory) {
            return true;
        }
        let is_kept = !target.is_of_flux;
        targets.extend(is_kept.then_some(target));
        is_kept
    });
    let compositions: Vec<Target> = others.iter().filter_map(Target::of_composition).collect();
    let mut named = names(&targets);
    named.append(&mut names(&compositions));
    let mut composed = BTreeSet::new();
    for target in compositions.iter().filter(|one| !one.is_in(&named)) {
        if files.may_read(target, found) {
            let refused = target.compose(&files, server);
            let read = files.names.take();
            if let Some(refused) = refused {
                composed.extend(read);
                found.append(refused);
            }
        }
    }
    let named = names(&targets);
    // Those that others name are built on the way, unless an error keeps the build from them.
    let is_last = |one: &&Target| one.is_component || one.is_in(&named);
    let last = targets.iter().filter(is_last);
    for target in targets.iter().filter(|one| !is_last(one)).chain(last) {
        if files.names.borrow().contains(&target.file) || !files.may_read(target, found) {
            continue;
        }
        let is_root = !target.is_in(&named) && !composed.contains(&target.file);
        let server = is_root.then_some(&mut *server);
        found.append(target.check(&files, server));
    }
    Read { composed, others: files.names.take() }
}

/// The directories and files that these name.
fn names(targets: &[Target]) -> BTreeSet<String> {
    let named = targets.iter().flat_map(|one| &one.names);
    named.cloned().collect()
}

/// A file with a Kustomization, Component or Composition.
struct Target {
    file: String,
    directory: String,
    /// Its text, if that can be read.
    document: Option<Arc<Document>>,
    is_component: bool,
    is_of_flux: bool,
    /// The directories and files that it names.
    names: Vec<String>,
}

impl Target {
    /// Reads as much as possible of the file of a Kustomization or Component.
    fn read(file: &str, disk: &Disk) -> Self {
        let source = disk.source(file, directory_of(file));
        let document = source.and_then(|source| Document::parse(&source));
        Self::of(file, document.ok().map(Arc::new).as_ref())
    }

    /// One of a file that may hold a Composition.
    fn of_composition(file: &File) -> Option<Self> {
        let document = file.document.as_ref().ok()?;
        let root = document.roots().next()?;
        let api_version = root.text_at(["apiVersion"]).unwrap_or_default();
        let is_one = root.text_at(["kind"]).as_deref() == Some("Composition")
            && (api_version.is_empty() || group(&api_version) == GROUP);
        is_one.then(|| Self::of(&file.path, Some(document)))
    }

    fn of(file: &str, document: Option<&Arc<Document>>) -> Self {
        let directory = join(".", directory_of(file));
        let root = document.and_then(|one| one.roots().next());
        let transformers = root.and_then(|root| root.get("transformers"));
        let transformers = transformers.into_iter().flat_map(Cursor::children);
        let items = root.into_iter().chain(transformers).flat_map(|one| {
            let lists = NAMES.into_iter().filter_map(move |field| one.get(field));
            let lists = lists.filter(|list| list.is_sequence());
            lists.flat_map(Cursor::children)
        });
        let names = items.filter_map(|item| {
            let text = item.text().ok().flatten();
            Some(join(&directory, &text.or_else(|| item.text_at(["path"]))?))
        });
        let kind = root.and_then(|root| root.text_at(["kind"]));
        let api_version = root.and_then(|root| root.text_at(["apiVersion"]));
        Self {
            is_of_flux: api_version.is_some_and(|text| group(&text) == FLUX),
            is_component: kind.as_deref() == Some(COMPONENT),
            file: join(".", file),
            names: names.collect(),
            directory,
            document: document.cloned(),
        }
    }

    /// Whether its file or its directory is among these.
    fn is_in(&self, named: &BTreeSet<String>) -> bool {
        named.contains(&self.directory) || named.contains(&self.file)
    }

    fn root(&self) -> Option<(&Arc<Document>, NodeId)> {
        let document = self.document.as_ref()?;
        Some((document, document.roots().next()?.id()))
    }

    /// Builds a Composition. Returns what `server` refuses of it; `None` after an error, as its
    /// configuration is checked where it is read.
    fn compose(&self, files: &Noted, server: &mut Checker) -> Option<Diagnostics> {
        let mut own = Diagnostics::new();
        let (document, root) = self.root()?;
        let steps = consolidate_node(files, document, root, &self.directory, &mut own);
        let refused = files.run(steps, false, Some(server), &mut own);
        (!own.has_errors()).then_some(refused)
    }

    /// Builds a Kustomization and checks the result with `server`, or reads a Component. Returns
    /// what is wrong.
    fn check(&self, files: &Noted, server: Option<&mut Checker>) -> Diagnostics {
        let mut own = Diagnostics::new();
        // A function may be configured by a Composition beside it.
        let is_beside =
            |name: &&str| files.entry(&join(&self.directory, name)) == Some(Entry::File);
        let steps = match self.root().filter(|_| COMPOSITIONS.iter().any(is_beside)) {
            Some((document, root)) => {
                consolidate_kustomization(files, document, root, &self.directory, &mut own)
            }
            None => consolidate_root(files, &self.directory, &Ending::default(), &mut own),
        };
        let refused = files.run(steps, self.is_component, server, &mut own);
        let mut found = own_mistakes(own);
        found.append(refused);
        found
    }
}
