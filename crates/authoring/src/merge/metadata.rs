//! The name and the annotations of the merged Template.

use std::borrow::Cow;

use crate::merge::options::Options;
use crate::merge::part::Part;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Data, Value};

const DISPLAY_NAME: &str = "openshift.io/display-name";
/// The dialect is compared as such.
const DIALECT: &str = "template.krm.dev/dialect";
/// Our own annotations, which change the behaviour of a Template.
const OWN: &str = "template.krm.dev/";
/// Annotations that are joined, or have an option of their own.
pub(super) const JOINED: &[&str] = &["description", "tags", DISPLAY_NAME, DIALECT];

/// Names the first Template, and joins the annotations of the others to its own.
pub(super) fn join(parts: &mut [Part<'_>], options: &Options, found: &mut Diagnostics) {
    for part in parts.iter().skip(1) {
        if let Some(first) = parts.first() {
            check_own(first, part, found);
            check_display_name(first, part, options, found);
        }
    }
    let description = joined(parts, "description", "\n\n");
    let tags = joined(parts, "tags", ",");
    let Some(first) = parts.first_mut() else {
        return;
    };
    let Some(metadata) = first.value.mapping_at("metadata") else {
        return;
    };
    set_name(metadata, &options.name);
    let new = [
        ("description", description),
        ("tags", tags),
        (DISPLAY_NAME, options.display_name.clone()),
    ];
    for (key, text) in new {
        if let Some(text) = text
            && let Some(annotations) = metadata.mapping_at("annotations")
        {
            annotations.insert(Cow::Borrowed(key), Value::string(text));
        }
    }
}

/// Sets the name, before all other fields if there was none.
fn set_name(metadata: &mut Value<'_>, name: &str) {
    let Data::Mapping(entries) = &mut metadata.data else {
        return;
    };
    match entries.iter_mut().find(|(key, _)| key == "name") {
        Some((_, old)) => old.set(Value::string(name.to_owned()).data),
        None => entries.insert(0, (Cow::Borrowed("name"), Value::string(name.to_owned()))),
    }
}

/// The text of an annotation.
pub(super) fn annotation<'p>(part: &'p Part<'_>, key: &str) -> Option<&'p str> {
    part.value.str_at(&["metadata", "annotations", key])
}

/// The pieces of all texts, each once; `None` if the first Template has them all.
fn joined(parts: &[Part<'_>], key: &str, separator: &str) -> Option<String> {
    let mut texts = parts.iter().map(|part| annotation(part, key).unwrap_or_default());
    let first = texts.next().unwrap_or_default().trim_end_matches(['\n', '\r']);
    let pieces = |text: &'_ str| -> Vec<String> {
        let pieces = text.split(separator).map(|piece| piece.trim().to_owned());
        pieces.filter(|piece| !piece.is_empty()).collect()
    };
    let mut known = pieces(first);
    let mut text = first.to_owned();
    let mut is_changed = false;
    for piece in texts.flat_map(pieces) {
        if known.contains(&piece) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(separator);
        }
        text.push_str(&piece);
        known.push(piece);
        is_changed = true;
    }
    is_changed.then_some(text)
}

/// The keys of all annotations of both Templates.
fn keys<'p>(parts: [&'p Part<'_>; 2]) -> impl Iterator<Item = &'p str> {
    let annotations = parts.map(|part| part.value.at(&["metadata", "annotations"]));
    let entries = annotations.into_iter().flatten().filter_map(Value::entries);
    entries.flatten().map(|(key, _)| key.as_ref())
}

/// Reports annotations of our own that differ.
fn check_own(first: &Part<'_>, part: &Part<'_>, found: &mut Diagnostics) {
    let mut reported: Vec<&str> = Vec::new();
    for key in keys([first, part]).filter(|key| key.starts_with(OWN) && *key != DIALECT) {
        if annotation(first, key) == annotation(part, key) || reported.contains(&key) {
            continue;
        }
        reported.push(key);
        let in_part = part.value.at(&["metadata", "annotations", key]);
        let in_first = first.value.at(&["metadata", "annotations", key]);
        let label = |one: Option<&Value<'_>>, part: &Part<'_>| match one.and_then(Value::as_str) {
            Some(text) => format!("`{text}` in `{}`", part.label),
            None => format!("not set in `{}`", part.label),
        };
        let message = format!(
            "annotation `{key}` is {}, and {}",
            label(in_first, first),
            label(in_part, part)
        );
        let diagnostic = match (in_part, in_first) {
            (Some(_), Some(_)) => part
                .error(message, in_part)
                .related(first.place(in_first), format!("the one of `{}`", first.label)),
            (Some(_), None) => part.error(message, in_part),
            _ => first.error(message, in_first),
        };
        found.push(
            diagnostic
                .field(format!("metadata.annotations[{key}]"))
                .hint("it applies to all objects of a Template: set it to one value in both files"),
        );
    }
}

/// Warns where the display name of the first Template becomes that of all.
fn check_display_name(
    first: &Part<'_>,
    part: &Part<'_>,
    options: &Options,
    found: &mut Diagnostics,
) {
    let (ours, theirs) = (annotation(first, DISPLAY_NAME), annotation(part, DISPLAY_NAME));
    if options.display_name.is_some() || ours == theirs {
        return;
    }
    let message = match ours {
        Some(ours) => {
            format!("the merged Template keeps the display name `{ours}` of `{}`", first.label)
        }
        None => format!(
            "the display name `{}` of `{}` is left out",
            theirs.unwrap_or_default(),
            part.label
        ),
    };
    let at = |part: &Part<'_>| {
        let value = part.value.at(&["metadata", "annotations", DISPLAY_NAME]);
        (value.is_some(), part.place(value))
    };
    let (owner, place) = match (at(first), at(part)) {
        ((true, place), _) => (first, place),
        (_, (_, place)) => (part, place),
    };
    let warning = Diagnostic { place: Some(place), ..owner.warning(message, None) };
    found.push(
        warning
            .field(format!("metadata.annotations[{DISPLAY_NAME}]"))
            .hint("to set another one, add `--display-name TEXT`"),
    );
}
