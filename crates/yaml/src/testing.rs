//! Properties of every text, as functions for tests and fuzzing: an error says which property
//! fails.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Diagnostics;
use crate::edit::pairing::{ItemKey, ItemKeys};
use crate::edit::update::update;
use crate::lines::next_line;
use crate::read::document::{Cursor, Document};
use crate::read::ordinary::Ordinary;
use crate::read::parts::EntryLine;
use crate::read::patched::Patched;
use crate::read::text::{check_text, fast, is_json};
use crate::read::values::DuplicateKeys;
use crate::read::view::View;
use crate::read::view_mut::ViewMut;
use crate::scalar::Style;
use crate::scalar::data::Scalar;
use crate::source::Source;
use crate::table::{KeyKind, Kind, NodeId};
use crate::value::{Data, Value};
use crate::write::comments;
use crate::write::edited::Edited;
use crate::write::emit::json;
use crate::write::render::{Position, copy, render, render_patched};
use crate::write::rewrite::{Placement, Rewrite};

/// Fields that tell items of Kubernetes objects apart, for tests.
pub const ITEM_KEYS: ItemKeys = ItemKeys {
    of_lists: &[
        ItemKey::field("mountPath"),
        ItemKey::field("type"),
        ItemKey::field("name"),
        ItemKey::field("port"),
        ItemKey::pair("port", "protocol", "TCP"),
    ],
    of_items: &[ItemKey::field("name"), ItemKey::field("port"), ItemKey::field("path")],
};

/// All properties of a text that is printed: unchanged, and moved elsewhere.
///
/// # Errors
/// If one does not hold.
pub fn print(text: &str) -> Result<(), String> {
    unchanged(text).and_then(|()| moved(text))
}

/// All properties of a text that is changed. The bytes after its last NUL select the changes.
///
/// # Errors
/// If one does not hold.
pub fn edit(bytes: &[u8]) -> Result<(), String> {
    let mut parts = bytes.rsplitn(2, |&byte| byte == 0);
    let (last, first) = (parts.next().unwrap_or_default(), parts.next());
    let (text, choices) = first.map_or((last, &[][..]), |first| (first, last));
    let Ok(text) = std::str::from_utf8(text) else {
        return Ok(());
    };
    edited(text, choices)
        .and_then(|()| updated(text, choices))
        .and_then(|()| changed_and_moved(text, choices))
}

/// Compares the fast with the full path: whether the fast one took the text.
///
/// # Errors
/// If the tables differ, or the full path refuses the text.
pub fn compare(text: &str) -> Result<bool, String> {
    let source = Source::new("test", text);
    let Ok(characters) = check_text(&source) else {
        return Ok(false);
    };
    let Some(table) = fast(text, characters) else {
        return Ok(false);
    };
    let table = Document::new(&source, table);
    if table.is_json_stream() {
        return compare_each(&table);
    }
    let yaml = without_json_only(text);
    let document = Document::parse_fully(&Source::new("test", yaml.as_ref()))
        .map_err(|error| format!("the full path refuses {text:?}: {}", error.message))?;
    if table.nodes == document.nodes && table.roots == document.roots {
        return notes_are_right(&table, &document).map(|()| true);
    }
    let mut report = format!("{text:?}\n");
    let count = table.nodes.len().max(document.nodes.len());
    let differing = (0..count).filter(|&at| table.nodes.get(at) != document.nodes.get(at));
    for at in differing.take(3) {
        let (scanned, parsed) = (table.nodes.get(at), document.nodes.get(at));
        let _ = writeln!(report, "node {at}\n fast {scanned:?}\n full {parsed:?}");
    }
    let _ = writeln!(report, "roots {:?} {:?}", table.roots, document.roots);
    Err(report)
}

/// Whether the strings that the fast path notes are those that the full path reads.
fn notes_are_right(table: &Document, document: &Document) -> Result<(), String> {
    for (at, node) in (0..).zip(&table.nodes) {
        let read = document.cursor(NodeId(at));
        let key = node.key_text().map(|text| table.slice(text));
        if key.is_some_and(|key| !read.key_scalar().is_ok_and(|read| read == string(key))) {
            return Err(format!("the key of {node:?} reads otherwise"));
        }
        let value = node.value_text().map(|text| table.slice(text));
        let is_read = |value| matches!(read.scalar(), Ok(Some(read)) if read == string(value));
        if value.is_some_and(|value| !is_read(value)) {
            return Err(format!("the value of {node:?} reads otherwise"));
        }
    }
    Ok(())
}

const fn string(text: &str) -> Scalar<'_> {
    Scalar::String(Cow::Borrowed(text))
}

/// The same for each of several JSON texts: the full path takes one at a time.
fn compare_each(table: &Document) -> Result<bool, String> {
    let mut next = 0;
    for root in table.roots() {
        if root.id().0 != next {
            return Err(format!("{:?} has nodes between its texts", table.text()));
        }
        next = root.node().next;
        compare(root.raw())?;
    }
    Ok(next as usize == table.nodes.len())
}

/// The text with the characters and escapes that only JSON allows replaced by others of the same
/// length.
fn without_json_only(text: &str) -> Cow<'_, str> {
    if !is_json(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let escape = rest.get(..6).filter(|escape| escape.starts_with("\\u"));
        let is_half = escape.is_some_and(|escape| {
            let code = escape.get(2..).map(|code| u32::from_str_radix(code, 16));
            matches!(code, Some(Ok(0xD800..=0xDFFF)))
        });
        let length = if is_half { 6 } else { character.len_utf8() };
        match character {
            '\\' if is_half => out.push_str("\\u0041"),
            '\u{7f}' => out.push('x'),
            '\u{80}'..='\u{9f}' => out.push('é'),
            '\u{fffe}' | '\u{ffff}' => out.push('€'),
            _ => out.push(character),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(out)
}

/// Writing unchanged values does not change the text.
///
/// # Errors
/// If they do not.
pub fn unchanged(text: &str) -> Result<(), String> {
    for_each_value(text, |document, root, value| {
        let edited = Rewrite::edits(root, value, Placement::InPlace)
            .and_then(|edits| Edited::new(document, edits))
            .map_err(|error| format!("cannot be written: {}", error.message))?
            .to_string();
        if edited != text {
            return Err(format!("{text:?} is printed as\n{edited:?}"));
        }
        // Debug builds compare both with the full way.
        let _ = Ordinary::of(root).map(copy);
        Ok(())
    })
}

/// Values put elsewhere, as a document or as an item of a list, read back as they were read.
///
/// # Errors
/// If they do not.
pub fn moved(text: &str) -> Result<(), String> {
    for_each_value(text, |document, _, value| {
        let columns = [0, 3].map(|column| Position::Item { column });
        for position in columns.into_iter().chain([Position::Document]) {
            render(document, value, position).map_err(|error| {
                let hints = error.hints.join("\n");
                format!("{text:?}, {position:?}: {}\n{hints}", error.message)
            })?;
        }
        Ok(())
    })
}

/// Calls `check` with each document of a text that can be read.
fn for_each_value(
    text: &str,
    check: impl Fn(&Document, Cursor<'_>, &Value<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let Ok(document) = Document::parse(&Source::new("test", text)) else {
        return Ok(());
    };
    for root in document.roots() {
        if let Some(value) = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()) {
            check(&document, root, &value)?;
        }
    }
    Ok(())
}

/// Changes a text in the places and to the values that `choices` select. The result has the
/// intended values, and all other lines are unchanged.
///
/// # Errors
/// If not so.
pub fn edited(text: &str, choices: &[u8]) -> Result<(), String> {
    let Ok(document) = Document::parse(&Source::new("test", text)) else {
        return Ok(());
    };
    let mut editor = Editor {
        document: &document,
        choices: choices.iter(),
        lines: Vec::new(),
        removed: BTreeSet::new(),
    };
    let count = document.roots.len();
    let index = editor.choose(count);
    let Some(root) = document.roots().nth(index) else {
        return Ok(());
    };
    let Some(mut value) = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()) else {
        return Ok(());
    };
    for _ in 0..=editor.choose(3) {
        editor.change(&mut value, root.id());
    }
    if document.is_json_stream() && matches!(value.data, Data::Scalar(_)) {
        // The first of several JSON texts must be a collection, otherwise they are not read as
        // several texts.
        return Ok(());
    }
    editor.touch_aliases();
    editor.touch_between_removed();
    let lines = editor.lines.into_iter();
    let lines = lines.map(|range| range.start..after_tabs(text, range.end));
    let lines = lines.collect();
    let explain = |what: &str| format!("{text:?}\nchanged to {value:?}\n{what}");
    let edited = Rewrite::edits(root, &value, Placement::InPlace)
        .and_then(|edits| Edited::new(&document, edits))
        .map(|edited| edited.to_string());
    let edited = edited.map_err(|error| explain(&error.message))?;
    let explain = |what: &str| explain(&format!("is\n{edited:?}\nwhich {what}"));
    let read = match Document::parse(&Source::new("edited", edited.as_str())) {
        Ok(read) => read,
        Err(error) if error.message.ends_with(TAB) && has_tab_in_quotes(&document) => return Ok(()),
        Err(error) => return Err(explain(&error.message)),
    };
    let mut found = Diagnostics::new();
    let again = read.roots().nth(index);
    let again = again.and_then(|root| root.value(DuplicateKeys::Refuse, &mut found));
    if again.as_ref() != Some(&value) || read.roots.len() != count {
        return Err(explain(&format!("reads as {again:?} {found:?}")));
    }
    let others = document.roots().zip(read.roots()).enumerate();
    for (_, (old, new)) in others.filter(|(other, _)| *other != index) {
        if values(old) != values(new) {
            return Err(explain("changes another document"));
        }
    }
    if keeps(text, &edited, lines) {
        Ok(())
    } else {
        Err(explain("differs in lines that were not changed"))
    }
}

/// The parser's message for a tab where it expects spaces.
const TAB: &str = "tab cannot be used as indentation";

/// Whether a tab begins a line of a text in quotes. Whether the parser accepts it depends on the key
/// before the text.
fn has_tab_in_quotes(document: &Document) -> bool {
    let nodes = document.nodes.iter();
    let mut quoted = nodes.filter(|node| {
        let style = Kind::Scalar(Style::DoubleQuoted);
        node.kind == style || node.kind == Kind::Scalar(Style::SingleQuoted)
    });
    quoted.any(|node| {
        let lines = document.slice(node.value.range()).split(['\n', '\r']);
        let mut rest = lines.skip(1);
        rest.any(|line| line.trim_start_matches(' ').starts_with('\t'))
    })
}

/// Changes the data of each document as `choices` name, and puts it elsewhere: as a document or as
/// an item of a list. It reads back as the intended value.
///
/// # Errors
/// If it does not.
pub fn changed_and_moved(text: &str, choices: &[u8]) -> Result<(), String> {
    for_each_value(text, |document, root, value| {
        let mut editor = Editor {
            document,
            choices: choices.iter(),
            lines: Vec::new(),
            removed: BTreeSet::new(),
        };
        let mut value = value.clone();
        for _ in 0..=editor.choose(3) {
            editor.change(&mut value, root.id());
        }
        for position in [Position::Document, Position::Item { column: 2 }] {
            render(document, &value, position).map_err(|error| {
                let hints = error.hints.join("\n");
                let message = &error.message;
                format!("{text:?} changed to {value:?}, {position:?}: {message}\n{hints}")
            })?;
        }
        Ordinary::of(root).map_or(Ok(()), |root| patched(root, choices))
    })
}

/// Replaces parts of a document as `choices` name, and puts it elsewhere. It is written as the
/// whole value is.
fn patched(root: Ordinary<'_>, choices: &[u8]) -> Result<(), String> {
    let (node, document) = (root.cursor(), root.cursor().document());
    let mut editor =
        Editor { document, choices: choices.iter(), lines: Vec::new(), removed: BTreeSet::new() };
    let (first, end) = (node.id().0, node.node().next);
    let nodes: Vec<NodeId> = (first..end).map(NodeId).collect();
    let parts = 0..=editor.choose(3);
    let mut parts: Vec<NodeId> =
        parts.filter_map(|_| nodes.get(editor.choose(nodes.len())).copied()).collect();
    // A part takes in the changed ones in it.
    parts.sort_unstable();
    let lines = [("new", "x"), ("on", "1"), ("a b", "a: b"), ("1", "#")];
    let line = |(key, value): (&str, &'static str)| EntryLine::of(key, Value::string(value));
    let lines: Vec<Arc<EntryLine>> = lines.into_iter().filter_map(line).map(Arc::new).collect();
    let mut object = Patched::new(root);
    for _ in 0..editor.choose(3) {
        let id = nodes.get(editor.choose(nodes.len())).copied();
        let mapping = id.map(|id| document.cursor(id));
        let line = lines.get(editor.choose(lines.len()));
        if let (Some(mapping), Some(line)) = (mapping.filter(|node| node.is_mapping()), line) {
            object.insert(mapping, line);
        }
    }
    // An entry of a mapping in braces has changed the mapping.
    parts.retain(|id| stays_unchanged(&object, document.cursor(*id)));
    for id in parts.into_iter().rev() {
        editor.change(object.value_mut(document.cursor(id)), id);
    }
    let (mut seen, mut whole) = (String::new(), object.clone().into_value());
    json(&mut seen, object.view(), None, 0);
    if seen != whole.to_json() || walked(object.view()) != whole {
        return Err(format!("{object:?} is seen as {seen}, not as {whole:?}"));
    }
    changed_alike(&mut object, &mut whole, &mut editor, &lines)?;
    for position in [Position::Document, Position::Item { column: 2 }] {
        let Some(text) = render_patched(&object, position) else {
            continue;
        };
        let whole = render(document, &object.clone().into_value(), position);
        if whole.as_deref().ok() != Some(&text) {
            return Err(format!("{object:?} is written as {text:?}, not as {whole:?}"));
        }
    }
    Ok(())
}

/// Changes a patched node and its value through views of their parts, and compares what they hold.
fn changed_alike<'d>(
    object: &mut Patched<'d>,
    whole: &mut Value<'d>,
    editor: &mut Editor<'_>,
    lines: &[Arc<EntryLine>],
) -> Result<(), String> {
    for _ in 0..editor.choose(4) {
        let choices = [(); 8].map(|()| editor.choose(8));
        change_part(ViewMut::from(&mut *object), &choices, lines);
        change_part(ViewMut::from(&mut *whole), &choices, lines);
        if object.clone().into_value() != *whole {
            return Err(format!("{object:?} is not changed as {whole:?}"));
        }
    }
    Ok(())
}

/// Goes down to a part that the choices name, and changes it.
fn change_part(part: ViewMut<'_, '_>, choices: &[usize], lines: &[Arc<EntryLine>]) {
    let [what, rest @ ..] = choices else { return };
    let keys = part.view().entries().map(|entries| entries.map(|(key, _)| key.into_owned()));
    let key = keys.and_then(|mut keys| keys.nth(*what));
    let line = lines.get(*what);
    let change = &mut |mut part: ViewMut<'_, '_>| {
        if part.view().scalar().is_some() {
            part.reborrow().value_mut().set(Value::string("seen").data);
        }
        change_part(part, rest, lines);
    };
    if let Some(key) = key {
        part.get_mut(&key).into_iter().for_each(change);
    } else if *what > 5 {
        part.each_collection(|_, part| change(part));
    } else if *what > 3 {
        let _ = part.try_each_item(|part| {
            change(part);
            Ok::<(), ()>(())
        });
    } else if part.view().items().is_some() {
        part.item_mut(*what).into_iter().for_each(change);
    } else if let Some(line) = line {
        part.insert(line);
    }
}

/// The data of a view, one part after the other.
fn walked(view: View<'_>) -> Value<'_> {
    if let Some(items) = view.items() {
        return Value::sequence(items.map(walked).collect());
    }
    if let Some(entries) = view.entries() {
        let parts = entries.filter_map(|(key, _)| Some((key.clone(), walked(view.get(&key)?))));
        return Value::mapping(parts.collect());
    }
    Data::Scalar(view.scalar().unwrap_or(Scalar::Null)).into()
}

/// Whether a node is in no part that was changed.
fn stays_unchanged(object: &Patched<'_>, node: Cursor<'_>) -> bool {
    let changed = object.parts().values();
    !changed.iter().any(|(id, _)| {
        let next = node.document().node(*id).next;
        (id.0..next).contains(&node.id().0)
    })
}

/// Replaces the data of an item of a list, as an update of an existing object does. The item has
/// its new value, and all others have their old ones, or an error names the alias that prevents it.
///
/// # Errors
/// If not so.
pub fn updated(text: &str, choices: &[u8]) -> Result<(), String> {
    let Ok(document) = Document::parse(&Source::new("test", text)) else {
        return Ok(());
    };
    let Some(list) = document.roots().find_map(list_in) else {
        return Ok(());
    };
    let mut editor = Editor {
        document: &document,
        choices: choices.iter(),
        lines: Vec::new(),
        removed: BTreeSet::new(),
    };
    let index = editor.choose(list.children().count());
    let Some((item, mut value)) =
        list.children().nth(index).and_then(|item| Some((item, values(item)?)))
    else {
        return Ok(());
    };
    editor.change(&mut value, item.id());
    let explain = |what: &str| format!("{text:?}\nitem {index} changed to {value:?}\n{what}");
    let updated = update(item, value.clone().without_origin(), &ITEM_KEYS)
        .and_then(|edits| Edited::new(&document, edits));
    let edited = match updated {
        Ok(edited) => edited.to_string(),
        Err(error) if error.message.ends_with("refers to a value that is changed elsewhere") => {
            return Ok(());
        }
        Err(error) => return Err(explain(&error.message)),
    };
    let explain = |what: &str| explain(&format!("is\n{edited:?}\nwhich {what}"));
    let read = Document::parse(&Source::new("updated", edited.as_str()))
        .map_err(|error| explain(&error.message))?;
    let Some(again) = read.roots().find_map(list_in) else {
        return Err(explain("has no list"));
    };
    if again.children().count() != list.children().count() {
        return Err(explain("has more or less items"));
    }
    for (at, (old, new)) in list.children().zip(again.children()).enumerate() {
        let meant = if at == index { Some(value.clone()) } else { values(old) };
        if values(new) != meant {
            return Err(explain(&format!("has another item {at}")));
        }
    }
    Ok(())
}

/// The list that a document is, or has as `items`.
fn list_in(root: Cursor<'_>) -> Option<Cursor<'_>> {
    let list = root.get("items").unwrap_or(root);
    (list.node().kind == Kind::Sequence).then_some(list)
}

/// The value of a node; `None` if it cannot be read.
fn values(node: Cursor<'_>) -> Option<Value<'_>> {
    node.value(DuplicateKeys::LastWins, &mut Diagnostics::new())
}

/// After the blank lines at `at` of which one has a tab, which may have to go.
fn after_tabs(text: &str, at: usize) -> usize {
    let (mut end, mut line) = (at, at);
    while line < text.len() {
        let next = next_line(text, line);
        let content = text.get(line..next).unwrap_or_default();
        let rest = content.trim_start_matches([' ', '\t', '\r', '\n']);
        if content.strip_suffix(rest).is_some_and(|blank| blank.contains('\t')) {
            end = next;
        }
        if !rest.is_empty() {
            break;
        }
        line = next;
    }
    end
}

/// Whether `edited` has all of `text` except `ranges`, in order.
fn keeps(text: &str, edited: &str, mut ranges: Vec<Range<usize>>) -> bool {
    ranges.sort_by_key(|range| range.start);
    let mut kept = Vec::new();
    let mut at = 0;
    for range in ranges {
        kept.push(text.get(at..range.start.max(at)).unwrap_or_default());
        at = at.max(range.end);
    }
    let last = text.get(at..).unwrap_or_default();
    let mut kept = kept.into_iter();
    let rest = edited.strip_prefix(kept.next().unwrap_or_default());
    let rest = rest.and_then(|rest| rest.strip_suffix(last));
    rest.is_some_and(|mut rest| {
        kept.all(|part| match rest.find(part) {
            Some(found) => {
                rest = rest.get(found + part.len()..).unwrap_or_default();
                true
            }
            None => false,
        })
    })
}

struct Editor<'c> {
    document: &'c Document,
    choices: std::slice::Iter<'c, u8>,
    /// The lines that may have changed.
    lines: Vec<Range<usize>>,
    removed: BTreeSet<NodeId>,
}

/// Texts that are easily written wrong.
const TEXTS: &[&str] = &[
    "",
    "a",
    "true",
    "~",
    "0644",
    "1e3",
    "- a",
    "a: b",
    "# a",
    " a",
    "a ",
    "a\nb",
    "a\n",
    "\n",
    "a\n\n",
    "\n a\n",
    " \n",
    "it's",
    "\"",
    "\t",
    "\r\n",
    "a\r",
    "\u{85}",
    "\u{2028}x",
    "\u{feff}",
    "---",
    "... ",
    "<<",
    "=",
    "?",
    "[a]",
    "{a: b}",
    "*a",
    "&a",
    "!a",
    "|",
    "é",
    "a #b",
    "\0",
];

impl Editor<'_> {
    /// One of `count`; the first when there are no more choices.
    fn choose(&mut self, count: usize) -> usize {
        let choice = self.choices.next().copied().unwrap_or_default();
        usize::from(choice).checked_rem(count).unwrap_or_default()
    }

    /// One of [`TEXTS`], or a piece of the document.
    fn text(&mut self) -> String {
        let choice = self.choose(TEXTS.len() + 10);
        if let Some(text) = TEXTS.get(choice) {
            return (*text).to_owned();
        }
        let start = self.choose(256);
        let length = self.choose(256);
        let text = self.document.text();
        text.chars().skip(start).take(length).collect()
    }

    fn value(&mut self) -> Value<'static> {
        self.nested(8)
    }

    /// A value with at most this depth.
    fn nested(&mut self, depth: usize) -> Value<'static> {
        match self.choose(12) {
            5..=6 if depth == 0 => Value::string(self.text()),
            0 => Data::Scalar(Scalar::Null).into(),
            1 => Data::Scalar(Scalar::Bool(true)).into(),
            2 => Value::number("-1.5e3"),
            3 => Value::sequence(Vec::new()),
            4 => Value::mapping(Vec::new()),
            5 => Value::sequence(vec![Value::string(self.text()), self.nested(depth - 1)]),
            6 => Value::mapping(vec![(self.text().into(), self.nested(depth - 1))]),
            _ => Value::string(self.text()),
        }
    }

    /// Changes something in `value`, of which the text is that of `node` or inside of it.
    fn change(&mut self, value: &mut Value<'_>, node: NodeId) {
        let node = value.origin.unwrap_or(node);
        let count = match &value.data {
            Data::Scalar(_) => 0,
            Data::Sequence(items) => items.len(),
            Data::Mapping(entries) => entries.len(),
        };
        let at = self.choose(count.max(1));
        let action = self.choose(12);
        match (&mut value.data, action) {
            (Data::Scalar(_), _) | (_, 11) => {
                self.touch(node);
                value.data = self.value().data;
            }
            (Data::Sequence(items), 0..=1) => {
                let at = self.choose(count + 1);
                self.touch_around(node, items.get(at.saturating_sub(1)));
                items.insert(at, self.value());
            }
            (Data::Mapping(entries), 0..=1) => {
                let key = self.text();
                if entries.iter().all(|(name, _)| *name != key) {
                    let at = self.choose(count + 1);
                    let near = entries.get(at.saturating_sub(1));
                    self.touch_around(node, near.map(|(_, value)| value));
                    entries.insert(at, (key.into(), self.value()));
                }
            }
            (Data::Sequence(items), 2..=3) if at < count => {
                // If no child stays, the whole value is written as new text.
                let read = items.iter().filter(|item| item.origin.is_some());
                let stays = read.count() > 1;
                self.touch_around(node, items.get(at).filter(|_| stays));
                self.removed.extend(items.remove(at).origin);
            }
            (Data::Mapping(entries), 2..=3) if at < count => {
                let read = entries.iter().filter(|(_, value)| value.origin.is_some());
                let stays = read.count() > 1;
                let child = entries.get(at).map(|(_, value)| value);
                self.touch_around(node, child.filter(|_| stays));
                self.removed.extend(entries.remove(at).1.origin);
            }
            (Data::Mapping(entries), 4) => {
                let key = self.text();
                if entries.iter().all(|(name, _)| *name != key)
                    && let Some((name, value)) = entries.get_mut(at)
                {
                    self.touch_child(node, Some(value));
                    *name = Cow::Owned(key);
                }
            }
            (Data::Sequence(items), _) => match items.get_mut(at) {
                Some(item) => self.change(item, node),
                None => self.touch(node),
            },
            (Data::Mapping(entries), _) => match entries.get_mut(at) {
                Some((_, value)) => self.change(value, node),
                None => self.touch(node),
            },
        }
    }

    /// The lines of a node, and of the collection in braces it is in.
    fn touch(&mut self, mut node: NodeId) {
        while let Some(parent) = self.parent(node)
            && (parent.is_flow() || parent.children().any(Cursor::is_merge_key))
        {
            node = parent.id();
        }
        let text = self.document.text();
        let cursor = self.document.cursor(node);
        if self.document.roots.contains(&node.0) {
            self.lines.push(0..text.len());
            return;
        }
        let start = self.document.line_start(cursor.start());
        let end = comments::end_with_comments(cursor);
        // A list may be at the column of its key: lines below it belong to its last item.
        let last = cursor.children().last().map_or(end, comments::extent);
        self.lines.push(start..end.max(last));
    }

    /// The lines of a child, or of the collection where the child has none of its own.
    fn touch_child(&mut self, node: NodeId, child: Option<&Value<'_>>) {
        let own = |child: &Value<'_>| {
            let origin = child.origin?;
            (self.parent(origin)?.id() == node).then_some(origin)
        };
        self.touch(child.and_then(own).unwrap_or(node));
    }

    /// The lines of a child with the comments above and below, and the line after that may move up.
    fn touch_around(&mut self, node: NodeId, child: Option<&Value<'_>>) {
        let before = self.lines.len();
        self.touch_child(node, child);
        let text = self.document.text();
        for range in self.lines.iter_mut().skip(before) {
            let line = text.get(range.start..).unwrap_or_default();
            let column = line.len() - line.trim_start_matches(' ').len();
            range.start = comments::lead_comments(text, range.start, column, 0);
            if line.trim_start_matches(' ').starts_with('-') {
                // The text below moves up to the dash, past blank lines.
                range.end = comments::skip_blank_lines(text, range.end);
            }
            range.end = next_line(text, range.end);
            if text.contains('+') {
                // A block scalar above would keep the blank lines below.
                range.end = comments::skip_blank_lines(text, range.end);
            }
        }
        // New text beside a removed child is then beside another child.
        for child in self.document.children(node) {
            let (head, foot) = (comments::head(self.document, child.id()), comments::extent(child));
            self.lines.extend([head..head, foot..foot]);
        }
        if let Some(origin) = child.and_then(|child| child.origin) {
            let child = self.document.cursor(origin);
            let foot = comments::end_with_comments(child)..comments::extent(child);
            self.lines.push(foot);
        }
    }

    /// An alias may be written out, because its target is changed.
    fn touch_aliases(&mut self) {
        for (at, node) in (0..).zip(&self.document.nodes) {
            let is_alias = node.kind == Kind::Alias || node.key_kind == KeyKind::Alias;
            if is_alias || self.document.cursor(NodeId(at)).is_merge_key() {
                self.touch(NodeId(at));
            }
        }
    }

    /// The text between two neighbours is removed with both.
    fn touch_between_removed(&mut self) {
        for &first in &self.removed {
            let next = NodeId(self.document.node(first).next);
            if self.removed.contains(&next) {
                let end = self.document.cursor(next).start();
                self.lines.push(self.document.cursor(first).end()..end);
            }
        }
    }

    fn parent(&self, node: NodeId) -> Option<Cursor<'_>> {
        (0..node.0).rev().map(NodeId).find_map(|id| {
            let found = self.document.node(id).next > node.0;
            found.then(|| self.document.cursor(id))
        })
    }
}
