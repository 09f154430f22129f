//! Rules about names and labels, which Kubernetes checks letter by letter.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::krm::identity::group;
use crate::lint::fields::{follow, is_built_in};
use crate::lint::{Context, place};
use crate::source::Place;
use crate::template::{Object, Path};
use crate::yaml::{Cursor, Value};

/// The longest name of most objects, and prefix of a label.
const SUBDOMAIN: usize = 253;
/// The longest label of DNS, name part of a label, and value.
const LABEL: usize = 63;
/// The longest name of a port.
const PORT: usize = 15;

/// What a name must look like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// DNS labels (RFC 1123) with dots between them.
    Subdomain,
    /// A DNS label (RFC 1123).
    Label,
    /// The name of a port (RFC 6335).
    Port,
    /// Anything that can be a part of a path.
    Segment,
}

impl Form {
    /// Kinds whose names are freer or stricter than those of most.
    fn of_object(group: &str, kind: &str) -> Self {
        match (group, kind) {
            // Of a Service older versions take no digit at the beginning.
            ("", "Namespace" | "Service") => Self::Label,
            ("rbac.authorization.k8s.io" | "certificates.k8s.io", _)
            | ("networking.k8s.io", "IPAddress") => Self::Segment,
            _ if group.ends_with(".openshift.io") => match kind {
                "DeploymentConfig" | "Route" | "BuildConfig" => Self::Subdomain,
                _ => Self::Segment,
            },
            _ => Self::Subdomain,
        }
    }

    fn fits(self, name: &str) -> bool {
        match self {
            Self::Subdomain => name.len() <= SUBDOMAIN && name.split('.').all(is_dns_label),
            Self::Label => name.len() <= LABEL && is_dns_label(name),
            Self::Port => {
                let has_letter = name.bytes().any(|byte| byte.is_ascii_lowercase());
                name.len() <= PORT && is_dns_label(name) && has_letter && !name.contains("--")
            }
            Self::Segment => !matches!(name, "." | "..") && !name.contains(['/', '%']),
        }
    }

    fn rule(self) -> String {
        let dns = "lower case letters, digits and `-`";
        let ends = "begins and ends with a letter or digit";
        match self {
            Self::Subdomain => format!(
                "it holds up to {SUBDOMAIN} {dns}, also `.`, and each part between dots {ends}"
            ),
            Self::Label => format!("it holds up to {LABEL} {dns}, and {ends}"),
            Self::Port => {
                format!("it holds up to {PORT} {dns}, with a letter among them, and {ends}")
            }
            Self::Segment => "it holds no `/` and no `%`".to_owned(),
        }
    }
}

fn is_dns_label(text: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| is_alphanumeric(*byte))
        && bytes.last().is_some_and(|byte| is_alphanumeric(*byte))
        && bytes
            .iter()
            .all(|byte| is_alphanumeric(*byte) || *byte == b'-')
}

/// The part of a label's key behind the `/`, and a value that is not empty.
fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.len() <= LABEL
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => Form::Subdomain.fits(prefix) && is_label_text(name),
        None => is_label_text(key),
    }
}

/// What is wrong with a namespace.
#[must_use]
pub fn check_namespace(name: &str) -> Option<Diagnostic> {
    (!Form::Label.fits(name)).then(|| not_the_name(name, "a namespace", Form::Label))
}

/// What is wrong with a label.
#[must_use]
pub fn check_label(key: &str, value: &str) -> Vec<Diagnostic> {
    let key = (!is_label_key(key)).then(|| not_the_key(key, "a label"));
    let is_value = value.is_empty() || is_label_text(value);
    let value = (!is_value).then(|| not_the_value(value));
    key.into_iter().chain(value).collect()
}

fn not_the_name(name: &str, what: &str, form: Form) -> Diagnostic {
    Diagnostic::error(format!("`{name}` is not the name of {what}")).hint(form.rule())
}

fn not_the_key(key: &str, what: &str) -> Diagnostic {
    Diagnostic::error(format!("`{key}` is not the key of {what}"))
        .hint(format!("it is a name of up to {LABEL} letters, digits, `-`, `_` and `.`, which begins and ends with a letter or digit; a domain and `/` may stand before it"))
}

fn not_the_value(text: &str) -> Diagnostic {
    Diagnostic::error(format!("`{text}` is not the value of a label"))
        .hint(format!("it holds up to {LABEL} letters, digits, `-`, `_` and `.`, and begins and ends with a letter or digit"))
}

/// The names of objects, and those in pods.
pub(super) fn invalid_name(
    context: &Context<'_, '_>,
    object: &Object<'_>,
    found: &mut Diagnostics,
) {
    let value = &object.value;
    let kind = value.str_at(&["kind"]).unwrap_or_default();
    let group = group(value.str_at(&["apiVersion"]).unwrap_or_default());
    let root = Path::Root(&object.field);
    let mut check = |keys: &str, what: &str, form: Form| {
        follow(value, keys, &root, &mut |value, path| {
            let Some(name) = value.as_str().filter(|name| !name.is_empty()) else {
                return;
            };
            if form.fits(&context.at_best(name)) {
                return;
            }
            found.push(
                not_the_name(name, what, form)
                    .at(place(object, value))
                    .field(path.to_string()),
            );
        });
    };
    let article = if kind.starts_with(['A', 'E', 'I', 'O', 'U']) {
        "an"
    } else {
        "a"
    };
    check(
        "metadata.name",
        &format!("{article} {kind}"),
        Form::of_object(group, kind),
    );
    check("metadata.namespace", "a namespace", Form::Label);
    if !is_built_in(group) {
        return;
    }
    if kind == "Service" {
        check("spec.ports.name", "a port of a Service", Form::Label);
    }
    if let Some(pod) = pod_specs(kind) {
        check(&format!("{pod}.volumes.name"), "a volume", Form::Label);
        for list in ["containers", "initContainers"] {
            check(&format!("{pod}.{list}.name"), "a container", Form::Label);
            check(
                &format!("{pod}.{list}.ports.name"),
                "a port of a container",
                Form::Port,
            );
        }
    }
}

/// Where the specification of pods stands in objects of a kind.
fn pod_specs(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some("spec"),
        "CronJob" => Some("spec.jobTemplate.spec.template.spec"),
        "DaemonSet"
        | "Deployment"
        | "DeploymentConfig"
        | "Job"
        | "ReplicaSet"
        | "ReplicationController"
        | "StatefulSet" => Some("spec.template.spec"),
        _ => None,
    }
}

/// Labels, selectors and the keys of annotations.
pub(super) fn invalid_label(
    context: &Context<'_, '_>,
    object: &Object<'_>,
    found: &mut Diagnostics,
) {
    let value = &object.value;
    let kind = value.str_at(&["kind"]).unwrap_or_default();
    let root = Path::Root(&object.field);
    let mut labels = Labels {
        context,
        object,
        found,
    };
    let mut check = |keys: &str, has_values: bool| {
        follow(value, keys, &root, &mut |mapping, path| {
            labels.check(mapping, path, has_values);
        });
    };
    check("metadata.labels", true);
    check("metadata.annotations", false);
    if !is_built_in(group(value.str_at(&["apiVersion"]).unwrap_or_default())) {
        return;
    }
    check("spec.selector.matchLabels", true);
    if matches!(
        kind,
        "Service" | "ReplicationController" | "DeploymentConfig"
    ) {
        check("spec.selector", true);
    }
    if let Some(pod) = pod_specs(kind).and_then(|pod| pod.strip_suffix(".spec")) {
        check(&format!("{pod}.metadata.labels"), true);
        check(&format!("{pod}.metadata.annotations"), false);
        check(&format!("{pod}.spec.nodeSelector"), true);
    }
}

struct Labels<'l, 'c, 'd, 'o> {
    context: &'l Context<'c, 'd>,
    object: &'l Object<'o>,
    found: &'l mut Diagnostics,
}

impl Labels<'_, '_, '_, '_> {
    fn check(&mut self, mapping: &Value<'_>, path: &Path<'_>, has_values: bool) {
        let what = if has_values {
            "a label"
        } else {
            "an annotation"
        };
        for (key, value) in mapping.entries().unwrap_or_default() {
            let at = Where::of(self, key, value, mapping, path);
            let best = self.context.at_best(key);
            // The keys of annotations are compared in lower case.
            if !is_label_key(&best) && (has_values || !is_label_key(&best.to_lowercase())) {
                self.found
                    .push(not_the_key(key, what).at(at.key).field(&at.field));
            }
            let Some(text) = value.as_str().filter(|text| has_values && !text.is_empty()) else {
                continue;
            };
            if !is_label_text(&self.context.at_best(text)) {
                self.found
                    .push(not_the_value(text).at(at.value).field(at.field));
            }
        }
    }
}

/// Where a label is written.
struct Where {
    key: Place,
    value: Place,
    field: String,
}

impl Where {
    fn of(
        labels: &Labels<'_, '_, '_, '_>,
        key: &str,
        value: &Value<'_>,
        mapping: &Value<'_>,
        path: &Path<'_>,
    ) -> Self {
        if let Some(node) = value.origin {
            let node = labels.object.document.cursor(node);
            return Self {
                key: node.key_place(),
                value: node.place(),
                field: Path::Key(path, key).to_string(),
            };
        }
        let own = labels.context.template.labels.into_iter();
        let mut own = own.flat_map(Cursor::children);
        let is_meant = |entry: &Cursor<'_>| {
            let written = entry.key();
            written.is_ok_and(|written| labels.context.survey.text(&written) == key)
        };
        if let Some(entry) = own.find(is_meant) {
            return Self {
                key: entry.key_place(),
                value: entry.place(),
                field: Path::Key(&Path::Key(&Path::Root(""), "labels"), key).to_string(),
            };
        }
        // It came by an alias.
        let place = place(labels.object, mapping);
        Self {
            key: place.clone(),
            value: place,
            field: Path::Key(path, key).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, is_label_key, is_label_text};

    #[track_caller]
    fn check(form: Form, names: &[&str], others: &[&str]) {
        for name in names {
            assert!(form.fits(name), "{name} should be one");
        }
        for name in others {
            assert!(!form.fits(name), "{name} should not be one");
        }
    }

    #[test]
    fn names_are_those_of_kubernetes() {
        let long = "a".repeat(64);
        check(
            Form::Subdomain,
            &["a", "1.b-c", &long],
            &["", "A", "a_b", "a..b", "-a", "a-.b"],
        );
        check(Form::Label, &["a", "1-b"], &["a.b", &long]);
        check(
            Form::Port,
            &["http", "h2-c"],
            &["80", "a--b", "sixteen-letters-", "way-too-long-for-it"],
        );
        check(
            Form::Segment,
            &["system:node", "A b"],
            &[".", "..", "a/b", "a%b"],
        );
    }

    #[test]
    fn labels_are_those_of_kubernetes() {
        for key in ["app", "App_1.x", "example.com/part-of"] {
            assert!(is_label_key(key), "{key}");
        }
        for key in ["", "a b", "-a", "Example.com/a", "example.com/", "a/b/c"] {
            assert!(!is_label_key(key), "{key}");
        }
        assert!(is_label_text("1.2_x-Y"));
        assert!(!is_label_text("x."));
        assert!(!is_label_text(&"a".repeat(64)));
    }
}
