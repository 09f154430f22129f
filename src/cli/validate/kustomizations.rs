//! Checks the Kustomizations and Components that `validate` reads.
//!
//! Each is built once: by itself, or as a part of another one. A Component by itself is only read,
//! with the paths in it, as it changes the objects of others. What a Kustomization builds that no
//! other one names is also checked as an API server does: any other may still be completed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cli::environment::environment;
use crate::cli::no_programs::{NOT_RUN, NoPrograms};
use crate::cli::object_check::check_built;
use crate::composition::{
    COMPOSITIONS, Ending, Step, chain, consolidate_kustomization, consolidate_root,
};
#[cfg(feature = "deployment-manager")]
use crate::deployment_manager::python::Forbidden;
use crate::files::{Entry, Files, directory_of, join};
use crate::function::{Environment, InProcess};
use crate::krm::identity::group;
use krm_template_exec::disk::Disk;
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::{Cursor, Document};

/// The maximum number of objects and directories that are read to build Kustomizations; what is
/// read twice counts twice.
const MAX_READ: usize = 500_000;
const COMPONENT: &str = "Component";
/// The group in which a Kustomization is an object for the controllers of Flux.
const FLUX: &str = "kustomize.toolkit.fluxcd.io";
/// The fields with directories.
const DIRECTORIES: [&str; 6] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
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
        Self {
            disk,
            names: RefCell::new(BTreeSet::new()),
            count: Cell::new(0),
        }
    }

    /// Runs the steps of a build, unless they cannot be used, and checks what it builds with
    /// `server`. The steps of a Component do not run.
    fn run(
        &self,
        mut steps: Vec<Step>,
        is_component: bool,
        server: Option<&mut Checker>,
        mut own: Diagnostics,
    ) -> Diagnostics {
        if is_component {
            chain::report_unread(&steps, self, &mut own);
        } else if !own.has_errors() {
            let environment = Environment {
                files: Some(self),
                #[cfg(feature = "deployment-manager")]
                python: Some(Arc::new(NO_PYTHON)),
                ..environment(&self.disk)
            };
            let functions = InProcess::new(&environment, &NoPrograms);
            let (mut built, count) = chain::check(&mut steps, self, &functions, &mut own);
            if let Some(server) = server.filter(|_| !own.has_errors()) {
                built.retain(|resource| !resource.is_local());
                check_built(&built, server, &mut own);
            }
            self.count.set(self.count.get().saturating_add(count));
        }
        let mut found = Diagnostics::new();
        for mut one in own.iter().cloned() {
            match one.severity {
                // It is about what the build would print.
                Severity::Info => continue,
                _ if one.rule == Some(NOT_RUN) => {
                    one.rule = None;
                    one.severity = Severity::Info;
                    one.hints = vec!["what comes after it is not checked".to_owned()];
                }
                _ => {}
            }
            found.push(one);
        }
        found.attribute_to_rule("kustomization");
        found
    }
}

/// Checks the Kustomization or Component in a file of another name, or in standard input.
pub(super) fn check_node(document: &Arc<Document>, root: Cursor<'_>, disk: Disk) -> Diagnostics {
    let files = Noted::of(disk);
    let mut own = Diagnostics::new();
    let directory = directory_of(document.source().name());
    let steps = consolidate_kustomization(&files, document, root.id(), directory, &mut own);
    let is_component = root.text_at(["kind"]).as_deref() == Some(COMPONENT);
    files.run(steps, is_component, None, own)
}

/// Checks the Kustomizations in these files, and with `server` what they build, except objects of
/// Flux, which it takes out. Returns the files that were read.
pub(super) fn check(
    paths: &mut Vec<String>,
    disk: Disk,
    server: &mut Checker,
    found: &mut Diagnostics,
) -> BTreeSet<String> {
    let files = Noted::of(disk);
    let mut directories: Vec<Directory> = Vec::new();
    paths.retain(|path| {
        let directory = join(".", directory_of(path));
        let last = directories.last();
        if last.is_some_and(|last| last.path == directory) {
            return true;
        }
        let directory = Directory::read(path, directory, &files.disk);
        let is_kept = !directory.is_of_flux;
        directories.extend(is_kept.then_some(directory));
        is_kept
    });
    let named = directories.iter().flat_map(|one| one.names.iter().cloned());
    let named: BTreeSet<String> = named.collect();
    // Those that others name are built on the way, unless an error keeps the build from them.
    directories.sort_by_key(|one| one.is_component || named.contains(&one.path));
    for directory in &directories {
        if files.names.borrow().contains(&directory.file) {
            continue;
        }
        if files.count.get() > MAX_READ {
            let problem = format!(
                "`{}` is not checked: more than {MAX_READ} objects were read to build others",
                directory.file
            );
            let hint = "check it with a command of its own";
            let warning = Diagnostic::warning(problem).hint(hint);
            found.push(warning.rule("kustomization"));
            continue;
        }
        let is_root = !named.contains(&directory.path);
        let server = is_root.then_some(&mut *server);
        found.append(directory.check(&files, server));
    }
    files.names.take()
}

/// A directory with a Kustomization or Component.
struct Directory {
    path: String,
    file: String,
    /// Its text, if that can be read.
    document: Option<Arc<Document>>,
    is_component: bool,
    is_of_flux: bool,
    /// The directories and files that it names.
    names: Vec<String>,
}

impl Directory {
    /// Reads as much as possible of the file.
    fn read(file: &str, path: String, disk: &Disk) -> Self {
        let source = disk.source(file, directory_of(file));
        let document = source.and_then(|source| Document::parse(&source)).ok();
        let document = document.map(Arc::new);
        let root = document.as_ref().and_then(|one| one.roots().next());
        let items = |field| root.and_then(|root| root.get(field));
        let items = DIRECTORIES.into_iter().filter_map(items);
        let items = items
            .filter(|list| list.is_sequence())
            .flat_map(Cursor::children);
        let names = items.filter_map(|item| Some(join(&path, &item.text().ok()??)));
        let kind = root.and_then(|root| root.text_at(["kind"]));
        let api_version = root.and_then(|root| root.text_at(["apiVersion"]));
        Self {
            is_of_flux: api_version.is_some_and(|text| group(&text) == FLUX),
            is_component: kind.as_deref() == Some(COMPONENT),
            file: join(".", file),
            names: names.collect(),
            path,
            document: document.clone(),
        }
    }

    /// Builds it and checks the result with `server`, or reads it if it is a Component. Returns what
    /// is wrong.
    fn check(&self, files: &Noted, server: Option<&mut Checker>) -> Diagnostics {
        let mut own = Diagnostics::new();
        // A function may be configured by a Composition beside it.
        let is_beside = |name: &&str| files.entry(&join(&self.path, name)) == Some(Entry::File);
        let root = self
            .document
            .as_ref()
            .and_then(|one| Some((one, one.roots().next()?.id())));
        let steps = match root.filter(|_| COMPOSITIONS.iter().any(is_beside)) {
            Some((document, root)) => {
                consolidate_kustomization(files, document, root, &self.path, &mut own)
            }
            None => consolidate_root(files, &self.path, &Ending::default(), &mut own),
        };
        files.run(steps, self.is_component, server, own)
    }
}
