//! Collects the outputs of templates, and puts them in place of the references to them.

use std::collections::BTreeMap;

use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, Scalar, Value};

use crate::error::Failure;
use crate::expand::budget::Budget;
use crate::expansion::{LayoutResource, Resource};
use crate::references::{Misplaced, Problem, replace};
use crate::repr;
use crate::yaml::Located;

/// The outputs of resources, by their names.
type Outputs<'r> = BTreeMap<String, Value<'r>>;

/// Puts the outputs of `resources` in place of the references to them: in the outputs of the level
/// itself, which are returned, and in the properties of all resources made below it.
pub(super) fn resolve<'r>(
    outputs: Option<Located<'_>>,
    resources: &[LayoutResource<'r>],
    made: &mut [Resource<'r>],
    budget: &mut Budget<'_>,
) -> Result<Option<Value<'r>>, Failure> {
    let known = outputs_of(resources);
    let all = budget.left();
    let mut left = all;
    let own = outputs.filter(|outputs| !is_empty(outputs.value));
    let own = own.map(|outputs| {
        let mut value = outputs.value.clone().into_owned();
        let done = replace(&mut value, &known, &mut left);
        done.map(|()| value.without_origin())
            .map_err(|misplaced| failure(&misplaced, &known, outputs, budget))
    });
    let own = own.transpose()?;
    if !known.is_empty() {
        for resource in made {
            let document = resource.document.as_ref();
            let Some(properties) = resource.value.get_mut("properties") else {
                continue;
            };
            if let Err(misplaced) = replace(properties, &known, &mut left) {
                let at = Located { value: properties, document };
                return Err(failure(&misplaced, &known, at, budget));
            }
        }
    }
    // It is not more than what was left.
    let _ = budget.add(all - left);
    Ok(own)
}

fn is_empty(value: &Value<'_>) -> bool {
    match &value.data {
        Data::Scalar(_) => value.is_null(),
        Data::Sequence(items) => items.is_empty(),
        Data::Mapping(entries) => entries.is_empty(),
    }
}

fn outputs_of<'r>(resources: &[LayoutResource<'r>]) -> Outputs<'r> {
    let with_outputs = resources.iter();
    let with_outputs = with_outputs.filter_map(|one| Some((one, one.outputs.as_ref()?)));
    let outputs = with_outputs.map(|(resource, outputs)| {
        let mut values = Value::mapping(Vec::new());
        for output in outputs.items().unwrap_or_default() {
            if let (Some(name), Some(value)) = (output.get("name"), output.get("value")) {
                values.insert(repr::text(name).into(), value.clone());
            }
        }
        (repr::text(&resource.name), values)
    });
    outputs.collect()
}

fn failure(
    (problem, origin): &Misplaced,
    known: &Outputs<'_>,
    at: Located<'_>,
    budget: &Budget<'_>,
) -> Failure {
    let text = Value { origin: origin.or(at.value.origin), data: Data::Scalar(Scalar::Null) };
    let at = Located { value: &text, document: at.document };
    match problem {
        Problem::TooLarge => budget.used_up().into(),
        Problem::Malformed(text) => {
            let error = Diagnostic::error(format!("the reference in `{text}` is not complete"))
                .rule("dm-reference")
                .hint("write `$(ref.NAME.PATH)`");
            at.mark(error).into()
        }
        Problem::NoValue { reference, name, path } => {
            let names = known.get(name).and_then(Value::entries).unwrap_or_default();
            let names: Vec<&str> = names.iter().map(|(name, _)| name.as_ref()).collect();
            let wanted = path.split(['.', '[']).next().unwrap_or_default();
            let hint = match closest(wanted, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the outputs of `{name}` are {}", list(&names)),
            };
            let error = Diagnostic::error(format!("`{reference}` has no value"));
            at.mark(error.rule("dm-reference").hint(hint)).into()
        }
    }
}

fn list(names: &[&str]) -> String {
    /// The names that are listed.
    const SHOWN: usize = 20;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let mut shown: Vec<String> = shown.collect();
    if names.len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
