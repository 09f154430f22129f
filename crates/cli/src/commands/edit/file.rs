//! The file that is edited, as data that remembers its text.

use std::borrow::Cow;

use krm_template_composition::{GROUP, KUSTOMIZATIONS};
use krm_template_exec::io;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::{Place, Source};
use krm_yaml::suggest::closest;
use krm_yaml::{
    Cursor, Data, Document, DuplicateKeys, Edited, ItemKey, ItemKeys, Value, close_text, name_of,
    update_read,
};

const KEYS: ItemKeys =
    ItemKeys { of_lists: &[ItemKey::field("name"), ItemKey::field("path")], of_items: &[] };

/// The path of the file in the current directory.
pub(super) fn find() -> Result<&'static str> {
    let mut found = KUSTOMIZATIONS.into_iter().filter(|name| io::is_there(name));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(one), Some(two)) => {
            let problem = format!(
                "the current directory holds both `{one}` and `{two}`: only one is allowed"
            );
            Err(Diagnostic::error(problem).hint("keep one of them").into())
        }
        (None, _) => {
            let names = KUSTOMIZATIONS.map(|name| format!("`{name}`"));
            let problem = format!("the current directory holds no {}", names.join(", "));
            let error = Diagnostic::error(problem);
            Err(error
                .hint("change to the directory of the Kustomization, or create an empty file")
                .into())
        }
    }
}

/// Reads a file. One without a value becomes an empty Kustomization, below its comments.
pub(super) fn read(path: &str) -> Result<Document> {
    let source = io::read(path)?;
    let document = Document::parse(&source)?;
    if document.roots().any(|root| !root.is_null()) {
        return Ok(document);
    }
    let mut text = source.text().trim_end().to_owned();
    if !text.is_empty() {
        text.push('\n');
    }
    text += &["apiVersion: ", GROUP, "/v1beta1\nkind: Kustomization\n"].concat();
    Document::parse(&Source::new(path, text))
}

/// A Kustomization that is being changed.
pub(super) struct File<'d> {
    root: Cursor<'d>,
    pub(super) value: Value<'d>,
}

impl<'d> File<'d> {
    /// The first Kustomization of a document, as kustomize reads only that.
    pub(super) fn of(document: &'d Document) -> Result<Self> {
        let mut diagnostics = Diagnostics::new();
        let root = document.roots().find(|root| !root.is_null());
        let root = root.ok_or_else(|| Diagnostic::error("expected a Kustomization"))?;
        let value = root.value(DuplicateKeys::Refuse, &mut diagnostics);
        let Some(value) = value.filter(|_| !diagnostics.has_errors()) else {
            let first = diagnostics.iter().next().cloned();
            return Err(first
                .unwrap_or_else(|| Diagnostic::error("the file cannot be read"))
                .into());
        };
        if value.entries().is_none() {
            let wrong = Diagnostic::error("expected a Kustomization, found no mapping");
            return Err(wrong.at(root.place()).into());
        }
        Ok(Self { root, value })
    }

    /// The text after all changes.
    pub(super) fn finish(self) -> Result<String> {
        let document = self.root.document();
        let mut edits = update_read(self.root, self.value, &KEYS)?;
        close_text(document, &mut edits);
        let text = Edited::new(document, edits)?.to_string();
        let start = self.root.place().range.start;
        let source = document.source().text();
        let text = with_head(source.get(..start).unwrap_or_default(), &text);
        Ok(with_end(source, text))
    }

    /// The spelling of a field in the file. As in Go, the case does not matter.
    pub(super) fn key(&self, field: &str) -> Option<String> {
        let keys = || self.value.entries().into_iter().flatten().map(|(key, _)| key);
        let exact = keys().find(|key| *key == field);
        let key = exact.or_else(|| keys().find(|key| key.eq_ignore_ascii_case(field)));
        key.map(ToString::to_string)
    }

    pub(super) fn get(&self, field: &str) -> Option<&Value<'d>> {
        let value = self.value.get(&self.key(field)?)?;
        (!value.is_null()).then_some(value)
    }

    /// The items of a list; none if it is missing.
    pub(super) fn items(&self, field: &str) -> &[Value<'d>] {
        self.get(field).and_then(Value::items).unwrap_or_default()
    }

    pub(super) fn remove(&mut self, field: &str) -> Option<Value<'d>> {
        self.value.remove(&self.key(field)?)
    }

    /// The place of a part of the file.
    pub(super) fn place(&self, value: &Value<'_>) -> Place {
        place(self.root, value)
    }

    /// The whole, for [`place`].
    pub(super) const fn root(&self) -> Cursor<'d> {
        self.root
    }

    /// A list of the file, created if it is missing or null.
    pub(super) fn list(&mut self, field: &str) -> Result<&mut Vec<Value<'d>>> {
        let empty = Data::Sequence(Vec::new());
        let (value, wrong) = self.field(field, empty, "a list", |value| value.items().is_some())?;
        value.items_mut().ok_or(wrong)
    }

    /// A mapping of the file, created if it is missing or null.
    pub(super) fn mapping(&mut self, field: &str) -> Result<&mut Value<'d>> {
        let empty = Data::Mapping(Vec::new());
        let is_mapping = |value: &Value<'_>| value.entries().is_some();
        self.field(field, empty, "a mapping", is_mapping).map(|(value, _)| value)
    }

    fn field(
        &mut self,
        field: &str,
        empty: Data<'d>,
        expected: &str,
        fits: impl Fn(&Value<'_>) -> bool,
    ) -> Result<(&mut Value<'d>, Box<Diagnostic>)> {
        let key = self.key(field).unwrap_or_else(|| field.to_owned());
        if self.value.get(&key).is_none_or(Value::is_null) {
            self.value.insert(Cow::Owned(key.clone()), empty.into());
        }
        let found = self.value.get(&key);
        let name = found.map_or("nothing", |value| name_of(&value.data));
        let place = found.map_or_else(|| self.root.place(), |value| self.place(value));
        let wrong = Diagnostic::error(format!("expected {expected}, found {name}"));
        let wrong = Box::new(wrong.at(place).field(key.clone()));
        match self.value.get_mut(&key) {
            Some(value) if fits(value) => Ok((value, wrong)),
            _ => Err(wrong),
        }
    }

    /// Removes a field without content, as kustomize does.
    pub(super) fn tidy(&mut self, field: &str) {
        let is_empty = self.get(field).is_some_and(|value| {
            value.items().is_some_and(<[_]>::is_empty)
                || value.entries().is_some_and(<[_]>::is_empty)
        });
        if is_empty {
            self.remove(field);
        }
    }
}

/// The text of a file with the lines that are above its first field, before the change: they are
/// about the file, not about that field.
fn with_head(before: &str, text: &str) -> String {
    let head = before.get(..before.rfind('\n').map_or(0, |end| end + 1));
    let head = head.unwrap_or_default();
    if let Some((above, below)) = text.split_once(head) {
        let is_new = |line: &str| line.starts_with("apiVersion:") || line.starts_with("kind:");
        if above.lines().all(is_new) {
            return [head, above, below].concat();
        }
    }
    let lines = head.split_inclusive('\n').zip(text.split_inclusive('\n'));
    let same = lines.take_while(|(old, new)| old == new);
    let same: usize = same.map(|(line, _)| line.len()).sum();
    [head, text.get(same..).unwrap_or_default()].concat()
}

/// The text of a file, which ends with a line break if its source does.
fn with_end(source: &str, mut text: String) -> String {
    let end = if source.contains("\r\n") { "\r\n" } else { "\n" };
    match (source.ends_with('\n'), text.ends_with('\n')) {
        (true, false) => text.push_str(end),
        (false, true) => text.truncate(text.trim_end_matches(['\r', '\n']).len()),
        _ => {}
    }
    text
}

/// The place of a value in what `root` holds.
pub(super) fn place(root: Cursor<'_>, value: &Value<'_>) -> Place {
    let cursor = value.origin.map(|origin| root.document().cursor(origin));
    cursor.unwrap_or(root).place()
}

/// The tip for a word that is close to one of others.
pub(super) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, known).map(|known| format!("did you mean `{known}`?"))
}
