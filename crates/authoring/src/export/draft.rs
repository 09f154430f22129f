//! An object that is changed.

use krm_yaml::{Cursor, Data, NodeId, Ordinary, Patched, Value, View, ViewMut};

/// An object that is changed, read only where that is needed.
#[derive(Clone)]
pub(super) enum Draft<'d> {
    /// Its node, with changes.
    Node(Patched<'d>),
    /// Its value.
    Value(Value<'d>),
}

impl<'d> Draft<'d> {
    /// The node of an object, unchanged. `None` if it takes more than a look, or is in braces: then it
    /// is written anew.
    pub(super) fn of(node: Cursor<'d>) -> Option<Self> {
        let node = Some(node).filter(|node| !node.is_flow());
        let root = node.and_then(Ordinary::of)?;
        Some(Self::Node(Patched::new(root)))
    }

    pub(super) fn view(&self) -> View<'_> {
        match self {
            Self::Node(object) => object.view(),
            Self::Value(value) => View::of(value),
        }
    }

    pub(super) fn view_mut(&mut self) -> ViewMut<'_, 'd> {
        match self {
            Self::Node(object) => object.into(),
            Self::Value(value) => value.into(),
        }
    }

    /// Takes parts out of an unchanged object. They are in order.
    pub(super) fn drop_parts(&mut self, dropped: &[NodeId]) {
        match self {
            Self::Node(object) => object.remove_all(dropped),
            Self::Value(value) => drop_parts(value, &mut { dropped }),
        }
    }

    pub(super) fn into_value(self) -> Value<'d> {
        match self {
            Self::Node(object) => object.into_value(),
            Self::Value(value) => value,
        }
    }
}

fn drop_parts(value: &mut Value<'_>, dropped: &mut &[NodeId]) {
    let mut stays = |part: &mut Value<'_>| {
        let is_dropped = part.origin.is_some() && part.origin.as_ref() == dropped.first();
        if is_dropped {
            dropped.split_off_first();
        } else if !dropped.is_empty() {
            drop_parts(part, dropped);
        }
        !is_dropped
    };
    match &mut value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.retain_mut(stays),
        Data::Mapping(entries) => entries.retain_mut(|(_, part)| stays(part)),
    }
}
