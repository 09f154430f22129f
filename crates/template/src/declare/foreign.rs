//! References in the syntax of the other dialect: which spelling is the right one.

use crate::declare::dialect::Dialect;
use krm_yaml::diagnostic::Diagnostic;

/// The rule that such a reference breaks.
const RULE: &str = "other-dialect";

/// Says of `spelling`, which is the other dialect's, how a Template in `dialect` refers to the
/// parameter. What is not an error stays as it is.
pub(crate) fn diagnostic(
    dialect: Dialect,
    name: &str,
    spelling: &str,
    is_error: bool,
) -> Diagnostic {
    let is_raw = spelling.starts_with("${{") || spelling.starts_with("$((");
    let message = format!("`{spelling}` does not refer to parameter `{name}` in this Template");
    let diagnostic =
        if is_error { Diagnostic::error(message) } else { Diagnostic::warning(message) };
    let diagnostic = diagnostic.rule(RULE);
    match dialect {
        Dialect::Proposal => diagnostic
            .hint(if is_raw {
                format!("to insert the value, write `$(({name}))`")
            } else {
                format!("to insert the value, write `$({name})`")
            })
            .hint(format!("to keep the text for a shell or another program, write `${spelling}`")),
        Dialect::OpenShift if is_raw => {
            diagnostic.hint(format!("to insert the value, write `${{{{{name}}}}}`"))
        }
        Dialect::OpenShift => diagnostic.hint(format!("to insert the value, write `${{{name}}}`")),
    }
}
