//! JSON pointers (RFC 6901).

/// Reads one token of a pointer: `~1` is `/`, and `~0` is `~`. Returns `None` if anything else
/// follows `~`.
pub fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (character, rest) = match part.strip_prefix('0') {
            Some(rest) => ('~', rest),
            None => ('/', part.strip_prefix('1')?),
        };
        out.push(character);
        out.push_str(rest);
    }
    Some(out)
}

/// Returns `true` if a token is an index of a list: digits without leading zeros.
pub fn is_index(token: &str) -> bool {
    !token.is_empty()
        && token.bytes().all(|byte| byte.is_ascii_digit())
        && (token == "0" || !token.starts_with('0'))
}
