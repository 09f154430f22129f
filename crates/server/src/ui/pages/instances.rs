//! The data of the pages about instances.

use serde::Serialize;

use super::deployments::{ChangedText, Crumb, Moment, StepRow, shown};
use super::render::Frame;
use krm_template_server_core::status::Result;

/// The page with the instances of a namespace.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InstanceList {
    /// The first instances, sorted by namespace and name.
    pub rows: Vec<InstanceRow>,
    /// The number of all instances in words.
    pub count: String,
    /// Whether instances are left out.
    pub is_cut: bool,
}

/// An instance in the list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InstanceRow {
    /// The address of its page.
    pub href: String,
    /// The name, linked to its page.
    pub name: String,
    /// The namespace of the instance.
    pub namespace: String,
    /// The name of the Template.
    pub template: String,
    /// How the state is shown.
    pub tone: &'static str,
    /// The reason of the condition `Ready`.
    pub reason: String,
}

/// The page of an instance.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InstancePage {
    /// The instance, as in the list.
    pub row: InstanceRow,
    /// A link to the list of instances.
    pub list: Crumb,
    /// The message of the condition `Ready`.
    pub message: String,
    /// The message that an upgrade is available; empty if none is.
    pub upgrade: String,
    /// The first recorded objects.
    pub objects: Vec<StepRow>,
    /// The number of all objects.
    pub object_count: usize,
    /// The revisions, the latest first; `None` if the user may not read them.
    pub revisions: Option<Vec<RevisionRow>>,
    /// The parameters of an upgrade; `None` if the user may not change the instance.
    pub parameters: Option<Vec<ParameterRow>>,
    /// The changes that the entered values would make.
    pub preview: Option<PreviewView>,
}

/// A revision of an instance.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RevisionRow {
    /// The number, from 1.
    pub number: u64,
    /// How the outcome is shown.
    pub tone: &'static str,
    /// The reason with which it ended.
    pub outcome: String,
    /// The user whose change it was.
    pub user: String,
    /// When the change was applied.
    pub time: Moment,
}

/// A parameter of an upgrade.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ParameterRow {
    /// The name in the Template.
    pub name: String,
    /// The value, empty for the default.
    pub value: String,
}

/// The changes of an upgrade.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PreviewView {
    /// The generation of the instance that was compared.
    pub generation: i64,
    /// The changed objects.
    pub texts: Vec<ChangedText>,
    /// The number of objects that stay as they are, in words.
    pub unchanged: String,
    /// The errors of objects that the cluster refuses.
    pub failures: Vec<String>,
}

/// Renders the list of instances.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn instances(frame: &Frame, list: &InstanceList) -> Result<String> {
    shown("instances.html", frame, list)
}

/// Renders an instance.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn instance(frame: &Frame, page: &InstancePage) -> Result<String> {
    shown("instance.html", frame, page)
}
