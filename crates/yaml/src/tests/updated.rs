//! Items of a list whose data is replaced in place.

use crate::diagnostic::Result;
use crate::read::document::Document;
use crate::source::Source;
use crate::value::Value;
use crate::write::edited::Edited;
use crate::{testing, update};

/// Replaces the first item of a list with the value of `json`.
fn update_first(text: &str, json: &str) -> Result<String> {
    let document = Document::parse(&Source::new("test", text))?;
    let list = document.roots().next().unwrap();
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let edits = update(list.children().next().unwrap(), Value::from(json), &testing::ITEM_KEYS)?;
    Ok(Edited::new(&document, edits)?.to_string())
}

#[test]
fn a_value_with_an_alias_elsewhere_stays() {
    // Values without an anchor may change.
    let text = "- {a: &x {k: 1}, b: 2}\n- c: *x\n";
    let updated = update_first(text, r#"{"a": {"k": 1}, "b": 3}"#).unwrap();
    assert_eq!(updated, "- {a: &x {k: 1}, b: 3}\n- c: *x\n");
    for text in [
        text,
        "- a: &x\n    k: 1\n  b: 2\n- c: *x\n",
        "- a: &x\n    k: 1\n  b: 2\n- <<: *x\n",
        "- &i\n  a: &x {k: 1}\n  b: 2\n- *x\n- *i\n",
    ] {
        let error = update_first(text, r#"{"a": {"k": 2}, "b": 2}"#).unwrap_err();
        let expected = "refers to a value that is changed elsewhere";
        assert!(error.message.ends_with(expected), "{}", error.message);
    }
}

#[test]
fn an_alias_in_the_item_is_written_out() {
    let updated = update_first("- a: &x 1\n  b: *x\n", r#"{"a": 2, "b": 1}"#).unwrap();
    assert_eq!(updated, "- a: 2\n  b: 1\n");
    let outside = "- a: *x\n  b: 1\n".replace("- a: *x", "- a: &x [v]\n  c: *x");
    let updated = update_first(&outside, r#"{"a": ["v"], "c": ["z"], "b": 1}"#).unwrap();
    assert_eq!(updated, "- a: &x [v]\n  c:\n  - z\n  b: 1\n");
}

#[test]
fn any_change_of_a_list_with_anchors_is_seen() {
    const TEXTS: &[&str] = &[
        "- a: &x {k: 1}\n  b: *x\n- c: *x\n  d: &y 2\n- *y\n",
        "- &x a\n- *x\n- b: *x\n",
        "- a: &x {k: 1, l: &y [z]}\n  <<: *x\n- <<: [*x]\n  m: *y\n",
        "- &x k: *x\n",
        "items:\n- &x a: 1\n  b: &x 2\n  c: *x\n- *x\nrest: *x\n",
    ];
    for text in TEXTS {
        for first in 0..4 {
            for second in 0..12 {
                for third in 0..12 {
                    testing::updated(text, &[first, second, third, third, second]).unwrap();
                }
            }
        }
    }
}
