//! Reads the values of a Secret.

use krm_template_engine::{AssignedValue, Assignment, values_from_mapping};
use krm_yaml::Cursor;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// The values of a Secret: base64 under `data`, text under `stringData`, which wins where
/// both have one.
pub(super) fn secret_values(node: Cursor<'_>, found: &mut Diagnostics) -> Vec<Assignment> {
    let mut read = |key: &str| {
        let values = node.get(key).filter(|values| !values.is_null());
        values.map(|values| values_from_mapping(values, found)).unwrap_or_default()
    };
    let (mut encoded, plain) = (read("data"), read("stringData"));
    encoded.retain(|one| plain.iter().all(|other| other.name != one.name));
    let mut values = Vec::new();
    for mut one in encoded {
        let text = match &one.value {
            AssignedValue::Text(text) => decoded(text),
            AssignedValue::Structured(_) | AssignedValue::Bytes(_) | AssignedValue::Unknown(_) => {
                Err("is not text")
            }
        };
        match text {
            Ok(text) => {
                one.value = AssignedValue::Text(text);
                values.push(one);
            }
            Err(problem) => {
                let mut diagnostic = Diagnostic::error(format!(
                    "the value of `{}` in the Secret {problem}",
                    one.name
                ))
                .conceal(true)
                .field(format!("data.{}", one.name))
                .hint("encode it as base64, or write it as text under `stringData`");
                diagnostic.place = one.place;
                found.push(diagnostic);
            }
        }
    }
    values.extend(plain);
    for one in &mut values {
        one.secret = true;
    }
    values
}

fn decoded(text: &str) -> Result<String, &'static str> {
    use base64::Engine as _;
    // As Kubernetes, which reads a block of several lines.
    let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    String::from_utf8(bytes.map_err(|_| "is not base64")?).map_err(|_| "is not UTF-8 text")
}
