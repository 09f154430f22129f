//! Plain data without layout, each part of it remembering the node it was read from.

use std::borrow::Cow;

/// A scalar as Kubernetes reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar<'s> {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, spelled as JSON spells numbers and with the digits it was written with.
    Number(Cow<'s, str>),
    /// Text.
    String(Cow<'s, str>),
}
