//! Selectors of labels.

use std::collections::BTreeMap;

/// What labels must have: all requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(pub Vec<Requirement>);

/// What the label with a key must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The key of the label.
    pub key: String,
    /// How its value is compared.
    pub operator: Operator,
    /// With which values; none for operators that need none.
    pub values: Vec<String>,
}

/// How the value of a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// There is such a label, and it has one of the values.
    In,
    /// The label is missing, or has none of the values.
    NotIn,
    /// There is such a label.
    Exists,
    /// The label is missing.
    DoesNotExist,
}

impl Selector {
    /// Whether labels have all that is required.
    pub(super) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(
            |Requirement {
                 key,
                 operator,
                 values,
             }| {
                let value = labels.get(key);
                match operator {
                    Operator::In => value.is_some_and(|value| values.contains(value)),
                    Operator::NotIn => value.is_none_or(|value| !values.contains(value)),
                    Operator::Exists => value.is_some(),
                    Operator::DoesNotExist => value.is_none(),
                }
            },
        )
    }
}
