//! Managed fields, by the rules of Kubernetes.

use krm_template_server::patch::managed_fields::Writer;
use krm_template_server::patch::managed_fields::{apply, track_update};
use krm_template_server_core::{Group, Kind, Result};
use serde_json::{Value, json};

use crate::patch::{managers, value};

tests!(
    updates_of_more_than_ten_managers_are_merged,
    an_empty_list_or_entry_resets_the_managers_until_the_next_apply,
    managers_that_cannot_be_read_are_those_of_the_stored_object,
    fields_of_another_version_go,
    lists_by_key_and_sets_have_an_owner_an_item,
    the_manager_without_a_name_is_unknown_and_subresources_count,
    an_applied_object_keeps_its_order_and_the_digits_of_numbers,
    parameters_are_merged_in_the_applied_order,
    a_parameter_goes_with_its_last_owner,
    empty_and_null_values_are_no_conflict,
    a_map_stays_while_somebody_owns_it,
    what_nobody_applies_goes_with_its_empty_map,
    the_applied_uid_and_resource_version_are_left_to_the_checks_of_an_update,
    lists_and_maps_that_cannot_be_merged_are_refused,
    a_value_of_openshift_is_applied_as_text_alone,
    unknown_fields_have_no_owner_and_stay
);

const GROUP: Group = Group::Krm;

fn writer(manager: &str) -> Writer<'_> {
    Writer { manager, time: "2026-11-22T04:41:44Z", subresource: "" }
}

/// Returns a Template with these fields.
fn template(fields: &str) -> Value {
    let mut object =
        json!({"apiVersion": GROUP.api_version(), "kind": "Template", "metadata": {"name": "t"}});
    for (key, field) in value(fields).as_object().unwrap() {
        match (key.as_str(), field) {
            ("metadata", Value::Object(metadata)) => {
                object["metadata"].as_object_mut().unwrap().extend(metadata.clone());
            }
            _ => object[key] = field.clone(),
        }
    }
    object
}

fn created(manager: &str, fields: &str) -> Value {
    let mut object = template(fields);
    track_update(GROUP, None, &mut object, &writer(manager));
    object
}

fn updated(manager: &str, before: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut after = before.clone();
    change(&mut after);
    track_update(GROUP, Some(before), &mut after, &writer(manager));
    after
}

fn applied(manager: &str, before: Option<&Value>, fields: &str) -> Result<Value> {
    apply(GROUP, Kind::Template, before, &template(fields), &writer(manager), false)
}

fn updates_of_more_than_ten_managers_are_merged() {
    let mut object = created("m00", r#"{"labels":{"k00":"1"}}"#);
    for index in 1..14 {
        let before = object.clone();
        object[&"labels"][format!("k{index:02}")] = json!("1");
        let (manager, time) = (format!("m{index:02}"), format!("2026-11-22T04:41:{index:02}Z"));
        let writer = Writer { manager: &manager, time: &time, subresource: "" };
        track_update(GROUP, Some(&before), &mut object, &writer);
    }
    let listed = managers(&object);
    assert_eq!(listed.len(), 10);
    // m00 wrote last, at :44.
    assert_eq!(
        listed[0],
        r#"ancient-changes Update {"f:labels":{"f:k01":{},"f:k02":{},"f:k03":{},"f:k04":{},"f:k05":{}}}"#
    );
    assert_eq!(listed[9], r#"m00 Update {"f:labels":{".":{},"f:k00":{}}}"#);
    assert_eq!(object["metadata"]["managedFields"][0]["time"], "2026-11-22T04:41:05Z");
}

fn an_empty_list_or_entry_resets_the_managers_until_the_next_apply() {
    for reset in [json!([]), json!([{}]), json!([{"manager": "", "time": null}])] {
        let object = created("ann", r#"{"message":"m"}"#);
        let object = updated("bob", &object, |object| {
            object["metadata"]["managedFields"] = reset;
        });
        assert_eq!(object["metadata"].get("managedFields"), None);
        let object = updated("bob", &object, |object| object["message"] = json!("n"));
        assert_eq!(object["metadata"].get("managedFields"), None);
        let object = applied("cid", Some(&object), r#"{"message":"n"}"#).unwrap();
        assert_eq!(
            managers(&object),
            [r#"cid Apply {"f:message":{}}"#, r#"before-first-apply Update {"f:message":{}}"#]
        );
    }
}

fn managers_that_cannot_be_read_are_those_of_the_stored_object() {
    let stored = created("ann", r#"{"message":"m"}"#);
    let entry = |name: &str, value: Value| {
        let mut entry = json!({
            "manager": "m",
            "operation": "Update",
            "apiVersion": GROUP.api_version(),
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:other": {}},
        });
        entry[name] = value;
        json!([entry])
    };
    for broken in [
        Value::Null,
        json!("text"),
        json!([1]),
        entry("operation", json!("Delete")),
        entry("apiVersion", json!("")),
        entry("fieldsType", json!("Nope")),
        entry("fieldsType", Value::Null),
        entry("time", json!("yesterday")),
        entry("manager", json!(1)),
        entry("fieldsV1", json!([])),
        entry("fieldsV1", json!({"nothing": {}})),
        entry("fieldsV1", json!({"f:a": 1})),
        entry("fieldsV1", json!({"k:[]": {}})),
        entry("fieldsV1", json!({"i:x": {}})),
    ] {
        let object = updated("bob", &stored, |object| {
            object["metadata"]["managedFields"] = broken.clone();
        });
        assert_eq!(managers(&object), [r#"ann Update {"f:message":{}}"#], "{broken}");
    }
    let given = updated("bob", &stored, |object| {
        object["metadata"]["managedFields"] = entry("time", json!("2026-11-22T05:00:00.9+01:00"));
    });
    assert_eq!(managers(&given), [r#"m Update {"f:other":{}}"#]);
    assert_eq!(given["metadata"]["managedFields"][0]["time"], "2026-11-22T04:00:00Z");
}

fn fields_of_another_version_go() {
    let object = created("ann", r#"{"message":"m"}"#);
    let object = updated("bob", &object, |object| {
        object["metadata"]["managedFields"][0]["apiVersion"] = json!("template.krm.dev/v1beta1");
    });
    assert_eq!(managers(&object), [""; 0]);
}

fn lists_by_key_and_sets_have_an_owner_an_item() {
    let object = created(
        "ann",
        r#"{"metadata":{"finalizers":["x/a"],"ownerReferences":[{"uid":"u","name":"n"}]},"parameters":[{"name":"A","value":{"b":1}}]}"#,
    );
    assert_eq!(
        managers(&object),
        [concat!(
            r#"ann Update {"f:metadata":{"f:finalizers":{".":{},"v:\"x/a\"":{}},"#,
            r#""f:ownerReferences":{".":{},"k:{\"uid\":\"u\"}":{}}},"#,
            r#""f:parameters":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}"#
        )]
    );
}

fn the_manager_without_a_name_is_unknown_and_subresources_count() {
    let mut object = template(r#"{"message":"m"}"#);
    let writer = Writer { subresource: "status", ..writer("") };
    track_update(GROUP, None, &mut object, &writer);
    assert_eq!(object["metadata"]["managedFields"][0]["manager"], "unknown");
    assert_eq!(object["metadata"]["managedFields"][0]["subresource"], "status");
    let status = applied("bob", Some(&object), r#"{"message":"n"}"#).unwrap_err();
    assert_eq!(
        status.message,
        "Apply failed with 1 conflict: conflict with \"unknown\" with subresource \"status\" using \
         template.krm.dev/v1alpha1: .message"
    );
}

fn an_applied_object_keeps_its_order_and_the_digits_of_numbers() {
    let text = concat!(
        r#"{"objects":[{"b":1.0,"a":2}],"kind":"Template","metadata":{"labels":{"b":"1","a":"2"},"name":"t"},"#,
        r#""apiVersion":"template.krm.dev/v1alpha1"}"#
    );
    let object = apply(GROUP, Kind::Template, None, &value(text), &writer("ann"), false).unwrap();
    let managed = object["metadata"]["managedFields"].to_string();
    assert_eq!(
        object.to_string(),
        text.replace(r#""name":"t""#, &format!(r#""name":"t","managedFields":{managed}"#))
    );
}

fn parameters_are_merged_in_the_applied_order() {
    for (live, wanted, expected) in [
        ("AB", "C", "ABC"),
        ("ABC", "CA", "BCA"),
        ("ABC", "AC", "ABC"),
        ("AB", "XA", "XAB"),
        ("ABC", "CXB", "ACXB"),
    ] {
        let list = |names: &str| {
            let items: Vec<Value> = names.chars().map(|name| json!({ "name": name })).collect();
            json!({ "parameters": items }).to_string()
        };
        let object = applied("ann", None, &list(live)).unwrap();
        let object = applied("bob", Some(&object), &list(wanted)).unwrap();
        let names: String = object["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{wanted} applied to {live}");
    }
}

/// As `structured-merge-diff`: a manager of a field of an item does not own the item.
fn a_parameter_goes_with_its_last_owner() {
    let object =
        applied("ann", None, r#"{"parameters":[{"name":"A","value":"1","from":"x"}]}"#).unwrap();
    let object = updated("bob", &object, |object| {
        object["parameters"][0]["value"] = json!("2");
    });
    let object = applied("ann", Some(&object), r#"{"message":"m"}"#).unwrap();
    assert_eq!(object["parameters"], Value::Null);
    assert!(!managers(&object).concat().contains("name"), "{object}");
    // So another manager may add it again.
    let again = r#"{"parameters":[{"name":"A","value":"3"}]}"#;
    assert!(applied("carol", Some(&object), again).is_ok());

    // Who owns the item, too, keeps it.
    let both = r#"{"parameters":[{"name":"A","value":"1"}]}"#;
    let object = applied("ann", None, both).unwrap();
    let object = applied("bob", Some(&object), both).unwrap();
    let object = applied("ann", Some(&object), r#"{"message":"m"}"#).unwrap();
    assert_eq!(object["parameters"], json!([{"name": "A", "value": "1"}]));
}

fn empty_and_null_values_are_no_conflict() {
    // An empty list owns nothing.
    for (first, second) in [
        (r#"{"parameters":[]}"#, r#"{"parameters":[{"name":"A"}]}"#),
        (r#"{"metadata":{"finalizers":[]}}"#, r#"{"metadata":{"finalizers":["x/1"]}}"#),
        // A null is a value of our Templates, so a map in its place does not add a field.
        (r#"{"values":null}"#, r#"{"values":{"A":1}}"#),
        (r#"{"labels":null}"#, r#"{"labels":{"a":"1"}}"#),
        (r#"{"values":{}}"#, r#"{"values":{"A":1}}"#),
    ] {
        let object = applied("ann", None, first).unwrap();
        let applied = applied("bob", Some(&object), second);
        assert!(applied.is_ok(), "{second} to {first}: {applied:?}");
    }
}

fn a_map_stays_while_somebody_owns_it() {
    let object = applied("ann", None, r#"{"message":"m"}"#).unwrap();
    let object = updated("bob", &object, |object| object["values"] = json!({"A": 1}));
    let object = applied("ann", Some(&object), r#"{"message":"m","values":{"A":1}}"#).unwrap();
    let object = updated("carol", &object, |object| {
        object["values"] = json!({"A": 2});
    });
    // Bob still owns the map, and nobody but carol its value.
    let object = applied("ann", Some(&object), r#"{"message":"m"}"#).unwrap();
    assert_eq!(object["values"], json!({"A": 2}));
    assert!(applied("dan", Some(&object), r#"{"values":{"B":1}}"#).is_ok());
}

fn what_nobody_applies_goes_with_its_empty_map() {
    let object = applied(
        "ann",
        None,
        r#"{"metadata":{"labels":{"a":"1"}},"values":{"A":[1]},"message":"m"}"#,
    )
    .unwrap();
    let object = applied("ann", Some(&object), "{}").unwrap();
    assert_eq!(object.to_string(), template("{}").to_string());
}

fn the_applied_uid_and_resource_version_are_left_to_the_checks_of_an_update() {
    let mut object =
        applied("ann", None, r#"{"metadata":{"uid":"x","resourceVersion":"7"}}"#).unwrap();
    assert_eq!(object, template("{}"));
    object["metadata"]["uid"] = json!("u");
    object["metadata"]["resourceVersion"] = json!("1");
    object["metadata"]["generation"] = json!(3);
    let given =
        r#"{"metadata":{"uid":"x","resourceVersion":"7","generation":9,"creationTimestamp":null}}"#;
    let after = applied("ann", Some(&object), given).unwrap();
    assert_eq!(
        after["metadata"],
        json!({"name": "t", "uid": "x", "resourceVersion": "7", "generation": 3})
    );
}

fn lists_and_maps_that_cannot_be_merged_are_refused() {
    for (fields, why) in [
        (r#"{"labels":[]}"#, ".labels: expected map, got array"),
        (r#"{"parameters":{}}"#, ".parameters: expected list, got object"),
        (
            r#"{"parameters":[{"name":"A"},{"name":"A"}]}"#,
            r#".parameters: duplicate entries for key [name="A"]"#,
        ),
        (
            r#"{"parameters":[{"value":"A"}]}"#,
            ".parameters: element 0: associative list with keys has an element that omits key field \
             \"name\" (and doesn't have default value)",
        ),
        (
            r#"{"metadata":{"finalizers":[1]}}"#,
            ".metadata.finalizers[0]: expected string, got number",
        ),
        (r#"{"typo":1}"#, ".typo: field not declared in schema"),
        (
            r#"{"parameters":[{"name":"A","requited":true}]}"#,
            ".parameters[0].requited: field not declared in schema",
        ),
        (
            r#"{"message":5}"#,
            ".message: Invalid value: \"integer\": message in body must be of type string: \
             \"integer\"",
        ),
    ] {
        let status = applied("ann", None, fields).unwrap_err();
        let expected = format!(
            "failed to create typed patch object (/t; template.krm.dev/v1alpha1, Kind=Template): {why}"
        );
        assert_eq!((status.code, status.message), (400, expected));
    }
}

fn a_value_of_openshift_is_applied_as_text_alone() {
    let group = Group::OpenShift;
    for (given, why) in [
        ("1", Some("expected string, got number")),
        ("true", Some("expected string, got bool")),
        ("null", None),
        ("\"1\"", None),
    ] {
        let text = format!(
            r#"{{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{{"name":"t"}},"parameters":[{{"name":"A","value":{given}}}]}}"#
        );
        let applied = apply(group, Kind::Template, None, &value(&text), &writer("ann"), false);
        let expected = why.map(|why| {
            format!(
                "failed to create typed patch object (/t; template.openshift.io/v1, \
                 Kind=Template): .parameters[0].value: {why}"
            )
        });
        assert_eq!(applied.err().map(|status| status.message), expected, "{given}");
    }
}

fn unknown_fields_have_no_owner_and_stay() {
    let fields =
        r#"{"typo":1,"metadata":{"lables":{}},"parameters":[{"name":"A","requited":true}]}"#;
    let object = created("ann", fields);
    assert_eq!(
        managers(&object),
        [r#"ann Update {"f:parameters":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{}}}}"#]
    );
    let object = applied("bob", Some(&object), r#"{"parameters":[{"name":"A","value":"1"}]}"#);
    let object = object.unwrap();
    assert_eq!(object["typo"], 1);
    assert_eq!(object["parameters"], json!([{"name": "A", "requited": true, "value": "1"}]));
}
