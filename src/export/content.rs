//! What is left of a stripped object, and the text of it after further changes.

use crate::export::gather::Object;
use crate::export::json;
use crate::export::options::Format;
use crate::export::strip;
use crate::krm::lists;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Data, Document, DuplicateKeys, NodeId, Position, Value, end_with_comments};

/// An object without the fields that the cluster and its tools set.
pub(super) enum Content<'g> {
    /// An object without these parts, in order; with its value if it stays open.
    Parts(&'g Object, Vec<NodeId>, Option<Value<'g>>),
    /// A text of its own.
    Text(String),
}

impl<'g> Content<'g> {
    /// Of an object that stays open, with its stripped value.
    pub(super) fn of_open(object: &'g Object, value: Value<'g>) -> Result<Self> {
        let mut content = Self::of(object, object.node.cursor(), &value)?;
        if let Self::Parts(_, _, kept) = &mut content {
            *kept = Some(value);
        }
        Ok(content)
    }

    /// Of the stripped value of an object that was opened as this node.
    pub(super) fn of(object: &'g Object, node: Cursor<'_>, value: &Value<'_>) -> Result<Self> {
        let mut dropped = Vec::new();
        let may_be_parts = is_simple(node) && strip::only_drops(value);
        if may_be_parts && find_dropped(node, value, &mut dropped) {
            return Ok(Self::Parts(object, dropped, None));
        }
        text_of(node, &mut value.clone()).map(Self::Text)
    }

    /// Changes the value, whose text `change` gets, too, and returns its text as an item of a list.
    pub(super) fn write(
        self,
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
        self.copy().read(None, |_, mut value, _| {
            change(&mut value);
            Ok(())
        })
    }

    /// The same, to be read once more.
    fn copy(&self) -> Self {
        match self {
            Self::Parts(object, dropped, _) => Self::Parts(object, dropped.clone(), None),
            Self::Text(text) => Self::Text(text.clone()),
        }
    }

    /// What `use_value` makes of the value, with its node. It also gets the value before any change
    /// if the text need not be written before: the guard of debug builds needs it.
    fn read<R>(
        self,
        format: Option<Format>,
        use_value: impl FnOnce(Cursor<'_>, Value<'_>, Option<Value<'_>>) -> Result<R>,
    ) -> Result<R> {
        let (object, dropped, kept) = match self {
            Self::Text(text) => return of_text(&text, |node, value| use_value(node, value, None)),
            Self::Parts(object, dropped, kept) => (object, dropped, kept),
        };
        if let Some(value) = kept {
            return of_parts(object.node.cursor(), value, &dropped, format, use_value);
        }
        let opened = object.node.open();
        let mut value = value_of(opened.cursor())?;
        drop_parts(&mut value, &mut dropped.as_slice());
        of_parts(opened.cursor(), value, &dropped, format, use_value)
    }
}

/// What `use_value` makes of the value of a node without these parts, as [`Content::read`].
fn of_parts<R>(
    node: Cursor<'_>,
    mut value: Value<'_>,
    dropped: &[NodeId],
    format: Option<Format>,
    use_value: impl FnOnce(Cursor<'_>, Value<'_>, Option<Value<'_>>) -> Result<R>,
) -> Result<R> {
    let is_direct = match format {
        Some(Format::Yaml) if node.is_flow() => is_new_alike(node, &value),
        Some(Format::Yaml) => {
            is_moved_alike(node, dropped) && !strip::canonical(&mut value, node.document(), false)
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
    let mut index = 0;
    for child in node.children() {
        let part = value.part(index).map(|(_, part)| part);
        let Some(part) = part.filter(|part| part.origin == Some(child.id())) else {
            dropped.push(child.id());
            continue;
        };
        let has_parts = !matches!(part.data, Data::Scalar(_));
        if has_parts && !find_dropped(child, part, dropped) {
            return false;
        }
        index += 1;
    }
    value.part(index).is_none()
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
        Format::Json => json::item(value),
        Format::Yaml if node.is_flow() => krm_yaml::render_anew(node.document(), value, position),
        Format::Yaml => krm_yaml::render(node.document(), value, position).map(above_dash),
    }
}

/// Whether the text of an object in braces is the same whether it is written once, with all changes,
/// or twice: if no text has an escape or several lines.
fn is_new_alike(node: Cursor<'_>, value: &Value<'_>) -> bool {
    memchr::memchr2(b'\\', b'$', node.raw().as_bytes()).is_none() && !has_lines(value)
}

fn has_lines(value: &Value<'_>) -> bool {
    match &value.data {
        Data::Scalar(_) => value.as_str().is_some_and(|text| text.contains('\n')),
        Data::Sequence(items) => items.iter().any(has_lines),
        Data::Mapping(entries) => entries.iter().any(|(_, part)| has_lines(part)),
    }
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
    // At the margin, the first text does not move. Elsewhere, all lines must move alike, and a comment
    // below them may not stay.
    let moves = column == 0 || {
        let lines = text.get(start..end).unwrap_or_default().lines();
        let foot = text.get(node.end()..end).unwrap_or_default();
        lines.skip(1).all(is_inside) && !foot.contains('#')
    };
    let mut dropped = dropped.iter().map(|id| document.cursor(*id));
    moves && !lists::have_comments_for(node) && dropped.all(|part| !is_beside_comment(part))
}

/// Whether a comment or a blank line is above or below a part. If an entry on the other side of it
/// is taken out at once, it does not stay.
fn is_beside_comment(part: Cursor<'_>) -> bool {
    let text = part.document().text();
    let (before, after) = (text.get(..part.start()), text.get(part.end()..));
    let above = before.unwrap_or_default().rsplit_once('\n');
    let above = above.map(|(above, _)| above.rsplit_once('\n').map_or(above, |(_, line)| line));
    let below = after.unwrap_or_default().split_once('\n');
    let below = below.map(|(_, below)| below.split_once('\n').map_or(below, |(line, _)| line));
    let mut lines = above.into_iter().chain(below);
    lines.any(|line| is_blank(line) || line.contains('#'))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Content, Format};
    use crate::export::gather;
    use crate::krm::long_lists::MANY_OBJECTS;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Data, Document, SharedNode, Value};

    /// Drops each entry `x`.
    fn strip(value: &mut Value<'_>) {
        value.remove("x");
        match &mut value.data {
            Data::Scalar(_) => {}
            Data::Sequence(items) => items.iter_mut().for_each(strip),
            Data::Mapping(entries) => entries.iter_mut().for_each(|(_, part)| strip(part)),
        }
    }

    /// Makes a reference of each value `1`, whatever its type, and drops each entry `z`.
    fn change(value: &mut Value<'_>) {
        value.remove("z");
        if matches!(value.to_json().as_str(), "1" | "\"1\"") {
            value.set(Value::string("$(ONE)").data);
        }
        match &mut value.data {
            Data::Scalar(_) => {}
            Data::Sequence(items) => items.iter_mut().for_each(change),
            Data::Mapping(entries) => entries.iter_mut().for_each(|(_, part)| change(part)),
        }
    }

    /// The texts of the objects of a text, with these changes. Debug builds compare each with that
    /// of an object that is written twice.
    fn written(text: &str, max_open: usize) -> Vec<String> {
        let document = Document::open(&Source::new("list", text), MANY_OBJECTS).unwrap();
        let roots: Vec<_> = SharedNode::roots(&Arc::new(document)).collect();
        let objects = gather::objects(roots.into_iter(), max_open, &mut |_, _| {});
        let text = |object: &gather::Object| {
            let opened = object.node.open();
            let node = if object.is_open {
                object.node.cursor()
            } else {
                opened.cursor()
            };
            let mut value = object.value(node, &mut Diagnostics::new()).unwrap();
            strip(&mut value);
            let content = Content::of(object, node, &value).unwrap();
            content
                .write(Format::Yaml, |value, _| change(value))
                .unwrap()
        };
        objects
            .iter()
            .map(|one| text(one.as_ref().unwrap()))
            .collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(written(text, 1_000), expected);
        assert_eq!(written(text, 0), expected);
    }

    #[test]
    fn an_object_is_written_with_all_its_changes() {
        check(
            "# a\na: 1 # one\nb: {c: '1', x: 2}\nx: 3\n---\na: 0x1\n",
            &[
                "# a\n- a: $(ONE) # one\n  b: {c: '$(ONE)'}\n",
                "- a: $(ONE)\n",
            ],
        );
        check(
            "kind: List\nitems:\n  - a: \"1\"\n    x: 3\n    z: 4\n  # b\n  - x: 1\n    b: |\n      1\n",
            &["- a: \"$(ONE)\"\n", "# b\n- b: |\n    1\n"],
        );
    }

    #[test]
    fn comments_below_an_item_are_not_its_own() {
        check(
            "kind: List\nitems:\n- a: 1\n  # foot\n- a: 2\n  x: 3\n  b: 1\n",
            &["- a: $(ONE)\n", "- a: 2\n  b: $(ONE)\n"],
        );
    }

    #[test]
    fn comments_around_dropped_entries_stay() {
        check(
            "a: 1\nx: 2\n\n# of z\n\nz: 3\nb: 4\n",
            &["- a: $(ONE)\n\n  # of z\n\n  b: 4\n"],
        );
    }

    #[test]
    fn texts_of_json_keep_the_quotes_that_their_old_texts_would_get() {
        check(
            r#"{"a": "1", "b": 1, "c": ["1", {"x": 1, "d": "\n1"}]}"#,
            &["- a: \"$(ONE)\"\n  b: $(ONE)\n  c:\n  - \"$(ONE)\"\n  - d: \"\\n1\"\n"],
        );
        check(
            r#"{"a": "1", "b": 1, "c": [1, {"x": 1}, "e"]}"#,
            &["- a: \"$(ONE)\"\n  b: $(ONE)\n  c:\n  - $(ONE)\n  - {}\n  - e\n"],
        );
    }
}
