//! The texts of objects: stripped, and changed afterwards.

use crate::json;
use crate::options::Format;
use crate::strip;
use krm_core::lists;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, DuplicateKeys, Position, Value};

/// The text of a stripped object: edited where it is a block of YAML, new where it is JSON.
pub(crate) fn text_of(node: Cursor<'_>, mut value: Value<'_>) -> Result<String> {
    if node.is_flow() {
        return krm_yaml::render_new(&value, Position::Document);
    }
    strip::canonical(&mut value, node.document(), false);
    lists::render(node.document(), &value, Position::Document)
}

/// The result of `change` for the object of such a text.
pub(crate) fn changed<R>(
    text: &str,
    change: impl FnOnce(&Document, Value<'_>) -> Result<R>,
) -> Result<R> {
    let document = Document::parse(&Source::new("object", text))?;
    let root = document.roots().next();
    let value = root.and_then(|root| root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()));
    let unread = || Box::new(Diagnostic::error("a stripped object cannot be read"));
    change(&document, value.ok_or_else(unread)?)
}

/// The text of a changed object, as an item of a list.
pub(crate) fn item(document: &Document, value: &Value<'_>, format: Format) -> Result<String> {
    match format {
        Format::Json => json::item(value),
        Format::Yaml => {
            krm_yaml::render(document, value, Position::Item { column: 0 }).map(above_dash)
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

    use super::{Format, changed, item, text_of};
    use crate::read::gather;
    use krm_core::long_lists::MANY_OBJECTS;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Data, Document, SharedNode, Value};

    /// Drops each entry of this key, and gives each part to `change`.
    fn edit(value: &mut Value<'_>, dropped: &str, change: &dyn Fn(&mut Value<'_>)) {
        value.remove(dropped);
        change(value);
        match &mut value.data {
            Data::Scalar(_) => {}
            Data::Sequence(items) => {
                for item in items {
                    edit(item, dropped, change);
                }
            }
            Data::Mapping(entries) => {
                for (_, part) in entries {
                    edit(part, dropped, change);
                }
            }
        }
    }

    /// Makes a reference of a value `1`, whatever its type.
    fn refer(value: &mut Value<'_>) {
        if matches!(value.to_json().as_str(), "1" | "\"1\"") {
            value.set(Value::string("$(ONE)").data);
        }
    }

    /// The texts of the objects of a text: first each entry `x` is dropped, then each entry `z`.
    fn written(text: &str) -> Vec<String> {
        let document = Document::open(&Source::new("list", text), MANY_OBJECTS).unwrap();
        let objects = gather::objects(SharedNode::roots(&Arc::new(document)), &mut |_, _| {});
        let text = |object: &gather::Object| {
            let opened = object.node.open();
            let node = opened.cursor();
            let mut value = object.value(node, &mut Diagnostics::new()).unwrap();
            edit(&mut value, "x", &|_| {});
            let text = text_of(node, value).unwrap();
            let written = changed(&text, |document, mut value| {
                edit(&mut value, "z", &refer);
                item(document, &value, Format::Yaml)
            });
            written.unwrap()
        };
        objects.iter().map(|one| text(one.as_ref().unwrap())).collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(written(text), expected);
    }

    #[test]
    fn an_object_is_written_with_all_its_changes() {
        check(
            "# a\na: 1 # one\nb: {c: '1', x: 2}\nx: 3\n---\na: 0x1\n",
            &["# a\n- a: $(ONE) # one\n  b: {c: '$(ONE)'}\n", "- a: $(ONE)\n"],
        );
        check(
            "kind: List\nitems:\n  - a: \"1\"\n    x: 3\n    z: 4\n  # b\n  - x: 1\n    b: |\n      1\n",
            &["- a: \"$(ONE)\"\n", "# b\n- b: |\n    1\n"],
        );
        // A blank line before a respelled value is dropped.
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
        check("a: 1\nx: 2\n\n# of z\n\nz: 3\nb: 4\n", &["- a: $(ONE)\n\n  # of z\n\n  b: 4\n"]);
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
