//! Replays recorded requests to real API servers, and compares the responses.
//!
//! `KRM_TEMPLATE_SHARED` names a folder with `corpus/template-api/`. Intended differences are
//! listed in `object-differences.txt`. A listed response that does not differ fails.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use krm_template_server::codec::decode;
use krm_template_server::codec::encode::{self, ListMeta, Table};
use krm_template_server::codec::{Draft, Stored, yaml, yaml_object};
use krm_template_server::request::{FieldValidation, Format, Include, MetaVersion};
use krm_template_server::validation::object_meta;
use krm_template_server_core::{Group, Kind, Result, Status};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::words::are_same_error;

const DIFFERENCES: &str = include_str!("object-differences.txt");

pub(crate) fn trials() -> Vec<Trial> {
    match crate::shared() {
        Some(shared) => replay(&shared.join("corpus/template-api")),
        None => crate::without_data("object/recorded_exchanges"),
    }
}

fn replay(folder: &Path) -> Vec<Trial> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    names.sort();
    let differences: BTreeMap<&str, &str> =
        DIFFERENCES.lines().filter_map(|line| line.split_once(": ")).collect();
    let mut server = Server::default();
    let mut trials = Vec::new();
    for name in &names {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let exchange: Value = serde_json::from_slice(&bytes).unwrap();
        let name = name.trim_end_matches(".json").to_owned();
        let Some(outcome) = server.exchange(&exchange) else {
            continue;
        };
        let reason = differences.get(name.as_str()).copied();
        let result = match (outcome, reason) {
            (Ok(()), None) | (Err(_), Some(_)) => Ok(()),
            (Ok(()), Some(reason)) => Err(Failed::from(format!("no longer differs: {reason}"))),
            (Err(why), None) => Err(Failed::from(why)),
        };
        trials.push(Trial::test(format!("object/{name}"), || result));
    }
    assert!(trials.len() > 150, "{} exchanges", trials.len());
    trials
}

/// The Templates of all groups, by group, namespace and name, each with its revision.
#[derive(Default)]
struct Server {
    stored: BTreeMap<(Group, String, String), (Stored, u64)>,
}

/// A parsed request for Templates.
struct Request<'e> {
    method: &'e str,
    group: Group,
    namespace: &'e str,
    name: Option<&'e str>,
    query: BTreeMap<&'e str, &'e str>,
    accept: &'e str,
    format: Option<Format>,
    body: Vec<u8>,
}

/// The recorded response.
struct Recorded<'e> {
    code: u64,
    body: &'e str,
    json: Value,
    warnings: Vec<String>,
}

impl Server {
    /// Compares the response to a request. Returns `None` if the module under test does not decide
    /// it alone.
    fn exchange(&mut self, exchange: &Value) -> Option<Result<(), String>> {
        let recorded = Recorded::read(&exchange["response"])?;
        let request = Request::read(&exchange["request"])?;
        let is_whole = exchange.get("trimmed").is_none_or(Value::is_null);
        let is_decided = is_whole && request.is_decided() && self.is_known(&request, &recorded);
        let outcome = is_decided.then(|| self.compare(&request, &recorded));
        self.follow(&request, &recorded);
        outcome
    }

    /// Returns `true` if the state that a read shows was recorded. Some requests were not.
    fn is_known(&self, request: &Request<'_>, recorded: &Recorded<'_>) -> bool {
        let names = |(group, namespace, _): &&(Group, String, String)| {
            *group == request.group && namespace == request.namespace
        };
        match request.name {
            _ if request.method != "GET" || recorded.code >= 300 => true,
            Some(name) => {
                let key = (request.group, request.namespace.to_owned(), name.to_owned());
                let revision = recorded.revision();
                self.stored.get(&key).is_some_and(|(_, at)| revision == 0 || *at == revision)
            }
            None => {
                let list = if recorded.json["rows"].is_array() { "rows" } else { "items" };
                let count = recorded.json[list].as_array().map_or(0, Vec::len);
                self.stored.keys().filter(names).count() == count
            }
        }
    }

    /// Updates the state to the state of the recorded server.
    fn follow(&mut self, request: &Request<'_>, recorded: &Recorded<'_>) {
        let is_dry = request.query.contains_key("dryRun")
            || request.body.windows(6).any(|bytes| bytes == b"dryRun");
        if request.method == "GET" || is_dry || recorded.code >= 300 {
            return;
        }
        let metadata = &recorded.json["metadata"];
        let is_marked = !metadata["deletionTimestamp"].is_null();
        let is_gone = is_marked && metadata["finalizers"].is_null();
        if is_gone || request.method == "DELETE" && !is_marked {
            let Some(name) = request.name else { return };
            self.stored.remove(&(request.group, request.namespace.to_owned(), name.to_owned()));
            return;
        }
        let revision = recorded.revision();
        if recorded.json["kind"] == "Template" && revision > 0 {
            let body = serde_json::to_vec(&recorded.json).unwrap();
            let read =
                decode::template(request.group, Format::Json, &body, FieldValidation::Ignore);
            let draft = read.unwrap().0;
            let key = (request.group, request.namespace.to_owned(), draft.name().to_owned());
            if self.stored.get(&key).is_none_or(|(_, at)| *at != revision) {
                self.stored.insert(key, (Stored::encode(&draft).unwrap(), revision));
            }
        }
    }

    fn compare(&mut self, request: &Request<'_>, recorded: &Recorded<'_>) -> Result<(), String> {
        let answer = match request.method {
            "POST" => self.create(request, recorded),
            "PUT" => self.update(request, recorded),
            _ => self.get(request, recorded),
        };
        match answer {
            Ok(answer) if recorded.code >= 300 => {
                Err(format!("got      {answer}\nexpected {}", recorded.body))
            }
            Ok(answer) => same_text(&answer, recorded, request),
            Err(status) => same_status(&status, recorded),
        }
    }

    fn read(request: &Request<'_>) -> Result<(Draft, Vec<String>)> {
        decode::template(
            request.group,
            request.format.unwrap(),
            &request.body,
            request.validation(),
        )
    }

    fn create(&mut self, request: &Request<'_>, recorded: &Recorded<'_>) -> Result<String> {
        let (mut draft, warnings) = Self::read(request)?;
        let expected = &recorded.json["metadata"];
        let prefix = draft.text("generateName");
        let prefix = prefix.get(..58).unwrap_or(prefix).to_owned();
        let name = match &expected["name"] {
            Value::String(name) => name,
            _ => recorded.json["details"]["name"].as_str().unwrap_or_default(),
        };
        let how = object_meta::Create {
            namespace: request.namespace,
            now: recorded.created(),
            uid: expected["uid"].as_str().unwrap_or("9ad8"),
            suffix: name.strip_prefix(prefix.as_str()).unwrap_or("abcde"),
        };
        object_meta::create(&mut draft, &how)?;
        let key = (request.group, request.namespace.to_owned(), draft.name().to_owned());
        if self.stored.contains_key(&key) {
            return Err(Status::already_exists(request.group.name(), "templates", draft.name()));
        }
        self.write(request, recorded, &mut draft, &warnings)
    }

    fn update(&mut self, request: &Request<'_>, recorded: &Recorded<'_>) -> Result<String> {
        let name = request.name.unwrap();
        let (mut draft, warnings) = Self::read(request)?;
        object_meta::named(&mut draft, request.namespace, name)?;
        let key = (request.group, request.namespace.to_owned(), name.to_owned());
        let missing = || Status::not_found(request.group.name(), "templates", name);
        let (old, revision) = self.stored.get(&key).ok_or_else(missing)?;
        let old = old.draft(*revision);
        let expected = object_meta::must_expect(&draft)?;
        object_meta::same_uid(&draft, &old)?;
        if expected != *revision {
            let why = "the object has been modified; please apply your changes to the latest \
                       version and try again";
            return Err(Status::conflict(request.group.name(), "templates", name, why));
        }
        object_meta::update(&mut draft, &old)?;
        self.write(request, recorded, &mut draft, &warnings)
    }

    /// Stores an object and returns the response. Another module sets the managed fields.
    fn write(
        &mut self,
        request: &Request<'_>,
        recorded: &Recorded<'_>,
        draft: &mut Draft,
        warnings: &[String],
    ) -> Result<String> {
        draft.metadata.shift_remove("managedFields");
        if let Some(fields) = recorded.json["metadata"].get("managedFields") {
            draft.metadata.insert("managedFields".to_owned(), fields.clone());
        }
        let quoted: Vec<String> = warnings.iter().map(|text| format!("299 - {text:?}")).collect();
        if quoted != recorded.warnings {
            return Ok(format!("warnings {quoted:?}, expected {:?}", recorded.warnings));
        }
        let stored = Stored::decode(Stored::encode(draft)?.bytes())?;
        let revision = recorded.revision();
        let answer = single(request, (&stored, revision), recorded);
        if !request.query.contains_key("dryRun") && recorded.code < 300 {
            let key = (request.group, request.namespace.to_owned(), draft.name().to_owned());
            self.stored.insert(key, (stored, revision));
        }
        Ok(answer)
    }

    fn get(&self, request: &Request<'_>, recorded: &Recorded<'_>) -> Result<String> {
        let Some(name) = request.name else {
            let items = self.stored.iter().filter(|((group, namespace, _), _)| {
                *group == request.group && namespace == request.namespace
            });
            let items = items.map(|(_, (stored, revision))| (stored, *revision)).collect();
            return Ok(several(request, items, recorded));
        };
        let key = (request.group, request.namespace.to_owned(), name.to_owned());
        let missing = || Status::not_found(request.group.name(), "templates", name);
        let (stored, revision) = self.stored.get(&key).ok_or_else(missing)?;
        Ok(single(request, (stored, *revision), recorded))
    }
}

fn single(request: &Request<'_>, item: encode::Item<'_>, recorded: &Recorded<'_>) -> String {
    let mut out = Vec::new();
    match request.kind() {
        ("Table", version) => {
            let meta = ListMeta { revision: item.1, ..ListMeta::default() };
            encode::table(request.table(version, recorded), &meta, [item], &mut out);
        }
        ("PartialObjectMetadata", version) => encode::partial(item, version, &mut out),
        _ if request.accept.contains("yaml") => {
            yaml_object(item, &mut out);
            return String::from_utf8(out).unwrap();
        }
        _ => encode::object(item, &mut out),
    }
    in_format(request, recorded, out)
}

fn several(request: &Request<'_>, items: Vec<encode::Item<'_>>, recorded: &Recorded<'_>) -> String {
    let mut out = Vec::new();
    let meta = ListMeta { revision: recorded.revision(), ..ListMeta::default() };
    match request.kind() {
        ("Table", version) => {
            encode::table(request.table(version, recorded), &meta, items, &mut out);
        }
        ("PartialObjectMetadataList", version) => {
            encode::partial_list(version, &meta, items, &mut out);
        }
        _ => encode::list(request.group, Kind::Template, &meta, items, &mut out),
    }
    in_format(request, recorded, out)
}

fn in_format(request: &Request<'_>, recorded: &Recorded<'_>, out: Vec<u8>) -> String {
    let out = match recorded.body.starts_with("{\n") {
        _ if request.accept.contains("yaml") => yaml(&out),
        true => krm_template_server::codec::pretty(&out),
        false => out,
    };
    String::from_utf8(out).unwrap()
}

impl<'e> Request<'e> {
    /// Parses a request for Templates of a namespace.
    fn read(request: &'e Value) -> Option<Self> {
        if request["user"] != "admin" || request["headers"].get("Impersonate-User").is_some() {
            return None;
        }
        let path = request["path"].as_str()?;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.split('/').collect();
        let ["", "apis", group, _, "namespaces", namespace, "templates", name @ ..] =
            parts.as_slice()
        else {
            return None;
        };
        let name = match name {
            [] => None,
            [name] => Some(*name),
            _ => return None,
        };
        let header = |name: &str| request["headers"][name].as_str();
        let format = match header("Content-Type") {
            None | Some("application/json") => Some(Format::Json),
            Some("application/yaml") => Some(Format::Yaml),
            Some(_) => None,
        };
        let body = match (&request["body"], &request["bodyBase64"]) {
            (_, Value::String(coded)) => base64::prelude::BASE64_STANDARD.decode(coded).unwrap(),
            (Value::String(text), _) => text.clone().into_bytes(),
            _ => Vec::new(),
        };
        Some(Self {
            method: request["method"].as_str()?,
            group: Group::named(group)?,
            namespace,
            name,
            query: query.split('&').filter_map(|pair| pair.split_once('=')).collect(),
            accept: header("Accept").unwrap_or("application/json"),
            format: format.filter(|_| request["bodyDescribed"] != true),
            body,
        })
    }

    /// Returns `true` if the response needs neither HTTP, selectors, paging nor patches.
    fn is_decided(&self) -> bool {
        let is_query = self.query.iter().all(|(key, value)| match *key {
            "dryRun" => *value == "All",
            "fieldManager" => value.len() < 128,
            "includeObject" => matches!(*value, "None" | "Metadata" | "Object"),
            "fieldValidation" => *value != "strict",
            "pretty" => true,
            _ => false,
        });
        let media = self.accept.split([',', ';']).next().unwrap_or_default();
        let is_accept = matches!(media, "application/json" | "application/yaml")
            && !self.accept.contains("v=v9")
            && !(self.name.is_some() && self.accept.contains("MetadataList"));
        let is_method = match self.method {
            "POST" => self.name.is_none() && self.format.is_some(),
            "PUT" => self.name.is_some() && self.format.is_some(),
            method => method == "GET",
        };
        is_query && is_accept && is_method
    }

    fn validation(&self) -> FieldValidation {
        match self.query.get("fieldValidation") {
            Some(&"Strict") => FieldValidation::Strict,
            Some(&"Ignore") => FieldValidation::Ignore,
            _ => FieldValidation::Warn,
        }
    }

    /// Returns the kind and version in `as=` and `v=`.
    fn kind(&self) -> (&'e str, MetaVersion) {
        let first = self.accept.split(',').next().unwrap_or_default();
        let parameter = |name: &str| first.split(';').find_map(|part| part.strip_prefix(name));
        let version = match parameter("v=") {
            Some("v1beta1") => MetaVersion::V1Beta1,
            _ => MetaVersion::V1,
        };
        (parameter("as=").unwrap_or_default(), version)
    }

    /// Returns the requested table, at the time when its first object was created.
    fn table(&self, version: MetaVersion, recorded: &Recorded<'_>) -> Table {
        let include = match self.query.get("includeObject") {
            Some(&"None") => Include::None,
            Some(&"Object") => Include::Object,
            _ => Include::Metadata,
        };
        let created = &recorded.json["rows"][0]["object"]["metadata"]["creationTimestamp"];
        let created = created.as_str().map(|text| text.parse::<jiff::Timestamp>().unwrap());
        let now = created.map_or(0, jiff::Timestamp::as_second);
        Table { group: self.group, kind: Kind::Template, version, include, has_columns: true, now }
    }
}

impl<'e> Recorded<'e> {
    fn read(response: &'e Value) -> Option<Self> {
        let body = response["body"].as_str()?;
        let json =
            if body.starts_with('{') { serde_json::from_str(body).ok()? } else { of_yaml(body) };
        let warnings = match &response["headers"]["Warning"] {
            Value::String(one) => vec![one.clone()],
            Value::Array(all) => all.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
            _ => Vec::new(),
        };
        Some(Self { code: response["status"].as_u64()?, body, json, warnings })
    }

    fn revision(&self) -> u64 {
        let text = self.json["metadata"]["resourceVersion"].as_str();
        text.map_or(0, |text| text.parse().unwrap())
    }

    fn created(&self) -> jiff::Timestamp {
        let text = self.json["metadata"]["creationTimestamp"].as_str();
        text.unwrap_or("2026-11-22T04:37:15Z").parse().unwrap()
    }
}

fn of_yaml(text: &str) -> Value {
    let source = krm_yaml::source::Source::new("recorded", text);
    let Ok(document) = krm_yaml::Document::parse(&source) else {
        return Value::Null;
    };
    let Some(root) = document.roots().next() else {
        return Value::Null;
    };
    let mut found = krm_yaml::diagnostic::Diagnostics::new();
    let value = root.value(krm_yaml::DuplicateKeys::Refuse, &mut found).unwrap();
    serde_json::from_str(&value.to_json()).unwrap()
}

/// Compares the bytes of responses. In JSON, the order of the fields beside `metadata` may differ,
/// and empty `objects` equal missing ones. Custom resources have sorted keys.
fn same_text(answer: &str, recorded: &Recorded<'_>, request: &Request<'_>) -> Result<(), String> {
    if answer == recorded.body {
        return Ok(());
    }
    let wrong = || Err(format!("got      {answer}\nexpected {}", recorded.body));
    let Ok(mut ours) = serde_json::from_str(answer) else {
        return wrong();
    };
    let mut theirs = recorded.json.clone();
    without_empty_objects(&mut ours);
    without_empty_objects(&mut theirs);
    let order = |json: &Value| match &json["metadata"] {
        Value::Object(fields) => fields.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let spelled = |json: &Value| json["objects"].to_string();
    let is_order = request.group == Group::Krm
        || order(&ours) == order(&theirs) && spelled(&ours) == spelled(&theirs);
    if ours == theirs && is_order { Ok(()) } else { wrong() }
}

fn without_empty_objects(json: &mut Value) {
    let is_empty = |objects: &Value| objects.as_array().is_none_or(Vec::is_empty);
    let lists = [("items", None), ("rows", Some("object"))];
    for (list, inside) in lists {
        for item in json.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            match inside {
                Some(key) => without_empty_objects(&mut item[key]),
                None => without_empty_objects(item),
            }
        }
    }
    if let Some(object) = json.as_object_mut()
        && object.get("objects").is_some_and(is_empty)
    {
        object.shift_remove("objects");
    }
}

/// Compares `Status` objects. Upstream repeats some causes, quotes the body, and has other words about
/// malformed JSON and wrong types.
fn same_status(status: &Status, recorded: &Recorded<'_>) -> Result<(), String> {
    let ours = status.object();
    let mut theirs = recorded.json.clone();
    if let Some(causes) = theirs.pointer_mut("/details/causes").and_then(Value::as_array_mut) {
        let mut seen = Vec::new();
        causes.retain(|cause| {
            let is_new = !seen.contains(cause);
            seen.push(cause.clone());
            is_new
        });
    }
    let message = theirs["message"].as_str().unwrap_or_default().to_owned();
    if message.starts_with("the object provided is unrecognized")
        && let Some((message, _)) = message.rsplit_once(" (")
    {
        theirs["message"] = Value::from(message);
    }
    if are_same_error(theirs["message"].as_str().unwrap_or_default(), &status.message) {
        theirs["message"] = ours["message"].clone();
    }
    if ours == theirs { Ok(()) } else { Err(format!("got      {ours}\nexpected {theirs}")) }
}
