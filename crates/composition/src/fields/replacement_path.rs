//! Paths to fields, as replacements write them: `spec.containers.[name=web].image`, `items.0`,
//! `containers.*.env`, `annotations.[example.com/name]`, `data.config\.json.url`.
//!
//! Source: kustomize 5.8, `kyaml/utils/pathsplitter.go`, `kyaml/yaml/match.go` (targets),
//! `kyaml/yaml/fns.go` (`PathGetter`, sources) and `api/filters/replacement` (structured data). In
//! a target, `[name=web]` is a regular expression that may match a part of the name; in a source it
//! is the name. A path may lead into a string that holds YAML or JSON, which keeps its layout.

use crate::fields::field_spec::check_keys;
use crate::values::expression;
use krm_core::scalar::text_of;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, Document, DuplicateKeys, Edited, Scalar, Value, name_of, update};

/// The path of a replacement, which may lead to many fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplacementPath {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Key(String),
    /// An item by its position, or a key of digits.
    Index(usize, String),
    /// `-`: the last item of a list.
    Last,
    /// `[field=value]`; of scalars, without a field.
    Item {
        field: String,
        value: String,
    },
    /// `*`: each item of a list.
    Every,
}

/// Sets a value that was found or added.
type Set<'f> = dyn FnMut(&mut Value<'_>) -> Result<(), String> + 'f;

impl ReplacementPath {
    /// Reads a path with dots, or other delimiters, between its parts.
    pub(crate) fn parse(text: &str, delimiter: char) -> Self {
        let parts = split(text, delimiter);
        Self { text: text.to_owned(), parts: parts.into_iter().map(part).collect() }
    }

    /// The number of its parts.
    pub(crate) const fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether it leads to labels or annotations, or to one of them.
    pub(crate) fn is_for_texts(&self) -> bool {
        self.parts.windows(2).any(|pair| match pair {
            [metadata, texts] => is_key(metadata, &["metadata"]) && is_key(texts, TEXTS),
            _ => false,
        })
    }

    /// Whether it leads to what Kubernetes takes only as text: a label, an annotation, or a variable
    /// or an argument of a container.
    pub(crate) fn is_text(&self) -> bool {
        match self.parts.as_slice() {
            [.., metadata, texts, _] if is_key(metadata, &["metadata"]) && is_key(texts, TEXTS) => {
                true
            }
            [.., list, Part::Index(..) | Part::Last | Part::Every] => {
                is_key(list, &["args", "command"])
            }
            [.., list, _, value] => is_key(list, &["env"]) && is_key(value, &["value"]),
            _ => false,
        }
    }

    /// The value at the path.
    ///
    /// # Errors
    /// If a value on the way is of another type than the path says.
    pub(crate) fn find<'v, 's>(
        &self,
        object: &'v Value<'s>,
    ) -> Result<Option<&'v Value<'s>>, String> {
        let mut value = object;
        for part in &self.parts {
            let inner = match (part, &value.data) {
                (_, Data::Scalar(Scalar::Null)) => None,
                (Part::Key(key) | Part::Index(_, key), Data::Mapping(_)) => value.get(key),
                (Part::Index(index, _), Data::Sequence(items)) => items.get(*index),
                (Part::Last, Data::Sequence(items)) => items.last(),
                (Part::Item { field, value }, Data::Sequence(items)) => {
                    let mut items = items.iter();
                    items.find(|item| text_at(item, field).is_some_and(|text| text == *value))
                }
                (Part::Every, _) => {
                    return Err("`*` cannot be part of the path of a source".to_owned());
                }
                (part, data) => return Err(part.not_in(data)),
            };
            let Some(inner) = inner else { return Ok(None) };
            value = inner;
        }
        Ok(Some(value))
    }

    /// Calls `set` with each value at the path, and returns their number. Adds missing values if
    /// `creates` is set.
    ///
    /// # Errors
    /// Those of `set`, and one if a value on the way is of another type than the path says.
    pub(crate) fn visit(
        &self,
        object: &mut Value<'_>,
        creates: bool,
        set: &mut Set<'_>,
    ) -> Result<usize, String> {
        check_keys(self.parts.len())?;
        visit(object, &self.parts, creates, set)
    }

    /// The probable name of the field where the path ends early.
    pub(crate) fn suggestion(&self, object: &Value<'_>) -> Option<String> {
        let mut value = object;
        for part in &self.parts {
            value = match (part, &value.data) {
                (Part::Key(key), Data::Mapping(entries)) => {
                    let Some(inner) = value.get(key) else {
                        let known = entries.iter().map(|(key, _)| key.as_ref());
                        return Some(format!("did you mean `{}`?", closest(key, known)?));
                    };
                    inner
                }
                (Part::Index(index, _), Data::Sequence(items)) => items.get(*index)?,
                (Part::Every | Part::Item { .. }, Data::Sequence(items)) => items.first()?,
                _ => return None,
            };
        }
        None
    }
}

impl std::fmt::Display for ReplacementPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Part {
    fn not_in(&self, data: &Data<'_>) -> String {
        let what = match self {
            Self::Key(key) => format!("`{key}`"),
            Self::Index(index, _) => format!("item {index}"),
            Self::Last => "`-`".to_owned(),
            Self::Item { field, value } => format!("`[{field}={value}]`"),
            Self::Every => "`*`".to_owned(),
        };
        format!("there is no {what} in {}", name_of(data))
    }

    /// The collection to add for this part.
    const fn container<'s>(&self) -> Data<'s> {
        match self {
            Self::Key(_) => Data::Mapping(Vec::new()),
            _ => Data::Sequence(Vec::new()),
        }
    }
}

/// The fields of metadata with texts.
const TEXTS: &[&str] = &["labels", "annotations"];

fn is_key(part: &Part, names: &[&str]) -> bool {
    matches!(part, Part::Key(key) if names.contains(&key.as_str()))
}

/// Splits a path. A delimiter after a backslash or in brackets does not split it; brackets around a
/// key are removed.
fn split(text: &str, delimiter: char) -> Vec<String> {
    let text = text.strip_prefix(delimiter).unwrap_or(text);
    let mut pieces: Vec<String> = Vec::new();
    let mut goes_on = false;
    for piece in text.split(delimiter) {
        let (piece, escapes) =
            piece.strip_suffix('\\').map_or((piece, false), |piece| (piece, true));
        match pieces.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.push(delimiter);
                last.push_str(piece);
            }
            None => pieces.push(piece.to_owned()),
        }
        goes_on = escapes;
    }
    let mut parts = Vec::with_capacity(pieces.len());
    let mut pieces = pieces.into_iter();
    while let Some(mut piece) = pieces.next() {
        if piece.starts_with('[') {
            while !piece.ends_with(']') {
                let Some(next) = pieces.next() else { break };
                piece.push(delimiter);
                piece.push_str(&next);
            }
            if !piece.contains('=') {
                piece = String::from(piece.trim_matches(['[', ']']));
            }
        }
        parts.push(piece);
    }
    parts
}

fn part(text: String) -> Part {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some((field, value)) = inside.and_then(|inside| inside.split_once('=')) {
        return Part::Item { field: field.to_owned(), value: value.to_owned() };
    }
    match (text.as_str(), text.parse()) {
        ("*", _) => Part::Every,
        ("-", _) => Part::Last,
        (_, Ok(index)) => Part::Index(index, text),
        _ => Part::Key(text),
    }
}

/// The text of a field of an item, or of the item itself.
fn text_at<'v>(item: &'v Value<'_>, field: &str) -> Option<&'v str> {
    match field {
        "" => text_of(item),
        field => text_of(item.get(field)?),
    }
}

fn visit(
    value: &mut Value<'_>,
    parts: &[Part],
    creates: bool,
    set: &mut Set<'_>,
) -> Result<usize, String> {
    let Some((part, rest)) = parts.split_first() else {
        set(value)?;
        return Ok(1);
    };
    if value.is_null() {
        if !creates {
            return Ok(0);
        }
        value.data = part.container();
    }
    if let Data::Scalar(Scalar::String(text)) = &value.data {
        let (text, count) =
            visit_structured(text, parts, creates, set)?.ok_or_else(|| part.not_in(&value.data))?;
        value.data = Data::Scalar(Scalar::String(text.into()));
        return Ok(count);
    }
    let not_in = part.not_in(&value.data);
    match (part, &mut value.data) {
        (Part::Key(key) | Part::Index(_, key), Data::Mapping(entries)) => {
            if creates && entries.iter().all(|(name, _)| name != key) {
                entries.push((key.clone().into(), Data::Scalar(Scalar::Null).into()));
            }
            match entries.iter_mut().find(|(name, _)| name == key) {
                Some((_, field)) => visit(field, rest, creates, set),
                None => Ok(0),
            }
        }
        (Part::Index(index, _), Data::Sequence(items)) => {
            if creates && *index == items.len() {
                items.push(Data::Scalar(Scalar::Null).into());
            }
            let count = items.len();
            let item = items.get_mut(*index).ok_or_else(|| match count {
                1 => format!("item {index} does not exist: the list has 1 item"),
                _ => format!("item {index} does not exist: the list has {count} items"),
            })?;
            visit(item, rest, creates, set)
        }
        (Part::Last, Data::Sequence(items)) => match items.last_mut() {
            Some(item) => visit(item, rest, creates, set),
            None => Ok(0),
        },
        (Part::Every, Data::Sequence(items)) => {
            let counts = items.iter_mut().map(|item| visit(item, rest, creates, set));
            counts.sum()
        }
        (Part::Item { field, value }, Data::Sequence(items)) => {
            visit_items(items, field, value, rest, creates, set)
        }
        _ => Err(not_in),
    }
}

fn visit_items(
    items: &mut Vec<Value<'_>>,
    field: &str,
    pattern: &str,
    rest: &[Part],
    creates: bool,
    set: &mut Set<'_>,
) -> Result<usize, String> {
    let expression = expression::compile(pattern);
    let expression =
        expression.map_err(|error| format!("`{pattern}` is not a regular expression: {error}"))?;
    let mut count = 0;
    let mut is_there = false;
    for item in items.iter_mut() {
        if text_at(item, field).is_some_and(|text| expression.is_match(text)) {
            is_there = true;
            count += visit(item, rest, creates, set)?;
        }
    }
    if is_there || !creates {
        return Ok(count);
    }
    let mut item = match field {
        "" => Value::string(pattern.to_owned()),
        field => Value::mapping(vec![(field.to_owned().into(), Value::string(pattern.to_owned()))]),
    };
    count += visit(&mut item, rest, creates, set)?;
    items.push(item);
    Ok(count)
}

/// As [`visit`], in a text that holds YAML or JSON: the changed text, or none if it holds neither.
fn visit_structured(
    text: &str,
    parts: &[Part],
    creates: bool,
    set: &mut Set<'_>,
) -> Result<Option<(String, usize)>, String> {
    let Ok(document) = Document::parse(&Source::new("text", text)) else {
        return Ok(None);
    };
    let mut roots = document.roots();
    let (Some(root), None) = (roots.next(), roots.next()) else {
        return Ok(None);
    };
    let Some(mut value) = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()) else {
        return Ok(None);
    };
    if matches!(value.data, Data::Scalar(_)) {
        return Ok(None);
    }
    let count = visit(&mut value, parts, creates, set)?;
    let edits = update(root, value, &krm_core::item_keys::ITEM_KEYS);
    let edited = edits.and_then(|edits| Edited::new(&document, edits));
    let edited = edited.map_err(|error| error.message.clone())?;
    Ok(Some((edited.to_string(), count)))
}

#[cfg(test)]
mod tests {
    use super::ReplacementPath;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys, Value};

    fn value(text: &str) -> Value<'static> {
        let document = Document::parse(&Source::new("object", text)).unwrap();
        let root = document.roots().next().unwrap();
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
        value.unwrap().into_owned()
    }

    #[track_caller]
    fn check(object: &str, path: &str, creates: bool, expected: &str) {
        let mut object = value(object);
        let path = ReplacementPath::parse(path, '.');
        let outcome = path.visit(&mut object, creates, &mut |value| {
            *value = Value::from("X");
            Ok(())
        });
        let found = match outcome {
            Ok(0) => "nothing".to_owned(),
            Ok(_) => object.to_json(),
            Err(problem) => problem,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn leads_to_fields() {
        check("a: {b: 1}", "a.b", false, r#"{"a":{"b":"X"}}"#);
        check("a: {b.c/d: 1}", "a.[b.c/d]", false, r#"{"a":{"b.c/d":"X"}}"#);
        check("a: {b.c: 1}", r"a.b\.c", false, r#"{"a":{"b.c":"X"}}"#);
        check("a: {0: 1}", "a.0", false, r#"{"a":{"0":"X"}}"#);
        check("a: [1, 2]", "a.1", false, r#"{"a":[1,"X"]}"#);
        check("a: [1, 2]", "a.-", false, r#"{"a":[1,"X"]}"#);
        check("a: [1, 2]", "a.*", false, r#"{"a":["X","X"]}"#);
        check("a: [p, q]", "a.[=q]", false, r#"{"a":["p","X"]}"#);
        let items = "a: [{k: x.y, v: 1}, {k: z, v: 2}]";
        check(items, "a.[k=x.y].v", false, r#"{"a":[{"k":"x.y","v":"X"},{"k":"z","v":2}]}"#);
        check("a: {b: 1}", "a.c", false, "nothing");
        check("a: {b: 1}", "a.b.c", false, "there is no `c` in a number");
        check("a: [1]", "a.5", false, "item 5 does not exist: the list has 1 item");
    }

    #[test]
    fn missing_fields_are_added() {
        check("a: {}", "a.b.0.c", true, r#"{"a":{"b":[{"c":"X"}]}}"#);
        check("a: []", "a.[k=x].v", true, r#"{"a":[{"k":"x","v":"X"}]}"#);
        check("a: []", "a.1", true, "item 1 does not exist: the list has 0 items");
    }

    #[test]
    fn paths_lead_into_strings_with_yaml() {
        let object = "a: |\n  # kept\n  b:\n      c:   1 # too\n";
        check(object, "a.b.c", false, r##"{"a":"# kept\nb:\n    c:   X # too\n"}"##);
        check("a: '{\"b\": {\"c\": 1}}'", "a.b.c", false, r#"{"a":"{\"b\": {\"c\": \"X\"}}"}"#);
        check("a: text", "a.b", false, "there is no `b` in a string");
    }
}
