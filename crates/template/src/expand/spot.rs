//! The position of a string in its object, and the variables that the kubelet expands there.

use std::cell::OnceCell;

use crate::declare::dialect::Dialect;
use crate::declare::reference::with_values;
use crate::expand::path::Path;
use crate::resolve::parameters::Parameters;
use crate::values::budget::{self, Budget};
use krm_yaml::{NodeId, View};

/// The variables of a container, which the kubelet puts in for `$(NAME)` in its command, its
/// arguments and, if declared earlier, in the values of its variables.
pub(super) struct Variables<'v> {
    /// Few containers are asked for their variables.
    container: Option<Container<'v>>,
    known: OnceCell<Known>,
}

/// A container, and what its names refer to.
#[derive(Clone, Copy)]
struct Container<'v> {
    view: View<'v>,
    dialect: Dialect,
    parameters: &'v Parameters<'v>,
    budget: Option<&'v Budget<'v>>,
}

#[derive(Default)]
struct Known {
    list: Vec<Variable>,
    /// Whether there are more that only the cluster knows.
    more: bool,
}

pub(super) struct Variable {
    name: String,
    /// Where the name is written.
    pub(super) node: Option<NodeId>,
}

impl<'v> Variables<'v> {
    /// The variables of a container.
    pub(super) const fn of(
        container: View<'v>,
        dialect: Dialect,
        parameters: &'v Parameters<'v>,
        budget: Option<&'v Budget<'v>>,
    ) -> Self {
        let container = Container {
            view: container,
            dialect,
            parameters,
            budget,
        };
        Self {
            container: Some(container),
            known: OnceCell::new(),
        }
    }

    /// The same, apart from the container.
    pub(super) fn found(self) -> Variables<'static> {
        self.known();
        Variables {
            container: None,
            known: self.known,
        }
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| {
            let container = self.container.as_ref();
            container.map(Known::of).unwrap_or_default()
        })
    }

    /// Whether there are more that only the cluster knows.
    pub(super) fn more(&self) -> bool {
        self.known().more
    }
}

impl Known {
    /// The variables of a container, their names with references replaced.
    fn of(container: &Container<'_>) -> Self {
        let Container { view, dialect, .. } = *container;
        let items = view.get("env").and_then(View::items);
        let value_of = |name: &str| {
            let text = container.parameters.get(name)?.text.as_ref();
            budget::take(container.budget, text.len()).then_some(text)
        };
        let variable = |item: View<'_>| {
            let name = item.get("name");
            let text = name.and_then(View::as_str).unwrap_or_default();
            Variable {
                name: with_values(&text, dialect, value_of),
                node: name.and_then(View::origin),
            }
        };
        let list = items.into_iter().flatten().map(variable);
        let from = view.get("envFrom").and_then(View::items);
        Self {
            list: list.collect(),
            more: from.is_some_and(|mut from| from.next().is_some()),
        }
    }
}

/// Which variables the kubelet expands in a string.
#[derive(Clone, Copy)]
pub(super) struct Expanding<'e> {
    pub(super) variables: &'e Variables<'e>,
    /// Only those before this one.
    pub(super) before: usize,
}

impl<'e> Expanding<'e> {
    /// Whether the container has a variable of this name, wherever in its list.
    pub(super) fn has(self, name: &str) -> bool {
        let mut list = self.variables.known().list.iter();
        list.any(|variable| variable.name == name)
    }

    pub(super) fn find(self, name: &str) -> Option<&'e Variable> {
        let list = self.variables.known().list.iter();
        list.take(self.before)
            .find(|variable| variable.name == name)
    }
}

/// The position of a string in its object.
#[derive(Clone, Copy)]
pub(super) struct Spot<'c> {
    pub(super) path: &'c Path<'c>,
    /// The nearest node of the document around it.
    pub(super) node: Option<NodeId>,
    pub(super) expanding: Option<Expanding<'c>>,
    /// Whether a reference that nothing replaces could never be valid.
    pub(super) needs_replacement: bool,
}

impl<'c> Spot<'c> {
    pub(super) const fn new(path: &'c Path<'c>, node: Option<NodeId>) -> Self {
        Self {
            path,
            node,
            expanding: None,
            needs_replacement: false,
        }
    }
}
