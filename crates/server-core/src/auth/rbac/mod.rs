//! Authorization by Kubernetes RBAC objects from files.
//!
//! Source: `plugin/pkg/auth/authorizer/rbac` and `pkg/registry/rbac` of Kubernetes.

mod model;
mod policy;
mod read;

pub use model::{Binding, RoleKey, Rule, Subject};
pub use policy::Policy;
