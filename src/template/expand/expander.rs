//! Expanders create objects from values: a Template, and other kinds of configuration.

use crate::template::declare::model::Template;
use crate::template::declare::parameter::Parameter;
use crate::template::expand::expansion::{Options, Sink, process};
use crate::template::values::given::Assignment;
use krm_yaml::diagnostic::{Diagnostics, ObjectReference};

/// Creates objects from the values that are given for its parameters.
pub trait Expander {
    /// The object that it was read from, for reports.
    fn reference(&self) -> &ObjectReference;

    /// The parameters that values may be given for, in the order they are declared.
    fn parameters(&self) -> &[Parameter<'_>];

    /// Expands it with `given` values, the strongest last, and hands each object to `sink` in
    /// order. Returns its message, if it has one. All errors and warnings go to `diagnostics`;
    /// after an error the objects are of no use.
    fn expand(
        &self,
        given: &[Assignment],
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
    ) -> Option<String>;

    /// The Template, if it is one: only a Template has annotations, references and a trace.
    fn template(&self) -> Option<&Template<'_>> {
        None
    }

    /// Whether it has a parameter with this name.
    fn declares(&self, name: &str) -> bool {
        let mut parameters = self.parameters().iter();
        parameters.any(|parameter| parameter.name == name)
    }
}

impl Expander for Template<'_> {
    fn reference(&self) -> &ObjectReference {
        &self.reference
    }

    fn parameters(&self) -> &[Parameter<'_>] {
        &self.parameters
    }

    fn expand(
        &self,
        given: &[Assignment],
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
    ) -> Option<String> {
        process(self, given, options, diagnostics, sink)
    }

    fn template(&self) -> Option<&Template<'_>> {
        Some(self)
    }
}
