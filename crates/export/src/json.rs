//! The lists of a Template in JSON.

use krm_yaml::Value;
use krm_yaml::diagnostic::Result;

/// Spaces that a level is indented by.
pub(super) const WIDTH: usize = 2;
/// How deep the items of the lists are.
const DEPTH: usize = 2;

/// The text of an item.
pub(super) fn item(value: &Value<'_>) -> Result<String> {
    krm_yaml::render_json_at(value, WIDTH, DEPTH)
}

/// Adds a list to the entries of an open mapping.
pub(super) fn add_list(out: &mut String, key: &str, items: &[String]) {
    out.push_str(",\n  \"");
    out.push_str(key);
    out.push_str("\": [");
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "\n    " } else { ",\n    " });
        out.push_str(item);
    }
    out.push_str("\n  ]");
}
