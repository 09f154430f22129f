//! The objects that a functionConfig may refer to: Templates, and objects with values.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
#[cfg(feature = "deployment-manager")]
use std::sync::Arc;

use krm_core::files;
use krm_core::identity::{self, Head, Identity};
#[cfg(feature = "deployment-manager")]
use krm_template_deployment_manager::python::{Forbidden, Interpreters};
use krm_template_engine::is_template_group;
use krm_yaml::SharedNode;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;

/// The rule of the error for a Template that is not among the inputs.
pub const MISSING_TEMPLATE: &str = "missing-template";
/// The maximum number of inputs that an error shows.
const MAX_SHOWN: usize = 10;
/// The maximum number of names that a misspelled one is compared with.
pub const MAX_MEANT: usize = 1_000;

/// An item that a functionConfig may refer to.
pub struct Input {
    /// The identity of the object.
    pub identity: Identity,
    node: SharedNode,
    /// Whether it is a Template.
    pub is_template: bool,
    /// Whether it is in the package of the functionConfig: these come first.
    pub is_near: bool,
}

impl Input {
    /// Makes an input of an object; nothing if no functionConfig can refer to it.
    pub fn new(identity: &Identity, node: SharedNode) -> Option<Self> {
        Self::may_be(identity).then(|| Self {
            identity: identity.clone(),
            node,
            is_template: Self::is_template(identity),
            is_near: true,
        })
    }

    /// Whether a functionConfig can refer to an object.
    pub fn may_be(identity: &Identity) -> bool {
        Self::is_template(identity) || Self::holds_values(identity)
    }

    fn is_template(identity: &Identity) -> bool {
        identity.kind == "Template" && is_template_group(&identity.group)
    }

    fn holds_values(identity: &Identity) -> bool {
        matches!(identity.kind.as_str(), "ConfigMap" | "Secret") && identity.group.is_empty()
    }

    /// A document of a file, where it can be referred to.
    pub fn of_document(root: SharedNode) -> Option<Self> {
        Self::new(&Head::of(root.cursor()).identity()?, root)
    }
}

/// The items that a functionConfig may refer to, and what runs its Python templates.
#[derive(Clone)]
pub struct Inputs {
    index: Rc<Index>,
    origin: InputOrigin,
    /// The file that refers to them, if the nearest of several counts.
    from: Option<String>,
    #[cfg(feature = "deployment-manager")]
    pub(super) python: Arc<dyn Interpreters>,
}

/// All inputs, and where to find one.
struct Index {
    list: Vec<Opening>,
    /// By kind, name and namespace.
    same: BTreeMap<(String, String, String), Same>,
}

/// The inputs of one kind, name and namespace.
#[derive(Default)]
struct Same {
    all: Vec<usize>,
    /// Those with the shortest path below each directory, and the number of its parts.
    below: BTreeMap<String, (usize, Vec<usize>)>,
}

impl Same {
    fn add_path(&mut self, index: usize, path: &str) {
        let parts = path.split('/').count();
        for directory in directories(path) {
            let (least, nearest) = self.below.entry(directory.to_owned()).or_default();
            if nearest.is_empty() || parts < *least {
                *least = parts;
                nearest.clear();
            }
            if parts == *least {
                nearest.push(index);
            }
        }
    }

    /// Those with the fewest directories between them and a file.
    fn nearest(&self, file: &str) -> Vec<usize> {
        let mut nearest = Vec::new();
        let mut least = usize::MAX;
        for directory in directories(file) {
            let Some((parts, found)) = self.below.get(directory) else {
                continue;
            };
            let shared = directory.split('/').filter(|part| !part.is_empty()).count();
            let distance = file.split('/').count() + parts - 2 * shared;
            if distance < least {
                least = distance;
                nearest.clear();
            }
            if distance == least {
                nearest.extend(found);
            }
        }
        nearest.sort_unstable();
        nearest.dedup();
        nearest
    }
}

/// A path, and all directories around it.
fn directories(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    let around = ends.filter_map(|end| path.get(..end));
    ["", path].into_iter().chain(around)
}

/// The origin of inputs, in the user's words.
#[derive(Clone, Copy)]
pub enum InputOrigin {
    /// The items of a ResourceList.
    Items,
    /// The files of a command line.
    Files,
}

impl InputOrigin {
    const fn place(self) -> &'static str {
        match self {
            Self::Items => "among the items",
            Self::Files => "in the files",
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Files => "documents",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            Self::Items => {
                "for kustomize, list it under `resources`; kpt sends every object of the package"
            }
            Self::Files => "add its file with another `-f`",
        }
    }
}

/// An item, opened when it is looked into.
pub struct Opening {
    /// The item.
    pub input: Input,
    opened: OnceCell<SharedNode>,
}

impl Opening {
    /// The name of the object.
    pub fn name(&self) -> &str {
        &self.input.identity.name
    }

    /// The object, opened.
    pub fn node(&self) -> &SharedNode {
        self.opened.get_or_init(|| self.input.node.open())
    }

    pub(super) fn path(&self) -> Option<String> {
        identity::reference(self.node().cursor()).path
    }

    /// The place of its metadata.
    pub fn place(&self) -> Place {
        let node = self.node().cursor();
        node.get("metadata").unwrap_or(node).place()
    }

    fn file(&self) -> String {
        match self.path() {
            Some(path) => format!("one in {path}"),
            None => "one of them".to_owned(),
        }
    }
}

impl Inputs {
    /// Indexes the inputs.
    pub fn of(inputs: impl IntoIterator<Item = Input>, origin: InputOrigin) -> Self {
        let opening = |input| Opening { input, opened: OnceCell::new() };
        let mut index =
            Index { list: inputs.into_iter().map(opening).collect(), same: BTreeMap::new() };
        for (position, one) in index.list.iter().enumerate() {
            let Identity { kind, name, namespace, .. } = one.input.identity.clone();
            let same = index.same.entry((kind, name, namespace)).or_default();
            same.all.push(position);
            if matches!(origin, InputOrigin::Files) {
                same.add_path(position, &path_of(&one.input.node));
            }
        }
        Self {
            index: Rc::new(index),
            origin,
            from: None,
            #[cfg(feature = "deployment-manager")]
            python: Arc::new(Forbidden::IN_FUNCTION),
        }
    }

    /// With what runs Python templates, if there is one.
    #[cfg(feature = "deployment-manager")]
    #[must_use]
    pub fn with_python(mut self, python: Option<Arc<dyn Interpreters>>) -> Self {
        self.python = python.unwrap_or(self.python);
        self
    }

    /// As an object refers to them, if the nearest of several counts.
    #[must_use]
    pub fn nearest_to(&self, object: &SharedNode) -> Self {
        Self { from: Some(path_of(object)), ..self.clone() }
    }

    /// All, in their order.
    pub(super) fn list(&self) -> &[Opening] {
        &self.index.list
    }

    /// The item of a kind with this name; of several, the one in `namespace`.
    ///
    /// # Errors
    /// If there is none, or it is unclear which one is meant.
    pub fn find(&self, kind: &str, name: &str, namespace: &str) -> Result<&Opening> {
        let key = |namespace: &str| (kind.to_owned(), name.to_owned(), namespace.to_owned());
        let here = self.index.same.get(&key(namespace));
        if let [one] = here.map(|same| self.nearest(same)).unwrap_or_default().as_slice()
            && one.input.is_near
        {
            return Ok(one);
        }
        let mut named: Vec<_> = self.named(kind, name).collect();
        if named.iter().any(|one| one.input.is_near) {
            named.retain(|one| one.input.is_near);
        }
        let is_here = |one: &&&Opening| one.input.identity.namespace == namespace;
        let here: Vec<_> = named.iter().filter(is_here).copied().collect();
        match (named.as_slice(), here.as_slice()) {
            ([one], _) | (_, [one]) => Ok(one),
            ([], _) => Err(self.missing(kind, name)),
            _ => {
                let mut diagnostic = Diagnostic::error(format!(
                    "{} {} match {kind} `{name}`, and it is unclear which one to use",
                    named.len(),
                    self.origin.noun()
                ));
                for one in named.iter().take(MAX_SHOWN) {
                    diagnostic = diagnostic.related(one.place(), one.file());
                }
                Err(diagnostic.hint("rename one of them").into())
            }
        }
    }

    /// The inputs of a kind and name, in all namespaces.
    pub fn named(&self, kind: &str, name: &str) -> impl Iterator<Item = &Opening> {
        let first = (kind.to_owned(), name.to_owned(), String::new());
        let named = self.index.same.range(first.clone()..);
        let is_named =
            move |(kind, name, _): &(String, String, String)| (kind, name) == (&first.0, &first.1);
        let named = named.take_while(move |(key, _)| is_named(key));
        named.flat_map(|(_, same)| self.nearest(same))
    }

    /// Of inputs with one identity, those that may be meant.
    fn nearest(&self, same: &Same) -> Vec<&Opening> {
        let nearest = self.from.as_ref().map(|file| same.nearest(file));
        let positions = nearest.as_ref().unwrap_or(&same.all);
        positions.iter().filter_map(|at| self.index.list.get(*at)).collect()
    }

    fn missing(&self, kind: &str, name: &str) -> Box<Diagnostic> {
        let of_kind = || {
            let all = self.index.list.iter();
            all.filter(|one| one.input.identity.kind == kind).map(Opening::name)
        };
        let hint = match closest(name, of_kind().take(MAX_MEANT)) {
            Some(known) => format!("did you mean `{known}`?"),
            None => self.among(kind, of_kind()),
        };
        let problem = format!("no {kind} `{name}` is {}", self.origin.place());
        let missing = Diagnostic::error(problem).hint(hint);
        if kind == "Template" { missing.rule(MISSING_TEMPLATE).into() } else { missing.into() }
    }

    /// Lists the inputs of a kind.
    fn among<'n>(&self, kind: &str, names: impl Iterator<Item = &'n str>) -> String {
        let names: Vec<String> = names.take(MAX_SHOWN).map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => format!("there is no {kind}: {}", self.origin.remedy()),
            [name] => format!("there is only {name}"),
            names => format!("there are {}", names.join(", ")),
        }
    }
}

/// The path of the file with an object.
fn path_of(object: &SharedNode) -> String {
    files::join(".", object.document().source().name())
}
