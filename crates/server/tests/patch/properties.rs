//! Properties of all patches, and of all histories of field managers.

use std::collections::{BTreeMap, BTreeSet};

use krm_template_server::patch::managed_fields::{self, Writer};
use krm_template_server::patch::{json, merge, strategic};
use krm_template_server_core::{Group, Kind};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

tests!(
    a_json_patch_does_what_another_program_does,
    a_merge_patch_leads_from_any_object_to_any_other,
    without_directives_a_strategic_merge_is_a_merge,
    managers_of_templates_keep_what_they_own,
    managers_of_openshift_templates_keep_what_they_own,
    any_managed_fields_are_read_or_left
);

/// Generates JSON with few different keys.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3).prop_map(Value::from),
        "[xy]".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            fields(inner),
        ]
    })
}

fn fields(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[abc]", inner, 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

fn any_operation() -> impl Strategy<Value = Value> {
    let pointer = "(/([abc]|0|1|2|-)){0,3}";
    let name = prop_oneof![
        Just("add"),
        Just("remove"),
        Just("replace"),
        Just("move"),
        Just("copy"),
        Just("test"),
    ];
    (name, pointer, pointer, any_json()).prop_map(
        |(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}),
    )
}

/// Returns an operation of RFC 6902 for one of Kubernetes, to which an absent key of a map is null.
fn with_absent(object: &Value, mut operation: Value) -> Value {
    let op = operation["op"].as_str().unwrap().to_owned();
    let from = if op == "copy" { "from" } else { "path" };
    let place = operation[from].as_str().unwrap().rsplit_once('/');
    let fields = place.and_then(|(parent, _)| object.pointer(parent)?.as_object());
    let is_absent = fields.is_some_and(|fields| !fields.contains_key(place.unwrap().1));
    match op.as_str() {
        "replace" if is_absent => operation["op"] = json!("add"),
        "copy" if is_absent => {
            operation = json!({"op": "add", "path": operation["path"], "value": null});
        }
        "test" if is_absent && operation["value"].is_null() => {
            operation = json!({"op": "test", "path": "", "value": object});
        }
        _ => {}
    }
    operation
}

/// Returns the merge patch from one value without nulls to another.
fn difference(before: &Value, after: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return after.clone();
    };
    let gone =
        old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let changed = new
        .iter()
        .filter(|(key, value)| old.get(*key) != Some(value))
        .map(|(key, value)| (key.clone(), difference(old.get(key).unwrap_or(&Value::Null), value)));
    gone.chain(changed).collect()
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    fn a_json_patch_does_what_another_program_does(
        object in any_json(),
        operations in proptest::collection::vec(any_operation(), 0..6),
    ) {
        let patch = Value::from(operations);
        let (mut ours, mut theirs) = (object.clone(), object);
        let outcome = json::parse(patch.to_string().as_bytes()).and_then(|patch| patch.apply(&mut ours));
        let operations = patch.as_array().unwrap().iter();
        let expected = operations.map(Clone::clone).try_for_each(|operation| {
            let operation = serde_json::from_value(with_absent(&theirs, operation)).unwrap();
            json_patch::patch_unsafe(&mut theirs, &[operation])
        });
        prop_assert_eq!(outcome.is_ok(), expected.is_ok());
        if expected.is_ok() {
            prop_assert_eq!(ours, theirs);
        }
    }

    fn a_merge_patch_leads_from_any_object_to_any_other(before in any_json(), after in any_json()) {
        let (before, after) = (without_nulls(before), without_nulls(after));
        let patch = difference(&before, &after);
        let mut object = before;
        merge::apply(&mut object, patch.clone());
        prop_assert_eq!(&object, &after);
        merge::apply(&mut object, patch.clone());
        prop_assert_eq!(&object, &after, "twice is once");
    }

    fn without_directives_a_strategic_merge_is_a_merge(object in fields(any_json()), patch in fields(any_json())) {
        let (mut strategic, mut merged) = (object.clone(), object);
        strategic::apply(&mut strategic, &patch).unwrap();
        merge::apply(&mut merged, patch.clone());
        prop_assert_eq!(strategic, merged);
    }
}

/// Generates a Template with a message and a few other fields. Without fields, it could have no
/// managers.
fn any_template(group: Group) -> impl Strategy<Value = Value> {
    let map = || proptest::collection::btree_map("[ab]", "[12]", 0..3);
    let parameter = (proptest::option::of("[12]"), proptest::option::of("[12]"));
    let parameters = proptest::collection::btree_map("[AB]", parameter, 0..3);
    let set = proptest::collection::btree_set("x/[12]", 0..3);
    let objects = proptest::option::of("[12]");
    (map(), map(), map(), set, parameters, objects, "[12]").prop_map(
        move |(labels, annotations, for_all, finalizers, parameters, objects, message)| {
            let mut metadata = Map::from_iter([("name".to_owned(), json!("t"))]);
            let mut object = Map::from_iter([
                ("apiVersion".to_owned(), json!(group.api_version())),
                ("kind".to_owned(), json!("Template")),
            ]);
            let parameters: Vec<Value> = parameters
                .into_iter()
                .map(|(name, (value, description))| {
                    without_nulls(json!({"name": name, "value": value, "description": description}))
                })
                .collect();
            let parts = [
                ("labels", json!(labels)),
                ("annotations", json!(annotations)),
                ("finalizers", json!(finalizers)),
            ];
            let there = |value: &Value| value != &json!({}) && value != &json!([]);
            metadata.extend(
                parts
                    .into_iter()
                    .filter(|(_, value)| there(value))
                    .map(|(key, value)| (key.to_owned(), value)),
            );
            object.insert("metadata".to_owned(), Value::Object(metadata));
            let parts = [("labels", json!(for_all)), ("parameters", json!(parameters))];
            object.extend(
                parts
                    .into_iter()
                    .filter(|(_, value)| there(value))
                    .map(|(key, value)| (key.to_owned(), value)),
            );
            object.insert("message".to_owned(), json!(message));
            let objects = objects.map(|text| json!([{"a": text}]));
            object.extend(objects.map(|objects| ("objects".to_owned(), objects)));
            Value::Object(object)
        },
    )
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Update,
    Apply,
    Force,
}

fn any_history(group: Group) -> impl Strategy<Value = Vec<(&'static str, Way, Value)>> {
    let manager = prop_oneof![Just("ann"), Just("bob"), Just("cid")];
    let way = prop_oneof![Just(Way::Update), Just(Way::Apply), Just(Way::Force)];
    proptest::collection::vec((manager, way, any_template(group)), 1..8)
}

/// Returns the values of an object that have managers, by their paths in `FieldsV1`.
fn leaves(group: Group, object: &Value) -> BTreeMap<Vec<String>, Value> {
    let mut leaves = BTreeMap::new();
    let mut maps = |path: &[&str], value: &Value| match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = path.iter().map(|step| (*step).to_owned()).chain([format!("f:{key}")]);
                leaves.insert(path.collect(), value.clone());
            }
        }
        value => {
            leaves.insert(path.iter().map(|step| (*step).to_owned()).collect(), value.clone());
        }
    };
    for (key, value) in object.as_object().unwrap() {
        match key.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => {
                for (key, value) in value.as_object().unwrap() {
                    match key.as_str() {
                        "labels" | "annotations" => {
                            maps(&["f:metadata", &format!("f:{key}")], value);
                        }
                        "finalizers" => {
                            for item in value.as_array().into_iter().flatten() {
                                maps(&["f:metadata", "f:finalizers", &format!("v:{item}")], item);
                            }
                        }
                        _ => {}
                    }
                }
            }
            "labels" => maps(&["f:labels"], value),
            "parameters" if group == Group::Krm => {
                for item in value.as_array().into_iter().flatten() {
                    maps(&["f:parameters", &format!("k:{{\"name\":{}}}", item["name"])], item);
                }
            }
            _ => {
                let text = value.to_string();
                maps(&[&format!("f:{key}")], &json!(text));
            }
        }
    }
    leaves
}

/// Returns the paths that each manager owns.
fn owners(object: &Value) -> BTreeMap<(String, String), BTreeSet<Vec<String>>> {
    fn collect(fields: &Value, path: &[String], paths: &mut BTreeSet<Vec<String>>) {
        for (key, below) in fields.as_object().unwrap() {
            if key == "." {
                paths.insert(path.to_vec());
                continue;
            }
            let path = [path, std::slice::from_ref(key)].concat();
            if below == &json!({}) {
                paths.insert(path.clone());
            }
            collect(below, &path, paths);
        }
    }
    let entries = object["metadata"].get("managedFields").and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .map(|entry| {
            let mut paths = BTreeSet::new();
            collect(&entry["fieldsV1"], &[], &mut paths);
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            ((text("manager"), text("operation")), paths)
        })
        .collect()
}

/// Returns `true` if the apply changes a value that another manager owns.
fn conflicts(group: Group, manager: &str, before: &Value, applied: &Value) -> bool {
    let (old, owners) = (leaves(group, before), owners(before));
    leaves(group, applied).iter().any(|(path, value)| {
        old.get(path) != Some(value)
            && owners.iter().any(|((name, operation), paths)| {
                (name.as_str(), operation.as_str()) != (manager, "Apply") && paths.contains(path)
            })
    })
}

/// Runs a history, and checks each step.
fn check(group: Group, history: Vec<(&str, Way, Value)>) -> Result<(), TestCaseError> {
    let mut stored: Option<Value> = None;
    for (manager, way, mut template) in history {
        let writer = Writer { manager, time: "2026-11-22T04:41:44Z", subresource: "" };
        let before = stored.clone();
        let nothing = json!({"metadata": {}});
        let old = before.as_ref().unwrap_or(&nothing);
        if matches!(way, Way::Update) {
            managed_fields::track_update(group, before.as_ref(), &mut template, &writer);
            let changed = leaves(group, &template);
            let own = &owners(&template);
            for (path, _) in
                changed.iter().filter(|(path, value)| leaves(group, old).get(*path) != Some(value))
            {
                let key = (manager.to_owned(), "Update".to_owned());
                prop_assert!(own.get(&key).is_some_and(|paths| paths.contains(path)), "{:?}", path);
            }
            stored = Some(template);
        } else {
            let force = matches!(way, Way::Force);
            let expected = !force && conflicts(group, manager, old, &template);
            let result = managed_fields::apply(
                group,
                Kind::Template,
                before.as_ref(),
                &template,
                &writer,
                force,
            );
            prop_assert_eq!(
                result.as_ref().map_err(|status| status.code).err(),
                expected.then_some(409)
            );
            let Ok(after) = result else { continue };
            check_applied(group, manager, old, &template, &after, force)?;
            stored = Some(after);
        }
        let object = stored.as_ref().unwrap();
        let owned: BTreeSet<Vec<String>> = owners(object).into_values().flatten().collect();
        for path in leaves(group, object).keys() {
            // A parameter keeps its name while other managers own fields of it.
            if path.last().is_some_and(|step| step == "f:name") {
                continue;
            }
            prop_assert!(owned.contains(path), "nobody owns {:?} of {}", path, object);
        }
    }
    Ok(())
}

/// Checks the result of an apply: it has all applied values, and no other manager loses a value.
fn check_applied(
    group: Group,
    manager: &str,
    before: &Value,
    applied: &Value,
    after: &Value,
    force: bool,
) -> Result<(), TestCaseError> {
    let (old, wanted, new) = (leaves(group, before), leaves(group, applied), leaves(group, after));
    for (path, value) in &wanted {
        prop_assert_eq!(new.get(path), Some(value));
    }
    for ((name, operation), paths) in owners(before) {
        if (name.as_str(), operation.as_str()) == (manager, "Apply") {
            continue;
        }
        for path in paths {
            let Some(value) = old.get(&path) else {
                continue;
            };
            let forced = force && wanted.contains_key(&path);
            // A parameter goes with the last manager that owns it, and not only fields of it.
            let is_gone = path.first().is_some_and(|step| step == "f:parameters")
                && path.len() > 1
                && !new.keys().any(|other| other.starts_with(&path[..2]));
            prop_assert!(
                new.get(&path) == Some(value) || forced || is_gone,
                "{} loses {:?}",
                name,
                path
            );
        }
    }
    let twice = managed_fields::apply(
        group,
        Kind::Template,
        Some(after),
        applied,
        &Writer { manager, time: "2026-11-22T04:41:59Z", subresource: "" },
        false,
    );
    prop_assert_eq!(twice.unwrap().to_string(), after.to_string(), "twice is once");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    fn managers_of_templates_keep_what_they_own(history in any_history(Group::Krm)) {
        check(Group::Krm, history)?;
    }

    fn managers_of_openshift_templates_keep_what_they_own(history in any_history(Group::OpenShift)) {
        check(Group::OpenShift, history)?;
    }

    fn any_managed_fields_are_read_or_left(
        fields in any_fields(),
        template in any_template(Group::Krm),
        applied in any_template(Group::Krm),
    ) {
        let entry = json!({
            "manager": "m",
            "operation": "Update",
            "apiVersion": Group::Krm.api_version(),
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        });
        let writer = Writer { manager: "ann", time: "2026-11-22T04:41:44Z", subresource: "" };
        let mut object = template;
        object["metadata"]["managedFields"] = json!([entry]);
        managed_fields::track_update(Group::Krm, None, &mut object, &writer);
        let written = object.clone();
        managed_fields::track_update(Group::Krm, Some(&written), &mut object, &writer);
        prop_assert_eq!(&object, &written, "nothing has changed");
        let forced = managed_fields::apply(Group::Krm, Kind::Template, Some(&object), &applied, &writer, true);
        prop_assert_eq!(forced.map(|_| ()), Ok(()));
    }
}

/// Generates `FieldsV1` as clients may send them.
fn any_fields() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("."),
        Just("f:metadata"),
        Just("f:labels"),
        Just("f:parameters"),
        Just("f:a"),
        Just("k:{\"name\":\"A\"}"),
        Just("k:{\"b\":1,\"a\":\"x\"}"),
        Just("v:\"x/1\""),
        Just("i:0"),
        Just("q:later"),
    ];
    Just(json!({})).prop_recursive(4, 24, 4, move |inner| {
        proptest::collection::btree_map(key.clone(), inner, 0..4).prop_map(|fields| {
            fields
                .into_iter()
                .map(|(key, value)| (key.to_owned(), if key == "." { json!({}) } else { value }))
                .collect()
        })
    })
}
