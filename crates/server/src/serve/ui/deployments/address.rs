//! Addresses of pages, and their authorization by the paths of the API.

use super::super::visit::{Visit, encoded};
use crate::pages::Crumb;
use crate::wire::path::DEFAULT_NAMESPACE;
use krm_template_server_core::auth::Attributes;
use krm_template_server_core::status::Result;
use krm_template_server_deployments::deployments::Target;

/// The address of the list.
pub(in crate::serve::ui) const HOME: &str = "/ui/deployments";

/// The address of the pages of a deployment.
pub(super) struct Address {
    pub(super) target: Target,
}

impl Address {
    /// Returns the address of a deployment in the namespace of the query.
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

    /// Returns a link to the list of its namespace.
    pub(super) fn list(&self) -> Crumb {
        let namespace = &self.target.namespace;
        Crumb {
            href: format!("{HOME}?namespace={}", encoded(namespace)),
            text: namespace.clone(),
        }
    }

    /// Returns a link to its page.
    pub(super) fn deployment(&self) -> Crumb {
        let Target { namespace, name } = &self.target;
        Crumb {
            href: format!("{HOME}/{}?namespace={}", encoded(name), encoded(namespace)),
            text: name.clone(),
        }
    }

    /// Returns a link to the page of a manifest.
    pub(super) fn manifest(&self, manifest: &str) -> Crumb {
        Crumb {
            href: self.below(manifest, &[]),
            text: manifest.to_owned(),
        }
    }

    /// Returns the address of the page of a manifest with a selected node.
    pub(super) fn node(&self, manifest: &str, node: &str) -> String {
        self.below(manifest, &[("node", node)]) + "#node"
    }

    /// Returns the address of the page that compares two manifests.
    pub(super) fn changes(&self, from: &str, to: &str) -> String {
        self.below("diff", &[("from", from), ("to", to)])
    }

    /// Returns the address of the page for choosing two manifests.
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

    /// Returns the API path of the deployment.
    pub(super) fn path(&self) -> String {
        path(&self.target.name)
    }

    /// Returns the API path of its manifests.
    pub(super) fn manifests_path(&self) -> String {
        self.path() + "/manifests"
    }

    /// Returns the API path of a manifest.
    pub(super) fn manifest_path(&self, manifest: &str) -> String {
        format!("{}/{}", self.manifests_path(), encoded(manifest))
    }
}

/// Returns the API path of a deployment.
pub(super) fn path(name: &str) -> String {
    format!("/deployments/{}", encoded(name))
}

/// Checks that the user may read an API path.
///
/// # Errors
/// 403 if the user may not read it.
pub(super) async fn check(visit: &Visit<'_>, path: &str) -> Result<()> {
    let wanted = Attributes {
        verb: "get",
        path: Some(path),
        ..Attributes::default()
    };
    visit.state.authorize(&visit.user, &wanted).await
}

/// Returns `true` if the user may read an API path.
///
/// # Errors
/// If the authorization check fails.
pub(super) async fn is_allowed(visit: &Visit<'_>, path: &str) -> Result<bool> {
    match check(visit, path).await {
        Ok(()) => Ok(true),
        Err(status) if status.code == 403 => Ok(false),
        Err(status) => Err(status),
    }
}
