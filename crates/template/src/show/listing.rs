//! The parameters of a Template as a list of plain data.

use crate::declare::default_value::DefaultValue;
use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use krm_yaml::Value;

/// Lists the parameters of `template` with their declared fields. `name`, `type` and `required` are
/// always present.
///
/// `value` is the value of a parameter if none is given. If it must not be shown, the parameter has
/// `valueIsHidden: true` instead.
pub fn list(template: &Template) -> Value<'_> {
    let parameters = template.parameters().iter();
    Value::sequence(
        parameters.map(|parameter| item(parameter, template.default_value(parameter))).collect(),
    )
}

fn item<'t>(parameter: &'t Parameter, default: DefaultValue<'t>) -> Value<'t> {
    let text = |text: &'t Option<String>| text.as_deref().map(Value::from);
    let number = |digits: &'t Option<String>| digits.as_deref().map(Value::number);
    let length = |length: Option<usize>| length.map(|length| Value::number(length.to_string()));
    let is_hidden = matches!(default, DefaultValue::Hidden);
    let from = parameter.expression();
    let allowed = parameter.allowed.iter().map(|one| one.as_str().into());
    let allowed: Vec<Value<'t>> = allowed.collect();
    let fields = [
        ("name", Some(parameter.name.as_str().into())),
        ("displayName", parameter.display_name().map(Value::string)),
        ("description", parameter.description().map(Value::string)),
        ("type", Some(parameter.kind.name().into())),
        ("required", Some(parameter.required.into())),
        (
            "value",
            match default {
                DefaultValue::Text(text) | DefaultValue::Computed(text) => {
                    Some(Value::string(text))
                }
                DefaultValue::Structured(value) => Some(value),
                DefaultValue::Nothing | DefaultValue::Generated(_) | DefaultValue::Hidden => None,
            },
        ),
        ("valueIsHidden", is_hidden.then(|| true.into())),
        ("generate", from.map(|_| "expression".into())),
        ("from", from.map(Value::from)),
        ("enum", (!allowed.is_empty()).then(|| Value::sequence(allowed))),
        ("pattern", text(&parameter.pattern)),
        ("minimum", number(&parameter.minimum)),
        ("maximum", number(&parameter.maximum)),
        ("minLength", length(parameter.min_length)),
        ("maxLength", length(parameter.max_length)),
        ("omitEmpty", parameter.omit_empty.then(|| true.into())),
        ("secret", parameter.secret.then(|| true.into())),
        ("group", text(&parameter.group)),
    ];
    let there = fields.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
    Value::mapping(there.collect())
}
