//! Parameter values from a form, and error messages of fields.

use krm_template_authoring::form::{Filled, Form};
use krm_yaml::{FieldPath, Step};

use super::entered::Entered;
use krm_template_server_core::status::{Cause, Status};

/// Returns the content of the form, and the parameter values. An unchanged default is not a value.
pub(super) fn filled(entered: &Entered, form: &Form) -> (Filled, Vec<(String, String)>) {
    let mut filled = Filled::default();
    let mut given = Vec::new();
    for field in form.fields() {
        let Some(value) = entered.get(&format!("p.{}", field.name)) else {
            continue;
        };
        if field.gives(value) {
            given.push((field.name.clone(), value.to_owned()));
        }
        filled.values.insert(field.name.clone(), value.to_owned());
    }
    (filled, given)
}

/// Adds the message of each cause to its field. Returns the messages without a field.
pub(super) fn sort(status: &Status, form: &Form, filled: &mut Filled) -> Vec<String> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut others = Vec::new();
    let mut has_causes = false;
    for cause in causes {
        has_causes = true;
        match name(cause, form) {
            Some(name) => {
                let errors = filled.errors.entry(name).or_default();
                errors.push(sentence(&cause.message));
            }
            None if cause.field.is_empty() => others.push(sentence(&cause.message)),
            None => others.push(format!("`{}`: {}", cause.field, cause.message)),
        }
    }
    if !has_causes {
        others.push(status.message.clone());
    }
    others
}

/// Returns the parameter that a cause is about.
fn name(cause: &Cause, form: &Form) -> Option<String> {
    let path: FieldPath = cause.field.parse().ok()?;
    let field = match path.steps() {
        [Step::Key(values), Step::Key(name), ..] if values == "values" => form.field(name),
        [Step::Key(parameters), Step::Index(index), ..] if parameters == "parameters" => {
            form.fields().find(|field| field.index == *index)
        }
        _ => None,
    };
    field.map(|field| field.name.clone())
}

/// Converts a message of the command line to a sentence.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    format!("{}{}.", first.collect::<String>(), letters.as_str())
}
