//! An object on its way through the transformers.

use std::sync::Arc;

use crate::resources::content::Content;
use crate::resources::history::{History, Setter};
use crate::resources::stream_comments::StreamComments;
use crate::resources::trace::Trace;
use krm_core::Identity;
use krm_core::annotations;
use krm_core::identity::{self, Head};
use krm_core::lists;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference, Result};
use krm_yaml::source::{Place, Source};
use krm_yaml::{
    Cursor, Data, Document, DuplicateKeys, FieldPath, NodeId, Position, Scalar, SharedNode, Value,
    View, ViewMut, Words,
};

/// An object with this annotation gets a hash after its name.
const NEEDS_HASH: &str = "kustomize.config.k8s.io/needs-hash";
/// The fields without which an object is none; instead of a name, it may have `generateName`.
const REQUIRED: [&[&str]; 2] = [&["kind"], &["metadata", "name"]];
const API_VERSION: &[&str] = &["apiVersion"];
const GENERATE_NAME: &[&str] = &["metadata", "generateName"];

/// An object on its way through the transformers: plain data, and the text it was read from.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
pub struct Resource<'d> {
    /// The node it was read from; none for a new object.
    node: Option<SharedNode>,
    /// The comments around it that belong to the stream.
    pub(crate) apart: Option<Box<StreamComments>>,
    /// The object as it is now.
    content: Content<'d>,
    /// Whether it may have changed since it was last [checked](Self::lost_field).
    is_touched: bool,
    /// Whether it configures tools: built-in transformers leave it alone, unless they name its kind.
    pub is_configuration: bool,
    /// Its former identities, the first one first.
    pub(crate) previous: Vec<Identity>,
    /// Whether a JSON patch was applied: kustomize then notes a former name, also without a new one.
    pub(crate) is_patched: bool,
    /// The prefixes added to its name, the first one first; the same for suffixes.
    pub(crate) prefixes: Vec<String>,
    pub(crate) suffixes: Vec<String>,
    /// Whether the `HashTransformer` adds a hash of the content to its name.
    pub(crate) needs_hash: bool,
    /// Whether helm made it: built-in transformers leave its namespace alone.
    pub(crate) is_of_helm: bool,
    /// The variables of which it holds the value.
    pub(crate) vars: Vec<String>,
    /// The labels and annotations that one transformer has created in several fields of it.
    pub(crate) shared: Vec<AliasedEntry>,
    /// Its history, if a build keeps that.
    pub(crate) trace: Option<Box<Trace>>,
    /// The transformers that have set its fields, if the build notes them and one has changed it.
    history: Option<Box<History>>,
    /// The transformer that created it; empty for one that was there before the first.
    maker: Option<Arc<str>>,
}

/// An entry that one transformer has created in `metadata` and in other fields: in kustomize they
/// have one value.
#[derive(Clone, Debug)]
pub(crate) struct AliasedEntry {
    /// Its mapping in `metadata`: `labels` or `annotations`.
    pub(crate) mapping: &'static str,
    pub(crate) key: String,
    pub(crate) value: String,
}

impl<'d> Resource<'d> {
    /// Reads an object as kustomize does, for which `yes` and `n` are strings; none if it cannot be
    /// read, for example because of a duplicate key.
    pub fn read(
        document: &'d Arc<Document>,
        node: NodeId,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        Self::read_with(document, node, Words::Texts, diagnostics)
    }

    /// As [`read`](Self::read), with another meaning of words such as `yes`.
    pub fn read_with(
        document: &'d Arc<Document>,
        node: NodeId,
        words: Words,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let cursor = document.cursor(node);
        Some(Self {
            node: Some(SharedNode::new(document, node)),
            ..Self::with(Content::read(cursor, words, diagnostics)?)
        })
    }

    /// The same resource, borrowing nothing.
    pub fn into_owned<'o>(self) -> Resource<'o> {
        Resource {
            node: self.node,
            apart: self.apart,
            content: Content::Whole(self.content.into_value().into_owned()),
            is_touched: self.is_touched,
            is_configuration: self.is_configuration,
            previous: self.previous,
            is_patched: self.is_patched,
            prefixes: self.prefixes,
            suffixes: self.suffixes,
            needs_hash: self.needs_hash,
            is_of_helm: self.is_of_helm,
            vars: self.vars,
            shared: self.shared,
            trace: self.trace,
            history: self.history,
            maker: self.maker,
        }
    }

    /// A resource that was not read from a text.
    pub(crate) const fn new(value: Value<'d>) -> Self {
        Self::with(Content::Whole(value))
    }

    const fn with(content: Content<'d>) -> Self {
        Self {
            node: None,
            apart: None,
            content,
            is_touched: false,
            is_configuration: false,
            previous: Vec::new(),
            is_patched: false,
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            needs_hash: false,
            is_of_helm: false,
            vars: Vec::new(),
            shared: Vec::new(),
            trace: None,
            history: None,
            maker: None,
        }
    }

    /// The name of the transformer that created it; empty for one that was there before the first.
    pub fn maker(&self) -> Option<&str> {
        self.maker.as_deref()
    }

    /// Notes the transformer that created it, unless one is known.
    pub fn set_maker(&mut self, maker: &Arc<str>) {
        self.maker.get_or_insert_with(|| Arc::clone(maker));
    }

    /// Forgets the entries that have another value in `metadata` now.
    pub(crate) fn drop_changed_shared(&mut self) {
        let mut shared = std::mem::take(&mut self.shared);
        shared.retain(|one| self.str_at(&["metadata", one.mapping, &one.key]) == Some(&one.value));
        self.shared = shared;
    }

    /// Starts the history with the state as read.
    pub(crate) fn begin_history(&mut self) {
        if self.history.is_none() && !self.is_unchanged() {
            self.history = Some(Box::new(History::new(self.value().clone().into_owned())));
        }
    }

    /// Notes that `setter` has made it what it is now.
    pub(crate) fn note(&mut self, setter: &Arc<Setter>) {
        if self.history.is_none() && self.is_unchanged() {
            return;
        }
        let mut history = self.history.take().unwrap_or_else(|| {
            let found = &mut Diagnostics::new();
            let read = self.node().and_then(|node| {
                let value = node.value_with(DuplicateKeys::LastWins, Words::Texts, found)?;
                Some(value.into_owned())
            });
            Box::new(History::new(read.unwrap_or_else(|| Data::Scalar(Scalar::Null).into())))
        });
        history.note(self.value(), setter);
        self.history = Some(history);
    }

    /// The transformer that has set a field, if the build notes that; none if it is as it was read.
    pub fn setter(&self, field: &FieldPath) -> Option<&Setter> {
        self.history.as_ref()?.setter(field)
    }

    /// The place of a field as it was read, or of what contains it.
    pub fn place_of(&self, field: &FieldPath) -> Option<Place> {
        let value = self.value().lookup(field);
        let cursor = self.document().zip(value.and_then(|value| value.origin));
        let place = cursor.map(|(document, origin)| document.cursor(origin).place());
        place.or_else(|| self.place())
    }

    /// Its identity as it was created.
    pub fn first_identity(&self) -> Option<Identity> {
        self.previous.first().cloned().or_else(|| self.identity())
    }

    /// The object as it is now. To read a part, a [view](Self::view) is cheaper.
    pub fn value(&self) -> &Value<'d> {
        self.content.value()
    }

    /// The object as it is now, of which only what is asked for is read.
    pub fn view(&self) -> View<'_> {
        self.content.view()
    }

    /// The object, to be changed as a whole: from now on it is compared with its text. Do not ask for
    /// it before it is certain that there is something to change.
    pub fn value_mut(&mut self) -> &mut Value<'d> {
        self.is_touched = true;
        self.content.value_mut()
    }

    /// The object, to be changed in parts: the others are neither read nor compared with their text.
    pub fn view_mut(&mut self) -> ViewMut<'_, 'd> {
        self.is_touched = true;
        self.content.view_mut()
    }

    /// The object, without former identities and comments.
    pub fn into_value(self) -> Value<'d> {
        self.content.into_value()
    }

    /// The string under these keys, if there is one.
    pub fn str_at(&self, keys: &[&str]) -> Option<&str> {
        self.content.str_at(keys)
    }

    /// The text of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.str_at(&["metadata", "annotations", key])
    }

    /// Whether it has an annotation with such a key.
    pub(crate) fn has_annotation(&self, is: impl Fn(&str) -> bool) -> bool {
        let annotations = self.view().at(&["metadata", "annotations"]);
        let entries = annotations.and_then(View::entries);
        entries.is_some_and(|mut entries| entries.any(|(key, _)| is(&key)))
    }

    /// Whether it is kept out of the cluster.
    pub fn is_local(&self) -> bool {
        annotations::is_local(self.view().get("metadata"))
    }

    /// Whether the object is certainly as it was read.
    pub fn is_unchanged(&self) -> bool {
        self.content.is_unchanged()
    }

    /// Its identity; none without a kind and a name.
    pub fn identity(&self) -> Option<Identity> {
        let text = |keys: &[&str]| Some(self.str_at(keys)?.to_owned());
        Some(Identity {
            kind: text(&["kind"])?,
            name: text(&["metadata", "name"])?,
            namespace: text(&["metadata", "namespace"]).unwrap_or_default(),
            group: identity::group(self.str_at(API_VERSION).unwrap_or_default()).to_owned(),
        })
    }

    /// The first required field that is missing or malformed, with its place; `node` is the object
    /// as it was read.
    pub(crate) fn incomplete(&self, node: Cursor<'_>) -> Option<(String, Place)> {
        if !node.is_mapping() {
            return Some(("expected an object, found no mapping".to_owned(), node.place()));
        }
        for keys in REQUIRED.into_iter().chain([API_VERSION, GENERATE_NAME]) {
            let field = keys.iter().try_fold(node, |node, key| node.get(key));
            let is_text = |field: &Cursor<'_>| self.str_at(keys).is_some() || field.is_null();
            if let Some(field) = field.filter(|field| !is_text(field)) {
                return Some((must_be_text(keys), field.place()));
            }
        }
        let keys = self.missing()?;
        let parent = keys.len().checked_sub(2).and_then(|at| keys.get(at));
        let parent = parent.and_then(|key| node.get(key)).unwrap_or(node);
        Some((is_missing(keys), parent.key_place()))
    }

    /// The first required field that holds no text.
    fn missing(&self) -> Option<&'static [&'static str]> {
        let is_there = |keys: &[&str]| self.str_at(keys).is_some_and(|text| !text.is_empty());
        let keys = REQUIRED.into_iter().find(|keys| !is_there(keys))?;
        let is_named = keys.len() > 1 && is_there(GENERATE_NAME);
        (!is_named).then_some(keys)
    }

    /// Whether it has a prefix of a name, which the server completes, and no name.
    pub(crate) fn is_named_by_server(&self) -> bool {
        let has = |keys: &[&str]| self.str_at(keys).is_some_and(|text| !text.is_empty());
        has(GENERATE_NAME) && !has(&["metadata", "name"])
    }

    /// The required field that it has lost by a change since it was last asked: why it is no object
    /// any more.
    /// In a Kustomization, the prefix of a name does not replace it.
    pub(crate) fn lost_field(&mut self, is_of_kustomization: bool) -> Option<String> {
        if !std::mem::take(&mut self.is_touched) {
            return None;
        }
        // An object may have none from the beginning.
        let is_lost = self.node.is_some() && self.str_at(API_VERSION).is_none_or(str::is_empty);
        let is_nameless = is_of_kustomization && self.node.is_some() && self.is_named_by_server();
        let lost = is_lost.then_some(API_VERSION);
        let keys = self.missing().or(lost).or(is_nameless.then_some(&["metadata", "name"]))?;
        if self.node().is_some_and(|node| !holds_text(node, keys)) {
            return None;
        }
        let is_text = |value: &Value<'_>| value.is_null() || value.as_str().is_some();
        Some(match self.value().at(keys) {
            Some(value) if !is_text(value) => must_be_text(keys),
            _ => is_missing(keys),
        })
    }

    /// The identity before the current one; the one that it was read with if it was never renamed.
    pub(crate) fn former(&self) -> Option<Identity> {
        let read = || Head::of(self.node()?).identity_of_kind();
        self.previous.last().cloned().or_else(read)
    }

    /// Takes over the history of the resource that this was before.
    pub fn inherit_from(&mut self, before: &Self) {
        self.apart.clone_from(&before.apart);
        self.previous.clone_from(&before.previous);
        self.is_patched = before.is_patched;
        let name = before.identity();
        if name != self.identity() {
            self.previous.extend(name);
        }
        self.prefixes.clone_from(&before.prefixes);
        self.suffixes.clone_from(&before.suffixes);
        self.needs_hash = before.needs_hash;
        self.is_of_helm = before.is_of_helm;
        self.vars.clone_from(&before.vars);
        self.trace.clone_from(&before.trace);
        self.history.clone_from(&before.history);
        self.maker.clone_from(&before.maker);
        self.is_configuration = before.is_configuration;
    }

    /// Removes the annotation that asks for a hash after the name, and notes the request.
    pub fn take_needs_hash(&mut self) {
        let Some(found) = self.view().at(&["metadata", "annotations", NEEDS_HASH]) else {
            return;
        };
        self.needs_hash |= found.as_str().as_deref() == Some("true");
        annotations::remove(self.value_mut(), &[NEEDS_HASH]);
    }

    /// Notes the identity before the object is renamed or moved to another namespace.
    pub(crate) fn remember(&mut self) {
        self.previous.extend(self.identity());
    }

    /// Whether it has a former name, so that references to it are updated.
    pub(crate) const fn has_former_name(&self) -> bool {
        self.is_patched || !self.previous.is_empty()
    }

    /// What it was called, and the object itself, to be changed while the former is looked at.
    pub(crate) const fn split(&mut self) -> (FormerNames<'_>, Body<'_, 'd>) {
        let past = FormerNames {
            previous: self.previous.as_slice(),
            is_renamed: self.has_former_name(),
            prefixes: self.prefixes.as_slice(),
            suffixes: self.suffixes.as_slice(),
        };
        let present = Body { content: &mut self.content, is_touched: &mut self.is_touched };
        (past, present)
    }

    /// Adds former identities, the first one first.
    pub fn remember_all(&mut self, previous: impl IntoIterator<Item = Identity>) {
        self.previous.extend(previous);
    }

    /// Whether `is` holds for the current identity or a former one.
    pub(crate) fn is_or_was(&self, is: impl Fn(&Identity) -> bool) -> bool {
        self.identity().is_some_and(|now| is(&now)) || self.previous.iter().any(is)
    }

    /// The current identity and the former ones.
    pub fn identities(&self) -> Vec<Identity> {
        let now = self.identity().into_iter();
        now.chain(self.previous.iter().cloned()).collect()
    }

    /// The document it was read from.
    pub fn document(&self) -> Option<&Arc<Document>> {
        self.node.as_ref().map(SharedNode::document)
    }

    /// The object as it was read.
    fn node(&self) -> Option<Cursor<'_>> {
        self.node.as_ref().map(SharedNode::cursor)
    }

    /// Tests whether a part of it was written as a quoted string or a block.
    pub(crate) fn is_quoted(&self) -> impl Fn(&Value<'_>) -> bool + use<> {
        let document = self.document().cloned();
        move |part| {
            let is_quoted = |raw: &str| raw.starts_with(['"', '\'', '|', '>']);
            let cursor = document.as_ref().zip(part.origin);
            part.as_str().is_some()
                && cursor.is_some_and(|(document, origin)| is_quoted(document.cursor(origin).raw()))
        }
    }

    /// Where it was read from.
    pub fn place(&self) -> Option<Place> {
        self.node().map(Cursor::key_place)
    }

    /// Names it for a report.
    pub(crate) fn reference(&self) -> ObjectReference {
        let text = |keys: &[&str]| self.str_at(keys).unwrap_or_default().to_owned();
        ObjectReference {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
            ..self.node().map(identity::reference).unwrap_or_default()
        }
    }

    /// A node that holds it as it is now: the one it was read from if nothing has changed,
    /// otherwise one of a document of its own, called `name`.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn current(&self, name: &str) -> Result<SharedNode> {
        if let Some(node) = &self.node
            && (self.is_unchanged() || node.cursor().holds(self.value()))
        {
            return Ok(node.clone());
        }
        let text = self.own_text(Position::Item { column: 0 })?;
        let document = Arc::new(Document::parse(&Source::new(name, text))?);
        let item = document.roots().flat_map(Cursor::children).next();
        let item = item.map(|item| SharedNode::new(&document, item.id()));
        item.ok_or_else(|| Diagnostic::error("the object has no text").into())
    }

    /// Its text as it was read, with all changes.
    ///
    /// # Errors
    /// If the changed text would not read as the object.
    pub fn text(&self, position: Position) -> Result<String> {
        let text = self.own_text(position)?;
        Ok(match &self.apart {
            Some(apart) if position == Position::Document => apart.around(&text),
            _ => text,
        })
    }

    /// The text without the comments around it.
    fn own_text(&self, position: Position) -> Result<String> {
        if let Some(parts) = self.content.parts() {
            let is_copied = parts.is_unchanged() && position == Position::Document;
            let text = is_copied.then(|| krm_yaml::copy(parts.root())).flatten();
            if let Some(text) = text.or_else(|| lists::render_patched(parts, position)) {
                return Ok(text);
            }
        }
        match self.document() {
            Some(document) => lists::render(document, self.value(), position),
            None => krm_yaml::render_new(self.value(), position),
        }
    }
}

/// The former names of a resource.
#[derive(Clone, Copy)]
pub(crate) struct FormerNames<'r> {
    pub(crate) previous: &'r [Identity],
    pub(crate) is_renamed: bool,
    pub(crate) prefixes: &'r [String],
    pub(crate) suffixes: &'r [String],
}

/// A resource without its former names.
pub(crate) struct Body<'r, 'd> {
    content: &'r mut Content<'d>,
    is_touched: &'r mut bool,
}

impl<'d> Body<'_, 'd> {
    /// As [`Resource::str_at`].
    pub(crate) fn str_at(&self, keys: &[&str]) -> Option<&str> {
        self.content.str_at(keys)
    }

    /// As [`Resource::view`].
    pub(crate) fn view(&self) -> View<'_> {
        self.content.view()
    }

    /// As [`Resource::view_mut`].
    pub(crate) fn view_mut(&mut self) -> ViewMut<'_, 'd> {
        *self.is_touched = true;
        self.content.view_mut()
    }
}

/// Whether a node has a text under these keys, in the words of kustomize.
fn holds_text(node: Cursor<'_>, keys: &[&str]) -> bool {
    let field = keys.iter().try_fold(node, |node, key| node.get(key));
    let read = |field: Cursor<'_>| {
        let value =
            field.value_with(DuplicateKeys::LastWins, Words::Texts, &mut Diagnostics::new());
        value.is_some_and(|value| value.as_str().is_some_and(|text| !text.is_empty()))
    };
    field.is_some_and(read)
}

fn must_be_text(keys: &[&str]) -> String {
    format!("`{}` must be a string", keys.join("."))
}

fn is_missing(keys: &[&str]) -> String {
    format!("the object has no `{}`", keys.join("."))
}

/// The resources that a transformer may change that names no kind.
pub(crate) fn changeable<'r, 'd>(
    resources: &'r mut [Resource<'d>],
) -> impl Iterator<Item = &'r mut Resource<'d>> {
    let all = resources.iter_mut();
    all.filter(|resource| !resource.is_configuration)
}
