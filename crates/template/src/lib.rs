//! Templates: read, given values, expanded into objects.
//!
//! The semantics are those of the Kubernetes "Templates + Parameterization" proposal and of
//! `oc process`; a [`Dialect`] tells the two apart. Nothing here reads a file, the clock or the
//! environment.
//!
//! A [`Dialect`] decides the syntax of references, where labels are added, and what is strict. All
//! other code is shared, and a Template has exactly one dialect.

pub mod declare;
mod expand;
mod resolve;
mod show;
mod values;

pub use declare::model::TEMPLATE_FIELDS;
pub use declare::parameter::PARAMETER_FIELDS;

pub use declare::count::INDEX;
pub use declare::default_value::DefaultValue;
pub use declare::detect::detect;
pub use declare::dialect::Dialect;
pub use declare::dialect::{OPENSHIFT_GROUP, OWN_API_VERSION, OWN_GROUP};
pub use declare::fields::type_text;
pub use declare::instance;
pub use declare::label::{Label, Scope};
pub use declare::legacy;
pub use declare::model::is_template_group;
pub use declare::model::{Reading, Template};
pub use declare::parameter::{Parameter, ParameterType};
pub use declare::reference::{Part, has_openshift_reference, parts, replace, with_values};
pub use expand::expander::Expander;
pub use expand::expansion::{Inspect, Look, Object, Options, Sink, effective, process};
pub use expand::labels;
pub use expand::path::Path;
pub use expand::pods::KnownPods;
pub use expand::strings::place_of;
pub use resolve::constant;
pub use resolve::earlier::Earlier;
pub use resolve::generation::{Generation, Seed};
pub use resolve::parameters::{Origin, ParameterValue, Parameters};
pub use show::listing::list;
pub use show::output::{Format, Printed, Printer, print};
pub use show::processed::processed;
pub use show::skeleton::{ValuesFormat, skeleton};
pub use show::source_map::{Mapping, SetBy, SourceMap};
pub use show::survey;
pub use show::trace::{Cause, Field, Reference, Section, Trace, Traced, TracedParameter, trace};
pub use show::visit::visit;
pub use values::budget::{Budget, MAX_BYTES, Overrun};
pub use values::given::{AssignedValue, Assignment, read_value_list, read_values};
pub use values::given::{from_mapping as values_from_mapping, from_node as values_of_file};
pub use values::{env_file, generate, pattern, random};
