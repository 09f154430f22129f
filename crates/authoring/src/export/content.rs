//! What is left of a stripped object, and the text of it after further changes.

use crate::export::draft::Draft;
use crate::export::gather::Object;
use crate::export::json;
use crate::export::options::Format;
use crate::export::strip;
use krm_core::lists;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{
    Cursor, Data, Document, DuplicateKeys, NodeId, Position, Value, View, ViewMut,
    end_with_comments,
};

/// An object without the fields that the cluster and its tools set.
pub(super) enum Content<'g> {
    /// An object that stays open.
    Open(&'g Object, Draft<'g>),
    /// An object to be opened again, without these parts, in order.
    Closed(&'g Object, Vec<NodeId>),
    /// A text of its own.
    Text(String),
}

impl<'g> Content<'g> {
    /// Of a stripped object that stays open.
    pub(super) fn of_open(object: &'g Object, draft: Draft<'g>) -> Result<Self> {
        let node = object.node.cursor();
        // The common case: the list of the parts is not needed.
        let only_drops = matches!(&draft, Draft::Node(object) if object.only_lacks_parts());
        if only_drops || dropped(node, &draft).is_some() {
            return Ok(Self::Open(object, draft));
        }
        text_of(node, draft).map(Self::Text)
    }

    /// Of a stripped object that was opened as this node.
    pub(super) fn of(object: &'g Object, node: Cursor<'_>, draft: Draft<'_>) -> Result<Self> {
        match dropped(node, &draft) {
            Some(dropped) => Ok(Self::Closed(object, dropped)),
            None => text_of(node, draft).map(Self::Text),
        }
    }

    /// Changes the object, of which `change` gets the old text, too, and returns its text as an item of
    /// a list.
    pub(super) fn write(
        self,
        format: Format,
        change: impl FnOnce(&mut Draft<'_>, &str),
    ) -> Result<String> {
        self.read(Some(format), |node, mut draft, unchanged| {
            change(&mut draft, node.raw());
            let changed = cfg!(debug_assertions).then(|| draft.clone());
            let text = item(node, draft, format)?;
            if let Some((unchanged, changed)) = unchanged.zip(changed) {
                let steps = in_steps(unchanged, node, changed, format)?;
                debug_assert!(text == steps, "{text}\n---\n{steps}");
            }
            Ok(text)
        })
    }

    /// Hands out the object, to be changed, but not written.
    pub(super) fn look(&self, change: impl FnOnce(ViewMut<'_, '_>)) -> Result<()> {
        self.copy().read(None, |_, mut draft, _| {
            change(draft.view_mut());
            Ok(())
        })
    }

    /// The same, to be read once more.
    fn copy(&self) -> Self {
        match self {
            Self::Open(object, draft) => Self::Open(object, draft.clone()),
            Self::Closed(object, dropped) => Self::Closed(object, dropped.clone()),
            Self::Text(text) => Self::Text(text.clone()),
        }
    }

    /// What `use_draft` makes of the object, with its node. It also gets the object before any change
    /// if the text need not be written before: the guard of debug builds needs it.
    fn read<R>(
        self,
        format: Option<Format>,
        use_draft: impl FnOnce(Cursor<'_>, Draft<'_>, Option<Draft<'_>>) -> Result<R>,
    ) -> Result<R> {
        match self {
            Self::Open(object, draft) => of_draft(object.node.cursor(), draft, format, use_draft),
            Self::Closed(object, dropped) => {
                let opened = object.node.open();
                let mut draft = read(opened.cursor())?;
                draft.drop_parts(&dropped);
                of_draft(opened.cursor(), draft, format, use_draft)
            }
            Self::Text(text) => of_text(&text, |node, draft| use_draft(node, draft, None)),
        }
    }
}

/// What `use_draft` makes of a stripped object, as [`Content::read`].
fn of_draft<R>(
    node: Cursor<'_>,
    mut draft: Draft<'_>,
    format: Option<Format>,
    use_draft: impl FnOnce(Cursor<'_>, Draft<'_>, Option<Draft<'_>>) -> Result<R>,
) -> Result<R> {
    let is_direct = match format {
        Some(Format::Yaml) if node.is_flow() => is_new_alike(node, draft.view()),
        Some(Format::Yaml) => {
            is_moved_alike(node, &dropped(node, &draft).unwrap_or_default())
                && !strip::canonical(&mut draft, node.document(), &is_beside_comment)
        }
        Some(Format::Json) | None => true,
    };
    if is_direct {
        let unchanged = cfg!(debug_assertions).then(|| draft.clone());
        return use_draft(node, draft, unchanged);
    }
    let text = text_of(node, draft)?;
    of_text(&text, |node, draft| use_draft(node, draft, None))
}

/// The parts that a stripped object lacks, in order; `None` if it differs otherwise.
fn dropped(node: Cursor<'_>, draft: &Draft<'_>) -> Option<Vec<NodeId>> {
    let only_drops = || {
        let kind = draft.view().str_at(&["kind"]);
        strip::only_drops(&kind.unwrap_or_default())
    };
    let of_value = |value: &Value<'_>| {
        let mut dropped = Vec::new();
        find_dropped(node, value, &mut dropped).then_some(dropped)
    };
    // Aliases and tags are written out.
    let is_simple = || node.offsets_of(b'$').is_some();
    match draft {
        Draft::Node(object) if object.only_lacks_parts() => Some(object.removed().collect()),
        _ if !only_drops() => None,
        Draft::Node(object) => of_value(&object.clone().into_value()),
        Draft::Value(value) => is_simple().then(|| of_value(value))?,
    }
}

/// The object of a node that was read before.
fn read(node: Cursor<'_>) -> Result<Draft<'_>> {
    if let Some(draft) = Draft::of(node) {
        return Ok(draft);
    }
    let mut found = Diagnostics::new();
    let value = node.value(DuplicateKeys::Refuse, &mut found);
    let unread = || Box::new(Diagnostic::error("a stripped object cannot be read"));
    value.map(Draft::Value).ok_or_else(unread)
}

fn of_text<R>(text: &str, use_draft: impl FnOnce(Cursor<'_>, Draft<'_>) -> Result<R>) -> Result<R> {
    let document = Document::parse(&Source::new("object", text))?;
    let root = document.roots().next();
    let root = root.ok_or_else(|| Box::new(Diagnostic::error("a stripped object is empty")))?;
    use_draft(root, read(root)?)
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

/// The text of a stripped object: edited where it is a block of YAML, new where it is JSON.
fn text_of(node: Cursor<'_>, mut draft: Draft<'_>) -> Result<String> {
    if node.is_flow() {
        return krm_yaml::render_new(&draft.into_value(), Position::Document);
    }
    strip::canonical(&mut draft, node.document(), &|_| false);
    lists::render(node.document(), &draft.into_value(), Position::Document)
}

/// The text of a changed object, as an item of a list.
fn item(node: Cursor<'_>, draft: Draft<'_>, format: Format) -> Result<String> {
    let position = Position::Item { column: 0 };
    match (format, draft) {
        (Format::Json, draft) => json::item(&draft.into_value()),
        (Format::Yaml, draft) if node.is_flow() => {
            krm_yaml::render_anew(node.document(), &draft.into_value(), position)
        }
        (Format::Yaml, Draft::Node(object)) => match krm_yaml::render_patched(&object, position) {
            Some(text) => Ok(above_dash(text)),
            None => item(node, Draft::Value(object.into_value()), format),
        },
        (Format::Yaml, Draft::Value(value)) => {
            krm_yaml::render(node.document(), &value, position).map(above_dash)
        }
    }
}

/// Whether the text of an object in braces is the same whether it is written once, with all changes,
/// or twice: if no text has an escape or several lines.
fn is_new_alike(node: Cursor<'_>, object: View<'_>) -> bool {
    memchr::memchr2(b'\\', b'$', node.raw().as_bytes()).is_none() && !has_lines(object)
}

fn has_lines(value: View<'_>) -> bool {
    let mut items = value.items().into_iter().flatten();
    let mut entries = value.entries().into_iter().flatten();
    value.as_str().is_some_and(|text| text.contains('\n'))
        || items.any(has_lines)
        || entries.any(|(_, part)| has_lines(part))
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
    let before = text.get(..part.start()).unwrap_or_default();
    let after = text.get(part.end()..).unwrap_or_default();
    let above = memchr::memrchr(b'\n', before.as_bytes()).and_then(|end| before.get(..end));
    let above = above.map(|above| {
        let start = memchr::memrchr2(b'#', b'\n', above.as_bytes());
        above.get(start.unwrap_or(0)..).unwrap_or_default()
    });
    let below = memchr::memchr(b'\n', after.as_bytes()).and_then(|end| after.get(end + 1..));
    let below = below.map(|below| {
        let end = memchr::memchr2(b'#', b'\n', below.as_bytes());
        end.and_then(|end| below.get(..=end)).unwrap_or(below)
    });
    let is_comment = |line: &str| line.starts_with('#') || line.ends_with('#');
    let mut lines = above.into_iter().chain(below);
    lines.any(|line| is_comment(line) || is_blank(line))
}

fn is_blank(line: &str) -> bool {
    line.trim_ascii_end().is_empty()
}

/// The text of a changed object that is written twice: `changed` is changed, `before` only stripped.
fn in_steps(
    before: Draft<'_>,
    node: Cursor<'_>,
    changed: Draft<'_>,
    format: Format,
) -> Result<String> {
    let text = text_of(node, before.clone())?;
    of_text(&text, |root, read| {
        let mut origins = Vec::new();
        pair(&before.into_value(), &read.into_value(), &mut origins);
        let mut value = changed.into_value();
        move_origins(&mut value, &origins);
        item(root, Draft::Value(value), format)
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
    use krm_core::long_lists::MANY_OBJECTS;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, SharedNode, Value, ViewMut};

    /// Drops each entry `x`.
    fn strip(mut part: ViewMut<'_, '_>) {
        part.by_ref().remove("x");
        part.by_ref().each_item(strip);
        part.each_entry(|_, part| strip(part));
    }

    /// Makes a reference of each value `1`, whatever its type, and drops each entry `z`.
    fn change(mut part: ViewMut<'_, '_>) {
        part.by_ref().remove("z");
        if matches!(part.view().to_json().as_str(), "1" | "\"1\"") {
            part.by_ref().set(Value::string("$(ONE)").data);
        }
        part.by_ref().each_item(change);
        part.each_entry(|_, part| change(part));
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
            let mut draft = object.draft(node, &mut Diagnostics::new()).unwrap();
            strip(draft.view_mut());
            let content = Content::of(object, node, draft).unwrap();
            content
                .write(Format::Yaml, |draft, _| change(draft.view_mut()))
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
        // What is respelled beside a blank line.
        check("b: 2\n\nc: 0x2\n", &["- b: 2\n  c: 2\n"]);
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
