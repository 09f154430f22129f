//! Tries the properties on all inputs.

#[path = "../../fuzz/seeds.rs"]
mod seeds;

use super::{composition, function, merge, template};

fn each_text(target: &str, check: impl Fn(&str)) {
    seeds::each(target, |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            check(text);
        }
    });
}

#[test]
fn seeds_of_function() {
    seeds::each("function", function::check);
}

#[test]
fn seeds_of_template() {
    each_text("template", template::check);
}

#[test]
fn seeds_of_merge() {
    each_text("merge", merge::check);
}

#[test]
fn seeds_of_composition() {
    seeds::each("composition", composition::check);
}

#[cfg(feature = "deployment-manager")]
#[test]
fn seeds_of_jinja() {
    each_text("jinja", super::jinja::check);
}
