//! Addresses in texts, as links.

use crate::form::html::escape;

/// The characters that no address contains, besides white space and control characters.
const NOT_IN_ADDRESSES: &[char] = &['<', '>', '"', '\'', '`', '{', '}', '|', '\\', '^'];

/// Converts a text to HTML in which the web addresses are links.
pub fn linked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices("http") {
        let (Some(before), Some(rest)) = (text.get(done..at), text.get(at..)) else {
            // It is inside an address.
            continue;
        };
        let Some(address) = address(rest) else {
            continue;
        };
        if before.ends_with(|one: char| one.is_alphanumeric()) {
            continue;
        }
        escape(before, &mut out);
        // The page stays open with what was typed.
        out.push_str("<a href=\"");
        escape(address, &mut out);
        out.push_str("\" target=\"_blank\" rel=\"noreferrer noopener\">");
        escape(address, &mut out);
        out.push_str("</a>");
        done = at + address.len();
    }
    escape(text.get(done..).unwrap_or_default(), &mut out);
    out
}

/// Returns the web address at the beginning of a text. Punctuation after it belongs to the
/// sentence.
fn address(text: &str) -> Option<&str> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    if !host.starts_with(|one: char| one.is_alphanumeric() || one == '[') {
        return None;
    }
    let is_outside =
        |one: char| one.is_whitespace() || one.is_control() || NOT_IN_ADDRESSES.contains(&one);
    let end = text.find(is_outside).unwrap_or(text.len());
    let mut address = text.get(..end)?;
    let mut open = address.matches('(').count();
    let mut closed = address.matches(')').count();
    loop {
        match address.chars().next_back()? {
            // `$(` begins a reference, which is not a part of an address.
            '.' | ',' | ';' | ':' | '!' | '?' | '*' | '$' => {}
            '(' => open -= 1,
            ')' if closed > open => closed -= 1,
            _ => return Some(address),
        }
        address = address.get(..address.len() - 1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::linked;

    #[track_caller]
    fn check(text: &str, addresses: &[&str]) {
        let html = linked(text);
        let links: Vec<&str> = html
            .split("<a href=\"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
            .map(|(address, _)| address)
            .collect();
        assert_eq!(links, addresses, "{html}");
    }

    #[test]
    fn an_address_is_a_link_without_the_punctuation_after_it() {
        assert_eq!(
            linked("See <https://example.org/a?b=1&c>, and that."),
            "See &lt;<a href=\"https://example.org/a?b=1&amp;c\" target=\"_blank\" \
             rel=\"noreferrer noopener\">https://example.org/a?b=1&amp;c</a>&gt;, and that."
        );
        check("(https://example.org/a_(b).)", &["https://example.org/a_(b)"]);
        check("http://[::1]:80/, https://b.org!", &["http://[::1]:80/", "https://b.org"]);
        check("https://a.org/?to=http://b.org", &["https://a.org/?to=http://b.org"]);
    }

    #[test]
    fn what_is_not_an_address_stays_text() {
        for text in
            ["javascript:alert(1)", "xhttps://a.org", "https://", "https://$(HOST)/", "http"]
        {
            check(text, &[]);
        }
        check("https://a.org/'onclick='x", &["https://a.org/"]);
        check("https://a.org/${NAME}", &["https://a.org/"]);
    }
}
