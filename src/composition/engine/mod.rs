//! What a transformer is configured with, and what it may use while it runs.

pub(crate) mod provider;
pub(crate) mod transformer;
