//! Escaping of text in HTML.

use std::fmt::Write as _;

/// Appends a text, escaped for content and for quoted attributes.
pub fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        let (before, special) = rest.split_at(at);
        out.push_str(before);
        let mut characters = special.chars();
        out.push_str(match characters.next() {
            Some('&') => "&amp;",
            Some('<') => "&lt;",
            Some('>') => "&gt;",
            Some('"') => "&quot;",
            _ => "&#39;",
        });
        rest = characters.as_str();
    }
    out.push_str(rest);
}

/// Escapes a text for content and for quoted attributes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// Converts a message to HTML. Text in backticks becomes code.
pub fn marked(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let last = message.matches('`').count();
    for (index, part) in message.split('`').enumerate() {
        // An unpaired backtick is text.
        let is_code = index % 2 == 1 && index < last;
        if is_code {
            out.push_str("<code>");
            escape(part, &mut out);
            out.push_str("</code>");
        } else {
            if index % 2 == 1 {
                out.push('`');
            }
            escape(part, &mut out);
        }
    }
    out
}

/// Returns an HTML `id` for a parameter name. Unusual characters are written as `:HEX:`, with
/// their code point in hexadecimal digits.
pub fn id(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.') {
            out.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, ":{:x}:", u32::from(character));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, id, marked};

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escaped(r#"<script>"a"&'b'</script> ü"#),
            "&lt;script&gt;&quot;a&quot;&amp;&#39;b&#39;&lt;/script&gt; ü"
        );
    }

    #[test]
    fn text_in_backticks_is_code() {
        assert_eq!(marked("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
        assert_eq!(marked("`a`"), "<code>a</code>");
        assert_eq!(marked("a ` b"), "a ` b");
        assert_eq!(marked("`a` b ` c"), "<code>a</code> b ` c");
    }

    #[test]
    fn an_id_has_no_space() {
        assert_eq!(id("A_b-1.c"), "A_b-1.c");
        assert_eq!(id("a b\"<"), "a:20:b:22::3c:");
    }
}
