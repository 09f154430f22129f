//! Addresses of pages, and the rights to what they show.

use crate::deployments::rights;
use crate::request::DEFAULT_NAMESPACE;
use crate::ui::pages::Data;
use crate::ui::visit::{Visit, encoded};
use krm_template_server_core::{Attributes, Result};
use krm_template_server_deployments::Target;
use minijinja::context;

/// The address of the list.
pub(in crate::ui) const HOME: &str = "/ui/deployments";

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
    pub(super) fn list(&self) -> Data {
        let namespace = &self.target.namespace;
        context! { href => format!("{HOME}?namespace={}", encoded(namespace)), text => namespace.clone() }
    }

    /// Returns the address of its page.
    pub(super) fn page(&self) -> String {
        let Target { namespace, name } = &self.target;
        format!("{HOME}/{}?namespace={}", encoded(name), encoded(namespace))
    }

    /// Returns a link to its page.
    pub(super) fn deployment(&self) -> Data {
        context! { href => self.page(), text => self.target.name.as_str() }
    }

    /// Returns a link to the page of a manifest.
    pub(super) fn manifest(&self, manifest: &str) -> Data {
        context! { href => self.below(manifest, &[]), text => manifest.to_owned() }
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

    /// Returns the address of a page below it.
    pub(super) fn below(&self, manifest: &str, query: &[(&str, &str)]) -> String {
        let Target { namespace, name } = &self.target;
        let more: Vec<String> =
            query.iter().map(|(key, value)| format!("&{key}={}", encoded(value))).collect();
        format!(
            "{HOME}/{}/manifests/{}?namespace={}{}",
            encoded(name),
            encoded(manifest),
            encoded(namespace),
            more.concat()
        )
    }

    /// Returns the right to do something with its manifests.
    fn manifests<'a>(&'a self, verb: &'a str) -> Attributes<'a> {
        rights::to_manifests(verb, &self.target.namespace, &self.target.name)
    }

    /// Checks that the user may read its manifests.
    ///
    /// # Errors
    /// 403 if the user may not read them.
    pub(super) async fn check_manifests(&self, visit: &Visit<'_>) -> Result<()> {
        let wanted = self.manifests("get");
        visit.state.authorize(&visit.user, &wanted).await
    }

    /// Returns `true` if the user may do something with its manifests.
    pub(super) async fn allows_manifests(&self, visit: &Visit<'_>, verb: &str) -> Result<bool> {
        let wanted = self.manifests(verb);
        visit.state.allows(&visit.user, &wanted).await
    }

    /// Returns `true` if the user may read its operations.
    pub(super) async fn allows_operations(&self, visit: &Visit<'_>) -> Result<bool> {
        let wanted = rights::to_operations(&self.target.namespace, &self.target.name);
        visit.state.allows(&visit.user, &wanted).await
    }
}
