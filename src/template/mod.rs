//! Templates: read, given values, expanded into objects.
//!
//! The semantics are those of the Kubernetes "Templates + Parameterization" proposal and of
//! `oc process`; a [`Dialect`] tells the two apart. Nothing here reads a file, the clock or the
//! environment.

mod dialect;
pub mod env_file;
mod expand;
pub mod generate;
mod generation;
mod labels;
mod legacy;
mod model;
mod output;
mod parameters;
mod path;
mod reference;
mod substitute;
mod values;

pub use dialect::Dialect;
pub use expand::{Object, Options, Sink, process};
pub use generation::Generation;
pub use model::{Parameter, ParameterType, Template};
pub use output::{Format, Printed, print};
pub use parameters::{Effective, Parameters};
pub(crate) use values::from_node as values_of_file;
pub use values::{Given, GivenValue};
