//! The text of a value as a separate document or list item, checked by reading it again.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Result;
use crate::lines::{ends_line, lines, may_end_document, next_line};
use crate::read::document::{Cursor, Document};
use crate::read::ordinary::Ordinary;
use crate::read::patched::Patched;
use crate::source::Source;
use crate::table::Kind;
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
    let (edits, is_read_back) = Rewrite::moves(node, value, position.column())?;
    match moved(node, edits, position) {
        Some(text) if is_read_back && may_be_nested(node, position) && !FULL_GUARD => Ok(text),
        Some(text) => check(text, value, position),
        None => check(fresh(value, position), value, position),
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
    (is_read_back && may_be_nested(node, position)).then_some(())?;
    let text = moved(node, edits, position)?;
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
    let text = moved(node, Vec::new(), Position::Document)?;
    if has_line_separator(&text) {
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
/// which do not move, or if a line ends a document: indented, `---` and `...` may begin a key or go on
/// with a text; not at the margin.
fn moved(node: Cursor<'_>, mut edits: Vec<Edit>, position: Position) -> Option<String> {
    let document = node.document();
    let start = node.node().value.start as usize;
    let end = comments::end_with_comments(node);
    let mut ends = edits.iter();
    if ends.any(|edit| edit.start < start && edit.end > start) {
        return None;
    }
    edits.retain(|edit| edit.start >= start);
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let from = document.column(start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut head = String::with_capacity(end - start + added + SPARE);
    begin(&mut head, &comments::head_comments(node), position, document.eol());
    let mut lines = Shifted::new(head, from, position.column());
    lines.edited(document.text(), start..end, &edits);
    let (mut text, may_have_markers) = lines.finish();
    let at = text.len();
    // No spaces may be left at the end of a block scalar.
    let is_open =
        !ends_line(document.text(), end) && edits.last().is_none_or(|edit| edit.end < end);
    if is_open || !ends_line(&text, at) {
        text.push_str(document.eol());
    }
    let may_end = position == Position::Document && may_have_markers;
    (!(may_end && has_document_end(&text))).then_some(text)
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

/// Whether a node is not nested too deep at a position: an item is nested deeper.
fn may_be_nested(node: Cursor<'_>, position: Position) -> bool {
    position == Position::Document || is_shallow(node, 1)
}

/// Reads `text` again and compares it with the intended value.
pub(crate) fn check(text: String, value: &Value<'_>, position: Position) -> Result<String> {
    let source = Source::new("output", text);
    let document = Document::parse_once(&source).map_err(|error| wrong(&source, &error.message))?;
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
    Ok(Arc::try_unwrap(source).map_or_else(|shared| shared.text().to_owned(), Source::into_text))
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
