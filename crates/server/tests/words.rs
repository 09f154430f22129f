//! Comparison of errors about malformed JSON and wrong types with recorded ones. Our messages have
//! other words than Go's, but name the same field and the same type.

use std::sync::LazyLock;

use regex_lite::Regex;

/// The words of Go's `encoding/json`, and of those who add to them.
static GO: LazyLock<Regex> = LazyLock::new(|| {
    let wrapped = "(?:error unmarshaling JSON: while decoding JSON: )?";
    let types =
        r"json: cannot unmarshal (\w+) into Go (?:value|struct field \w*\.([\w.]+)) of type .*";
    let syntax = "invalid character .*|unexpected end of JSON input|exceeded max depth";
    Regex::new(&format!("(?s)(?:^|: )({wrapped}{types}|{syntax})$")).unwrap()
});
/// The words of ours.
static OURS: LazyLock<Regex> = LazyLock::new(|| {
    let types = r"(?:(\S+): )?expected [a-z0-9 -]+, got (\w+)";
    let syntax = r".* at line [0-9]+ column [0-9]+|nested more than 1000 levels deep";
    let token = "the token is not from this server";
    Regex::new(&format!("^(?:{types}|{syntax}|{token})$")).unwrap()
});
static INDEX: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[[0-9]+\]").unwrap());

/// Returns `true` if both messages are the same error about JSON or a type.
pub(crate) fn are_same_error(recorded: &str, ours: &str) -> bool {
    let Some(go) = GO.captures(recorded) else {
        return false;
    };
    let (before, _) = recorded.split_at(go.get(1).unwrap().start());
    let Some(own) = ours.strip_prefix(before).and_then(|own| OURS.captures(own)) else {
        return false;
    };
    let text = |found: Option<regex_lite::Match<'_>>| found.map(|found| found.as_str().to_owned());
    // Go leaves out indexes, and the keys of a map.
    let field = text(own.get(1)).map(|field| INDEX.replace_all(&field, "").into_owned());
    let is_field = match (text(go.get(3)), field) {
        (Some(theirs), Some(field)) => field == theirs || field.starts_with(&format!("{theirs}.")),
        (theirs, field) => theirs == field,
    };
    is_field && text(go.get(2)) == text(own.get(2))
}
