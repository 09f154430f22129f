//! Options that several commands have.

pub(crate) mod deferred;
pub(crate) mod environment;
pub(crate) mod fail_on;
pub(crate) mod files;
pub(crate) mod object_check;
pub(crate) mod suggested;
