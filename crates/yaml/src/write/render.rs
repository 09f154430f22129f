//! The text of a value as a separate document or list item, checked by reading it again.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Result;
use crate::lines::{ends_line, lines, may_end_document, next_line};
use crate::read::document::{Cursor, Document};
use crate::read::ordinary::Ordinary;
use crate::read::patched::Patched;
use crate::read::rescan::{EditedRange, Rescanned, rescan};
use crate::source::Source;
use crate::table::{Kind, NodeId};
use crate::value::Value;
use crate::write::comments;
use crate::write::edited::Edit;
use crate::write::emit::{self, Flow, Layout};
use crate::write::guard::{difference, wrong};
use crate::write::rewrite::{Rewrite, is_shallow};
use crate::write::shifted::Shifted;

/// The position of a value's text, for [`render`] and [`render_new`].
///
/// ```
/// use krm_yaml::{Position, Value, render_new};
///
/// let pod = Value::mapping(vec![("kind".into(), "Pod".into()), ("name".into(), "web".into())]);
/// assert_eq!(render_new(&pod, Position::Document)?, "kind: Pod\nname: web\n");
/// let item = Position::Item { column: 2 };
/// assert_eq!(render_new(&pod, item)?, "  - kind: Pod\n    name: web\n");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// At the left margin, as a document of a stream.
    Document,
    /// After a dash at this column, as an item of a sequence.
    Item {
        /// The column of the dash.
        column: usize,
    },
}

/// Writes `value` as whole lines. Parts that were read from `document` keep their text: its
/// comments, order, quotes and line breaks; only the parts that differ are written as new text.
///
/// ```
/// use krm_yaml::diagnostic::Diagnostics;
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, DuplicateKeys, Position, render};
///
/// let text = "items:\n  - kind: Pod\n    name: 'web' # short\n";
/// let document = Document::parse(&Source::new("list.yaml", text))?;
/// let root = document.roots().next().expect("not empty");
/// let pod = root.lookup(&"items[0]".parse()?).expect("an item");
/// let mut value = pod.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).expect("valid");
/// value.insert("name".into(), "shop".into());
/// assert_eq!(render(&document, &value, Position::Document)?, "kind: Pod\nname: 'shop' # short\n");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
///
/// # Errors
/// If the text cannot be written, or reads back as another value: a defect of this library, which
/// must not stay unnoticed.
pub fn render(document: &Document, value: &Value<'_>, position: Position) -> Result<String> {
    let node = value.origin.map(|id| document.cursor(id));
    let Some(node) = node.filter(|&node| can_move(node)) else {
        return check(fresh(value, position), value, position);
    };
    let (edits, is_read_back) = Rewrite::moves(node, value)?;
    match moved(node, edits, position) {
        Some(moved) if moved.is_valid && is_read_back && is_shallow(node, 1) && !FULL_GUARD => {
            Ok(moved.text)
        }
        Some(moved) if moved.is_valid => check_moved(node, moved, value, position),
        _ => check(fresh(value, position), value, position),
    }
}

/// Writes a patched node as [`render`] writes its value, without a look at the unchanged parts.
/// `None` if the node must be compared as a whole.
pub fn render_patched(patched: &Patched<'_>, position: Position) -> Option<String> {
    let node = patched.root().cursor();
    if !can_move(node) {
        return None;
    }
    let (edits, is_read_back) = Rewrite::patches(patched.root(), patched.parts())?;
    let moved = moved(node, edits, position).filter(|moved| moved.is_valid)?;
    // As an item it is nested deeper, perhaps too deep.
    let is_shallow = position == Position::Document || is_shallow(node, 1);
    if is_read_back && is_shallow && !FULL_GUARD {
        return Some(moved.text);
    }
    let source = Source::new("output", moved.text);
    let read = rescan(node, &source, &moved.changes)?;
    let parts = patched.parts();
    let mut values = parts.values();
    let top = read.top(position)?;
    let is_same = read.has_parts(top, node, &mut values, parts) && values.is_empty();
    drop(read);
    debug_assert!(is_same || !is_read_back, "{source:?} of {patched:?}");
    let text = is_same.then(|| text_of(source))?;
    debug_assert!(
        render(node.document(), &patched.clone().into_value(), position)
            .is_ok_and(|whole| whole == text),
        "{text:?} of {patched:?}"
    );
    Some(text)
}

/// The lines of a root as [`render`] writes them as a document, if it would only copy them.
pub fn copy(root: Ordinary<'_>) -> Option<String> {
    let node = root.cursor();
    let document = node.document();
    let start = node.node().value.start as usize;
    if document.column(start) != 0 || !can_move(node) {
        return None;
    }
    let Moved { text, is_valid, .. } = moved(node, Vec::new(), Position::Document)?;
    if !is_valid || has_line_separator(&text) {
        return None;
    }
    debug_assert!(
        render(document, &root.value(), Position::Document).is_ok_and(|full| full == text),
        "{text:?}"
    );
    Some(text)
}

/// Whether a text has characters that only some readers take for line breaks.
fn has_line_separator(text: &str) -> bool {
    !text.is_ascii() && text.contains(['\u{85}', '\u{2028}', '\u{2029}'])
}

/// Whether texts that cannot read otherwise are read again all the same: in tests and for fuzzing.
const FULL_GUARD: bool = cfg!(debug_assertions);

/// The text of a value that moves to another place.
struct Moved {
    text: String,
    /// Whether these are lines of a document that a fast path read, and the value is what was read
    /// from them. A reader of lines reads them the same without the lines around them.
    is_copy: bool,
    /// The edited ranges in order; the first is the start of the text.
    changes: Vec<EditedRange>,
    /// Whether no line ends a document. Indented, `---` and `...` may begin a key or go on with a
    /// text; not at the margin.
    is_valid: bool,
}

/// Writes `value` as whole lines, without any old text.
///
/// ```
/// use krm_yaml::{Position, Value, render_new};
///
/// let data = Value::mapping(vec![("nginx.conf".into(), "listen 80;\nroot /srv;\n".into())]);
/// let text = render_new(&data, Position::Document)?;
/// assert_eq!(text, "nginx.conf: |\n  listen 80;\n  root /srv;\n");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
///
/// # Errors
/// As [`render`].
pub fn render_new(value: &Value<'_>, position: Position) -> Result<String> {
    check(fresh(value, position), value, position)
}

/// Writes `value` as JSON, on one line or with `width` spaces a level.
///
/// ```
/// use krm_yaml::{Value, render_json};
///
/// let labels = Value::mapping(vec![("app".into(), "web".into())]);
/// assert_eq!(render_json(&labels, None)?, r#"{"app":"web"}"#);
/// assert_eq!(render_json(&labels, Some(2))?, "{\n  \"app\": \"web\"\n}");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
///
/// # Errors
/// As [`render`].
pub fn render_json(value: &Value<'_>, width: Option<usize>) -> Result<String> {
    let mut json = String::new();
    emit::json(&mut json, value, width, 0);
    check(json, value, Position::Document)
}

/// As [`render_json`], of a value that is `depth` levels deep in a text.
///
/// # Errors
/// As [`render`].
pub fn render_json_at(value: &Value<'_>, width: usize, depth: usize) -> Result<String> {
    let mut json = String::new();
    emit::json(&mut json, value, Some(width), depth);
    check(json, value, Position::Document)
}

/// The lines of a root that [`render`] writes: with the comments that are its own.
pub fn lines_of_root(root: Cursor<'_>) -> Range<usize> {
    let document = root.document();
    if can_move(root) {
        return comments::head(document, root.id())..comments::end_with_comments(root);
    }
    document.line_start(root.start())..next_line(document.text(), root.end())
}

/// Whether a node is a mapping whose text means the same elsewhere. Braces may contain lines left of
/// their column, unless they are at the margin; lone carriage returns and tags of a directive depend on
/// the rest of the text. JSON becomes a block.
fn can_move(node: Cursor<'_>) -> bool {
    let document = node.document();
    let has_lone_return = || {
        let start = node.node().value.start as usize;
        let text = document.slice(start..comments::end_with_comments(node)).as_bytes();
        memchr::memchr_iter(b'\r', text).any(|at| text.get(at + 1) != Some(&b'\n'))
    };
    let is_at_margin = || document.column(node.node().value.start as usize) == 0;
    let keeps_lines = !node.is_flow() || (is_at_margin() && !document.is_json);
    let is_movable = node.node().kind == Kind::Mapping && keeps_lines;
    // A fast path reads no text with one.
    is_movable && !document.has_tag_directives && (document.is_simple || !has_lone_return())
}

/// Whether a line of a text may be read as the end of a document.
fn has_document_end(text: &str) -> bool {
    let has = |marker: &str| memchr::memmem::find(text.as_bytes(), marker.as_bytes()).is_some();
    // Most texts have neither at the start of a line nor anywhere else.
    (has("---") || has("...")) && lines(text).any(may_end_document)
}

/// Room for a dash, a line break, and lines that are indented deeper.
const SPARE: usize = 64;

/// The text of a node, edited and moved. `None` if an edit replaces the value with its tag or anchor,
/// which do not move.
fn moved(node: Cursor<'_>, mut edits: Vec<Edit>, position: Position) -> Option<Moved> {
    let document = node.document();
    let start = node.node().value.start as usize;
    let end = comments::end_with_comments(node);
    let mut ends = edits.iter();
    if ends.any(|edit| edit.start < start && edit.end > start) {
        return None;
    }
    let is_unchanged = edits.is_empty();
    edits.retain(|edit| edit.start >= start);
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let from = document.column(start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut head = String::with_capacity(end - start + added + SPARE);
    begin(&mut head, &comments::head_comments(node), position, document.eol());
    let mut lines = Shifted::new(head, from, position.column());
    let mut changes = lines.edited(document.text(), start..end, &edits);
    let (mut text, may_have_markers) = lines.finish();
    let at = text.len();
    // No spaces may be left at the end of a block scalar.
    let is_open =
        !ends_line(document.text(), end) && edits.last().is_none_or(|edit| edit.end < end);
    if is_open || !ends_line(&text, at) {
        text.push_str(document.eol());
        changes.push(EditedRange {
            old_start: end,
            old_end: end,
            new_start: at,
            new_end: text.len(),
        });
    }
    let may_end = position == Position::Document && may_have_markers;
    Some(Moved {
        is_copy: is_unchanged && document.is_simple && from == position.column(),
        is_valid: !(may_end && has_document_end(&text)),
        text,
        changes,
    })
}

fn fresh(value: &Value<'_>, position: Position) -> String {
    let mut text = String::new();
    begin(&mut text, &[], position, "\n");
    Layout::default().root(&mut text, value, position.column());
    text.push('\n');
    text
}

impl Position {
    /// The column of the value itself.
    const fn column(self) -> usize {
        match self {
            Self::Document => 0,
            Self::Item { column } => column + 2,
        }
    }
}

/// Writes the dash of an item, if it is one, and the comments above a value.
fn begin(out: &mut String, comments: &[&str], position: Position, eol: &str) {
    if let Position::Item { column } = position {
        emit::indent(out, column);
        out.push_str("- ");
    }
    // Comments are written after the dash, where kpt writes them: it would repeat comments above
    // the dash.
    for comment in comments {
        out.push_str(comment);
        out.push_str(eol);
        emit::indent(out, position.column());
    }
}

/// As [`check`], and reads only the lines of an edited text that are not copied, if that suffices.
fn check_moved(
    node: Cursor<'_>,
    moved: Moved,
    value: &Value<'_>,
    position: Position,
) -> Result<String> {
    if moved.is_copy && position == Position::Document && !FULL_GUARD {
        return Ok(moved.text);
    }
    let source = Source::new("output", moved.text);
    let holds = holds_changed(node, &source, &moved.changes, value, position);
    if holds == Some(true) && !FULL_GUARD {
        return Ok(text_of(source));
    }
    let checked = check_source(source, value, position);
    let agrees = holds.is_none_or(|holds| holds == checked.is_ok());
    debug_assert!(agrees, "{holds:?} for {checked:?}");
    checked
}

/// Whether the changed text of a node reads as `value`; `None` if the whole text must be read.
fn holds_changed(
    node: Cursor<'_>,
    new: &Arc<Source>,
    changes: &[EditedRange],
    value: &Value<'_>,
    position: Position,
) -> Option<bool> {
    let read = rescan(node, new, changes)?;
    if FULL_GUARD {
        let whole = Document::parse(new);
        let is_same = whole.as_ref().is_ok_and(|whole| read.is_table_of(whole));
        debug_assert!(is_same, "{read:#?}\n{whole:#?}");
    }
    Some(read.holds(read.top(position)?, value))
}

impl Rescanned<'_> {
    /// The value that was written at a position.
    fn top(&self, position: Position) -> Option<NodeId> {
        match position {
            Position::Document => Some(Self::ROOT),
            Position::Item { .. } => self.children(Self::ROOT).next(),
        }
    }
}

fn text_of(source: Arc<Source>) -> String {
    Arc::try_unwrap(source).map_or_else(|shared| shared.text().to_owned(), Source::into_text)
}

/// Reads `text` again and compares it with the intended value.
pub(crate) fn check(text: String, value: &Value<'_>, position: Position) -> Result<String> {
    check_source(Source::new("output", text), value, position)
}

fn check_source(source: Arc<Source>, value: &Value<'_>, position: Position) -> Result<String> {
    let document = Document::parse(&source).map_err(|error| wrong(&source, &error.message))?;
    let root = document.roots().next();
    let read = match position {
        Position::Document => root,
        Position::Item { .. } => root.and_then(|root| root.children().next()),
    };
    let is_one = document.roots().count() < 2;
    let wrong_part = match read {
        Some(read) if is_one && read.holds(value) => None,
        // Where it has aliases, the values decide.
        Some(read) if is_one => difference(read, value),
        None if value.is_null() => None,
        _ => Some("the text has another value".to_owned()),
    };
    if let Some(part) = wrong_part {
        return Err(wrong(&source, &part));
    }
    drop(document);
    Ok(text_of(source))
}

/// A new entry of a mapping, on one line without its line break; the key alone without a value.
pub fn to_line(key: &str, value: Option<&Value<'_>>) -> String {
    let mut line = String::new();
    emit::flow_key(&mut line, key, Flow::Yaml);
    match value {
        Some(value) => emit::flow(&mut line, value, Flow::Yaml),
        None => line.truncate(line.trim_end().len()),
    }
    line
}

/// A new value as block YAML that ends with a line break. It is not read again, as that of
/// [`render_new`] is.
///
/// ```
/// use krm_yaml::{Value, to_string};
///
/// let ports = Value::sequence(vec![80.into(), "http".into(), "8080".into()]);
/// let service = Value::mapping(vec![("ports".into(), ports)]);
/// assert_eq!(to_string(&service), "ports:\n- 80\n- http\n- \"8080\"\n");
/// ```
pub fn to_string(value: &Value<'_>) -> String {
    fresh(value, Position::Document)
}
