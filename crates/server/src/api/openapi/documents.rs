//! The documents with their hashes, and the responses to requests for them.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::http::etag;
use crate::request::accept;

/// The `OpenAPI` documents of versions 2 and 3, as they are sent.
#[derive(Debug)]
pub struct Documents {
    index: Bytes,
    /// The documents by path, such as `apis/template.krm.dev/v1alpha1`.
    v3: BTreeMap<String, Document>,
    v2: Document,
    v2_protobuf: Document,
}

#[derive(Debug)]
struct Document {
    body: Bytes,
    content_type: &'static str,
    hash: String,
}

impl Document {
    fn new(value: &Value) -> Self {
        Self::with(Bytes::from(value.to_string()), "application/json")
    }

    fn with(body: Bytes, content_type: &'static str) -> Self {
        Self { hash: etag::of(&body), body, content_type }
    }
}

/// The documents of version 3 with their paths.
const V3: [(&str, &str); 4] = [
    (
        "apis/authentication.k8s.io/v1",
        include_str!("../../../openapi/apis_authentication.k8s.io_v1.json"),
    ),
    (
        "apis/authorization.k8s.io/v1",
        include_str!("../../../openapi/apis_authorization.k8s.io_v1.json"),
    ),
    (
        "apis/template.krm.dev/v1alpha1",
        include_str!("../../../openapi/apis_template.krm.dev_v1alpha1.json"),
    ),
    (
        "apis/template.openshift.io/v1",
        include_str!("../../../openapi/apis_template.openshift.io_v1.json"),
    ),
];
const V2: &str = include_str!("../../../openapi/v2.json");

/// The document of version 2 in protobuf, which kubectl reads from a server without a cluster in front
/// of it.
const V2_PROTOBUF: &[u8] = include_bytes!("../../../openapi/v2.pb");

/// The media types of this encoding. The answer has the second.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];

/// Parts of the paths and names of types in the review groups.
const REVIEWS: [&str; 2] = ["api.auth", "apis/auth"];

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

impl Documents {
    /// Reads all documents, including the review groups if `with_reviews` is set.
    #[must_use]
    pub fn new(with_reviews: bool) -> Self {
        let is_served =
            |name: &str| with_reviews || !REVIEWS.iter().any(|part| name.contains(part));
        let v3 = V3.into_iter().filter(|(path, _)| is_served(path));
        let v3: BTreeMap<String, Document> =
            v3.map(|(path, text)| (path.to_owned(), Document::new(&read(text)))).collect();
        let mut v2 = read(V2);
        for part in ["paths", "definitions"] {
            if let Some(Value::Object(entries)) = v2.get_mut(part) {
                entries.retain(|name, _| is_served(name));
            }
        }
        let paths: Map<String, Value> = v3
            .iter()
            .map(|(path, document)| {
                (path.clone(), json!({"serverRelativeURL": url(path, document)}))
            })
            .collect();
        Self {
            index: Bytes::from(json!({ "paths": paths }).to_string()),
            v3,
            v2: Document::new(&v2),
            v2_protobuf: Document::with(Bytes::from_static(V2_PROTOBUF), PROTOBUF[1]),
        }
    }

    /// Returns the response to `/openapi/v3`.
    pub fn index(&self) -> Response<Bytes> {
        etag::answer(
            StatusCode::OK,
            self.index.clone(),
            &[(header::CONTENT_TYPE, "application/json")],
        )
    }

    /// Returns the response to `/openapi/v3/PATH?hash=HASH`. Clients may cache it forever: a
    /// document with a hash never changes.
    pub fn v3(
        &self,
        path: &str,
        hash: Option<&str>,
        accepted: Option<&str>,
        if_none_match: Option<&str>,
    ) -> Response<Bytes> {
        let Some(document) = self.v3.get(path) else {
            return etag::answer(StatusCode::NOT_FOUND, Bytes::new(), &[]);
        };
        if !accept::accepts(accepted, "application/json") {
            return etag::answer(
                StatusCode::NOT_ACCEPTABLE,
                Bytes::new(),
                &[(header::VARY, "Accept")],
            );
        }
        match hash.filter(|hash| !hash.is_empty()) {
            Some(hash) if hash != document.hash => {
                let to = url(path, document);
                let headers = [
                    (header::CONTENT_TYPE, "application/json"),
                    (header::LOCATION, to.as_str()),
                    (header::VARY, "Accept"),
                ];
                etag::answer(StatusCode::MOVED_PERMANENTLY, Bytes::new(), &headers)
            }
            Some(_) => tagged(document, "public, max-age=31536000, immutable", if_none_match),
            None => tagged(document, "no-cache, private", if_none_match),
        }
    }

    /// Returns the response to `/openapi/v2`, in JSON or protobuf.
    pub fn v2(&self, accepted: Option<&str>, if_none_match: Option<&str>) -> Response<Bytes> {
        let document = if accept::accepts(accepted, "application/json") {
            &self.v2
        } else if PROTOBUF.iter().any(|kind| accept::accepts(accepted, kind)) {
            &self.v2_protobuf
        } else {
            return etag::answer(
                StatusCode::NOT_ACCEPTABLE,
                Bytes::new(),
                &[(header::VARY, "Accept")],
            );
        };
        tagged(document, "no-cache, private", if_none_match)
    }
}

fn url(path: &str, document: &Document) -> String {
    format!("/openapi/v3/{path}?hash={}", document.hash)
}

fn tagged(document: &Document, caching: &str, if_none_match: Option<&str>) -> Response<Bytes> {
    let Document { hash, body, content_type } = document;
    etag::tagged(hash, body.clone(), content_type, caching, if_none_match)
}
