//! Strips fields of the cluster and of tools that every object has.

use crate::export::fields::kinds;
use crate::export::fields::system::{
    ANNOTATIONS, FIELDS, FINALIZERS, JOB_LABELS, LABELS, LAST_APPLIED, Mark,
};
use crate::export::options::Options;
use crate::export::visit::{self, Tree};
use crate::krm::annotations::remove_empty;
use crate::krm::pods;
use krm_yaml::{Scalar, View, ViewMut};

/// The fields of every object that are dropped.
pub(super) fn fields(options: &Options) -> Tree<()> {
    let fields = FIELDS.iter().filter(|path| !options.keeps(&[], path));
    Tree::of(fields.map(|path| (*path, ())))
}

/// Strips the fields of every object; `say` reports those that are not the cluster's.
pub(super) fn strip(
    mut object: ViewMut<'_, '_>,
    (group, kind): (&str, &str),
    (fields, options): (&Tree<()>, &Options),
    say: &mut dyn FnMut(String),
) {
    if object.view().has_null() {
        remove_nulls(object.by_ref());
    }
    fields.each(object.by_ref(), &mut |parent, key, ()| {
        parent.remove(key);
    });
    if let Some(mut metadata) = object.by_ref().get("metadata") {
        finalizers(metadata.by_ref(), options, say);
        let has_name = metadata.view().str_at(&["name"]).is_some();
        if has_name && !options.keeps(&[], "metadata/generateName") {
            metadata.remove("generateName");
        }
    }
    annotations(object.by_ref(), kind, options, say);
    labels(object, (group, kind), options);
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
    let list = metadata.view().get("finalizers").and_then(View::items);
    let names = list.into_iter().flatten().filter_map(View::as_str);
    for name in names.filter(|name| !FINALIZERS.contains(&name.as_ref())) {
        say(format!(
            "dropped `metadata.finalizers[{name}]`: a controller put it there"
        ));
    }
    metadata.remove("finalizers");
}

fn annotations(
    mut object: ViewMut<'_, '_>,
    kind: &str,
    options: &Options,
    say: &mut dyn FnMut(String),
) {
    let prefix = ["metadata", "annotations"];
    // It holds the whole object, secrets included.
    let keeps = |key: &str| key != LAST_APPLIED && options.keeps_entry(&prefix, key);
    if let Some(metadata) = object.by_ref().get("metadata") {
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
            let text = value.as_str();
            let mut marks = ANNOTATIONS.iter();
            let mark = marks.find(|mark| mark.fits(key, text.as_deref()));
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
    if let Some(metadata) = object.at(&template) {
        retain(metadata, "annotations", |key, _| {
            let mut marks = ANNOTATIONS.iter().filter(|mark| mark.in_pods);
            !marks.any(|mark| mark.fits(key, None)) || keeps(key)
        });
    }
}

fn labels(mut object: ViewMut<'_, '_>, (group, kind): (&str, &str), options: &Options) {
    let keeps = |key: &str| options.keeps_entry(&["metadata", "labels"], key);
    let is_dropped = |marks: &[Mark], key: &str, value: View<'_>| {
        let text = value.as_str();
        marks.iter().any(|mark| mark.fits(key, text.as_deref())) && !keeps(key)
    };
    let in_pods = |key: &str, value: View<'_>| {
        let text = value.as_str();
        let mut marks = LABELS.iter().filter(|mark| mark.in_pods);
        marks.any(|mark| mark.fits(key, text.as_deref())) && !keeps(key)
    };
    if let Some(metadata) = object.by_ref().get("metadata") {
        retain(metadata, "labels", |key, value| {
            !is_dropped(LABELS, key, value)
        });
    }
    visit::each_label_field(object.by_ref(), (group, kind), &mut |labels| {
        let entries = labels.view().entries();
        // A selector without labels would select all.
        let stays =
            entries.is_some_and(|mut entries| entries.any(|(key, value)| !in_pods(&key, value)));
        if stays {
            labels.retain(|key, value| key.is_none_or(|key| !in_pods(key, value)));
        }
    });
    let job: &[&str] = match kind {
        "Job" => &["spec"],
        "CronJob" => &["spec", "jobTemplate", "spec"],
        _ => return,
    };
    let is_manual = object.view().at(job).is_some_and(|job| {
        let manual = job.get("manualSelector").and_then(View::scalar);
        manual == Some(Scalar::Bool(true))
    });
    let template = [job, &["template", "metadata"]].concat();
    if !is_manual && let Some(metadata) = object.at(&template) {
        retain(metadata, "labels", |key, value| {
            !is_dropped(JOB_LABELS, key, value)
        });
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
