//! What is left of a stripped object, and the text of it after further changes.

use crate::export::options::Format;
use crate::export::strip;
use crate::export::write::json_object;
use crate::krm::lists;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{
    Cursor, Data, Document, DuplicateKeys, NodeId, Position, SharedNode, Value, end_with_comments,
};

/// An object without the fields that the cluster and its tools set.
pub(super) enum Content {
    /// A node without these parts, in order.
    Parts(SharedNode, Vec<NodeId>),
    /// A text of its own.
    Text(String),
}

impl Content {
    /// Of the stripped value of a node, which is that of `kept` after it was opened.
    pub(super) fn of(kept: &SharedNode, node: Cursor<'_>, mut value: Value<'_>) -> Result<Self> {
        let mut dropped = Vec::new();
        let may_be_parts = is_simple(node) && strip::only_drops(&value);
        if may_be_parts && find_dropped(node, &value, &mut dropped) {
            return Ok(Self::Parts(kept.clone(), dropped));
        }
        text_of(node, &mut value).map(Self::Text)
    }

    /// Changes the value, whose text `change` gets, too, and returns its text as an item of a list.
    pub(super) fn write(
        &self,
        format: Format,
        change: impl FnOnce(&mut Value<'_>, &str),
    ) -> Result<String> {
        self.read(Some(format), |node, mut value, unchanged| {
            change(&mut value, node.raw());
            let text = item(node, &value, format)?;
            if let Some(unchanged) = unchanged {
                let steps = in_steps(&unchanged, node, &value, format)?;
                debug_assert!(text == steps, "{text}\n---\n{steps}");
            }
            Ok(text)
        })
    }

    /// Hands out the value, to be changed, but not written.
    pub(super) fn look(&self, change: impl FnOnce(&mut Value<'_>)) -> Result<()> {
        self.read(None, |_, mut value, _| {
            change(&mut value);
            Ok(())
        })
    }

    /// What `use_value` makes of the value, with its node. It also gets the value before any change
    /// if the text need not be written before: the guard of debug builds needs it.
    fn read<'c, R>(
        &self,
        format: Option<Format>,
        use_value: impl FnOnce(Cursor<'_>, Value<'_>, Option<Value<'_>>) -> Result<R>,
    ) -> Result<R> {
        let (node, dropped) = match self {
            Self::Text(text) => return of_text(text, |node, value| use_value(node, value, None)),
            Self::Parts(node, dropped) => (node.open(), dropped),
        };
        let node = node.cursor();
        let mut value = value_of(node)?;
        drop_parts(&mut value, &mut dropped.as_slice());
        let is_direct = match format {
            Some(Format::Yaml) if node.is_flow() => is_new_alike(node),
            Some(Format::Yaml) => {
                is_moved_alike(node, dropped)
                    && !strip::canonical(&mut value, node.document(), false)
            }
            Some(Format::Json) | None => true,
        };
        if is_direct {
            let unchanged = cfg!(debug_assertions).then(|| value.clone());
            return use_value(node, value, unchanged);
        }
        let text = text_of(node, &mut value)?;
        of_text(&text, |node, value| use_value(node, value, None))
    }
}

/// Whether the node of an object has no aliases and tags.
fn is_simple(node: Cursor<'_>) -> bool {
    node.offsets_of(b'$').is_some()
}

fn value_of(node: Cursor<'_>) -> Result<Value<'_>> {
    let mut found = Diagnostics::new();
    node.value(DuplicateKeys::Refuse, &mut found)
        .ok_or_else(|| Box::new(Diagnostic::error("a stripped object cannot be read")))
}

fn of_text<R>(text: &str, use_value: impl FnOnce(Cursor<'_>, Value<'_>) -> Result<R>) -> Result<R> {
    let document = Document::parse(&Source::new("object", text))?;
    let root = document.roots().next();
    let root = root.ok_or_else(|| Box::new(Diagnostic::error("a stripped object is empty")))?;
    use_value(root, value_of(root)?)
}

/// Adds the parts of a node that its value lacks. Returns whether nothing else differs.
fn find_dropped(node: Cursor<'_>, value: &Value<'_>, dropped: &mut Vec<NodeId>) -> bool {
    let mut parts = (0..).map_while(|index| value.part(index)).peekable();
    for child in node.children() {
        match parts.next_if(|(_, part)| part.origin == Some(child.id())) {
            None => dropped.push(child.id()),
            Some((_, part)) => {
                if !find_dropped(child, part, dropped) {
                    return false;
                }
            }
        }
    }
    parts.next().is_none()
}

/// Takes parts out of a value. They are in order.
fn drop_parts(value: &mut Value<'_>, dropped: &mut &[NodeId]) {
    let mut stays = |part: &mut Value<'_>| {
        let is_dropped = part.origin.is_some() && part.origin.as_ref() == dropped.first();
        if is_dropped {
            dropped.split_off_first();
        } else if !dropped.is_empty() {
            drop_parts(part, dropped);
        }
        !is_dropped
    };
    match &mut value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.retain_mut(stays),
        Data::Mapping(entries) => entries.retain_mut(|(_, part)| stays(part)),
    }
}

/// The text of a stripped object: edited where it is a block of YAML, new where it is JSON.
fn text_of(node: Cursor<'_>, value: &mut Value<'_>) -> Result<String> {
    if node.is_flow() {
        return krm_yaml::render_new(value, Position::Document);
    }
    strip::canonical(value, node.document(), false);
    lists::render(node.document(), value, Position::Document)
}

/// The text of a changed object, as an item of a list.
fn item(node: Cursor<'_>, value: &Value<'_>, format: Format) -> Result<String> {
    let position = Position::Item { column: 0 };
    match format {
        Format::Json => json_object(value),
        Format::Yaml if node.is_flow() => krm_yaml::render_anew(node.document(), value, position),
        Format::Yaml => lists::render(node.document(), value, position).map(above_dash),
    }
}

/// Whether the text of an object in braces is the same whether it is written once, with all changes,
/// or twice: if no text has an escape or a line break.
fn is_new_alike(node: Cursor<'_>) -> bool {
    let text = node.raw();
    memchr::memchr2(b'\\', b'$', text.as_bytes()).is_none() && !text.lines().any(is_blank)
}

/// Whether the text of an object is the same whether these parts are taken out together with all
/// other changes, or before.
fn is_moved_alike(node: Cursor<'_>, dropped: &[NodeId]) -> bool {
    let document = node.document();
    let (start, end) = (node.value_start(), end_with_comments(node));
    let text = document.text();
    let before = text.get(..start).unwrap_or_default();
    let column = before.len() - memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
    let is_inside = |line: &str| {
        let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
        spaces >= column && !is_blank(line)
    };
    // At the margin, the first text does not move. Elsewhere, all lines must move alike.
    let moves = column == 0 || {
        let lines = text.get(start..end).unwrap_or_default().lines();
        lines.skip(1).all(is_inside)
    };
    let mut dropped = dropped.iter().map(|id| document.cursor(*id));
    moves && dropped.all(|part| !is_beside_comment(part))
}

/// Whether a comment or a blank line is above or below a part. If an entry on the other side of it
/// is taken out at once, it does not stay.
fn is_beside_comment(part: Cursor<'_>) -> bool {
    let text = part.document().text();
    let above = text.get(..part.start()).unwrap_or_default();
    let below = text.get(part.end()..).unwrap_or_default();
    let above = above.rsplit('\n').nth(1).unwrap_or("-");
    let below = below.split('\n').nth(1).unwrap_or("-");
    [above, below]
        .iter()
        .any(|line| is_blank(line) || line.contains('#'))
}

fn is_blank(line: &str) -> bool {
    line.trim_ascii().is_empty()
}

/// The text of a changed object that is written twice: `value` is changed, `before` only stripped.
fn in_steps(
    before: &Value<'_>,
    node: Cursor<'_>,
    value: &Value<'_>,
    format: Format,
) -> Result<String> {
    let mut stripped = before.clone();
    let text = text_of(node, &mut stripped)?;
    of_text(&text, |root, read| {
        let mut origins = Vec::new();
        pair(before, &read, &mut origins);
        let mut value = value.clone();
        move_origins(&mut value, &origins);
        item(root, &value, format)
    })
}

/// The origins of the parts of two values that are the same.
fn pair(one: &Value<'_>, other: &Value<'_>, origins: &mut Vec<(NodeId, NodeId)>) {
    origins.extend(one.origin.zip(other.origin));
    for index in 0.. {
        let Some(((_, one), (_, other))) = one.part(index).zip(other.part(index)) else {
            return;
        };
        pair(one, other, origins);
    }
}

fn move_origins(value: &mut Value<'_>, origins: &[(NodeId, NodeId)]) {
    let new = |old| {
        origins
            .iter()
            .find(|(one, _)| *one == old)
            .map(|(_, new)| *new)
    };
    value.origin = value.origin.and_then(new);
    match &mut value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items
            .iter_mut()
            .for_each(|item| move_origins(item, origins)),
        Data::Mapping(entries) => {
            for (_, part) in entries {
                move_origins(part, origins);
            }
        }
    }
}

/// An item with its comments above the dash. After the dash, kpt would repeat them.
fn above_dash(text: String) -> String {
    if !text.starts_with("- #") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(line) = rest.get(2..).filter(|line| line.starts_with('#')) {
        let (comment, below) = line.split_once('\n').unwrap_or((line, ""));
        out.push_str(comment);
        out.push('\n');
        rest = below;
    }
    out.push_str("- ");
    out.push_str(rest.get(2..).unwrap_or_default());
    out
}
