//! Field ownership: `metadata.managedFields`, and server-side apply.
//!
//! The rules are the same as in kube-apiserver. Templates are flat, so a few shapes replace a
//! general merge by schema.
//!
//! Source: `managedfields` of `k8s.io/apimachinery`, `sigs.k8s.io/structured-merge-diff`.

mod apply;
mod field_set;
mod managers;
mod shape;
mod update;

pub use apply::apply;
pub use managers::Writer;
pub use update::track_update;
