//! The examples of RFC 6902 and RFC 7396, and cases that they do not cover.

use krm_template_server::patch::{json, merge};

use crate::patch::value;

tests!(
    merge_patches_do_what_rfc_7396_shows,
    a_merge_keeps_the_order_of_keys_and_the_digits_of_numbers,
    bodies_of_merge_patches_that_are_no_objects_are_refused,
    json_patches_do_what_rfc_6902_says,
    bodies_that_are_no_json_patches_are_refused
);

/// RFC 7396, appendix A: the object, the patch, the result.
const MERGES: [[&str; 3]; 15] = [
    [r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#],
    [r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#],
    [r#"{"a":"b"}"#, r#"{"a":null}"#, r"{}"],
    [r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#],
    [r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#],
    [r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#],
    [r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#],
    [r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#],
    [r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#],
    [r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#],
    [r#"{"a":"foo"}"#, r"null", r"null"],
    [r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#],
    [r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#],
    [r"[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#],
    [r"{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#],
];

fn merge_patches_do_what_rfc_7396_shows() {
    for [object, patch, expected] in MERGES {
        let mut result = value(object);
        merge::apply(&mut result, value(patch));
        assert_eq!(result.to_string(), expected, "{object} with {patch}");
    }
}

fn a_merge_keeps_the_order_of_keys_and_the_digits_of_numbers() {
    let mut object = value(r#"{"d":1.0,"c":{"z":1,"y":2,"x":3},"b":2,"a":1.00}"#);
    merge::apply(&mut object, value(r#"{"new":1.50,"c":{"z":null,"w":0.10},"d":null}"#));
    assert_eq!(object.to_string(), r#"{"c":{"y":2,"x":3,"w":0.10},"b":2,"a":1.00,"new":1.50}"#);
}

fn bodies_of_merge_patches_that_are_no_objects_are_refused() {
    let decoding = "error decoding patch: ";
    for (body, before, message) in [
        ("{", decoding, "EOF while parsing an object at line 1 column 1"),
        ("", decoding, "EOF while parsing a value at line 1 column 0"),
        ("message: x", decoding, "expected value at line 1 column 1"),
        ("[]", decoding, "expected object, got array"),
        ("\"x\"", decoding, "expected object, got string"),
        ("null", "", "Invalid JSON Patch"),
    ] {
        let message = format!("{before}{message}");
        let status = merge::parse(body.as_bytes()).unwrap_err();
        assert_eq!((status.code, status.message), (400, message), "{body}");
    }
}

/// RFC 6902, appendix A: the object, the patch, the result or an error.
const APPENDIX: [(&str, &str, Option<&str>); 16] = [
    (
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz","value":"qux"}]"#,
        Some(r#"{"foo":"bar","baz":"qux"}"#),
    ),
    (
        r#"{"foo":["bar","baz"]}"#,
        r#"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
        Some(r#"{"foo":["bar","qux","baz"]}"#),
    ),
    (
        r#"{"baz":"qux","foo":"bar"}"#,
        r#"[{"op":"remove","path":"/baz"}]"#,
        Some(r#"{"foo":"bar"}"#),
    ),
    (
        r#"{"foo":["bar","qux","baz"]}"#,
        r#"[{"op":"remove","path":"/foo/1"}]"#,
        Some(r#"{"foo":["bar","baz"]}"#),
    ),
    (
        r#"{"baz":"qux","foo":"bar"}"#,
        r#"[{"op":"replace","path":"/baz","value":"boo"}]"#,
        Some(r#"{"baz":"boo","foo":"bar"}"#),
    ),
    (
        r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
        r#"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
        Some(r#"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#),
    ),
    (
        r#"{"foo":["all","grass","cows","eat"]}"#,
        r#"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
        Some(r#"{"foo":["all","cows","eat","grass"]}"#),
    ),
    (
        r#"{"baz":"qux","foo":["a",2,"c"]}"#,
        r#"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
        Some(r#"{"baz":"qux","foo":["a",2,"c"]}"#),
    ),
    (r#"{"baz":"qux"}"#, r#"[{"op":"test","path":"/baz","value":"bar"}]"#, None),
    (
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
        Some(r#"{"foo":"bar","child":{"grandchild":{}}}"#),
    ),
    (
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#,
        Some(r#"{"foo":"bar","baz":"qux"}"#),
    ),
    (r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz/bat","value":"qux"}]"#, None),
    // A.13: the last of two `op` members wins here, and its operation fails.
    (r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz","value":"qux","op":"remove"}]"#, None),
    (
        r#"{"/":9,"~1":10}"#,
        r#"[{"op":"test","path":"/~01","value":10}]"#,
        Some(r#"{"/":9,"~1":10}"#),
    ),
    (r#"{"/":9,"~1":10}"#, r#"[{"op":"test","path":"/~01","value":"10"}]"#, None),
    (
        r#"{"foo":["bar"]}"#,
        r#"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
        Some(r#"{"foo":["bar",["abc","def"]]}"#),
    ),
];

/// Paths and values that the appendix does not cover; absent keys are as Kubernetes has them.
const MORE: &[(&str, &str, Option<&str>)] = &[
    (r#"{"":1}"#, r#"[{"op":"replace","path":"/","value":2}]"#, Some(r#"{"":2}"#)),
    (r#"{"a/b":{"c~d":1}}"#, r#"[{"op":"remove","path":"/a~1b/c~0d"}]"#, Some(r#"{"a/b":{}}"#)),
    (r#"{"a":1}"#, r#"[{"op":"test","path":"/~2","value":1}]"#, None),
    (r#"{"a":1}"#, r#"[{"op":"test","path":"a","value":1}]"#, None),
    (r#"{"a":1}"#, r#"[{"op":"add","path":"","value":[1]}]"#, Some("[1]")),
    (r#"{"a":1}"#, r#"[{"op":"remove","path":""}]"#, None),
    (r#"{"a":1}"#, r#"[{"op":"replace","path":"/b","value":1}]"#, Some(r#"{"a":1,"b":1}"#)),
    (r#"{"a":1}"#, r#"[{"op":"replace","path":"/b/c","value":1}]"#, None),
    (r#"{"a":[1]}"#, r#"[{"op":"replace","path":"/a/1","value":1}]"#, None),
    (r#"{"a":null}"#, r#"[{"op":"test","path":"/a","value":null}]"#, Some(r#"{"a":null}"#)),
    (r#"{"a":1}"#, r#"[{"op":"test","path":"/b","value":null}]"#, Some(r#"{"a":1}"#)),
    (r#"{"a":1}"#, r#"[{"op":"test","path":"/b/c","value":null}]"#, None),
    (r#"{"a":1}"#, r#"[{"op":"test","path":"/a"}]"#, None),
    (r#"{"a":1}"#, r#"[{"op":"test","path":"/b"}]"#, Some(r#"{"a":1}"#)),
    (r#"{"a":1}"#, r#"[{"op":"copy","from":"/b","path":"/c"}]"#, Some(r#"{"a":1,"c":null}"#)),
    (r#"{"a":[]}"#, r#"[{"op":"copy","from":"/a/0","path":"/c"}]"#, None),
    (r#"{"a":1}"#, r#"[{"op":"move","from":"/b","path":"/c"}]"#, None),
    (r#"{"a":[1,2]}"#, r#"[{"op":"add","path":"/a/3","value":1}]"#, None),
    (r#"{"a":[1,2]}"#, r#"[{"op":"add","path":"/a/2","value":3}]"#, Some(r#"{"a":[1,2,3]}"#)),
    (r#"{"a":[1,2]}"#, r#"[{"op":"remove","path":"/a/-"}]"#, None),
    (r#"{"a":[1,2]}"#, r#"[{"op":"remove","path":"/a/-1"}]"#, None),
    (r#"{"a":[1,2]}"#, r#"[{"op":"remove","path":"/a/01"}]"#, None),
    (r#"{"a":[1,2]}"#, r#"[{"op":"remove","path":"/a/1e0"}]"#, None),
    (r#"{"a":[1,2]}"#, r#"[{"op":"remove","path":"/a/"}]"#, None),
    (r#"{"1e0":1}"#, r#"[{"op":"test","path":"/1e0","value":1}]"#, Some(r#"{"1e0":1}"#)),
    (r#"{"a":{"b":1}}"#, r#"[{"op":"move","from":"/a","path":"/a/b"}]"#, None),
    (r#"{"a":1,"b":2}"#, r#"[{"op":"move","from":"/a","path":"/a"}]"#, Some(r#"{"a":1,"b":2}"#)),
    (r#"{"a":1}"#, r#"[{"op":"move","from":"/b","path":"/b"}]"#, None),
    (
        r#"{"a":{"b":1}}"#,
        r#"[{"op":"copy","from":"/a","path":"/a/c"}]"#,
        Some(r#"{"a":{"b":1,"c":{"b":1}}}"#),
    ),
    (r#"{"a":1}"#, r#"[{"op":"copy","path":"/b"}]"#, None),
    (
        r#"{"a":{"x":1,"y":2}}"#,
        r#"[{"op":"test","path":"/a","value":{"y":2,"x":1}}]"#,
        Some(r#"{"a":{"x":1,"y":2}}"#),
    ),
    // Numbers are equal by their value.
    (
        r#"{"a":[1,1e2,0.10,-0]}"#,
        r#"[{"op":"test","path":"/a","value":[1.0,100,1E-1,0.0]}]"#,
        Some(r#"{"a":[1,1e2,0.10,-0]}"#),
    ),
    (r#"{"a":9007199254740993}"#, r#"[{"op":"test","path":"/a","value":9007199254740992}]"#, None),
    (r#"{"a":1e400}"#, r#"[{"op":"test","path":"/a","value":1e401}]"#, None),
    // A patch is atomic, and the remaining keys keep their order.
    (r#"{"a":1,"b":2}"#, r#"[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]"#, None),
    (r#"{"a":1,"b":2,"c":3}"#, r#"[{"op":"remove","path":"/a"}]"#, Some(r#"{"b":2,"c":3}"#)),
    (r#"{"a":1.0}"#, r#"[{"op":"add","path":"/b","value":1.50}]"#, Some(r#"{"a":1.0,"b":1.50}"#)),
    (r#"{"a":1}"#, r#"[{"op":"spam","path":"/a"}]"#, None),
    (r#"{"a":1}"#, r#"[{"path":"/a"}]"#, None),
    (r#"{"a":1}"#, r#"[{"op":"remove"}]"#, None),
];

fn json_patches_do_what_rfc_6902_says() {
    for (object, patch, expected) in APPENDIX.iter().chain(MORE) {
        let mut result = value(object);
        let outcome = json::parse(patch.as_bytes()).and_then(|patch| patch.apply(&mut result));
        if let Some(expected) = expected {
            assert_eq!(outcome, Ok(()), "{object} with {patch}");
            assert_eq!(result.to_string(), value(expected).to_string(), "{object} with {patch}");
        } else {
            assert_eq!(outcome.map_err(|status| status.code), Err(422), "{object} with {patch}");
            assert_eq!(result, value(object), "a patch that fails changes nothing");
        }
    }
}

fn bodies_that_are_no_json_patches_are_refused() {
    for (body, message) in [
        ("[", "EOF while parsing a list at line 1 column 1"),
        (r#"{"op":"add"}"#, "expected array, got object"),
        ("[1]", "expected object, got number"),
        (r#"[{"op":1,"path":""}]"#, "op: expected string, got number"),
    ] {
        let message = format!("error decoding patch: {message}");
        let status = json::parse(body.as_bytes()).unwrap_err();
        assert_eq!((status.code, status.message), (400, message), "{body}");
    }
}
