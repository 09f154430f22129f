//! Limits of the size, the depth and the time of patches.

use krm_template_server::patch::{json, merge};
use krm_template_server::templates::STACK;
use serde_json::{Value, json};

tests!(
    a_patch_has_at_most_10000_operations,
    copies_that_double_an_object_end_at_3_mib,
    a_result_of_more_than_3_mib_is_refused,
    a_result_has_at_most_1000_levels,
    a_key_of_serde_json_is_a_key,
    patches_that_move_too_much_are_refused
);

/// Applies operations to an object, and returns the code of the error.
fn code(object: &mut Value, operations: &Value) -> Result<(), u16> {
    json::parse(operations.to_string().as_bytes())
        .and_then(|patch| patch.apply(object))
        .map_err(|status| status.code)
}

fn a_patch_has_at_most_10000_operations() {
    let test = json!({"op": "test", "path": "/metadata/name", "value": "u1"});
    let body = |count: usize| Value::Array(vec![test.clone(); count]).to_string();
    assert!(json::parse(body(10_000).as_bytes()).is_ok());
    let status = json::parse(body(10_001).as_bytes()).unwrap_err();
    assert_eq!(
        (status.code, status.reason, status.message.as_str()),
        (
            413,
            "RequestEntityTooLarge",
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
        )
    );
}

fn copies_that_double_an_object_end_at_3_mib() {
    let copies = vec![json!({"op": "copy", "from": "/a", "path": "/a/-"}); 64];
    let mut object = json!({"a": ["0123456789"]});
    assert_eq!(code(&mut object, &json!(copies)), Err(422));
    assert_eq!(object, json!({"a": ["0123456789"]}));
}

fn a_result_of_more_than_3_mib_is_refused() {
    let text = "x".repeat(2 << 20);
    let mut object = json!({ "a": text });
    assert_eq!(code(&mut object, &json!([{"op": "add", "path": "/b", "value": text}])), Err(413));
    assert_eq!(code(&mut object, &json!([{"op": "replace", "path": "/a", "value": text}])), Ok(()));
}

fn a_result_has_at_most_1000_levels() {
    // The server's threads have this stack size. In a debug build, a test's stack is too small.
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(check_levels).unwrap().join().unwrap();
}

fn check_levels() {
    let nested = |levels: usize| (1..levels).fold(json!([]), |inner, _| json!([inner]));
    for (value, path, expected) in [
        (nested(998), "/b/0", Ok(())),
        (nested(997), "/b/0/0", Ok(())),
        (nested(998), "/b/0/0", Err(422)),
        (nested(999), "/b", Err(400)),
    ] {
        let mut object = json!({"b": [[1]]});
        let add = json!([{"op": "add", "path": path, "value": value}]);
        assert_eq!(code(&mut object, &add), expected);
    }
    let deeper = vec![json!({"op": "copy", "from": "/a", "path": "/a/0"}); 2_000];
    assert_eq!(code(&mut json!({"a": [[]]}), &json!(deeper)), Err(422));
}

fn a_key_of_serde_json_is_a_key() {
    let body =
        br#"{"$serde_json::private::Number":"1","a":{"$serde_json::private::RawValue":"[]"}}"#;
    let (patch, _) = merge::parse(body).unwrap();
    assert_eq!(patch.to_string().as_bytes(), body);
}

fn patches_that_move_too_much_are_refused() {
    let mut list = json!({ "a": vec![0; 500_000] });
    let inserts = vec![json!({"op": "add", "path": "/a/0", "value": 1}); 10_000];
    assert_eq!(code(&mut list, &json!(inserts)), Err(422));
    let keys = || (0..100_000).map(|key| format!("k{key}"));
    let mut map: Value = keys().map(|key| (key, json!(1))).collect();
    let removals: Vec<Value> =
        keys().take(10_000).map(|key| json!({"op": "remove", "path": format!("/{key}")})).collect();
    assert_eq!(code(&mut map, &json!(removals)), Err(422));
}
