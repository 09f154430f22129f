//! Masks secrets when two texts with objects are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use krm_template_engine::{Field, Traced};
use krm_yaml::diagnostic::Result;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, Step, Value};

/// The masks for an unchanged secret, for an old secret and for a new one.
const MASKS: [&str; 3] = ["***", "*** (before)", "*** (after)"];

/// An item without a name. In the path of a secret field it matches every item.
const ITEM: &str = "[]";

/// The secret fields: the kind of the object and the path of the field, with the names of items.
/// The older text may have other indices.
#[derive(Default)]
pub(crate) struct Secrets {
    fields: BTreeSet<Vec<String>>,
    /// The mappings that have keys with a secret, and the other keys of each.
    mappings: BTreeMap<Vec<String>, BTreeSet<String>>,
}

impl Secrets {
    /// The secret fields of these objects.
    pub(crate) fn of(objects: &[Traced]) -> Self {
        let mut secrets = Self::default();
        for object in objects {
            secrets.add(object);
        }
        secrets
    }

    /// Adds the secret fields of an object.
    pub(crate) fn add(&mut self, object: &Traced) {
        let kind = object.value.str_at(&["kind"]).unwrap_or_default();
        let secrets = object.fields.iter().filter(|field| object.is_secret(field));
        for field in secrets.clone() {
            self.add_mapping(object, field);
            let mut way = vec![kind.to_owned()];
            let mut value = Some(&object.value);
            let mut path = FieldPath::root();
            // The old content of a list or mapping is secret whatever its keys are.
            for step in field.path.steps().iter().take(field.written) {
                value = value.and_then(|value| value.step(step));
                match step {
                    Step::Key(key) => {
                        path = path.key(key);
                        way.push(key.clone());
                    }
                    Step::Index(index) => {
                        path = path.index(*index);
                        let name = path.clone().key("name");
                        let hides = secrets.clone().any(|field| field.path == name);
                        let name = value.and_then(|item| item.str_at(&["name"]));
                        way.push(item(name.filter(|_| !hides)));
                    }
                }
            }
            self.fields.insert(way);
        }
    }

    /// Adds the mapping around the field if its key contains a secret.
    fn add_mapping(&mut self, object: &Traced, field: &Field) {
        let kind = object.value.str_at(&["kind"]).unwrap_or_default();
        let mut way = vec![kind.to_owned()];
        let mut value = Some(&object.value);
        for (step, shown) in field.path.steps().iter().zip(field.shown.steps()) {
            if step != shown {
                let keys = self.mappings.entry(way.clone()).or_default();
                let depth = way.len() - 1;
                let others = object.fields.iter().filter(|other| {
                    let steps = other.path.steps();
                    steps.get(..depth) == field.path.steps().get(..depth)
                        && steps.get(depth) == other.shown.steps().get(depth)
                });
                keys.extend(others.filter_map(|other| match other.path.steps().get(depth) {
                    Some(Step::Key(key)) => Some(key.clone()),
                    _ => None,
                }));
            }
            value = value.and_then(|value| value.step(step));
            way.push(match step {
                Step::Key(key) => key.clone(),
                Step::Index(_) => item(value.and_then(|item| item.str_at(&["name"]))),
            });
        }
    }

    /// Whether a key may contain a secret: the secret in the older text is unknown.
    fn hides_key(&self, way: &[String], key: &str) -> bool {
        self.mappings.get(way).is_some_and(|keys| !keys.contains(key))
    }

    /// Whether a field of an object is secret.
    pub(crate) fn hides_field(&self, object: &Value<'_>, field: &FieldPath) -> bool {
        let kind = object.str_at(&["kind"]).unwrap_or_default();
        let mut way = vec![kind.to_owned()];
        let mut value = Some(object);
        field.steps().iter().any(|step| {
            value = value.and_then(|value| value.step(step));
            way.push(match step {
                Step::Key(key) => key.clone(),
                Step::Index(_) => item(value.and_then(|item| item.str_at(&["name"]))),
            });
            self.hides(&way)
        })
    }

    fn hides(&self, way: &[String]) -> bool {
        let is_one = |(secret, step): (&String, &String)| {
            secret == step || (secret == ITEM && step.starts_with('['))
        };
        let of_secret = matches!(way, [kind, key, ..] if kind == "Secret" && (key == "data" || key == "stringData"));
        let mut fields = self.fields.iter();
        of_secret
            || fields.any(|secret| secret.len() == way.len() && secret.iter().zip(way).all(is_one))
    }

    /// Both texts with masked secrets.
    ///
    /// # Errors
    /// If one of them cannot be read, so its secrets are unknown.
    pub(crate) fn masked(&self, old: &Arc<Source>, new: &str) -> Result<(String, String)> {
        let new = Source::new("output", new);
        let found = [self.find(old)?, self.find(&new)?];
        let [before, after] = &found;
        let [_, was, is] = MASKS;
        Ok((mask(old.text(), before, after, was), mask(new.text(), after, before, is)))
    }

    /// The secrets in a text.
    fn find(&self, source: &Arc<Source>) -> Result<Vec<Secret>> {
        let document = Document::parse(source)?;
        let mut found = Vec::new();
        let roots = document.roots().flat_map(|root| {
            let items = root.get("items").filter(|items| items.is_sequence());
            let whole = items.is_none().then_some(root);
            whole.into_iter().chain(items.into_iter().flat_map(Cursor::children))
        });
        for root in roots {
            let text = |keys: &[&str]| {
                let found = keys.iter().try_fold(root, |node, key| node.get(key));
                let text = found.and_then(|node| node.text().ok().flatten());
                text.unwrap_or_default().into_owned()
            };
            let object = [&["metadata", "namespace"], &["metadata", "name"]].map(|keys| text(keys));
            self.look(root, &mut vec![text(&["kind"])], &object, false, &mut found);
        }
        Ok(found)
    }

    fn look(
        &self,
        node: Cursor<'_>,
        way: &mut Vec<String>,
        object: &[String; 2],
        is_inside: bool,
        found: &mut Vec<Secret>,
    ) {
        let is_hidden = is_inside || self.hides(way);
        if !node.is_mapping() && !node.is_sequence() {
            // Without a value, the key may have it: `password:TEXT`.
            let has_value = !node.raw().is_empty();
            let key = node.key_place().range;
            let range = if has_value { node.value_start()..node.end() } else { key };
            let text = node.document().slice(range.clone()).to_owned();
            if is_hidden && !text.is_empty() {
                found.push(Secret { field: (object.clone(), way.clone()), text, range });
            }
            return;
        }
        for child in node.children() {
            let mut is_hidden = is_hidden;
            way.push(if node.is_mapping() {
                let key = child.key().unwrap_or_default().into_owned();
                if self.hides_key(way, &key) {
                    is_hidden = true;
                    found.push(Secret {
                        field: (object.clone(), way.clone()),
                        text: key.clone(),
                        range: child.key_place().range,
                    });
                }
                key
            } else {
                item(child.text_at(["name"]).as_deref())
            });
            self.look(child, way, object, is_hidden, found);
            way.pop();
        }
    }
}

fn item(name: Option<&str>) -> String {
    name.map_or_else(|| ITEM.to_owned(), |name| format!("[{name}]"))
}

/// A secret in a text.
struct Secret {
    /// Namespace and name of its object, and its field.
    field: ([String; 2], Vec<String>),
    text: String,
    range: Range<usize>,
}

/// `text` without its secrets. Those that are not in the `other` text are `changed` ones.
fn mask(text: &str, secrets: &[Secret], other: &[Secret], changed: &str) -> String {
    let mut known: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for secret in other {
        known.entry(&secret.field).or_default().insert(secret.text.trim_end());
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets {
        let is_same = |texts: &BTreeSet<&str>| texts.contains(secret.text.trim_end());
        out.push_str(text.get(done..secret.range.start).unwrap_or_default());
        let [same, ..] = MASKS;
        out.push_str(if known.get(&secret.field).is_some_and(is_same) { same } else { changed });
        // A block scalar ends after its last line.
        out.push_str(secret.text.get(secret.text.trim_end().len()..).unwrap_or_default());
        done = secret.range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
