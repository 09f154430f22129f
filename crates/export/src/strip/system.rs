//! Strips fields of the cluster and of tools that every object has.

use crate::fields::kinds;
use crate::fields::system::{ANNOTATIONS, FINALIZERS, JOB_LABELS, LABELS, LAST_APPLIED, Mark};
use crate::options::Options;
use krm_core::annotations::remove_empty;
use krm_yaml::{Data, Value};

/// Strips the nulls and the metadata of an object; `say` reports what is not the cluster's.
pub(super) fn strip(
    object: &mut Value<'_>,
    kind: &str,
    options: &Options,
    say: &mut dyn FnMut(String),
) {
    remove_nulls(object);
    let Some(metadata) = object.get_mut("metadata") else {
        return;
    };
    finalizers(metadata, options, say);
    if metadata.get("generateName").is_some()
        && metadata.str_at(&["name"]).is_some()
        && !options.keeps(&[], "metadata/generateName")
    {
        metadata.remove("generateName");
    }
    annotations(metadata, kind, options, say);
    retain(metadata, "labels", |key, value| !is_dropped(LABELS.iter(), key, value, options));
}

fn remove_nulls(part: &mut Value<'_>) {
    match &mut part.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.iter_mut().for_each(remove_nulls),
        Data::Mapping(entries) => entries.retain_mut(|(_, value)| {
            remove_nulls(value);
            !value.is_null()
        }),
    }
}

fn finalizers(metadata: &mut Value<'_>, options: &Options, say: &mut dyn FnMut(String)) {
    if options.keeps(&[], "metadata/finalizers") {
        return;
    }
    let Some(list) = metadata.get("finalizers") else {
        return;
    };
    let names = list.items().into_iter().flatten();
    for name in names.filter_map(Value::as_str) {
        if !FINALIZERS.contains(&name) {
            say(format!("dropped `metadata.finalizers[{name}]`: a controller put it there"));
        }
    }
    metadata.remove("finalizers");
}

/// Whether the user keeps an annotation.
fn keeps_annotation(key: &str, options: &Options) -> bool {
    // It holds the whole object, secrets included.
    key != LAST_APPLIED && options.keeps_entry(&["metadata", "annotations"], key)
}

fn annotations(
    metadata: &mut Value<'_>,
    kind: &str,
    options: &Options,
    say: &mut dyn FnMut(String),
) {
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
        let mark = marks.find(|mark| mark.fits(key, value));
        let drops = (mark.is_some() || own(key)) && !keeps_annotation(key, options);
        if let Some(mark) = mark.filter(|mark| drops && !mark.report.is_empty()) {
            say(format!("dropped `metadata.annotations[{key}]`: {}", mark.report));
        }
        !drops
    });
}

/// Strips the annotations in the metadata of a pod template.
pub(super) fn pod_annotations(metadata: &mut Value<'_>, options: &Options) {
    retain(metadata, "annotations", |key, value| {
        let mut marks = ANNOTATIONS.iter().filter(|mark| mark.in_pods);
        !marks.any(|mark| mark.fits(key, value)) || keeps_annotation(key, options)
    });
}

/// Whether a label is dropped.
fn is_dropped(
    mut marks: impl Iterator<Item = &'static Mark>,
    key: &str,
    value: &Value<'_>,
    options: &Options,
) -> bool {
    marks.any(|mark| mark.fits(key, value)) && !options.keeps_entry(&["metadata", "labels"], key)
}

/// Strips the labels of pods, or those by which an object selects them.
pub(super) fn pod_labels(labels: &mut Value<'_>, options: &Options) {
    let stays = |key: &str, value: &Value<'_>| {
        let marks = LABELS.iter().filter(|mark| mark.in_pods);
        !is_dropped(marks, key, value, options)
    };
    // A selector without labels would select all.
    if let Data::Mapping(entries) = &mut labels.data
        && entries.iter().any(|(key, value)| stays(key, value))
    {
        entries.retain(|(key, value)| stays(key, value));
    }
}

/// Strips the labels by which a Job selects its pods from the metadata of their template.
pub(super) fn job_labels(metadata: &mut Value<'_>, options: &Options) {
    retain(metadata, "labels", |key, value| !is_dropped(JOB_LABELS.iter(), key, value, options));
}

/// The field path of a Job, or of the specification of the Jobs that an object of this kind makes.
pub(super) fn job(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "Job" => Some(&["spec"]),
        "CronJob" => Some(&["spec", "jobTemplate", "spec"]),
        _ => None,
    }
}

/// Keeps some entries of a mapping in the metadata, and takes it out if it gets empty.
fn retain(metadata: &mut Value<'_>, key: &str, mut keep: impl FnMut(&str, &Value<'_>) -> bool) {
    let Some(mapping) = metadata.get_mut(key) else {
        return;
    };
    let Data::Mapping(entries) = &mut mapping.data else {
        return;
    };
    let count = entries.len();
    entries.retain(|(key, value)| keep(key, value));
    if entries.len() < count {
        remove_empty(metadata, key);
    }
}
