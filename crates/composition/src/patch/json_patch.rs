//! JSON patches (RFC 6902) on plain data that remembers its text.
//!
//! Source: kustomize 5.8, `api/filters/patchjson6902`, which uses `evanphx/json-patch` v4. The
//! crate `json-patch` works on JSON, which does not remember its text: items after an added or
//! removed one would lose their comments. So the six operations are implemented here. As upstream,
//! `replace` adds a missing field, and a negative index counts from the end. Upstream an object
//! always has annotations, because kustomize keeps its place in them; so annotations, and labels
//! too, are added where the patch needs them.

use std::sync::Arc;

use crate::values::budget::{Budget, Extent};
use krm_core::pointer;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, EntryLine, FieldPath, Scalar, Value, View, ViewMut, name_of};

/// An operation of RFC 6902.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    action: Action,
    path: Pointer,
    /// The new entry if it goes into a mapping, and takes one line.
    line: Option<Arc<EntryLine>>,
}

#[derive(Clone, Debug)]
enum Action {
    Add(Value<'static>),
    Replace(Value<'static>),
    Test(Value<'static>),
    Remove,
    Move(Pointer),
    Copy(Pointer),
}

/// A JSON pointer (RFC 6901) that does not lead to the whole document.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pointer {
    text: String,
    parents: Vec<String>,
    last: String,
}

/// An error in a patch, with its field.
pub(crate) struct Malformed {
    pub(crate) field: FieldPath,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

const KINDS: [&str; 6] = ["add", "copy", "move", "remove", "replace", "test"];

/// Reads the operations of a patch, which has no origins.
///
/// # Errors
/// If it is not a list of operations.
pub(crate) fn read(patch: &Value<'static>) -> Result<Vec<Operation>, Malformed> {
    let malformed = |field, message: String| Malformed { field, message, hint: None };
    let Some(items) = patch.items() else {
        let message = format!("expected a list of operations, found {}", name_of(&patch.data));
        return Err(malformed(FieldPath::root(), message));
    };
    items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            operation(item).map_err(|error| {
                let field = FieldPath::root().index(index);
                let field = match error.key {
                    "" => field,
                    key => field.key(key),
                };
                Malformed { field, message: error.message, hint: error.hint }
            })
        })
        .collect()
}

struct Wrong {
    key: &'static str,
    message: String,
    hint: Option<String>,
}

fn wrong<T>(key: &'static str, message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { key, message: message.into(), hint: None })
}

fn operation(item: &Value<'static>) -> Result<Operation, Wrong> {
    let Data::Mapping(entries) = &item.data else {
        return wrong("", format!("expected an operation, found {}", name_of(&item.data)));
    };
    let text = |key: &'static str| match item.get(key).map(|value| (value, value.as_str())) {
        Some((_, Some(text))) => Ok(text),
        Some((value, None)) => {
            wrong(key, format!("expected a string, found {}", name_of(&value.data)))
        }
        None => wrong("", format!("the operation has no `{key}`")),
    };
    let kind = text("op")?;
    let path = read_pointer("path", text("path")?)?;
    let from = || read_pointer("from", text("from")?);
    let value = || match item.get("value") {
        Some(value) => Ok(value.clone()),
        None => Err(Wrong {
            key: "",
            message: "the operation has no `value`".to_owned(),
            hint: Some("`value: null` is null".to_owned()),
        }),
    };
    let action = match kind {
        "add" => Action::Add(value()?),
        "replace" => Action::Replace(value()?),
        "test" => Action::Test(value()?),
        "remove" => Action::Remove,
        "move" => Action::Move(from()?),
        "copy" => Action::Copy(from()?),
        other => {
            let hint = closest(other, KINDS).map_or_else(
                || format!("it is one of `{}`", KINDS.join("`, `")),
                |close| format!("did you mean `{close}`?"),
            );
            let message = format!("`{other}` is not an operation of a JSON patch");
            return Err(Wrong { key: "op", message, hint: Some(hint) });
        }
    };
    let known = ["op", "path", "from", "value"];
    if let Some((key, _)) = entries.iter().find(|(key, _)| !known.contains(&key.as_ref())) {
        let hint = closest(key, known).map(|close| format!("did you mean `{close}`?"));
        let message = format!("an operation has no field `{key}`");
        return Err(Wrong { key: "", message, hint });
    }
    Ok(Operation::new(action, path))
}

fn read_pointer(key: &'static str, text: &str) -> Result<Pointer, Wrong> {
    let Some(rest) = text.strip_prefix('/') else {
        let message = format!("`{text}` is not a JSON pointer: it must begin with `/`");
        let hint = if text.is_empty() {
            "the whole object cannot be patched at once: name its fields".to_owned()
        } else {
            // A field path has dots instead.
            let slashes = if text.contains('/') { text.to_owned() } else { text.replace('.', "/") };
            format!("write `/{slashes}`")
        };
        return Err(Wrong { key, message, hint: Some(hint) });
    };
    let mut parents = Vec::new();
    for token in rest.split('/') {
        let Some(token) = pointer::unescape(token) else {
            let message = format!("`{text}` is not a JSON pointer: `~` must be followed by 0 or 1");
            return Err(Wrong {
                key,
                message,
                hint: Some("write `~0` for `~`, and `~1` for `/`".to_owned()),
            });
        };
        parents.push(token);
    }
    let last = parents.pop().unwrap_or_default();
    Ok(Pointer { text: text.to_owned(), parents, last })
}

impl Operation {
    fn new(action: Action, path: Pointer) -> Self {
        let line = match &action {
            Action::Add(value) | Action::Replace(value) if value.scalar().is_some() => {
                EntryLine::of(&path.last, value.clone()).map(Arc::new)
            }
            _ => None,
        };
        Self { action, path, line }
    }

    /// The path of the field.
    pub(crate) fn path(&self) -> &str {
        &self.path.text
    }

    /// Whether it sets or removes the field under these keys as a whole.
    pub(crate) fn sets(&self, keys: &[&str]) -> bool {
        let is_there = |pointer: &Pointer| {
            let own = pointer.parents.iter().chain([&pointer.last]);
            own.eq(keys)
        };
        match &self.action {
            Action::Test(_) => false,
            Action::Move(from) => is_there(&self.path) || is_there(from),
            _ => is_there(&self.path),
        }
    }

    /// A warning and a hint if it added the key `-` to a mapping of an object.
    pub(crate) fn stray_dash(&self, object: ViewMut<'_, '_>) -> Option<(&'static str, String)> {
        let is_added = !matches!(self.action, Action::Remove | Action::Test(_));
        let is_dash = is_added && self.path.last == "-";
        let parent = is_dash.then(|| self.path.parent(object).ok()).flatten()?;
        parent.view().is_mapping().then(|| {
            let start = self.path.text.trim_end_matches('-');
            let hint =
                format!("`-` is the end of a list; to add an entry, write its key: `{start}KEY`");
            ("`-` becomes a key, because it is added to a mapping", hint)
        })
    }

    /// The hint for a pointer that splits a key of a mapping at its `/`.
    pub(crate) fn hint(&self) -> Option<String> {
        let of_keys = |token: &str| {
            matches!(token, "annotations" | "labels" | "matchLabels" | "nodeSelector")
        };
        let parents = &self.path.parents;
        let start = parents.iter().position(|token| of_keys(token))? + 1;
        let is_split = parents.get(start).is_some_and(|token| token.contains('.'));
        let tokens: Vec<&str> = self.path.text.split('/').collect();
        let (way, key) = tokens.split_at_checked(start + 1).filter(|_| is_split)?;
        let (way, key) = (way.join("/"), key.join("~1"));
        Some(format!("write `/` in a key as `~1`: `{way}/{key}`"))
    }

    /// Applies it, unless it takes more than the budget.
    ///
    /// # Errors
    /// If it cannot be applied; the message follows after the path.
    pub(crate) fn apply(&self, mut object: ViewMut<'_, '_>, budget: &Budget) -> Result<(), String> {
        let takes = |value: &Value<'_>| {
            let extent = Extent::of(value);
            extent.check_below(self.path.parents.len() + 1)?;
            Ok::<bool, String>(budget.take(extent.bytes))
        };
        match &self.action {
            Action::Add(value) | Action::Replace(value) if !takes(value)? => Ok(()),
            Action::Add(value) => self.path.add(object, value.clone(), self.line.as_ref()),
            Action::Replace(value) => self.path.replace(object, value, self.line.as_ref()),
            Action::Remove => self.path.remove(object).map(drop),
            Action::Test(value) => self.path.test(object, value),
            Action::Copy(from) => {
                let found = from.find(object.reborrow());
                let found = found.map_err(|problem| format!("{}: {problem}", from.missing()))?;
                let found = found.ok_or_else(|| from.missing())?.value_mut();
                if !takes(found)? {
                    return Ok(());
                }
                let value = found.clone();
                self.path.add(object, value.without_origin(), None)
            }
            Action::Move(from) if from == &self.path => {
                self.path.find(object)?.map(drop).ok_or_else(|| from.missing())
            }
            Action::Move(from) => {
                let way =
                    [self.path.parents.as_slice(), std::slice::from_ref(&self.path.last)].concat();
                if way.starts_with(&from.parents) && way.get(from.parents.len()) == Some(&from.last)
                {
                    return Err(format!("nothing can be moved from `{}` into itself", from.text));
                }
                let value = from.remove(object.reborrow())?;
                Extent::of(&value).check_below(self.path.parents.len() + 1)?;
                self.path.add(object, value, None)
            }
        }
    }
}

impl Pointer {
    fn missing(&self) -> String {
        format!("there is no value at `{}`", self.text)
    }

    /// The collection for the last token.
    fn parent<'v, 's>(&self, object: ViewMut<'v, 's>) -> Result<ViewMut<'v, 's>, String> {
        let mut parents = self.parents.iter();
        parents.try_fold(object, |part, token| inner(part, token))
    }

    fn find<'v, 's>(&self, object: ViewMut<'v, 's>) -> Result<Option<ViewMut<'v, 's>>, String> {
        let parent = self.parent(object)?;
        let Some(length) = parent.view().items().map(Iterator::count) else {
            return Ok(parent.get_mut(&self.last));
        };
        Ok(parent.item_mut(index(&self.last, length, length)?))
    }

    /// Adds missing labels or annotations if the pointer leads into them.
    fn make_parent(&self, object: ViewMut<'_, '_>) {
        let parents: Vec<&str> = self.parents.iter().map(String::as_str).collect();
        let key = match parents.as_slice() {
            ["metadata", "annotations"] => "annotations",
            ["metadata", "labels"] => "labels",
            _ => return,
        };
        if object.view().at(&parents).is_none_or(View::is_null)
            && let Some(metadata) = object.get_mut("metadata")
        {
            metadata.value_mut().mapping_at(key);
        }
    }

    /// Adds a value; `line` is its entry in a mapping.
    fn add<'s>(
        &self,
        mut object: ViewMut<'_, 's>,
        value: Value<'s>,
        line: Option<&Arc<EntryLine>>,
    ) -> Result<(), String> {
        self.make_parent(object.reborrow());
        let last = self.last.as_str();
        let mut parent = self.parent(object)?;
        if parent.view().is_mapping() {
            match (parent.reborrow().get_mut(last), line) {
                (Some(old), _) => put(old.value_mut(), value),
                (None, Some(line)) => parent.insert(line),
                (None, None) => parent.value_mut().insert(last.to_owned().into(), value),
            }
            return Ok(());
        }
        let parent = parent.value_mut();
        let what = name_of(&parent.data);
        let Data::Sequence(items) = &mut parent.data else {
            return Err(format!("`{last}` cannot be added to {what}"));
        };
        let at = match last {
            "-" => items.len(),
            last => index(last, items.len() + 1, items.len())?,
        };
        if at > items.len() {
            return Err(out_of_range(last, items.len()));
        }
        items.insert(at, value);
        Ok(())
    }

    fn replace(
        &self,
        mut object: ViewMut<'_, '_>,
        value: &Value<'static>,
        line: Option<&Arc<EntryLine>>,
    ) -> Result<(), String> {
        self.make_parent(object.reborrow());
        if let Some(old) = self.find(object.reborrow())? {
            put(old.value_mut(), value.clone());
            return Ok(());
        }
        let items = self.parent(object.reborrow())?;
        match items.view().items().map(Iterator::count) {
            Some(length) => Err(out_of_range(&self.last, length)),
            None => self.add(object, value.clone(), line),
        }
    }

    fn remove<'s>(&self, object: ViewMut<'_, 's>) -> Result<Value<'s>, String> {
        let parent = self.parent(object)?.value_mut();
        if let Data::Sequence(items) = &mut parent.data {
            let at = index(&self.last, items.len(), items.len())?;
            if at >= items.len() {
                return Err(out_of_range(&self.last, items.len()));
            }
            return Ok(items.remove(at));
        }
        let removed = parent.remove(&self.last);
        removed.ok_or_else(|| "there is nothing to remove".to_owned())
    }

    fn test(&self, object: ViewMut<'_, '_>, expected: &Value<'_>) -> Result<(), String> {
        let Some(found) = self.find(object)? else {
            // As upstream, a missing value is null.
            return if expected.is_null() {
                Ok(())
            } else {
                Err("there is nothing to test".to_owned())
            };
        };
        if is_equal(found.value_mut(), expected) {
            return Ok(());
        }
        // Neither value is shown: it may be secret.
        Err("the value differs from that of the patch".to_owned())
    }
}

/// The part of a collection that a token names.
fn inner<'v, 's>(part: ViewMut<'v, 's>, token: &str) -> Result<ViewMut<'v, 's>, String> {
    let view = part.view();
    if let Some(length) = view.items().map(Iterator::count) {
        let item = part.item_mut(index(token, length, length)?);
        return item.ok_or_else(|| out_of_range(token, length));
    }
    let Some(entries) = view.entries() else {
        let what = name_of(&part.value_mut().data);
        return Err(format!("there is no `{token}` in {what}"));
    };
    if view.get(token).is_none() {
        let keys: Vec<_> = entries.map(|(key, _)| key).collect();
        return Err(match closest(token, keys.iter().map(AsRef::as_ref)) {
            Some(close) => format!("there is no `{token}`, only `{close}`"),
            None => format!("there is no `{token}`"),
        });
    }
    drop(entries);
    part.get_mut(token).ok_or_else(|| format!("there is no `{token}`"))
}

/// Replaces a value; equal parts keep their text.
fn put<'s>(old: &mut Value<'s>, value: Value<'s>) {
    let before = std::mem::replace(old, value);
    old.adopt(&before, &krm_core::item_keys::ITEM_KEYS);
}

/// Reads an index; a negative one counts from `end`.
fn index(token: &str, end: usize, length: usize) -> Result<usize, String> {
    let (digits, is_negative) = match token.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (token, false),
    };
    if !pointer::is_index(digits) {
        return Err(format!("`{token}` is not an index of a list"));
    }
    let number: usize = digits.parse().map_err(|_| out_of_range(token, length))?;
    if is_negative {
        return end.checked_sub(number).ok_or_else(|| out_of_range(token, length));
    }
    Ok(number)
}

fn out_of_range(token: &str, length: usize) -> String {
    match length {
        1 => format!("item {token} does not exist: the list has 1 item"),
        _ => format!("item {token} does not exist: the list has {length} items"),
    }
}

/// Whether data is equal to JSON: `1.0` is `1`.
fn is_equal(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (&a.data, &b.data) {
        (Data::Scalar(Scalar::Number(a)), Data::Scalar(Scalar::Number(b))) => {
            a == b
                || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a.total_cmp(&b).is_eq())
        }
        (Data::Sequence(a), Data::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Data::Mapping(a), Data::Mapping(_)) => {
            let same = |(key, a): &(std::borrow::Cow<'_, str>, Value<'_>)| {
                b.get(key).is_some_and(|b| is_equal(a, b))
            };
            a.len() == b.entries().unwrap_or_default().len() && a.iter().all(same)
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::values::budget::Budget;
    use krm_yaml::Value;

    fn value(json: &str) -> Value<'static> {
        serde_json::from_str::<serde_json::Value>(json).unwrap().into()
    }

    #[track_caller]
    fn check(object: &str, operation: &str, expected: &str) {
        let patch = value(&format!("[{operation}]"));
        let mut object = value(object);
        let outcome = match read(&patch) {
            Ok(operations) => operations[0].apply((&mut object).into(), &Budget::new()),
            Err(malformed) => Err(malformed.message),
        };
        assert_eq!(outcome.map_or_else(|problem| problem, |()| object.to_json()), expected);
    }

    #[test]
    fn the_six_operations_work() {
        check(r#"{"a":[1,2]}"#, r#"{"op":"add","path":"/a/1","value":9}"#, r#"{"a":[1,9,2]}"#);
        check(r#"{"a":[1]}"#, r#"{"op":"add","path":"/a/-","value":9}"#, r#"{"a":[1,9]}"#);
        check(r#"{"a":[1]}"#, r#"{"op":"add","path":"/a/-1","value":9}"#, r#"{"a":[1,9]}"#);
        check(r#"{"a/b":1,"c~":2}"#, r#"{"op":"remove","path":"/a~1b"}"#, r#"{"c~":2}"#);
        check(r#"{"a/b":1,"c~":2}"#, r#"{"op":"remove","path":"/c~0"}"#, r#"{"a/b":1}"#);
        check(r#"{"a":[1,2]}"#, r#"{"op":"remove","path":"/a/-1"}"#, r#"{"a":[1]}"#);
        check(r#"{"a":1}"#, r#"{"op":"replace","path":"/b","value":2}"#, r#"{"a":1,"b":2}"#);
        check(r#"{"a":1}"#, r#"{"op":"test","path":"/a","value":1.0}"#, r#"{"a":1}"#);
        check(r#"{"a":1}"#, r#"{"op":"test","path":"/b","value":null}"#, r#"{"a":1}"#);
        check(
            r#"{"a":{"b":1}}"#,
            r#"{"op":"copy","from":"/a","path":"/c"}"#,
            r#"{"a":{"b":1},"c":{"b":1}}"#,
        );
        check(
            r#"{"a":{"b":1}}"#,
            r#"{"op":"move","from":"/a/b","path":"/c"}"#,
            r#"{"a":{},"c":1}"#,
        );
    }

    #[test]
    fn failing_operations_are_explained() {
        check(
            r#"{"a":[1]}"#,
            r#"{"op":"add","path":"/a/3","value":1}"#,
            "item 3 does not exist: the list has 1 item",
        );
        check(
            r#"{"a":[1]}"#,
            r#"{"op":"add","path":"/a/00","value":1}"#,
            "`00` is not an index of a list",
        );
        check(
            r#"{"spec":{}}"#,
            r#"{"op":"add","path":"/sepc/x","value":1}"#,
            "there is no `sepc`, only `spec`",
        );
        check(
            r#"{"a":1}"#,
            r#"{"op":"add","path":"/a/b","value":1}"#,
            "`b` cannot be added to a number",
        );
        check(r#"{"a":1}"#, r#"{"op":"remove","path":"/b"}"#, "there is nothing to remove");
        check(
            r#"{"a":1}"#,
            r#"{"op":"test","path":"/a","value":2}"#,
            "the value differs from that of the patch",
        );
        check(
            r#"{"a":{}}"#,
            r#"{"op":"move","from":"/a","path":"/a/b"}"#,
            "nothing can be moved from `/a` into itself",
        );
        check("{}", r#"{"op":"ad","path":"/a"}"#, "`ad` is not an operation of a JSON patch");
        check(
            "{}",
            r#"{"op":"add","path":"a"}"#,
            "`a` is not a JSON pointer: it must begin with `/`",
        );
        check(
            "{}",
            r#"{"op":"add","path":"/~2"}"#,
            "`/~2` is not a JSON pointer: `~` must be followed by 0 or 1",
        );
    }
}
