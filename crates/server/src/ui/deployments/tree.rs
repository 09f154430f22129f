//! The nodes of a layout, with their resources.

use krm_template_deployment_manager::expansion::LayoutResource;
use krm_yaml::Value;

use super::texts::name;
use krm_template_server_deployments::Manifest;

/// The path of the configuration.
pub(super) const ROOT: &str = "$";

/// A node of a layout.
pub(super) struct Node<'m> {
    /// The path, in the same form as in the API: `$.resources[0].resources[2]`.
    pub(super) path: String,
    pub(super) name: String,
    pub(super) kind: String,
    /// The index of the node that created it; `None` if the configuration did.
    pub(super) parent: Option<usize>,
    /// The number of templates above it.
    pub(super) depth: usize,
    pub(super) entry: &'m LayoutResource<'static>,
    /// The expanded resource, if the node is not a template.
    pub(super) resource: Option<&'m Value<'static>>,
}

/// Returns all nodes of a manifest, each before the nodes that it created.
pub(super) fn nodes(manifest: &Manifest) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    let mut resources = manifest.resources.iter().peekable();
    // A stack of nodes to visit.
    let mut rest = Vec::new();
    push(&mut rest, &manifest.layout.resources, None, ROOT);
    while let Some((entry, parent, path)) = rest.pop() {
        let depth = parent.and_then(|parent| nodes.get(parent));
        let depth = depth.map_or(0, |parent: &Node<'_>| parent.depth + 1);
        // The resources are in layout order; a template that created nothing has none.
        let resource = resources.next_if(|resource| {
            let is = |field: &str, value: &Value<'_>| {
                resource.get(field).is_some_and(|own| name(own) == name(value))
            };
            entry.resources.is_empty() && is("name", &entry.name) && is("type", &entry.kind)
        });
        let number = nodes.len();
        push(&mut rest, &entry.resources, Some(number), &path);
        nodes.push(Node {
            path,
            name: name(&entry.name),
            kind: name(&entry.kind),
            parent,
            depth,
            entry,
            resource,
        });
    }
    nodes
}

type Pending<'m> = (&'m LayoutResource<'static>, Option<usize>, String);

fn push<'m>(
    rest: &mut Vec<Pending<'m>>,
    entries: &'m [LayoutResource<'static>],
    parent: Option<usize>,
    path: &str,
) {
    let entries = entries.iter().enumerate().rev();
    rest.extend(
        entries.map(|(index, entry)| (entry, parent, format!("{path}.resources[{index}]"))),
    );
}
