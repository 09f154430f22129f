//! What a transformer is configured with, and what it may use while it runs.

pub(crate) mod context;
pub(crate) mod functions;
pub(crate) mod program;
pub(crate) mod step;
pub(crate) mod transformer;
