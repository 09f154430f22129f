//! References under new names: renamed by position in the text, or reported where another Template
//! would take them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::merge::part::Part;
use krm_template_engine::{Dialect, Part as Piece, Path, parts as pieces, replace};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, Data, Edit, NodeId, Scalar, Value};

/// Renames the parameters of all Templates, with their references.
pub(super) fn rename(parts: &mut [Part<'_>], found: &mut Diagnostics) {
    let names: Vec<BTreeSet<String>> = parts.iter().map(Part::new_names).collect();
    let declared: BTreeSet<&str> = names.iter().flatten().map(String::as_str).collect();
    let mut captured = Vec::new();
    for (index, part) in parts.iter_mut().enumerate() {
        let own = part.template.parameters().iter();
        let own: BTreeSet<String> = own.map(|one| one.name.clone()).collect();
        let mut walk = Walk {
            root: part.root,
            dialect: part.template.dialect(),
            own: &own,
            renames: &part.renames,
            declared: &declared,
            edits: Vec::new(),
            captured: Vec::new(),
        };
        walk.template(&mut part.value, part.template.defaults_refer());
        part.edits = walk.edits;
        captured.extend(walk.captured.into_iter().map(|one| (index, one)));
    }
    for (index, one) in captured {
        let by = names.iter().position(|names| names.contains(&one.name));
        if let (Some(part), Some(by)) = (parts.get(index), by.and_then(|by| parts.get(by))) {
            found.push(one.error(part, by));
        }
    }
}

/// A text with its raw references written as those to text: so they mean the same in a label of an
/// object, or within a longer text, as in a text of the Template.
pub(super) fn as_text(text: &str, dialect: Dialect) -> String {
    let new = replace(text, dialect, |piece| match (piece, dialect) {
        (Piece::Raw { name, .. }, Dialect::Proposal) => Some(Cow::Owned(format!("$({name})"))),
        (Piece::Raw { name, .. }, Dialect::OpenShift) => Some(Cow::Owned(format!("${{{name}}}"))),
        _ => None,
    });
    new.unwrap_or_else(|| text.to_owned())
}

/// A reference that nothing replaces now, but would be replaced in the merged Template.
struct Captured {
    name: String,
    spelling: String,
    node: Option<NodeId>,
    field: String,
}

impl Captured {
    fn error(self, part: &Part<'_>, by: &Part<'_>) -> Diagnostic {
        let value = Value { origin: self.node, ..Value::string("") };
        let is_foreign = match part.template.dialect() {
            Dialect::Proposal => self.spelling.contains('{'),
            Dialect::OpenShift => self.spelling.starts_with("$("),
        };
        let would = if is_foreign { "look like" } else { "refer to" };
        let message = format!(
            "`{}` in Template `{}` would {would} parameter `{}` of Template `{}`",
            self.spelling, part.label, self.name, by.label
        );
        let mut parameters = by.template.parameters().iter();
        let parameter = parameters.find(|one| by.renamed(&one.name) == self.name);
        let list = by.items("parameters");
        let place = by.place(parameter.and_then(|one| list.get(one.index)?.get("name")));
        part.error(message, Some(&value))
            .related(place, "declared here")
            .field(self.field)
            .hint(by.prefix_hint())
    }
}

/// How the kubelet treats a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// It expands nothing in the text.
    Plain,
    /// This is the list of variables of a container.
    Variables,
    /// It replaces `$(NAME)` in the text.
    Expanded,
}

impl Context {
    /// The context of an entry.
    fn of(self, key: &str, in_container: bool) -> Self {
        match (in_container, key, self) {
            (true, "command" | "args", _) | (false, "value", Self::Variables) => Self::Expanded,
            (true, "env", _) => Self::Variables,
            (true, _, _) | (false, _, Self::Variables) => Self::Plain,
            (false, _, context) => context,
        }
    }
}

/// Renames the references in one Template.
struct Walk<'w, 'd> {
    root: Cursor<'d>,
    dialect: Dialect,
    /// The names of its own parameters, as they are written.
    own: &'w BTreeSet<String>,
    renames: &'w BTreeMap<String, String>,
    /// All names of the merged Template.
    declared: &'w BTreeSet<&'w str>,
    edits: Vec<Edit>,
    captured: Vec<Captured>,
}

impl Walk<'_, '_> {
    fn template(&mut self, template: &mut Value<'_>, defaults_refer: bool) {
        let root = Path::Root("");
        for key in ["labels", "objectLabels", "message"] {
            if let Some(value) = template.get_mut(key) {
                self.value(value, &Path::Key(&root, key), Context::Plain);
            }
        }
        let objects = template.get_mut("objects").and_then(Value::items_mut);
        let list = Path::Root("objects");
        for (index, object) in objects.into_iter().flatten().enumerate() {
            self.value(object, &Path::Index(&list, index), Context::Plain);
        }
        let parameters = template.get_mut("parameters").and_then(Value::items_mut);
        let list = Path::Root("parameters");
        for (index, parameter) in parameters.into_iter().flatten().enumerate() {
            if let Some(name) = parameter.get_mut("name") {
                self.name(name);
            }
            let path = Path::Index(&list, index);
            let default = parameter.get_mut("value").filter(|_| defaults_refer);
            if let Some(default) = default {
                let own = std::mem::replace(&mut self.dialect, Dialect::Proposal);
                self.value(default, &Path::Key(&path, "value"), Context::Plain);
                self.dialect = own;
            }
        }
        if let Some(Data::Mapping(entries)) = template.get_mut("values").map(|one| &mut one.data) {
            for (key, value) in entries {
                if let Some(new) = self.renames.get(key.as_ref()) {
                    let range = value.origin.map(|node| self.cursor(node).key_place().range);
                    self.edit(range, &[(key.as_ref(), new)]);
                    *key = Cow::Owned(new.clone());
                }
            }
        }
    }

    /// The name of a parameter where it is declared.
    fn name(&mut self, name: &mut Value<'_>) {
        let node = name.origin.map(|node| self.cursor(node));
        let old = match (&name.data, node) {
            (Data::Scalar(Scalar::String(text)), _) => text.clone().into_owned(),
            // A plain `N` is not a string, but it is still a name.
            (_, Some(node)) => node.text().ok().flatten().unwrap_or_default().into_owned(),
            (_, None) => return,
        };
        let Some(new) = self.renames.get(&old) else {
            return;
        };
        self.edit(node.map(|node| node.place().range), &[(&old, new)]);
        name.set(Data::Scalar(Scalar::String(Cow::Owned(new.clone()))));
    }

    fn value(&mut self, value: &mut Value<'_>, path: &Path<'_>, context: Context) {
        let origin = value.origin;
        match &mut value.data {
            Data::Scalar(Scalar::String(text)) => {
                let range = origin.map(|node| self.cursor(node).place().range);
                if let Some(new) = self.text(text, range, origin, path, context) {
                    *text = Cow::Owned(new);
                }
            }
            Data::Scalar(_) => {}
            Data::Sequence(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(item, &Path::Index(path, index), context);
                }
            }
            Data::Mapping(entries) => {
                let in_container = path.is_container();
                for (key, inner) in entries {
                    let range = inner.origin.map(|node| self.cursor(node).key_place().range);
                    let new = self.text(key, range, inner.origin, path, Context::Plain);
                    if let Some(new) = new {
                        *key = Cow::Owned(new);
                    }
                    let context = context.of(key, in_container);
                    self.value(inner, &Path::Key(path, key), context);
                }
            }
        }
    }

    /// The new text; `None` if nothing in it is renamed.
    fn text(
        &mut self,
        text: &str,
        range: Option<std::ops::Range<usize>>,
        node: Option<NodeId>,
        path: &Path<'_>,
        context: Context,
    ) -> Option<String> {
        if !text.contains('$') {
            return None;
        }
        let in_script = context == Context::Expanded || text.contains('\n');
        if self.dialect == Dialect::OpenShift && (!in_script || path.needs_replacement()) {
            self.foreign(text, node, path);
        }
        let mut changes: Vec<(&str, String)> = Vec::new();
        let new = replace(text, self.dialect, |piece| {
            let new = self.piece(piece, node, path, context);
            if !matches!(piece, Piece::Text(_)) {
                let spelling = new.clone().unwrap_or_else(|| piece.spelling().to_owned());
                changes.push((piece.spelling(), spelling));
            }
            new.map(Cow::Owned)
        })?;
        let changes: Vec<(&str, &str)> = changes.iter().map(|(old, new)| (*old, &**new)).collect();
        self.edit(range, &changes);
        Some(new)
    }

    /// Finds references in the syntax of the proposal, which are reported in OpenShift's dialect
    /// where they name a parameter.
    fn foreign(&mut self, text: &str, node: Option<NodeId>, path: &Path<'_>) {
        for piece in pieces(text, Dialect::Proposal) {
            let Some(name) = piece.name().filter(|name| self.declared.contains(name)) else {
                continue;
            };
            if !self.own.contains(name) || self.renames.contains_key(name) {
                self.capture(name, piece.spelling(), node, path);
            }
        }
    }

    fn capture(&mut self, name: &str, spelling: &str, node: Option<NodeId>, path: &Path<'_>) {
        self.captured.push(Captured {
            name: name.to_owned(),
            spelling: spelling.to_owned(),
            node,
            field: path.to_string(),
        });
    }

    /// The new spelling of a piece of text, if it has one.
    fn piece(
        &mut self,
        piece: Piece<'_>,
        node: Option<NodeId>,
        path: &Path<'_>,
        context: Context,
    ) -> Option<String> {
        let (name, spelling) = match piece {
            Piece::String { name, spelling }
            | Piece::Raw { name, spelling }
            | Piece::Foreign { name, spelling, .. } => (name, spelling),
            Piece::Text(_) | Piece::Escaped { .. } => return None,
        };
        if !self.own.contains(name) {
            if self.declared.contains(name) {
                self.capture(name, spelling, node, path);
            }
            return None;
        }
        let new = self.renames.get(name)?;
        match piece {
            // Only declared names are escaped; the kubelet removes the `$` itself.
            Piece::Foreign { is_escaped, .. } => {
                let needs_none = is_escaped && !self.declared.contains(name);
                (needs_none && context != Context::Expanded).then(|| piece.unescaped().to_owned())
            }
            _ => Some(spelling.replacen(name, new, 1)),
        }
    }

    fn cursor(&self, node: NodeId) -> Cursor<'_> {
        self.root.document().cursor(node)
    }

    /// Edits the text of a scalar in place: each of `changes` in order, from old to new spelling.
    /// Where an old spelling is not found, as it is written with escapes, nothing is edited here,
    /// and the scalar is written anew.
    fn edit(&mut self, range: Option<std::ops::Range<usize>>, changes: &[(&str, &str)]) {
        let Some(range) = range else { return };
        let mut edits = Vec::new();
        let mut at = range.start;
        for (old, new) in changes {
            let raw = self.root.document().slice(at..range.end);
            let Some(offset) = raw.find(old) else { return };
            let start = at + offset;
            at = start + old.len();
            if old != new {
                edits.push(Edit { start, end: at, text: (*new).to_owned() });
            }
        }
        self.edits.append(&mut edits);
    }
}
