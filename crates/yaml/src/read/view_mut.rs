//! Views through which values and patched nodes are changed.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use crate::read::document::Cursor;
use crate::read::parts::EntryLine;
use crate::read::patched::Patched;
use crate::read::view::View;
use crate::table::Kind;
use crate::value::{Data, Value};

/// A value, or a part of a patched node of which only what changes is read.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Ordinary, Patched, Position, Value, ViewMut, render_patched};
///
/// let document = Document::parse(&Source::new("a.yaml", "kind: Pod\nspec: {} # none\n"))?;
/// let root = document.roots().next().and_then(Ordinary::of).expect("an ordinary node");
/// let mut pod = Patched::new(root);
/// if let Some(kind) = ViewMut::from(&mut pod).get_mut("kind") {
///     kind.value_mut().set(Value::string("Job").data);
/// }
/// let text = render_patched(&pod, Position::Document);
/// assert_eq!(text.as_deref(), Some("kind: Job\nspec: {} # none\n"));
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Debug)]
pub struct ViewMut<'p, 'd>(Part<'p, 'd>);

#[derive(Debug)]
enum Part<'p, 'd> {
    Value(&'p mut Value<'d>),
    /// A part that is not inside a changed one.
    Node(&'p mut Patched<'d>, Cursor<'d>),
}

impl<'p, 'd> From<&'p mut Value<'d>> for ViewMut<'p, 'd> {
    fn from(value: &'p mut Value<'d>) -> Self {
        Self(Part::Value(value))
    }
}

impl<'p, 'd> From<&'p mut Patched<'d>> for ViewMut<'p, 'd> {
    fn from(patched: &'p mut Patched<'d>) -> Self {
        let root = patched.root().cursor();
        Self::of_part(patched, root)
    }
}

impl<'p, 'd> ViewMut<'p, 'd> {
    /// A part of a patched node that is not inside a changed one.
    const fn of_part(patched: &'p mut Patched<'d>, part: Cursor<'d>) -> Self {
        Self(Part::Node(patched, part))
    }

    /// The part as it is now: a node whose value was read since is that value.
    fn part(self) -> Part<'p, 'd> {
        match self.0 {
            Part::Node(patched, node) if patched.parts().get(node.id()).is_some() => {
                Part::Value(patched.value_mut(node))
            }
            part => part,
        }
    }

    /// The same part, to be read.
    #[inline]
    pub fn view(&self) -> View<'_> {
        match &self.0 {
            Part::Value(value) => View::of(value),
            Part::Node(patched, node) => patched.view_of(*node),
        }
    }

    /// The same part, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_, 'd> {
        match &mut self.0 {
            Part::Value(value) => ViewMut(Part::Value(value)),
            Part::Node(patched, node) => ViewMut::of_part(patched, *node),
        }
    }

    /// The value of the part, read with its changes.
    pub fn value_mut(self) -> &'p mut Value<'d> {
        match self.part() {
            Part::Value(value) => value,
            Part::Node(patched, node) => patched.value_mut(node),
        }
    }

    /// The value under a key of a mapping.
    pub fn get_mut(self, key: &str) -> Option<Self> {
        let (patched, node) = match self.part() {
            Part::Value(value) => return value.get_mut(key).map(Self::from),
            Part::Node(patched, node) => (patched, node),
        };
        (node.node().kind == Kind::Mapping).then_some(())?;
        if let Some(entry) = node.entry(key) {
            return Some(Self::of_part(patched, entry));
        }
        let added = patched.parts().added_to(node.id());
        let is_added = added.iter().any(|added| added.entry.key == key);
        let value = is_added.then(|| patched.value_mut(node))?;
        value.get_mut(key).map(Self::from)
    }

    /// The mapping under a key of a mapping, created if it is missing or null, as
    /// [`Value::mapping_at`] does.
    pub fn mapping_at(self, key: &'static str) -> Option<Self> {
        let value = match self.part() {
            Part::Value(value) => value,
            Part::Node(patched, node) => {
                let is_mapping = node.node().kind == Kind::Mapping;
                let entry = is_mapping.then(|| node.entry(key)).flatten();
                match entry.filter(|entry| patched.view_of(*entry).is_mapping()) {
                    Some(entry) => return Some(Self::of_part(patched, entry)),
                    None => patched.value_mut(node),
                }
            }
        };
        value.mapping_at(key).map(Self::from)
    }

    /// The item of a sequence at an index.
    pub fn item_mut(self, index: usize) -> Option<Self> {
        match self.part() {
            Part::Value(value) => match &mut value.data {
                Data::Sequence(items) => items.get_mut(index).map(Self::from),
                Data::Mapping(_) | Data::Scalar(_) => None,
            },
            Part::Node(patched, node) => {
                let is_sequence = node.node().kind == Kind::Sequence;
                let item = is_sequence.then(|| node.document.children(node.id()).nth(index))?;
                Some(Self::of_part(patched, item?))
            }
        }
    }

    /// Sets an entry of a mapping, as [`Value::insert`] does.
    pub fn insert(self, entry: &Arc<EntryLine>) {
        match self.part() {
            Part::Node(patched, node) if node.is_mapping() => patched.insert(node, entry),
            Part::Node(..) => {}
            Part::Value(value) => {
                value.insert(Cow::Owned(entry.key.clone()), entry.value.clone());
            }
        }
    }

    /// Calls `change` with each item of a sequence.
    ///
    /// # Errors
    /// The first one of `change`.
    pub fn try_each_item<E>(
        self,
        mut change: impl FnMut(ViewMut<'_, 'd>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.part() {
            Part::Value(value) => match &mut value.data {
                Data::Sequence(items) => items.iter_mut().try_for_each(|item| change(item.into())),
                Data::Mapping(_) | Data::Scalar(_) => Ok(()),
            },
            Part::Node(patched, node) if node.node().kind == Kind::Sequence => {
                let mut items = node.document.children(node.id());
                items.try_for_each(|item| change(ViewMut::of_part(patched, item)))
            }
            Part::Node(..) => Ok(()),
        }
    }

    /// Calls `change` with each item of a sequence.
    pub fn each_item(self, mut change: impl FnMut(ViewMut<'_, 'd>)) {
        let Ok(()) = self.try_each_item(|item| {
            change(item);
            Ok::<(), Infallible>(())
        });
    }

    /// Calls `change` with each key of a mapping that holds a mapping or a sequence.
    pub fn each_collection(self, mut change: impl FnMut(&str, ViewMut<'_, 'd>)) {
        match self.part() {
            Part::Value(value) => {
                let Data::Mapping(entries) = &mut value.data else {
                    return;
                };
                let entries = entries.iter_mut();
                for (key, value) in entries.filter(|(_, value)| value.scalar().is_none()) {
                    change(key, value.into());
                }
            }
            Part::Node(patched, node) if node.node().kind == Kind::Mapping => {
                // Lines that were added are scalars.
                for entry in node.document.children(node.id()) {
                    let is_collection = match patched.changed(entry) {
                        Some(value) => value.scalar().is_none(),
                        None => !matches!(entry.node().kind, Kind::Scalar(_)),
                    };
                    if is_collection && let Ok(key) = entry.key() {
                        change(&key, ViewMut::of_part(patched, entry));
                    }
                }
            }
            Part::Node(..) => {}
        }
    }
}
