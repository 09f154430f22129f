//! The `results` that another function wrote.

use std::borrow::Cow;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document};

/// The `results` of a ResourceList; empty if the text is not a ResourceList.
///
/// A result without a severity is information. The KRM functions specification says error, but kpt
/// and kustomize do not follow it, and the exit status tells whether a function failed.
pub fn read_results(list: &str) -> Diagnostics {
    let mut found = Diagnostics::new();
    if !list.contains("results") {
        return found;
    }
    let Ok(document) = Document::parse(&Source::new("output", list)) else {
        return found;
    };
    let results = document.roots().next().and_then(|root| root.get("results"));
    for result in results.iter().flat_map(|results| results.children()) {
        found.push(one(result));
    }
    found
}

fn one(result: Cursor<'_>) -> Diagnostic {
    let text = |keys: [&str; 2]| {
        let node = match keys {
            [key, ""] => result.get(key),
            keys => result.at(keys),
        };
        let text = node.and_then(|node| node.text().ok().flatten());
        text.map(Cow::into_owned)
    };
    let message = text(["message", ""]).unwrap_or_default();
    let mut diagnostic = match text(["severity", ""]).as_deref() {
        Some("error") => Diagnostic::error(message),
        Some("warning") => Diagnostic::warning(message),
        _ => Diagnostic::info(message),
    };
    let part = |key| text(["resourceRef", key]).unwrap_or_default();
    let name = part("name");
    let path = text(["file", "path"]);
    if !name.is_empty() || path.is_some() {
        diagnostic.object = Some(ObjectReference {
            api_version: part("apiVersion"),
            kind: part("kind"),
            namespace: part("namespace"),
            name,
            path,
            index: text(["file", "index"]).and_then(|index| index.parse().ok()).unwrap_or(0),
        });
    }
    diagnostic.field = text(["field", "path"]);
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::read_results;
    use krm_yaml::diagnostic::Severity;

    #[test]
    fn results_of_others_are_read() {
        let found = read_results(
            "kind: ResourceList\nitems: []\nresults:\n- message: no image\n  severity: error\n  \
             resourceRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  \
             field: {path: spec.image}\n- message: fine\n",
        );
        let found: Vec<_> = found.iter().collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].severity, Severity::Error);
        assert_eq!(found[0].message, "no image");
        assert_eq!(found[0].field.as_deref(), Some("spec.image"));
        assert_eq!(found[0].object.as_ref().unwrap().name, "web");
        assert_eq!(found[1].severity, Severity::Info);
        assert!(read_results("kind: List").iter().next().is_none());
        assert!(read_results("{results").iter().next().is_none());
    }
}
