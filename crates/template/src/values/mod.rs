//! Values as they are given, and as expressions generate them, whatever they are for.

pub(crate) mod budget;
pub mod env_file;
pub mod generate;
pub(crate) mod given;
pub mod pattern;
pub mod random;
pub(crate) mod text;
