//! Visits expanded objects, for programs that write them themselves.

use crate::declare::model::Template;
use crate::expand::expansion::{Expansion, Look, Object, Options, expand};
use crate::resolve::parameters::Parameters;
use crate::values::given::Assignment;
use krm_yaml::diagnostic::Diagnostics;

/// Expands `template` with the `given` values and passes each object to `look`, in order.
///
/// Later values override earlier ones. After the objects, it passes the values and labels of the
/// expansion to `end`. Returns the message, if the Template has one, and the result of `end`. All
/// errors and warnings go to `diagnostics`. Do not use the results after an error.
///
/// Unchanged parts of objects are not read, so this is faster than
/// [`process`](super::super::process).
pub fn visit<'d, R>(
    template: &'d Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
    look: &mut dyn FnMut(&Look<'_>, &mut Diagnostics),
    end: impl FnOnce(&Parameters<'d>, &[(String, String)]) -> R,
) -> Option<(Option<String>, R)> {
    let run = |expansion: &Expansion<'_, 'd>, found: &mut Diagnostics| {
        expansion.warn(found);
        for (index, object) in expansion.objects().enumerate() {
            if !expansion.goes_on() {
                break;
            }
            let field = format!("objects[{index}]");
            visit_object(expansion, object, &field, found, look);
        }
        let labels = expansion.labels.as_ref();
        let labels = labels.map(|labels| labels.all.as_slice()).unwrap_or_default();
        end(expansion.parameters, labels)
    };
    expand(template, given, options, diagnostics, run)
}

fn visit_object(
    expansion: &Expansion<'_, '_>,
    object: krm_yaml::Cursor<'_>,
    field: &str,
    diagnostics: &mut Diagnostics,
    look: &mut dyn FnMut(&Look<'_>, &mut Diagnostics),
) {
    let opened = object.open();
    let node = opened.cursor();
    let mut found = Diagnostics::new();
    if let Some(object) = expansion.patched(node, field, &mut found) {
        let object = Look { view: object.view(), document: node.document(), field };
        expansion.inspect(&object, &mut found);
        diagnostics.append(found);
        if !diagnostics.has_errors() {
            look(&object, diagnostics);
        }
        return;
    }
    let sink = &mut |object: Object<'_>, found: &mut Diagnostics| {
        if !found.has_errors() {
            look(&object.look(), found);
        }
    };
    expansion.opened(node, field.to_owned(), diagnostics, sink);
}
