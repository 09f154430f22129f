//! The objects that a functionConfig may refer to: Templates, and objects with values.

use std::cell::OnceCell;

use crate::krm::identity::{self, Head, Identity};
use crate::template::is_template_group;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Opened};

/// An item that a functionConfig may refer to.
pub(crate) struct Input<'d> {
    pub(crate) identity: Identity,
    pub(crate) node: Cursor<'d>,
    /// Whether it is a Template.
    pub(crate) is_template: bool,
}

impl<'d> Input<'d> {
    /// What an object is to a functionConfig; nothing if it cannot refer to it.
    pub(crate) fn new(identity: &Identity, node: Cursor<'d>) -> Option<Self> {
        let is_template = identity.kind == "Template" && is_template_group(&identity.group);
        let holds_values = matches!(identity.kind.as_str(), "ConfigMap" | "Secret");
        (is_template || holds_values && identity.group.is_empty()).then(|| Self {
            identity: identity.clone(),
            node,
            is_template,
        })
    }

    /// A document of a file, where it can be referred to.
    pub(crate) fn of_document(root: Cursor<'d>) -> Option<Self> {
        Self::new(&Head::of(root).identity()?, root)
    }
}

/// The items that a functionConfig may refer to; the Templates that are read from them borrow from
/// here.
pub(crate) struct Inputs<'o, 'd> {
    pub(crate) list: Vec<Opening<'o, 'd>>,
    whence: Whence,
}

/// The origin of inputs, in the user's words.
#[derive(Clone, Copy)]
pub(crate) enum Whence {
    /// The items of a ResourceList.
    Items,
    /// The files of a command line.
    Files,
}

impl Whence {
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
pub(crate) struct Opening<'o, 'd> {
    pub(crate) input: &'o Input<'d>,
    opened: OnceCell<Opened<'d>>,
}

impl Opening<'_, '_> {
    pub(crate) fn name(&self) -> &str {
        &self.input.identity.name
    }

    pub(crate) fn node(&self) -> Cursor<'_> {
        self.opened.get_or_init(|| self.input.node.open()).cursor()
    }

    pub(crate) fn path(&self) -> Option<String> {
        identity::reference(self.node()).path
    }

    pub(crate) fn place(&self) -> Place {
        let node = self.node();
        node.get("metadata").unwrap_or(node).place()
    }

    fn file(&self) -> String {
        match self.path() {
            Some(path) => format!("one in {path}"),
            None => "one of them".to_owned(),
        }
    }
}

impl<'o, 'd> Inputs<'o, 'd> {
    pub(crate) fn of(inputs: &'o [Input<'d>], whence: Whence) -> Self {
        let inputs = inputs.iter();
        let opening = |input| Opening {
            input,
            opened: OnceCell::new(),
        };
        Self {
            list: inputs.map(opening).collect(),
            whence,
        }
    }

    /// The item of a kind with this name; of several, the one in `namespace`.
    pub(crate) fn find(
        &self,
        is_kind: impl Fn(&Input<'d>) -> bool,
        kind: &str,
        name: &str,
        namespace: &str,
    ) -> Result<&Opening<'o, 'd>> {
        let of_kind = || self.list.iter().filter(|one| is_kind(one.input));
        let named: Vec<_> = of_kind().filter(|one| one.name() == name).collect();
        let is_here = |one: &&&Opening<'_, '_>| one.input.identity.namespace == namespace;
        let here: Vec<_> = named.iter().filter(is_here).copied().collect();
        match (named.as_slice(), here.as_slice()) {
            ([one], _) | (_, [one]) => Ok(one),
            ([], _) => {
                let hint = match closest(name, of_kind().map(Opening::name)) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => self.among(kind, of_kind().map(Opening::name)),
                };
                let problem = format!("no {kind} `{name}` is {}", self.whence.place());
                Err(Diagnostic::error(problem).hint(hint).into())
            }
            _ => {
                let mut diagnostic = Diagnostic::error(format!(
                    "{} {} match {kind} `{name}`, and it is unclear which one to use",
                    named.len(),
                    self.whence.noun()
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
            [] => format!("there is no {kind}: {}", self.whence.remedy()),
            [name] => format!("there is only {name}"),
            names => format!("there are {}", names.join(", ")),
        }
    }
}
