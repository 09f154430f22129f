//! Field selectors: on the name and the namespace.
//!
//! Source: `k8s.io/apimachinery/pkg/fields`.

use krm_template_server_core::{Group, Result, Status};

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// The operators in search order, and whether each compares for equality.
const OPERATORS: [(&str, bool); 3] = [("!=", false), ("==", true), ("=", true)];

/// A selector on `metadata.name` and `metadata.namespace`. The default selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    is_name: bool,
    is_equal: bool,
    value: String,
}

impl FieldSelector {
    /// Parses a selector for objects of a group.
    ///
    /// # Errors
    ///
    /// 400 for a malformed selector, or another field.
    pub fn parse(text: &str, group: Group) -> Result<Self> {
        let mut terms = Vec::new();
        for part in split(text).into_iter().filter(|part| !part.is_empty()) {
            let (field, is_equal, value) = term(part).ok_or_else(|| {
                Status::bad_request(format!(
                    "invalid selector: '{text}'; can't understand '{part}'"
                ))
            })?;
            let value = unescape(value)?;
            terms.push(Term { is_name: is_name(field, group)?, is_equal, value });
        }
        Ok(Self(terms))
    }

    /// Returns `true` if an object with this name and namespace is selected.
    pub fn matches(&self, name: &str, namespace: &str) -> bool {
        self.0.iter().all(|term| {
            let found = if term.is_name { name } else { namespace };
            (found == term.value) == term.is_equal
        })
    }

    /// Returns `true` if everything is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the name that a selector requires, if any.
pub(super) fn selected_name(text: &str) -> Option<String> {
    split(text).into_iter().find_map(|part| match term(part)? {
        (NAME, true, value) => unescape(value).ok().filter(|value| !value.is_empty()),
        _ => None,
    })
}

/// Returns `true` if a field is the name, `false` if it is the namespace.
fn is_name(field: &str, group: Group) -> Result<bool> {
    match (field, group) {
        (NAME, _) => Ok(true),
        (NAMESPACE, _) => Ok(false),
        (_, Group::OpenShift) => Err(Status::bad_request(format!(
            "{field:?} is not a known field selector: only \"{NAME}\", \"{NAMESPACE}\""
        ))),
        (_, Group::Krm) => Err(Status::bad_request(format!("field label not supported: {field}"))),
    }
}

/// Splits a selector at its unescaped commas.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut is_escaped = false;
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if letter == '\\' {
            is_escaped = true;
        } else if letter == ','
            && let Some((part, after)) = rest.split_at_checked(at - start)
        {
            parts.push(part);
            rest = after.strip_prefix(',').unwrap_or(after);
            start = at + 1;
        }
    }
    parts.push(rest);
    parts
}

/// Splits a term into the field, whether it must be equal, and the escaped value.
fn term(part: &str) -> Option<(&str, bool, &str)> {
    part.char_indices().find_map(|(at, _)| {
        let (field, rest) = part.split_at_checked(at)?;
        OPERATORS
            .into_iter()
            .find_map(|(operator, is_equal)| Some((field, is_equal, rest.strip_prefix(operator)?)))
    })
}

fn unescape(text: &str) -> Result<String> {
    let error = |what: String| Status::bad_request(format!("invalid field selector: {what}"));
    let mut value = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => value.push(escaped),
                other => {
                    let after = other.map(String::from).unwrap_or_default();
                    return Err(error(format!("invalid escape sequence: \\{after}")));
                }
            },
            ',' | '=' => {
                let code = u32::from(letter);
                return Err(error(format!("unescaped character in value: {code}")));
            }
            other => value.push(other),
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn error(text: &str, group: Group) -> String {
        let status = FieldSelector::parse(text, group).unwrap_err();
        assert_eq!((status.code, status.reason), (400, "BadRequest"));
        status.message
    }

    #[test]
    fn terms_are_compared() {
        let cases = [
            ("", true),
            ("metadata.name=web", true),
            ("metadata.name==web", true),
            ("metadata.name!=web", false),
            ("metadata.name=web,metadata.namespace=shop", true),
            ("metadata.name=web,metadata.namespace!=shop", false),
            ("metadata.name=a,metadata.name=web", false),
            (",,metadata.name=web,", true),
            ("metadata.name=", false),
        ];
        for (text, expected) in cases {
            let selector = FieldSelector::parse(text, Group::Krm).unwrap();
            assert_eq!(selector.matches("web", "shop"), expected, "{text}");
        }
    }

    #[test]
    fn escapes_are_read() {
        let selector = FieldSelector::parse(r"metadata.name=a\,b\=c\\", Group::Krm).unwrap();
        assert!(selector.matches(r"a,b=c\", ""));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let cases = [
            (
                "metadata.name",
                "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
            ),
            ("metadata.name=a=b", "invalid field selector: unescaped character in value: 61"),
            (r"metadata.name=\a", r"invalid field selector: invalid escape sequence: \a"),
            ("spec=1", "field label not supported: spec"),
        ];
        for (text, expected) in cases {
            assert_eq!(error(text, Group::Krm), expected);
        }
        let known = "\"spec\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
        assert_eq!(error("spec=1", Group::OpenShift), known);
    }

    #[test]
    fn the_name_of_a_selector_is_found() {
        let named = |text| selected_name(text).unwrap_or_default();
        assert_eq!(named("metadata.namespace=a,metadata.name=web"), "web");
        assert_eq!(named("metadata.name!=web"), "");
        assert_eq!(named("metadata.name="), "");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*") {
            let _ = FieldSelector::parse(&text, Group::Krm);
        }

        #[test]
        fn any_value_can_be_escaped(value in "\\PC*") {
            let escaped: String = value.chars().flat_map(|letter| {
                let escape = matches!(letter, '\\' | ',' | '=').then_some('\\');
                escape.into_iter().chain([letter])
            }).collect();
            let selector = FieldSelector::parse(&format!("metadata.name={escaped}"), Group::Krm).unwrap();
            prop_assert!(selector.matches(&value, ""));
            let other = format!("{value}x");
            prop_assert!(!selector.matches(&other, ""));
        }
    }
}
