//! Commands and files for the same expansion elsewhere. Secrets are placeholders.

use krm_template_authoring::form::{Field, Form};
use krm_template_engine::ParameterType;
use krm_yaml::Value;
use minijinja::context;

use super::render::Data;
use krm_template_server_core::Group;

/// A Template with values, to be expanded elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct Usage<'u> {
    /// The API group of the Template.
    pub group: Group,
    /// The namespace of the Template.
    pub namespace: &'u str,
    /// The name of the Template.
    pub name: &'u str,
    /// The form, which says which fields are secret.
    pub form: &'u Form,
    /// The entered values, by parameter.
    pub values: &'u [(String, String)],
    /// Whether the server has stored it.
    pub is_stored: bool,
}

impl Usage<'_> {
    /// Returns all commands and files, each with the end of its HTML `id`, a title and a text.
    pub(crate) fn all(&self) -> Vec<Data> {
        let file = format!("{}.yaml", if self.name.is_empty() { "template" } else { self.name });
        let command = format!("krm-template process -f {}", quoted(&file));
        let mut uses = vec![
            ("command", "Command", self.command(&command)),
            ("values", "Values file", self.values_file()),
            ("instance", "TemplateInstance", self.instance()),
        ];
        if self.group == Group::OpenShift {
            let command = if self.is_stored {
                let (namespace, name) = (quoted(self.namespace), quoted(self.name));
                format!("oc process -n {namespace} {name}")
            } else {
                format!("oc process -f {}", quoted(&file))
            };
            uses.push(("oc", "oc process", self.command(&command)));
        }
        uses.into_iter().map(|(id, title, text)| context! { id, title, text }).collect()
    }

    /// Returns the values, with placeholders for secrets and for missing values.
    fn shown(&self) -> Vec<(&Field, String)> {
        let fields = self.form.fields().filter_map(|field| {
            let given = self.values.iter().find(|(name, _)| *name == field.name);
            let blank = format!("<{}>", field.name);
            match given {
                _ if field.is_hidden => {
                    (given.is_some() || field.needs_value()).then_some((field, blank))
                }
                Some((_, value)) => Some((field, value.clone())),
                None => field.needs_value().then_some((field, blank)),
            }
        });
        fields.collect()
    }

    fn command(&self, start: &str) -> String {
        let mut text = start.to_owned();
        for (field, value) in self.shown() {
            text.push_str(" \\\n  -p ");
            text.push_str(&quoted(&format!("{}={value}", field.name)));
        }
        text
    }

    fn mapping(&self) -> Value<'static> {
        let entries = self.shown().into_iter().map(|(field, value)| {
            let value = typed(field.kind, value);
            (field.name.clone().into(), value)
        });
        Value::mapping(entries.collect())
    }

    fn values_file(&self) -> String {
        let metadata =
            Value::mapping(vec![("name".into(), Value::string(format!("{}-values", self.name)))]);
        let object = Value::mapping(vec![
            ("apiVersion".into(), Group::Krm.api_version().into()),
            ("kind".into(), "ParameterValues".into()),
            ("metadata".into(), metadata),
            ("template".into(), Value::string(self.name.to_owned())),
            ("values".into(), self.mapping()),
        ]);
        krm_yaml::to_string(&object)
    }

    fn instance(&self) -> String {
        let named =
            |name: &str| Value::mapping(vec![("name".into(), Value::string(name.to_owned()))]);
        let spec = Value::mapping(vec![
            ("templateRef".into(), named(self.name)),
            ("parameters".into(), self.mapping()),
        ]);
        let object = Value::mapping(vec![
            ("apiVersion".into(), Group::Krm.api_version().into()),
            ("kind".into(), "TemplateInstance".into()),
            ("metadata".into(), named(self.name)),
            ("spec".into(), spec),
        ]);
        krm_yaml::to_string(&object)
    }
}

/// Converts a text to a YAML value of a parameter type.
fn typed(kind: ParameterType, text: String) -> Value<'static> {
    let is_digits = |text: &str| {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        text.len() <= 15
            && text.bytes().all(is_digit)
            && (text == "0" || !text.starts_with('0'))
            && !text.is_empty()
    };
    match (kind, text.as_str()) {
        (ParameterType::Bool, "true" | "false") => Value::from(text == "true"),
        (ParameterType::Int | ParameterType::Number, digits) if is_digits(digits) => {
            Value::number(text)
        }
        _ => Value::string(text),
    }
}

/// Quotes a text as a word of a shell, if necessary.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
