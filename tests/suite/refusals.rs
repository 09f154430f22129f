//! Objects that an API server would refuse: of real Templates, one line is changed, and the finding
//! is at this line.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm_template::lint;
use krm_template_object_check::Checker;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document};
use libtest_mimic::{Failed, Trial};

use crate::cases;
use crate::needs;

/// How many lines are changed at least, in each of two ways.
const LEAST: usize = 2_000;
/// The most lines of one Template.
const OF_ONE: usize = 20;

/// Fields of built-in kinds that hold a scalar, and no one reads as text.
const FIELDS: [&str; 26] = [
    "containerPort",
    "targetPort",
    "replicas",
    "restartPolicy",
    "imagePullPolicy",
    "mountPath",
    "terminationGracePeriodSeconds",
    "nodePort",
    "protocol",
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "failureThreshold",
    "serviceAccountName",
    "claimName",
    "sessionAffinity",
    "insecureEdgeTerminationPolicy",
    "defaultMode",
    "image",
    "port",
    "path",
    "host",
    "secretName",
    "successThreshold",
    "clusterIP",
    "weight",
];

/// Mappings whose keys are not fields.
const FREE: [&str; 8] = [
    "annotations",
    "labels",
    "matchLabels",
    "nodeSelector",
    "data",
    "stringData",
    "parameters",
    "env",
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        needs::shared_data("refusals/misspelt_fields_of_real_templates_are_found", |shared| {
            changed(&cases::files(&shared.join("corpus/openshift/templates")), &misspelt)
        }),
        needs::shared_data("refusals/wrong_types_in_real_templates_are_found", |shared| {
            changed(&cases::files(&shared.join("corpus/openshift/templates")), &of_wrong_type)
        }),
    ]
}

/// Another spelling of a line with a field, or another value.
type Change<'c> = dyn Fn(&str, &str) -> Option<String> + 'c;

fn misspelt(line: &str, field: &str) -> Option<String> {
    line.contains(field).then(|| line.replacen(field, &format!("{field}Xyz"), 1))
}

fn of_wrong_type(line: &str, field: &str) -> Option<String> {
    let (before, value) = line.split_once(':')?;
    let end = value.trim_end().strip_suffix(',').map_or("", |_| ",");
    before
        .trim_end()
        .trim_end_matches('"')
        .ends_with(field)
        .then(|| format!("{before}: {{\"wrong\": 1}}{end}"))
}

fn changed(files: &cases::Files, change: &Change<'_>) -> Result<(), Failed> {
    let mut count = 0;
    let mut missed = Vec::new();
    for (name, text) in texts(files) {
        if !is_plain(&text) {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut of_one = 0;
        for (at, line) in lines.iter().enumerate() {
            let key = line.trim_start().trim_start_matches("- ").trim_start_matches('"');
            let key = key.split([':', '"']).next().unwrap_or_default();
            let Some(field) = FIELDS.iter().find(|field| **field == key) else {
                continue;
            };
            // A value on the same line.
            if of_one == OF_ONE || line.trim_end().ends_with([':', '{', '[', '|', '>']) {
                continue;
            }
            let Some(new) = change(line, field) else {
                continue;
            };
            let mut all = lines.clone();
            if let Some(line) = all.get_mut(at) {
                *line = &new;
            }
            let text = all.join("\n") + "\n";
            if !is_field(&text, at + 1) {
                continue;
            }
            of_one += 1;
            count += 1;
            if !has_finding(&text, at + 1) {
                missed.push(format!("{name}:{}: {new}", at + 1));
            }
        }
    }
    if count < LEAST {
        return Err(format!("only {count} lines").into());
    }
    if missed.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {count}:\n{}", missed.len(), missed.join("\n")).into())
    }
}

fn texts(files: &cases::Files) -> impl Iterator<Item = (String, String)> + '_ {
    files
        .iter()
        .filter_map(|(name, bytes)| Some((name.clone(), String::from_utf8(bytes.clone()).ok()?)))
}

/// Whether a text is a Template without errors, whose objects are all of known kinds.
fn is_plain(text: &str) -> bool {
    let checker = Checker::default();
    let source = Source::new("template.yaml", text);
    Document::parse(&source).is_ok_and(|document| {
        let lint::Checked { templates, findings: found } =
            lint::check(&Arc::new(document), &[], Some(&checker));
        // Nothing is looked at below an unknown field.
        let mut findings = found.iter();
        let is_known = !findings.any(|one| one.rule == Some("unknown-object-field"));
        templates == 1 && is_known && !found.has_errors() && checker.not_checked().is_none()
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or_default().matches('\n').count() + 1
}

/// Whether a line begins a field of an object.
fn is_field(text: &str, line: usize) -> bool {
    let Ok(document) = Document::parse(&Source::new("template.yaml", text)) else {
        return false;
    };
    let mut lines = BTreeSet::new();
    for root in document.roots() {
        for object in root.get("objects").into_iter().flat_map(Cursor::children) {
            add_fields(text, object, &mut lines);
        }
    }
    lines.contains(&line)
}

fn add_fields(text: &str, node: Cursor<'_>, lines: &mut BTreeSet<usize>) {
    for child in node.children() {
        if let Ok(key) = child.key() {
            if FREE.contains(&key.as_ref()) || (key == "objects") {
                continue;
            }
            lines.insert(line_of(text, child.start()));
        }
        add_fields(text, child, lines);
    }
}

fn has_finding(text: &str, line: usize) -> bool {
    let source = Source::new("template.yaml", text);
    let Ok(document) = Document::parse(&source) else {
        return false;
    };
    lint::check(&Arc::new(document), &[], Some(&Checker::default()))
        .findings
        .iter()
        .any(|one| one.place.as_ref().is_some_and(|place| line_of(text, place.range.start) == line))
}
