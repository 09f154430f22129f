//! Editing by field path, and the pairing of lists.

pub(crate) mod editor;
pub(crate) mod pairing;
