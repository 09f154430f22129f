//! JSON output in the format of Go's `encoding/json`: compact or indented, with HTML escapes.

use std::fmt::Write as _;

use serde_json::Value;

/// Appends a value as compact JSON, with the escapes of Go's `encoding/json`.
pub(crate) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => _ = write!(out, "{number}"),
        Value::String(text) => quote(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                quote(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

/// Appends a quoted string, with the HTML escapes of Go's `encoding/json`.
pub(crate) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escape(character, out),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn escape(character: char, out: &mut String) {
    _ = write!(out, "\\u{:04x}", u32::from(character));
}

/// Appends valid JSON without its white space, like Go's `json.Compact`. Escapes `<`, `>`, `&`,
/// U+2028 and U+2029.
pub(crate) fn compact(text: &str, out: &mut String) {
    let mut in_string = false;
    let mut is_escaped = false;
    for character in text.chars() {
        if !in_string {
            in_string = character == '"';
            if !matches!(character, ' ' | '\t' | '\n' | '\r') {
                out.push(character);
            }
            continue;
        }
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escape(character, out),
            _ => out.push(character),
        }
        in_string = is_escaped || character != '"';
        is_escaped = !is_escaped && character == '\\';
    }
}

/// Indents compact JSON by two spaces per level, like Go's `json.Indent`.
#[must_use]
pub fn pretty(compact: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() * 2);
    let (mut depth, mut in_string, mut is_escaped, mut is_empty) = (0_usize, false, false, false);
    for &byte in compact {
        if in_string {
            out.push(byte);
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        if is_empty && !matches!(byte, b']' | b'}') {
            line(&mut out, depth);
        }
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if !is_empty {
                    line(&mut out, depth);
                }
            }
            _ => {}
        }
        is_empty = matches!(byte, b'{' | b'[');
        in_string = byte == b'"';
        match byte {
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b'\n' if depth == 0 => {}
            _ => out.push(byte),
        }
    }
    out
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + depth * 2, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_text_keeps_the_spelling_and_escapes_html() {
        let mut out = String::new();
        compact(
            "{ \"a b\" : [ 1.0, -0.0 ,1e3],\n\"c\\\" <\" : \"&\\\\\" }",
            &mut out,
        );
        assert_eq!(
            out,
            "{\"a b\":[1.0,-0.0,1e3],\"c\\\" \\u003c\":\"\\u0026\\\\\"}"
        );
    }

    #[test]
    fn pretty_text_has_two_blanks_a_level() {
        let pretty = pretty(b"{\"a\":{},\"b\":[1,{\"c\":\"{,:}\"}],\"d\":[]}\n");
        let expected = "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": \"{,:}\"\n    }\n  ],\n  \"d\": []\n}";
        assert_eq!(String::from_utf8_lossy(&pretty), expected);
    }
}
