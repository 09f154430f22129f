//! Recorded responses of real servers to patches, applies and updates: objects and managed fields.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use krm_template_server::patch::managed_fields::{self, Writer};
use krm_template_server::patch::{json, merge, strategic};
use krm_template_server_core::{Group, Kind, Result};
use serde_json::{Value, json};

use crate::words::are_same_error;

tests!(; shared data: openshift_templates_are_patched_as_recorded, templates_of_a_crd_are_patched_as_recorded, created_templates_have_the_recorded_owners);

/// Prefixes of the error messages of these functions. Other errors belong to other modules.
const REFUSALS: [&str; 6] = [
    "Apply failed with",
    "Invalid JSON Patch",
    "error decoding patch: ",
    "invalid object type: ",
    "metadata.managedFields must be nil",
    "the server rejected our request due to an error in our request",
];

/// A YAML body as JSON: other modules read YAML.
const YAML_BODY: &str = r#"{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{"name":"a1"},"message":"yaml"}"#;

#[expect(clippy::disallowed_methods, reason = "a test reads its data")]
fn read(path: &std::path::Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

/// A recorded request with its response.
struct Exchange {
    file: String,
    method: String,
    path: String,
    query: String,
    kind: String,
    body: String,
    code: u64,
    answer: Value,
}

impl Exchange {
    /// Reads the exchanges from `first` to `last` that write stored Templates.
    fn all(first: u32, last: u32) -> Vec<Self> {
        let shared = std::env::var_os("KRM_TEMPLATE_SHARED").unwrap();
        let folder = PathBuf::from(shared).join("corpus/template-api");
        let mut files: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| {
                let number = name.split('-').next().and_then(|number| number.parse().ok());
                number.is_some_and(|number: u32| (first..=last).contains(&number))
            })
            .collect();
        files.sort();
        assert_eq!(files.len(), (first..=last).count(), "recordings are missing");
        files
            .into_iter()
            .map(|file| {
                let recording: Value = serde_json::from_slice(&read(&folder.join(&file))).unwrap();
                let (request, response) = (&recording["request"], &recording["response"]);
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let path = text(&request["path"]);
                let (path, query) = path.split_once('?').unwrap_or((&path, ""));
                Self {
                    file,
                    method: text(&request["method"]),
                    path: path.to_owned(),
                    query: query.to_owned(),
                    kind: text(&request["headers"]["Content-Type"]),
                    body: text(&request["body"]),
                    code: response["status"].as_u64().unwrap(),
                    answer: serde_json::from_str(&text(&response["body"])).unwrap_or_default(),
                }
            })
            .filter(Self::is_ours)
            .collect()
    }

    /// Returns `true` if the exchange tests these functions. Exchanges with YAML do not, nor those
    /// with unknown fields or spellings of numbers, which our server keeps.
    fn is_ours(&self) -> bool {
        let writes = ["POST", "PUT", "PATCH"].contains(&self.method.as_str());
        let message = self.answer["message"].as_str().unwrap_or_default();
        writes
            && !self.file.contains("-unknown-")
            && !self.file.contains("-numbers")
            && self.kind != "application/yaml"
            && ((200..400).contains(&self.code)
                || REFUSALS.iter().any(|start| message.starts_with(start)))
    }

    fn query(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    fn group(&self) -> Group {
        Group::named(self.path.split('/').nth(2).unwrap()).unwrap()
    }

    /// Returns the path of the object.
    fn object_path(&self) -> String {
        if self.method == "POST" {
            return format!("{}/{}", self.path, self.answer["metadata"]["name"].as_str().unwrap());
        }
        self.path.clone()
    }

    /// Returns the object in the response. In a Table, it has only metadata.
    fn object(&self) -> &Value {
        if self.answer["kind"] == "Table" {
            &self.answer["rows"][0]["object"]
        } else {
            &self.answer
        }
    }

    /// Runs the request on the object before it.
    fn run(&self, before: Option<&Value>) -> Result<Value> {
        let group = self.group();
        let manager = self.query("fieldManager").unwrap_or("recorder");
        let time = self.time(manager);
        let writer = Writer { manager, time: &time, subresource: "" };
        let body = self.body.as_bytes();
        let mut after = before.cloned().unwrap_or_default();
        match self.kind.split(';').next().unwrap() {
            "application/merge-patch+json" => merge::apply(&mut after, merge::parse(body)?.0),
            "application/json-patch+json" => json::parse(body)?.apply(&mut after)?,
            "application/strategic-merge-patch+json" => {
                strategic::apply(&mut after, &merge::parse(body)?.0)?;
            }
            "application/apply-patch+yaml" => {
                let applied = match self.body.as_str() {
                    "" => Value::Null,
                    yaml if yaml.starts_with('#') => serde_json::from_str(YAML_BODY).unwrap(),
                    json => serde_json::from_str(json).unwrap(),
                };
                let force = self.query("force").is_some_and(|force| force != "false");
                return managed_fields::apply(
                    group,
                    Kind::Template,
                    before,
                    &applied,
                    &writer,
                    force,
                );
            }
            _ => after = serde_json::from_str(&self.body).unwrap(),
        }
        managed_fields::track_update(group, before, &mut after, &writer);
        Ok(after)
    }

    /// Returns the time of the writer's entry in the response, or a default.
    fn time(&self, manager: &str) -> String {
        let entries = self.object()["metadata"]["managedFields"].as_array();
        let time = entries.into_iter().flatten().find(|entry| entry["manager"] == manager);
        let time = time.and_then(|entry| entry["time"].as_str());
        time.unwrap_or("2001-02-03T04:05:06Z").to_owned()
    }
}

/// Removes the fields that the server sets from an object.
fn comparable(group: Group, object: &Value) -> Value {
    let mut object = object.clone();
    let fields = object.as_object_mut().unwrap();
    if group == Group::OpenShift {
        // The real server returns null for a missing or empty list.
        let none = fields.get("objects").is_none_or(|objects| objects == &json!([]));
        if none {
            fields.insert("objects".to_owned(), Value::Null);
        }
    }
    let metadata = fields["metadata"].as_object_mut().unwrap();
    if metadata.contains_key("generateName") {
        metadata.remove("name");
    }
    let set =
        ["uid", "resourceVersion", "generation", "creationTimestamp", "namespace", "selfLink"];
    metadata.retain(|name, value| {
        let empty = value == &json!({}) || value == &json!([]);
        !empty && !set.contains(&name.as_str()) && !name.starts_with("deletion")
    });
    object
}

/// Sorts the causes of a `Status`.
fn status(mut status: Value) -> Value {
    if let Some(causes) = status["details"]["causes"].as_array_mut() {
        causes.sort_by_key(ToString::to_string);
    }
    status
}

/// Runs recorded requests, each on the recorded object before it.
#[track_caller]
fn check(first: u32, last: u32, expected: usize) {
    let mut stored: BTreeMap<String, Value> = BTreeMap::new();
    let mut compared = 0;
    for exchange in Exchange::all(first, last) {
        let file = &exchange.file;
        let path = exchange.object_path();
        let group = exchange.group();
        let outcome = exchange.run(stored.get(&path));
        compared += 1;
        if exchange.code >= 400 {
            let refused = outcome.map(|_| ()).unwrap_err().object();
            let mut recorded = exchange.answer.clone();
            let messages = [&recorded, &refused].map(|one| one["message"].as_str().unwrap());
            if are_same_error(messages[0], messages[1]) {
                recorded["message"] = refused["message"].clone();
            }
            assert_eq!(status(refused), status(recorded), "{file}");
            continue;
        }
        let ours = outcome.unwrap_or_else(|status| panic!("{file}: {status}"));
        assert_eq!(
            ours["metadata"].get("managedFields"),
            exchange.object()["metadata"].get("managedFields"),
            "{file}"
        );
        let mut new = exchange.answer.clone();
        if exchange.answer["kind"] == "Table" {
            new = ours;
        } else {
            assert_eq!(comparable(group, &ours), comparable(group, &exchange.answer), "{file}");
        }
        if exchange.query("dryRun").is_none() {
            stored.insert(path, new);
        }
    }
    assert_eq!(compared, expected);
}

fn openshift_templates_are_patched_as_recorded() {
    check(359, 482, 70);
}

fn templates_of_a_crd_are_patched_as_recorded() {
    check(665, 743, 27);
}

fn created_templates_have_the_recorded_owners() {
    check(105, 106, 2);
}
