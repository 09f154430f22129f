//! Shortens texts for messages, and masks secrets in them.

use std::borrow::Cow;

/// The most bytes of a value, or of another text in backticks, in a message.
pub const MAX_QUOTED: usize = 256;

/// The most bytes of a message, a hint or a field path.
pub const MAX_MESSAGE: usize = 4_096;

/// Replaces a secret.
pub const MASK: &str = "***";

/// Marks where a text was cut.
pub const CUT: char = '…';

/// Cuts a text to at most this many bytes and the mark.
pub fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push(CUT);
        text.shrink_to_fit();
    }
}

/// As [`cut`], for a copy of the text.
pub fn start(text: &str, most: usize) -> String {
    let start = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    let mut start = start.to_owned();
    if start.len() < text.len() {
        start.push(CUT);
    }
    start
}

/// Cuts each text in backticks to [`MAX_QUOTED`], and then the whole to [`MAX_MESSAGE`], and masks
/// credentials in addresses.
pub fn message(text: &mut String) {
    if text.len() > MAX_QUOTED {
        let parts = text.split('`');
        if parts.skip(1).step_by(2).any(|part| part.len() > MAX_QUOTED) {
            *text = quotes_cut(text);
        }
        cut(text, MAX_MESSAGE);
    }
    if let Some(masked) = without_credentials(text) {
        *text = masked;
    }
}

fn quotes_cut(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if out.len() > MAX_MESSAGE {
            break;
        }
        if index > 0 {
            out.push('`');
        }
        let most = if index % 2 == 1 { MAX_QUOTED } else { MAX_MESSAGE };
        out.push_str(&start(part, most));
    }
    out
}

/// Returns `true` for a text that is a reference to a parameter.
pub fn is_reference(text: &str) -> bool {
    let has_one = |[open, close]: [&str; 2]| {
        let name = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        name.is_some_and(|name| !name.contains(['$', ' ', ')', '}']))
    };
    [["$((", "))"], ["$(", ")"], ["${{", "}}"], ["${", "}"]].into_iter().any(has_one)
}

/// Masks the users and the values of queries in the addresses of a text. Returns `None` if it has none.
pub fn without_credentials(text: &str) -> Option<String> {
    /// The keys of queries that hold no secret.
    const PLAIN: [&str; 5] = ["ref", "version", "timeout", "submodules", "depth"];
    let mut colons = memchr::memchr_iter(b':', text.as_bytes());
    let is_start = |at: &usize| text.get(*at..).is_some_and(|rest| rest.starts_with("://"));
    let (before, rest) = text.split_at(colons.find(is_start)?);
    let mut rest = rest.get(3..).unwrap_or_default();
    let mut out = String::new();
    out.push_str(before);
    loop {
        out.push_str("://");
        let scheme =
            out.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.:/".contains(c));
        let is_quoted = scheme.ends_with('`');
        let is_blank = |c: char| c == '`' || (c.is_whitespace() && !is_quoted);
        let is_end = |c: char| is_blank(c) || (!is_quoted && "\"'<>|".contains(c));
        // A password may have quotes.
        let is_after = |c: char| is_blank(c) || c == '/' || c == '?';
        let authority = rest.split(is_after).next().unwrap_or_default();
        let user = authority.rfind('@').unwrap_or(0);
        let end = rest.get(user..).and_then(|host| host.find(is_end));
        let length = end.map_or(rest.len(), |end| user + end);
        let short = authority.get(..length).unwrap_or(authority);
        let port = short.rsplit_once(':').map_or("", |(_, port)| port);
        let is_digits = port.bytes().all(|byte| byte.is_ascii_digit());
        let is_port = is_digits || is_reference(port) || port.ends_with(']');
        // Text after a colon that is not a port may be a password that was cut off.
        let authority = if is_port { short } else { authority };
        let (address, after) = rest.split_at(length.max(authority.len()));
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        // A password with a slash, which should be encoded, is one all the same.
        let whole = if is_port { authority } else { path };
        // Without a host, the end of the address is missing.
        let is_cut = !is_port || authority.ends_with(CUT);
        let host = whole.rfind('@').or(is_cut.then_some(authority.len()));
        let is_known = |user: &str| user == "git" || user.split(':').all(is_reference);
        let host = host.filter(|at| !path.get(..*at).is_some_and(is_known));
        let (user, path) = path.split_at(host.unwrap_or(0));
        out.push_str(if user.is_empty() { "" } else { MASK });
        out.push_str(path);
        for (index, pair) in query.split('&').filter(|pair| !pair.is_empty()).enumerate() {
            out.push(if index == 0 { '?' } else { '&' });
            let (key, value) = pair.split_once('=').unwrap_or(("", pair));
            let is_plain = PLAIN.contains(&key);
            out.push_str(key);
            out.push_str(if key.is_empty() { "" } else { "=" });
            out.push_str(if is_plain { value } else { MASK });
        }
        let Some((between, next)) = after.split_once("://") else {
            out.push_str(after);
            return (out != text).then_some(out);
        };
        out.push_str(between);
        rest = next;
    }
}

/// Puts `mask` in the place of each secret in a text, and of the start of one before a [`CUT`].
pub fn masked<'t>(
    text: &'t str,
    secrets: impl IntoIterator<Item = &'t str>,
    mask: &str,
) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
        if text.contains(secret) {
            text = text.replace(secret, mask).into();
        }
        let cuts: Vec<usize> = text.match_indices(CUT).map(|(at, _)| at).collect();
        for at in cuts.into_iter().rev() {
            let before = text.get(..at).unwrap_or_default();
            if let Some(start) = start_of(secret, before) {
                text.to_mut().replace_range(start..at, mask);
            }
        }
    }
    text
}

/// The offset of the longest end of a text that is a start of `secret`.
fn start_of(secret: &str, text: &str) -> Option<usize> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(secret.len()));
    let mut ends = text.get(from..)?.char_indices();
    let start = ends.find(|(at, _)| {
        let end = text.get(from + at..);
        end.is_some_and(|end| secret.starts_with(end))
    });
    start.map(|(at, _)| from + at)
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGE, MAX_QUOTED, cut, masked, message};

    #[test]
    fn texts_are_cut_between_characters() {
        for (text, most, expected) in
            [("abc", 3, "abc"), ("abcd", 3, "abc…"), ("aé", 2, "a…"), ("é", 0, "…")]
        {
            let mut text = text.to_owned();
            cut(&mut text, most);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn long_quotes_leave_the_end_of_a_message() {
        let value = "x".repeat(1_000_000);
        let mut text = format!("`{value}` is not a number: see `a`");
        message(&mut text);
        let value = "x".repeat(MAX_QUOTED);
        assert_eq!(text, format!("`{value}…` is not a number: see `a`"));
        for (count, unit) in
            [(10_000, "`a`, "), (10_000, "a"), (10_000, "``"), (100, &*"`é".repeat(400))]
        {
            let mut text = unit.repeat(count);
            message(&mut text);
            assert!(text.len() <= MAX_MESSAGE + 3 && text.ends_with('…'), "{unit}");
        }
    }

    #[test]
    fn credentials_in_addresses_are_masked() {
        for (text, expected) in [
            ("`https://u:p@h/x` and https://t@h:8/", "`https://***@h/x` and https://***@h:8/"),
            ("a://u:p@ss@h/o?ref=v1&token=t", "a://***@h/o?ref=v1&token=***"),
            ("a://u:p/s@h 'b://h?x'", "a://***@h 'b://h?***'"),
            ("x@y ssh://git@h:22/r", "x@y ssh://git@h:22/r"),
            ("a://h:22/p@v1?ref=x@y", "a://h:22/p@v1?ref=x@y"),
            ("a://$(USER):${P}@h", "a://$(USER):${P}@h"),
            ("'a://u:\"p'@h/x' failed", "'a://***@h/x' failed"),
            ("`a://u:p q@h` a://[::1]/ a://u:p", "`a://***@h` a://[::1]/ a://***"),
            ("`a://u:p@h?x=a\"b` a://tok…", "`a://***@h?x=***` a://***"),
            ("\"ldap://h.example.com:389\" 'a://h:80'", "\"ldap://h.example.com:389\" 'a://h:80'"),
            ("\"a://u:p'q\" b", "\"a://*** b"),
            ("none", "none"),
        ] {
            let mut masked = text.to_owned();
            message(&mut masked);
            assert_eq!(masked, expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_masked(text in "([a-z0-9:/@?&=`\"'<> …é\\[\\]$(){}]|://){0,60}") {
            let _ = super::without_credentials(&text);
        }
    }

    #[test]
    fn secrets_are_masked_also_where_they_are_cut() {
        for (text, secrets, expected) in [
            ("a word b", &["word"][..], "a *** b"),
            ("`a wo…` b", &["word"], "`a ***…` b"),
            ("wordwor… wo…", &["word"], "******… ***…"),
            ("a wo b", &["word"], "a wo b"),
            ("é…", &["éa"], "***…"),
            ("…", &["a"], "…"),
            ("a1 b2…", &["a1", "b23"], "*** ***…"),
        ] {
            assert_eq!(masked(text, secrets.iter().copied(), "***"), expected);
        }
    }
}
