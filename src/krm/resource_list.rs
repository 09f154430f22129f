//! The ResourceList that functions read and write.
//!
//! Contract: the KRM functions specification (`config.kubernetes.io/v1`). What is not changed is
//! copied byte for byte; JSON stays JSON.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::source::Source;
use crate::yaml::{self, Cursor, Document, DuplicateKeys, Edit, NodeId, Position, Value};

/// A ResourceList as it was read.
#[derive(Debug)]
pub(crate) struct ResourceList {
    document: Document,
    root: NodeId,
}

impl ResourceList {
    /// Reads the ResourceList that a text must be.
    pub(crate) fn read(source: &Arc<Source>) -> Result<Self> {
        if source.text().trim().is_empty() {
            return Err(Diagnostic::error(format!(
                "{} is empty, expected a ResourceList",
                source.name()
            ))
            .hint("a function is run by `kustomize build`, `kpt fn eval` or `kpt fn render`")
            .hint("to expand the Template in a file, run `krm-template process -f FILE`")
            .into());
        }
        let document = Document::parse(source)?;
        let mut roots = document.roots();
        let (first, second) = (roots.next(), roots.next());
        let Some(root) = first else {
            return Err(Diagnostic::error(format!(
                "{} holds no object, expected a ResourceList",
                source.name()
            ))
            .into());
        };
        if let Some(second) = second {
            return Err(
                Diagnostic::error("expected one ResourceList, found several documents")
                    .at(second.key_place())
                    .hint("put the objects under `items` of a ResourceList")
                    .into(),
            );
        }
        check_kind(root)?;
        check_keys(root)?;
        for key in ["items", "results"] {
            if let Some(entry) = root.get(key)
                && !entry.is_sequence()
                && !entry.is_null()
            {
                return Err(
                    Diagnostic::error(format!("`{key}` of a ResourceList must be a list"))
                        .at(entry.place())
                        .field(key)
                        .into(),
                );
            }
        }
        let root = root.id();
        drop(roots);
        Ok(Self { document, root })
    }

    fn root(&self) -> Cursor<'_> {
        self.document.cursor(self.root)
    }

    /// The input objects.
    pub(crate) fn items(&self) -> impl Iterator<Item = Cursor<'_>> {
        self.root()
            .get("items")
            .into_iter()
            .flat_map(Cursor::children)
    }

    /// The object the function is configured by.
    pub(crate) fn function_config(&self) -> Option<Cursor<'_>> {
        self.root()
            .get("functionConfig")
            .filter(|config| !config.is_null())
    }

    /// The text with some items put in place of old ones and others added.
    pub(crate) fn with_changes(&self, changes: Changes<'_>) -> Result<String> {
        let mut edits = self.closing_edits()?;
        edits.extend(changes.edits);
        let root = self.root();
        let flow = root.is_flow();
        let items = root
            .get("items")
            .filter(|items| items.children().next().is_some());
        let mut added_keys = String::new();
        match items {
            Some(items) if items.is_flow() => {
                self.add_to_flow_items(items, &changes.added, &mut edits);
            }
            Some(items) => self.add_to_items(items, &changes.added, &mut edits)?,
            None => added_keys = self.new_items(&changes.added, &mut edits)?,
        }
        if changes
            .results
            .items()
            .is_some_and(|results| !results.is_empty())
        {
            self.add_results(changes.results, flow, &mut edits, &mut added_keys);
        }
        if !added_keys.is_empty() {
            self.add_keys(&added_keys, &mut edits);
        }
        let text = self.document.text();
        Ok(yaml::apply(text, 0..text.len(), &mut edits))
    }

    /// Adds objects behind the items of a block sequence.
    fn add_to_items(
        &self,
        items: Cursor<'_>,
        added: &[Added<'_>],
        edits: &mut Vec<Edit>,
    ) -> Result<()> {
        let Some(last) = items.children().last() else {
            return Ok(());
        };
        if added.is_empty() {
            return Ok(());
        }
        let column = self.document.column(last.node().entry as usize);
        let mut text = String::new();
        for object in added {
            text.push_str(&yaml::render(
                object.document,
                &object.value,
                Position::Item { column },
            )?);
        }
        let at = yaml::end_with_comments(last);
        edits.push(self.lines_at(at, text));
        Ok(())
    }

    /// Adds objects, as JSON, to items that stand in brackets.
    fn add_to_flow_items(&self, items: Cursor<'_>, added: &[Added<'_>], edits: &mut Vec<Edit>) {
        let Some(last) = items.children().last() else {
            return;
        };
        let mut text = String::new();
        for object in added {
            text.push(',');
            text.push_str(&self.json_item(last, &object.value));
        }
        let end = last.node().value.end as usize;
        edits.push(Edit {
            start: end,
            end,
            text,
        });
    }

    /// One more item of a JSON list: on lines of its own if the last one is.
    fn json_item(&self, last: Cursor<'_>, value: &Value<'_>) -> String {
        let start = last.node().value.start as usize;
        let line = self.document.slice(self.document.line_start(start)..start);
        let mut out = String::new();
        if line.bytes().all(|byte| byte.is_ascii_whitespace()) && start > line.len() {
            let mut json = String::new();
            yaml::json(&mut json, value, Some(2), 0);
            for part in json.split('\n') {
                out.push('\n');
                out.push_str(line);
                out.push_str(part);
            }
        } else {
            out.push(' ');
            yaml::json(&mut out, value, None, 0);
        }
        out
    }

    /// Puts objects where there are no items yet: an empty list, nothing, or no such key.
    /// Returns the lines of keys to add.
    fn new_items(&self, added: &[Added<'_>], edits: &mut Vec<Edit>) -> Result<String> {
        let root = self.root();
        let entry = root.get("items");
        if root.is_flow() {
            let mut text = String::from("[");
            for (index, object) in added.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                yaml::json(&mut text, &object.value, None, 0);
            }
            text.push(']');
            return Ok(match entry {
                Some(entry) if added.is_empty() && entry.is_sequence() => String::new(),
                Some(entry) => {
                    edits.push(replacement(entry, text));
                    String::new()
                }
                None => format!("\"items\": {text}"),
            });
        }
        let column = self.document.column(root.node().value.start as usize);
        let mut text = String::new();
        for object in added {
            text.push_str(&yaml::render(
                object.document,
                &object.value,
                Position::Item { column },
            )?);
        }
        if added.is_empty() {
            return Ok(match entry {
                Some(entry) if entry.is_sequence() => String::new(),
                Some(entry) => {
                    edits.push(replacement(entry, " []".to_owned()));
                    String::new()
                }
                None => "items: []\n".to_owned(),
            });
        }
        let Some(entry) = entry else {
            return Ok(format!("items:\n{text}"));
        };
        // `items: []`, `items: null`, `items:` and a comment behind it.
        let node = entry.node();
        let colon = self
            .document
            .slice(node.key.end as usize..node.props as usize);
        let start = node.key.end as usize + colon.find(':').map_or(0, |at| at + 1);
        edits.push(Edit {
            start,
            end: node.value.end as usize,
            text: String::new(),
        });
        edits.push(self.lines_at(
            yaml::next_line(self.document.text(), node.value.end as usize),
            text,
        ));
        Ok(String::new())
    }

    fn add_results(
        &self,
        list: Value<'static>,
        flow: bool,
        edits: &mut Vec<Edit>,
        keys: &mut String,
    ) {
        let mut text = String::new();
        let old = self.root().get("results");
        if flow || old.is_some() {
            yaml::json(&mut text, &list, None, 0);
            match old {
                Some(old) => edits.push(replacement(old, format!(" {text}"))),
                None => {
                    let _ = write!(
                        keys,
                        "{}\"results\": {text}",
                        if keys.is_empty() { "" } else { ", " }
                    );
                }
            }
            return;
        }
        let results = Value::mapping(vec![("results".into(), list)]);
        keys.push_str(&yaml::to_string(&results));
    }

    /// Adds top-level keys at the end.
    fn add_keys(&self, keys: &str, edits: &mut Vec<Edit>) {
        let root = self.root();
        let node = root.node();
        if root.is_flow() {
            let end = node.value.end as usize - 1;
            let last = root
                .children()
                .last()
                .map(|last| last.node().value.end as usize);
            let (at, comma) = last.map_or((end, ""), |last| (last, ", "));
            edits.push(Edit {
                start: at,
                end: at,
                text: format!("{comma}{keys}"),
            });
            return;
        }
        let at = root
            .children()
            .last()
            .map_or(node.value.end as usize, yaml::end_with_comments);
        edits.push(self.lines_at(at, keys.to_owned()));
    }

    /// An edit that puts whole lines at `at`, which is the start of a line or the end of the text.
    fn lines_at(&self, at: usize, mut lines: String) -> Edit {
        let before = self.document.text().get(..at).unwrap_or_default();
        if !before.is_empty() && !before.ends_with('\n') {
            lines.insert(0, '\n');
        }
        Edit {
            start: at,
            end: at,
            text: lines,
        }
    }

    /// Edits that let lines be added to a text that ends in a block scalar without a line break.
    fn closing_edits(&self) -> Result<Vec<Edit>> {
        if self.document.text().ends_with('\n') {
            return Ok(Vec::new());
        }
        yaml::close(&self.document)
    }
}

/// Replaces what stands behind an entry's key.
fn replacement(entry: Cursor<'_>, text: String) -> Edit {
    let node = entry.node();
    let start = if node.value.is_empty() {
        node.value.start
    } else {
        node.props
    };
    let text = if node.value.is_empty() {
        text
    } else {
        text.trim_start().to_owned()
    };
    Edit {
        start: start as usize,
        end: node.value.end as usize,
        text,
    }
}

/// An object to add: a value, and the document its layout comes from.
pub(crate) struct Added<'d> {
    pub(crate) document: &'d Document,
    pub(crate) value: Value<'d>,
}

/// What a function does to a ResourceList.
pub(crate) struct Changes<'d> {
    /// Edits inside items that stay.
    pub(crate) edits: Vec<Edit>,
    /// Objects to add behind the last item.
    pub(crate) added: Vec<Added<'d>>,
    /// The list of what there is to report.
    pub(crate) results: Value<'static>,
}

impl Default for Changes<'_> {
    fn default() -> Self {
        Self {
            edits: Vec::new(),
            added: Vec::new(),
            results: Value::sequence(Vec::new()),
        }
    }
}

/// A list under a key that is there twice would be lost.
fn check_keys(root: Cursor<'_>) -> Result<()> {
    let mut found = Diagnostics::new();
    root.check_keys(DuplicateKeys::Refuse, &mut found);
    match found.iter().next() {
        Some(first) => Err(first.clone().into()),
        None => Ok(()),
    }
}

fn check_kind(root: Cursor<'_>) -> Result<()> {
    if !root.is_mapping() {
        return Err(
            Diagnostic::error("expected a ResourceList, found no mapping")
                .at(root.place())
                .into(),
        );
    }
    let kind = root.get("kind");
    let name = kind
        .and_then(|kind| kind.text().ok().flatten())
        .unwrap_or_default();
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
        "a function is run by `kustomize build`, `kpt fn eval` or `kpt fn render`, which send one"
    };
    Err(
        Diagnostic::error(format!("expected `kind: ResourceList`, found {found}"))
            .at(place)
            .field("kind")
            .hint(hint)
            .into(),
    )
}
