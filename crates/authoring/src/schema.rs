//! The schema of the values that one Template takes: for forms, and for editors of `-P` files.

use serde_json::{Map, Number, Value, json};

use krm_template_engine::{DefaultValue, Parameter, ParameterType, Template};

/// JSON Schema 2020-12 of the values of `template`, by the names of its parameters.
///
/// No secret is shown. `x-group` is the `group` of a parameter, `x-generate` the expression that
/// generates its value, `x-default` a default that is not a value of the type: one made from other
/// parameters, or one that JSON spells differently.
pub fn of_values(template: &Template) -> Value {
    let (title, description) = template.title();
    let title = title.unwrap_or_else(|| template.name().into());
    let mut schema = Fields::default();
    schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
    schema.set("title", Some(title).filter(|title| !title.is_empty()));
    schema.set("description", description);
    schema.set("type", "object");
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in template.named_parameters() {
        let default = template.default_value(parameter);
        if parameter.needs_value(&default) {
            required.push(parameter.name.as_str());
        }
        properties.insert(parameter.name.clone(), property(parameter, &default));
    }
    schema.set("properties", properties);
    schema.set("required", Some(required).filter(|names| !names.is_empty()));
    schema.set("additionalProperties", false);
    schema.0.into()
}

/// The schemas of the Templates in several files, as a list.
pub fn of_library<'t>(templates: impl Iterator<Item = (&'t str, &'t Template)>) -> Value {
    let schemas = templates.map(|(file, template)| {
        json!({"file": file, "template": template.name(), "schema": of_values(template)})
    });
    schemas.collect()
}

/// The fields of a schema, without those that are not there.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if !value.is_null() {
            self.0.insert(name.to_owned(), value);
        }
    }
}

fn property(parameter: &Parameter, default: &DefaultValue<'_>) -> Value {
    let kind = parameter.kind;
    let mut schema = Fields::default();
    schema.set("title", parameter.display_name().as_deref());
    schema.set("description", parameter.description().as_deref());
    schema.set("type", type_name(kind));
    match kind {
        ParameterType::String | ParameterType::Base64 => text(&mut schema, parameter),
        ParameterType::Int | ParameterType::Number => {
            let bound = |bound: &Option<_>| bound.as_deref().and_then(number);
            schema.set("minimum", bound(&parameter.minimum));
            schema.set("maximum", bound(&parameter.maximum));
        }
        ParameterType::Bool | ParameterType::Array | ParameterType::Map => {}
    }
    if !kind.is_structured() {
        let mut allowed = Vec::new();
        for value in parameter.allowed.iter().filter_map(|text| typed(kind, text)) {
            if !allowed.contains(&value) {
                allowed.push(value);
            }
        }
        schema.set("enum", Some(allowed).filter(|allowed| !allowed.is_empty()));
    }
    match default {
        DefaultValue::Nothing | DefaultValue::Hidden => {}
        DefaultValue::Text(text) => match typed(kind, text) {
            Some(value) => schema.set("default", value),
            None => schema.set("x-default", text.as_ref()),
        },
        DefaultValue::Structured(value) => {
            // A number without end has no JSON.
            schema.set("default", serde_json::from_str::<Value>(&value.to_json()).ok());
        }
        DefaultValue::Computed(text) => schema.set("x-default", text.as_ref()),
        DefaultValue::Generated(from) => schema.set("x-generate", *from),
    }
    if !parameter.may_show() {
        schema.set("writeOnly", true);
    }
    if parameter.omit_empty {
        schema.set("x-omit-empty", true);
    }
    schema.set("x-group", parameter.group.as_deref());
    schema.0.into()
}

/// Sets the constraints of a text. An empty given value counts as none, so a required text has at
/// least one character.
fn text(schema: &mut Fields, parameter: &Parameter) {
    if parameter.kind == ParameterType::Base64 {
        schema.set("contentEncoding", "base64");
    }
    schema.set("pattern", parameter.pattern.as_deref());
    let least = parameter.min_length.unwrap_or(0);
    let least = least.max(usize::from(parameter.required));
    schema.set("minLength", Some(least).filter(|least| *least > 0));
    schema.set("maxLength", parameter.max_length);
}

const fn type_name(kind: ParameterType) -> &'static str {
    match kind {
        ParameterType::String | ParameterType::Base64 => "string",
        ParameterType::Int => "integer",
        ParameterType::Number => "number",
        ParameterType::Bool => "boolean",
        ParameterType::Array => "array",
        ParameterType::Map => "object",
    }
}

/// A text as JSON of the type; none if JSON spells such values otherwise.
fn typed(kind: ParameterType, text: &str) -> Option<Value> {
    match kind {
        ParameterType::String | ParameterType::Base64 => Some(json!(text)),
        ParameterType::Int if text.contains(['.', 'e', 'E']) => None,
        ParameterType::Int | ParameterType::Number => number(text).map(Value::Number),
        ParameterType::Bool => text.parse().ok().map(Value::Bool),
        ParameterType::Array | ParameterType::Map => None,
    }
}

/// A number as JSON spells it, with its digits.
fn number(text: &str) -> Option<Number> {
    serde_json::from_str(text).ok()
}
