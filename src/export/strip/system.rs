//! Strips fields of the cluster and of tools that every object has.

use crate::export::fields::kinds;
use crate::export::fields::system::{
    ANNOTATIONS, FIELDS, FINALIZERS, JOB_LABELS, LABELS, LAST_APPLIED, Mark,
};
use crate::export::options::Options;
use crate::export::visit::{self, at_mut};
use crate::krm::annotations::remove_empty;
use crate::krm::pods;
use krm_yaml::{Data, Value};

/// Strips the fields of every object; `say` reports those that are not the cluster's.
pub(super) fn strip(
    object: &mut Value<'_>,
    (group, kind): (&str, &str),
    options: &Options,
    say: &mut dyn FnMut(String),
) {
    remove_nulls(object);
    for path in FIELDS {
        if !options.keeps(&[], path) {
            visit::remove(object, path, &mut |_, _| true);
        }
    }
    finalizers(object, options, say);
    let has_name = object.str_at(&["metadata", "name"]).is_some();
    if has_name && !options.keeps(&[], "metadata/generateName") {
        visit::remove(object, "metadata/generateName", &mut |_, _| true);
    }
    annotations(object, kind, options, say);
    labels(object, (group, kind), options);
}

fn remove_nulls(value: &mut Value<'_>) {
    match &mut value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.iter_mut().for_each(remove_nulls),
        Data::Mapping(entries) => {
            entries.retain(|(_, value)| !value.is_null());
            for (_, value) in entries {
                remove_nulls(value);
            }
        }
    }
}

fn finalizers(object: &mut Value<'_>, options: &Options, say: &mut dyn FnMut(String)) {
    if options.keeps(&[], "metadata/finalizers") {
        return;
    }
    visit::remove(object, "metadata/finalizers", &mut |_, list| {
        let names = list.items().unwrap_or_default();
        let names = names.iter().filter_map(Value::as_str);
        for name in names.filter(|name| !FINALIZERS.contains(name)) {
            say(format!(
                "dropped `metadata.finalizers[{name}]`: a controller put it there"
            ));
        }
        true
    });
}

fn annotations(object: &mut Value<'_>, kind: &str, options: &Options, say: &mut dyn FnMut(String)) {
    let prefix = ["metadata", "annotations"];
    // It holds the whole object, secrets included.
    let keeps = |key: &str| key != LAST_APPLIED && options.keeps_entry(&prefix, key);
    if let Some(metadata) = object.get_mut("metadata") {
        let own = |key: &str| {
            let mut rows = kinds::ANNOTATIONS.iter();
            !options.exact
                && rows.any(|(of, known)| {
                    *of == kind
                        && match known.strip_suffix('*') {
                            Some(start) => key.starts_with(start),
                            None => key == *known,
                        }
                })
        };
        retain(metadata, "annotations", |key, value| {
            let mut marks = ANNOTATIONS.iter();
            let mark = marks.find(|mark| mark.fits(key, value.as_str()));
            let drops = (mark.is_some() || own(key)) && !keeps(key);
            if let Some(mark) = mark.filter(|mark| drops && !mark.report.is_empty()) {
                say(format!(
                    "dropped `metadata.annotations[{key}]`: {}",
                    mark.report
                ));
            }
            !drops
        });
    }
    let Some(pod) = pods::maker(kind) else { return };
    let template = [pod, &["template", "metadata"]].concat();
    if let Some(metadata) = at_mut(object, &template) {
        retain(metadata, "annotations", |key, _| {
            let mut marks = ANNOTATIONS.iter().filter(|mark| mark.in_pods);
            !marks.any(|mark| mark.fits(key, None)) || keeps(key)
        });
    }
}

fn labels(object: &mut Value<'_>, (group, kind): (&str, &str), options: &Options) {
    let keeps = |key: &str| options.keeps_entry(&["metadata", "labels"], key);
    let is_dropped = |marks: &[Mark], key: &str, value: &Value<'_>| {
        marks.iter().any(|mark| mark.fits(key, value.as_str())) && !keeps(key)
    };
    let in_pods = |key: &str, value: &Value<'_>| {
        let mut marks = LABELS.iter().filter(|mark| mark.in_pods);
        marks.any(|mark| mark.fits(key, value.as_str())) && !keeps(key)
    };
    if let Some(metadata) = object.get_mut("metadata") {
        retain(metadata, "labels", |key, value| {
            !is_dropped(LABELS, key, value)
        });
    }
    visit::each_label_field(object, (group, kind), &mut |labels| {
        let Data::Mapping(entries) = &mut labels.data else {
            return;
        };
        // A selector without labels would select all.
        if !entries.iter().all(|(key, value)| in_pods(key, value)) {
            entries.retain(|(key, value)| !in_pods(key, value));
        }
    });
    let job: &[&str] = match kind {
        "Job" => &["spec"],
        "CronJob" => &["spec", "jobTemplate", "spec"],
        _ => return,
    };
    let is_manual = at_mut(object, job).is_some_and(|job| {
        let manual = job.get("manualSelector");
        manual.is_some_and(|manual| *manual == Value::from(true))
    });
    let template = [job, &["template", "metadata"]].concat();
    if !is_manual && let Some(metadata) = at_mut(object, &template) {
        retain(metadata, "labels", |key, value| {
            !is_dropped(JOB_LABELS, key, value)
        });
    }
}

/// Keeps some entries of a mapping in the metadata, and takes it out if it gets empty.
fn retain(metadata: &mut Value<'_>, key: &str, mut keep: impl FnMut(&str, &Value<'_>) -> bool) {
    let Some(Data::Mapping(entries)) = metadata.get_mut(key).map(|value| &mut value.data) else {
        return;
    };
    let before = entries.len();
    entries.retain(|(key, value)| keep(key, value));
    if entries.len() < before {
        remove_empty(metadata, key);
    }
}
