//! The parameters that are made, with their names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_yaml::Value;

/// The fields of a declaration.
const MAX_FIELDS: usize = 12;

/// A parameter that is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Where it came from.
    pub(crate) description: String,
    /// The text about its place in the report.
    pub(crate) origin: String,
    /// The object, if it is of one.
    pub(crate) group: String,
    /// The default; that of a secret is written elsewhere.
    pub(crate) value: String,
    pub(crate) kind: Option<&'static str>,
    pub(crate) is_required: bool,
    pub(crate) is_secret: bool,
    pub(crate) minimum: Option<&'static str>,
    pub(crate) pattern: Option<&'static str>,
    /// The expression that generates its value.
    pub(crate) from: Option<&'static str>,
}

impl Made {
    /// Its declaration in the Template.
    fn declaration<'m>(&'m self) -> Value<'m> {
        let mut entries = Vec::with_capacity(MAX_FIELDS);
        let mut text = |key: &'static str, text: &'m str| {
            if !text.is_empty() {
                entries.push((Cow::Borrowed(key), Value::string(text)));
            }
        };
        text("name", &self.name);
        text("displayName", &self.title);
        text("description", &self.description);
        text("group", &self.group);
        text("type", self.kind.unwrap_or_default());
        if !self.is_secret {
            text("value", &self.value);
        }
        if let Some(from) = self.from {
            text("generate", "expression");
            text("from", from);
        }
        text("pattern", self.pattern.unwrap_or_default());
        if let Some(minimum) = self.minimum {
            entries.push(("minimum".into(), Value::number(minimum)));
        }
        if self.is_required {
            entries.push(("required".into(), true.into()));
        }
        if self.is_secret {
            entries.push(("secret".into(), true.into()));
        }
        Value::mapping(entries)
    }
}

/// All parameters that are made, in order.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    list: Vec<Made>,
    names: BTreeSet<String>,
}

impl Parameters {
    /// Adds a parameter whose name is made unique and not one of `avoided`. Returns the name.
    pub(crate) fn add(&mut self, made: Made, avoided: &dyn Fn(&str) -> bool) -> String {
        let mut name = made.name.clone();
        let mut count = 1_usize;
        while avoided(&name) || !self.names.insert(name.clone()) {
            count += 1;
            name = format!("{}_{count}", made.name);
        }
        self.list.push(Made {
            name: name.clone(),
            ..made
        });
        name
    }

    /// Adds the parameter for a dollar sign.
    pub(crate) fn add_dollar(&mut self, name: &str) {
        let made = Made {
            name: name.to_owned(),
            title: "Dollar sign".into(),
            description: "`$` of text that is not a reference; do not change it".into(),
            origin: "`$` of text that Kubernetes must not expand".into(),
            value: "$".into(),
            is_required: true,
            ..Made::default()
        };
        self.add(made, &|_| false);
    }

    /// The names of all parameters.
    pub(crate) const fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// All parameters.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Made> {
        self.list.iter()
    }

    /// The list of their declarations.
    pub(crate) fn declarations(&self) -> Value<'_> {
        Value::sequence(self.list.iter().map(Made::declaration).collect())
    }

    /// The values of the secrets, for `process -P`.
    pub(crate) fn secrets(&self) -> Value<'static> {
        let secrets = self.list.iter().filter(|made| made.is_secret);
        let entry = |made: &Made| {
            let value = Value::string(made.value.clone());
            (Cow::Owned(made.name.clone()), value)
        };
        Value::mapping(secrets.map(entry).collect())
    }
}

/// A parameter's name of some parts, in capitals, digits and `_`; empty parts are left out.
pub(crate) fn name(parts: &[&str]) -> String {
    let mut name = String::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !name.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()) {
            name.push('_');
        }
        name.extend(part.chars().map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        }));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{Made, Parameters, name};

    #[test]
    fn names_are_capitals_with_underscores() {
        assert_eq!(name(&["web", "IMAGE"]), "WEB_IMAGE");
        assert_eq!(name(&["", "tls.key"]), "TLS_KEY");
        assert_eq!(name(&["9-web", "HOST"]), "_9_WEB_HOST");
    }

    #[test]
    fn a_name_is_made_unique() {
        let mut parameters = Parameters::default();
        let mut add = |avoided: &str| {
            let made = Made {
                name: "A".into(),
                ..Made::default()
            };
            parameters.add(made, &|name| name == avoided)
        };
        assert_eq!([add(""), add("A_2"), add("")], ["A", "A_3", "A_2"]);
    }
}
