//! Strips fields of the cluster and of tools that every object has.

use crate::export::fields::kinds;
use crate::export::fields::system::{
    ANNOTATIONS, FINALIZERS, JOB_LABELS, LABELS, LAST_APPLIED, Mark,
};
use crate::export::options::Options;
use krm_core::annotations::remove_empty;
use krm_yaml::{View, ViewMut};

/// Strips the nulls and the metadata of an object; `say` reports what is not the cluster's.
pub(super) fn strip(
    mut object: ViewMut<'_, '_>,
    kind: &str,
    options: &Options,
    say: &mut dyn FnMut(String),
) {
    if object.may_have_null() {
        remove_nulls(object.by_ref());
    }
    let Some(mut metadata) = object.get("metadata") else {
        return;
    };
    finalizers(metadata.by_ref(), options, say);
    if metadata.view().get("generateName").is_some()
        && metadata.view().str_at(&["name"]).is_some()
        && !options.keeps(&[], "metadata/generateName")
    {
        metadata.by_ref().remove("generateName");
    }
    annotations(metadata.by_ref(), kind, options, say);
    retain(metadata, "labels", |key, value| {
        !is_dropped(LABELS.iter(), key, value, options)
    });
}

fn remove_nulls(mut part: ViewMut<'_, '_>) {
    if part.view().is_sequence() {
        return part.each_item(remove_nulls);
    }
    // From below: so what is taken out stays in order.
    part.by_ref().each_entry(|_, part| remove_nulls(part));
    part.retain(|_, value| !value.is_null());
}

fn finalizers(metadata: ViewMut<'_, '_>, options: &Options, say: &mut dyn FnMut(String)) {
    if options.keeps(&[], "metadata/finalizers") {
        return;
    }
    let Some(list) = metadata.view().get("finalizers") else {
        return;
    };
    let names = list.items().into_iter().flatten();
    for name in names.filter_map(View::as_str) {
        if !FINALIZERS.contains(&name.as_ref()) {
            say(format!(
                "dropped `metadata.finalizers[{name}]`: a controller put it there"
            ));
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
    metadata: ViewMut<'_, '_>,
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
            say(format!(
                "dropped `metadata.annotations[{key}]`: {}",
                mark.report
            ));
        }
        !drops
    });
}

/// Strips the annotations in the metadata of a pod template.
pub(super) fn pod_annotations(metadata: ViewMut<'_, '_>, options: &Options) {
    retain(metadata, "annotations", |key, value| {
        let mut marks = ANNOTATIONS.iter().filter(|mark| mark.in_pods);
        !marks.any(|mark| mark.fits(key, value)) || keeps_annotation(key, options)
    });
}

/// Whether a label is dropped.
fn is_dropped(
    mut marks: impl Iterator<Item = &'static Mark>,
    key: &str,
    value: View<'_>,
    options: &Options,
) -> bool {
    marks.any(|mark| mark.fits(key, value)) && !options.keeps_entry(&["metadata", "labels"], key)
}

/// Strips the labels of pods, or those by which an object selects them.
pub(super) fn pod_labels(labels: ViewMut<'_, '_>, options: &Options) {
    let stays = |key: &str, value: View<'_>| {
        let marks = LABELS.iter().filter(|mark| mark.in_pods);
        !is_dropped(marks, key, value, options)
    };
    let entries = labels.view().entries();
    // A selector without labels would select all.
    if entries.is_some_and(|mut entries| entries.any(|(key, value)| stays(&key, value))) {
        labels.retain(|key, value| key.is_none_or(|key| stays(key, value)));
    }
}

/// Strips the labels by which a Job selects its pods from the metadata of their template.
pub(super) fn job_labels(metadata: ViewMut<'_, '_>, options: &Options) {
    retain(metadata, "labels", |key, value| {
        !is_dropped(JOB_LABELS.iter(), key, value, options)
    });
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
fn retain(mut metadata: ViewMut<'_, '_>, key: &str, mut keep: impl FnMut(&str, View<'_>) -> bool) {
    let Some(mapping) = metadata
        .by_ref()
        .get(key)
        .filter(|mapping| mapping.view().is_mapping())
    else {
        return;
    };
    let mut drops = false;
    mapping.retain(|key, value| {
        let stays = key.is_none_or(|key| keep(key, value));
        drops |= !stays;
        stays
    });
    if drops {
        remove_empty(metadata, key);
    }
}
