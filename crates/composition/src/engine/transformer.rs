//! One transformer of a consolidated list: its id, its configuration, and where each part of that
//! was written.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use krm_core::files;
use krm_core::typed::{self, AnyCase, Mismatch, OddKey, Problem};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Cursor, Document, FieldPath, NodeId, Position, SharedNode, Value};

/// Identifies a transformer among the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransformerId {
    /// The group of its `apiVersion`; empty for the built-in ones.
    pub group: String,
    /// The version; by default `builtin`.
    pub version: String,
    /// `kind`, which selects a built-in transformer or a function.
    pub kind: String,
    /// `metadata.namespace`; empty if it names none.
    pub namespace: String,
    /// `metadata.name`; by default the kind in kebab case.
    pub name: String,
}

impl TransformerId {
    /// Whether its `apiVersion` is `builtin`, or missing.
    pub(crate) fn is_builtin(&self) -> bool {
        self.group.is_empty() && self.version == "builtin"
    }
}

impl fmt::Display for TransformerId {
    /// `LabelTransformer environment-label`, with group, version and namespace where it has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        match (self.group.as_str(), self.version.as_str()) {
            ("", "builtin") => {}
            ("", version) => write!(f, ".{version}")?,
            (group, version) => write!(f, ".{version}.{group}")?,
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// The fields that name the runtime of a transformer.
pub(crate) const RUNTIME: [&str; 2] = ["provider", "runtime"];

/// The node of a part of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) document: Arc<Document>,
    pub(crate) node: NodeId,
    /// The field of the part; the root for the object that declares the transformer.
    pub(crate) at: FieldPath,
}

impl Layer {
    /// The node of a field in this part.
    pub(crate) fn find(&self, field: &FieldPath) -> Option<Cursor<'_>> {
        let steps = field.steps().strip_prefix(self.at.steps())?;
        self.document.cursor(self.node).lookup(&FieldPath::root().join(steps))
    }

    /// The layer for the part `path` of its transformer, as the field `to` of another one.
    pub(crate) fn moved(&self, path: &FieldPath, to: &FieldPath) -> Option<Self> {
        let mut at = to.clone();
        let node = if let Some(node) = self.find(path) {
            node.id()
        } else {
            at = at.join(self.at.steps().strip_prefix(path.steps())?);
            self.node
        };
        let document = Arc::clone(&self.document);
        Some(Self { document, node, at })
    }

    /// Whether the part is inside of a field.
    fn is_within(&self, field: &FieldPath) -> bool {
        self.at != *field && self.at.starts_with(field)
    }

    /// The file it was read from.
    fn file(&self) -> &str {
        self.document.source().name()
    }
}

/// A transformer with its configuration, after imports and overrides.
#[derive(Clone, Debug)]
pub struct Transformer {
    /// Identifies it among the others.
    pub id: TransformerId,
    /// The whole object, with `apiVersion`, `kind` and `metadata` filled in. Its parts name the
    /// nodes of the document that declares it.
    pub config: Value<'static>,
    /// The directory of the file that declares it. [Resolve](Self::resolve) paths of the
    /// configuration: an override may bring them from another directory.
    pub directory: String,
    /// The object that declares it, then the parts that overrides added.
    pub(crate) layers: Vec<Layer>,
    /// Fields that are written elsewhere under other names, as those of a Kustomization are: the
    /// field, then its own field path.
    pub(crate) written_as: Vec<(FieldPath, FieldPath)>,
    /// The file of the object that declares it, where that may have a text of its own.
    pub(crate) read_from: Option<String>,
}

impl Transformer {
    /// The fields that every transformer may have.
    pub(crate) const COMMON_FIELDS: [&str; 5] =
        ["apiVersion", "kind", "metadata", "provider", "runtime"];

    /// The place of its declaration; overrides are elsewhere.
    pub fn place(&self) -> Option<Place> {
        let first = self.layers.first()?;
        Some(first.document.cursor(first.node).key_place())
    }

    /// The file that declares it.
    pub fn file(&self) -> &str {
        self.layers.first().map_or("", Layer::file)
    }

    /// Whether the same lines declare another one.
    pub(crate) fn is_written_where(&self, other: &Self) -> bool {
        let file_and_node = |one: &Self| {
            let layer = one.layers.first()?;
            Some((layer.file().to_owned(), layer.node))
        };
        file_and_node(self) == file_and_node(other)
    }

    /// The part that a field was written in, and its node there. The innermost part counts, and of
    /// several the one added last.
    fn written(&self, field: &FieldPath) -> Option<(&Layer, Cursor<'_>)> {
        let all = self.layers.iter().enumerate();
        let all = all.filter_map(|(index, layer)| {
            let node = layer.find(field)?;
            Some((layer.at.steps().len(), index, layer, node))
        });
        let last = all.max_by_key(|(depth, index, ..)| (*depth, *index));
        last.map(|(_, _, layer, node)| (layer, node))
    }

    /// The place of a field, or of what contains it.
    pub fn place_of(&self, field: &FieldPath) -> Option<Place> {
        let mut way = field.clone();
        while let Some((parent, _)) = way.split_last() {
            if let Some((_, node)) = self.written(&way) {
                return Some(node.place());
            }
            // The layers of an override hold the fields of a new mapping, not the mapping itself.
            if let Some(part) = self.layers.iter().find(|layer| layer.is_within(&way)) {
                return Some(part.document.cursor(part.node).place());
            }
            way = parent;
        }
        self.place()
    }

    /// The text of a field as a source of its own.
    pub(crate) fn source_of(&self, field: &FieldPath, text: &str) -> Arc<Source> {
        Source::inline(format!("{}, `{field}`", self.id), text)
    }

    /// The place in the file for a place in the [text of a field](Self::source_of); none if the
    /// file spells the text differently there.
    pub(crate) fn place_in_text(&self, field: &FieldPath, place: &Place) -> Option<Place> {
        let source = &place.source;
        if !source.is_inline() || source.name() != format!("{}, `{field}`", self.id) {
            return None;
        }
        let (_, node) = self.written(field)?;
        let (raw, text) = (node.raw(), place.source.text());
        let start = node.place().range.start + in_raw(raw, text, place.range.start)?;
        let end =
            in_raw(raw, text, place.range.end).map_or(start, |end| node.place().range.start + end);
        let source = Arc::clone(node.document().source());
        Some(Place { source, range: start..end.max(start) })
    }

    /// The file that holds the value of a field; none for a default.
    pub fn file_of(&self, field: &FieldPath) -> Option<&str> {
        self.written(field).map(|(layer, _)| layer.file())
    }

    /// Whether an override added parts of a field, and not the whole field.
    pub(crate) fn is_changed_within(&self, field: &FieldPath) -> bool {
        self.layers.iter().any(|layer| layer.is_within(field))
    }

    /// The files that hold the parts of a field.
    pub(crate) fn files_within(&self, field: &FieldPath) -> Vec<&str> {
        let parts = self.layers.iter().filter(|layer| layer.is_within(field));
        let whole = self.file_of(field).into_iter();
        whole.chain(parts.map(Layer::file)).collect()
    }

    /// The directory that a path in a field is relative to: that of the file that holds the field.
    pub fn directory_of(&self, field: &FieldPath) -> &str {
        let overriding = self.written(field);
        let declaration = self.layers.first();
        let is_declared = |layer: &Layer| {
            declaration.is_some_and(|first| Arc::ptr_eq(&first.document, &layer.document))
        };
        let overriding = overriding.filter(|(layer, _)| !is_declared(layer));
        overriding.map_or(&self.directory, |(layer, _)| files::directory_of(layer.file()))
    }

    /// Resolves a path in a field: the path relative to where files are read.
    pub fn resolve(&self, field: &FieldPath, path: &str) -> String {
        files::join(self.directory_of(field), path)
    }

    /// Its node, unless overrides or defaults added parts.
    pub(crate) fn written_as_is(&self) -> Option<(&Arc<Document>, NodeId)> {
        match self.layers.as_slice() {
            [layer] => Some((&layer.document, layer.node)),
            _ => None,
        }
    }

    /// The configuration of one of our own kinds, without what names its runtime: its node if that
    /// is all it has, otherwise one of a document of its own, called `name`.
    ///
    /// # Errors
    /// As [`krm_yaml::render`].
    pub fn plain_node(&self, name: &str) -> Result<SharedNode> {
        if let Some((document, node)) = self.written_as_is()
            && self.is_plain(document.cursor(node))
        {
            return Ok(SharedNode::new(document, node));
        }
        self.node_without_runtime(name)
    }

    /// The configuration without what names its runtime, in a document of its own, called `name`.
    ///
    /// # Errors
    /// As [`krm_yaml::render`].
    pub fn node_without_runtime(&self, name: &str) -> Result<SharedNode> {
        let mut plain = self.clone();
        for key in RUNTIME {
            plain.config.remove(key);
        }
        let text = plain.text(Position::Document)?;
        let document = Arc::new(Document::parse(&Source::inline(name, text))?);
        let root = SharedNode::roots(&document).next();
        root.ok_or_else(|| self.error(&FieldPath::root(), "it is empty").into())
    }

    /// Whether its only node names no runtime and needs no defaults.
    fn is_plain(&self, node: Cursor<'_>) -> bool {
        let holds = |key| node.get(key).zip(self.config.get(key));
        let mut names = ["apiVersion", "kind", "metadata"].into_iter().map(holds);
        names.all(|one| one.is_some_and(|(node, value)| node.holds(value)))
            && RUNTIME.iter().all(|key| node.get(key).is_none())
    }

    /// Moves messages about the input of a function to the lines that the input comes from.
    /// `is_of_input` tells whether a text is a part of it.
    pub fn placed(
        &self,
        found: Diagnostics,
        is_of_input: impl Fn(&Arc<Source>) -> bool,
    ) -> Diagnostics {
        found.map(|mut one| {
            let in_input = |place: &Place| is_of_input(&place.source);
            if one.place.as_ref().is_none_or(in_input) {
                let about_it = one.object.as_ref().is_none_or(|object| {
                    object.kind == self.id.kind && object.name == self.id.name
                });
                let field = one.field.as_deref().and_then(|field| field.parse().ok());
                one.place = match field {
                    Some(field) if about_it => self.place_of(&field),
                    _ => self.place(),
                };
            }
            one.related.retain(|(place, _)| !in_input(place));
            one
        })
    }

    /// The text of the configuration, with the layout and the comments of the file that declares
    /// it.
    ///
    /// # Errors
    /// As [`krm_yaml::render`].
    pub(crate) fn text(&self, position: Position) -> Result<String> {
        match self.layers.first() {
            Some(layer) => krm_yaml::render(&layer.document, &self.config, position),
            None => krm_yaml::render_new(&self.config, position),
        }
    }

    /// An error about a field of the configuration.
    pub fn error(&self, field: &FieldPath, problem: impl fmt::Display) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(format!("{}: {problem}", self.id));
        diagnostic.place = self.place_of(field);
        let field = self.written_as(field);
        if !field.steps().is_empty() {
            diagnostic = diagnostic.field(field.to_string());
        }
        diagnostic
    }

    /// The path of a field in the file.
    pub(crate) fn written_as(&self, field: &FieldPath) -> FieldPath {
        let parts = self.written_as.iter();
        let parts = parts.filter(|(at, _)| field.starts_with(at));
        let Some((at, path)) = parts.max_by_key(|(at, _)| at.steps().len()) else {
            return field.clone();
        };
        path.clone().join(field.steps().iter().skip(at.steps().len()))
    }

    /// Reads the configuration as a type.
    ///
    /// # Errors
    /// If a field is unknown, missing, or of another type; the error has the place of the field.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        self.read_as(None)
    }

    /// As [`read`](Self::read), perhaps in any case of the keys.
    ///
    /// # Errors
    /// As `read`.
    pub(crate) fn read_as<T: DeserializeOwned>(&self, any_case: Option<&AnyCase>) -> Result<T> {
        let read = typed::read_without(&Self::COMMON_FIELDS, &self.config, any_case);
        read.map_err(|mismatch| self.mismatch(&FieldPath::root(), &mismatch))
    }

    /// Whether a field of a Kustomization is this transformer, which then has no name of its own.
    pub(crate) fn is_field(&self) -> bool {
        self.read_from.is_none() && !self.written_as.is_empty()
    }

    /// Gives a key the spelling of its field, and takes out one that is unknown, as Go ignores it.
    /// Returns a warning at the key.
    pub(crate) fn mend(&mut self, key: &OddKey) -> Diagnostic {
        let (problem, hint) = key.in_words();
        let mut warning = Diagnostic::warning(format!("{}: {problem}", self.id))
            .field(key.written.to_string())
            .maybe_hint(hint);
        // Not by `place_of`, as each key may add a layer.
        let written = self.layers.first().and_then(|layer| {
            let node = layer.find(&key.written)?;
            warning.place = Some(node.key_place());
            Some((Arc::clone(&layer.document), node.id()))
        });
        let mapping = self.config.lookup_mut(&key.mapping);
        let Some((mapping, value)) = mapping.and_then(|mapping| {
            let value = mapping.remove(&key.key)?;
            Some((mapping, value))
        }) else {
            return warning;
        };
        if let Some(field) = key.field.filter(|_| !key.is_hidden) {
            mapping.remove(field);
            mapping.insert(Cow::Borrowed(field), value);
            let at = key.mapping.clone().key(field);
            self.written_as.push((at.clone(), key.written.clone()));
            let layer = written.map(|(document, node)| Layer { document, node, at });
            self.layers.extend(layer);
        }
        warning
    }

    /// Reads a part of the configuration as a type.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_part<T: DeserializeOwned>(
        &self,
        field: &FieldPath,
        value: &Value<'_>,
    ) -> Result<T> {
        typed::read(value).map_err(|mismatch| self.mismatch(field, &mismatch))
    }

    fn mismatch(&self, start: &FieldPath, mismatch: &Mismatch) -> Box<Diagnostic> {
        let path = mismatch.field(start);
        let written = self.written(&path).map(|(_, node)| node);
        let (problem, hint) = match (&mismatch.problem, written) {
            (Problem::Number(digits), Some(node)) => number_for_string(digits, node.raw()),
            _ => mismatch.in_words(),
        };
        let mut wrong = self.error(&path, problem).maybe_hint(hint);
        if let (Problem::UnknownField(..), Some(node)) = (&mismatch.problem, written) {
            wrong.place = Some(node.key_place());
        }
        wrong.into()
    }
}

/// The message for a number that has to be a string, with the spelling of the file: the value of
/// `1.10` is 1.1.
fn number_for_string(digits: &str, spelling: &str) -> (String, Option<String>) {
    let value = digits.parse::<f64>().map_or_else(|_| digits.to_owned(), |value| value.to_string());
    let problem = format!("expected a string, found the number `{spelling}`");
    let hint = if value == spelling {
        format!("put it in quotes: `\"{spelling}\"`")
    } else {
        format!("put it in quotes: `\"{spelling}\"`; without them it is {value}")
    };
    (problem, Some(hint))
}

/// The offset in the spelling of a scalar for an offset in its text. It is known for literal
/// blocks, and for scalars on one line without escapes.
fn in_raw(raw: &str, text: &str, at: usize) -> Option<usize> {
    if !raw.starts_with('|') {
        let is_line = !text.contains('\n') && !raw.contains('\n');
        return raw.find(text).filter(|_| is_line).map(|start| start + at);
    }
    let before = text.get(..at)?;
    let line_start = before.rfind('\n').map_or(0, |line_break| line_break + 1);
    let line = text.get(line_start..)?.split('\n').next()?;
    let number = before.matches('\n').count();
    let mut start = 0;
    // The first line is the header.
    let mut lines = raw.split_inclusive('\n').map(|line| {
        start += line.len();
        (start - line.len(), line.trim_end_matches(['\r', '\n']))
    });
    let Some((start, raw_line)) = lines.nth(number + 1) else {
        return (at == text.len()).then(|| raw.trim_end().len());
    };
    let indentation = raw_line.strip_suffix(line)?.len();
    Some(start + indentation + (at - line_start))
}

#[cfg(test)]
mod tests {
    use super::in_raw;

    #[test]
    fn places_in_a_string_are_found_in_the_file() {
        let block = "|2-\n\n    a: b\r\n   c: ü\n\n";
        let text = "\n  a: b\n c: ü";
        for (start, letter) in text.char_indices().filter(|(_, letter)| letter.is_alphabetic()) {
            let found = in_raw(block, text, start).unwrap();
            assert!(block.get(found..).unwrap().starts_with(letter), "{letter}");
        }
        assert_eq!(in_raw(block, text, text.len()), Some(block.trim_end().len()));
        assert_eq!(in_raw("'a b'", "a b", 2), Some(3));
        // Escapes, folded lines and joined lines are not known.
        assert_eq!(in_raw("'a''b'", "a'b", 2), None);
        assert_eq!(in_raw(">\n  a\n  b\n", "a b\n", 2), None);
        assert_eq!(in_raw("a\n  b", "a b", 2), None);
    }
}
