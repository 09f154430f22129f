//! The calls that the unit tests of the original make.

use std::fs;
use std::path::Path;

use krm_template::deployment_manager::request;
use krm_template::deployment_manager::schema::Schemas;
use krm_template::deployment_manager::yaml::Located;
use krm_yaml::Value;
use libtest_mimic::Failed;
use serde_json::Value as Json;

use crate::compare::{self, Order, canonical};
use crate::{OPTIONS, equal, report, run};

/// The recorded calls of a function.
fn calls(shared: &Path, function: &str) -> Result<Vec<Json>, Failed> {
    let path = shared.join("corpus/deployment-manager/upstream-unit/cases.json");
    let cases: Json = serde_json::from_slice(&fs::read(path)?)?;
    let calls = cases[function].as_array().cloned();
    Ok(calls.unwrap_or_default())
}

fn name_of(call: &Json) -> String {
    let test = call["test"].as_str().unwrap_or_default();
    test.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Expands the configurations, with or without Python templates.
pub(crate) fn expansions(shared: &Path, python: bool, wanted: usize) -> Result<(), Failed> {
    let mut results = Vec::new();
    for call in calls(shared, "expand")? {
        let imports = call["imports"].as_object();
        let has_python =
            imports.is_some_and(|all| all.keys().any(|name| name.rsplit('.').next() == Some("py")));
        if has_python == python {
            results.push((name_of(&call), expansion(&call)));
        }
    }
    report(results, wanted)
}

fn expansion(call: &Json) -> Result<(), String> {
    let request = request::of_value(&Value::from(call.clone()), OPTIONS);
    let request = request.map_err(|error| error.to_string())?;
    let Some(expected) = call["error"].as_str() else {
        let expected = call["expected"].as_str().unwrap_or_default();
        return equal(&request, expected, Order::Kept);
    };
    match run(&request) {
        Ok(_) => Err("it is expanded".to_owned()),
        Err(error) => compare::same_error(&error.diagnostics, expected),
    }
}

/// Validates properties against schemas.
pub(crate) fn validations(shared: &Path, wanted: usize) -> Result<(), Failed> {
    let calls = calls(shared, "validate")?;
    let results = calls.iter().map(|call| (name_of(call), validation(call)));
    report(results.collect(), wanted)
}

fn validation(call: &Json) -> Result<(), String> {
    let mut imports = call.clone();
    imports["content"] = "".into();
    let request = request::of_value(&Value::from(imports), OPTIONS);
    let request = request.map_err(|error| error.to_string())?;
    let mut schemas = Schemas::new(&request.imports, true, None);
    let resource =
        Value::mapping(vec![("properties".into(), Value::from(call["properties"].clone()))]);
    let located = Located { value: &resource, document: None };
    let text = |field: &str| call[field].as_str().unwrap_or_default();
    let found = schemas.check(text("schema_name"), located);
    match (found, call["error"].as_str()) {
        (Ok(found), None) => {
            let found = canonical(&found.properties, Order::Kept);
            let expected = canonical(&Value::from(call["result"].clone()), Order::Kept);
            if found == expected {
                return Ok(());
            }
            Err(format!("found\n{found}\nexpected\n{expected}"))
        }
        (Err(found), Some(expected)) => compare::same_error(&found, expected),
        (Ok(_), Some(expected)) => Err(format!("valid, expected\n{expected}")),
        (Err(found), None) => Err(format!("found\n{found:?}\nexpected none")),
    }
}
