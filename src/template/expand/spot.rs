//! The position of a string in its object, and the variables that the kubelet expands there.

use std::borrow::Cow;

use crate::template::declare::dialect::Dialect;
use crate::template::declare::reference::has_dollar;
use crate::template::declare::reference::with_values;
use crate::template::expand::path::Path;
use crate::template::resolve::parameters::Parameters;
use krm_yaml::{NodeId, View};

/// The variables of a container, which the kubelet puts in for `$(NAME)` in its command, its
/// arguments and, if declared earlier, in the values of its variables.
pub(super) struct Variables<'v> {
    list: Vec<Variable<'v>>,
    /// Whether there are more that only the cluster knows.
    pub(super) more: bool,
}

pub(super) struct Variable<'v> {
    name: Cow<'v, str>,
    /// Where the name is written.
    pub(super) node: Option<NodeId>,
}

impl<'v> Variables<'v> {
    /// The variables of a container, their names with references replaced.
    pub(super) fn of(container: View<'v>, dialect: Dialect, parameters: &Parameters<'_>) -> Self {
        let items = container.get("env").and_then(View::items);
        let value_of = |name: &str| Some(parameters.get(name)?.text.as_ref());
        let variable = |item: View<'v>| {
            let name = item.get("name");
            let text = name.and_then(View::as_str).unwrap_or_default();
            Variable {
                name: if has_dollar(&text) {
                    Cow::Owned(with_values(&text, dialect, value_of))
                } else {
                    text
                },
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

    /// The same, apart from the container.
    pub(super) fn into_owned(self) -> Variables<'static> {
        let owned = |variable: Variable<'_>| Variable {
            name: Cow::Owned(variable.name.into_owned()),
            node: variable.node,
        };
        Variables {
            list: self.list.into_iter().map(owned).collect(),
            more: self.more,
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
        let mut list = self.variables.list.iter();
        list.any(|variable| variable.name == name)
    }

    pub(super) fn find(self, name: &str) -> Option<&'e Variable<'e>> {
        self.variables
            .list
            .iter()
            .take(self.before)
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
