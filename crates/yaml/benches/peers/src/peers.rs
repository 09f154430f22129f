//! The same changes, made with each crate as its documentation shows.

use std::fmt::Display;
use std::str::FromStr;

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{
    Document, DuplicateKeys, Edited, FieldPath, ItemKeys, Step, Value, update, update_read,
};
use serde_yaml::value::Index;
use yaml_edit::path::YamlPath;

/// A change of one field of a document of a stream.
#[derive(Debug)]
pub struct Change {
    pub document: usize,
    pub path: FieldPath,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Gives an existing field another value.
    Set(New),
    /// Adds an entry to a mapping.
    Add(New),
    /// Adds an item to a list.
    Push(New),
    /// Removes an entry or item.
    Remove,
}

/// A new value.
#[derive(Clone, Copy, Debug)]
pub enum New {
    Text(&'static str),
    Number(i64),
}

impl Change {
    pub fn set(document: usize, path: FieldPath, new: New) -> Self {
        let kind = Kind::Set(new);
        Self { document, path, kind }
    }

    /// Changes plain data.
    fn make(&self, value: &mut Value<'_>) -> Option<()> {
        let (parent, step) = self.path.split_last()?;
        match (self.kind, step) {
            (Kind::Set(new), _) => value.lookup_mut(&self.path)?.set(Value::from(new).data),
            (Kind::Add(new), Step::Key(key)) => {
                value.lookup_mut(&parent)?.insert(key.clone().into(), new.into());
            }
            (Kind::Push(new), _) => value.lookup_mut(&self.path)?.items_mut()?.push(new.into()),
            (Kind::Remove, Step::Key(key)) => drop(value.lookup_mut(&parent)?.remove(key)?),
            (Kind::Remove, Step::Index(index)) => {
                value.lookup_mut(&parent)?.items_mut()?.remove(*index);
            }
            (Kind::Add(_), Step::Index(_)) => return None,
        }
        Some(())
    }

    /// The parent of the field, and the key of the field.
    fn entry(&self) -> Result<(FieldPath, &str), String> {
        match self.path.split_last() {
            Some((parent, Step::Key(key))) => Ok((parent, key)),
            _ => Err("not an entry".to_owned()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// krm-yaml by `update_read`, of one document.
    KrmYaml,
    /// krm-yaml by `update`, of any number of fields that exist.
    Update,
    YamlPatch,
    YamlEdit,
    Noyalib,
    SerdeYaml,
}

impl Peer {
    /// Those that make all kinds of changes.
    pub const ALL: &[Self] =
        &[Self::KrmYaml, Self::YamlPatch, Self::YamlEdit, Self::Noyalib, Self::SerdeYaml];

    pub const fn name(self) -> &'static str {
        match self {
            Self::KrmYaml => "krm-yaml",
            Self::Update => "update",
            Self::YamlPatch => "yamlpatch",
            Self::YamlEdit => "yaml-edit",
            Self::Noyalib => "noyalib",
            Self::SerdeYaml => "serde_yaml",
        }
    }

    pub fn named(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.iter().chain(&[Self::Update]);
        let found = all.find(|peer| peer.name() == name);
        found.copied().ok_or_else(|| format!("unknown crate `{name}`"))
    }

    pub fn edit(self, text: &str, changes: &[Change]) -> Result<String, String> {
        match self {
            Self::KrmYaml => by_editor(text, changes),
            Self::Update => by_update(text, changes),
            Self::YamlPatch => by_yamlpatch(text, changes),
            Self::YamlEdit => by_yaml_edit(text, changes),
            Self::Noyalib => by_noyalib(text, changes),
            Self::SerdeYaml => by_serde_yaml(text, changes),
        }
    }
}

fn message(error: impl Display) -> String {
    error.to_string()
}

fn missing() -> String {
    "the path does not exist".to_owned()
}

fn by_editor(text: &str, changes: &[Change]) -> Result<String, String> {
    let document = Document::parse(&Source::new("input", text)).map_err(message)?;
    let first = changes.first().ok_or_else(missing)?.document;
    if changes.iter().any(|change| change.document != first) {
        return Err("`update_read` changes one document".to_owned());
    }
    let root = document.roots().nth(first).ok_or_else(missing)?;
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
    let mut value = value.ok_or_else(missing)?;
    for change in changes {
        change.make(&mut value).ok_or_else(missing)?;
    }
    let edits = update_read(root, value, &ItemKeys::NONE).map_err(message)?;
    Edited::new(&document, edits).map(|edited| edited.to_string()).map_err(message)
}

impl From<New> for Value<'_> {
    fn from(new: New) -> Self {
        match new {
            New::Text(text) => text.into(),
            New::Number(number) => number.into(),
        }
    }
}

fn by_update(text: &str, changes: &[Change]) -> Result<String, String> {
    let document = Document::parse(&Source::new("input", text)).map_err(message)?;
    let roots: Vec<_> = document.roots().collect();
    let mut edits = Vec::new();
    for Change { document, path, kind } in changes {
        let Kind::Set(new) = *kind else {
            return Err("`update` changes a field that exists".to_owned());
        };
        let field = roots.get(*document).and_then(|root| root.lookup(path));
        let field = field.ok_or_else(missing)?;
        edits.extend(update(field, new.into(), &ItemKeys::NONE).map_err(message)?);
    }
    Edited::new(&document, edits).map(|edited| edited.to_string()).map_err(message)
}

/// It looks at the first document of a stream only, so the caller splits the stream.
fn by_yamlpatch(text: &str, changes: &[Change]) -> Result<String, String> {
    if changes.iter().all(|change| change.document == 0) {
        return patched(text, changes);
    }
    let mut out = String::new();
    let mut documents = text.split_inclusive("---\n").collect::<Vec<_>>();
    if documents.first() == Some(&"---\n") {
        out.push_str(documents.remove(0));
    }
    for (at, document) in documents.into_iter().enumerate() {
        let (own, end) = match document.strip_suffix("---\n") {
            Some(own) => (own, "---\n"),
            None => (document, ""),
        };
        // One change for each document, in order.
        let change = changes.get(at).filter(|change| change.document == at);
        let change = change.ok_or("a change for each document is expected")?;
        out.push_str(&patched(own, std::slice::from_ref(change))?);
        out.push_str(end);
    }
    Ok(out)
}

fn patched(text: &str, changes: &[Change]) -> Result<String, String> {
    let patches: Result<Vec<_>, String> = changes.iter().map(patch).collect();
    let document = yamlpath::Document::new(text).map_err(message)?;
    let new = yamlpatch::apply_yaml_patches(&document, &patches?).map_err(message)?;
    Ok(new.source().to_owned())
}

fn patch(change: &Change) -> Result<yamlpatch::Patch<'static>, String> {
    let value = |new| match new {
        New::Text(text) => yaml_serde::Value::from(text),
        New::Number(number) => number.into(),
    };
    let (route, operation) = match change.kind {
        Kind::Set(new) => (route(&change.path), yamlpatch::Op::Replace(value(new))),
        Kind::Push(new) => (route(&change.path), yamlpatch::Op::Append { value: value(new) }),
        Kind::Remove => (route(&change.path), yamlpatch::Op::Remove),
        Kind::Add(new) => {
            let (parent, key) = change.entry()?;
            let (key, value) = (key.to_owned(), value(new));
            (route(&parent), yamlpatch::Op::Add { key, value })
        }
    };
    Ok(yamlpatch::Patch { route, operation })
}

fn route(path: &FieldPath) -> yamlpath::Route<'static> {
    let steps = path.steps().iter().map(|step| match step {
        Step::Key(key) => yamlpath::Component::from(key.clone()),
        Step::Index(index) => (*index).into(),
    });
    steps.collect::<Vec<_>>().into()
}

fn by_yaml_edit(text: &str, changes: &[Change]) -> Result<String, String> {
    let file = yaml_edit::YamlFile::from_str(text).map_err(message)?;
    let documents: Vec<_> = file.documents().collect();
    for change in changes {
        let document = documents.get(change.document).ok_or_else(missing)?;
        let path = dotted(&change.path);
        match change.kind {
            Kind::Set(New::Text(text)) | Kind::Add(New::Text(text)) => {
                document.try_set_path(&path, text).map_err(message)?;
            }
            Kind::Set(New::Number(number)) | Kind::Add(New::Number(number)) => {
                document.try_set_path(&path, number).map_err(message)?;
            }
            Kind::Push(new) => {
                let list = document.try_get_path(&path).map_err(message)?;
                let list = list.as_sequence().ok_or_else(missing)?;
                match new {
                    New::Text(text) => list.push(text),
                    New::Number(number) => list.push(number),
                }
            }
            Kind::Remove => remove_by_yaml_edit(document, &path, change)?,
        }
    }
    Ok(file.to_string())
}

/// A path names an entry; an item is removed by its list.
fn remove_by_yaml_edit(
    document: &yaml_edit::Document,
    path: &str,
    change: &Change,
) -> Result<(), String> {
    let Some((parent, Step::Index(index))) = change.path.split_last() else {
        return document.try_remove_path(path).map(drop).map_err(message);
    };
    let list = document.try_get_path(&dotted(&parent)).map_err(message)?;
    let removed = list.as_sequence().and_then(|list| list.remove(*index));
    removed.map(drop).ok_or_else(missing)
}

/// A path as yaml-edit spells it: a dot in a key follows a backslash.
fn dotted(path: &FieldPath) -> String {
    let mut out = String::new();
    for step in path.steps() {
        match step {
            Step::Key(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&key.replace('.', "\\."));
            }
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

fn by_noyalib(text: &str, changes: &[Change]) -> Result<String, String> {
    // Its limits are lower than the large inputs need.
    let many = usize::MAX;
    let config = noyalib::ParserConfig::new()
        .max_document_length(many)
        .max_stream_bytes(many)
        .max_documents(many)
        .max_events(many)
        .max_nodes(many)
        .max_total_scalar_bytes(many);
    let mut documents = noyalib::cst::parse_stream_with_config(text, &config).map_err(message)?;
    for change in changes {
        let document = documents.get_mut(change.document).ok_or_else(missing)?;
        let path = quoted(&change.path);
        let value = |new| match new {
            New::Text(text) => noyalib::Value::from(text),
            New::Number(number) => number.into(),
        };
        let done = match change.kind {
            Kind::Set(new) => document.set_value(&path, &value(new)),
            Kind::Add(new) => {
                let (parent, key) = change.entry()?;
                document.insert_entry_value(&quoted(&parent), key, &value(new))
            }
            Kind::Push(new) => document.push_back_value(&path, &value(new)),
            Kind::Remove => document.remove(&path),
        };
        done.map_err(message)?;
    }
    Ok(documents.iter().map(ToString::to_string).collect())
}

/// A path as noyalib spells it: a key with dots or slashes is in brackets and quotes.
fn quoted(path: &FieldPath) -> String {
    let mut out = String::new();
    for step in path.steps() {
        match step {
            Step::Key(key) if key.contains(['.', '/']) => out.push_str(&format!("[\"{key}\"]")),
            Step::Key(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(key);
            }
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

fn by_serde_yaml(text: &str, changes: &[Change]) -> Result<String, String> {
    use serde_yaml::Value;

    let documents = serde_yaml::Deserializer::from_str(text);
    let documents = documents.map(|one| <Value as serde::Deserialize>::deserialize(one));
    let mut documents: Vec<Value> = documents.collect::<Result<_, _>>().map_err(message)?;
    for change in changes {
        let value = documents.get_mut(change.document).ok_or_else(missing)?;
        let parent = change.path.split_last();
        let (parent, last) = parent.ok_or_else(missing)?;
        let parent = part(value, parent.steps()).ok_or_else(missing)?;
        let new = |new| match new {
            New::Text(text) => Value::from(text),
            New::Number(number) => number.into(),
        };
        match (change.kind, last) {
            (Kind::Set(value), last) => *step(parent, last).ok_or_else(missing)? = new(value),
            (Kind::Push(value), last) => match step(parent, last) {
                Some(Value::Sequence(items)) => items.push(new(value)),
                _ => return Err(missing()),
            },
            (Kind::Add(value), Step::Key(key)) => {
                let entries = parent.as_mapping_mut().ok_or_else(missing)?;
                entries.insert(key.as_str().into(), new(value));
            }
            (Kind::Remove, Step::Key(key)) => {
                let entries = parent.as_mapping_mut().ok_or_else(missing)?;
                entries.shift_remove(key.as_str()).ok_or_else(missing)?;
            }
            (Kind::Remove, Step::Index(index)) => {
                let items = parent.as_sequence_mut().ok_or_else(missing)?;
                items.remove(*index);
            }
            (Kind::Add(_), Step::Index(_)) => return Err("not an entry".to_owned()),
        }
    }
    let texts = documents.iter().map(serde_yaml::to_string);
    let texts: Vec<String> = texts.collect::<Result<_, _>>().map_err(message)?;
    Ok(texts.join("---\n"))
}

fn part<'v>(value: &'v mut serde_yaml::Value, steps: &[Step]) -> Option<&'v mut serde_yaml::Value> {
    steps.iter().try_fold(value, step)
}

fn step<'v>(value: &'v mut serde_yaml::Value, step: &Step) -> Option<&'v mut serde_yaml::Value> {
    fn get<'v>(
        value: &'v mut serde_yaml::Value,
        index: impl Index,
    ) -> Option<&'v mut serde_yaml::Value> {
        value.get_mut(index)
    }
    match step {
        Step::Key(key) => get(value, key.as_str()),
        Step::Index(index) => get(value, *index),
    }
}
