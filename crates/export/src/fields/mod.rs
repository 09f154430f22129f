//! Knowledge about kinds, as tables.

pub(super) mod credentials;
pub(super) mod kinds;
pub(super) mod left_out;
pub(super) mod names;
pub(super) mod parameter_fields;
pub(super) mod references;
pub(super) mod system;
