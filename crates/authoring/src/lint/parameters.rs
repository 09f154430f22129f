//! Rules about parameters and the references to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::context::Context;
use crate::lint::references::Reference;
use krm_template_engine::{DefaultValue, Dialect, Parameter, ParameterType, constant, pattern};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;

/// A diagnostic at a field of a parameter.
fn at(parameter: &Parameter, key: &str, diagnostic: Diagnostic) -> Diagnostic {
    let field = format!("parameters[{}].{key}", parameter.index);
    diagnostic.at(parameter.field(key).place()).field(field)
}

/// Limits that contradict one another or the type, and invalid patterns.
pub(super) fn parameter_limits(context: &Context<'_>, found: &mut Diagnostics) {
    for parameter in context.template.parameters() {
        limits_of_other_types(parameter, found);
        let name = &parameter.name;
        let number = |bound: &Option<String>| bound.as_ref()?.parse::<f64>().ok();
        let numbers = number(&parameter.minimum).zip(number(&parameter.maximum));
        let lengths = parameter.min_length.zip(parameter.max_length);
        let mut contradict = |least: &str, most: &str| {
            let message = format!("`{least}` of parameter `{name}` is greater than its `{most}`");
            let hint = "no value can satisfy both: change one of them";
            found.push(at(parameter, least, Diagnostic::error(message).hint(hint)));
        };
        if numbers.is_some_and(|(least, most)| least > most) {
            contradict("minimum", "maximum");
        }
        if lengths.is_some_and(|(least, most)| least > most) {
            contradict("minLength", "maxLength");
        }
        if let Some(pattern) = &parameter.pattern
            && let Err(error) = pattern::check(pattern)
        {
            let message =
                format!("the pattern of parameter `{name}` is not a regular expression: {error}");
            found.push(at(parameter, "pattern", Diagnostic::error(message)));
        }
    }
}

/// Allowed values that are not of the parameter's type, and bounds of what need not be a number.
fn limits_of_other_types(parameter: &Parameter, found: &mut Diagnostics) {
    let Parameter { name, kind, .. } = parameter;
    for value in parameter.allowed.iter().filter(|value| !kind.fits(value)) {
        let problem = format!(
            "`enum` of parameter `{name}` has `{value}`, which is not {}",
            kind.with_article()
        );
        let hint = "remove it, or change the `type`";
        found.push(at(parameter, "enum", Diagnostic::warning(problem).hint(hint)));
    }
    let bounds = [("minimum", &parameter.minimum), ("maximum", &parameter.maximum)];
    let is_number = matches!(kind, ParameterType::Int | ParameterType::Number);
    for (key, _) in bounds.iter().filter(|(_, bound)| bound.is_some() && !is_number) {
        let problem = format!("`{key}` of parameter `{name}` has no effect on text");
        let hint = "add `type: int` or `type: number`";
        found.push(at(parameter, key, Diagnostic::warning(problem).hint(hint)));
    }
}

/// Expressions that generate nothing, or the same value each time, for parameters without a value.
pub(super) fn generated_value(context: &Context<'_>, found: &mut Diagnostics) {
    let template = context.template;
    for parameter in template.parameters() {
        if matches!(template.default_value(parameter), DefaultValue::Generated(_))
            && let Some(diagnostic) = constant::check(template, parameter)
        {
            found.push(diagnostic);
        }
    }
}

/// References to undeclared parameters in OpenShift's dialect, where expanding ignores them. They
/// may be meant for a shell, so each name is reported once.
pub(super) fn undeclared_parameter(context: &Context<'_>, found: &mut Diagnostics) {
    if context.template.dialect() == Dialect::Proposal {
        return;
    }
    let names = || context.template.parameters().iter().map(|one| one.name.as_str());
    let declared: BTreeSet<&str> = names().collect();
    let mut seen: BTreeMap<&str, Vec<&Reference>> = BTreeMap::new();
    for reference in &context.references {
        if !declared.contains(reference.name.as_str()) {
            seen.entry(&reference.name).or_default().push(reference);
        }
    }
    for (name, references) in seen {
        let bad = references.iter().find(|one| one.needs_replacement);
        let in_text = references.iter().find(|one| !one.in_script);
        let Some(first) = bad.or(in_text).or(references.first()) else {
            continue;
        };
        let known = in_text.and_then(|_| closest(name, names()));
        let message = format!("parameter `{name}` is not declared");
        let diagnostic = match known {
            Some(known) => Diagnostic::warning(message)
                .hint(format!("did you mean `{}`?", first.spelling.replace(name, known))),
            None if bad.is_some() => Diagnostic::warning(message)
                .hint(format!("declare it under `parameters`, as `- name: {name}`")),
            None => Diagnostic::info(message).hint(format!(
                "`{}` stays unchanged, for a shell or another program",
                first.spelling
            )),
        };
        found.push(diagnostic.at(first.place.clone()).field(&first.field));
    }
}

/// Parameters that nothing refers to.
pub(super) fn unused_parameter(context: &Context<'_>, found: &mut Diagnostics) {
    let used: BTreeSet<&str> = context.references.iter().map(|one| one.name.as_str()).collect();
    for parameter in context.template.parameters() {
        let name = parameter.name.as_str();
        let (open, close) = match context.template.dialect() {
            Dialect::Proposal => ("$(", ")"),
            Dialect::OpenShift => ("${", "}"),
        };
        let reference = format!("{open}{name}{close}");
        // Another rule reports names that no reference can contain.
        let can_be_used = !context.is_known(&reference);
        // Texts that look like a reference are reported as such.
        if used.contains(name) || context.nearly.contains(name) || !can_be_used {
            continue;
        }
        let unused = Diagnostic::warning(format!("nothing refers to parameter `{name}`"));
        let unused = unused.hint(format!("use it as `{reference}`, or remove it"));
        found.push(at(parameter, "name", unused));
    }
}

/// Raw references to parameters that may stay without a value.
pub(super) fn empty_value(context: &Context<'_>, found: &mut Diagnostics) {
    for parameter in context.template.parameters() {
        let name = parameter.name.as_str();
        let default = parameter.value().and_then(|default| default.text().ok().flatten());
        let may_be_empty = context.survey.is_unknown(name)
            && !parameter.required
            && parameter.expression().is_none()
            && default.is_none_or(|default| default.is_empty());
        let raw = context.references.iter().filter(|one| one.is_raw);
        let mut raw = raw.filter(|one| one.name == name);
        if parameter.omit_empty {
            let omits = !parameter.required && raw.clone().any(|one| one.is_whole);
            if !omits {
                found.push(omits_nothing(context, parameter));
            }
        }
        let is_left_out = |one: &&Reference| parameter.omit_empty && one.is_whole;
        let Some(reference) = raw.find(|one| may_be_empty && !is_left_out(one)) else {
            continue;
        };
        found.push(
            Diagnostic::warning(format!(
                "`{}` becomes the empty string if parameter `{name}` has no value",
                reference.spelling
            ))
            .at(reference.place.clone())
            .field(&reference.field)
            .hint(format!(
                "give parameter `{name}` a `value`, make it `required`, or leave the field out with `omitEmpty: true`"
            )),
        );
    }
}

/// A parameter with `omitEmpty` that never leaves anything out.
fn omits_nothing(context: &Context<'_>, parameter: &Parameter) -> Diagnostic {
    let name = &parameter.name;
    let reference = match context.template.dialect() {
        Dialect::Proposal => format!("$(({name}))"),
        Dialect::OpenShift => format!("${{{{{name}}}}}"),
    };
    let (why, hint) = if parameter.required {
        ("it is required", "remove one of the two".to_owned())
    } else {
        let hint = format!("write `{reference}`, and nothing else, in the field that is optional");
        ("no field is only a raw reference to it", hint)
    };
    let message = format!("`omitEmpty` of parameter `{name}` has no effect: {why}");
    at(parameter, "omitEmpty", Diagnostic::warning(message).hint(hint))
}
