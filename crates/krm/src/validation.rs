//! Validation of names, and of label keys and values, with the messages of Kubernetes.
//!
//! Source: `k8s.io/apimachinery/pkg/util/validation`.

use crate::names::{LABEL as MAX_NAME, SUBDOMAIN as MAX_SUBDOMAIN, has_label_form, is_dns_label};

const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
    validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
    characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
    'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
    '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', \
    regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, \
    '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
    'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// Returns the errors in a qualified name, such as the label key `example.com/name` or `name`.
pub fn qualified(key: &str) -> Vec<String> {
    let (prefix, name) = match key.split_once('/') {
        None => (None, key),
        Some((_, name)) if name.contains('/') => {
            return vec![format!(
                "a qualified name {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some((prefix, name)) => (Some(prefix), name),
    };
    let mut wrong = Vec::new();
    match prefix {
        Some("") => wrong.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            wrong.extend(subdomain(prefix).iter().map(|what| format!("prefix part {what}")));
        }
        None => {}
    }
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME {
        wrong.push(format!("name part {}", too_long(MAX_NAME)));
    }
    if !has_label_form(name) {
        wrong.push(format!("name part {QUALIFIED}"));
    }
    wrong
}

/// Returns the errors in the value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > MAX_NAME {
        wrong.push(too_long(MAX_NAME));
    }
    if !value.is_empty() && !has_label_form(value) {
        wrong.push(VALUE.to_owned());
    }
    wrong
}

/// Returns the errors in a DNS subdomain (RFC 1123), the format of most names.
pub fn subdomain(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > MAX_SUBDOMAIN {
        wrong.push(too_long(MAX_SUBDOMAIN));
    }
    if !name.split('.').all(is_dns_label) {
        wrong.push(SUBDOMAIN.to_owned());
    }
    wrong
}

/// Returns the errors in the prefix of a DNS subdomain, such as a `generateName`.
pub fn subdomain_prefix(text: &str) -> Vec<String> {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => subdomain(&format!("{rest}a")),
        _ => subdomain(text),
    }
}

/// Returns the errors in a DNS label (RFC 1123), the format of namespace names.
pub fn dns_label(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > MAX_NAME {
        wrong.push(too_long(MAX_NAME));
    }
    if !is_dns_label(name) {
        wrong.push(LABEL.to_owned());
    }
    wrong
}

fn too_long(most: usize) -> String {
    format!("must be no more than {most} characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rule = fn(&str) -> Vec<String>;

    #[test]
    fn names_follow_the_rules_of_kubernetes() {
        let long = "a".repeat(64);
        let cases: [(Rule, &[&str], &[&str]); 5] = [
            (subdomain, &["a", "a.b-c.0", &long], &["", "A", "a_b", "-a", "a-", "a..b", "a/b"]),
            (subdomain_prefix, &["a", "a-", "gen-"], &["-", "A-", "a."]),
            (dns_label, &["a", "a-b"], &["", "a.b", "A", &long]),
            (
                qualified,
                &["a", "A.b_c-d", "example.com/A"],
                &["", "a b", "/a", "a/", "a/b/c", "A_/b", &long],
            ),
            (label_value, &["", "A_b.c-1"], &["a b", "-a", &long]),
        ];
        for (rule, right, wrong) in cases {
            for text in right {
                assert_eq!(rule(text), Vec::<String>::new(), "{text}");
            }
            for text in wrong {
                assert_ne!(rule(text), Vec::<String>::new(), "{text}");
            }
        }
    }
}
