//! The data of the pages about deployments.

use minijinja::context;
use serde::Serialize;

use super::render::{Frame, Html, data, render};
use super::usage::Use;
use crate::status::Result;

/// A time, as it is stored and in words.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// In the form of RFC 3339.
    pub at: String,
    /// In words, such as `3 days ago`.
    pub ago: String,
}

/// A link whose text is data.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Crumb {
    /// Its address.
    pub href: String,
    /// Its text.
    pub text: String,
}

/// The deployments of a namespace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DeploymentList {
    /// How many there are.
    pub count: String,
    /// The deployments.
    pub rows: Vec<DeploymentRow>,
    /// The address of the next page.
    pub next: Option<String>,
    /// Whether this is the first page.
    pub is_first: bool,
    /// The command that creates one.
    pub command: String,
    /// Whether the server applies nothing to a cluster.
    pub expands_only: bool,
}

/// A deployment in the list.
#[derive(Clone, Debug, Serialize)]
pub struct DeploymentRow {
    /// The address of its page.
    pub href: String,
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The rest, if the user may see it.
    pub more: Option<RowDetails>,
}

/// What the list shows of a deployment that the user may get.
#[derive(Clone, Debug, Serialize)]
pub struct RowDetails {
    /// Its state.
    pub state: String,
    /// Its newest manifest.
    pub manifest: String,
    /// When it was changed last.
    pub modified: Moment,
}

/// A deployment.
#[derive(Clone, Debug, Serialize)]
pub struct DeploymentPage {
    /// Its name.
    pub name: String,
    /// The list that it is in.
    pub list: Crumb,
    /// Its state.
    pub state: String,
    /// What to know about it.
    pub message: String,
    /// The errors of its last change.
    pub errors: Vec<String>,
    /// When it was created.
    pub created: Moment,
    /// When it was changed last.
    pub modified: Moment,
    /// Whether an operation is at work.
    pub is_busy: bool,
    /// The manifests that are kept, the newest first; nothing if the user may not list them.
    pub manifests: Option<Vec<ManifestRow>>,
    /// The last operations, the newest first.
    pub operations: Vec<OperationRow>,
    /// Whether some operations are not for this user.
    pub hides_operations: bool,
    /// The resources of the newest manifest.
    pub resources: Vec<ResourceRow>,
    /// How many resources there are.
    pub resource_count: usize,
    /// The objects in the cluster, and those that the last operation was about.
    pub objects: Vec<StepRow>,
    /// How many objects there are.
    pub object_count: usize,
    /// The outputs of the configuration.
    pub outputs: Html,
    /// Commands of the client.
    pub uses: Vec<Use>,
}

/// A manifest of a deployment.
#[derive(Clone, Debug, Serialize)]
pub struct ManifestRow {
    /// The address of its page.
    pub href: String,
    /// Its name.
    pub name: String,
    /// Whether it is the newest one.
    pub is_newest: bool,
    /// When it was made, if that is known.
    pub made: Option<Moment>,
    /// The address of the comparison with the one before.
    pub changes: Option<String>,
}

/// An operation.
#[derive(Clone, Debug, Serialize)]
pub struct OperationRow {
    /// Its name.
    pub name: String,
    /// What it does.
    pub change: String,
    /// How far it is.
    pub state: String,
    /// The manifest that it makes.
    pub manifest: String,
    /// The user that asked for it.
    pub user: String,
    /// When it began.
    pub started: Moment,
    /// How it ended.
    pub message: String,
    /// Its errors.
    pub errors: Vec<String>,
}

/// A resource of a manifest.
#[derive(Clone, Debug, Serialize)]
pub struct ResourceRow {
    /// The address of its node in the layout.
    pub href: String,
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
}

/// An object of a cluster.
#[derive(Clone, Debug, Serialize)]
pub struct StepRow {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace; empty if its kind has none.
    pub namespace: String,
    /// What was done with it.
    pub what: String,
    /// What there is to add.
    pub message: String,
}

/// A manifest.
#[derive(Clone, Debug, Serialize)]
pub struct ManifestPage {
    /// Its name.
    pub name: String,
    /// The list of deployments.
    pub list: Crumb,
    /// The deployment.
    pub deployment: Crumb,
    /// Whether it is the newest one.
    pub is_newest: bool,
    /// The manifest before it.
    pub earlier: Option<Crumb>,
    /// The manifest after it.
    pub later: Option<Crumb>,
    /// The address of the comparison with the one before.
    pub changes: Option<String>,
    /// How many templates and resources there are.
    pub count: String,
    /// The configuration, as the root of the tree.
    pub root: Branch,
    /// How many nodes of the tree are not shown.
    pub left_out: usize,
    /// The node that was chosen.
    pub node: NodeView,
    /// Commands of the client.
    pub uses: Vec<Use>,
}

/// A node of the tree.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Branch {
    /// The address of the page with it.
    pub href: String,
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Whether it was chosen.
    pub is_chosen: bool,
    /// What its template created.
    pub children: Vec<Self>,
}

/// What a node of the tree is.
#[derive(Clone, Debug, Serialize)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its path in the layout.
    pub path: String,
    /// The nodes above it.
    pub above: Vec<Crumb>,
    /// What it comes from.
    pub origin: Option<Crumb>,
    /// Its texts.
    pub parts: Vec<Part>,
}

/// A text with a title.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// What it is.
    pub title: &'static str,
    /// The name of the file that it is, if it is one.
    pub file: String,
    /// The text in HTML.
    pub code: Html,
    /// Whether it is shown at once.
    pub is_open: bool,
    /// Whether its end is left out.
    pub is_cut: bool,
}

/// What two manifests differ in.
#[derive(Clone, Debug, Serialize)]
pub struct ChangesPage {
    /// The list of deployments.
    pub list: Crumb,
    /// The deployment.
    pub deployment: Crumb,
    /// The older manifest.
    pub from: Crumb,
    /// The newer manifest.
    pub to: Crumb,
    /// The manifests to choose from.
    pub manifests: Vec<String>,
    /// The address of the comparison.
    pub action: String,
    /// How much has changed.
    pub count: String,
    /// The texts that differ.
    pub texts: Vec<ChangedText>,
    /// Whether the end is left out.
    pub is_cut: bool,
}

/// A text that differs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChangedText {
    /// What it is.
    pub title: String,
    /// How many lines were added.
    pub added: usize,
    /// How many lines were removed.
    pub removed: usize,
    /// The lines of the unified diff.
    pub lines: Vec<DiffLine>,
}

/// A line of a unified diff.
#[derive(Clone, Debug, Serialize)]
pub struct DiffLine {
    /// The element that shows it.
    pub element: &'static str,
    /// The line with its sign.
    pub text: String,
}

/// The list of deployments.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn deployments(frame: &Frame, list: &DeploymentList) -> Result<String> {
    shown("deployments.html", frame, list)
}

/// A deployment.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn deployment(frame: &Frame, page: &DeploymentPage) -> Result<String> {
    shown("deployment.html", frame, page)
}

/// A manifest.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn manifest(frame: &Frame, page: &ManifestPage) -> Result<String> {
    shown("deployment-manifest.html", frame, page)
}

/// What two manifests differ in.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn changes(frame: &Frame, page: &ChangesPage) -> Result<String> {
    shown("deployment-changes.html", frame, page)
}

fn shown(name: &str, frame: &Frame, page: &impl Serialize) -> Result<String> {
    render(name, context! { frame => data(frame), page => data(page) })
}
