//! The recorded answers of API servers, compared with what is found.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::string_slice,
    reason = "a test reads files, and counts"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Value, View, Words};
use serde_json::Value as Json;

use crate::{Definitions, Finding, Options, check};

/// The version of the recorded server.
const RECORDED: u8 = 36;

fn folder() -> PathBuf {
    let shared = std::env::var("KRM_TEMPLATE_SHARED").expect("KRM_TEMPLATE_SHARED");
    Path::new(&shared).join("corpus/apiserver-validation")
}

fn records(name: &str) -> impl Iterator<Item = Json> {
    let file = File::open(folder().join(name)).expect(name);
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    // A few have numbers that only Python reads.
    lines.filter_map(|line| serde_json::from_str(&line.expect("text")).ok())
}

/// The findings of the object of a record; `None` if its kind is not known.
fn findings(record: &Json, definitions: &Definitions) -> Option<Vec<Finding>> {
    let options = Options { version: RECORDED, ..Options::default() };
    if let Some(raw) = record["raw"].as_str() {
        let Ok(document) = Document::parse(&Source::new("raw", raw)) else {
            return Some(vec![syntax()]);
        };
        let root = document.roots().next()?;
        let Some(value) = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()) else {
            return Some(vec![syntax()]);
        };
        return check(View::of(&value), definitions, options).map(|checked| checked.findings);
    }
    let value = Value::from(record["object"].clone());
    check(View::of(&value), definitions, options).map(|checked| checked.findings)
}

/// The definitions of all custom resources of the records.
fn all_definitions() -> Definitions {
    let mut definitions = Definitions::default();
    for entry in std::fs::read_dir(folder().join("crds")).expect("definitions") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let file = File::open(path).expect("a file");
            let crd: Json = serde_json::from_reader(GzDecoder::new(file)).expect("JSON");
            assert!(definitions.add(View::of(&Value::from(crd))));
        }
    }
    definitions
}

fn syntax() -> Finding {
    Finding {
        rule: crate::Rule::UnknownField,
        path: krm_yaml::FieldPath::root(),
        origin: None,
        message: "duplicate key".to_owned(),
        hint: None,
        fix: None,
    }
}

/// How many refusals are found, by class of the first cause.
#[derive(Default)]
struct Count {
    found: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, is_found: bool) {
        self.all += 1;
        self.found += usize::from(is_found);
    }

    fn share(&self) -> f64 {
        self.found as f64 / self.all.max(1) as f64
    }
}

#[derive(Default)]
struct Outcome {
    decoding: Count,
    validation: Count,
    false_alarms: Vec<String>,
    misses: BTreeMap<String, Vec<String>>,
}

/// A cause without the values.
fn class(answer: &Json) -> String {
    let cause = &answer["causes"][0];
    let message = cause["message"].as_str().or(answer["message"].as_str()).unwrap_or_default();
    let mut plain = String::new();
    let mut quoted = false;
    for c in message.chars().take(160) {
        if c == '"' {
            quoted = !quoted;
        }
        if !quoted && !c.is_ascii_digit() {
            plain.push(c);
        }
    }
    let field = cause["field"].as_str().unwrap_or_default();
    let field: String = field.chars().filter(|c| !c.is_ascii_digit()).collect();
    format!("{field}: {plain}")
}

fn compare(names: &[&str], definitions: &Definitions) -> Outcome {
    let mut outcome = Outcome::default();
    for record in names.iter().flat_map(|name| records(name)) {
        // Keys may occur twice in the objects of a Template, which we refuse.
        let is_in_template =
            record["mutation"][0]["path"].as_str().is_some_and(|path| path.starts_with("objects["));
        if is_in_template && record["raw"].is_string() {
            continue;
        }
        if record["patchLike"] == true || record["placeholders"] == true {
            continue;
        }
        let answer = &record["answer"];
        let found = findings(&record, definitions).unwrap_or_default();
        let id = record["id"].as_str().unwrap_or_default();
        match answer["result"].as_str() {
            Some("accepted") => {
                if let Some(first) = found.first() {
                    let kind = record["object"]["kind"].as_str().unwrap_or_default();
                    let all = format!("{id} {kind}: {} {}", first.path, first.message);
                    outcome.false_alarms.push(all);
                }
            }
            Some("refused") => {
                let is_decoding = answer["code"] == 400;
                let count =
                    if is_decoding { &mut outcome.decoding } else { &mut outcome.validation };
                count.add(!found.is_empty());
                if found.is_empty() {
                    let kind = record["object"]["kind"].as_str().unwrap_or_default();
                    let all = format!("{kind} {}", class(answer));
                    outcome.misses.entry(all).or_default().push(id.to_owned());
                }
            }
            _ => {}
        }
    }
    outcome
}

/// Compares the objects of these files: no false alarms, at least this share of the refusals.
fn judge(title: &str, names: &[&str], definitions: &Definitions, least: f64) {
    let outcome = compare(names, definitions);
    report(title, &outcome);
    assert_eq!(outcome.false_alarms, Vec::<String>::new());
    assert!(outcome.decoding.share() >= 0.995);
    assert!(outcome.validation.share() >= least);
}

fn report(title: &str, outcome: &Outcome) {
    println!(
        "{title}: decoding {}/{}, validation {}/{} ({:.1} %), false alarms {}",
        outcome.decoding.found,
        outcome.decoding.all,
        outcome.validation.found,
        outcome.validation.all,
        100.0 * outcome.validation.share(),
        outcome.false_alarms.len()
    );
    for alarm in &outcome.false_alarms {
        println!("  ! {alarm}");
    }
    let mut misses: Vec<_> = outcome.misses.iter().collect();
    misses.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    for (class, ids) in misses {
        println!(
            "  - {} {class} ({})",
            ids.len(),
            ids.iter().take(3).cloned().collect::<Vec<_>>().join(" ")
        );
    }
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn built_in_kinds_are_checked_as_the_server_does() {
    let names = ["real.jsonl.gz", "mutations-dev.jsonl.gz"];
    judge("built-in", &names, &Definitions::default(), 0.9);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn kinds_of_openshift_are_checked_as_the_server_does() {
    let names = ["openshift-real.jsonl.gz", "openshift-mutations-dev.jsonl.gz"];
    judge("openshift", &names, &Definitions::default(), 0.9);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn custom_resources_are_checked_as_the_server_does() {
    let names = ["crd.jsonl.gz", "crd-mutations-dev.jsonl.gz"];
    judge("custom", &names, &all_definitions(), 0.85);
}

/// The objects of the probes, which set one field of these.
fn bases() -> BTreeMap<(String, String), Json> {
    let text = std::fs::read_to_string(folder().join("bases.yaml")).expect("bases");
    let document = Document::parse(&Source::new("bases.yaml", text)).expect("YAML");
    let mut all = Vec::new();
    for root in document.roots() {
        // As the reader that sent them.
        let value = root.value_with(DuplicateKeys::Refuse, Words::PyYaml, &mut Diagnostics::new());
        let value = value.expect("valid");
        all.push(serde_json::from_str::<Json>(&value.to_json()).expect("JSON"));
    }
    let text = std::fs::read_to_string(folder().join("openshift-bases.json")).expect("bases");
    let openshift: Json = serde_json::from_str(&text).expect("JSON");
    all.extend(openshift.as_array().cloned().unwrap_or_default());
    let key = |one: &Json| {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        (text(&one["kind"]), text(&one["metadata"]["name"]))
    };
    all.into_iter().map(|one| (key(&one), one)).collect()
}

/// The value at a path of a probe, whose keys may have dots.
fn at<'j>(value: &'j mut Json, path: &str) -> Option<(&'j mut Json, Json)> {
    if let Some(rest) = path.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        let index: usize = index.parse().ok()?;
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        if rest.is_empty() {
            return Some((value, Json::from(index)));
        }
        return at(value.get_mut(index)?, rest);
    }
    let keys: Vec<String> = value.as_object()?.keys().cloned().collect();
    let key = keys.iter().filter(|key| {
        path.strip_prefix(key.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    });
    let key = key.max_by_key(|key| key.len())?;
    let rest = path[key.len()..].trim_start_matches('.');
    if rest.is_empty() {
        return Some((value, Json::from(key.clone())));
    }
    at(value.get_mut(key)?, rest)
}

fn probed(base: &Json, field: &str, probe: &str) -> Option<Json> {
    let mut object = base.clone();
    let (parent, key) = at(&mut object, field)?;
    let new = match probe {
        "<<deleted>>" => None,
        "<<first element twice>>" => {
            let list = match &key {
                Json::Number(index) => parent.get(index.as_u64()? as usize)?,
                key => parent.get(key.as_str()?)?,
            };
            let mut list = list.as_array()?.clone();
            list.push(list.first()?.clone());
            Some(Json::Array(list))
        }
        probe => match probe.split_once("\"*") {
            Some((text, times)) => {
                Some(Json::from(text.trim_matches('"').repeat(times.parse().ok()?)))
            }
            None => Some(serde_json::from_str(probe).ok()?),
        },
    };
    match (key, new) {
        (Json::Number(index), Some(new)) => *parent.get_mut(index.as_u64()? as usize)? = new,
        (Json::Number(index), None) => {
            parent.as_array_mut()?.remove(index.as_u64()? as usize);
        }
        (key, Some(new)) => *parent.get_mut(key.as_str()?)? = new,
        (key, None) => {
            parent.as_object_mut()?.shift_remove(key.as_str()?);
        }
    }
    Some(object)
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn probes_of_single_fields_have_the_same_outcome() {
    let bases = bases();
    let mut outcome = Outcome::default();
    let mut skipped = 0;
    for name in ["field-probes.jsonl.gz", "openshift-field-probes.jsonl.gz"] {
        for probe in records(name) {
            let text = |key: &str| probe[key].as_str().unwrap_or_default().to_owned();
            let base = bases.get(&(text("kind"), text("base")));
            let Some(object) = base.and_then(|base| probed(base, &text("field"), &text("probe")))
            else {
                skipped += 1;
                continue;
            };
            let value = Value::from(object);
            let options = Options { version: RECORDED, ..Options::default() };
            let found = check(View::of(&value), &Definitions::default(), options)
                .unwrap_or_default()
                .findings;
            let id = format!("{} {} {}", text("kind"), text("field"), text("probe"));
            match probe["code"].as_u64() {
                Some(201) => {
                    if let Some(first) = found.first() {
                        outcome.false_alarms.push(format!("{id}: {}", first.message));
                    }
                }
                Some(400 | 422) => {
                    let is_decoding = probe["code"] == 400;
                    let count =
                        if is_decoding { &mut outcome.decoding } else { &mut outcome.validation };
                    count.add(!found.is_empty());
                    if found.is_empty() {
                        let cause = &probe["causes"][0];
                        let what = cause[1].as_str().unwrap_or_default();
                        let what = what.rsplit_once("\": ").map_or(what, |(_, what)| what);
                        let what = format!(
                            "{} {}: {}",
                            text("kind"),
                            text("field"),
                            &what.chars().take(90).collect::<String>()
                        );
                        outcome.misses.entry(what).or_default().push(text("probe"));
                    }
                }
                _ => {}
            }
        }
    }
    println!("skipped {skipped}");
    report("probes", &outcome);
    assert_eq!(outcome.false_alarms, Vec::<String>::new());
    assert!(outcome.decoding.share() >= 0.995);
    assert!(outcome.validation.share() >= 0.9);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn small_cases_of_decoding_have_the_same_outcome() {
    let text = std::fs::read_to_string(folder().join("decoding.tsv")).expect("cases");
    let mut wrong = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [case, result, code, _, _, sent] = cells[..] else { panic!("{line}") };
        let record = serde_json::json!({ "raw": sent });
        let definitions = Definitions::default();
        let found = findings(&record, &definitions).unwrap_or_default();
        // Others are not about decoding.
        if code == "422" {
            continue;
        }
        if found.is_empty() != (result == "accepted") {
            wrong.push(format!("{case}: {result} {:?}", found.first().map(|one| &one.message)));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
