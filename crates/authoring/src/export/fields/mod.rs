//! Knowledge about kinds, as tables.

pub(super) mod kinds;
pub(super) mod left_out;
pub(super) mod names;
pub(super) mod places;
pub(super) mod references;
pub(super) mod system;
