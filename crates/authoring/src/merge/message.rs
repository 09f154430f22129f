//! The message of the merged Template: the messages of all, each under the name of its Template.

use std::borrow::Cow;

use crate::merge::part::Part;
use crate::merge::references::as_text;
use krm_yaml::Value;

/// Joins the messages in the first Template.
pub(super) fn join(parts: &mut [Part<'_>]) {
    if parts.len() < 2 {
        return;
    }
    let sections: Vec<String> = parts.iter().filter_map(section).collect();
    if let (Some(first), false) = (parts.first_mut(), sections.is_empty()) {
        let text = sections.join("\n\n");
        first.value.insert(Cow::Borrowed("message"), Value::string(text));
    }
}

/// The message of one Template under its name. The message of a merged Template has its names
/// already.
fn section(part: &Part<'_>) -> Option<String> {
    let text = part.value.get("message")?.as_str()?;
    let text = text.trim_end_matches(['\n', '\r']);
    let text = as_text(text, part.template.dialect());
    if text.is_empty() || is_under_a_name(&text) {
        return Some(text).filter(|text| !text.is_empty());
    }
    Some(format!("{}:\n{text}", part.name))
}

/// Whether the first line of several is a name and a colon.
fn is_under_a_name(text: &str) -> bool {
    let name = text.split_once('\n').and_then(|(first, _)| first.strip_suffix(':'));
    name.is_some_and(|name| {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        !name.is_empty() && name.bytes().all(is_of_name)
    })
}
