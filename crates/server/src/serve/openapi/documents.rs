//! The documents with their hashes, and the responses to requests for them.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::groups::Group;
use crate::serve::etag;
use crate::serve::openapi::{operations, schemas, v2};
use crate::wire::accept;
use crate::wire::endpoint::{AUTHENTICATION, AUTHORIZATION};

/// All `OpenAPI` documents.
#[derive(Debug)]
pub struct Documents {
    index: Bytes,
    /// The documents by path, such as `apis/template.krm.dev/v1alpha1`.
    v3: BTreeMap<String, Document>,
    v2: Document,
}

#[derive(Debug)]
struct Document {
    body: Bytes,
    hash: String,
}

impl Document {
    fn new(value: &Value) -> Self {
        let body = Bytes::from(value.to_string());
        Self {
            hash: etag::of(&body),
            body,
        }
    }
}

impl Documents {
    /// Generates all documents, including the review groups if `with_reviews` is set.
    #[must_use]
    pub fn new(with_reviews: bool) -> Self {
        let mut values: BTreeMap<String, Value> = Group::ALL
            .into_iter()
            .map(|group| (format!("apis/{}", group.api_version()), of_group(group)))
            .collect();
        if with_reviews {
            for group in [AUTHENTICATION, AUTHORIZATION] {
                values.insert(format!("apis/{group}/v1"), of_reviews(group));
            }
        }
        let v2 = Document::new(&v2::document(values.values()));
        let v3: BTreeMap<String, Document> = values
            .iter()
            .map(|(path, value)| (path.clone(), Document::new(value)))
            .collect();
        let paths: Map<String, Value> = v3
            .iter()
            .map(|(path, document)| {
                (
                    path.clone(),
                    json!({"serverRelativeURL": url(path, document)}),
                )
            })
            .collect();
        Self {
            index: Bytes::from(json!({ "paths": paths }).to_string()),
            v3,
            v2,
        }
    }

    /// Returns the response to `/openapi/v3`.
    #[must_use]
    pub fn index(&self) -> Response<Bytes> {
        answer(
            StatusCode::OK,
            self.index.clone(),
            &[(header::CONTENT_TYPE, "application/json")],
        )
    }

    /// Returns the response to `/openapi/v3/PATH?hash=HASH`. Clients may cache it forever: a
    /// document with a hash never changes.
    #[must_use]
    pub fn v3(
        &self,
        path: &str,
        hash: Option<&str>,
        accepted: Option<&str>,
        if_none_match: Option<&str>,
    ) -> Response<Bytes> {
        let Some(document) = self.v3.get(path) else {
            return answer(StatusCode::NOT_FOUND, Bytes::new(), &[]);
        };
        if !accept::accepts(accepted, "application/json") {
            return answer(
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
                answer(StatusCode::MOVED_PERMANENTLY, Bytes::new(), &headers)
            }
            Some(_) => tagged(
                document,
                "public, max-age=31536000, immutable",
                if_none_match,
            ),
            None => tagged(document, "no-cache, private", if_none_match),
        }
    }

    /// Returns the response to `/openapi/v2`: 406 for protobuf, so that clients go on without it.
    #[must_use]
    pub fn v2(&self, accepted: Option<&str>, if_none_match: Option<&str>) -> Response<Bytes> {
        if !accept::accepts(accepted, "application/json") {
            return answer(
                StatusCode::NOT_ACCEPTABLE,
                Bytes::new(),
                &[(header::VARY, "Accept")],
            );
        }
        tagged(&self.v2, "no-cache, private", if_none_match)
    }
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

fn url(path: &str, document: &Document) -> String {
    format!("/openapi/v3/{path}?hash={}", document.hash)
}

fn tagged(document: &Document, caching: &str, if_none_match: Option<&str>) -> Response<Bytes> {
    let tag = format!("\"{}\"", document.hash);
    let mut headers = vec![
        (header::CACHE_CONTROL, caching),
        (header::ETAG, tag.as_str()),
        (header::VARY, "Accept"),
    ];
    if etag::is_known(&document.hash, if_none_match) {
        return answer(StatusCode::NOT_MODIFIED, Bytes::new(), &headers);
    }
    headers.push((header::CONTENT_TYPE, "application/json"));
    answer(StatusCode::OK, document.body.clone(), &headers)
}

fn answer(code: StatusCode, body: Bytes, headers: &[(HeaderName, &str)]) -> Response<Bytes> {
    let mut answer = Response::new(body);
    *answer.status_mut() = code;
    for (name, value) in headers {
        answer.headers_mut().extend(
            HeaderValue::try_from(*value)
                .ok()
                .map(|value| (name.clone(), value)),
        );
    }
    answer
}
