//! Generates the files in `crates/server/openapi`, and tests that they are current and differ from
//! recorded documents only as listed in `differences.txt` there.
#![expect(clippy::disallowed_methods, reason = "a test reads recorded files")]

mod operations;
mod protobuf;
mod schemas;
mod v2;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use http::Response;
use serde_json::{Map, Value, json};

use super::Documents;
use crate::request::resources::{AUTHENTICATION, AUTHORIZATION};
use krm_template_server_core::Group;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi");

fn body(answer: &Response<bytes::Bytes>) -> Value {
    assert_eq!(answer.status(), 200);
    serde_json::from_slice(answer.body()).unwrap()
}

fn v3(path: &str) -> Value {
    body(&Documents::new(true).v3(path, None, None, None))
}

/// Generates the documents of version 3, by path.
fn generated(with_reviews: bool) -> BTreeMap<String, Value> {
    let groups = Group::ALL.into_iter();
    let groups = groups.map(|group| (format!("apis/{}", group.api_version()), of_group(group)));
    let reviews = [AUTHENTICATION, AUTHORIZATION].into_iter();
    let reviews = reviews.map(|group| (format!("apis/{group}/v1"), of_reviews(group)));
    groups.chain(reviews.filter(|_| with_reviews)).collect()
}

fn of_group(group: Group) -> Value {
    document(&operations::of_group(group), &schemas::of_group(group))
}

fn of_reviews(group: &'static str) -> Value {
    document(&operations::of_reviews(group), &schemas::of_reviews(group))
}

fn document(paths: &Map<String, Value>, schemas: &Map<String, Value>) -> Value {
    json!({
        "openapi": "3.0.0",
        "info": {
            "title": "krm-template",
            "description": "Templates for Kubernetes configuration.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "BearerToken": {
                    "type": "apiKey",
                    "description": "Bearer Token authentication",
                    "name": "authorization",
                    "in": "header",
                },
            },
        },
    })
}

#[test]
fn the_files_are_current() {
    let documents = generated(true);
    let v2 = v2::document(documents.values());
    let protobuf = protobuf::document(&v2);
    let files = documents
        .into_iter()
        .map(|(path, value)| (path.replace('/', "_"), value))
        .chain([("v2".to_owned(), v2)])
        .map(|(name, value)| {
            let text = format!("{}\n", serde_json::to_string_pretty(&value).unwrap());
            (format!("{name}.json"), text.into_bytes())
        })
        .chain([("v2.pb".to_owned(), protobuf)]);
    for (name, content) in files {
        let file = Path::new(FOLDER).join(&name);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&file, &content).unwrap();
        }
        assert!(
            std::fs::read(&file).unwrap_or_default() == content,
            "{name} is not current: run the test with UPDATE=1"
        );
    }
}

#[test]
fn each_document_is_served_with_its_groups() {
    for with_reviews in [true, false] {
        let documents = Documents::new(with_reviews);
        let generated = generated(with_reviews);
        let v2 = body(&documents.v2(None, None));
        assert_eq!(v2, v2::document(generated.values()));
        let index = body(&documents.index());
        let paths = index["paths"].as_object().unwrap();
        assert!(paths.keys().eq(generated.keys()));
        for (path, document) in generated {
            assert_eq!(body(&documents.v3(&path, None, None, None)), document);
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    for path in [
        "apis/template.krm.dev/v1alpha1",
        "apis/template.openshift.io/v1",
        "apis/authorization.k8s.io/v1",
        "apis/authentication.k8s.io/v1",
    ] {
        let document = v3(path);
        check(&document, &document, "#/components/schemas/", "/components/schemas");
    }
    let v2 = body(&Documents::new(true).v2(None, None));
    check(&v2, &v2, "#/definitions/", "/definitions");
}

#[track_caller]
fn check(value: &Value, document: &Value, prefix: &str, pointer: &str) {
    if let Some(to) = value.get("$ref").and_then(Value::as_str) {
        let name = to.strip_prefix(prefix).unwrap();
        assert!(document.pointer(pointer).unwrap().get(name).is_some(), "{to}");
    }
    for (_, part) in value.as_object().into_iter().flatten() {
        check(part, document, prefix, pointer);
    }
    for part in value.as_array().into_iter().flatten() {
        check(part, document, prefix, pointer);
    }
}

#[test]
fn names_of_operations_are_unique() {
    let v2 = body(&Documents::new(true).v2(None, None));
    let mut seen = BTreeSet::new();
    for (path, item) in v2["paths"].as_object().unwrap() {
        for (method, operation) in
            item.as_object().unwrap().iter().filter(|(key, _)| *key != "parameters")
        {
            let id = operation["operationId"].as_str().unwrap();
            assert!(seen.insert(id.to_owned()), "{method} {path}: {id}");
        }
    }
}

#[test]
fn a_patch_takes_field_validation_so_that_kubectl_leaves_it_to_the_server() {
    for (path, group, version) in [
        ("apis/template.krm.dev/v1alpha1", "template.krm.dev", "v1alpha1"),
        ("apis/template.openshift.io/v1", "template.openshift.io", "v1"),
    ] {
        let document = v3(path);
        let object = format!("/apis/{group}/{version}/namespaces/{{namespace}}/templates/{{name}}");
        let patch = &document["paths"][&object]["patch"];
        assert_eq!(patch["x-kubernetes-action"], "patch");
        let kind = json!({"group": group, "version": version, "kind": "Template"});
        assert_eq!(patch["x-kubernetes-group-version-kind"], kind);
        let names: Vec<&str> = patch["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    }
}

#[test]
fn documents_have_hashes() {
    let documents = Documents::new(false);
    let path = "apis/template.krm.dev/v1alpha1";
    let header = |answer: &Response<bytes::Bytes>, name: &str| {
        answer
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
            .unwrap_or_default()
    };
    let index = body(&documents.index());
    let url = index["paths"][path]["serverRelativeURL"].as_str().unwrap().to_owned();
    let hash = url.strip_prefix(&format!("/openapi/v3/{path}?hash=")).unwrap();
    let tag = format!("\"{hash}\"");

    let with_hash = documents.v3(path, Some(hash), Some("application/json"), None);
    assert_eq!(with_hash.status(), 200);
    assert_eq!(header(&with_hash, "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header(&with_hash, "etag"), tag);
    let other = documents.v3(path, Some("0000"), None, None);
    assert_eq!((other.status().as_u16(), header(&other, "location")), (301, url));
    let known = documents.v3(path, None, None, Some(&format!("\"x\", W/{tag}")));
    assert_eq!((known.status().as_u16(), known.body().len()), (304, 0));
    assert_eq!(documents.v3(path, None, Some("application/yaml"), None).status(), 406);
    let missing = documents.v3("apis/nope/v1", None, None, None);
    assert_eq!((missing.status().as_u16(), missing.body().len()), (404, 0));
    let protobuf =
        documents.v2(Some("application/com.github.proto-openapi.spec.v2@v1.0+protobuf"), None);
    assert_eq!(protobuf.status(), 200);
    assert_eq!(
        header(&protobuf, "content-type"),
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    );
    // As the recorded one begins: the version of Swagger.
    assert!(protobuf.body().starts_with(b"\x0a\x032.0\x12"));
    assert_eq!(documents.v2(Some("text/xml"), None).status(), 406);
    assert_eq!(documents.v2(Some("application/json"), None).status(), 200);
    assert!(index["paths"].get("apis/authorization.k8s.io/v1").is_none());
}

/// Finds all differences between two values, as JSON pointers.
fn differences(recorded: &Value, ours: &Value, at: &str, found: &mut Vec<String>) {
    match (recorded, ours) {
        (Value::Object(recorded), Value::Object(ours)) => {
            let keys: BTreeSet<&String> = recorded.keys().chain(ours.keys()).collect();
            for key in keys {
                let texts = [recorded.get(key), ours.get(key)];
                if key == "description" && texts.iter().flatten().all(|text| text.is_string()) {
                    continue;
                }
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                match texts {
                    [Some(recorded), Some(ours)] => differences(recorded, ours, &at, found),
                    [Some(_), None] => found.push(format!("{at} missing")),
                    _ => found.push(format!("{at} added")),
                }
            }
        }
        (Value::Array(recorded), Value::Array(ours)) if is_named(recorded) && is_named(ours) => {
            differences(&by_name(recorded), &by_name(ours), at, found);
        }
        _ if recorded != ours => found.push(format!("{at} changed")),
        _ => {}
    }
}

fn is_named(items: &[Value]) -> bool {
    items.iter().all(|item| item.get("name").is_some())
}

fn by_name(items: &[Value]) -> Value {
    let named = items.iter().map(|item| (item["name"].as_str().unwrap().to_owned(), item.clone()));
    Value::Object(named.collect())
}

/// Returns `true` if a place matches a pattern, in which `*` matches any text.
fn is_like(place: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return place == pattern;
    };
    let mut place = place.strip_prefix(start).map(str::chars);
    std::iter::from_fn(|| {
        let now = place.as_ref()?.as_str();
        // Include the empty suffix.
        place = place.take().filter(|_| !now.is_empty()).map(|mut letters| {
            letters.next();
            letters
        });
        Some(now)
    })
    .any(|place| is_like(place, rest))
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn openshifts_document_is_the_recorded_one_but_for_the_listed_differences() {
    let root = std::env::var_os("KRM_TEMPLATE_SHARED").expect("KRM_TEMPLATE_SHARED");
    let file = Path::new(&root).join("corpus/template-api/019-openapi-v3-document.json");
    let exchange: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let recorded: Value =
        serde_json::from_str(exchange["response"]["body"].as_str().unwrap()).unwrap();
    let mut found = Vec::new();
    differences(&recorded, &v3("apis/template.openshift.io/v1"), "", &mut found);

    let list = std::fs::read_to_string(Path::new(FOLDER).join("differences.txt")).unwrap();
    let patterns: Vec<&str> =
        list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let unlisted: Vec<&String> = found
        .iter()
        .filter(|place| !patterns.iter().any(|pattern| is_like(place, pattern)))
        .collect();
    assert!(unlisted.is_empty(), "{unlisted:#?}");
    let unused: Vec<&&str> = patterns
        .iter()
        .filter(|pattern| !found.iter().any(|place| is_like(place, pattern)))
        .collect();
    assert!(unused.is_empty(), "{unused:#?}");
}
