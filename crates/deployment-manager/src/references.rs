//! References in texts: `$(ref.NAME.PATH)`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use krm_yaml::{Data, NodeId, Scalar, Value};

use crate::repr;

const OPEN: &str = "$(ref.";

/// A reference in a text.
#[derive(Clone, Debug)]
pub struct Reference<'t> {
    /// The whole of it, in the text.
    pub range: Range<usize>,
    /// The name of the resource.
    pub name: &'t str,
    /// The path in that resource.
    pub path: &'t str,
}

/// A text with a `$(ref.` that has no end or no path.
#[derive(Clone, Copy, Debug)]
pub struct Malformed;

/// The first reference from an offset on.
///
/// # Errors
/// If it is incomplete.
pub fn find(text: &str, from: usize) -> Result<Option<Reference<'_>>, Malformed> {
    let rest = text.get(from..).unwrap_or_default();
    let Some(at) = first(rest) else {
        return Ok(None);
    };
    let start = from + at;
    let inside = rest.get(at + OPEN.len()..).unwrap_or_default();
    let mut depth = 1_usize;
    let end = inside.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let content = end.and_then(|end| inside.get(..end)).ok_or(Malformed)?;
    let (name, path) = content.split_once('.').ok_or(Malformed)?;
    Ok(Some(Reference { range: start..start + OPEN.len() + content.len() + 1, name, path }))
}

/// Whether a text has a reference, complete or not.
pub fn has_reference(text: &str) -> bool {
    first(text).is_some()
}

/// Whether texts in a value have references.
///
/// # Errors
/// If the first one is incomplete.
pub fn are_in(value: &Value<'_>) -> Result<bool, Malformed> {
    let here = find(value.as_str().unwrap_or_default(), 0)?.is_some();
    value.children().try_fold(here, |is, value| Ok(is || are_in(value)?))
}

/// Where the first reference begins. Most texts have no `$`, and a search for it is fast.
fn first(text: &str) -> Option<usize> {
    let dollar = memchr::memchr(b'$', text.as_bytes())?;
    let at = text.get(dollar..)?.find(OPEN)?;
    Some(dollar + at)
}

/// The complete references in a text.
pub fn all(text: &str) -> impl Iterator<Item = Reference<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = find(text, from).ok().flatten()?;
        from = found.range.end;
        Some(found)
    })
}

/// The names of resources that a resource needs: those it refers to, and those of `dependsOn`.
pub fn needed(resource: &Value<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    add_names(resource, &mut names);
    names.extend(depends_on(resource));
    if let Some(own) = resource.str_at(&["name"]) {
        names.remove(own);
    }
    names
}

/// The names under `metadata.dependsOn` of a resource.
pub fn depends_on(resource: &Value<'_>) -> impl Iterator<Item = String> {
    let names = resource.at(&["metadata", "dependsOn"]);
    let names = names.and_then(Value::items).unwrap_or_default();
    names.iter().map(repr::text)
}

/// Adds the names in the references of a value.
pub fn add_names(value: &Value<'_>, names: &mut BTreeSet<String>) {
    let text = value.as_str().unwrap_or_default();
    names.extend(all(text).map(|reference| reference.name.to_owned()));
    value.children().for_each(|value| add_names(value, names));
}

/// An error in a reference, and the text around it.
pub type Misplaced = (Problem, Option<NodeId>);

/// An error in a reference.
#[derive(Clone, Debug)]
pub enum Problem {
    /// It has no end or no path; with the text.
    Malformed(String),
    /// Its path leads to no value.
    NoValue {
        /// The reference as it is written.
        reference: String,
        /// The name of the resource.
        name: String,
        /// The path in the resource.
        path: String,
    },
    /// The values in place of references are larger than allowed.
    TooLarge,
}

/// How many bytes values may have together that are put in place of references, if nothing else
/// limits them.
pub const MAX_REPLACED: usize = 256 << 20;

/// Puts the outputs of `outputs`, by the names of resources, in place of the references to them.
/// Other references stay. `left` is how many bytes the values may have, of which theirs are taken.
///
/// # Errors
/// At the first reference that is malformed, has no value, or exceeds what is left.
pub fn replace<'v>(
    value: &mut Value<'v>,
    outputs: &BTreeMap<String, Value<'v>>,
    left: &mut usize,
) -> Result<(), Misplaced> {
    if let Some(text) = value.as_str() {
        if has_reference(text)
            && let Some(new) =
                replaced(text, outputs, left).map_err(|problem| (problem, value.origin))?
        {
            value.set(new.data);
        }
        return Ok(());
    }
    value.children_mut().try_for_each(|value| replace(value, outputs, left))
}

/// The text with the outputs in it, or the output if the text is one reference; `None` if nothing
/// is replaced.
fn replaced<'v>(
    text: &str,
    outputs: &BTreeMap<String, Value<'v>>,
    left: &mut usize,
) -> Result<Option<Value<'v>>, Problem> {
    let mut new = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(reference) =
        find(text, from).map_err(|Malformed| Problem::Malformed(text.to_owned()))?
    {
        from = reference.range.end;
        let Some(known) = outputs.get(reference.name) else {
            continue;
        };
        let spelled = || text.get(reference.range.clone()).unwrap_or_default();
        let value = follow(known, reference.path).ok_or_else(|| Problem::NoValue {
            reference: spelled().to_owned(),
            name: reference.name.to_owned(),
            path: reference.path.to_owned(),
        })?;
        *left = left.checked_sub(size(&value)).ok_or(Problem::TooLarge)?;
        if reference.range == (0..text.len()) {
            return Ok(Some(value.without_origin()));
        }
        new.push_str(text.get(copied..reference.range.start).unwrap_or_default());
        match value.as_str() {
            Some(text) => new.push_str(text),
            None => new.push_str(&value.to_json()),
        }
        copied = from;
    }
    if copied == 0 {
        return Ok(None);
    }
    new.push_str(text.get(copied..).unwrap_or_default());
    Ok(Some(Value::string(new)))
}

/// The bytes that each part of a value counts, apart from its text.
const PART: usize = 8;

/// About how many bytes a value takes when it is written.
pub fn size(value: &Value<'_>) -> usize {
    let inside = match &value.data {
        Data::Scalar(Scalar::String(text) | Scalar::Number(text)) => text.len(),
        Data::Scalar(_) => 0,
        Data::Sequence(items) => items.iter().map(size).sum(),
        Data::Mapping(entries) => entries.iter().map(|(key, value)| key.len() + size(value)).sum(),
    };
    inside + PART
}

/// A step of a JSON path.
enum Step<'p> {
    Key(&'p str),
    Index(usize),
    All,
}

/// The value at a JSON path: `a`, `a.b`, `a[1]`, or `a[*]`, whose matches are a list if there are
/// several.
pub fn follow<'v>(value: &Value<'v>, path: &str) -> Option<Value<'v>> {
    let mut found = vec![value];
    for step in steps(path)? {
        let next = found.iter().flat_map(|value| children(value, &step));
        found = next.collect();
    }
    match found.as_slice() {
        [] => None,
        [one] => Some((*one).clone()),
        several => Some(Value::sequence(several.iter().map(|one| (*one).clone()).collect())),
    }
}

fn children<'c, 'v>(value: &'c Value<'v>, step: &Step<'_>) -> Vec<&'c Value<'v>> {
    match (step, &value.data) {
        (Step::Key(key), Data::Mapping(_)) => value.get(key).into_iter().collect(),
        (Step::Index(index), Data::Sequence(items)) => items.get(*index).into_iter().collect(),
        (Step::All, Data::Sequence(items)) => items.iter().collect(),
        (Step::All, Data::Mapping(entries)) => entries.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (index, after) = inside.split_once(']')?;
            let quoted = |quote| index.strip_prefix(quote)?.strip_suffix(quote);
            steps.push(match (index, quoted('\'').or_else(|| quoted('"'))) {
                ("*", _) => Step::All,
                (_, Some(key)) => Step::Key(key),
                _ => Step::Index(index.parse().ok()?),
            });
            rest = after;
            continue;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        match key {
            "" => return None,
            "*" => steps.push(Step::All),
            key => steps.push(Step::Key(key)),
        }
        rest = after;
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{MAX_REPLACED, Problem, all, find, replace};
    use krm_yaml::Value;

    fn json(text: &str) -> Value<'static> {
        Value::from(serde_json::from_str::<serde_json::Value>(text).unwrap())
    }

    fn replaced(text: &str) -> Result<String, String> {
        replaced_within(text, MAX_REPLACED)
    }

    fn replaced_within(text: &str, mut left: usize) -> Result<String, String> {
        let outputs = r#"{"ip": "10.0.0.1", "port": 80, "ips": ["a", "b"], "vm": {"zone": "z"},
            "more": "$(ref.vm.ip)"}"#;
        let outputs = BTreeMap::from([("vm".to_owned(), json(outputs))]);
        let mut value = Value::string(text.to_owned());
        match replace(&mut value, &outputs, &mut left) {
            Ok(()) => Ok(value.to_json()),
            Err((Problem::Malformed(text), _)) => Err(format!("malformed: {text}")),
            Err((Problem::NoValue { reference, .. }, _)) => Err(format!("no value: {reference}")),
            Err((Problem::TooLarge, _)) => Err("too large".to_owned()),
        }
    }

    #[test]
    fn a_name_ends_at_the_first_dot_and_a_path_at_its_parenthesis() {
        let found = find("x $(ref.my-vm.a[b(c)].d) y)", 0).unwrap().unwrap();
        assert_eq!((found.name, found.path), ("my-vm", "a[b(c)].d"));
        assert_eq!(found.range, 2..24);
        assert_eq!(all("$(ref.a.b)$(out.c.d)$(ref.e.f)").count(), 2);
    }

    #[test]
    fn references_are_replaced_by_outputs() {
        for (text, expected) in [
            ("$(ref.vm.ip)", r#""10.0.0.1""#),
            ("http://$(ref.vm.ip):$(ref.vm.port)/", r#""http://10.0.0.1:80/""#),
            ("$(ref.vm.port)", "80"),
            ("$(ref.vm.ips[1])", r#""b""#),
            ("$(ref.vm.ips[*])", r#"["a","b"]"#),
            ("$(ref.vm.vm.zone)", r#""z""#),
            ("$(ref.vm.vm)", r#"{"zone":"z"}"#),
            ("$(ref.other.ip)", r#""$(ref.other.ip)""#),
            ("$(out.vm.ip)", r#""$(out.vm.ip)""#),
            // Inserted text is not read again.
            ("<$(ref.vm.more)>", r#""<$(ref.vm.ip)>""#),
        ] {
            assert_eq!(replaced(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_reference_without_a_value_or_an_end_is_an_error() {
        for (text, expected) in [
            ("$(ref.vm.x)", "no value: $(ref.vm.x)"),
            ("$(ref.vm.ips[7])", "no value: $(ref.vm.ips[7])"),
            ("$(ref.vm.ip", "malformed: $(ref.vm.ip"),
            ("$(ref.vm)", "malformed: $(ref.vm)"),
        ] {
            assert_eq!(replaced(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn values_in_place_of_references_are_limited() {
        // The text has 8 bytes, and a part counts 8 more.
        assert_eq!(replaced_within("$(ref.vm.ip)$(ref.vm.ip)", 32).map(drop), Ok(()));
        let too_large = Err("too large".to_owned());
        assert_eq!(replaced_within("$(ref.vm.ip)$(ref.vm.ip)", 31), too_large);
    }
}
