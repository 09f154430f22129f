//! A request without its body: the method and path in the first line, then texts that are parsed as
//! each header and token in turn. A parsed value reads back the same after it is written.

use crate::request::{
    Continue, DeleteOptions, FieldSelector, ListOptions, PatchOptions, Path, Query, Scope,
    WatchOptions, WriteOptions, accept, content_type, list_options, path, resources,
};
use http::Method;
use krm_core::label_selector::LabelSelector;
use krm_core::validation;
use krm_template_server_core::{Group, protobuf};

/// The beginning of an object in the protobuf of Kubernetes.
const MAGIC: &[u8] = b"k8s\0";

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(bytes: &[u8]) {
    let _ = protobuf::to_json(bytes);
    let _ = protobuf::to_json(&[MAGIC, bytes].concat());
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (method, target) = line.split_once(' ').unwrap_or(("GET", line));
    if let Ok(method) = Method::from_bytes(method.as_bytes()) {
        request(&method, target, rest);
    }
    for text in text.lines() {
        header(text);
    }
}

fn request(method: &Method, target: &str, body: &str) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let Ok(query) = Query::parse(query) else {
        return;
    };
    if let Path::Resource(resource) = path::parse(method, path, &query) {
        let _ = resource.attributes();
        for reviews in [false, true] {
            let _ = resources::of(&resource, reviews);
        }
        for group in Group::ALL {
            resource.clone().take_group(group.api_version());
        }
    }
    for group in Group::ALL {
        let _ = ListOptions::parse(&query, group);
        let _ = WatchOptions::parse(&query, group);
    }
    let _ = list_options::get(&query);
    let _ = WriteOptions::create(&query);
    let _ = WriteOptions::update(&query);
    for is_apply in [false, true] {
        let _ = PatchOptions::parse(&query, is_apply);
    }
    let _ = DeleteOptions::parse(&query, None, body.as_bytes());
    for scope in [Scope::One, Scope::List, Scope::Watch] {
        let _ = accept::negotiate(Some(body), Some(body), &query, scope);
    }
}

fn header(text: &str) {
    let _ = accept::format(Some(text));
    let _ = accept::discovery(Some(text));
    let _ = accept::accepts(Some(text), "application/json");
    let _ = content_type::of_object(Some(text));
    let _ = content_type::of_review(Some(text));
    for group in Group::ALL {
        let _ = content_type::of_patch(Some(text), group);
        if let Ok(selector) = FieldSelector::parse(text, group) {
            let _ = selector.matches(text, "default");
            assert!(!selector.is_empty() || selector.matches("any", "any"));
        }
    }
    if let Ok(selector) = LabelSelector::parse(text) {
        let _ = selector.matches(|_| Some(text));
        assert!(!selector.is_empty() || selector.matches(|_| None::<&str>));
    }
    if let Ok(token) = Continue::decode(text) {
        assert_eq!(Continue::decode(&token.encode()), Ok(token));
    }
    let valid = [validation::qualified(text), validation::label_value(text)];
    if valid.iter().all(Vec::is_empty) {
        let selector = LabelSelector::parse(&format!("{text}={text}"));
        assert!(selector.is_ok_and(|selector| selector.matches(|_| Some(text))));
    }
}
