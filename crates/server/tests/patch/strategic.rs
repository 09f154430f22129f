//! Strategic merge patches, by the rules of Kubernetes.

use krm_template_server::patch::strategic;

use crate::patch::value;

tests!(
    maps_are_merged_lists_replaced_and_directives_followed,
    owners_are_merged_by_their_uid,
    malformed_directives_are_refused
);

fn maps_are_merged_lists_replaced_and_directives_followed() {
    for (object, patch, expected) in [
        (
            r#"{"m":1,"l":{"a":1}}"#,
            r#"{"m":2,"l":{"b":{"c":null,"d":1}}}"#,
            r#"{"m":2,"l":{"a":1,"b":{"d":1}}}"#,
        ),
        (r#"{"a":1,"b":2,"c":3}"#, r#"{"a":null,"x":null}"#, r#"{"b":2,"c":3}"#),
        (
            r#"{"parameters":[{"name":"A"}]}"#,
            r#"{"parameters":[{"name":"B"}]}"#,
            r#"{"parameters":[{"name":"B"}]}"#,
        ),
        (
            r#"{"parameters":[]}"#,
            r#"{"parameters":[{"$patch":"delete","name":"S"}]}"#,
            r#"{"parameters":[{"name":"S"}]}"#,
        ),
        (
            r#"{"objects":[]}"#,
            r#"{"objects":[{"$patch":"x","a":null}]}"#,
            r#"{"objects":[{"$patch":"x","a":null}]}"#,
        ),
        (r#"{"l":{"a":1,"b":2}}"#, r#"{"l":{"$patch":"replace","c":3}}"#, r#"{"l":{"c":3}}"#),
        (r#"{"l":{"a":1,"b":2}}"#, r#"{"l":{"$patch":"delete"}}"#, r#"{"l":{}}"#),
        (r#"{"l":{"a":1}}"#, r#"{"l":{"$patch":"merge","b":2}}"#, r#"{"l":{"a":1,"b":2}}"#),
        // In place of a text, or of nothing, a map with a directive is nothing.
        (r#"{"l":{"a":"1","b":"2"}}"#, r#"{"l":{"a":{"$patch":"delete"}}}"#, r#"{"l":{"b":"2"}}"#),
        (
            r#"{"l":{}}"#,
            r#"{"l":{"m":{"$patch":"replace","c":3},"n":{"a":{"$patch":"delete"},"b":1}}}"#,
            r#"{"l":{"n":{"b":1}}}"#,
        ),
        (
            r#"{"kind":"T","apiVersion":"v1","message":"m","metadata":{"name":"n"}}"#,
            r#"{"$retainKeys":["metadata"],"metadata":{"labels":{"s":null}}}"#,
            r#"{"kind":"T","apiVersion":"v1","metadata":{"name":"n","labels":{}}}"#,
        ),
        (
            r#"{"metadata":{"finalizers":["x/a","x/b"]},"finalizers":["c"]}"#,
            r#"{"metadata":{"$setElementOrder/finalizers":["x/c","x/b"],"$deleteFromPrimitiveList/finalizers":["x/a"],"finalizers":["x/b","x/c"]},"finalizers":["d"]}"#,
            r#"{"metadata":{"finalizers":["x/b","x/c"]},"finalizers":["d"]}"#,
        ),
    ] {
        check(object, patch, expected);
    }
}

#[track_caller]
fn check(object: &str, patch: &str, expected: &str) {
    let mut result = value(object);
    strategic::apply(&mut result, &value(patch)).unwrap();
    assert_eq!(result.to_string(), expected, "{object} with {patch}");
}

fn owners_are_merged_by_their_uid() {
    for (object, patch, expected) in [
        (
            r#"{"metadata":{"ownerReferences":[{"uid":"1","name":"a"},{"uid":"2","name":"b"}]}}"#,
            r#"{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"},{"uid":"2","kind":"K"},{"uid":"3"}]}}"#,
            r#"{"metadata":{"ownerReferences":[{"uid":"2","name":"b","kind":"K"},{"uid":"3"}]}}"#,
        ),
        (
            r#"{"metadata":{}}"#,
            r#"{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"},{"uid":"3"}]}}"#,
            r#"{"metadata":{"ownerReferences":[{"uid":"3"}]}}"#,
        ),
    ] {
        check(object, patch, expected);
    }
}

fn malformed_directives_are_refused() {
    for patch in [
        r#"{"$patch":"nope"}"#,
        r#"{"metadata":{"$patch":1}}"#,
        r#"{"$retainKeys":"a"}"#,
        r#"{"$retainKeys":["a"],"b":1}"#,
        r#"{"$deleteFromPrimitiveList/a":"b"}"#,
        r#"{"metadata":{"ownerReferences":[{"name":"a"}]}}"#,
        "[]",
    ] {
        let status =
            strategic::apply(&mut value(r#"{"a":1,"metadata":{}}"#), &value(patch)).unwrap_err();
        assert_eq!(status.code, 400, "{patch}");
    }
}
