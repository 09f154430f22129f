//! Prints objects and shows what is known of a Template and of where its objects come from.

pub(crate) mod listing;
pub(crate) mod output;
pub(crate) mod processed;
pub(crate) mod skeleton;
pub(crate) mod survey;
pub(crate) mod trace;
