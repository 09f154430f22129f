//! The position of a string in its object, and the variables that the kubelet expands there.

use std::cell::OnceCell;

use crate::template::declare::dialect::Dialect;
use crate::template::declare::reference::with_values;
use crate::template::expand::path::Path;
use crate::template::resolve::parameters::Parameters;
use krm_yaml::{NodeId, View};

/// The variables of a container, which the kubelet puts in for `$(NAME)` in its command, its
/// arguments and, if declared earlier, in the values of its variables.
pub(super) struct Variables<'v> {
    /// The container, and what its names refer to; few containers are asked for their variables.
    container: Option<(View<'v>, Dialect, &'v Parameters<'v>)>,
    known: OnceCell<Known>,
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
    ) -> Self {
        Self {
            container: Some((container, dialect, parameters)),
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
            let known = |(view, dialect, parameters)| Known::of(view, dialect, parameters);
            self.container.map(known).unwrap_or_default()
        })
    }

    /// Whether there are more that only the cluster knows.
    pub(super) fn more(&self) -> bool {
        self.known().more
    }
}

impl Known {
    /// The variables of a container, their names with references replaced.
    fn of(container: View<'_>, dialect: Dialect, parameters: &Parameters<'_>) -> Self {
        let items = container.get("env").and_then(View::items);
        let value_of = |name: &str| Some(parameters.get(name)?.text.as_ref());
        let variable = |item: View<'_>| {
            let name = item.get("name");
            let text = name.and_then(View::as_str).unwrap_or_default();
            Variable {
                name: with_values(&text, dialect, value_of),
                node: name.and_then(View::origin),
            }
        };
        let list = items.into_iter().flatten().map(variable);
        let from = container.get("envFrom").and_then(View::items);
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
