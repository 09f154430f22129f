//! A file or a folder for each command.

pub(crate) mod build;
pub(crate) mod completion;
#[cfg(feature = "deployment-manager")]
pub(crate) mod dm;
pub(crate) mod edit;
mod expansion;
pub(crate) mod explain;
pub(crate) mod export;
#[cfg(feature = "form")]
pub(crate) mod form;
pub(crate) mod function;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod parameters;
pub(crate) mod process;
pub(crate) mod schema;
pub(crate) mod validate;
