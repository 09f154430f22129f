//! Findings as a list in JSON, for programs.

use serde_json::{Map, Value, json};

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference};
use krm_yaml::source::Place;

use crate::report::shown::rest;
use crate::secret_places::concealed;

/// A list with one object for each finding, in order. Unknown fields are omitted.
pub fn findings(findings: &Diagnostics) -> Value {
    let findings = &*concealed(findings);
    let rest = rest(findings, usize::MAX);
    Value::Array(findings.iter().chain(&rest).map(finding).collect())
}

fn finding(finding: &Diagnostic) -> Value {
    let mut object = Map::new();
    let mut set = |key: &str, value| object.insert(key.to_owned(), value);
    if let Some(rule) = finding.rule {
        set("rule", rule.into());
    }
    set("severity", finding.severity.as_str().into());
    set("message", finding.message.as_str().into());
    if let Some(place) = &finding.place {
        set_place(place, &mut set);
    }
    if let Some(reference) = &finding.object {
        set("object", object_of(reference));
    }
    if let Some(field) = &finding.field {
        set("field", field.as_str().into());
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(|(place, label)| {
            let mut object = Map::new();
            let mut set = |key: &str, value| object.insert(key.to_owned(), value);
            set("message", label.as_str().into());
            set_place(place, &mut set);
            Value::Object(object)
        });
        set("related", related.collect());
    }
    set("hints", finding.hints.as_slice().into());
    if let Some(fix) = &finding.fix {
        set("fix", fix.as_str().into());
    }
    Value::Object(object)
}

fn set_place(place: &Place, set: &mut impl FnMut(&str, Value) -> Option<Value>) {
    let (line, column) = place.line_column();
    let (end_line, end_column) = place.end_line_column();
    set("file", place.source.name().into());
    set("line", line.into());
    set("column", column.into());
    set("endLine", end_line.into());
    set("endColumn", end_column.into());
}

/// The parts of an object's identity that are known.
fn object_of(reference: &ObjectReference) -> Value {
    let fields = [
        ("apiVersion", &reference.api_version),
        ("kind", &reference.kind),
        ("namespace", &reference.namespace),
        ("name", &reference.name),
    ];
    let known = fields.into_iter().filter(|(_, text)| !text.is_empty());
    let known = known.map(|(key, text)| (key.to_owned(), json!(text)));
    Value::Object(known.collect())
}
