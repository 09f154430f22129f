//! Changes of the value of a root by field path: what tests do to a value before it is written back.

use std::borrow::Cow;

use crate::diagnostic::{self, Diagnostics};
use crate::edit::edits::check_edits;
use crate::edit::pairing::ItemKeys;
use crate::path::{FieldPath, Step};
use crate::read::document::Cursor;
use crate::read::values::DuplicateKeys;
use crate::value::{Data, Value};
use crate::write::edited::{Edited, close_text};
use crate::write::rewrite::{Placement, Rewrite};

/// The path does not lead to what the change needs.
#[derive(Debug)]
pub(super) struct NotThere;

type Result<T = ()> = std::result::Result<T, NotThere>;

/// The position of a new entry of a mapping.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot<'k> {
    End,
    Before(&'k str),
    After(&'k str),
}

#[derive(Debug)]
pub(super) struct Editor<'d> {
    node: Cursor<'d>,
    pub(super) value: Value<'d>,
}

impl<'d> Editor<'d> {
    pub(super) fn new(node: Cursor<'d>) -> Self {
        let value = node.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
        Self { node, value: value.unwrap() }
    }

    /// Sets an existing value; its equal parts keep their text.
    pub(super) fn set(&mut self, path: &FieldPath, mut value: Value<'d>) -> Result {
        let old = self.find(path)?;
        value.adopt(old, &ItemKeys::NONE);
        *old = value;
        Ok(())
    }

    /// Sets a value, or adds it; missing mappings on the way are created.
    pub(super) fn put(&mut self, path: &FieldPath, value: Value<'d>) -> Result {
        let mut way = FieldPath::root();
        for step in path.steps() {
            if let Step::Key(key) = step {
                let entries = self.entries(&way)?;
                if entries.iter().all(|(name, _)| name != key) {
                    entries.push((Cow::Owned(key.clone()), Value::from(serde_json::Value::Null)));
                }
            }
            way.push(step.clone());
        }
        self.set(path, value)
    }

    /// Sets an existing value, all of which is written as new text.
    pub(super) fn replace(&mut self, path: &FieldPath, value: Value<'d>) -> Result {
        let old = self.find(path)?;
        *old = Value { origin: old.origin, ..value.without_origin() };
        Ok(())
    }

    /// Adds an entry to a mapping or null.
    pub(super) fn insert(&mut self, path: &FieldPath, value: Value<'d>, spot: Spot<'_>) -> Result {
        let Some((parent, Step::Key(key))) = path.split_last() else { return Err(NotThere) };
        if self.value.lookup(path).is_some() {
            return Err(NotThere);
        }
        let entries = self.entries(&parent)?;
        let position = |neighbour: &str| entries.iter().position(|(name, _)| name == neighbour);
        let index = match spot {
            Spot::End => Some(entries.len()),
            Spot::Before(neighbour) => position(neighbour),
            Spot::After(neighbour) => position(neighbour).map(|at| at + 1),
        };
        entries.insert(index.ok_or(NotThere)?, (Cow::Owned(key.clone()), value));
        Ok(())
    }

    /// Removes an entry or item.
    pub(super) fn remove(&mut self, path: &FieldPath) -> Result {
        self.find(path)?;
        let (parent, step) = path.split_last().ok_or(NotThere)?;
        let parent = self.find(&parent)?;
        match step {
            Step::Key(key) => parent.remove(key),
            Step::Index(index) => parent.items_mut().map(|items| items.remove(*index)),
        };
        Ok(())
    }

    /// Gives an entry another key.
    pub(super) fn rename(&mut self, path: &FieldPath, key: &str) -> Result {
        let Some((parent, Step::Key(old))) = path.split_last() else { return Err(NotThere) };
        if old != key && self.value.lookup(&parent.clone().key(key)).is_some() {
            return Err(NotThere);
        }
        let mut entries = self.entries(&parent)?.iter_mut();
        let (name, _) = entries.find(|(name, _)| name == old).ok_or(NotThere)?;
        *name = Cow::Owned(key.to_owned());
        Ok(())
    }

    /// Adds an item at the end of a list or null.
    pub(super) fn push(&mut self, path: &FieldPath, value: Value<'d>) -> Result {
        self.items(path)?.push(value);
        Ok(())
    }

    /// Adds an item before another one.
    pub(super) fn insert_item(&mut self, path: &FieldPath, value: Value<'d>) -> Result {
        let Some((parent, Step::Index(index))) = path.split_last() else { return Err(NotThere) };
        self.items(&parent)?.insert(*index, value);
        Ok(())
    }

    /// The edited text, after reading it again.
    pub(super) fn finish(self) -> diagnostic::Result<Edited> {
        let document = self.node.document();
        let mut edits = Rewrite::edits(self.node, &self.value, Placement::InPlace)?;
        close_text(document, &mut edits);
        if !edits.is_empty() {
            check_edits(self.node, &self.value, edits.clone())?;
        }
        Edited::unchecked(document, edits)
    }

    fn find(&mut self, path: &FieldPath) -> Result<&mut Value<'d>> {
        self.value.lookup_mut(path).ok_or(NotThere)
    }

    /// The entries of a mapping; null becomes one.
    fn entries(&mut self, path: &FieldPath) -> Result<&mut Vec<(Cow<'d, str>, Value<'d>)>> {
        let value = self.find(path)?;
        if value.is_null() {
            value.data = Data::Mapping(Vec::new());
        }
        match &mut value.data {
            Data::Mapping(entries) => Ok(entries),
            _ => Err(NotThere),
        }
    }

    /// The items of a list; null becomes one.
    fn items(&mut self, path: &FieldPath) -> Result<&mut Vec<Value<'d>>> {
        let value = self.find(path)?;
        if value.is_null() {
            value.data = Data::Sequence(Vec::new());
        }
        value.items_mut().ok_or(NotThere)
    }
}
