//! The parameters that are made: their names, and their declarations in the Template.

use std::borrow::Cow;

use indexmap::IndexSet;

use crate::export::json;
use crate::export::options::Format;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::{Data, Rows, Scalar, Value};

/// The fields of a declaration.
const FIELDS: [&str; 12] = [
    "name",
    "displayName",
    "description",
    "group",
    "type",
    "value",
    "generate",
    "from",
    "pattern",
    "minimum",
    "required",
    "secret",
];

/// The values of those that a declaration has.
type Row<'r> = [Option<Scalar<'r>>; FIELDS.len()];

/// A parameter that is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made<'m> {
    pub(crate) name: String,
    pub(crate) title: Cow<'m, str>,
    /// Where it came from, as the report says it.
    pub(crate) origin: Cow<'m, str>,
    /// What the Template says instead; if empty, the same without its article.
    pub(crate) description: Cow<'m, str>,
    /// The object, if it is of one.
    pub(crate) group: &'m str,
    /// The default; that of a secret is written elsewhere.
    pub(crate) value: Cow<'m, str>,
    pub(crate) kind: Option<&'static str>,
    pub(crate) is_required: bool,
    pub(crate) is_secret: bool,
    pub(crate) minimum: Option<&'static str>,
    pub(crate) pattern: Option<&'static str>,
    /// The expression that generates its value.
    pub(crate) from: Option<&'static str>,
}

impl Made<'_> {
    /// Its declaration under a name.
    fn declaration<'r>(&'r self, name: &'r str) -> Row<'r> {
        let text = |text: &'r str| {
            let is_there = !text.is_empty();
            is_there.then_some(Scalar::String(Cow::Borrowed(text)))
        };
        let flag = |flag: bool| flag.then_some(Scalar::Bool(true));
        let number = |digits| Scalar::Number(Cow::Borrowed(digits));
        let description = match self.description.as_ref() {
            "" => self.origin.strip_prefix("the ").unwrap_or(&self.origin),
            description => description,
        };
        [
            text(name),
            text(&self.title),
            text(description),
            text(self.group),
            self.kind.and_then(text),
            text(&self.value).filter(|_| !self.is_secret),
            self.from.and_then(|_| text("expression")),
            self.from.and_then(text),
            self.pattern.and_then(text),
            self.minimum.map(number),
            flag(self.is_required),
            flag(self.is_secret),
        ]
    }
}

/// All parameters that are made, in order.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) names: IndexSet<String>,
    pub(crate) declarations: Declarations,
    /// The values of the secrets, for `process -P`.
    pub(crate) secrets: Vec<(Cow<'static, str>, Value<'static>)>,
    /// Remarks about them.
    pub(crate) remarks: Vec<String>,
    /// Declarations that cannot be written: defects of this program.
    pub(crate) errors: Diagnostics,
}

/// The texts of declarations, as items of a list.
#[derive(Debug)]
pub(crate) enum Declarations {
    Yaml(Rows<{ FIELDS.len() }>),
    Json(Vec<String>),
}

impl Declarations {
    fn push(&mut self, row: &Row<'_>) -> Result<()> {
        match self {
            Self::Yaml(rows) => rows.push(row)?,
            Self::Json(items) => {
                let entries = FIELDS.into_iter().zip(row);
                let entries = entries.filter_map(|(key, scalar)| {
                    let value = Data::Scalar(scalar.clone()?).into();
                    Some((Cow::Borrowed(key), value))
                });
                items.push(json::item(&Value::mapping(entries.collect()))?);
            }
        }
        Ok(())
    }
}

impl Parameters {
    /// None yet.
    pub(crate) fn new(format: Format) -> Self {
        Self {
            names: IndexSet::new(),
            declarations: match format {
                Format::Yaml => Declarations::Yaml(Rows::new(&FIELDS)),
                Format::Json => Declarations::Json(Vec::new()),
            },
            secrets: Vec::new(),
            remarks: Vec::new(),
            errors: Diagnostics::new(),
        }
    }

    /// Adds a parameter whose name is made unique and not one of `avoided`. Returns the name.
    pub(crate) fn add(&mut self, mut made: Made<'_>, avoided: &dyn Fn(&str) -> bool) -> &str {
        let index = self.add_name(std::mem::take(&mut made.name), avoided);
        let name = self.names.get_index(index).map_or("", String::as_str);
        let declared = self.declarations.push(&made.declaration(name));
        self.errors.take(declared);
        let end = if made.is_secret { ", a secret" } else { "" };
        let remark = ["parameter ", name, ": ", &made.origin, end].concat();
        self.remarks.push(remark);
        if made.is_secret {
            let value = Value::string(made.value.into_owned());
            self.secrets.push((Cow::Owned(name.to_owned()), value));
        }
        name
    }

    /// Adds a name, with a number where it would not be unique. Returns its index.
    fn add_name(&mut self, mut name: String, avoided: &dyn Fn(&str) -> bool) -> usize {
        let end = name.len();
        let mut count = 1_usize;
        loop {
            if !avoided(&name) {
                let (index, is_new) = self.names.insert_full(name);
                if is_new {
                    return index;
                }
                name = self.names.get_index(index).cloned().unwrap_or_default();
            }
            count += 1;
            name.truncate(end);
            name.push('_');
            name.push_str(&count.to_string());
        }
    }

    /// Adds the parameter for a dollar sign.
    pub(crate) fn add_dollar(&mut self, name: &str) {
        let made = Made {
            name: name.to_owned(),
            title: "Dollar sign".into(),
            origin: "`$` of text that Kubernetes must not expand".into(),
            description: "`$` of text that is not a reference; do not change it".into(),
            value: "$".into(),
            is_required: true,
            ..Made::default()
        };
        self.add(made, &|_| false);
    }
}

/// A parameter's name of some parts, in capitals, digits and `_`; empty parts are left out.
pub(crate) fn name(parts: &[&str]) -> String {
    let mut name = String::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !name.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()) {
            name.push('_');
        }
        let words = part.split(|c: char| !c.is_ascii_alphanumeric());
        for (index, word) in words.enumerate() {
            if index > 0 {
                name.push('_');
            }
            name.push_str(word);
        }
    }
    name.make_ascii_uppercase();
    name
}

#[cfg(test)]
mod tests {
    use super::{Made, Parameters, name};
    use crate::export::options::Format;

    #[test]
    fn names_are_capitals_with_underscores() {
        assert_eq!(name(&["web", "IMAGE"]), "WEB_IMAGE");
        assert_eq!(name(&["", "tls.key"]), "TLS_KEY");
        assert_eq!(name(&["9-web", "HOST"]), "_9_WEB_HOST");
    }

    #[test]
    fn a_name_is_made_unique() {
        let mut parameters = Parameters::new(Format::Yaml);
        let mut add = |avoided: &str| {
            let made = Made {
                name: "A".into(),
                ..Made::default()
            };
            parameters.add(made, &|name| name == avoided).to_owned()
        };
        assert_eq!([add(""), add("A_2"), add("")], ["A", "A_3", "A_2"]);
    }
}
