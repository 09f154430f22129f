//! Properties of a whole Template: its dialect, and fields that cannot be merged.

use crate::merge::metadata::{JOINED, annotation};
use crate::merge::part::Part;
use krm_template_engine::{Dialect, OWN_API_VERSION, TEMPLATE_FIELDS};
use krm_yaml::Value;
use krm_yaml::diagnostic::Diagnostics;

/// Reports Templates that differ from the first in their dialect, or in the meaning of defaults.
pub(super) fn check_dialects(parts: &[Part<'_>], found: &mut Diagnostics) {
    let Some((first, others)) = parts.split_first() else {
        return;
    };
    let name = |dialect| match dialect {
        Dialect::Proposal => "the proposal's dialect",
        Dialect::OpenShift => "OpenShift's dialect",
    };
    let version = |part: &Part<'_>| part.template.reference().api_version.clone();
    for part in others {
        let (ours, theirs) = (first.template.dialect(), part.template.dialect());
        let (message, hint) = if ours != theirs {
            let message = format!(
                "`{}` is in {}, and `{}` in {}",
                first.label,
                name(ours),
                part.label,
                name(theirs)
            );
            let hint = "references are not converted, as `$(X)` and `${X}` also mean something to \
                        shells: write both Templates in one dialect";
            (message, hint)
        } else if first.template.defaults_refer() != part.template.defaults_refer()
            && [first, part].into_iter().any(has_literal_dollar)
        {
            let message = format!(
                "`{}` has the API version `{}`, and `{}` has `{}`",
                first.label,
                version(first),
                part.label,
                version(part)
            );
            let hint = "only in `template.krm.dev/v1alpha1` can defaults refer to parameters, and a \
                        default of the other has a `$`: set one `apiVersion` in both files";
            (message, hint)
        } else {
            continue;
        };
        let at = |part: &Part<'_>| part.place(part.value.get("apiVersion"));
        let diagnostic = part.error(message, part.value.get("apiVersion"));
        found.push(
            diagnostic.related(at(first), "the first Template").field("apiVersion").hint(hint),
        );
    }
}

/// Whether a default has a `$` that is text, and would refer to a parameter in our group.
fn has_literal_dollar(part: &Part<'_>) -> bool {
    let mut parameters = part.template.parameters().iter();
    !part.template.defaults_refer()
        && parameters.any(|one| one.default_text().is_some_and(|text| text.contains('$')))
}

/// Makes the first Template one of our group, if one of the others is and has the same dialect.
pub(super) fn join_api_versions(parts: &mut [Part<'_>]) {
    let is_own = |part: &Part<'_>| part.template.defaults_refer();
    if parts.iter().all(is_own) || !parts.iter().any(is_own) {
        return;
    }
    if let Some(first) = parts.first_mut()
        && let Some(version) = first.value.get_mut("apiVersion")
    {
        version.set(Value::string(OWN_API_VERSION).data);
    }
}

/// Warns of fields and annotations that only the first Template keeps.
pub(super) fn warn_of_left_out(parts: &[Part<'_>], found: &mut Diagnostics) {
    let Some((first, others)) = parts.split_first() else {
        return;
    };
    for part in others {
        let mut fields = left_out(&first.value, &part.value, "", TEMPLATE_FIELDS);
        if let Some((ours, theirs)) = both(first, part, &["metadata"]) {
            fields.extend(left_out(ours, theirs, "metadata.", &["name", "annotations"]));
        }
        let annotations = part.value.at(&["metadata", "annotations"]);
        for (key, _) in annotations.and_then(Value::entries).unwrap_or_default() {
            let is_merged = JOINED.contains(&key.as_ref()) || key.starts_with("template.krm.dev/");
            if !is_merged && annotation(first, key) != annotation(part, key) {
                fields.push(format!("`metadata.annotations[{key}]`"));
            }
        }
        if fields.is_empty() {
            continue;
        }
        let verb = if fields.len() == 1 { "is" } else { "are" };
        let message = format!("{} of `{}` {verb} left out", fields.join(", "), part.label);
        let place = part.value.get("metadata");
        found.push(part.warning(message, place).hint(format!(
            "the merged Template has those of `{}`: add to it what you need",
            first.label
        )));
    }
}

fn both<'p, 'd>(
    first: &'p Part<'d>,
    part: &'p Part<'d>,
    path: &[&str],
) -> Option<(&'p Value<'d>, &'p Value<'d>)> {
    Some((first.value.at(path)?, part.value.at(path)?))
}

/// The entries that are not merged, and not the same in the first Template.
fn left_out(first: &Value<'_>, other: &Value<'_>, path: &str, merged: &[&str]) -> Vec<String> {
    let entries = other.entries().unwrap_or_default().iter();
    let entries = entries.filter(|(key, value)| {
        let is_type = path.is_empty()
            && (key.eq_ignore_ascii_case("kind") || key.eq_ignore_ascii_case("apiVersion"));
        !is_type
            && !merged.contains(&key.as_ref())
            && !value.is_null()
            && first.get(key) != Some(value)
    });
    entries.map(|(key, _)| format!("`{path}{key}`")).collect()
}
