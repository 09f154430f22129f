//! Values written back over the text they were read from, or afresh.

pub(crate) mod anchors;
pub(crate) mod children;
pub(crate) mod comments;
pub(crate) mod compare;
pub(crate) mod edited;
pub(crate) mod emit;
pub(crate) mod enclosing;
pub(crate) mod flow;
pub(crate) mod guard;
pub(crate) mod kept;
mod readback;
pub(crate) mod removal;
pub(crate) mod render;
pub(crate) mod replace;
pub(crate) mod rewrite;
pub(crate) mod shifted;
