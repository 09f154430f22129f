//! Authorization by Kubernetes RBAC objects from files.
//!
//! Source: `plugin/pkg/auth/authorizer/rbac` and `pkg/registry/rbac` of Kubernetes.

mod builtin;
mod labels;
mod model;
mod policy;
mod read;

pub use labels::{Operator, Requirement, Selector};
pub use model::{Binding, Role, RoleKey, Rule, Subject};
pub use policy::Policy;
