//! Source maps: the origin of each field of the objects.

use std::sync::Arc;

use krm_template_engine::{Assignment, Cause, Mapping, Options, SetBy, SourceMap, trace};
use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;

use super::parse;
use krm_template_server_core::Group;

/// The maximum size in bytes of the objects and parameters of a Template with a source map, which
/// is many times as long.
pub(super) const LIMIT: usize = 1 << 20;

/// Returns the source map as JSON on one line, without values.
pub(super) fn made(
    document: &Arc<Document>,
    group: Group,
    given: &[Assignment],
    options: &Options<'_>,
) -> Option<String> {
    // Read again, because here only the values of secrets are hidden.
    let mut unheard = Diagnostics::new();
    let template = parse::template(document, group, false, &mut unheard)?;
    let trace = trace(&template, given, options, &mut unheard)?;
    let mut map = SourceMap::default();
    let mapping = Mapping { instance: "", set_by: &set_by, output: &|_| None };
    map.add(&mapping, &trace);
    map.to_json(false).ok()
}

/// Converts a cause. Given labels and the namespace come from the request.
const fn set_by(cause: Cause) -> SetBy {
    match cause {
        Cause::Object => SetBy::Object,
        Cause::Labels => SetBy::Labels,
        Cause::GivenLabel(_) => SetBy::ArgumentLabels,
        Cause::Namespace => SetBy::ArgumentNamespace,
    }
}
