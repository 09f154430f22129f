//! A manifest with its layout as a tree.

use super::address::Address;
use super::node::{CONFIGURATION, Shown};
use super::texts::uses;
use super::tree::{Node, ROOT, nodes};
use crate::http::Answer;
use crate::ui::pages::{self, Branch, Data};
use crate::ui::visit::{Visit, html};
use krm_core::visible::counted;
use krm_template_server_core::{Result, Status, panics};
use krm_template_server_deployments::Manifest;
use minijinja::context;

/// The maximum number of nodes in the tree.
const MAX_NODES: usize = 1_000;
/// The maximum depth of the tree. Deeper nodes are shown at this depth.
const MAX_DEPTH: usize = 16;

pub(super) async fn page(visit: &Visit<'_>, address: &Address, name: &str) -> Result<Answer> {
    let service = &visit.state.deployments;
    let json = service.manifest(&address.target, name).await?;
    let others = if address.allows_manifests(visit, "list").await? {
        service.manifests(&address.target).await?
    } else {
        Vec::new()
    };
    let at = others.iter().position(|other| other == name);
    let earlier = at.and_then(|at| others.get(at.checked_sub(1)?));
    let later = at.and_then(|at| others.get(at + 1));
    let drawn = Drawing {
        address: Address { target: address.target.clone() },
        name: name.to_owned(),
        node: match visit.incoming.query.text("node") {
            "" => ROOT.to_owned(),
            node => node.to_owned(),
        },
    };
    let drawn = panics::blocking(&visit.state.metrics, move || drawn.of(&json)).await?;
    let page = context! {
        name => name.to_owned(),
        list => address.list(),
        deployment => address.deployment(),
        is_newest => at.is_some() && later.is_none(),
        earlier => earlier.map(|earlier| address.manifest(earlier)),
        later => later.map(|later| address.manifest(later)),
        changes => earlier.map(|earlier| address.changes(earlier, name)),
        count => drawn.count,
        root => pages::data(&drawn.root),
        left_out => drawn.left_out,
        node => drawn.node,
        uses => uses(visit, address, name),
    };
    let title = format!("{name} of {}", address.target.name);
    let frame = visit.frame("manifest", &title, &address.target.namespace);
    Ok(html(200, pages::render("deployment-manifest.html", &frame, page)?))
}

struct Drawing {
    address: Address,
    /// The name of the manifest.
    name: String,
    /// The path of the selected node.
    node: String,
}

struct Drawn {
    count: String,
    root: Branch,
    left_out: usize,
    node: Data,
}

impl Drawing {
    fn of(&self, json: &[u8]) -> Result<Drawn> {
        let manifest = Manifest::read(json)?;
        let nodes = nodes(&manifest);
        let shown =
            Shown { address: &self.address, name: &self.name, manifest: &manifest, nodes: &nodes };
        let node = if self.node == ROOT {
            shown.configuration()
        } else {
            let chosen = nodes.iter().find(|node| node.path == self.node);
            let missing = || Status::not_found("", "nodes", &self.node);
            shown.node(chosen.ok_or_else(missing)?)
        };
        Ok(Drawn {
            count: counted(manifest.resources.len(), "resource"),
            root: self.tree(&shown),
            left_out: nodes.len().saturating_sub(MAX_NODES),
            node,
        })
    }

    /// Returns the tree, with the configuration as its root.
    fn tree(&self, shown: &Shown<'_>) -> Branch {
        // The branches from the root to the last node. They can still get children.
        let mut open = vec![self.branch(shown, ROOT, CONFIGURATION, "")];
        for node in shown.nodes.iter().take(MAX_NODES) {
            let depth = node.depth.min(MAX_DEPTH);
            close(&mut open, depth + 1);
            let Node { path, name, kind, .. } = node;
            open.push(self.branch(shown, path, name, kind));
        }
        close(&mut open, 1);
        open.pop().unwrap_or_default()
    }

    fn branch(&self, shown: &Shown<'_>, path: &str, name: &str, kind: &str) -> Branch {
        Branch {
            href: shown.href(path),
            name: name.to_owned(),
            kind: kind.to_owned(),
            is_chosen: path == self.node,
            children: Vec::new(),
        }
    }
}

/// Adds branches to their parents until only `count` are open.
fn close(open: &mut Vec<Branch>, count: usize) {
    while open.len() > count {
        let Some(branch) = open.pop() else { return };
        if let Some(parent) = open.last_mut() {
            parent.children.push(branch);
        }
    }
}
