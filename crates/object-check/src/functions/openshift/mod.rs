//! Kinds of OpenShift: Routes, DeploymentConfigs, BuildConfigs, ImageStreams and Templates.

mod builds;
mod deployments;
mod images;
mod routes;

pub(crate) use builds::build;
pub(crate) use deployments::deployment;
pub(crate) use images::{binding, stream, template};
pub(crate) use routes::route;
