//! Parameter values from a form, the seed of generated ones, and error messages of fields.

use krm_template_authoring::form::{Filled, Form};
use krm_yaml::{FieldPath, Step};

use super::entered::Entered;
use krm_template_server_core::{Cause, Result, Status};

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

/// Parses the hexadecimal seed from a form, or generates a new one.
pub(super) fn seed(text: &str) -> Result<[u8; 32]> {
    let mut seed = [0; 32];
    let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
    if text.len() == 64 && digits.len() == 64 {
        for (byte, pair) in seed.iter_mut().zip(digits.chunks(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        return Ok(seed);
    }
    let filled = getrandom::fill(&mut seed);
    filled.map_err(|_| Status::internal("cannot generate random numbers"))?;
    Ok(seed)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
