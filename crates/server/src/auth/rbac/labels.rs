//! Label selectors.

use std::collections::BTreeMap;

/// A label selector. It matches if all requirements are met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(pub Vec<Requirement>);

/// A requirement of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The key of the label.
    pub key: String,
    /// The operator.
    pub operator: Operator,
    /// The values; empty for `Exists` and `DoesNotExist`.
    pub values: Vec<String>,
}

/// The operator of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The label exists and has one of the values.
    In,
    /// The label is missing, or has none of the values.
    NotIn,
    /// The label exists.
    Exists,
    /// The label is missing.
    DoesNotExist,
}

impl Selector {
    /// Returns `true` if the labels meet all requirements.
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
