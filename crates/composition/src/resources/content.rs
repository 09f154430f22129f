//! The value of a resource, which is read when it is asked for, and knows whether it may have changed.

use std::sync::OnceLock;

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, DuplicateKeys, Ordinary, Value, Words};

/// The value of a resource.
#[derive(Clone, Debug)]
pub(crate) enum Content<'d> {
    /// That of an ordinary node, once it was asked for. It was never handed out to be changed.
    Unchanged(Ordinary<'d>, OnceLock<Value<'d>>),
    /// A new value, or one that was handed out to be changed.
    Changed(Value<'d>),
}

impl<'d> Content<'d> {
    /// Reads a node; none if it cannot be read, for example because of a duplicate key.
    pub(crate) fn read(
        node: Cursor<'d>,
        words: Words,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let Some(node) = Ordinary::of(node) else {
            let value = node.value_with(DuplicateKeys::Refuse, words, diagnostics)?;
            return Some(Self::Changed(value));
        };
        Some(Self::Unchanged(node, OnceLock::new()))
    }

    /// The node that holds the value, if it is ordinary, and the value was never handed out to be
    /// changed.
    pub(crate) fn unchanged(&self) -> Option<Ordinary<'d>> {
        match self {
            Self::Unchanged(node, _) => Some(*node),
            Self::Changed(_) => None,
        }
    }

    /// The value, which is read from the text the first time.
    pub(crate) fn value(&self) -> &Value<'d> {
        match self {
            Self::Unchanged(node, value) => value.get_or_init(|| node.value()),
            Self::Changed(value) => value,
        }
    }

    /// The value, to be changed.
    pub(crate) fn value_mut(&mut self) -> &mut Value<'d> {
        loop {
            match self {
                Self::Changed(value) => return value,
                Self::Unchanged(node, value) => {
                    let value = value.take().unwrap_or_else(|| node.value());
                    *self = Self::Changed(value);
                }
            }
        }
    }

    pub(crate) fn into_value(self) -> Value<'d> {
        match self {
            Self::Unchanged(node, value) => value.into_inner().unwrap_or_else(|| node.value()),
            Self::Changed(value) => value,
        }
    }

    /// The string under these keys, if there is one. Does not read the whole value for it.
    pub(crate) fn str_at(&self, keys: &[&str]) -> Option<&str> {
        if let Self::Unchanged(node, value) = self
            && value.get().is_none()
        {
            let mut keys = keys.iter();
            let found = keys.try_fold(node.cursor(), |node, key| node.get(key))?;
            if let Some(text) = found.literal() {
                return Some(text);
            }
        }
        self.value().str_at(keys)
    }
}
