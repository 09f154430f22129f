//! Changes of the value of one node, by field path.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::edit::pairing::ItemKeys;
use crate::path::{FieldPath, Step};
use crate::read::document::Cursor;
use crate::read::values::DuplicateKeys;
use crate::suggest::closest;
use crate::value::{Data, Value};
use crate::write::guard::name_of;

/// The position of a new entry of a mapping.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Editor, Spot};
///
/// let document = Document::parse(&Source::new("web.yaml", "kind: Pod\nspec: {}\n"))?;
/// let mut editor = Editor::new(document.roots().next().expect("not empty"))?;
/// editor.insert(&"apiVersion".parse()?, "v1", Spot::Before("kind"))?;
/// editor.insert(&"immutable".parse()?, true, Spot::After("kind"))?;
/// editor.insert(&"status".parse()?, "new", Spot::End)?;
/// let text = "apiVersion: v1\nkind: Pod\nimmutable: true\nspec: {}\nstatus: new\n";
/// assert_eq!(editor.finish()?.to_string(), text);
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot<'k> {
    /// After all entries of the mapping.
    End,
    /// Before the entry with this key.
    Before(&'k str),
    /// After the entry with this key.
    After(&'k str),
}

/// Changes one node of a [`Document`](crate::Document), such as an object or one of its fields. The
/// [module](crate::edit) describes how comments and layout change.
///
/// [`finish`](Self::finish) reads the whole text again. To change many nodes of one text, collect the
/// edits of [`update`](crate::update).
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Editor};
///
/// let text = "kind: Deployment\nspec:\n  # For the holidays.\n  replicas: 2 # soon 3\n";
/// let document = Document::parse(&Source::new("shop.yaml", text))?;
/// let mut editor = Editor::new(document.roots().next().expect("not empty"))?;
/// editor.set(&"spec.replicas".parse()?, 3)?;
/// assert_eq!(
///     editor.finish()?.to_string(),
///     "kind: Deployment\nspec:\n  # For the holidays.\n  replicas: 3 # soon 3\n"
/// );
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Debug)]
pub struct Editor<'d> {
    pub(super) node: Cursor<'d>,
    pub(crate) value: Value<'d>,
    /// Removed and renamed paths, for the hints of later errors.
    gone: Vec<FieldPath>,
    /// The fields by which items of lists are recognized.
    keys: ItemKeys,
}

impl<'d> Editor<'d> {
    /// Reads the node to be edited.
    ///
    /// # Errors
    /// If it cannot be read, for example because of a duplicate key.
    pub fn new(node: Cursor<'d>) -> Result<Self> {
        let mut diagnostics = Diagnostics::new();
        match node.value(DuplicateKeys::Refuse, &mut diagnostics) {
            Some(value) => Ok(Self { node, value, gone: Vec::new(), keys: ItemKeys::NONE }),
            None => Err(first_error(&diagnostics)),
        }
    }

    /// Recognizes items of lists by these fields: in a list that is [set](Self::set), an item that
    /// was there before keeps its text.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor, ItemKey, ItemKeys, Value};
    /// # fn main() -> Result<()> {
    /// # let text = "- name: a # first\n- name: b # second\n";
    /// # let document = Document::parse(&Source::new("a.yaml", text))?;
    /// # let other = Document::parse(&Source::new("b.yaml", "[{name: b, port: 2}, {name: a, port: 1}]"))?;
    /// # let [root, other] = [&document, &other].map(|one| one.roots().next().expect("not empty"));
    /// // - name: a # first
    /// // - name: b # second
    /// const KEYS: ItemKeys = ItemKeys { of_lists: &[ItemKey::field("name")], ..ItemKeys::NONE };
    /// let mut editor = Editor::new(root)?.with_item_keys(KEYS);
    /// let list = Editor::new(other)?.value().clone().into_owned(); // b, a
    /// editor.set(&"".parse()?, list)?;
    /// assert_eq!(
    ///     editor.finish()?.to_string(),
    ///     "- name: b # second\n  port: 2\n- name: a # first\n  port: 1\n"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn with_item_keys(mut self, keys: ItemKeys) -> Self {
        self.keys = keys;
        self
    }

    /// The data as it is now, with all operations so far.
    pub const fn value(&self) -> &Value<'d> {
        &self.value
    }

    /// The data at `path` as it is now.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("a.yaml", "spec:\n  type: NodePort\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // spec:
    /// //   type: NodePort
    /// let mut editor = Editor::new(root)?;
    /// let path = "spec.type".parse()?;
    /// if editor.get(&path).and_then(|kind| kind.as_str()) == Some("NodePort") {
    ///     editor.set(&path, "ClusterIP")?;
    /// }
    /// assert_eq!(editor.finish()?.to_string(), "spec:\n  type: ClusterIP\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, path: &FieldPath) -> Option<&Value<'d>> {
        self.value.lookup(path)
    }

    /// Sets the value at `path`. The equal parts of a mapping or list keep their text and comments.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor};
    /// # fn main() -> Result<()> {
    /// # let source = Source::new("web.yaml", "spec:\n  image: 'web:1' # pinned\n");
    /// # let document = Document::parse(&source)?;
    /// # let root = document.roots().next().expect("not empty");
    /// // spec:
    /// //   image: 'web:1' # pinned
    /// let mut editor = Editor::new(root)?;
    /// editor.set(&"spec.image".parse()?, "web:2")?;
    /// assert_eq!(editor.finish()?.to_string(), "spec:\n  image: 'web:2' # pinned\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If `path` does not exist.
    pub fn set(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        let keys = self.keys;
        let old = self.find(path)?;
        let mut value = value.into();
        value.adopt(old, &keys);
        *old = value;
        Ok(())
    }

    /// Sets the value at `path`, or adds it after the other entries. Missing mappings on the way
    /// are created.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("web.yaml", "metadata:\n  name: web\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // metadata:
    /// //   name: web
    /// let mut editor = Editor::new(root)?;
    /// editor.put(&"metadata.labels.app".parse()?, "web")?;
    /// assert_eq!(
    ///     editor.finish()?.to_string(),
    ///     "metadata:\n  name: web\n  labels:\n    app: web\n"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a value on the way exists, and is neither null, a mapping nor an existing item.
    pub fn put(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        let mut way = FieldPath::root();
        for step in path.steps() {
            if let Step::Key(key) = step {
                let entries = self.entries(&way)?;
                if entries.iter().all(|(name, _)| name != key) {
                    entries.push((Cow::Owned(key.clone()), null()));
                }
            }
            way = step.below(way);
        }
        self.set(path, value)
    }

    /// Replaces the value at `path`: all of it is written as new text, and its comments are
    /// removed.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor, Value};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("a.yaml", "args: # all\n  # the first\n  - 'a'\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // args: # all
    /// //   # the first
    /// //   - 'a'
    /// let mut editor = Editor::new(root)?;
    /// editor.replace(&"args".parse()?, Value::sequence(vec!["a".into(), "b".into()]))?;
    /// assert_eq!(editor.finish()?.to_string(), "args: # all\n  - a\n  - b\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If `path` does not exist.
    pub fn replace(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        let old = self.find(path)?;
        let origin = old.origin;
        *old = value.into().without_origin();
        // The entry stays; nothing in it is found again.
        old.origin = origin;
        Ok(())
    }

    /// Adds an entry to a mapping; one that is null becomes a mapping.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor, Spot};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("a.yaml", "kind: Pod\n# who\nmetadata: {}\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // kind: Pod
    /// // # who
    /// // metadata: {}
    /// let mut editor = Editor::new(root)?;
    /// editor.insert(&"apiVersion".parse()?, "v1", Spot::Before("kind"))?;
    /// editor.insert(&"metadata.name".parse()?, "web", Spot::End)?;
    /// assert_eq!(
    ///     editor.finish()?.to_string(),
    ///     "apiVersion: v1\nkind: Pod\n# who\nmetadata:\n  name: web\n"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the entry exists, or its mapping or neighbour does not exist.
    pub fn insert(
        &mut self,
        path: &FieldPath,
        value: impl Into<Value<'d>>,
        spot: Spot<'_>,
    ) -> Result<()> {
        let Some((parent, Step::Key(key))) = path.split_last() else {
            return Err(self.error(path, "is not an entry of a mapping: `insert` adds entries"));
        };
        if self.value.lookup(path).is_some() {
            return Err(self.error(path, "already exists"));
        }
        let entries = self.entries(&parent)?;
        let position = |neighbour: &str| entries.iter().position(|(name, _)| name == neighbour);
        let index = match spot {
            Spot::End => Some(entries.len()),
            Spot::Before(neighbour) => position(neighbour),
            Spot::After(neighbour) => position(neighbour).map(|at| at + 1),
        };
        match (index, spot) {
            (Some(index), _) => {
                entries.insert(index, (Cow::Owned(key.clone()), value.into().without_origin()));
                Ok(())
            }
            (None, Spot::Before(key) | Spot::After(key)) => Err(self.missing(&parent.key(key))),
            (None, Spot::End) => Ok(()),
        }
    }

    /// Removes an entry of a mapping or an item of a list, with its comments.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("a.yaml", "a: 1\n# why\nb: 2 # two\n\nc: 3\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // a: 1
    /// // # why
    /// // b: 2 # two
    /// //
    /// // c: 3
    /// let mut editor = Editor::new(root)?;
    /// editor.remove(&"b".parse()?)?;
    /// assert_eq!(editor.finish()?.to_string(), "a: 1\n\nc: 3\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If `path` does not exist, or is the whole node.
    pub fn remove(&mut self, path: &FieldPath) -> Result<Value<'d>> {
        self.find(path)?;
        let removed = match path.split_last() {
            None => return Err(self.error(path, "cannot be removed: it is the whole value")),
            Some((parent, Step::Key(key))) => self.find(&parent)?.remove(key),
            Some((parent, Step::Index(index))) => {
                let items = self.find(&parent)?.items_mut();
                items.map(|items| items.remove(*index))
            }
        };
        self.gone.push(path.clone());
        removed.ok_or_else(|| self.missing(path))
    }

    /// Gives the entry at `path` another key, in its place.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("a.yaml", "data:\n  \"old\": 1 # one\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // data:
    /// //   "old": 1 # one
    /// let mut editor = Editor::new(root)?;
    /// editor.rename(&"data.old".parse()?, "new")?;
    /// assert_eq!(editor.finish()?.to_string(), "data:\n  \"new\": 1 # one\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If `path` does not exist or is not an entry of a mapping, or if the mapping has the new key.
    pub fn rename(&mut self, path: &FieldPath, key: &str) -> Result<()> {
        self.find(path)?;
        let Some((parent, Step::Key(old))) = path.split_last() else {
            return Err(self.error(path, "is not an entry of a mapping and has no key"));
        };
        if old == key {
            return Ok(());
        }
        let renamed = parent.clone().key(key);
        if self.value.lookup(&renamed).is_some() {
            return Err(self.error(&renamed, "already exists"));
        }
        let mut entries = self.entries(&parent)?.iter_mut();
        if let Some((name, _)) = entries.find(|(name, _)| name == old) {
            *name = Cow::Owned(key.to_owned());
        }
        self.gone.push(path.clone());
        Ok(())
    }

    /// Adds an item at the end of the list at `path`; one that is null becomes a list.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("a.yaml", "args: [a, b]\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // args: [a, b]
    /// let mut editor = Editor::new(root)?;
    /// editor.push(&"args".parse()?, "c")?;
    /// assert_eq!(editor.finish()?.to_string(), "args: [a, b, c]\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the value at `path` is not a list.
    pub fn push(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        self.items(path)?.push(value.into().without_origin());
        Ok(())
    }

    /// Inserts an item into a list at `path`; the items from there on move back by one.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor};
    /// # fn main() -> Result<()> {
    /// # let document = Document::parse(&Source::new("a.yaml", "args:\n# the first\n- a\n- b\n"))?;
    /// # let root = document.roots().next().expect("not empty");
    /// // args:
    /// // # the first
    /// // - a
    /// // - b
    /// let mut editor = Editor::new(root)?;
    /// editor.insert_item(&"args[0]".parse()?, "new")?;
    /// assert_eq!(editor.finish()?.to_string(), "args:\n- new\n# the first\n- a\n- b\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the value at `path` is not a list, or the list is shorter than the index.
    pub fn insert_item(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        let Some((parent, Step::Index(index))) = path.split_last() else {
            return Err(self.error(path, "is not an item of a list: `insert_item` adds items"));
        };
        let items = self.items(&parent)?;
        if *index > items.len() {
            return Err(self.missing(path));
        }
        items.insert(*index, value.into().without_origin());
        Ok(())
    }

    fn find(&mut self, path: &FieldPath) -> Result<&mut Value<'d>> {
        if self.value.lookup(path).is_none() {
            return Err(self.missing(path));
        }
        let missing = || Diagnostic::error(format!("`{path}` does not exist")).into();
        self.value.lookup_mut(path).ok_or_else(missing)
    }

    /// The entries of the mapping at `path`; null becomes an empty mapping.
    fn entries(&mut self, path: &FieldPath) -> Result<&mut Vec<(Cow<'d, str>, Value<'d>)>> {
        let problem = self.not_a(path, "a mapping");
        let value = self.find(path)?;
        if value.is_null() {
            value.data = Data::Mapping(Vec::new());
        }
        match &mut value.data {
            Data::Mapping(entries) => Ok(entries),
            _ => Err(problem),
        }
    }

    /// The items of the list at `path`; null becomes an empty list.
    fn items(&mut self, path: &FieldPath) -> Result<&mut Vec<Value<'d>>> {
        let problem = self.not_a(path, "a list");
        let value = self.find(path)?;
        if value.is_null() {
            value.data = Data::Sequence(Vec::new());
        }
        value.items_mut().ok_or(problem)
    }

    fn not_a(&self, path: &FieldPath, expected: &str) -> Box<Diagnostic> {
        let found = self.value.lookup(path).map_or("nothing", |value| name_of(&value.data));
        self.error(path, &format!("is {found}, expected {expected}"))
    }

    /// The error for a `path` that does not exist: it names the first step that is missing.
    fn missing(&self, path: &FieldPath) -> Box<Diagnostic> {
        let mut value = &self.value;
        let mut way = FieldPath::root();
        for step in path.steps() {
            let Some(next) = value.step(step) else {
                return self.missing_step(&way, value, step);
            };
            value = next;
            way = step.below(way);
        }
        self.error(path, "does not exist")
    }

    fn missing_step(&self, way: &FieldPath, value: &Value<'_>, step: &Step) -> Box<Diagnostic> {
        let expected = match (step, &value.data) {
            (Step::Key(_), Data::Mapping(_)) | (Step::Index(_), Data::Sequence(_)) => None,
            (Step::Key(_), _) => Some("a mapping"),
            (Step::Index(_), _) => Some("a list"),
        };
        if let Some(expected) = expected {
            return self.not_a(way, expected);
        }
        let path = step.below(way.clone());
        let error = self.error(&path, "does not exist");
        if self.gone.contains(&path) {
            return error.hint("an edit before this one removed or renamed it").into();
        }
        match (step, &value.data) {
            (Step::Key(key), Data::Mapping(entries)) => {
                let known = closest(key, entries.iter().map(|(name, _)| name.as_ref()));
                error.maybe_hint(known.map(|known| format!("did you mean `{known}`?"))).into()
            }
            (_, Data::Sequence(items)) => {
                error.hint(format!("the list has {} items, counted from 0", items.len())).into()
            }
            _ => error,
        }
    }

    /// An error about `path`, placed at the nearest value in the text.
    fn error(&self, path: &FieldPath, problem: &str) -> Box<Diagnostic> {
        let mut origin = self.node.id();
        let mut value = &self.value;
        for step in path.steps() {
            let Some(next) = value.step(step) else { break };
            origin = next.origin.unwrap_or(origin);
            value = next;
        }
        let name =
            if path.steps().is_empty() { "the object".to_owned() } else { format!("`{path}`") };
        Diagnostic::error(format!("{name} {problem}"))
            .at(self.node.document().cursor(origin).place())
            .field(path.to_string())
            .into()
    }
}

fn null() -> Value<'static> {
    Data::Scalar(crate::scalar::data::Scalar::Null).into()
}

fn first_error(diagnostics: &Diagnostics) -> Box<Diagnostic> {
    let first = diagnostics.iter().next().cloned();
    first.unwrap_or_else(|| Diagnostic::error("the text cannot be read")).into()
}
