//! The ResourceList that functions read and write.
//!
//! Contract: the KRM functions specification (`config.kubernetes.io/v1`). What is not changed is
//! copied byte for byte; JSON stays JSON.
//!
//! [`ResourceList::with_changes`] adds the edits of the items to those of the lists around them,
//! and does not read the whole new text again: that would cost more than passing all items through.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::lists;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::suggest::closest;
use krm_yaml::{
    Cursor, Document, DuplicateKeys, Edit, Edited, NodeId, Position, SharedNode, Value,
};

/// A ResourceList as it was read.
#[derive(Debug)]
pub struct ResourceList<'d> {
    document: &'d Arc<Document>,
    root: Cursor<'d>,
    style: ItemStyle,
}

impl<'d> ResourceList<'d> {
    /// Reads the ResourceList that a document must be.
    ///
    /// # Errors
    /// If it is another one.
    pub fn read(document: &'d Arc<Document>) -> Result<Self> {
        let name = document.source().name();
        let mut roots = document.roots();
        let (first, second) = (roots.next(), roots.next());
        let Some(root) = first else {
            let is_blank = document.text().trim().is_empty();
            let problem = if is_blank { "is empty" } else { "has no object" };
            return Err(Diagnostic::error(format!("`{name}` {problem}, expected a ResourceList"))
                .hint(RUN_BY)
                .hint("to expand the Template in a file, run `krm-template process -f FILE`")
                .into());
        };
        if let Some(second) = second {
            return Err(Diagnostic::error("expected one ResourceList, found several documents")
                .at(second.key_place())
                .hint("put the objects under `items` of a ResourceList")
                .into());
        }
        check_kind(root)?;
        check_keys(root)?;
        for key in ["items", "results"] {
            if let Some(entry) = root.get(key)
                && !entry.is_sequence()
                && !entry.is_null()
            {
                return Err(Diagnostic::error(format!("`{key}` of a ResourceList must be a list"))
                    .at(entry.place())
                    .field(key)
                    .hint("begin each entry with `- `")
                    .into());
            }
            check_own(root, key)?;
        }
        let style = ItemStyle::of(root);
        Ok(Self { document, root, style })
    }

    /// The document that it was read from.
    pub const fn document(&self) -> &'d Arc<Document> {
        self.document
    }

    /// The input objects, to be [opened](Cursor::open).
    pub fn items(&self) -> impl Iterator<Item = Cursor<'d>> {
        self.root.get("items").into_iter().flat_map(Cursor::children)
    }

    /// The same, each with its document.
    pub fn shared_items(&self) -> Vec<SharedNode> {
        let items = self.items();
        items.map(|item| SharedNode::new(self.document, item.id())).collect()
    }

    /// Refuses items with keys or values that Kubernetes cannot read.
    ///
    /// # Errors
    /// At the first key or value that is not one.
    pub fn check_items(&self) -> Result<()> {
        self.root.get("items").map_or(Ok(()), Cursor::check_values)
    }

    /// The object the function is configured by.
    pub fn function_config(&self) -> Option<Cursor<'d>> {
        self.root.get("functionConfig").filter(|config| !config.is_null())
    }

    /// Warns of fields that look like a misspelt `functionConfig`: without one, nothing is done.
    pub fn misspelt_config(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        let known = ["apiVersion", "kind", "metadata", "items", "results", "functionConfig"];
        for entry in self.root.children() {
            let Ok(key) = entry.key() else { continue };
            if known.contains(&key.as_ref()) || closest(&key, ["functionConfig"]).is_none() {
                continue;
            }
            found.push(
                Diagnostic::warning(format!(
                    "unknown field `{key}` of a ResourceList; without `functionConfig` the function does nothing"
                ))
                .at(entry.key_place())
                .hint("did you mean `functionConfig`?"),
            );
        }
        found
    }

    /// The text of an object as one more of the items, in the style of the others.
    ///
    /// # Errors
    /// If the object cannot be written so that it reads back.
    pub fn item_text(&self, document: &Document, object: &Value<'_>) -> Result<String> {
        match &self.style {
            ItemStyle::Block { column } => {
                lists::render(document, object, Position::Item { column: *column })
            }
            ItemStyle::JsonLines { indentation } => {
                let json = krm_yaml::render_json(object, Some(2))?;
                let lines = json.split('\n');
                Ok(lines.fold(String::new(), |text, line| text + "\n" + indentation + line))
            }
            ItemStyle::Json => krm_yaml::render_json(object, None),
        }
    }

    /// The text with the changes made.
    ///
    /// # Errors
    /// If the new text does not read back as intended.
    pub fn with_changes(&self, changes: Changes) -> Result<Edited> {
        let Changes { mut edits, removed, added, results } = changes;
        let root = self.root;
        let mut keys = Vec::new();
        self.change_items(&removed, &added, &mut edits, &mut keys);
        if results.items().is_some_and(|results| !results.is_empty()) {
            self.add_results(results, &mut edits, &mut keys);
        }
        if root.is_flow() {
            self.add_flow_keys(&keys, &mut edits);
        } else if !keys.is_empty() {
            let at = root.children().last().map_or(root.end(), krm_yaml::end_with_comments);
            edits.push(self.lines_at(at, &keys.concat()));
        }
        krm_yaml::close_text(self.root.document(), &mut edits);
        Edited::new(self.root.document(), edits)
    }

    /// Removes items and adds new ones after the others; if there are none, `keys` may get
    /// the key for them.
    fn change_items(
        &self,
        removed: &BTreeSet<usize>,
        added: &[String],
        edits: &mut Vec<Edit>,
        keys: &mut Vec<String>,
    ) {
        let entry = self.root.get("items");
        let all = self.items().enumerate();
        let removed = all.filter(|(at, _)| removed.contains(at));
        let removed: BTreeSet<NodeId> = removed.map(|(_, item)| item.id()).collect();
        let stays = |item: &Cursor<'_>| !removed.contains(&item.id());
        let last = entry.and_then(|items| items.children().filter(stays).last());
        if let Some(items) = entry.filter(|_| !removed.is_empty()) {
            if last.is_none() {
                edits.extend(self.other_items(items, added));
                return;
            }
            edits.extend(krm_yaml::remove_items(items, |id| removed.contains(&id)));
        }
        match (last, entry) {
            (Some(_), _) if added.is_empty() => {}
            (None, Some(entry)) if added.is_empty() && entry.is_sequence() => {}
            (Some(last), _) => match self.style {
                ItemStyle::Block { .. } => {
                    edits.push(self.lines_at(
                        krm_yaml::end_with_comments(last.open().cursor()),
                        &added.concat(),
                    ));
                }
                ItemStyle::JsonLines { .. } => {
                    edits.push(Edit::insert(last.end(), comma_before_each(added, ",")));
                }
                ItemStyle::Json => {
                    edits.push(Edit::insert(last.end(), comma_before_each(added, ", ")));
                }
            },
            (None, Some(entry)) if added.is_empty() || self.root.is_flow() => {
                edits.push(after_key(entry, &self.new_list(added)));
            }
            (None, None) if self.root.is_flow() => {
                keys.push(format!("\"items\": {}", self.new_list(added)));
            }
            (None, None) if added.is_empty() => {
                keys.push(format!("{}items: []\n", self.indentation()));
            }
            (None, None) => {
                let items = added.concat();
                keys.push(format!("{}items:\n{items}", self.indentation()));
            }
            // `items: []`, `items: null` or `items:`, perhaps with comments around it.
            (None, Some(entry)) => {
                edits.push(empty_value(entry));
                let line = krm_yaml::next_line(self.root.document().text(), entry.end());
                edits.push(self.lines_at(line, &added.concat()));
            }
        }
    }

    /// Replaces all items by new ones.
    fn other_items(&self, items: Cursor<'_>, added: &[String]) -> Vec<Edit> {
        let lines = krm_yaml::lines_of_items(items).filter(|_| !items.is_flow());
        let Some((start, end)) = lines else {
            return vec![after_key(items, &self.new_list(added))];
        };
        let after_key = items.after_key();
        let text = match added {
            // The comments between the key and the first item stay.
            [] if start >= after_key => {
                let empty = Edit::insert(after_key, " []".to_owned());
                let text = String::new();
                return vec![empty, Edit { start, end, text }];
            }
            [] => {
                let text = format!(" []{}", items.document().eol());
                return vec![Edit { start: after_key, end, text }];
            }
            added => added.concat(),
        };
        vec![Edit { start, end, text }]
    }

    /// A new list of items, as JSON.
    fn new_list(&self, added: &[String]) -> String {
        match &self.style {
            ItemStyle::JsonLines { indentation } if !added.is_empty() => {
                let outer = indentation.get(indentation.len() / 2..).unwrap_or_default();
                format!("[{}\n{outer}]", added.join(","))
            }
            _ => format!("[{}]", added.join(", ")),
        }
    }

    /// Replaces the list of results, or adds a key for it.
    fn add_results(&self, list: Value<'static>, edits: &mut Vec<Edit>, keys: &mut Vec<String>) {
        let mut json = String::new();
        krm_yaml::json(&mut json, &list, None, 0);
        match self.root.get("results") {
            Some(old) if old.holds(&list) => {}
            // The function wrote them, and writes them so again.
            Some(old) if is_json(old) => edits.push(after_key(old, &json)),
            Some(old) => {
                // In the present style, so that running again changes no lines.
                let updated = old
                    .children()
                    .next()
                    .map(|_| krm_yaml::update(old, list, &crate::item_keys::ITEM_KEYS));
                match updated {
                    Some(Ok(updated)) => edits.extend(updated),
                    _ => edits.push(after_key(old, &json)),
                }
            }
            None if self.root.is_flow() => keys.push(format!("\"results\": {json}")),
            None => {
                let text = krm_yaml::to_string(&Value::mapping(vec![("results".into(), list)]));
                let indentation = self.indentation();
                let lines = text.split_inclusive('\n');
                keys.extend(lines.map(|line| format!("{indentation}{line}")));
            }
        }
    }

    /// Adds keys at the end of a ResourceList in braces.
    fn add_flow_keys(&self, keys: &[String], edits: &mut Vec<Edit>) {
        if keys.is_empty() {
            return;
        }
        match self.root.children().last() {
            Some(last) => edits.push(Edit::insert(last.end(), comma_before_each(keys, ", "))),
            None => edits.push(Edit::insert(self.root.end() - 1, keys.join(", "))),
        }
    }

    /// The indentation of the keys of a ResourceList in a block.
    fn indentation(&self) -> String {
        " ".repeat(self.root.document().column(self.root.start()))
    }

    /// An edit that puts whole lines at `at`, which is the start of a line or the end of the text.
    fn lines_at(&self, at: usize, lines: &str) -> Edit {
        let open = at > 0 && !krm_yaml::ends_line(self.root.document().text(), at);
        Edit::insert(at, format!("{}{lines}", if open { "\n" } else { "" }))
    }
}

/// The layout of the items in the text.
#[derive(Debug)]
enum ItemStyle {
    /// As block YAML after a dash at this column.
    Block { column: usize },
    /// As JSON on lines of their own.
    JsonLines { indentation: String },
    /// As JSON on the line of the item before.
    Json,
}

impl ItemStyle {
    /// The style of the items.
    fn of(root: Cursor<'_>) -> Self {
        let document = root.document();
        let items = root.get("items");
        let Some(last) = items.and_then(|items| items.children().last()) else {
            let column = document.column(root.start());
            let first = root.children().next().filter(|_| root.is_flow());
            return match first.and_then(own_line) {
                Some(indentation) => Self::JsonLines { indentation: indentation.repeat(2) },
                None if root.is_flow() => Self::Json,
                None => Self::Block { column },
            };
        };
        let start = last.start();
        if !items.is_some_and(Cursor::is_flow) {
            return Self::Block { column: document.column(start) };
        }
        if let Some(indentation) = own_line(last) {
            return Self::JsonLines { indentation: indentation.to_owned() };
        }
        Self::Json
    }
}

/// The indentation of an entry or item that is the first on its line, and not of the whole text.
fn own_line(node: Cursor<'_>) -> Option<&str> {
    let document = node.document();
    let line = document.line_start(node.start());
    let indentation = document.slice(line..node.start());
    let is_blank = indentation.bytes().all(|byte| byte.is_ascii_whitespace());
    (line > 0 && is_blank).then_some(indentation)
}

fn comma_before_each(texts: &[String], comma: &str) -> String {
    texts.iter().flat_map(|text| [comma, text.as_str()]).collect()
}

/// Takes an empty value out of a block. Comments between it and its key stay.
fn empty_value(entry: Cursor<'_>) -> Edit {
    let document = entry.document();
    let (line, value) = (document.line_start(entry.end()), entry.value_start());
    if value >= line && line > entry.after_key() {
        let end = krm_yaml::next_line(document.text(), entry.end());
        let rest = document.slice(entry.end()..end);
        let is_blank = rest.trim().is_empty();
        return Edit {
            start: if is_blank { line } else { value },
            end: if is_blank { end } else { entry.end() + rest.len() - rest.trim_start().len() },
            text: String::new(),
        };
    }
    after_key(entry, "")
}

/// Whether a value is written as JSON on one line without spaces.
fn is_json(entry: Cursor<'_>) -> bool {
    let value = entry.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
    value.is_some_and(|value| {
        let mut json = String::new();
        krm_yaml::json(&mut json, &value, None, 0);
        json == entry.raw()
    })
}

/// Replaces the text after the key of an entry, on one line.
fn after_key(entry: Cursor<'_>, text: &str) -> Edit {
    let start = entry.after_key();
    let old = entry.document().slice(start..entry.end());
    let is_tight = old.starts_with(|first: char| !first.is_whitespace());
    // In braces a key may be without a colon.
    let has_colon = entry.document().slice(0..start).ends_with(':');
    let blank = match (text.is_empty(), has_colon) {
        (true, _) => "",
        (false, false) => ": ",
        (false, true) if is_tight => "",
        (false, true) => " ",
    };
    Edit { start, end: entry.end().max(start), text: format!("{blank}{text}") }
}

/// The changes that a function makes to a ResourceList.
pub struct Changes {
    /// Edits inside items that stay.
    pub edits: Vec<Edit>,
    /// The positions of the items that are taken out.
    pub removed: BTreeSet<usize>,
    /// Objects to add after the last item, as [`ResourceList::item_text`] writes them.
    pub added: Vec<String>,
    /// The list `results`, which replaces that of the input.
    pub results: Value<'static>,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            edits: Vec::new(),
            removed: BTreeSet::new(),
            added: Vec::new(),
            results: Value::sequence(Vec::new()),
        }
    }
}

/// A list that is written at another place could not be changed here alone.
fn check_own(root: Cursor<'_>, key: &str) -> Result<()> {
    let Some(entry) = root.get(key) else {
        return Ok(());
    };
    let is_own = root.children().any(|own| own.id() == entry.id());
    let problem = if !is_own {
        "must not come from a merge key"
    } else if entry.resolved().id() != entry.id() {
        "must not be an alias"
    } else {
        return Ok(());
    };
    let problem = format!("`{key}` of a ResourceList {problem}");
    let hint = format!("write the list under `{key}`");
    let diagnostic = Diagnostic::error(problem).at(entry.place());
    Err(diagnostic.field(key).hint(hint).into())
}

/// A list under a duplicate key would be lost.
fn check_keys(root: Cursor<'_>) -> Result<()> {
    let mut found = Diagnostics::new();
    root.check_keys(DuplicateKeys::Refuse, &mut found);
    match found.iter().next() {
        Some(first) => Err(first.clone().into()),
        None => Ok(()),
    }
}

const RUN_BY: &str =
    "`kustomize build`, `kpt fn eval` and `kpt fn render` run the function and send it one";

fn check_kind(root: Cursor<'_>) -> Result<()> {
    if !root.is_mapping() {
        return Err(Diagnostic::error("a ResourceList must be a mapping")
            .at(root.place())
            .hint(RUN_BY)
            .into());
    }
    let kind = root.get("kind");
    let name = kind.and_then(|kind| kind.text().ok().flatten()).unwrap_or_default();
    if name == "ResourceList" {
        return Ok(());
    }
    let (found, place) = match kind {
        Some(kind) => (format!("`kind: {name}`"), kind.place()),
        None => ("an object without `kind`".to_owned(), root.key_place()),
    };
    let hint = if name == "Template" {
        "to expand this Template, run `krm-template process -f FILE`"
    } else {
        RUN_BY
    };
    Err(Diagnostic::error(format!("expected `kind: ResourceList`, found {found}"))
        .at(place)
        .field("kind")
        .hint(hint)
        .into())
}
