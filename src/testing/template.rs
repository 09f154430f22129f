//! Templates expanded in both dialects: what is printed as YAML reads as what is printed as JSON.

use std::sync::Arc;

use crate::report;
use crate::template::{self, Assignment, Format, Generation, Options, Template};
use crate::testing::has_internal_error;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, SharedNode, Value};

use super::reading::read;

const VERSIONS: [&str; 2] = ["template.krm.dev/v1alpha1", "template.openshift.io/v1"];

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(text: &str) {
    expand(text);
    let [ours, openshift] = VERSIONS;
    if text.contains(ours) {
        expand(&text.replace(ours, openshift));
    } else if text.contains(openshift) {
        expand(&text.replace(openshift, ours));
    }
}

fn expand(text: &str) {
    let mut diagnostics = Diagnostics::new();
    let mut printed = [String::new(), String::new()];
    if let Some(document) = diagnostics.take(Document::parse(&Source::new("template.yaml", text)))
        && let Some(root) = SharedNode::roots(&Arc::new(document)).next()
        && let Some(template) = Template::read(&root, &mut diagnostics)
    {
        let options = Options {
            labels: vec![("label".to_owned(), "0".to_owned()).into()],
            ignore_unknown_parameters: true,
            strict: text.len().is_multiple_of(2),
            require_name: text.len().is_multiple_of(3),
            ..Options::new(Generation::Reproducible {
                seed: Some(b"a seed for tests".to_vec()),
                scope: String::new(),
                instance: String::new(),
                earlier: &(),
            })
        };
        let start: String = text.chars().take(20).collect();
        let given = Assignment::text("NAME", start, "-p NAME");
        let given = [given];
        for (text, format) in printed.iter_mut().zip([Format::Yaml, Format::Json]) {
            let found = template::print(&template, &given, &options, format, &mut diagnostics);
            *text = found.map(|found| found.pieces.concat()).unwrap_or_default();
        }
        let errors = report::text(&diagnostics, false);
        assert!(!has_internal_error(&diagnostics), "{text:?}\n{errors}");
    }
    let _ = report::results(&diagnostics);
    let [yaml, json] = printed;
    if diagnostics.has_errors() || json.is_empty() {
        return;
    }
    let printed = read(&yaml);
    let lists = read(&json);
    let items = lists.first().and_then(|list| list.get("items"));
    let items = items.and_then(Value::items).expect("it is a List");
    assert_eq!(printed, items, "{text:?} gives\n{yaml:?}\n{json:?}");
}
