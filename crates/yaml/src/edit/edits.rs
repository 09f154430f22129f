//! The edits of several nodes of a document, made into one text and read again.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::edit::editor::Editor;
use crate::lines::{ends_line, lines};
use crate::path::FieldPath;
use crate::read::document::{Cursor, Document};
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::table::{Flags, Kind, NodeId};
use crate::value::Value;
use crate::write::comments::end_with_comments;
use crate::write::edited::{Edit, Edited, close_text};
use crate::write::guard;
use crate::write::render::{Position, render, render_json};
use crate::write::rewrite::{Purpose, Rewrite};

/// The edits of several nodes of a document, and new documents and items at its end.
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
    /// The value that each edited node must have.
    meant: BTreeMap<NodeId, Value<'d>>,
    /// The edits that follow all others at the same offset.
    appended: Vec<Edit>,
    new_items: BTreeMap<NodeId, Vec<Value<'static>>>,
    new_roots: Vec<Value<'static>>,
}

impl<'d> Edits<'d> {
    /// Creates an empty list of edits of `document`.
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

    /// Adds the changes that an editor made to one of the document's nodes.
    ///
    /// # Errors
    /// If another editor changed this node, a node around it or a node in it.
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
        // After several JSON texts, kubectl does not allow a `---`.
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
    /// If the node is not a list, or an editor changes all of it.
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
            return Err(Diagnostic::error("an editor already changes the list")
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

    /// Returns the edited text, after reading it again.
    ///
    /// # Errors
    /// If an alias elsewhere refers to a changed value, or the new text does not have the intended
    /// values.
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

    /// Reads the new text: the edited nodes have their new values, all others have their old ones.
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
            result = Some("unexpected document".to_owned());
        }
        match result {
            Some(difference) => Err(guard::wrong(&source, &difference)),
            None => Ok(()),
        }
    }

    /// The difference between `new`, which replaces `old`, and its intended value.
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
                .or_else(|| children.next().map(|_| "unexpected entry".to_owned()));
        }
        if old.raw() == read.raw() && !self.document.has_anchors {
            return None;
        }
        // The old text may have had duplicate keys.
        let mut ignored = Diagnostics::new();
        let value = old.value(DuplicateKeys::LastWins, &mut ignored)?;
        if read.value(DuplicateKeys::LastWins, &mut ignored).as_ref() == Some(&value) {
            return None;
        }
        differs(Some(read), &value)
    }
}

impl Editor<'_> {
    /// Returns the edited text. For several nodes of a document, use [`Edits`].
    ///
    /// # Errors
    /// If an alias elsewhere refers to a changed value, or the new text does not have the intended
    /// values.
    pub fn finish(self) -> Result<Edited> {
        let mut edits = Edits::new(self.node.document());
        edits.add(self)?;
        edits.finish()
    }
}

/// Reads the whole text after `edits`, and checks that `node` has `value` and every other node has
/// its old value.
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

/// The difference between a node and its intended value.
fn differs(read: Option<Cursor<'_>>, meant: &Value<'_>) -> Option<String> {
    match read {
        Some(read) if read.holds(meant) => None,
        Some(read) => guard::difference(read, meant),
        None if meant.is_null() => None,
        None => Some("a value is missing".to_owned()),
    }
}
