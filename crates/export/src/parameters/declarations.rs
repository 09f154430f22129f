//! The new parameters: their names, and their declarations in the Template.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use crate::json;
use crate::options::Format;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::{Position, Value, render_new};

/// A parameter to be declared. Some of its texts are still in parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewParameter<'m> {
    /// The parts of its [name].
    pub(crate) name: &'m [&'m str],
    pub(crate) title: &'m [&'m str],
    /// Its origin, for the report.
    pub(crate) origin: &'m [&'m str],
    /// The `description` of the parameter; if empty, `origin` without its article.
    pub(crate) description: &'m str,
    /// The object, if it is of one.
    pub(crate) group: &'m str,
    /// The default; that of a secret is written elsewhere.
    pub(crate) value: &'m str,
    pub(crate) kind: Option<&'static str>,
    pub(crate) is_required: bool,
    pub(crate) is_secret: bool,
    pub(crate) minimum: Option<&'static str>,
    pub(crate) pattern: Option<&'static str>,
    /// The expression that generates its value.
    pub(crate) from: Option<&'static str>,
}

impl<'m> NewParameter<'m> {
    /// Its declaration with these texts.
    fn declaration<'r>(&self, name: &'r str, title: &'r str, origin: &'r str) -> Value<'r>
    where
        'm: 'r,
    {
        let text = |text: &'r str| (!text.is_empty()).then(|| Value::string(text));
        let flag = |flag: bool| flag.then(|| Value::from(true));
        let description = match self.description {
            "" => origin.strip_prefix("the ").unwrap_or(origin),
            description => description,
        };
        let fields = [
            ("name", text(name)),
            ("displayName", text(title)),
            ("description", text(description)),
            ("group", text(self.group)),
            ("type", self.kind.and_then(text)),
            ("value", text(self.value).filter(|_| !self.is_secret)),
            ("generate", self.from.and_then(|_| text("expression"))),
            ("from", self.from.and_then(text)),
            ("pattern", self.pattern.and_then(text)),
            ("minimum", self.minimum.map(Value::number)),
            ("required", flag(self.is_required)),
            ("secret", flag(self.is_secret)),
        ];
        let fields = fields.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        Value::mapping(fields.collect())
    }
}

/// Messages (`info`) about parameters, one after the other in one text.
#[derive(Debug, Default)]
pub struct InfoMessages {
    text: String,
    ends: Vec<usize>,
}

impl InfoMessages {
    /// Returns the messages in the order of the parameters, each on one line.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().filter_map(move |end| {
            let message = self.text.get(start..*end);
            start = *end;
            message
        })
    }
}

/// All new parameters, in order.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) names: IndexSet<String, RandomState>,
    /// For each name that was taken, the first number that may be free.
    numbers: BTreeMap<String, usize>,
    /// The title of the last one.
    title: String,
    pub(crate) declarations: Declarations,
    /// The values of the secrets, for `process -P`.
    pub(crate) secrets: Vec<(Cow<'static, str>, Value<'static>)>,
    pub(crate) messages: InfoMessages,
    /// Declarations that cannot be written: defects of this program.
    pub(crate) errors: Diagnostics,
}

/// The texts of declarations, as items of a list.
#[derive(Debug)]
pub(crate) enum Declarations {
    Yaml(String),
    Json(Vec<String>),
}

impl Declarations {
    fn push(&mut self, declaration: &Value<'_>) -> Result<()> {
        match self {
            Self::Yaml(text) => {
                text.push_str(&render_new(declaration, Position::Item { column: 0 })?);
            }
            Self::Json(items) => items.push(json::item(declaration)?),
        }
        Ok(())
    }
}

impl Parameters {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            names: IndexSet::default(),
            numbers: BTreeMap::new(),
            title: String::new(),
            declarations: match format {
                Format::Yaml => Declarations::Yaml(String::new()),
                Format::Json => Declarations::Json(Vec::new()),
            },
            secrets: Vec::new(),
            messages: InfoMessages::default(),
            errors: Diagnostics::new(),
        }
    }

    /// Adds a parameter whose name is made unique and not one of `avoided`. Returns the name.
    pub(crate) fn add(&mut self, new: &NewParameter<'_>, avoided: &dyn Fn(&str) -> bool) -> &str {
        let index = self.add_name(name(new.name), avoided);
        let name = self.names.get_index(index).map_or("", String::as_str);
        self.title.clear();
        self.title.extend(new.title.iter().copied());
        let messages = &mut self.messages.text;
        messages.extend(["parameter ", name, ": "]);
        let start = messages.len();
        messages.extend(new.origin.iter().copied());
        let origin = messages.get(start..).unwrap_or_default();
        let declaration = new.declaration(name, &self.title, origin);
        let declared = self.declarations.push(&declaration);
        self.errors.take(declared);
        if new.is_secret {
            messages.push_str(", a secret");
            let value = Value::string(new.value.to_owned());
            self.secrets.push((Cow::Owned(name.to_owned()), value));
        }
        self.messages.ends.push(messages.len());
        name
    }

    /// Adds a name, with a number where it would not be unique. Returns its index.
    fn add_name(&mut self, mut name: String, avoided: &dyn Fn(&str) -> bool) -> usize {
        if !avoided(&name) {
            let (index, is_new) = self.names.insert_full(name);
            if is_new {
                return index;
            }
            name = self.names.get_index(index).cloned().unwrap_or_default();
        }
        let numbered = |number: usize| [&name, "_", &number.to_string()].concat();
        let is_taken = |name: &str| self.names.contains(name);
        let number = self.numbers.entry(name.clone()).or_insert(2);
        while is_taken(&numbered(*number)) {
            *number += 1;
        }
        let mut names = (*number..).map(numbered);
        let name = names.find(|name| !is_taken(name) && !avoided(name));
        self.names.insert_full(name.unwrap_or_default()).0
    }

    /// Adds the parameter for a dollar sign.
    pub(crate) fn add_dollar(&mut self, name: &str) {
        let new = NewParameter {
            name: &[name],
            title: &["Dollar sign"],
            origin: &["`$` of text that Kubernetes must not expand"],
            description: "`$` of text that is not a reference; do not change it",
            value: "$",
            is_required: true,
            ..NewParameter::default()
        };
        self.add(&new, &|_| false);
    }
}

/// A parameter's name of some parts, in capitals, digits and `_`; empty parts are left out.
pub(crate) fn name(parts: &[&str]) -> String {
    let mut name = String::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !name.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()) {
            name.push('_');
        }
        name.extend(part.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
            _ => '_',
        }));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{NewParameter, Parameters, name};
    use crate::options::Format;

    #[test]
    fn names_are_capitals_with_underscores() {
        assert_eq!(name(&["web", "IMAGE"]), "WEB_IMAGE");
        assert_eq!(name(&["", "tls.key"]), "TLS_KEY");
        assert_eq!(name(&["9-web", "HOST"]), "_9_WEB_HOST");
        assert_eq!(name(&["é", "日本-a", "B"]), "_____A_B");
    }

    #[test]
    fn a_name_is_made_unique() {
        let mut parameters = Parameters::new(Format::Yaml);
        let mut add = |avoided: &str| {
            let new = NewParameter { name: &["A"], ..NewParameter::default() };
            parameters.add(&new, &|name| name == avoided).to_owned()
        };
        assert_eq!([add(""), add("A_2"), add("")], ["A", "A_3", "A_2"]);
        assert_eq!([add("A_5"), add("A_4"), add("")], ["A_4", "A_5", "A_6"]);
    }
}
