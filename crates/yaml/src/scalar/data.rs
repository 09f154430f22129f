//! A scalar, and how it is spelled.

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

impl Scalar<'_> {
    pub(crate) const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) const fn is_bool(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    pub(crate) fn into_owned(self) -> Scalar<'static> {
        match self {
            Self::Null => Scalar::Null,
            Self::Bool(flag) => Scalar::Bool(flag),
            Self::Number(digits) => Scalar::Number(Cow::Owned(digits.into_owned())),
            Self::String(text) => Scalar::String(Cow::Owned(text.into_owned())),
        }
    }
}

/// How a scalar is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In `'…'`.
    SingleQuoted,
    /// In `"…"`.
    DoubleQuoted,
    /// A block after `|`.
    Literal,
    /// A block after `>`.
    Folded,
}
