//! Responses in YAML: converted from JSON, or the posted text with its comments.

use std::cmp::Ordering;

use krm_yaml::source::Source;
use krm_yaml::{Document, Edited, ItemKey, ItemKeys, Value};
use serde_json::Value as Json;

use super::encode::{Item, object};
use super::json;

/// Converts a JSON response to YAML with sorted keys, like sigs.k8s.io/yaml.
pub fn yaml(json: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(json);
    let value = json::value(&text).unwrap_or_default();
    krm_yaml::to_string(&Value::from(sorted(value))).into_bytes()
}

/// Writes a single Template as YAML: the posted YAML text with the system fields added, or
/// converted text if it was posted as JSON.
pub fn yaml_object(item: Item<'_>, out: &mut Vec<u8>) {
    let mut json = Vec::new();
    object(item, &mut json);
    match item.0.yaml().and_then(|posted| edited(posted, &json)) {
        Some(text) => out.extend_from_slice(text.as_bytes()),
        None => out.extend_from_slice(&yaml(&json)),
    }
}

/// Edits the posted text where it differs from the object.
fn edited(posted: &str, json: &[u8]) -> Option<String> {
    const KEYS: ItemKeys = ItemKeys { of_lists: &[ItemKey::field("name")], of_items: &[] };
    let document = Document::parse(&Source::new("posted", posted)).ok()?;
    let root = document.roots().next()?;
    let text = String::from_utf8_lossy(json);
    let value = json::value(&text).ok()?;
    let edits = krm_yaml::update(root, Value::from(value), &KEYS).ok()?;
    let mut text = Edited::new(&document, edits).ok()?.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some(text)
}

/// Sorts the keys of all objects.
fn sorted(value: Json) -> Json {
    match value {
        Json::Array(items) => items.into_iter().map(sorted).collect(),
        Json::Object(entries) => {
            let entries = entries.into_iter().map(|(key, value)| (key, sorted(value)));
            let mut entries: Vec<(String, Json)> = entries.collect();
            entries.sort_by(|(one, _), (other, _)| order(one, other));
            Json::Object(entries.into_iter().collect())
        }
        other => other,
    }
}

/// Compares keys like go-yaml: letters after all other characters, and numbers by value.
fn order(one: &str, other: &str) -> Ordering {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (Some(a), Some(b)) = (one.get(same), other.get(same)) else {
        return one.len().cmp(&other.len());
    };
    let before = one.get(..same).unwrap_or_default();
    let is_after_digit = before.last().is_some_and(char::is_ascii_digit);
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => a.cmp(b),
        (true, false) if is_after_digit => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) if is_after_digit => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            let has_zero = *a == '0' || *b == '0';
            let digits = before.iter().rev().take_while(|c| c.is_ascii_digit());
            let lead = u64::from(has_zero && digits.into_iter().any(|digit| *digit != '0'));
            let number = |text: &[char]| {
                let digits = text.iter().skip(same).map_while(|digit| digit.to_digit(10));
                digits.fold((lead, 0_usize), |(sum, count), digit| {
                    (sum.wrapping_mul(10).wrapping_add(u64::from(digit)), count + 1)
                })
            };
            number(&one).cmp(&number(&other)).then(a.cmp(b))
        }
    }
}
