//! Lists the properties that a schema declares.

use krm_yaml::Value;

/// A property of a template.
#[derive(Clone, Debug)]
pub struct Property {
    name: String,
    kind: String,
    is_required: bool,
    default: Option<Value<'static>>,
    description: String,
}

/// The properties at the top of a schema, in its order.
pub fn properties(schema: &Value<'static>) -> Vec<Property> {
    let required = schema.get("required").and_then(Value::items).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::entries).unwrap_or_default();
    let properties = properties.iter().map(|(name, property)| {
        let target = property.str_at(&["$ref"]).and_then(|reference| {
            let mut keys = reference.strip_prefix("#/")?.split('/');
            keys.try_fold(schema, |value, key| value.get(key))
        });
        let property = target.unwrap_or(property);
        let kinds = match property.get("type") {
            Some(kind) => match kind.items() {
                Some(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
                None => kind.as_str().into_iter().collect::<Vec<_>>(),
            },
            None => Vec::new(),
        };
        let description = property.str_at(&["description"]).unwrap_or_default();
        Property {
            name: name.to_string(),
            kind: kinds.join(" or "),
            is_required: required.iter().any(|one| one.as_str() == Some(name)),
            default: property.get("default").cloned(),
            description: description.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    });
    properties.collect()
}

impl Property {
    /// The cells of a table: name, type, required, default, description.
    pub fn row(&self) -> [String; 5] {
        let default = self
            .default
            .as_ref()
            .map(|default| default.as_str().map_or_else(|| default.to_json(), str::to_owned));
        [
            self.name.clone(),
            self.kind.clone(),
            if self.is_required { "yes" } else { "no" }.to_owned(),
            default.unwrap_or_default(),
            self.description.clone(),
        ]
    }

    /// The lines of a file to fill in: required properties, and the others as comments.
    pub fn lines(&self) -> String {
        let value = self.default.clone().unwrap_or_else(|| Value::string(""));
        let entry = Value::mapping(vec![(self.name.clone().into(), value)]);
        let text = krm_yaml::to_string(&entry.without_origin());
        let description = match self.description.as_str() {
            "" => String::new(),
            text => format!("# {text}\n"),
        };
        if self.is_required {
            return format!("{description}{text}\n");
        }
        let lines: Vec<String> = text.lines().map(|line| format!("#{line}")).collect();
        format!("{description}{}\n\n", lines.join("\n"))
    }
}
