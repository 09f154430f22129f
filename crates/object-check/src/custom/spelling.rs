//! Values in one spelling, to compare them.

use krm_yaml::{Scalar, View};

/// The spelling of a value. Others have another one.
pub(super) fn to_text(value: View<'_>) -> String {
    let mut text = String::new();
    write_text(value, &mut text);
    text
}

fn write_text(value: View<'_>, out: &mut String) {
    if let Some(items) = value.items() {
        out.push('[');
        for item in items {
            write_text(item, out);
            out.push(',');
        }
        out.push(']');
    } else if let Some(entries) = value.entries() {
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        out.push('{');
        for (key, value) in entries {
            out.push_str(&key);
            out.push('\0');
            write_text(value, out);
            out.push(',');
        }
        out.push('}');
    } else {
        match value.scalar() {
            Some(Scalar::String(text)) => {
                // With its length, no text looks like several.
                out.push_str(&text.len().to_string());
                out.push('"');
                out.push_str(&text);
            }
            Some(Scalar::Number(text)) => out.push_str(&text),
            Some(Scalar::Bool(flag)) => out.push_str(if flag { "true" } else { "false" }),
            _ => out.push_str("null"),
        }
    }
}
