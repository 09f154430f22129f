//! References within a schema.

use std::borrow::Cow;

use krm_yaml::Value;
use percent_encoding::percent_decode_str;

use crate::schema::problem::Problem;

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
pub(super) fn target<'v>(
    root: &'v Value<'static>,
    reference: &str,
) -> Result<&'v Value<'static>, Problem> {
    let fragment = match reference {
        "" => "",
        _ => reference.strip_prefix('#').ok_or_else(|| Problem::Elsewhere(reference.to_owned()))?,
    };
    let decoded = percent_decode_str(fragment).decode_utf8();
    let fragment = decoded.unwrap_or(Cow::Borrowed(fragment));
    let found = match fragment.trim_start_matches('/') {
        "" => Some(root),
        path => follow(root, path),
    };
    found.ok_or_else(|| Problem::Unresolvable(reference.to_owned()))
}
