//! The ways in which a resource describes an object of Kubernetes.

use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Result};

use crate::expansion::Resource;
use crate::objects::kinds::{api_version_of, kind_of_plural};

/// The form of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Its properties have `apiVersion` and `kind`.
    Whole,
    /// Its type is a kind.
    Kind { api_version: &'static str, kind: String },
    /// Its type is a path in the API of a cluster, as a type provider of Google has it.
    Provider { api_version: String, kind: Option<&'static str> },
    /// It is not an object.
    Other,
}

/// The form of a resource.
pub(super) fn form(resource: &Resource<'_>) -> Result<Form> {
    let kind = resource.kind().unwrap_or_default();
    if let Some((api_version, plural)) = provider(kind) {
        return Ok(Form::Provider { kind: kind_of_plural(&api_version, plural), api_version });
    }
    let own = |key: &str| {
        let properties = resource.value.get("properties")?;
        properties.get(key).and_then(Value::as_str)
    };
    let (own_version, own_kind) = (own("apiVersion"), own("kind"));
    if let Some(api_version) = api_version_of(kind) {
        if let Some(found) = own_kind.filter(|found| *found != kind) {
            let message = format!("`kind` is `{found}`, but the type of the resource is `{kind}`");
            return Err(Diagnostic::error(message)
                .hint("remove `kind`, or change the type")
                .into());
        }
        if own_version.is_none() {
            return Ok(Form::Kind { api_version, kind: kind.to_owned() });
        }
        if own_kind.is_none() {
            return Err(Diagnostic::error("`kind` is missing beside `apiVersion`")
                .hint(format!("add `kind: {kind}`"))
                .into());
        }
    }
    match (own_version, own_kind) {
        (Some(_), Some(_)) => Ok(Form::Whole),
        (Some(_), None) if is_kind(kind) => {
            Err(Diagnostic::error("`kind` is missing beside `apiVersion`")
                .hint(format!("add `kind: {kind}`"))
                .into())
        }
        _ => Ok(Form::Other),
    }
}

/// Whether a type is spelled like a kind.
fn is_kind(kind: &str) -> bool {
    kind.starts_with(|first: char| first.is_ascii_uppercase())
        && kind.chars().all(|one| one.is_ascii_alphanumeric())
}

/// The API version and the collection of `PROJECT/PROVIDER:/api/v1/namespaces/{namespace}/services/{name}`.
fn provider(kind: &str) -> Option<(String, &str)> {
    let (_, path) = kind.split_once(":/")?;
    let mut parts = path.split('/');
    let api_version = match parts.next()? {
        "api" => parts.next()?.to_owned(),
        "apis" => {
            let group = parts.next()?;
            format!("{group}/{}", parts.next()?)
        }
        _ => return None,
    };
    let mut collections = parts.filter(|part| !part.is_empty() && !part.starts_with('{'));
    let first = collections.next()?;
    let plural = if first == "namespaces" { collections.next().unwrap_or(first) } else { first };
    Some((api_version, plural))
}

#[cfg(test)]
mod tests {
    use super::provider;

    #[test]
    fn the_path_of_a_provider_has_version_and_collection() {
        for (kind, expected) in [
            ("p/cluster:/api/v1/namespaces/{namespace}/services/{name}", Some(("v1", "services"))),
            (
                "p/c:/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
                Some(("apps/v1", "deployments")),
            ),
            ("p/c:/api/v1/namespaces/{name}", Some(("v1", "namespaces"))),
            ("p/c:/api/v1/namespaces", Some(("v1", "namespaces"))),
            ("gcp-types/compute-v1:instances", None),
            ("https://example.com/x.jinja", None),
        ] {
            let found = provider(kind);
            let found = found.as_ref().map(|(version, plural)| (version.as_str(), *plural));
            assert_eq!(found, expected, "{kind}");
        }
    }
}
