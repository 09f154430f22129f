//! Kinds and API versions that are not served: not any more, not yet, or misspelt.

use krm_core::visible::on_one_line;
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, View};

use crate::finding::{Finding, Fix, Rule};
use crate::schema::Schema;

/// Removals: the API version, its kind or `*`, the minor version since which it is not served, the one
/// to use, and what else to change, with tabs between them.
const REMOVED: &str = include_str!("../data/removed.txt");

/// The finding about an object whose kind is not served in a version; `None` if it is not known.
pub(crate) fn finding(
    object: View<'_>,
    api_version: &str,
    kind: &str,
    version: u8,
) -> Option<Finding> {
    let known = REMOVED.lines().find_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [api, name, since, to, change] = cells[..] else { return None };
        let is_meant = api == api_version && (name == kind || name == "*");
        (is_meant && version >= since.parse().ok()?).then_some((since, to, change))
    });
    let mut fix = None;
    let (message, hint) = if let Some((since, to, change)) = known {
        if change.is_empty() && !to.is_empty() {
            fix = Some(Fix { old: api_version.to_owned(), new: to.to_owned() });
        }
        let to = (!to.is_empty()).then(|| format!("use {to}"));
        let change = (!change.is_empty()).then(|| change.to_owned());
        let hint: Vec<String> = to.into_iter().chain(change).collect();
        (
            format!("{api_version} {kind} is not served since Kubernetes 1.{since}"),
            Some(hint.join("; ")),
        )
    } else {
        let schema = Schema::get();
        let Some(served) = schema.kind(api_version, kind) else {
            return misspelt(object, api_version, kind);
        };
        let range = if version < served.since {
            format!("before Kubernetes 1.{}", served.since)
        } else {
            format!("since Kubernetes 1.{}", served.until + 1)
        };
        (format!("{api_version} {kind} is not served {range}"), None)
    };
    let at = object.get("apiVersion").and_then(View::origin);
    Some(Finding {
        rule: Rule::RemovedApi,
        path: FieldPath::root().key("apiVersion"),
        origin: at.or_else(|| object.origin()),
        message,
        hint,
        fix,
    })
}

/// The finding about a kind that an API version does not have, if it is clear which is meant.
fn misspelt(object: View<'_>, api_version: &str, kind: &str) -> Option<Finding> {
    let kinds = || Schema::get().kinds();
    let own = || kinds().filter(|(api, _)| *api == api_version);
    own().next()?;
    // OpenShift's old kinds had no group.
    let mut elsewhere = kinds().filter(|(api, name)| *name == kind && !api.contains("beta"));
    let hint = match elsewhere.next() {
        Some((api, _)) if api.contains(".openshift.io") => return None,
        Some((api, _)) => format!("use {api}"),
        None => format!("did you mean `{}`?", closest(kind, own().map(|(_, name)| name))?),
    };
    let at = object.get("kind").and_then(View::origin);
    Some(Finding {
        rule: Rule::RemovedApi,
        path: FieldPath::root().key("kind"),
        origin: at.or_else(|| object.origin()),
        message: format!("{api_version} has no kind `{}`", on_one_line(kind)),
        hint: Some(hint),
        fix: None,
    })
}
