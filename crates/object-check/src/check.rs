//! Checks one object, of a built-in kind or a custom resource.

use krm_core::identity::group;
use krm_yaml::View;

use crate::custom::{self, Definitions};
use crate::finding::Finding;
use crate::functions::apply;
use crate::removed;
use crate::schema::{self, Schema};
use crate::walk::Walk;

/// How objects are checked.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// The minor version of Kubernetes 1.
    pub version: u8,
    /// Whether a text is only known later, as one with a reference to a parameter.
    pub is_placeholder: &'o dyn Fn(&str) -> bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { version: schema::LAST, is_placeholder: &|_| false }
    }
}

/// Reads a version of Kubernetes such as `1.33`.
///
/// # Errors
/// If its kinds are not known.
pub fn version(text: &str) -> Result<u8, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let minor = text.strip_prefix("1.").and_then(|rest| rest.split('.').next());
    let minor = minor.and_then(|minor| minor.parse().ok());
    minor
        .filter(|minor| (schema::FIRST..=schema::LAST).contains(minor))
        .ok_or_else(|| format!("expected 1.{} to 1.{}", schema::FIRST, schema::LAST))
}

/// The result of a check of an object.
#[derive(Debug, Default)]
pub struct Checked {
    /// Its mistakes.
    pub findings: Vec<Finding>,
    /// How many rules in CEL were not run.
    pub rules_not_run: usize,
}

/// Checks an object. `None` if its kind is not known.
pub fn check(object: View<'_>, definitions: &Definitions, options: Options<'_>) -> Option<Checked> {
    let api_version = object.str_at(&["apiVersion"])?;
    let kind = object.str_at(&["kind"])?;
    if let Some(custom) = definitions.get(&api_version, &kind) {
        let mut walk = Walk::new(
            object,
            group(&api_version),
            &kind,
            options.version,
            options.is_placeholder,
            apply,
        );
        let rules_not_run = custom::check(&mut walk, custom, object);
        return Some(Checked { findings: walk.found, rules_not_run });
    }
    check_built_in(object, &api_version, &kind, options)
        .map(|findings| Checked { findings, rules_not_run: 0 })
}

fn check_built_in(
    object: View<'_>,
    api_version: &str,
    kind: &str,
    options: Options<'_>,
) -> Option<Vec<Finding>> {
    let schema = Schema::get();
    let served = schema.kind(api_version, kind);
    let Some(served) =
        served.filter(|served| (served.since..=served.until).contains(&options.version))
    else {
        return removed::finding(object, api_version, kind, options.version)
            .map(|found| vec![found]);
    };
    let definition = schema.definition(served.definition)?;
    let kind = definition.name.rsplit('.').next()?;
    let mut walk =
        Walk::new(object, group(api_version), kind, options.version, options.is_placeholder, apply);
    walk.object(object, served.definition);
    Some(walk.found)
}
