//! Expressions of `from` that generate nothing, or the same value each time.

use crate::declare::detect::refers;
use crate::declare::dialect::Dialect;
use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::values::generate::{self, Variety};
use krm_yaml::Cursor;
use krm_yaml::diagnostic::Diagnostic;

/// The rule that such an expression breaks.
const RULE: &str = "generated-value";

/// The problem with the expression that generates the value of a parameter, if it generates one at
/// all. `oc` accepts such an expression, so in OpenShift's dialect only secrets are an error.
pub fn check(template: &Template, parameter: &Parameter) -> Option<Diagnostic> {
    let from = parameter.expression()?;
    let name = &parameter.name;
    // The reader of the Template has reported a malformed expression.
    let variety = generate::variety(from).ok()?;
    let length = "a class of characters needs a length, as in `[a-zA-Z0-9]{16}`";
    let (message, hint) = match variety {
        Variety::Random => return None,
        Variety::Nothing => (
            format!("parameter `{name}` generates nothing: `from` is missing or empty"),
            "describe the value, for example `from: \"[a-zA-Z0-9]{16}\"`",
        ),
        Variety::Constant { has_bracket: true } => (constant(name), length),
        Variety::Constant { has_bracket: false } => (
            constant(name),
            "write random characters as `[a-zA-Z0-9]{16}`; for a fixed value, use `value`",
        ),
        Variety::HasBracket => {
            (format!("`[` in the `from` of parameter `{name}` is literal text"), length)
        }
    };
    let is_error = variety != Variety::HasBracket
        && (template.dialect == Dialect::Proposal || is_secret(template, parameter));
    let diagnostic =
        if is_error { Diagnostic::error(message) } else { Diagnostic::warning(message) };
    Some(
        diagnostic
            .rule(RULE)
            .at(parameter.field("from").place())
            .field(format!("parameters[{}].from", parameter.index))
            .hint(hint),
    )
}

fn constant(name: &str) -> String {
    format!("parameter `{name}` generates the same value each time")
}

/// Whether the value is a secret: by its field `secret`, by its name, or because a Secret refers to
/// it.
fn is_secret(template: &Template, parameter: &Parameter) -> bool {
    parameter.secret
        || parameter.is_named_like_secret()
        || template.objects().into_iter().flat_map(Cursor::children).any(|object| {
            let object = object.open();
            let object = object.cursor();
            object.text_at(["kind"]).as_deref() == Some("Secret")
                && refers(object, &[&parameter.name], template.dialect)
        })
}
