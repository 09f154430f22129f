//! Editing by field path: set, put, replace, insert, remove, rename, push, append.
//!
//! An [`Editor`] holds the value of one node, and its operations change that value in order, as
//! they are called: each sees what those before it have done. Only when all are done is the value
//! compared with the text it was read from, and the text edited where the two differ. So all
//! operations compose, and what cannot be done is an [error](crate::diagnostic::Diagnostic) that
//! names the path. [`Edits`] brings editors of several nodes of a document together, and appends.
//!
//! What was written is read again, as a whole: every node edited must hold its new value and every
//! other what it held before.
//!
//! # Comments
//!
//! Comments belong to entries and items as go-yaml has it, by what they stand beside:
//!
//! - *head*: the comment lines directly above an entry, at its column, without a blank line between;
//! - *line*: the comment on the line the entry is on;
//! - *foot*: the comment lines directly below it, at its column, if a blank line, less indented text
//!   or the end of the text follows (else they are the head of the next entry); and all below it
//!   that are indented deeper.
//!
//! They go where their entry goes, also an item that changes its place: who removes it removes
//! them; what is inserted stands behind the foot of the entry before it, with a blank line between,
//! or above the head of the one that was first. A scalar that is set
//! keeps all three. Comments between blank lines belong to no entry and stay.
//!
//! # Layout
//!
//! New text is laid out as its neighbours are: the same columns and line breaks in blocks; in
//! braces and brackets on lines of its own where they are; as JSON among JSON. A set scalar keeps
//! its quotes or its block where they can hold the new text. `{}`, `[]` and null are filled in
//! place. What is read by an alias or a merge key is written out where it is changed, and so is an
//! alias of something that is changed. If that alias stands outside of the edited node, it is an
//! error.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::lines::{ends_line, lines};
use crate::path::{FieldPath, Step};
use crate::read::document::{Cursor, Document};
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::suggest::closest;
use crate::table::{Flags, Kind, NodeId};
use crate::value::{Data, Value};
use crate::write::comments::end_with_comments;
use crate::write::edited::{Edit, Edited, close_text};
use crate::write::guard::{self, name_of};
use crate::write::render::{Position, render, render_json};
use crate::write::rewrite::{Purpose, Rewrite};

/// Where a new entry of a mapping goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot<'k> {
    /// Behind all others.
    End,
    /// Before the entry with this key.
    Before(&'k str),
    /// Behind the entry with this key.
    Behind(&'k str),
}

/// Changes one node of a [`Document`], as an object or one of its fields. See the
/// [module](self) for what becomes of comments and layout.
#[derive(Debug)]
pub struct Editor<'d> {
    node: Cursor<'d>,
    pub(crate) value: Value<'d>,
    /// What was removed or renamed, for who looks for it later.
    gone: Vec<FieldPath>,
}

impl<'d> Editor<'d> {
    /// Reads the node to be edited.
    ///
    /// # Errors
    /// If it cannot be read, as with a key that is there twice.
    pub fn new(node: Cursor<'d>) -> Result<Self> {
        let mut diagnostics = Diagnostics::new();
        match node.value(DuplicateKeys::Refuse, &mut diagnostics) {
            Some(value) => Ok(Self {
                node,
                value,
                gone: Vec::new(),
            }),
            None => Err(first_error(&diagnostics)),
        }
    }

    /// The data as it is now, with all operations so far.
    #[must_use]
    pub const fn value(&self) -> &Value<'d> {
        &self.value
    }

    /// The data at `path` as it is now.
    #[must_use]
    pub fn get(&self, path: &FieldPath) -> Option<&Value<'d>> {
        self.value.lookup(path)
    }

    /// Sets what is at `path`. Of a mapping or list, what stays the same stays as it is written,
    /// with its comments.
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
    /// If there is nothing at `path`.
    pub fn set(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        let old = self.find(path)?;
        let mut value = value.into();
        value.adopt(old);
        *old = value;
        Ok(())
    }

    /// Sets what is at `path`, or adds it behind the other entries. Mappings that are missing on
    /// the way there are made.
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
    /// If something on the way is neither missing, null, a mapping nor an item that is there.
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

    /// Replaces what is at `path`: all of it is written anew, and the comments in it go.
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
    /// If there is nothing at `path`.
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
    /// If the entry is there already, its mapping is not, or the neighbour is not.
    pub fn insert(
        &mut self,
        path: &FieldPath,
        value: impl Into<Value<'d>>,
        spot: Spot<'_>,
    ) -> Result<()> {
        let Some((parent, Step::Key(key))) = path.split_last() else {
            return Err(self.error(path, "is no entry of a mapping, which `insert` adds"));
        };
        if self.value.lookup(path).is_some() {
            return Err(self.error(path, "is there already"));
        }
        let entries = self.entries(&parent)?;
        let position = |neighbour: &str| entries.iter().position(|(name, _)| name == neighbour);
        let index = match spot {
            Spot::End => Some(entries.len()),
            Spot::Before(neighbour) => position(neighbour),
            Spot::Behind(neighbour) => position(neighbour).map(|at| at + 1),
        };
        match (index, spot) {
            (Some(index), _) => {
                entries.insert(
                    index,
                    (Cow::Owned(key.clone()), value.into().without_origin()),
                );
                Ok(())
            }
            (None, Spot::Before(key) | Spot::Behind(key)) => Err(self.missing(&parent.key(key))),
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
    /// If there is nothing at `path`, or it is the whole node.
    pub fn remove(&mut self, path: &FieldPath) -> Result<Value<'d>> {
        self.find(path)?;
        let removed = match path.split_last() {
            None => return Err(self.error(path, "is all there is, and cannot be removed")),
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
    /// If there is nothing at `path`, it is no entry of a mapping, or the key is taken.
    pub fn rename(&mut self, path: &FieldPath, key: &str) -> Result<()> {
        self.find(path)?;
        let Some((parent, Step::Key(old))) = path.split_last() else {
            return Err(self.error(path, "is no entry of a mapping, and has no key"));
        };
        if old == key {
            return Ok(());
        }
        let renamed = parent.clone().key(key);
        if self.value.lookup(&renamed).is_some() {
            return Err(self.error(&renamed, "is there already"));
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
    /// If there is no list at `path`.
    pub fn push(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        self.items(path)?.push(value.into().without_origin());
        Ok(())
    }

    /// Adds an item to a list, so that it stands at `path`; those from there on move up by one.
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
    /// If there is no list, or it is shorter than the index.
    pub fn insert_item(&mut self, path: &FieldPath, value: impl Into<Value<'d>>) -> Result<()> {
        let Some((parent, Step::Index(index))) = path.split_last() else {
            return Err(self.error(path, "is no item of a list, which `insert_item` adds"));
        };
        let items = self.items(&parent)?;
        if *index > items.len() {
            return Err(self.missing(path));
        }
        items.insert(*index, value.into().without_origin());
        Ok(())
    }

    /// Makes the text. For several nodes of a document, use [`Edits`].
    ///
    /// # Errors
    /// If an alias elsewhere stands for what was changed, or the new text does not read as meant.
    pub fn finish(self) -> Result<Edited> {
        let mut edits = Edits::new(self.node.document());
        edits.add(self)?;
        edits.finish()
    }

    /// What is at `path`.
    fn find(&mut self, path: &FieldPath) -> Result<&mut Value<'d>> {
        if self.value.lookup(path).is_none() {
            return Err(self.missing(path));
        }
        let missing = || Diagnostic::error(format!("`{path}` is not there")).into();
        self.value.lookup_mut(path).ok_or_else(missing)
    }

    /// The entries of the mapping at `path`, which null becomes.
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

    /// The items of the list at `path`, which null becomes.
    fn items(&mut self, path: &FieldPath) -> Result<&mut Vec<Value<'d>>> {
        let problem = self.not_a(path, "a list");
        let value = self.find(path)?;
        if value.is_null() {
            value.data = Data::Sequence(Vec::new());
        }
        value.items_mut().ok_or(problem)
    }

    fn not_a(&self, path: &FieldPath, expected: &str) -> Box<Diagnostic> {
        let found = self
            .value
            .lookup(path)
            .map_or("nothing", |value| name_of(&value.data));
        self.error(path, &format!("is {found}, expected {expected}"))
    }

    /// That nothing is at `path`: says how far there is something.
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
        self.error(path, "is not there")
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
        let error = self.error(&path, "is not there");
        if self.gone.contains(&path) {
            return error
                .hint("an edit before this one removed or renamed it")
                .into();
        }
        match (step, &value.data) {
            (Step::Key(key), Data::Mapping(entries)) => {
                let known = closest(key, entries.iter().map(|(name, _)| name.as_ref()));
                error
                    .maybe_hint(known.map(|known| format!("did you mean `{known}`?")))
                    .into()
            }
            (_, Data::Sequence(items)) => error
                .hint(format!(
                    "the list has {} items, counted from 0",
                    items.len()
                ))
                .into(),
            _ => error,
        }
    }

    /// An error about `path`, placed as near to it as the text goes.
    fn error(&self, path: &FieldPath, problem: &str) -> Box<Diagnostic> {
        let mut origin = self.node.id();
        let mut value = &self.value;
        for step in path.steps() {
            let Some(next) = value.step(step) else { break };
            origin = next.origin.unwrap_or(origin);
            value = next;
        }
        let name = if path.steps().is_empty() {
            "the object".to_owned()
        } else {
            format!("`{path}`")
        };
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
    first
        .unwrap_or_else(|| Diagnostic::error("the text cannot be read"))
        .into()
}

/// The edits of several nodes of a document, and what is appended to it.
///
/// ```
/// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor, Edits};
/// # fn main() -> Result<()> {
/// let document = Document::parse(&Source::new("all.yaml", "kind: A\n---\nkind: B\n"))?;
/// let mut edits = Edits::new(&document);
/// for root in document.roots() {
///     let mut editor = Editor::new(root)?;
///     editor.put(&"metadata.namespace".parse()?, "prod")?;
///     edits.add(editor)?;
/// }
/// assert_eq!(
///     edits.finish()?.to_string(),
///     "kind: A\nmetadata:\n  namespace: prod\n---\nkind: B\nmetadata:\n  namespace: prod\n"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Edits<'d> {
    document: &'d Document,
    changes: Vec<Edit>,
    /// What each edited node is to hold.
    meant: BTreeMap<NodeId, Value<'d>>,
    /// Behind all edits at the same place.
    appended: Vec<Edit>,
    new_items: BTreeMap<NodeId, Vec<Value<'static>>>,
    new_roots: Vec<Value<'static>>,
}

impl<'d> Edits<'d> {
    /// No edits yet.
    #[must_use]
    pub const fn new(document: &'d Document) -> Self {
        Self {
            document,
            changes: Vec::new(),
            meant: BTreeMap::new(),
            appended: Vec::new(),
            new_items: BTreeMap::new(),
            new_roots: Vec::new(),
        }
    }

    /// Adds what an editor of one of the document's nodes did.
    ///
    /// # Errors
    /// If the node is, or is in, or holds one that was edited before.
    pub fn add(&mut self, editor: Editor<'d>) -> Result<()> {
        let Editor { node, value, .. } = editor;
        let id = node.id();
        let inside = self.meant.range(id..NodeId(node.node().next)).next();
        let around = self.meant.range(..id).next_back();
        let around = around.filter(|(other, _)| self.document.node(**other).next > id.0);
        if let Some((other, _)) = inside.or(around) {
            return Err(Diagnostic::error("two editors change the same text")
                .at(node.place())
                .related(self.document.cursor(*other).place(), "and this")
                .hint("make all changes of an object with one editor")
                .into());
        }
        self.changes
            .extend(Rewrite::edits(node, &value, Purpose::Stay)?);
        self.meant.insert(id, value);
        Ok(())
    }

    /// Appends an object as the last document of the stream. What was read from `from` keeps its
    /// text.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor, Edits};
    /// # fn main() -> Result<()> {
    /// let document = Document::parse(&Source::new("all.yaml", "kind: A\n"))?;
    /// let other = Document::parse(&Source::new("b.yaml", "kind: 'B' # b\n"))?;
    /// let object = Editor::new(other.roots().next().expect("not empty"))?;
    /// let mut edits = Edits::new(&document);
    /// edits.append(&other, object.value())?;
    /// assert_eq!(edits.finish()?.to_string(), "kind: A\n---\nkind: 'B' # b\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the object cannot be written.
    pub fn append(&mut self, from: &Document, object: &Value<'_>) -> Result<()> {
        let before = self.document.text();
        // After several JSON texts, kubectl takes no `---`.
        let is_json = self.document.is_json_stream();
        let text = if is_json {
            render_json(object, None)? + self.document.eol()
        } else {
            render(from, object, Position::Document)?
        };
        let mut out = String::new();
        let is_first = self.new_roots.is_empty();
        if is_first && !before.is_empty() && !ends_line(before, before.len()) {
            out.push_str(self.document.eol());
        }
        let last_line = lines(before).last().unwrap_or_default();
        let is_separate = before.trim().is_empty() || last_line.trim_end() == "---";
        let needs_marker = !is_json && (!is_first || !is_separate);
        if needs_marker {
            out.push_str("---");
            out.push_str(self.document.eol());
        }
        out.push_str(&text);
        self.appended.push(Edit::insert(before.len(), out));
        self.new_roots
            .push(object.clone().without_origin().into_owned());
        Ok(())
    }

    /// Appends an object to a list of objects in this document. What was read from `from` keeps
    /// its text if the list is written with dashes.
    ///
    /// ```
    /// # use krm_yaml::{diagnostic::Result, source::Source, Document, Editor, Edits};
    /// # fn main() -> Result<()> {
    /// let document = Document::parse(&Source::new("l.yaml", "items:\n- kind: A\nkind: List\n"))?;
    /// let other = Document::parse(&Source::new("b.yaml", "kind: 'B'\nspec: {}\n"))?;
    /// let object = Editor::new(other.roots().next().expect("not empty"))?;
    /// let list = document.roots().next().and_then(|root| root.get("items")).expect("a list");
    /// let mut edits = Edits::new(&document);
    /// edits.append_item(list, &other, object.value())?;
    /// assert_eq!(
    ///     edits.finish()?.to_string(),
    ///     "items:\n- kind: A\n- kind: 'B'\n  spec: {}\nkind: List\n"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the node is no list, or an editor changes all of it.
    pub fn append_item(
        &mut self,
        list: Cursor<'d>,
        from: &Document,
        object: &Value<'_>,
    ) -> Result<()> {
        let is_block = list.node().kind == Kind::Sequence && !list.node().has(Flags::FLOW);
        let neighbour = list.children().last().filter(|_| is_block);
        let Some(neighbour) = neighbour else {
            let mut editor = Editor::new(list)?;
            editor.push(&FieldPath::root(), object.clone().into_owned())?;
            return self.add(editor);
        };
        let around = self.meant.range(..=list.id()).next_back();
        if around.is_some_and(|(other, _)| self.document.node(*other).next > list.id().0) {
            return Err(Diagnostic::error("an editor changes the list already")
                .at(list.place())
                .hint("push the item with that editor")
                .into());
        }
        let column = self.document.column(neighbour.start());
        let text = render(from, object, Position::Item { column })?;
        let at = end_with_comments(neighbour);
        let before = self.document.slice(0..at);
        let items = self.new_items.entry(list.id()).or_default();
        let is_open = items.is_empty() && !ends_line(before, at);
        let eol = if is_open { self.document.eol() } else { "" };
        self.appended.push(Edit::insert(at, format!("{eol}{text}")));
        items.push(object.clone().without_origin().into_owned());
        Ok(())
    }

    /// Makes the text and reads it again.
    ///
    /// # Errors
    /// If an alias elsewhere stands for what was changed, or the new text does not read as meant.
    pub fn finish(mut self) -> Result<Edited> {
        let mut edits = std::mem::take(&mut self.changes);
        edits.append(&mut self.appended);
        close_text(self.document, &mut edits);
        let edited = Edited::unchecked(self.document, edits)?;
        if edited.is_changed() {
            self.check(&edited)?;
        }
        Ok(edited)
    }

    /// Reads the new text: the edited nodes hold what they are to, all others what they held.
    fn check(&self, edited: &Edited) -> Result<()> {
        let source = Source::new("output", edited.to_string());
        let document =
            Document::parse(&source).map_err(|error| guard::wrong(&source, &error.message))?;
        let (old, mut new) = (self.document.roots(), document.roots());
        let mut result = old
            .map(|old| self.difference(old, new.next()))
            .find_map(|d| d);
        if result.is_none() {
            let mut added = self.new_roots.iter();
            result = added.find_map(|meant| differs(new.next(), meant));
        }
        if result.is_none() && new.next().is_some() {
            result = Some("there is a document too many".to_owned());
        }
        match result {
            Some(difference) => Err(guard::wrong(&source, &difference)),
            None => Ok(()),
        }
    }

    /// What `new` holds otherwise than it should, where `old` was.
    fn difference(&self, old: Cursor<'_>, new: Option<Cursor<'_>>) -> Option<String> {
        if let Some(meant) = self.meant.get(&old.id()) {
            return differs(new, meant);
        }
        let Some(read) = new else {
            return Some("a value is missing".to_owned());
        };
        let within = old.id()..NodeId(old.node().next);
        let is_edited = self.meant.range(within.clone()).next().is_some()
            || self.new_items.range(within).next().is_some();
        if is_edited {
            let added = self.new_items.get(&old.id()).map(Vec::as_slice);
            let mut children = read.children();
            for old in old.children() {
                let new = children.next();
                let same_key = new.is_some_and(|new| new.key().ok() == old.key().ok());
                if !same_key {
                    return Some("an entry is missing".to_owned());
                }
                if let Some(difference) = self.difference(old, new) {
                    return Some(difference);
                }
            }
            let mut added = added.unwrap_or_default().iter();
            return added
                .find_map(|meant| differs(children.next(), meant))
                .or_else(|| children.next().map(|_| "an entry is too much".to_owned()));
        }
        if old.raw() == read.raw() && !self.document.has_anchors {
            return None;
        }
        // A key that is there twice was there before.
        let mut ignored = Diagnostics::new();
        let value = old.value(DuplicateKeys::LastWins, &mut ignored)?;
        if read.value(DuplicateKeys::LastWins, &mut ignored).as_ref() == Some(&value) {
            return None;
        }
        differs(Some(read), &value)
    }
}

/// Reads the whole text with `edits` made: `node` holds `value`, and all else what it held.
///
/// # Errors
/// If not so.
pub(crate) fn check_edits(node: Cursor<'_>, value: Value<'_>, edits: Vec<Edit>) -> Result<()> {
    let document = node.document();
    let edited = Edited::unchecked(document, edits)?;
    let mut all = Edits::new(document);
    all.meant.insert(node.id(), value.into_owned());
    all.check(&edited)
}

/// What a node holds otherwise than it should.
fn differs(read: Option<Cursor<'_>>, meant: &Value<'_>) -> Option<String> {
    match read {
        Some(read) if read.holds(meant) => None,
        Some(read) => guard::difference(read, meant),
        None if meant.is_null() => None,
        None => Some("a value is missing".to_owned()),
    }
}

impl Step {
    /// The path of this step from `parent`.
    fn below(&self, parent: FieldPath) -> FieldPath {
        match self {
            Self::Key(key) => parent.key(key.clone()),
            Self::Index(index) => parent.index(*index),
        }
    }
}
