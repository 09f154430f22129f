//! The data of the pages about deployments.

use minijinja::context;
use serde::Serialize;

use super::render::{Frame, Html, data, render};
use super::usage::Use;
use crate::status::Result;

/// A timestamp, and its age in words.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// The timestamp in RFC 3339 format.
    pub at: String,
    /// The age in words, such as `3 days ago`.
    pub ago: String,
}

/// A link whose text is data.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Crumb {
    /// The address.
    pub href: String,
    /// The text.
    pub text: String,
}

/// The page with the deployments of a namespace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DeploymentList {
    /// The number of deployments in words.
    pub count: String,
    /// The deployments.
    pub rows: Vec<DeploymentRow>,
    /// The address of the next page.
    pub next: Option<String>,
    /// Whether this is the first page.
    pub is_first: bool,
    /// The command that creates a deployment.
    pub command: String,
    /// Whether the server only expands and applies nothing to a cluster.
    pub expands_only: bool,
}

/// A deployment in the list.
#[derive(Clone, Debug, Serialize)]
pub struct DeploymentRow {
    /// The address of its page.
    pub href: String,
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// The details, if the user may see them.
    pub more: Option<RowDetails>,
}

/// The details of a deployment in the list.
#[derive(Clone, Debug, Serialize)]
pub struct RowDetails {
    /// The state.
    pub state: String,
    /// The name of its latest manifest.
    pub manifest: String,
    /// When it was last changed.
    pub modified: Moment,
}

/// The page of a deployment.
#[derive(Clone, Debug, Serialize)]
pub struct DeploymentPage {
    /// The name.
    pub name: String,
    /// A link to the list of deployments.
    pub list: Crumb,
    /// The state.
    pub state: String,
    /// A sentence about the state.
    pub message: String,
    /// The errors of its last change.
    pub errors: Vec<String>,
    /// When it was created.
    pub created: Moment,
    /// When it was last changed.
    pub modified: Moment,
    /// Whether an operation is running.
    pub is_busy: bool,
    /// The kept manifests, the latest first; `None` if the user may not list them.
    pub manifests: Option<Vec<ManifestRow>>,
    /// The last operations, the latest first.
    pub operations: Vec<OperationRow>,
    /// Whether the user may not see some operations.
    pub hides_operations: bool,
    /// The first resources of the latest manifest.
    pub resources: Vec<ResourceRow>,
    /// The number of all resources.
    pub resource_count: usize,
    /// The first objects of the last operation and in the cluster.
    pub objects: Vec<StepRow>,
    /// The number of all objects.
    pub object_count: usize,
    /// The outputs of the configuration.
    pub outputs: Html,
    /// Client commands.
    pub uses: Vec<Use>,
}

/// A manifest of a deployment.
#[derive(Clone, Debug, Serialize)]
pub struct ManifestRow {
    /// The address of its page.
    pub href: String,
    /// The name.
    pub name: String,
    /// Whether it is the latest one.
    pub is_newest: bool,
    /// When it was created, if known.
    pub made: Option<Moment>,
    /// The address of the comparison with the previous manifest.
    pub changes: Option<String>,
}

/// An operation.
#[derive(Clone, Debug, Serialize)]
pub struct OperationRow {
    /// The name.
    pub name: String,
    /// The kind of change.
    pub change: String,
    /// The state.
    pub state: String,
    /// The manifest that it creates.
    pub manifest: String,
    /// The user who requested it.
    pub user: String,
    /// When it started.
    pub started: Moment,
    /// A sentence about the result.
    pub message: String,
    /// The errors.
    pub errors: Vec<String>,
}

/// A resource of a manifest.
#[derive(Clone, Debug, Serialize)]
pub struct ResourceRow {
    /// The address of its node in the layout.
    pub href: String,
    /// The name.
    pub name: String,
    /// The type.
    pub kind: String,
}

/// An object in a cluster.
#[derive(Clone, Debug, Serialize)]
pub struct StepRow {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The namespace; empty if its kind has none.
    pub namespace: String,
    /// The result of the last step.
    pub what: String,
    /// A message about the result; may be empty.
    pub message: String,
}

/// The page of a manifest.
#[derive(Clone, Debug, Serialize)]
pub struct ManifestPage {
    /// The name.
    pub name: String,
    /// A link to the list of deployments.
    pub list: Crumb,
    /// A link to the deployment.
    pub deployment: Crumb,
    /// Whether it is the latest one.
    pub is_newest: bool,
    /// A link to the previous manifest.
    pub earlier: Option<Crumb>,
    /// A link to the next manifest.
    pub later: Option<Crumb>,
    /// The address of the comparison with the previous manifest.
    pub changes: Option<String>,
    /// The number of resources in words.
    pub count: String,
    /// The configuration, as the root of the tree.
    pub root: Branch,
    /// The number of nodes that the tree does not show.
    pub left_out: usize,
    /// The selected node.
    pub node: NodeView,
    /// Client commands.
    pub uses: Vec<Use>,
}

/// A node of the tree.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Branch {
    /// The address of the page with the node.
    pub href: String,
    /// The name.
    pub name: String,
    /// The type.
    pub kind: String,
    /// Whether it is selected.
    pub is_chosen: bool,
    /// The nodes that its template created.
    pub children: Vec<Self>,
}

/// The details of a node.
#[derive(Clone, Debug, Serialize)]
pub struct NodeView {
    /// The name.
    pub name: String,
    /// The type.
    pub kind: String,
    /// The path in the layout.
    pub path: String,
    /// Links to the nodes above it.
    pub above: Vec<Crumb>,
    /// A link to its origin.
    pub origin: Option<Crumb>,
    /// The texts.
    pub parts: Vec<Part>,
}

/// A text with a title.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// The title.
    pub title: &'static str,
    /// The file name; empty if it is not a file.
    pub file: String,
    /// The text as HTML.
    pub code: Html,
    /// Whether it is expanded at first.
    pub is_open: bool,
    /// Whether the end is left out.
    pub is_cut: bool,
}

/// The page that compares two manifests.
#[derive(Clone, Debug, Serialize)]
pub struct ChangesPage {
    /// A link to the list of deployments.
    pub list: Crumb,
    /// A link to the deployment.
    pub deployment: Crumb,
    /// A link to the older manifest.
    pub from: Crumb,
    /// A link to the newer manifest.
    pub to: Crumb,
    /// The manifests to choose from.
    pub manifests: Vec<String>,
    /// The address that the form is submitted to.
    pub action: String,
    /// The number of changed lines in words.
    pub count: String,
    /// The texts that differ.
    pub texts: Vec<ChangedText>,
    /// Whether the end is left out.
    pub is_cut: bool,
}

/// A text that differs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChangedText {
    /// The title.
    pub title: String,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// The lines of the unified diff.
    pub lines: Vec<DiffLine>,
}

/// A line of a unified diff.
#[derive(Clone, Debug, Serialize)]
pub struct DiffLine {
    /// The HTML element.
    pub element: &'static str,
    /// The line with its sign.
    pub text: String,
}

/// Renders the list of deployments.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub fn deployments(frame: &Frame, list: &DeploymentList) -> Result<String> {
    shown("deployments.html", frame, list)
}

/// Renders a deployment.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub fn deployment(frame: &Frame, page: &DeploymentPage) -> Result<String> {
    shown("deployment.html", frame, page)
}

/// Renders a manifest.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub fn manifest(frame: &Frame, page: &ManifestPage) -> Result<String> {
    shown("deployment-manifest.html", frame, page)
}

/// Renders the differences between two manifests.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub fn changes(frame: &Frame, page: &ChangesPage) -> Result<String> {
    shown("deployment-changes.html", frame, page)
}

fn shown(name: &str, frame: &Frame, page: &impl Serialize) -> Result<String> {
    render(name, context! { frame => data(frame), page => data(page) })
}
