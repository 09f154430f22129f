//! The conditions on a value, in words.

use crate::form::model::{Control, Field, Lacking};
use krm_template_engine::ParameterType;

pub(super) fn has_help(field: &Field) -> bool {
    field.description.is_some() || !conditions(field).is_empty()
}

/// Returns the conditions on a value as sentences, with code in backticks.
pub(super) fn conditions(field: &Field) -> Vec<String> {
    let mut all = Vec::new();
    let kind = match field.kind {
        ParameterType::Int => "A whole number.",
        ParameterType::Number => "A number.",
        ParameterType::Array => "A list in YAML, such as `[a, b]`.",
        ParameterType::Map => "A mapping in YAML, such as `{key: value}`.",
        ParameterType::Base64 => "Base64.",
        ParameterType::String | ParameterType::Bool => "",
    };
    if !kind.is_empty() && !matches!(field.control, Control::Buttons(_) | Control::List(_)) {
        all.push(kind.to_owned());
    }
    if let Some(pattern) = &field.pattern {
        all.push(format!("Must match `{pattern}`."));
    }
    for bound in &field.bounds {
        let mut letters = bound.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        all.push(format!("{}{}.", first.collect::<String>(), letters.as_str()));
    }
    match &field.lacking {
        Lacking::Generated(from) => all.push(format!("Generated from `{from}` when left empty.")),
        Lacking::Computed(text) => all.push(format!("`{text}` when left empty.")),
        Lacking::Hidden => {
            all.push("Has a default that is not shown. To keep it, leave this empty.".to_owned());
        }
        Lacking::Empty | Lacking::Nothing if field.omit_empty => {
            all.push("Left out when empty.".to_owned());
        }
        Lacking::Empty | Lacking::Nothing => {}
    }
    all
}
