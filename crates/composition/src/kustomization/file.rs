//! The file of a Kustomization or Component.

use std::sync::Arc;

use crate::engine::transformer::{RUNTIME, Transformer};
use crate::kustomization::check::{Checker, Part};
use crate::kustomization::fields::{DEPRECATED, FIELDS};
use crate::read::locate::KUSTOMIZATIONS;
use crate::read::model::GROUP;
use krm_core::files::{Entry, Files, join};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, DuplicateKeys, FieldPath, NodeId, Value};

/// The kinds of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Kustomization,
    /// Runs on the objects of the Kustomization that names it.
    Component,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kustomization => "Kustomization",
            Self::Component => "Component",
        }
    }

    const fn version(self) -> &'static str {
        match self {
            Self::Kustomization => "v1beta1",
            Self::Component => "v1alpha1",
        }
    }
}

/// A Kustomization or Component as it is written.
#[derive(Debug)]
pub(crate) struct Kustomization {
    pub(crate) kind: Kind,
    /// The directory of the file.
    pub(crate) directory: String,
    pub(crate) document: Arc<Document>,
    pub(crate) root: NodeId,
    /// Its fields, with the types and the spelling of [`FIELDS`].
    pub(crate) value: Value<'static>,
    /// The transformer of a Composition that it is: its parts may come from several files.
    pub(crate) transformer: Option<Transformer>,
}

impl Kustomization {
    /// The value of a field; none if it is missing or empty.
    pub(crate) fn field(&self, name: &str) -> Option<&Value<'static>> {
        self.value.get(name).filter(|value| !is_empty(value))
    }

    /// It with the types and the spelling of [`FIELDS`]. Reports what does not fit, and then returns
    /// none.
    fn checked(mut self, diagnostics: &mut Diagnostics) -> Option<Self> {
        let mut found = Diagnostics::new();
        let value = std::mem::replace(&mut self.value, Value::mapping(Vec::new()));
        let mut checker = Checker {
            places: &|value, path, part| self.place(value, path, part),
            document: &self.document,
            diagnostics: &mut found,
            kind: self.kind.name(),
        };
        let value = checker.mapping(value, FIELDS, &FieldPath::root());
        let fields = value.entries().unwrap_or_default().iter();
        let mut fields = fields.filter(|(key, _)| !matches!(key.as_ref(), "apiVersion" | "kind"));
        if fields.next().is_none() && !found.has_errors() && self.transformer.is_none() {
            found.push(empty(self.document.source().name()).at(self.kind_place()));
        }
        self.value = value;
        self.warn_of_deprecated(&mut found);
        let has_failed = found.has_errors();
        diagnostics.append(found);
        (!has_failed).then_some(self)
    }

    /// The place of a value, which is at a path.
    pub(crate) fn place(&self, value: &Value<'_>, path: &FieldPath, part: Part) -> Option<Place> {
        if let Some(transformer) = &self.transformer {
            return transformer.place_of(path);
        }
        let cursor = self.document.cursor(value.origin?);
        Some(match part {
            Part::Key => cursor.key_place(),
            Part::Value => cursor.place(),
        })
    }

    /// Warns of fields that have a successor.
    fn warn_of_deprecated(&self, diagnostics: &mut Diagnostics) {
        for (field, successor) in DEPRECATED {
            let Some(written) = self.value.get(field) else {
                continue;
            };
            let mut warning = Diagnostic::warning(format!("`{field}` is deprecated"));
            warning.place = self.place(written, &FieldPath::root().key(*field), Part::Key);
            let hint = if self.transformer.is_some() || *field == "vars" {
                format!("use `{successor}` instead")
            } else {
                format!(
                    "use `{successor}` instead: `krm-template edit fix`, run in the directory of the file, makes the change"
                )
            };
            let warning = warning.rule("deprecated-field").field(*field);
            diagnostics.push(warning.hint(hint));
        }
    }

    /// The place of its kind.
    pub(crate) fn kind_place(&self) -> Place {
        let root = self.document.cursor(self.root);
        root.get("kind").map_or_else(|| root.place(), Cursor::place)
    }
}

/// Reads the file in a directory. Reports errors, and then returns none.
pub(crate) fn read(
    files: &dyn Files,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Kustomization> {
    let paths = KUSTOMIZATIONS.map(|name| join(directory, name));
    let mut found = paths.iter().filter(|path| files.entry(path) == Some(Entry::File));
    let Some(path) = found.next() else {
        let problem = format!(
            "`{directory}` holds no `{}`, `{}` or `{}`",
            KUSTOMIZATIONS[0], KUSTOMIZATIONS[1], KUSTOMIZATIONS[2]
        );
        diagnostics.push(Diagnostic::error(problem));
        return None;
    };
    if let Some(second) = found.next() {
        let problem =
            format!("`{directory}` holds both `{path}` and `{second}`: only one is allowed");
        diagnostics.push(Diagnostic::error(problem).hint("keep one of them"));
        return None;
    }
    let source = diagnostics.take(files.source(path, directory))?;
    let document = Arc::new(diagnostics.take(Document::parse(&source))?);
    let mut roots = document.roots().filter(|root| !root.is_null());
    let first = roots.next().map(Cursor::id);
    if let Some(second) = roots.next() {
        let warning = Diagnostic::warning("only the first document of the file counts");
        diagnostics.push(warning.at(second.key_place()));
    }
    drop(roots);
    let Some(root) = first else {
        diagnostics.push(empty(path));
        return None;
    };
    read_node(&document, root, directory, diagnostics)
}

/// Reads the Kustomization under a node; its paths are relative to `directory`. Reports errors, and
/// then returns none.
pub(crate) fn read_node(
    document: &Arc<Document>,
    root: NodeId,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Kustomization> {
    let node = document.cursor(root);
    let value = value(node, diagnostics)?.into_owned();
    if value.entries().is_none() {
        let wrong = Diagnostic::error("expected a Kustomization, found no mapping");
        diagnostics.push(wrong.at(node.place()));
        return None;
    }
    let kustomization = Kustomization {
        kind: kind(node, diagnostics)?,
        directory: directory.to_owned(),
        document: Arc::clone(document),
        root,
        value,
        transformer: None,
    };
    kustomization.checked(diagnostics)
}

/// The Kustomization that a transformer of a Composition is.
pub(crate) fn of_transformer(
    transformer: &Transformer,
    diagnostics: &mut Diagnostics,
) -> Option<Kustomization> {
    let first = transformer.layers.first()?;
    let mut value = transformer.config.clone();
    for key in RUNTIME.into_iter().chain(["apiVersion", "metadata"]) {
        value.remove(key);
    }
    let kustomization = Kustomization {
        kind: Kind::Kustomization,
        directory: transformer.directory.clone(),
        document: Arc::clone(&first.document),
        root: first.node,
        value,
        transformer: Some(transformer.clone()),
    };
    kustomization.checked(diagnostics)
}

fn empty(path: &str) -> Diagnostic {
    Diagnostic::error(format!("`{path}` is empty, expected a Kustomization"))
        .hint("name files under `resources`")
}

/// The value of a node. As for kustomize, the last of equal keys counts; here with a warning.
fn value<'d>(node: Cursor<'d>, diagnostics: &mut Diagnostics) -> Option<Value<'d>> {
    let mut found = Diagnostics::new();
    let value = node.value(DuplicateKeys::Refuse, &mut found);
    if !found.has_errors() {
        diagnostics.append(found);
        return value;
    }
    let mut others = Diagnostics::new();
    let value = node.value(DuplicateKeys::LastWins, &mut others);
    if others.has_errors() {
        diagnostics.append(others);
        return None;
    }
    diagnostics.append(found.map(|one| Diagnostic { severity: Severity::Warning, ..one }));
    value
}

/// The kind of a file. Both `kind` and `apiVersion` may be missing.
fn kind(node: Cursor<'_>, diagnostics: &mut Diagnostics) -> Option<Kind> {
    let text = |key| node.get(key).filter(|field| !field.is_null());
    let place = |key| text(key).map_or_else(|| node.key_place(), Cursor::place);
    let written = node.text_at(["kind"]).unwrap_or_default();
    let kind = match written.as_ref() {
        "" | "Kustomization" => Kind::Kustomization,
        "Component" => Kind::Component,
        other => {
            let known = [Kind::Kustomization.name(), Kind::Component.name()];
            let hint = match closest(other, known) {
                Some(known) => format!("did you mean `kind: {known}`?"),
                None => "a Kustomization has `kind: Kustomization`".to_owned(),
            };
            let wrong = Diagnostic::error(format!(
                "expected `kind: Kustomization` or `kind: Component`, found `kind: {other}`"
            ));
            diagnostics.push(wrong.at(place("kind")).field("kind").hint(hint));
            return None;
        }
    };
    let version = node.text_at(["apiVersion"]).unwrap_or_default();
    let expected = format!("{GROUP}/{}", kind.version());
    if !version.is_empty() && version != expected {
        let problem = format!("unknown `apiVersion: {version}` of a {}", kind.name());
        let wrong = Diagnostic::error(problem).at(place("apiVersion"));
        diagnostics.push(wrong.field("apiVersion").hint(format!("use `{expected}`")));
        return None;
    }
    Some(kind)
}

/// Whether a field is there without a content.
fn is_empty(value: &Value<'_>) -> bool {
    value.as_str() == Some("")
        || value.entries().is_some_and(<[_]>::is_empty)
        || value.items().is_some_and(<[_]>::is_empty)
}
