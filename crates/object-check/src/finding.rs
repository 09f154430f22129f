//! The mistakes in an object.

use krm_yaml::{FieldPath, NodeId};

/// The family of a [`Finding`], which is a rule of `validate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A kind in an API version that is not served.
    RemovedApi,
    /// A field that the kind does not have.
    UnknownField,
    /// A value that cannot be decoded, such as a text for a number.
    WrongType,
    /// A value that the API server refuses.
    Refused,
}

impl Rule {
    /// The name of the rule.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RemovedApi => "removed-api",
            Self::UnknownField => "unknown-object-field",
            Self::WrongType => "object-type",
            Self::Refused => "object-refused",
        }
    }

    /// Whether the API server refuses the object in any case.
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::UnknownField)
    }
}

/// One thing that is wrong with an object.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its family.
    pub rule: Rule,
    /// The field.
    pub path: FieldPath,
    /// The node of the field, or of the closest one around it that is there.
    pub origin: Option<NodeId>,
    /// The mistake, without the values.
    pub message: String,
    /// A hint: the next step for the user.
    pub hint: Option<String>,
    /// The edit that mends it, if that is clear.
    pub fix: Option<Fix>,
}

/// An edit of the key of an unknown field, or else of the scalar that is wrong.
#[derive(Clone, Debug)]
pub struct Fix {
    /// The text that is there, without quotes.
    pub old: String,
    /// The text to write.
    pub new: String,
}
