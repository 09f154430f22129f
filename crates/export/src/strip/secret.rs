//! The values of Secrets as text, where they are text.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use krm_yaml::{Data, Value};

/// Moves the values of `data` that are text to `stringData`. Comments among the values are left
/// out, for they may hold one.
pub(super) fn to_text(secret: &mut Value<'_>) {
    let Data::Mapping(fields) = &mut secret.data else {
        return;
    };
    let mut texts: Vec<(Cow<'_, str>, Value<'_>)> = Vec::new();
    let mut bytes: Vec<(Cow<'_, str>, Value<'_>)> = Vec::new();
    let mut place = None;
    for key in ["stringData", "data"] {
        let Some(at) = fields.iter().position(|(name, _)| name == key) else {
            continue;
        };
        place = Some(place.map_or(at, |other: usize| other.min(at)));
        let (_, value) = fields.remove(at);
        let Data::Mapping(entries) = value.data else {
            // The API server refuses it.
            fields.insert(at, (Cow::Borrowed(key), value));
            return;
        };
        for (name, value) in entries {
            // `stringData` wins.
            if texts.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let value = value.without_origin();
            let text = (key == "data").then(|| value.as_str().and_then(text_of)).flatten();
            match text {
                Some(text) => texts.push((name, Value::string(text))),
                None if key == "data" => bytes.push((name, value)),
                None => texts.push((name, value)),
            }
        }
    }
    let Some(place) = place else { return };
    if !texts.is_empty() {
        let texts = Value::mapping(texts);
        fields.insert(place.min(fields.len()), ("stringData".into(), texts));
    }
    if !bytes.is_empty() || fields.iter().all(|(key, _)| key != "stringData") {
        fields.insert(place.min(fields.len()), ("data".into(), Value::mapping(bytes)));
    }
}

/// The text that is encoded in base64, if it is text.
fn text_of(encoded: &str) -> Option<String> {
    let encoded: String = encoded.split_ascii_whitespace().collect();
    let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let is_binary = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
            || ('\u{fdd0}'..='\u{fdef}').contains(&c)
    };
    (!text.contains(is_binary)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::to_text;
    use krm_yaml::Value;

    #[track_caller]
    fn check(secret: &str, expected: &str) {
        let read =
            |text: &str| Value::from(serde_json::from_str::<serde_json::Value>(text).unwrap());
        let mut secret = read(secret);
        to_text(&mut secret);
        assert_eq!(secret.to_json(), expected);
    }

    #[test]
    fn text_moves_to_string_data_and_bytes_stay() {
        check(
            r#"{"data": {"a": "YQ==", "b": "/w==", "c": "Yw=="}, "stringData": {"c": "d"}, "kind": "Secret"}"#,
            r#"{"data":{"b":"/w=="},"stringData":{"c":"d","a":"a"},"kind":"Secret"}"#,
        );
        check(r#"{"data": {"a": "YQ=="}}"#, r#"{"stringData":{"a":"a"}}"#);
        check(r#"{"data": {"a": "not base64"}}"#, r#"{"data":{"a":"not base64"}}"#);
        check(r#"{"data": {}}"#, r#"{"data":{}}"#);
        check(r#"{"kind": "Secret"}"#, r#"{"kind":"Secret"}"#);
    }
}
