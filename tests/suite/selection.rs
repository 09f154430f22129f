//! Two instances of one Template in one namespace: every selector selects only pods of its own
//! instance and no others. Computed from the output, for the real templates in the folder that
//! `KRM_TEMPLATE_SHARED` names.
#![expect(clippy::indexing_slicing, reason = "what is not there in JSON is null")]

use std::fs;
use std::path::Path;

use krm_template::template::env_file;
use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use yaml_rust2::{Yaml, YamlLoader};

use crate::needs;
use crate::program;

/// The label by which the instances differ.
const LABEL: &str = "app.kubernetes.io/instance";
/// The parameter put into every name.
const SUFFIX: &str = "TEST_SUFFIX";
/// As many templates must take part, or the test proves nothing.
const LEAST: usize = 300;

pub(crate) fn trials() -> Vec<Trial> {
    let name = "selection/instances_select_their_own_pods";
    let test = |shared: &Path| all(&shared.join("corpus/openshift"));
    vec![needs::shared_data(name, test)]
}

fn all(corpus: &Path) -> Result<(), Failed> {
    let index = fs::read_to_string(corpus.join("index.tsv"))?;
    let files = index.lines().skip(1).filter_map(|line| line.split('\t').next());
    let mut proven = 0;
    for file in files {
        let Some(output) = stamp_out(corpus, file)? else {
            continue;
        };
        let selections = check(&output).map_err(|problem| format!("{file}: {problem}"))?;
        proven += usize::from(selections > 0);
    }
    if proven < LEAST {
        return Err(format!("only {proven} templates take part, {LEAST} are needed").into());
    }
    Ok(())
}

/// The objects of two instances; nothing for a template that does not read or lacks values.
fn stamp_out(corpus: &Path, file: &str) -> Result<Option<Vec<Value>>, Failed> {
    let text = fs::read_to_string(corpus.join("templates").join(file))?;
    let Ok(documents) = YamlLoader::load_from_str(&text) else {
        return Ok(None);
    };
    let Some(mut template) = documents.first().map(to_json) else {
        return Ok(None);
    };
    // Of the two instances only the names differ, and the label.
    let objects = template["objects"].as_array_mut();
    for object in objects.into_iter().flatten() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        object["metadata"]["name"] = format!("{name}${{{SUFFIX}}}").into();
    }
    let suffix = json!({"name": SUFFIX, "required": true});
    match template["parameters"].as_array_mut() {
        Some(parameters) => parameters.push(suffix),
        None => template["parameters"] = json!([suffix]),
    }
    template["apiVersion"] = json!("template.openshift.io/v1");
    template["metadata"]["name"] = json!("t");
    template["metadata"]["annotations"] = json!({"template.krm.dev/label-selectors": "true"});
    let values = values(corpus, file, &template)?;
    let instance = |name: &str| {
        let mut values = values.clone();
        values.insert(SUFFIX.to_owned(), format!("-{name}").into());
        json!({"name": name, "parameters": values, "labels": {LABEL: name}})
    };
    let list = json!({
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": [template],
        "functionConfig": {
            "apiVersion": "template.krm.dev/v1alpha1",
            "kind": "TemplateInstance",
            "metadata": {"name": "site"},
            "spec": {
                "templateRef": {"name": "t"},
                "instances": [instance("a"), instance("b")],
            },
        },
    });
    let output = program::run(&mut program::command(crate::root()), list.to_string().into())?;
    if output.exit != "0" {
        return Ok(None);
    }
    let mut list: Value = serde_json::from_slice(&output.stdout)?;
    let items = list["items"].as_array_mut().map(std::mem::take);
    Ok(items.map(|items| items.into_iter().skip(1).collect()))
}

/// The values in the file beside the template, and its own defaults.
fn values(corpus: &Path, file: &str, template: &Value) -> Result<Map<String, Value>, Failed> {
    let mut values = Map::new();
    for parameter in template["parameters"].as_array().into_iter().flatten() {
        if let (Some(name), Some(value)) = (parameter["name"].as_str(), parameter["value"].as_str())
        {
            values.insert(name.to_owned(), value.into());
        }
    }
    let given = corpus.join("params").join(format!("{file}.env"));
    if given.exists() {
        let assignments = env_file::parse(&fs::read_to_string(given)?);
        for assignment in assignments.unwrap_or_default() {
            values.insert(assignment.name, assignment.value.into());
        }
    }
    Ok(values)
}

/// Checks every selector in the output. Returns the number of selectors that select something.
fn check(objects: &[Value]) -> Result<usize, String> {
    let pods: Vec<(&str, &Value)> =
        objects.iter().filter_map(|object| Some((instance(object), pod_labels(object)?))).collect();
    let mut selections = 0;
    for object in objects {
        let Some(selector) = selector(object) else {
            continue;
        };
        let own = instance(object);
        let name = format!("{} {}", object["kind"], object["metadata"]["name"]);
        let mut without = selector.clone();
        without.remove(LABEL);
        for (instance, labels) in &pods {
            let selects = matches(selector, labels);
            if selects && *instance != own {
                return Err(format!("{name} of {own} selects pods of {instance}"));
            }
            if !selects && *instance == own && matches(&without, labels) {
                return Err(format!("{name} of {own} no longer selects its own pods"));
            }
            selections += usize::from(selects);
        }
    }
    Ok(selections)
}

fn instance(object: &Value) -> &str {
    object["metadata"]["labels"][LABEL].as_str().unwrap_or_default()
}

fn pod_labels(object: &Value) -> Option<&Value> {
    let labels = match object["kind"].as_str()? {
        "Pod" => &object["metadata"]["labels"],
        "CronJob" => &object["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"],
        "Deployment"
        | "DeploymentConfig"
        | "StatefulSet"
        | "DaemonSet"
        | "ReplicaSet"
        | "ReplicationController"
        | "Job" => &object["spec"]["template"]["metadata"]["labels"],
        _ => return None,
    };
    Some(labels)
}

/// What an object selects pods by; an empty selector of these kinds selects none.
fn selector(object: &Value) -> Option<&Map<String, Value>> {
    let selector = &object["spec"]["selector"];
    let selector = match object["kind"].as_str()? {
        "Service" | "ReplicationController" | "DeploymentConfig" => selector,
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "PodDisruptionBudget" => {
            &selector["matchLabels"]
        }
        "NetworkPolicy" => &object["spec"]["podSelector"]["matchLabels"],
        _ => return None,
    };
    selector.as_object().filter(|selector| !selector.is_empty())
}

fn matches(selector: &Map<String, Value>, labels: &Value) -> bool {
    selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

fn to_json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Real(digits) => digits.parse().map_or(Value::Null, |number: f64| json!(number)),
        Yaml::Integer(number) => json!(number),
        Yaml::String(text) => json!(text),
        Yaml::Boolean(flag) => json!(flag),
        Yaml::Array(items) => items.iter().map(to_json).collect(),
        Yaml::Hash(entries) => {
            let key = |key: &Yaml| key.as_str().map(str::to_owned);
            let entries = entries.iter().filter_map(|(k, v)| Some((key(k)?, to_json(v))));
            Value::Object(entries.collect())
        }
        Yaml::Alias(_) | Yaml::Null | Yaml::BadValue => Value::Null,
    }
}
