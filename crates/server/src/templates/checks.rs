//! Checks of processed objects, as the API server of a cluster does. All findings are warnings.

use krm_template_authoring::lint::Refusals;
use krm_template_engine::{Inspect, Look, Parameters, Template};
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};

/// The check of the objects of an expansion.
#[derive(Default)]
pub(super) struct Checks {
    checker: Checker,
}

impl Checks {
    /// A sentence about the checks that were left out.
    pub(super) fn not_checked(&self) -> Option<String> {
        self.checker.not_checked()
    }
}

impl Inspect for Checks {
    fn object(
        &self,
        object: &Look<'_>,
        template: &Template,
        values: &Parameters<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let refusals = Refusals { checker: &self.checker, before: None };
        let mut found = Diagnostics::new();
        refusals.object(object, template, values, &mut found);
        diagnostics.append(found.map(|one| Diagnostic { severity: Severity::Warning, ..one }));
    }
}
