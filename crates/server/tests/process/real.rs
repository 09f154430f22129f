//! Real Templates expand to the same objects as with `oc process`.

use std::collections::BTreeMap;
use std::path::Path;

use krm_template_server_core::Group;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::process::shared::{json, read, request, shared, template, yaml};

pub(crate) fn trials() -> Vec<Trial> {
    let Some(folder) = shared("corpus/openshift") else {
        return crate::without_data("process/real");
    };
    let table = read(folder.join("index.tsv"));
    let mut rows = table.lines();
    let head: Vec<&str> = rows.next().expect("a head").split('\t').collect();
    let column = |name: &str| head.iter().position(|head| *head == name).expect("a column");
    let (file, refused) = (column("file"), column("oc_rc"));
    let trials: Vec<Trial> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            let (file, refused) = (cells[file].to_owned(), cells[refused] != "0");
            let folder = folder.clone();
            Trial::test(format!("process/real/{file}"), move || check(&folder, &file, refused))
        })
        .collect();
    assert_eq!(trials.len(), 579);
    trials
}

/// Compares the objects with the objects of `oc`, unless it refuses the Template.
fn check(folder: &Path, file: &str, refused: bool) -> Result<(), Failed> {
    let text = read(folder.join("templates").join(file));
    let parameters = folder.join("params").join(format!("{file}.env"));
    let values = if parameters.exists() { values(&read(parameters)) } else { BTreeMap::new() };
    let request = request(Group::OpenShift);
    if refused {
        // Our server reads a number as a string.
        let is_number = file.contains("reconcile__test__fixtures__helm");
        let done = template(&request, yaml(&text));
        return match done {
            Ok(_) if !is_number => Err("it is taken".into()),
            Err(status) if is_number => Err(status.message.into()),
            _ => Ok(()),
        };
    }
    let text = with_values(&text, values);
    let done = template(&request, json(&text));
    let done = done.map_err(|status| format!("{}: {}", status.code, status.message))?;
    let ours: Value = serde_json::from_str(&done.body)?;
    let expected = read(folder.join("expected").join(format!("{file}.json")));
    let expected: Value = serde_json::from_str(&expected)?;
    let objects = ours["objects"].clone();
    let items = expected["items"].clone();
    // The order of keys must be equal.
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(Value::to_string).collect()
    };
    let (ours, expected) = (texts(&objects), texts(&items));
    if ours == expected {
        return Ok(());
    }
    for (ours, expected) in ours.iter().zip(&expected) {
        if ours != expected {
            return Err(format!("ours:     {ours}\nexpected: {expected}").into());
        }
    }
    Err("another number of objects".into())
}

/// Parses `NAME=VALUE` lines.
fn values(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the Template as a client of OpenShift sends it: JSON, with values in its parameters.
fn with_values(text: &str, mut values: BTreeMap<String, String>) -> String {
    let document = krm_yaml::Document::parse(&Source::new("template", text)).expect("YAML");
    let root = document.roots().next().expect("a root");
    let mut value =
        root.value(krm_yaml::DuplicateKeys::LastWins, &mut Diagnostics::new()).expect("a value");
    let parameters = value.get_mut("parameters").and_then(krm_yaml::Value::items_mut);
    for parameter in parameters.into_iter().flatten() {
        let name = parameter.str_at(&["name"]).unwrap_or_default().to_owned();
        if let Some(given) = values.remove(&name) {
            parameter.remove("generate");
            parameter.insert("value".into(), krm_yaml::Value::string(given));
        }
    }
    value.to_json()
}
