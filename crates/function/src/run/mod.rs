//! Runs a function on the text of a ResourceList, whatever the function changes.

pub(crate) mod composition;
pub(crate) mod expand;
pub(crate) mod export;
pub(crate) mod imported;
pub(crate) mod transformer;

use std::fmt;
use std::sync::Arc;

use crate::input::located;
use krm_core::files::Files;
use krm_core::long_lists::LONG_LISTS;
use krm_core::report;
use krm_core::resource_list::{Changes, ResourceList};
use krm_template_composition::built_kind;
#[cfg(feature = "deployment-manager")]
use krm_template_deployment_manager::python::Interpreters;
use krm_template_engine::Trace;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Way};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, Edited, Value};

/// The input of a function besides its ResourceList.
#[derive(Clone, Default)]
pub struct Environment<'e> {
    /// The secret that generated values are derived from.
    pub seed: Option<Vec<u8>>,
    /// For whom they are derived, if others have the same secret; may be empty.
    pub seed_scope: String,
    /// The files that a Composition names; without them it finds none.
    pub files: Option<&'e dyn Files>,
    /// Gets the origin of what each Template creates.
    pub trace: Option<&'e dyn Fn(Trace)>,
    /// Runs the Python templates of DeploymentConfigurations; without it they are errors.
    #[cfg(feature = "deployment-manager")]
    pub python: Option<Arc<dyn Interpreters>>,
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A seed is a secret.
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

/// The result of a function.
#[derive(Debug)]
pub struct Output {
    /// The ResourceList; none if the input was none.
    pub list: Option<Edited>,
    /// Errors, warnings and information; with an error, the function has failed.
    pub diagnostics: Diagnostics,
}

impl Output {
    /// The text of the ResourceList; empty if the input was none.
    pub fn text(&self) -> String {
        self.list.as_ref().map(Edited::to_string).unwrap_or_default()
    }
}

impl From<Box<Diagnostic>> for Output {
    /// The result for an input that is not a ResourceList.
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self { list: None, diagnostics: diagnostic.into() }
    }
}

/// Decides the changes of the items, by the functionConfig.
pub(crate) type Changing<'c> =
    dyn Fn(&ResourceList<'_>, Cursor<'_>, &Environment<'_>, &mut Diagnostics) -> Changes + 'c;

/// Runs the function whose changes `changing` decides.
pub(crate) fn run(
    source: &Arc<Source>,
    environment: &Environment<'_>,
    changing: &Changing<'_>,
) -> Output {
    let run = |document: &Arc<Document>| match ResourceList::read(document) {
        Ok(list) => run_on(&list, document.source(), environment, changing),
        Err(diagnostic) => diagnostic.into(),
    };
    read(source, run).unwrap_or_else(Output::from)
}

/// Whether a functionConfig is a Composition; its `apiVersion` may be missing, as in the KEP.
pub(crate) fn is_composition(config: Cursor<'_>) -> bool {
    built_kind(config).as_deref() == Some("Composition")
}

/// Calls `run` with a document that is opened as far as its kind of functionConfig needs.
fn read<T>(source: &Arc<Source>, run: impl Fn(&Arc<Document>) -> T) -> Result<T> {
    let mut document = Document::open(source, LONG_LISTS)?;
    let config = document.roots().next();
    let config = config.and_then(|root| root.get("functionConfig"));
    if config.is_some_and(is_composition) {
        // All items pass through it.
        document = Document::parse(source)?;
    }
    let document = Arc::new(document);
    let read = run(&document);
    if document.is_sound() {
        return Ok(read);
    }
    // The first run has set the origins of its source, which belong to another table.
    let source = Source::new(source.name(), source.text());
    Ok(run(&Arc::new(Document::parse(&source)?)))
}

/// Decides the changes, and gives the messages their places.
fn decide(
    list: &ResourceList<'_>,
    source: &Source,
    environment: &Environment<'_>,
    changing: &Changing<'_>,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let changes = changes(list, environment, changing, diagnostics);
    diagnostics.address(Way::Objects);
    located::locate(list, source, diagnostics);
    changes
}

fn run_on(
    list: &ResourceList<'_>,
    source: &Source,
    environment: &Environment<'_>,
    changing: &Changing<'_>,
) -> Output {
    let mut diagnostics = Diagnostics::new();
    let changes = decide(list, source, environment, changing, &mut diagnostics);
    let mut edited = None;
    if !diagnostics.has_errors() {
        let results = results(&diagnostics);
        edited = diagnostics.take(list.with_changes(Changes { results, ..changes }));
    }
    if diagnostics.has_errors() {
        diagnostics.drop_success();
        let results = results(&diagnostics);
        edited = diagnostics.take(list.with_changes(Changes { results, ..Changes::default() }));
    }
    Output { list: edited, diagnostics }
}

fn results(diagnostics: &Diagnostics) -> Value<'static> {
    Value::from(report::results(diagnostics))
}

/// The changes that `changing` decides, if there is a functionConfig and the items can be read.
fn changes(
    list: &ResourceList<'_>,
    environment: &Environment<'_>,
    changing: &Changing<'_>,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let Some(config) = list.function_config() else {
        let misspelt = list.misspelt_config();
        if misspelt.iter().next().is_none() {
            diagnostics.push(
                Diagnostic::info("there is no functionConfig, so the function does nothing").hint(
                    "name the file with the Template: `configPath: FILE` in the Kptfile, \
                     or `kpt fn eval --fn-config FILE`",
                ),
            );
        }
        diagnostics.append(misspelt);
        return Changes::default();
    };
    if let Err(error) = list.check_items() {
        diagnostics.push(*error);
        return Changes::default();
    }
    changing(list, config, environment, diagnostics)
}
