//! Templates: what a Template declares, and how its parameters get their values.

pub mod env_file;
pub mod generate;
