//! Numbered instances: `count: N`, and `$(INDEX)` in the fields of each.

use crate::declare::label::Label;
use crate::values::given::{AssignedValue, Assignment};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, Data, Scalar, Value};

/// The number of an instance, as a parameter and in references.
pub const INDEX: &str = "INDEX";

/// The greatest `count`.
const MAX_COUNT: usize = 1_000;

/// Reads the field `count` of an instance, which is in `field`.
pub(crate) fn read(node: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Option<usize> {
    let count = node.get("count").filter(|count| !count.is_null())?;
    if let Ok(Some(Scalar::Number(digits))) = count.scalar()
        && let Ok(number) = digits.parse()
        && number <= MAX_COUNT
    {
        return Some(number);
    }
    found.push(
        Diagnostic::error(format!("`count` must be a whole number from 0 to {MAX_COUNT}"))
            .at(count.place())
            .field(format!("{field}.count")),
    );
    None
}

/// A text in which `$(INDEX)` and `$((INDEX))` are replaced.
pub(crate) fn text(text: &str, index: usize) -> String {
    let index = index.to_string();
    let text = text.replace("$((INDEX))", &index);
    text.replace("$(INDEX)", &index)
}

/// The labels with the number of an instance.
pub(crate) fn labels(labels: &[Label], index: usize) -> Vec<Label> {
    let numbered = labels.iter().map(|label| Label {
        key: text(&label.key, index),
        value: text(&label.value, index),
        scope: label.scope,
    });
    numbered.collect()
}

/// The values with the number of an instance.
pub(crate) fn values(given: &[Assignment], index: usize) -> Vec<Assignment> {
    let numbered = given.iter().map(|one| {
        let mut one = one.clone();
        match &mut one.value {
            AssignedValue::Text(value) => *value = text(value, index),
            AssignedValue::Structured(value) => replace(value, index),
            AssignedValue::Bytes(_) | AssignedValue::Unknown(_) => {}
        }
        one
    });
    numbered.collect()
}

fn replace(value: &mut Value<'static>, index: usize) {
    match &mut value.data {
        Data::Scalar(Scalar::String(whole)) if whole == "$((INDEX))" => {
            value.set(Data::Scalar(Scalar::Number(index.to_string().into())));
        }
        Data::Scalar(Scalar::String(part)) if part.contains(INDEX) => {
            let new = text(part, index);
            value.set(Data::Scalar(Scalar::String(new.into())));
        }
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.iter_mut().for_each(|item| replace(item, index)),
        Data::Mapping(entries) => {
            for (_, value) in entries {
                replace(value, index);
            }
        }
    }
}
