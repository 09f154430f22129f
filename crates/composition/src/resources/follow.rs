//! Recognizes resources in the output of other programs.

use std::collections::BTreeMap;

use crate::resources::resource::Resource;
use krm_core::Identity;
use krm_core::annotations::{annotate, remove_empty};
use krm_yaml::Value;

/// Copies of the resources with their number in an annotation, for another program.
pub(crate) fn numbered<'d>(resources: &[Resource<'d>], key: &'static str) -> Vec<Resource<'d>> {
    let mut numbered = resources.to_vec();
    for (index, resource) in numbered.iter_mut().enumerate() {
        annotate(resource.value_mut(), key, &index.to_string());
    }
    numbered
}

/// The resource that each returned object is: by its number, otherwise by its identity. Removes the numbers.
pub(crate) fn pairs(
    sent: &[Resource<'_>],
    back: &mut [Resource<'_>],
    key: &'static str,
) -> Vec<Option<usize>> {
    let identities: Vec<Option<Identity>> = sent.iter().map(Resource::identity).collect();
    let mut by_identity: BTreeMap<&Identity, usize> = BTreeMap::new();
    for (index, identity) in identities.iter().enumerate() {
        if let Some(identity) = identity {
            by_identity.entry(identity).or_insert(index);
        }
    }
    let candidates = back.iter().map(|object| {
        let number = number(object, key);
        let namesake = object.identity();
        let namesake = namesake.and_then(|identity| by_identity.get(&identity).copied());
        // A copy of an object also has its number; the one with the same name is the object itself.
        let both = number.filter(|number| Some(*number) == namesake);
        [both, number, namesake]
    });
    let candidates: Vec<[Option<usize>; 3]> = candidates.collect();
    let mut pairs = vec![None; back.len()];
    let mut is_left = vec![true; sent.len()];
    for way in 0..3 {
        for (pair, candidates) in pairs.iter_mut().zip(&candidates) {
            if pair.is_none()
                && let Some(found) = candidates.get(way).copied().flatten()
                && let Some(is_left) = is_left.get_mut(found)
            {
                *pair = std::mem::take(is_left).then_some(found);
            }
        }
    }
    for (object, pair) in back.iter_mut().zip(&pairs) {
        let sent = pair.and_then(|pair| sent.get(pair));
        take_off(object.value_mut(), key, sent);
    }
    pairs
}

fn number(object: &Resource<'_>, key: &str) -> Option<usize> {
    let number = object.annotation(key)?;
    number.parse().ok()
}

/// Removes the number from an object. The annotation of the resource comes back, and annotations
/// added for the number are removed.
fn take_off(object: &mut Value<'_>, key: &'static str, sent: Option<&Resource<'_>>) {
    let before = sent.and_then(|sent| sent.annotation(key));
    if let Some(before) = before {
        annotate(object, key, before);
    } else if let Some(metadata) = object.get_mut("metadata")
        && let Some(annotations) = metadata.get_mut("annotations")
        && annotations.remove(key).is_some()
    {
        remove_empty(metadata, "annotations");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{numbered, pairs};
    use crate::resources::resource::Resource;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, Position};

    fn read(text: &str) -> Vec<Resource<'static>> {
        let document = Arc::new(Document::parse(&Source::new("test", text)).unwrap());
        let mut diagnostics = Diagnostics::new();
        let roots = document.roots();
        let read = roots.map(|root| Resource::read(&document, root.id(), &mut diagnostics));
        read.map(|one| one.unwrap().into_owned()).collect()
    }

    #[test]
    fn objects_are_recognized_by_number_and_by_name() {
        let object = |name: &str, annotations: &str| {
            format!("kind: A\nmetadata:\n  name: {name}{annotations}\n")
        };
        let number = |number: &str| format!("\n  annotations: {{id: '{number}'}}");
        let sent = ["a", "b", "c"].map(|name| object(name, "")).join("---\n");
        let sent = read(&sent);
        let back = [
            object("copy-of-a", &number("0")),
            object("a", &number("0")),
            object("renamed", &number("1")),
            object("c", ""),
            object("new", &number("x")),
            object("c", &number("9")),
        ];
        let mut back = read(&back.join("---\n"));
        let found = pairs(&sent, &mut back, "id");
        assert_eq!(found, [None, Some(0), Some(1), Some(2), None, None]);
        for object in &back {
            let text = object.text(Position::Document).unwrap();
            assert!(!text.contains("annotations"), "{text}");
        }
    }

    #[test]
    fn an_annotation_of_the_same_name_comes_back() {
        let text = "kind: A\nmetadata:\n  name: a\n  annotations:\n    id: mine # kept\n";
        let sent = read(text);
        let mut back = numbered(&sent, "id");
        let shown = back.first().unwrap().text(Position::Document).unwrap();
        assert!(shown.contains("id: \"0\""), "{shown}");
        assert_eq!(pairs(&sent, &mut back, "id"), [Some(0)]);
        let shown = back.first().unwrap().text(Position::Document).unwrap();
        assert_eq!(shown, text);
    }
}
