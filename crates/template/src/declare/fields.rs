//! The fields of a Template and of its parameters by name, and reports of unknown ones.

use std::borrow::Cow;
use std::fmt::Display;

use crate::declare::dialect::Dialect;
use krm_core::fields::{self, Unknown};
use krm_yaml::Cursor;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// Whether Go's `encoding/json` reads `key` as the field `name`: it ignores case, and compares
/// by Unicode's simple folding, in which `ſ` is an `s` and the Kelvin sign a `k`.
fn folds_to(key: &str, name: &str) -> bool {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(name.chars().map(fold))
}

/// The entry of `apiVersion` or `kind`: the one with this name, else the last one that differs in
/// case only. `oc` detects the type of a file by these two, and reads them, unlike all others,
/// with a decoder that ignores case.
pub(crate) fn type_field<'d>(node: Cursor<'d>, name: &str) -> Option<Cursor<'d>> {
    node.get(name).or_else(|| {
        let is_meant = |entry: &Cursor<'d>| entry.key().is_ok_and(|key| folds_to(&key, name));
        node.is_mapping().then(|| node.children().filter(is_meant).last()).flatten()
    })
}

/// The text of `type_field`, if it holds one.
pub fn type_text<'d>(node: Cursor<'d>, name: &str) -> Option<Cow<'d, str>> {
    type_field(node, name)?.text().ok()?
}

/// Warns of unknown fields of `what`.
pub(crate) fn unknown_fields(
    node: Cursor<'_>,
    known: &[&'static str],
    path: &str,
    what: &str,
    found: &mut Diagnostics,
) {
    check_fields(node, known, path, what, None, found);
}

/// Reports unknown fields of `what`, which is below `path`. In a Template of the proposal's dialect,
/// a field in another case is an error; in OpenShift's dialect it means what it means to `oc`.
pub(crate) fn check_fields(
    node: Cursor<'_>,
    known: &[&'static str],
    path: impl Display + Copy,
    what: &str,
    dialect: Option<Dialect>,
    found: &mut Diagnostics,
) {
    let unknown = fields::unknown(node, known);
    report_fields(node, unknown, known, path, what, dialect, found);
}

/// As [`check_fields`], of fields that are not among `known`.
pub(crate) fn report_fields<'d>(
    node: Cursor<'d>,
    unknown: impl IntoIterator<Item = Unknown<'d>>,
    known: &[&'static str],
    path: impl Display + Copy,
    what: &str,
    dialect: Option<Dialect>,
    found: &mut Diagnostics,
) {
    for mut field in unknown {
        let key = field.key.as_ref();
        let in_other_case = known.iter().find(|name| folds_to(key, name)).copied();
        let is_type = in_other_case
            .is_some_and(|name| matches!(name, "apiVersion" | "kind") && node.get(name).is_none());
        let message = field.message(what);
        let diagnostic = match (dialect, in_other_case) {
            (Some(Dialect::Proposal), Some(_)) => Diagnostic::error(message),
            (Some(Dialect::OpenShift), Some(name)) if is_type => {
                Diagnostic::warning(format!("`{key}` is read as `{name}`"))
                    .hint(format!("write `{name}`"))
            }
            _ => Diagnostic::warning(message),
        };
        field.meant = match in_other_case {
            Some(_) if !diagnostic.hints.is_empty() => None,
            Some(name) => Some(name),
            None => field.meant,
        };
        found.push(field.locate(diagnostic.rule("unknown-field"), path));
    }
}

#[cfg(test)]
mod tests {
    use super::folds_to;

    #[test]
    fn names_fold_as_in_go() {
        for key in ["apiversion", "APIVERSION", "apiVer\u{17f}ion"] {
            assert!(folds_to(key, "apiVersion"), "{key}");
        }
        assert!(folds_to("\u{212a}ind", "kind"));
        assert!(!folds_to("apiVersions", "apiVersion"));
        assert!(!folds_to("k\u{131}nd", "kind"));
    }
}
