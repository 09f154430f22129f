//! Tries the properties on all inputs.

#[path = "../../../../fuzz/seeds.rs"]
mod seeds;

use super::{object, patch, request};

fn each_text(target: &str, check: impl Fn(&str)) {
    seeds::each(target, |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            check(text);
        }
    });
}

#[test]
fn seeds_of_request() {
    seeds::each("request", request::check);
}

#[test]
fn seeds_of_patch() {
    each_text("patch", patch::check);
}

#[test]
fn seeds_of_object() {
    each_text("object", object::check);
}
