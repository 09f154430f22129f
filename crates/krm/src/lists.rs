//! Objects from a `List`, which is not an object of its own: its comments move with them.

use krm_yaml::diagnostic::Result;
use krm_yaml::{Cursor, Document, Enclosing, Patched, Position, Value};

/// Writes an object as [`krm_yaml::render`] does. The first object of a `List` gets the
/// comments above the list, and the last those below.
///
/// # Errors
/// As [`krm_yaml::render`].
pub fn render(document: &Document, value: &Value<'_>, position: Position) -> Result<String> {
    let text = krm_yaml::render(document, value, position)?;
    let object = value.origin.map(|origin| document.cursor(origin));
    Ok(match object {
        Some(object) => with_comments(text, object, position),
        None => text,
    })
}

/// As [`render`], of an object that was changed in parts. None if it must be read as a whole.
pub fn render_patched(object: &Patched<'_>, position: Position) -> Option<String> {
    let text = krm_yaml::render_patched(object, position)?;
    Some(with_comments(text, object.root().cursor(), position))
}

/// The text of an object with the comments of the list around it.
fn with_comments(text: String, object: Cursor<'_>, position: Position) -> String {
    let (above, below) = (above(object), below(object));
    if above.is_empty() && below.is_empty() {
        return text;
    }
    around(&text, &above, &below, position)
}

fn above(object: Cursor<'_>) -> Vec<&str> {
    let mut comments = Vec::new();
    let mut item = object;
    while let Some(list) = Enclosing::of_first(item).filter(is_list) {
        comments.splice(..0, list.comments_above(item));
        item = list.mapping;
    }
    comments
}

fn below(object: Cursor<'_>) -> Vec<&str> {
    let mut comments = Vec::new();
    let mut item = object;
    while let Some(list) = Enclosing::of_last(item).filter(is_list) {
        comments.extend(list.comments_below(item));
        item = list.mapping;
    }
    comments
}

fn is_list(list: &Enclosing<'_>) -> bool {
    let kind = list.mapping.text_at(["kind"]).unwrap_or_default();
    let key = list.list.key().unwrap_or_default();
    key == "items" && kind.ends_with("List") && kind != "ResourceList"
}

/// Puts comments above and below the text of an object.
fn around(text: &str, above: &[&str], below: &[&str], position: Position) -> String {
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (dash, indentation) = match position {
        Position::Document => (String::new(), String::new()),
        // Behind the dash, where kpt puts comments itself.
        Position::Item { column } => (format!("{}- ", " ".repeat(column)), " ".repeat(column + 2)),
    };
    let mut out = dash.clone();
    for comment in above {
        out.push_str(comment);
        out.push_str(eol);
        out.push_str(&indentation);
    }
    out.push_str(text.strip_prefix(dash.as_str()).unwrap_or(text));
    for comment in below {
        out.push_str(&indentation);
        out.push_str(comment);
        out.push_str(eol);
    }
    out
}
