//! Kinds of OpenShift: Routes, DeploymentConfigs, BuildConfigs, ImageStreams and Templates.

mod builds;
mod deployments;
mod images;

pub(crate) use builds::build;
pub(crate) use deployments::deployment;
pub(crate) use images::binding;
