//! The web pages, from plain data to HTML.
//!
//! | file | purpose |
//! |---|---|
//! | `render` | the templates of the pages, and their data |
//! | `deployments` | the data of the pages about deployments |
//! | `instances` | the data of the pages about instances |
//! | `usage` | commands and files for the same expansion elsewhere, without secrets |
//! | `code` | YAML with syntax highlighting |
//! | `assets` | style sheets and the script |

mod assets;
mod code;
mod deployments;
mod instances;
mod render;
mod usage;

pub(crate) use assets::asset;
pub(crate) use code::{object, text};
pub(crate) use deployments::{
    Branch, ChangedText, ChangesPage, Crumb, DeploymentList, DeploymentPage, DeploymentRow,
    DiffLine, ManifestPage, ManifestRow, Moment, NodeView, OperationRow, Part, ResourceRow,
    RowDetails, StepRow, changes, deployment, deployments, manifest,
};
pub(crate) use instances::{
    InstanceList, InstancePage, InstanceRow, ParameterRow, PreviewView, RevisionRow, instance,
    instances,
};
pub(crate) use render::{
    FormPage, Frame, Html, Link, List, LoginPage, MessagePage, ObjectView, Output, ResultView, Row,
    TONES, Tag, UploadPage, form, hashes, list, login, message, output, summary, upload,
};
pub(crate) use usage::{Usage, Use, quoted};
