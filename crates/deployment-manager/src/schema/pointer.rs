//! References within a schema.

use krm_yaml::Value;

/// The value at a pointer such as `properties/a~1b/0`.
fn follow<'v>(root: &'v Value<'static>, pointer: &str) -> Option<&'v Value<'static>> {
    pointer.split('/').try_fold(root, |value, part| {
        let key = part.replace("~1", "/").replace("~0", "~");
        match value.items() {
            Some(items) => items.get(key.parse::<usize>().ok()?),
            None => value.get(&key),
        }
    })
}

/// The target of a `$ref`, which is an address in the schema itself: `#/definitions/disk`.
pub(super) fn target<'v>(root: &'v Value<'static>, reference: &str) -> Option<&'v Value<'static>> {
    let fragment = match reference {
        "" => "",
        _ => reference.strip_prefix('#')?,
    };
    let fragment = unescape(fragment);
    match fragment.trim_start_matches('/') {
        "" => Some(root),
        path => follow(root, path),
    }
}

/// Replaces `%2F` and its like.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code.filter(|_| byte == b'%') {
            bytes.push(code);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
