//! The details of a node of the tree: its resource or template, and its origin.

use super::address::Address;
use super::texts::{part, value};
use super::tree::{Node, ROOT};
use crate::ui::pages::Data;
use krm_template_server_deployments::Manifest;
use minijinja::context;

/// The name of the root node, the configuration.
pub(super) const CONFIGURATION: &str = "configuration";

/// The data for rendering nodes.
pub(super) struct Shown<'m> {
    pub(super) address: &'m Address,
    /// The name of the manifest.
    pub(super) name: &'m str,
    pub(super) manifest: &'m Manifest,
    pub(super) nodes: &'m [Node<'m>],
}

impl Shown<'_> {
    /// Returns the address of the page with a node.
    pub(super) fn href(&self, path: &str) -> String {
        self.address.node(self.name, path)
    }

    pub(super) fn configuration(&self) -> Data {
        let mut parts = vec![part(0, "Configuration", &self.manifest.configuration)];
        if let Some(outputs) = &self.manifest.layout.outputs {
            parts.push(value(1, "Outputs", outputs));
        }
        for (number, import) in self.manifest.imports.iter().enumerate() {
            parts.push(context! {
                file => import.name.clone(),
                is_open => false,
                ..part(number + 2, "Import", &import.content)
            });
        }
        context! {
            name => CONFIGURATION,
            path => ROOT,
            parts,
        }
    }

    /// Renders a node of the layout.
    pub(super) fn node(&self, node: &Node<'_>) -> Data {
        let parent = node.parent.and_then(|parent| self.nodes.get(parent));
        let mut parts = Vec::new();
        if let Some(resource) = node.resource {
            parts.push(value(0, "Resource", resource));
        }
        if let Some(properties) = &node.entry.properties {
            parts.push(value(1, "Properties", properties));
        }
        if let Some(outputs) = &node.entry.outputs {
            parts.push(value(2, "Outputs", outputs));
        }
        if node.resource.is_none()
            && let Some(template) = self.manifest.import(&node.kind)
        {
            parts.push(context! {
                file => template.name.clone(),
                ..part(3, "Template", &template.content)
            });
        }
        let template = parent.map(|parent| self.manifest.import(&parent.kind));
        parts.extend(match template {
            None => Some(context! {
                is_open => false,
                ..part(4, "Configuration that contains it", &self.manifest.configuration)
            }),
            Some(template) => template.map(|template| {
                context! {
                    file => template.name.clone(),
                    is_open => node.resource.is_some(),
                    ..part(4, "Template that created it", &template.content)
                }
            }),
        });
        context! {
            name => node.name.clone(),
            kind => node.kind.clone(),
            path => node.path.clone(),
            above => self.above(node),
            origin => Some(match parent {
                None => context! { href => self.href(ROOT), text => CONFIGURATION },
                Some(parent) => context! { href => self.href(&parent.path), text => parent.kind.clone() },
            }),
            parts,
        }
    }

    /// Returns the nodes above a node, from the configuration down.
    fn above(&self, node: &Node<'_>) -> Vec<Data> {
        let mut above = Vec::new();
        let mut next = node.parent;
        while let Some(parent) = next.and_then(|number| self.nodes.get(number)) {
            above.push(context! { href => self.href(&parent.path), text => parent.name.clone() });
            next = parent.parent;
        }
        above.push(context! { href => self.href(ROOT), text => CONFIGURATION });
        above.reverse();
        above
    }
}
