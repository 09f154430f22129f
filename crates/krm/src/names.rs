//! The rules for names and labels, which Kubernetes checks letter by letter.

use crate::visible::on_one_line;
use krm_yaml::diagnostic::Diagnostic;

/// The longest name of most objects, and prefix of a label.
pub const SUBDOMAIN: usize = 253;
/// The longest label of DNS, name part of a label, and value.
pub const LABEL: usize = 63;
/// The longest name of a port.
const PORT: usize = 15;

/// The rules for a kind of name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
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
    #[must_use]
    pub fn of_object(group: &str, kind: &str) -> Self {
        match (group, kind) {
            // Older versions allow no digit at the beginning of the name of a Service.
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

    /// Whether a name has this form.
    pub fn fits(self, name: &str) -> bool {
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

    /// The hint that describes names of this form.
    pub fn rule(self) -> String {
        let dns = "lower case letters, digits and `-`";
        let ends = "with a letter or digit at both ends";
        match self {
            Self::Subdomain => {
                format!(
                    "use up to {SUBDOMAIN} {dns}, also `.`; each part between dots begins and ends with a letter or digit"
                )
            }
            Self::Label => format!("use up to {LABEL} {dns}, {ends}"),
            Self::Port => {
                format!("use up to {PORT} {dns}, at least one of them a letter, {ends}")
            }
            Self::Segment => "remove every `/` and `%`".to_owned(),
        }
    }
}

/// Whether a text is a DNS label of RFC 1123, of any length.
pub fn is_dns_label(text: &str) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    has_form(text, is_end, b"-")
}

/// The part of a label's key after the `/`, or a value that is not empty, of any length.
pub fn has_label_form(text: &str) -> bool {
    has_form(text, u8::is_ascii_alphanumeric, b"-_.")
}

/// Whether a text begins and ends with an outer character, and has only those and inner ones.
fn has_form(text: &str, is_outer: impl Fn(&u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(&is_outer)
        && bytes.last().is_some_and(&is_outer)
        && bytes.iter().all(|byte| is_outer(byte) || inner.contains(byte))
}

/// The part of a label's key after the `/`, and a value that is not empty.
pub fn is_label_text(text: &str) -> bool {
    text.len() <= LABEL && has_label_form(text)
}

/// Whether a text is the key of a label or annotation: a name, after an optional domain and `/`.
pub fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => Form::Subdomain.fits(prefix) && is_label_text(name),
        None => is_label_text(key),
    }
}

/// Validates a namespace: the error, if it is not one.
pub fn check_namespace(name: &str) -> Option<Diagnostic> {
    (!Form::Label.fits(name)).then(|| not_the_name(name, "a namespace", Form::Label))
}

/// Validates a label: the error of the key, and that of the value.
pub fn check_label(key: &str, value: &str) -> [Option<Diagnostic>; 2] {
    let key = (!is_label_key(key)).then(|| not_the_key(key, "a label"));
    let is_value = value.is_empty() || is_label_text(value);
    let value = (!is_value).then(|| not_the_value(value));
    [key, value]
}

/// Validates the key of an annotation. Kubernetes compares these in lower case.
pub fn check_annotation_key(key: &str) -> Option<Diagnostic> {
    (!is_label_key(&key.to_lowercase())).then(|| not_the_key(key, "an annotation"))
}

/// Validates the name of an object by the rules of its kind.
pub fn check_object_name(group: &str, kind: &str, name: &str) -> Option<Diagnostic> {
    let form = Form::of_object(group, kind);
    let article = if kind.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    (!form.fits(name)).then(|| not_the_name(name, &format!("{article} {kind}"), form))
}

/// The error for a name of `what` without the form.
pub fn not_the_name(name: &str, what: &str, form: Form) -> Diagnostic {
    Diagnostic::error(format!("`{}` is not a valid name for {what}", on_one_line(name)))
        .hint(form.rule())
}

/// The error for a key of `what`.
pub fn not_the_key(key: &str, what: &str) -> Diagnostic {
    Diagnostic::error(format!("`{}` is not a valid key for {what}", on_one_line(key)))
        .hint(format!("use up to {LABEL} letters, digits, `-`, `_` and `.`, with a letter or digit at both ends; a domain and `/` may come first"))
}

/// The error for a value of a label.
pub fn not_the_value(text: &str) -> Diagnostic {
    Diagnostic::error(format!(
        "`{}` is not a valid value for a label",
        on_one_line(text)
    ))
    .hint(format!(
        "use up to {LABEL} letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
    ))
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
        check(Form::Subdomain, &["a", "1.b-c", &long], &["", "A", "a_b", "a..b", "-a", "a-.b"]);
        check(Form::Label, &["a", "1-b"], &["a.b", &long]);
        check(
            Form::Port,
            &["http", "h2-c"],
            &["80", "a--b", "sixteen-letters-", "way-too-long-for-it"],
        );
        check(Form::Segment, &["system:node", "A b"], &[".", "..", "a/b", "a%b"]);
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
