//! `krm-template parameters` for many Templates: each schema is valid and accepts the
//! defaults, and each values file can be read when its `#`s are removed.
//!
//! The Templates are those of this repository that can be expanded, and those of the folder that
//! `KRM_TEMPLATE_SHARED` names.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_template::schema;
use krm_template::template::{self, Template, ValuesFormat, env_file};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, SharedNode, Value};
use libtest_mimic::{Failed, Trial};
use serde_json::Value as Json;

use crate::cases::{self, Case, Files};
use crate::needs;
use crate::program;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("parameters/of_this_repository", || check_all(repository(), 100)),
        Trial::test("parameters/filled_env_files_are_read", || filled("env", "--param-file")),
        Trial::test("parameters/filled_yaml_files_are_read", || filled("values", "-P")),
        Trial::test("parameters/a_default_made_of_others_has_a_limit", limit),
        needs::shared_data("parameters/of_real_templates", |shared| {
            check_all(cases::files(&shared.join("corpus/openshift/templates")), 500)
        }),
    ]
}

/// A default that refers to others may have 1 MiB, and not a byte more.
fn limit() -> Result<(), Failed> {
    let value = "x".repeat(1 << 20);
    for (default, exit, message) in [
        ("$(A)", "0", ""),
        ("$(A)-", "1", "the value of parameter `B` is longer than 1048576 bytes"),
    ] {
        let template = format!(
            "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: t\n\
             parameters:\n- name: A\n  value: {value}\n- name: B\n  value: {default}\n\
             objects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n  data:\n    b: $(B)\n"
        );
        let mut command = program::command(crate::root());
        let done = program::run(command.args(["process", "-f", "-"]), template.into())?;
        let stderr = String::from_utf8_lossy(&done.stderr);
        if done.exit != exit || !stderr.contains(message) {
            return Err(format!("{default}: expected exit {exit}, found {}", done.exit).into());
        }
    }
    Ok(())
}

/// Fills in a values file as a person would, and expands the Template with it.
fn filled(output: &str, option: &str) -> Result<(), Failed> {
    let template = crate::root().join("examples/mongodb/template.yaml");
    let template = template.display().to_string();
    let run = |arguments: &[&str], stdin: &str| -> Result<String, Failed> {
        let mut command = program::command(crate::root());
        let done = program::run(command.args(arguments), stdin.into())?;
        match done.exit.as_str() {
            "0" => Ok(String::from_utf8(done.stdout)?),
            exit => Err(format!("exit {exit}: {}", String::from_utf8_lossy(&done.stderr)).into()),
        }
    };
    let skeleton = run(&["parameters", "-f", &template, "-o", output], "")?;
    let process = ["process", "-f", &template];
    if run(&[&process[..], &[option, "-"]].concat(), &skeleton).is_ok() {
        return Err("expected an error for a missing required value".into());
    }
    let file = skeleton
        .replace("\nMONGODB_PASSWORD=", "\nMONGODB_PASSWORD=sesame")
        .replace("\nMONGODB_PASSWORD:", "\nMONGODB_PASSWORD: sesame")
        .replace("#REPLICA_COUNT=1", "REPLICA_COUNT=2")
        .replace("#REPLICA_COUNT: 1", "REPLICA_COUNT: 2");
    let made = run(&[&process[..], &[option, "-"]].concat(), &file)?;
    let values = ["MONGODB_PASSWORD=sesame", "REPLICA_COUNT=2"];
    let expected = run(&[&process[..], &values].concat(), "")?;
    if made == expected { Ok(()) } else { Err(format!("{made}\nis not\n{expected}").into()) }
}

/// The Templates of the cases that end well, and of the examples.
fn repository() -> Files {
    let cases = cases::all().into_iter();
    let cases = cases.filter(|case| case.get("exit").is_none());
    let others = ["examples", "functionconfig", "tests/common"];
    let others = others.map(|folder| cases::files(&crate::root().join(folder)));
    cases.map(Case::into_files).chain(others).flatten().collect()
}

/// Checks every file that is a Template; there are at least `least`.
fn check_all(files: Files, least: usize) -> Result<(), Failed> {
    let (mut checked, mut problems) = (0, Vec::new());
    for (file, text) in files {
        let Ok(text) = String::from_utf8(text) else {
            continue;
        };
        let Ok(document) = Document::parse(&Source::new("template", text)) else {
            continue;
        };
        let Some(root) = SharedNode::roots(&Arc::new(document)).next() else {
            continue;
        };
        let Some(template) = Template::read(&root, &mut Diagnostics::new()) else {
            continue;
        };
        checked += 1;
        if let Err(problem) = check(&template) {
            problems.push(format!("{file}: {problem}"));
        }
    }
    if checked < least {
        problems.push(format!("{checked} Templates were checked, expected {least}"));
    }
    match problems.as_slice() {
        [] => Ok(()),
        problems => Err(problems.join("\n").into()),
    }
}

fn check(template: &Template) -> Result<(), String> {
    check_schema(&schema::of_values(template))?;
    let values = values(template)?;
    for (format, read) in
        [(ValuesFormat::Env, read_env as fn(&str) -> _), (ValuesFormat::Yaml, read_yaml)]
    {
        let text = template::skeleton(template, format);
        let found = read(&uncommented(&text, format))?;
        let mut values = values.clone();
        values.retain(|name, _| !text.contains(&format!("# {name}: this format cannot express")));
        if found != values {
            return Err(format!("{format:?}: expected {values:?}, found {found:?} in\n{text}"));
        }
        let given = read(&text)?;
        if given.values().any(|value| !value.is_empty()) {
            return Err(format!("{format:?}: gives values as it is: {given:?}"));
        }
    }
    Ok(())
}

fn check_schema(schema: &Json) -> Result<(), String> {
    jsonschema::meta::validate(schema).map_err(|error| format!("schema: {error}"))?;
    let validator = jsonschema::draft202012::new(schema).map_err(|error| error.to_string())?;
    let properties = schema["properties"].as_object().ok_or("no properties")?;
    let is_required = |name: &String| {
        let required = schema["required"].as_array();
        required.is_some_and(|required| required.contains(&Json::from(name.as_str())))
    };
    let instance: serde_json::Map<String, Json> = properties
        .iter()
        .filter_map(|(name, property)| {
            let default = property.get("default").cloned();
            let filled = || is_required(name).then(|| sample(property));
            Some((name.clone(), default.or_else(filled)?))
        })
        .collect();
    let problems = validator
        .iter_errors(&Json::Object(instance))
        .map(|error| error.to_string())
        .collect::<Vec<_>>();
    if problems.is_empty() { Ok(()) } else { Err(format!("schema: {}", problems.join(", "))) }
}

/// A value that a person might fill in.
fn sample(property: &Json) -> Json {
    if let Some(first) = property.pointer("/enum/0") {
        return first.clone();
    }
    match property["type"].as_str().unwrap_or_default() {
        "integer" | "number" => property.get("minimum").cloned().unwrap_or(Json::from(1)),
        "boolean" => true.into(),
        "array" => Json::Array(Vec::new()),
        "object" => Json::Object(serde_json::Map::new()),
        _ => "abcd".into(),
    }
}

/// The default of every parameter that has one to show, as text.
fn values(template: &Template) -> Result<BTreeMap<String, String>, String> {
    let list = template::list(template);
    let mut values = BTreeMap::new();
    for parameter in template.named_parameters() {
        let items = list.items().unwrap_or_default();
        let item =
            items.iter().find(|item| item.str_at(&["name"]) == Some(parameter.name.as_ref()));
        let item = item.ok_or_else(|| format!("{} is not in the list", parameter.name))?;
        // What is put together from other parameters is for reading only.
        let is_computed =
            matches!(template.default_value(parameter), template::DefaultValue::Computed(_));
        if let Some(value) = item.get("value").filter(|_| !is_computed) {
            values.insert(parameter.name.clone(), text(value));
        }
    }
    Ok(values)
}

fn text(value: &Value<'_>) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

/// A values file with every default; names without a value are omitted.
fn uncommented(text: &str, format: ValuesFormat) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let entry = match line.strip_prefix('#') {
            Some(entry) if !entry.is_empty() && !entry.starts_with(' ') => entry,
            _ => line,
        };
        let is_empty = match format {
            ValuesFormat::Env => entry.split_once('=').is_some_and(|(_, value)| value.is_empty()),
            ValuesFormat::Yaml => entry.ends_with(':'),
        };
        if !is_empty {
            out.push_str(entry);
            out.push('\n');
        }
    }
    out
}

fn read_env(text: &str) -> Result<BTreeMap<String, String>, String> {
    let read = env_file::parse(text).map_err(|errors| format!("{errors:?}\n{text}"))?;
    Ok(read.into_iter().map(|one| (one.name, one.value)).collect())
}

fn read_yaml(text: &str) -> Result<BTreeMap<String, String>, String> {
    let document = Document::parse(&Source::new("values", text))
        .map_err(|error| format!("{error}\n{text}"))?;
    let mut values = BTreeMap::new();
    for entry in document.roots().take(1).flat_map(Cursor::children) {
        let name = entry.key_text().map_err(|error| error.to_string())?;
        let value = if entry.is_mapping() || entry.is_sequence() {
            let value = entry.value(krm_yaml::DuplicateKeys::Refuse, &mut Diagnostics::new());
            value.map(|value| value.to_json())
        } else if entry.is_null() {
            None
        } else {
            entry.text().map_err(|error| error.to_string())?.map(Into::into)
        };
        values.insert(name.into_owned(), value.unwrap_or_default());
    }
    Ok(values)
}
