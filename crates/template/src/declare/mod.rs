//! How a Template, an instance of one and their fields are written: everything that is known before values are given.

pub(crate) mod count;
pub(crate) mod default_value;
pub(crate) mod detect;
pub(crate) mod dialect;
pub(crate) mod fields;
pub(crate) mod foreign;
pub mod instance;
pub(crate) mod label;
pub mod legacy;
pub(crate) mod model;
pub mod nearly;
pub(crate) mod parameter;
pub(crate) mod reference;
