//! An object on its way through the transformers.

use std::cell::Cell;
use std::fmt;

use crate::composition::resources::apart::Apart;
use crate::krm::Identity;
use crate::krm::annotations::remove_empty;
use crate::krm::identity;
use crate::krm::lists;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference, Result};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Document, DuplicateKeys, Opened, Position, Value, Words};

/// An object with this annotation gets a hash after its name.
const NEEDS_HASH: &str = "kustomize.config.k8s.io/needs-hash";

/// The maximum number of Compositions built by others.
const MAX_BUILDS: usize = 10_000;

/// The documents that resources were read from. They live until all transformers are done.
#[derive(Default)]
pub struct Documents {
    documents: elsa::FrozenVec<Box<Document>>,
    /// The number of Compositions built by others.
    builds: Cell<usize>,
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} documents", self.documents.len())
    }
}

impl Documents {
    /// Keeps a document.
    pub fn keep(&self, document: Document) -> &Document {
        self.documents.push_get(Box::new(document))
    }

    /// Counts a Composition that another one builds.
    ///
    /// # Errors
    /// If the limit is exceeded.
    pub(crate) fn count_build(&self) -> Result<()> {
        self.builds.set(self.builds.get().saturating_add(1));
        if self.builds.get() <= MAX_BUILDS {
            return Ok(());
        }
        Err(Diagnostic::error(format!(
            "more than {MAX_BUILDS} Compositions are built within others"
        ))
        .hint("a Composition that is added twice is built twice, with all that it adds")
        .into())
    }
}

/// An object on its way through the transformers: plain data, and the text it was read from.
#[derive(Clone, Debug)]
pub struct Resource<'d> {
    node: Option<Cursor<'d>>,
    /// The comments around it that belong to the stream.
    pub(crate) apart: Option<Box<Apart>>,
    /// The object as it is now.
    pub value: Value<'d>,
    /// Its former identities, the first one first.
    pub(crate) previous: Vec<Identity>,
    /// The prefixes added to its name, the first one first; the same for suffixes.
    pub(crate) prefixes: Vec<String>,
    pub(crate) suffixes: Vec<String>,
    /// Whether the `HashTransformer` adds a hash of the content to its name.
    pub(crate) needs_hash: bool,
}

impl<'d> Resource<'d> {
    /// Reads an object as kustomize does, for which `yes` and `n` are strings; none if it cannot be
    /// read, for example because of a duplicate key.
    pub fn read(
        node: Cursor<'d>,
        documents: &'d Documents,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        Self::read_with(node, Words::Texts, documents, diagnostics)
    }

    /// As [`read`](Self::read), with another meaning of words such as `yes`.
    pub(crate) fn read_with(
        node: Cursor<'d>,
        words: Words,
        documents: &'d Documents,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let node = match node.open() {
            Opened::Here(node) => node,
            // The root is a list of this one item.
            Opened::Part(part) => documents.keep(*part).roots().next()?.children().next()?,
        };
        Some(Self {
            node: Some(node),
            ..Self::new(node.value_with(DuplicateKeys::Refuse, words, diagnostics)?)
        })
    }

    /// A new object.
    pub(crate) const fn new(value: Value<'d>) -> Self {
        Self {
            node: None,
            apart: None,
            value,
            previous: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            needs_hash: false,
        }
    }

    /// Its identity; none without a kind and a name.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        Identity::of(&self.value)
    }

    /// The first required field that is missing or malformed, with its place; `node` is the object
    /// as it was read.
    pub(crate) fn incomplete(&self, node: Cursor<'_>) -> Option<(String, Place)> {
        let object = &self.value;
        let is_there = |keys: &[&str]| object.str_at(keys).is_some_and(|text| !text.is_empty());
        if object.entries().is_none() {
            return Some((
                "expected an object, found no mapping".to_owned(),
                node.place(),
            ));
        }
        let texts: [&[&str]; 4] = [
            &["apiVersion"],
            &["kind"],
            &["metadata", "name"],
            &["metadata", "generateName"],
        ];
        for keys in texts {
            let field = keys.iter().try_fold(node, |node, key| node.get(key));
            let is_text = |field: &Cursor<'_>| field.is_null() || object.str_at(keys).is_some();
            if let Some(field) = field.filter(|field| !is_text(field)) {
                return Some((
                    format!("`{}` must be a string", keys.join(".")),
                    field.place(),
                ));
            }
        }
        for key in ["apiVersion", "kind"] {
            if !is_there(&[key]) {
                return Some((format!("the object has no `{key}`"), node.key_place()));
            }
        }
        if !is_there(&["metadata", "name"]) && !is_there(&["metadata", "generateName"]) {
            let place = node.get("metadata").unwrap_or(node).key_place();
            return Some(("the object has no `metadata.name`".to_owned(), place));
        }
        None
    }

    /// Takes over the history of the resource that this was before.
    pub(crate) fn succeed(&mut self, before: &Self) {
        self.apart.clone_from(&before.apart);
        self.previous.clone_from(&before.previous);
        let name = before.identity();
        if name != self.identity() {
            self.previous.extend(name);
        }
        self.prefixes.clone_from(&before.prefixes);
        self.suffixes.clone_from(&before.suffixes);
        self.needs_hash = before.needs_hash;
    }

    /// Removes the annotation that asks for a hash after the name, and notes the request.
    pub(crate) fn take_needs_hash(&mut self) {
        let Some(metadata) = self.value.get_mut("metadata") else {
            return;
        };
        let Some(annotations) = metadata.get_mut("annotations") else {
            return;
        };
        if let Some(found) = annotations.remove(NEEDS_HASH) {
            self.needs_hash |= found.as_str() == Some("true");
            remove_empty(metadata, "annotations");
        }
    }

    /// Notes the identity before the object is renamed or moved to another namespace.
    pub(crate) fn remember(&mut self) {
        self.previous.extend(self.identity());
    }

    /// Adds former identities.
    pub fn remember_all(&mut self, previous: impl IntoIterator<Item = Identity>) {
        self.previous.extend(previous);
    }

    /// Whether `is` holds for the current identity or a former one.
    pub(crate) fn is_or_was(&self, is: impl Fn(&Identity) -> bool) -> bool {
        self.identity().is_some_and(|now| is(&now)) || self.previous.iter().any(is)
    }

    /// The current identity and the former ones.
    #[must_use]
    pub fn identities(&self) -> Vec<Identity> {
        let now = self.identity().into_iter();
        now.chain(self.previous.iter().cloned()).collect()
    }

    /// The document it was read from.
    #[must_use]
    pub fn document(&self) -> Option<&'d Document> {
        self.node.map(Cursor::document)
    }

    /// Tests whether a part of it was written as a quoted string or a block.
    pub(crate) fn is_quoted(&self) -> impl Fn(&Value<'_>) -> bool + use<'d> {
        let document = self.node.map(Cursor::document);
        move |part| {
            let is_quoted = |raw: &str| raw.starts_with(['"', '\'', '|', '>']);
            let cursor = document.zip(part.origin);
            part.as_str().is_some()
                && cursor.is_some_and(|(document, origin)| is_quoted(document.cursor(origin).raw()))
        }
    }

    /// Where it was read from.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.node.map(Cursor::key_place)
    }

    /// Names it for a report.
    pub(crate) fn reference(&self) -> ObjectReference {
        let text = |keys: &[&str]| self.value.str_at(keys).unwrap_or_default().to_owned();
        ObjectReference {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
            ..self.node.map(identity::reference).unwrap_or_default()
        }
    }

    /// Its text as it was read, with all changes.
    ///
    /// # Errors
    /// If the changed text would not read as the object.
    pub fn text(&self, position: Position) -> Result<String> {
        let text = match self.node {
            Some(node) => lists::render(node.document(), &self.value, position),
            None => krm_yaml::render_new(&self.value, position),
        }?;
        Ok(match &self.apart {
            Some(apart) if position == Position::Document => apart.around(&text),
            _ => text,
        })
    }
}
