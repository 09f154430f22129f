//! What a function reads: the objects, where they are kept, and the files of their package.

pub(crate) mod config_place;
pub(crate) mod configuration;
pub(crate) mod items;
pub(crate) mod kptfile;
pub(crate) mod located;
pub(crate) mod objects;
pub(crate) mod package;
pub(crate) mod paths;
pub(crate) mod storage;
