//! Addresses, and the rights to what they show: those of the API's paths.

use super::super::visit::{Visit, encoded};
use crate::auth::Attributes;
use crate::deployments::Target;
use crate::pages::Crumb;
use crate::status::Result;
use crate::wire::path::DEFAULT_NAMESPACE;

/// The address of the list.
pub(in crate::serve::ui) const HOME: &str = "/ui/deployments";

/// The deployment that a page is about.
pub(super) struct Place {
    pub(super) target: Target,
}

impl Place {
    /// A deployment in the namespace of the query.
    pub(super) fn of(visit: &Visit<'_>, name: &str) -> Self {
        let namespace = visit.incoming.query.first("namespace");
        let namespace = namespace.filter(|name| !name.is_empty());
        Self {
            target: Target {
                namespace: namespace.unwrap_or(DEFAULT_NAMESPACE).to_owned(),
                name: name.to_owned(),
            },
        }
    }

    /// The list of its namespace.
    pub(super) fn list(&self) -> Crumb {
        let namespace = &self.target.namespace;
        Crumb {
            href: format!("{HOME}?namespace={}", encoded(namespace)),
            text: namespace.clone(),
        }
    }

    /// Its page.
    pub(super) fn deployment(&self) -> Crumb {
        let Target { namespace, name } = &self.target;
        Crumb {
            href: format!("{HOME}/{}?namespace={}", encoded(name), encoded(namespace)),
            text: name.clone(),
        }
    }

    /// The page of a manifest.
    pub(super) fn manifest(&self, manifest: &str) -> Crumb {
        Crumb {
            href: self.below(manifest, &[]),
            text: manifest.to_owned(),
        }
    }

    /// The page of a manifest with a node that was chosen.
    pub(super) fn node(&self, manifest: &str, node: &str) -> String {
        self.below(manifest, &[("node", node)]) + "#node"
    }

    /// The page with what two manifests differ in.
    pub(super) fn changes(&self, from: &str, to: &str) -> String {
        self.below("diff", &[("from", from), ("to", to)])
    }

    /// The page to choose two manifests.
    pub(super) fn choice(&self) -> String {
        format!("{HOME}/{}/manifests/diff", encoded(&self.target.name))
    }

    fn below(&self, manifest: &str, query: &[(&str, &str)]) -> String {
        let Target { namespace, name } = &self.target;
        let more: Vec<String> = query
            .iter()
            .map(|(key, value)| format!("&{key}={}", encoded(value)))
            .collect();
        format!(
            "{HOME}/{}/manifests/{}?namespace={}{}",
            encoded(name),
            encoded(manifest),
            encoded(namespace),
            more.concat()
        )
    }

    /// The path of the API for the deployment.
    pub(super) fn path(&self) -> String {
        path(&self.target.name)
    }

    /// The path of the API for its manifests.
    pub(super) fn manifests_path(&self) -> String {
        self.path() + "/manifests"
    }

    /// The path of the API for a manifest.
    pub(super) fn manifest_path(&self, manifest: &str) -> String {
        format!("{}/{}", self.manifests_path(), encoded(manifest))
    }
}

/// The path of the API for a deployment.
pub(super) fn path(name: &str) -> String {
    format!("/deployments/{}", encoded(name))
}

/// Checks that the user may read a path of the API.
///
/// # Errors
/// 403 if not.
pub(super) async fn check(visit: &Visit<'_>, path: &str) -> Result<()> {
    let wanted = Attributes {
        verb: "get",
        path: Some(path),
        ..Attributes::default()
    };
    visit.state.authorize(&visit.user, &wanted).await
}

/// Whether the user may read a path of the API.
///
/// # Errors
/// If that is not known.
pub(super) async fn is_allowed(visit: &Visit<'_>, path: &str) -> Result<bool> {
    match check(visit, path).await {
        Ok(()) => Ok(true),
        Err(status) if status.code == 403 => Ok(false),
        Err(status) => Err(status),
    }
}
