//! A kustomize on this machine.

/// The kustomize that is installed.
#[derive(Clone, Debug)]
pub(super) struct Installed {
    pub(super) program: &'static [&'static str],
    pub(super) version: String,
}
