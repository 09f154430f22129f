//! Comparison of a response with the recorded one.

use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use serde_json::{Map, Value, json};

use crate::exchanges::client::Answer;
use crate::exchanges::known::{Known, alike, is_time, is_uid};
use crate::exchanges::recording::{Exchange, Values};
use crate::words::are_same_error;

/// The headers that are compared.
const HEADERS: [&str; 3] = ["Content-Type", "Warning", "Retry-After"];
const OPENSHIFT: &str = "template.openshift.io";
/// The resources of OpenShift's group that both servers have.
const RESOURCES: [&str; 4] =
    ["processedtemplates", "templateinstances", "templateinstances/status", "templates"];

/// Returns the differences between a response and the recorded one, one line each. Learns our
/// values for the recorded uids, names and revisions.
pub(crate) fn differences(exchange: &Exchange, ours: &Answer, known: &mut Known) -> Vec<String> {
    let mut found = Vec::new();
    let recorded = &exchange.response;
    if recorded.status != ours.status {
        found.push(format!("status: {}, not {}", ours.status, recorded.status));
    }
    for name in HEADERS {
        let theirs = recorded.headers.get(name).map(Values::to_vec).unwrap_or_default();
        let mut own = ours.header(name);
        if name == "Warning" && is_processing(exchange) {
            // Our server has more warnings about errors in Templates.
            own.retain(|warning| theirs.contains(warning));
        }
        if theirs != own {
            found.push(format!("{name}: {own:?}, not {theirs:?}"));
        }
    }
    match &recorded.body {
        Some(body) if exchange.request.method != "HEAD" => {
            bodies(exchange, body, ours, known, &mut found);
        }
        Some(_) => {}
        None => found.push("body: recorded in a binary format".to_owned()),
    }
    found
}

/// Returns the faults of a response by itself: an error must be a `Status` with the code of the
/// response.
pub(crate) fn faults(method: &str, path: &str, ours: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    // Errors about `OpenAPI` documents have no body, like the recorded ones.
    let is_openapi = path.starts_with("/openapi/") && ours.body.is_empty();
    if ours.status == 0 {
        found.push(format!("no answer: {}", ours.text()));
    } else if ours.status >= 400 && method != "HEAD" && !is_health(ours) && !is_openapi {
        let status = ours.json().or_else(|| yaml(&ours.text()).ok()).unwrap_or_default();
        let is_failure = status.get("kind").is_some_and(|kind| kind == "Status")
            && status.get("status").is_some_and(|status| status == "Failure")
            && status.get("code").is_some_and(|code| *code == json!(ours.status));
        if !is_failure {
            found.push(format!("no Status in the answer {}: {}", ours.status, shown(&ours.text())));
        }
    }
    found
}

fn is_processing(exchange: &Exchange) -> bool {
    exchange.request.path.contains("/processedtemplates")
}

/// Returns `true` if the response is the text of a health check, which is never a `Status`.
fn is_health(ours: &Answer) -> bool {
    ours.status == 500 && ours.text().starts_with('[')
}

fn bodies(
    exchange: &Exchange,
    body: &str,
    ours: &Answer,
    known: &mut Known,
    found: &mut Vec<String>,
) {
    let text = ours.text();
    let mut comparer = Comparer { exchange, known, found };
    if comparer.is_yaml() {
        comparer.yamls(body, &text);
    } else if exchange.is_watch() {
        comparer.lines(body, &text);
    } else if let Ok(theirs) = serde_json::from_str::<Value>(body) {
        comparer.jsons(body, theirs, &text);
    } else if exchange.response.trimmed.is_some() {
        let kept: Vec<&str> = body.split(" … ").collect();
        if !kept.iter().all(|part| text.contains(part.trim())) {
            comparer.found.push(format!("body: {}", shown(&text)));
        }
    } else if !alike(body, &text) {
        comparer.found.push(format!("body: {}\n      not {}", shown(&text), shown(body)));
    }
}

struct Comparer<'a> {
    exchange: &'a Exchange,
    known: &'a mut Known,
    found: &'a mut Vec<String>,
}

impl Comparer<'_> {
    fn yamls(&mut self, theirs: &str, ours: &str) {
        match (yaml(theirs), yaml(ours)) {
            (Ok(mut theirs), Ok(ours)) => {
                self.leave_out(&mut theirs);
                only_our_groups(&mut theirs);
                self.values(&theirs, &ours, "body");
            }
            (theirs, ours) => self.found.push(format!("body: {ours:?}, not {theirs:?}")),
        }
    }

    fn lines(&mut self, theirs: &str, ours: &str) {
        let recorded: Vec<&str> = theirs.lines().collect();
        let own: Vec<&str> = ours.lines().collect();
        if recorded.len() != own.len() {
            self.found.push(format!(
                "{} lines, not {}: {}",
                own.len(),
                recorded.len(),
                own.iter().map(|line| shown(line)).collect::<Vec<_>>().join(" | ")
            ));
        }
        for (index, (theirs, ours)) in recorded.iter().zip(&own).enumerate() {
            let theirs: Value = serde_json::from_str(theirs).expect("a recorded line is JSON");
            match serde_json::from_str(ours) {
                Ok(ours) => self.values(&theirs, &ours, &format!("line[{index}]")),
                Err(error) => self.found.push(format!("line[{index}]: {error}: {}", shown(ours))),
            }
        }
    }

    fn jsons(&mut self, body: &str, mut theirs: Value, text: &str) {
        let Ok(mut ours) = serde_json::from_str::<Value>(text) else {
            self.found.push(format!("body: not JSON: {}", shown(text)));
            return;
        };
        let is_trimmed = self.exchange.response.trimmed.is_some();
        if is_trimmed && theirs.get("rows").is_some_and(|_| theirs.get("kind").is_none()) {
            ours = first_cells(&ours);
        } else if !is_trimmed {
            if body.ends_with('\n') != text.ends_with('\n') {
                self.found.push("body: the last line feed".to_owned());
            }
            if body.starts_with("{\n") != text.starts_with("{\n") {
                self.found.push("body: pretty or not".to_owned());
            }
            if !body.contains(['<', '>', '&']) && text.contains(['<', '>', '&']) {
                self.found.push("body: `<`, `>` or `&` without an escape".to_owned());
            }
        }
        self.leave_out(&mut theirs);
        only_our_groups(&mut theirs);
        only_our_groups(&mut ours);
        self.random_values(&theirs, &mut ours);
        self.values(&theirs, &ours, "body");
    }

    /// Removes the fields that we omit by decision: `managedFields` of a processed Template, which
    /// no client reads.
    fn leave_out(&self, theirs: &mut Value) {
        if is_processing(self.exchange)
            && let Some(metadata) = theirs.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.shift_remove("managedFields");
        }
    }

    /// Replaces our random values with the recorded ones, if they have the same length.
    fn random_values(&self, theirs: &Value, ours: &mut Value) {
        if !self.exchange.volatile.iter().any(|path| path.contains("generated parameters")) {
            return;
        }
        let values = |of: &Value| -> Vec<String> {
            let parameters = of["parameters"].as_array().cloned().unwrap_or_default();
            let value = |parameter: &Value| parameter["value"].as_str().unwrap_or("").to_owned();
            parameters.iter().map(value).collect()
        };
        for (recorded, own) in values(theirs).iter().zip(values(ours)) {
            if *recorded != own && recorded.chars().count() == own.chars().count() {
                replace(ours, &own, recorded);
            }
        }
    }

    fn values(&mut self, theirs: &Value, ours: &Value, path: &str) {
        match (theirs, ours) {
            (Value::Object(theirs), Value::Object(ours)) => self.objects(theirs, ours, path),
            (Value::Array(theirs), Value::Array(own)) => {
                let (theirs, own) = (self.ordered(theirs, path), self.ordered(own, path));
                // The recording keeps the first items of a trimmed list.
                let is_part = self.exchange.response.trimmed.is_some() && theirs.len() < own.len();
                if theirs.len() != own.len() && !is_part {
                    self.found.push(format!("{path}: {} items, not {}", own.len(), theirs.len()));
                    self.found.push(format!("{path}: {}", shown(&ours.to_string())));
                }
                for (index, (theirs, ours)) in theirs.into_iter().zip(own).enumerate() {
                    self.values(theirs, ours, &format!("{path}[{index}]"));
                }
            }
            (Value::String(recorded), Value::String(own)) => self.strings(recorded, own, path),
            _ if theirs == ours => {}
            _ => self.differ(theirs, ours, path),
        }
    }

    /// Sorts the items, so that the result does not depend on timing: servers sort managed fields
    /// by time.
    fn ordered<'v>(&self, items: &'v [Value], path: &str) -> Vec<&'v Value> {
        let mut items: Vec<&Value> = items.iter().collect();
        let text = |item: &Value, key| item.get(key).and_then(Value::as_str).map(str::to_owned);
        if path.ends_with(".managedFields") {
            items.sort_by_key(|item| (text(item, "manager"), text(item, "operation")));
        } else if self.exchange.response.status == 409 && path.ends_with(".causes") {
            items.sort_by_key(|item| (text(item, "field"), text(item, "message")));
        }
        items
    }

    fn objects(&mut self, theirs: &Map<String, Value>, ours: &Map<String, Value>, path: &str) {
        for (key, value) in theirs {
            let path = format!("{path}.{key}");
            match ours.get(key) {
                Some(_) if key == "resourceVersion" && self.is_volatile(&path) => {
                    self.revisions(theirs, ours, &path);
                }
                Some(own) => self.values(value, own, &path),
                None => {
                    self.found.push(format!("{path}: missing, not {}", shown(&value.to_string())));
                }
            }
        }
        let is_part = self.exchange.response.trimmed.is_some();
        for (key, value) in ours.iter().filter(|(key, _)| !is_part && !theirs.contains_key(*key)) {
            self.found.push(format!("{path}.{key}: {}, not missing", shown(&value.to_string())));
        }
        if theirs.len() == ours.len() && theirs.keys().ne(ours.keys()) && self.has_order(path) {
            let keys = |of: &Map<String, Value>| of.keys().cloned().collect::<Vec<_>>().join(" ");
            if theirs.keys().all(|key| ours.contains_key(key)) {
                self.found.push(format!("{path}: keys {}, not {}", keys(ours), keys(theirs)));
            }
        }
    }

    /// Returns `true` if the order of keys is compared. It is not compared in YAML, where upstream
    /// sorts keys, and only in parts of stored Templates, which keep the order of the request.
    fn has_order(&self, path: &str) -> bool {
        let is_error = self.exchange.response.status >= 400;
        let is_processed = is_processing(self.exchange);
        let is_openshift = self.exchange.request.path.contains(OPENSHIFT);
        !self.is_yaml()
            && (is_error
                || is_openshift
                    && (is_processed || path.contains(".objects[") || path.contains(".metadata")))
    }

    fn revisions(&mut self, theirs: &Map<String, Value>, ours: &Map<String, Value>, path: &str) {
        let text =
            |of: &Map<String, Value>| of["resourceVersion"].as_str().unwrap_or("").to_owned();
        let (recorded, own) = (text(theirs), text(ours));
        if own.is_empty() || !own.bytes().all(|byte| byte.is_ascii_digit()) {
            self.found.push(format!("{path}: {own:?} is not a revision"));
        } else if theirs.contains_key("uid")
            && let Err(before) = self.known.learn_revision(&recorded, &own)
        {
            self.found.push(format!("{path}: {before} ({recorded} in the recording)"));
        }
    }

    fn strings(&mut self, recorded: &str, own: &str, path: &str) {
        if self.is_volatile(path) {
            let key = path.rsplit('.').next().unwrap_or("");
            let fault = match key {
                "uid" if is_uid(recorded) && !is_uid(own) => Some("is not a uid".to_owned()),
                "uid" | "name" => self.known.learn_id(recorded, own).err(),
                "creationTimestamp" | "deletionTimestamp" | "time" if !is_time(own) => {
                    Some("is not a time".to_owned())
                }
                "continue" if own.is_empty() => Some("is not a token".to_owned()),
                _ => None,
            };
            if let Some(fault) = fault {
                self.found.push(format!("{path}: {own:?} {fault}"));
            }
        } else if let Some(ours) = self.known.id(recorded).filter(|ours| *ours != own) {
            self.found.push(format!("{path}: {own:?}, which was {ours:?} before"));
        } else if self.known.id(recorded).is_none()
            && !alike(recorded, own)
            && !(is_processing(self.exchange) && is_without_value(recorded, own))
        {
            self.differ(&Value::from(recorded), &Value::from(own), path);
        }
    }

    fn is_yaml(&self) -> bool {
        let content_type = self.exchange.response.headers.get("Content-Type");
        let values = content_type.map(Values::to_vec).unwrap_or_default();
        values.iter().any(|value| value.contains("yaml"))
    }

    fn is_volatile(&self, path: &str) -> bool {
        let ends =
            ["metadata.uid", "metadata.resourceVersion", "metadata.continue", "Timestamp", ".time"];
        let is_one_of_them = ends.iter().any(|end| path.ends_with(end));
        // The recording has no paths in YAML, and names the only line of a watch `body`.
        let of_body = path.strip_prefix("line[0].");
        self.is_yaml() && is_one_of_them
            || self.exchange.volatile.iter().any(|volatile| {
                volatile == path
                    || of_body.is_some() && volatile.strip_prefix("body.") == of_body
                    || volatile.starts_with("body: uid") && is_one_of_them
            })
    }

    fn differ(&mut self, theirs: &Value, ours: &Value, path: &str) {
        let (ours, theirs) = (ours.to_string(), theirs.to_string());
        self.found.push(format!("{path}: {}\n      not {}", shown(&ours), shown(&theirs)));
    }
}

/// Returns `true` if our message is the recorded one without the value, which can be a secret.
fn is_without_value(recorded: &str, own: &str) -> bool {
    const START: &str = "Invalid value: ";
    own.split_once(START).is_some_and(|(before, why)| {
        let rest = recorded.strip_prefix(before).unwrap_or_default();
        let mut colons = rest.match_indices(": ");
        let is_why = |(at, _)| {
            let (_, end) = rest.split_at(at + 2);
            end == why || are_same_error(end, why)
        };
        rest.starts_with(START) && colons.any(is_why)
    })
}

/// Truncates a text for a report.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(600).collect();
    if start.len() < text.len() { format!("{start}… ({} bytes)", text.len()) } else { start }
}

/// Converts YAML to JSON.
pub(crate) fn yaml(text: &str) -> Result<Value, String> {
    let document =
        Document::parse(&Source::new("answer", text)).map_err(|error| format!("{error:?}"))?;
    let root = document.roots().next().ok_or("no document")?;
    let value = root.value(krm_yaml::DuplicateKeys::Refuse, &mut Diagnostics::default());
    let json = krm_yaml::render_json(&value.ok_or("no value")?, None);
    serde_json::from_str(&json.map_err(|error| format!("{error:?}"))?)
        .map_err(|error| error.to_string())
}

/// Returns the first cell of each row of a Table, in the format of the recording.
fn first_cells(table: &Value) -> Value {
    let rows = table["rows"].as_array().cloned().unwrap_or_default();
    json!({"rows": rows.iter().map(|row| row.pointer("/cells/0").cloned()).collect::<Vec<_>>()})
}

/// Removes all groups except OpenShift's, and all resources except Templates, from discovery
/// documents: the recorded servers and ours serve different groups.
fn only_our_groups(document: &mut Value) {
    let kind = document["kind"].as_str().unwrap_or("").to_owned();
    match kind.as_str() {
        "APIGroupList" => keep(document, "/groups", "/name", &[OPENSHIFT]),
        "APIResourceList" => keep(document, "/resources", "/name", &RESOURCES),
        "APIGroupDiscoveryList" => {
            keep(document, "/items", "/metadata/name", &[OPENSHIFT]);
            keep(document, "/items/0/versions/0/resources", "/resource", &RESOURCES);
        }
        _ => {}
    }
}

/// Keeps only the items of a list that have one of the names.
fn keep(document: &mut Value, list: &str, name: &str, names: &[&str]) {
    if let Some(items) = document.pointer_mut(list).and_then(Value::as_array_mut) {
        items.retain(|item| {
            let name = item.pointer(name).and_then(Value::as_str);
            name.is_some_and(|name| names.contains(&name))
        });
    }
}

/// Replaces a substring in all strings of a value.
fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => *text = text.replace(from, to),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, from, to)),
        Value::Object(entries) => entries.values_mut().for_each(|entry| replace(entry, from, to)),
        _ => {}
    }
}
