//! The position of a string in its object, and the variables that the kubelet expands there.

use std::cell::OnceCell;
use std::collections::BTreeMap;

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
    /// The first variable of each name.
    by_name: BTreeMap<String, Variable>,
    /// Whether there are more that only the cluster knows.
    more: bool,
}

pub(super) struct Variable {
    /// The position in the list.
    index: usize,
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
        let container = Container { view: container, dialect, parameters, budget };
        Self { container: Some(container), known: OnceCell::new() }
    }

    /// The same, apart from the container.
    pub(super) fn found(self) -> Variables<'static> {
        self.known();
        Variables { container: None, known: self.known }
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
        let mut by_name = BTreeMap::new();
        for (index, item) in items.into_iter().flatten().enumerate() {
            let name = item.get("name");
            let text = name.and_then(View::as_str).unwrap_or_default();
            let node = name.and_then(View::origin);
            let name = with_values(&text, dialect, value_of);
            by_name.entry(name).or_insert(Variable { index, node });
        }
        let from = view.get("envFrom").and_then(View::items);
        Self { by_name, more: from.is_some_and(|mut from| from.next().is_some()) }
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
        self.variables.known().by_name.contains_key(name)
    }

    pub(super) fn find(self, name: &str) -> Option<&'e Variable> {
        let first = self.variables.known().by_name.get(name);
        first.filter(|variable| variable.index < self.before)
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
    /// Whether it becomes a string in any case, as a key or a label does.
    pub(super) is_text: bool,
}

impl<'c> Spot<'c> {
    pub(super) const fn new(path: &'c Path<'c>, node: Option<NodeId>) -> Self {
        Self { path, node, expanding: None, needs_replacement: false, is_text: false }
    }
}
