//! Copies parts of properties back that a Python template passed on.
//!
//! If a Python template puts a part of its properties into its result, both are one object. If the
//! template of a resource in that result changes the part, the properties change, too.

use krm_yaml::{FieldPath, Step, Value};

/// Copies the final properties of the resource with this index back into `properties`, where parts
/// of both are shared: pairs of a path in the result and a path in the properties.
pub(super) fn copy_back(
    properties: &mut Option<Value<'static>>,
    shared: &[(FieldPath, FieldPath)],
    index: usize,
    changed: &Value<'static>,
) {
    let target = FieldPath::root().key("resources").index(index).key("properties");
    for (in_result, in_properties) in shared {
        let Some(properties) = properties.as_mut() else {
            return;
        };
        if let Some(rest) = rest_of(in_result, &target) {
            // The part is in the properties of the resource.
            if let Some(value) = at(changed, rest) {
                put(properties, in_properties, value);
            }
        } else if let Some(rest) = rest_of(&target, in_result) {
            // The resource, or a list with it, is the part.
            put(properties, &in_properties.clone().join(rest), changed);
        }
    }
}

/// The steps of `path` after those of `start`, if it begins with them.
fn rest_of<'p>(path: &'p FieldPath, start: &FieldPath) -> Option<&'p [Step]> {
    path.steps().strip_prefix(start.steps())
}

fn at<'v>(value: &'v Value<'static>, steps: &[Step]) -> Option<&'v Value<'static>> {
    steps.iter().try_fold(value, |value, step| value.step(step))
}

/// Sets the value at `path`, whose last key may be new.
fn put(properties: &mut Value<'static>, path: &FieldPath, value: &Value<'static>) {
    if let Some(old) = properties.lookup_mut(path) {
        old.set(value.data.clone());
    } else if let Some((parent, Step::Key(key))) = path.split_last()
        && let Some(parent) = properties.lookup_mut(&parent)
    {
        parent.insert(key.clone().into(), value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::copy_back;
    use krm_yaml::{FieldPath, Value};

    fn json(text: &str) -> Value<'static> {
        Value::from(serde_json::from_str::<serde_json::Value>(text).unwrap())
    }

    fn copied(properties: &str, in_result: &str, in_properties: &str, changed: &str) -> String {
        let path = |text: &str| -> FieldPath {
            match text {
                "" => FieldPath::root(),
                _ => text.parse().unwrap(),
            }
        };
        let mut properties = Some(json(properties));
        let shared = [(path(in_result), path(in_properties))];
        copy_back(&mut properties, &shared, 1, &json(changed));
        properties.unwrap().to_json()
    }

    #[test]
    fn what_a_template_changed_in_a_shared_part_is_copied_back() {
        let changed = r#"{"disk":{"size":10}}"#;
        for (properties, in_result, in_properties, expected) in [
            // All of the properties are passed on.
            (r#"{"disk":{}}"#, "resources[1].properties", "", r#"{"disk":{"size":10}}"#),
            // A part of them is.
            (r#"{"d":{}}"#, "resources[1].properties.disk", "d", r#"{"d":{"size":10}}"#),
            // The whole resource is.
            (
                r#"{"r":[{"name":"x","properties":{}}]}"#,
                "resources[1]",
                "r[0]",
                r#"{"r":[{"name":"x","properties":{"disk":{"size":10}}}]}"#,
            ),
            // The list of resources is.
            (
                r#"{"r":[0,{}]}"#,
                "resources",
                "r",
                r#"{"r":[0,{"properties":{"disk":{"size":10}}}]}"#,
            ),
            // Another resource is.
            (r#"{"d":{}}"#, "resources[0].properties", "d", r#"{"d":{}}"#),
        ] {
            let found = copied(properties, in_result, in_properties, changed);
            assert_eq!(found, expected, "{in_result} {in_properties}");
        }
    }
}
