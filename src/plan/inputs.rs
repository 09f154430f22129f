//! The objects that a functionConfig may refer to: Templates, and objects with values.

use std::cell::OnceCell;
#[cfg(feature = "deployment-manager")]
use std::sync::Arc;

#[cfg(feature = "deployment-manager")]
use crate::deployment_manager::python::{Forbidden, Interpreters};
use crate::krm::identity::{self, Head, Identity};
use crate::template::is_template_group;
use krm_yaml::SharedNode;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;

/// The rule of the error for a Template that is not among the inputs.
pub(crate) const MISSING_TEMPLATE: &str = "missing-template";

/// An item that a functionConfig may refer to.
pub(crate) struct Input {
    pub(crate) identity: Identity,
    node: SharedNode,
    /// Whether it is a Template.
    pub(crate) is_template: bool,
    /// Whether it is in the package of the functionConfig: these come first.
    pub(crate) is_near: bool,
}

impl Input {
    /// Makes an input of an object; nothing if no functionConfig can refer to it.
    pub(crate) fn new(identity: &Identity, node: SharedNode) -> Option<Self> {
        Self::may_be(identity).then(|| Self {
            identity: identity.clone(),
            node,
            is_template: Self::is_template(identity),
            is_near: true,
        })
    }

    /// Whether a functionConfig can refer to an object.
    pub(crate) fn may_be(identity: &Identity) -> bool {
        Self::is_template(identity) || Self::holds_values(identity)
    }

    fn is_template(identity: &Identity) -> bool {
        identity.kind == "Template" && is_template_group(&identity.group)
    }

    fn holds_values(identity: &Identity) -> bool {
        matches!(identity.kind.as_str(), "ConfigMap" | "Secret") && identity.group.is_empty()
    }

    /// A document of a file, where it can be referred to.
    pub(crate) fn of_document(root: SharedNode) -> Option<Self> {
        Self::new(&Head::of(root.cursor()).identity()?, root)
    }
}

/// The items that a functionConfig may refer to, and what runs its Python templates.
pub(crate) struct Inputs {
    pub(crate) list: Vec<Opening>,
    origin: InputOrigin,
    #[cfg(feature = "deployment-manager")]
    pub(crate) python: Arc<dyn Interpreters>,
}

/// The origin of inputs, in the user's words.
#[derive(Clone, Copy)]
pub(crate) enum InputOrigin {
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
pub(crate) struct Opening {
    pub(crate) input: Input,
    opened: OnceCell<SharedNode>,
}

impl Opening {
    pub(crate) fn name(&self) -> &str {
        &self.input.identity.name
    }

    pub(crate) fn node(&self) -> &SharedNode {
        self.opened.get_or_init(|| self.input.node.open())
    }

    pub(crate) fn path(&self) -> Option<String> {
        identity::reference(self.node().cursor()).path
    }

    pub(crate) fn place(&self) -> Place {
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
    pub(crate) fn of(inputs: impl IntoIterator<Item = Input>, origin: InputOrigin) -> Self {
        let opening = |input| Opening { input, opened: OnceCell::new() };
        Self {
            list: inputs.into_iter().map(opening).collect(),
            origin,
            #[cfg(feature = "deployment-manager")]
            python: Arc::new(Forbidden::IN_FUNCTION),
        }
    }

    /// With what runs Python templates, if there is one.
    #[cfg(feature = "deployment-manager")]
    pub(crate) fn with_python(mut self, python: Option<Arc<dyn Interpreters>>) -> Self {
        self.python = python.unwrap_or(self.python);
        self
    }

    /// The item of a kind with this name; of several, the one in `namespace`.
    pub(crate) fn find(
        &self,
        is_kind: impl Fn(&Input) -> bool,
        kind: &str,
        name: &str,
        namespace: &str,
    ) -> Result<&Opening> {
        let of_kind = || self.list.iter().filter(|one| is_kind(&one.input));
        let mut named: Vec<_> = of_kind().filter(|one| one.name() == name).collect();
        if named.iter().any(|one| one.input.is_near) {
            named.retain(|one| one.input.is_near);
        }
        let is_here = |one: &&&Opening| one.input.identity.namespace == namespace;
        let here: Vec<_> = named.iter().filter(is_here).copied().collect();
        match (named.as_slice(), here.as_slice()) {
            ([one], _) | (_, [one]) => Ok(one),
            ([], _) => {
                let hint = match closest(name, of_kind().map(Opening::name)) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => self.among(kind, of_kind().map(Opening::name)),
                };
                let problem = format!("no {kind} `{name}` is {}", self.origin.place());
                let missing = Diagnostic::error(problem).hint(hint);
                Err(if kind == "Template" {
                    missing.rule(MISSING_TEMPLATE).into()
                } else {
                    missing.into()
                })
            }
            _ => {
                let mut diagnostic = Diagnostic::error(format!(
                    "{} {} match {kind} `{name}`, and it is unclear which one to use",
                    named.len(),
                    self.origin.noun()
                ));
                for one in named {
                    diagnostic = diagnostic.related(one.place(), one.file());
                }
                Err(diagnostic.hint("rename one of them").into())
            }
        }
    }

    /// Lists the inputs of a kind.
    fn among<'n>(&self, kind: &str, names: impl Iterator<Item = &'n str>) -> String {
        let names: Vec<String> = names.take(10).map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => format!("there is no {kind}: {}", self.origin.remedy()),
            [name] => format!("there is only {name}"),
            names => format!("there are {}", names.join(", ")),
        }
    }
}
