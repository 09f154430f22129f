//! Templates: read, given values, expanded into objects.
//!
//! The semantics are those of the Kubernetes "Templates + Parameterization" proposal and of
//! `oc process`; a [`Dialect`] tells the two apart. Nothing here reads a file, the clock or the
//! environment.

pub(crate) mod constant;
mod declared;
mod dialect;
pub mod env_file;
mod expand;
mod foreign;
pub mod generate;
mod generation;
pub(crate) mod instance;
mod labels;
mod legacy;
mod listing;
mod model;
mod output;
mod parameters;
mod path;
mod processed;
mod reference;
mod refused;
mod skeleton;
mod substitute;
pub(crate) mod survey;
mod trace;
mod values;

pub use declared::Fallback;
pub use dialect::Dialect;
pub(crate) use dialect::{OPENSHIFT_GROUP, OWN_GROUP};
pub use expand::{Inspect, Object, Options, Sink, effective, process};
pub use generation::Generation;
pub use listing::list;
#[cfg(test)]
pub(crate) use model::{PARAMETER_FIELDS, TEMPLATE_FIELDS};
pub use model::{Parameter, ParameterType, Template};
pub(crate) use model::{is_template_group, type_text};
pub use output::{Format, Printed, Printer, print};
pub use parameters::{Effective, Origin, Parameters};
pub(crate) use parameters::{is_int, is_json_number};
pub(crate) use path::Path;
pub use processed::processed;
pub(crate) use reference::{Part, parts};
pub use skeleton::{ValuesFormat, skeleton};
pub(crate) use substitute::place_of;
pub use trace::{Cause, Field, Reference, Section, Trace, Traced, TracedParameter, trace};
pub use values::{Given, GivenValue};
pub(crate) use values::{from_mapping as values_from_mapping, from_node as values_of_file};
