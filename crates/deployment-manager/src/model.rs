//! The input of an expansion: a configuration, its imports, and its environment.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, Value};

/// Variables of a template: `deployment`, `project` and others.
pub type Env = BTreeMap<String, Value<'static>>;

/// The input of an expansion.
#[derive(Clone, Debug)]
pub struct Request {
    /// The name of the deployment.
    pub name: String,
    /// The text that declares the resources.
    pub config: Config,
    /// All files that the configuration and its templates may use.
    pub imports: Imports,
    /// The variables that the caller sets.
    pub env: Env,
    /// The options of its checks.
    pub options: Options,
}

/// The text of a configuration, which is parsed once.
#[derive(Clone, Debug)]
pub struct Config {
    source: Arc<Source>,
    document: Result<Arc<Document>, Diagnostics>,
}

impl Config {
    /// The configuration in a text.
    #[must_use]
    pub fn new(source: Arc<Source>) -> Self {
        let document = Document::parse(&source).map(Arc::new);
        Self { document: document.map_err(Diagnostics::from), source }
    }

    /// Returns the text with its name.
    pub const fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The text as YAML.
    ///
    /// # Errors
    /// If it is not YAML.
    pub const fn document(&self) -> Result<&Arc<Document>, &Diagnostics> {
        self.document.as_ref()
    }
}

/// A file that templates may use.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name that types, schemas and templates refer to.
    pub name: String,
    /// Its path, whose ending decides the language.
    pub path: String,
    /// The text: a template, a schema, or anything that a template reads.
    pub content: Arc<Source>,
}

/// Imports in the order they were added, each name once.
#[derive(Clone, Debug, Default)]
pub struct Imports {
    list: Vec<Import>,
    by_name: BTreeMap<String, usize>,
}

impl Imports {
    /// Adds an import, or replaces the one with this name.
    pub fn insert(&mut self, import: Import) {
        if let Some(old) = self.by_name.get(&import.name).and_then(|&at| self.list.get_mut(at)) {
            *old = import;
            return;
        }
        self.by_name.insert(import.name.clone(), self.list.len());
        self.list.push(import);
    }

    /// The import with this name.
    pub fn get(&self, name: &str) -> Option<&Import> {
        self.by_name.get(name).and_then(|&at| self.list.get(at))
    }

    /// Returns the imports in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Import> {
        self.list.iter()
    }

    /// Returns the number of imports, which is that of different names.
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns `true` if there are no imports.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// The options of an expansion.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether properties are checked against the schemas of templates.
    pub validate_schema: bool,
    /// Whether schemas must be Draft 4 exactly, without types such as `int`.
    pub strict_schemas: bool,
    /// Whether `outputs` are collected, and references to them replaced.
    pub outputs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { validate_schema: true, strict_schemas: false, outputs: true }
    }
}

/// Limits on the result of an expansion. A server sets them, a command line does not.
#[derive(Clone, Copy)]
pub struct Limits<'l> {
    /// The maximum number of resources.
    pub resources: usize,
    /// About the most bytes that all templates, defaults and outputs make together.
    pub bytes: usize,
    /// Whether the time is up. It is asked once a resource.
    pub is_late: &'l dyn Fn() -> bool,
}
