//! Spells the marked references of an object in a dialect, and escapes text that looks like one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::references::marks::{self, Reference};
use krm_template_engine::{Dialect, Part, Path, parts};
use krm_yaml::{Data, Scalar, Value};

/// The parameter whose value is `$`, for text that cannot be escaped otherwise.
pub(crate) const DOLLAR: &str = "DOLLAR";

/// Writes the references that marks stand for, in the dialect of the Template.
pub(crate) struct Speller<'s> {
    dialect: Dialect,
    /// The names of all parameters.
    declared: &'s BTreeSet<String>,
    /// The name of the parameter whose value is `$`.
    dollar: &'s str,
    /// Whether it is referred to.
    pub(crate) uses_dollar: bool,
    /// Where the text would become a reference, and its spelling.
    pub(crate) clashes: Vec<(String, String)>,
    /// The text that is being spelled.
    out: String,
}

/// The variables that the kubelet expands in a text.
#[derive(Clone, Copy)]
struct Variables<'v> {
    names: &'v [String],
    /// How many of them come before the text.
    before: usize,
    /// Whether there are more that only the cluster knows.
    more: bool,
}

impl Variables<'_> {
    fn has(self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    fn expands(self, name: &str) -> bool {
        self.more || self.is_before(name)
    }

    fn is_before(self, name: &str) -> bool {
        self.names.iter().take(self.before).any(|one| one == name)
    }
}

/// The variables that the kubelet expands in a value.
#[derive(Clone, Copy)]
enum Expands<'v> {
    Nothing,
    /// In a text, these variables.
    Text(Variables<'v>),
    /// In the values of a list of variables, those before.
    Env(Variables<'v>),
    /// In the value of a variable.
    Variable(Variables<'v>),
}

impl<'v> Expands<'v> {
    /// The same for an entry of a mapping. `container` has its variables, if it is one.
    fn entry(self, key: &str, container: Option<&'v (Vec<String>, bool)>) -> Self {
        let all =
            container.map(|(names, more)| Variables { names, before: usize::MAX, more: *more });
        match (key, all, self) {
            ("command" | "args", Some(all), _) => Self::Text(all),
            ("env", Some(all), _) => Self::Env(all),
            ("value", _, Self::Variable(before)) => Self::Text(before),
            _ => Self::Nothing,
        }
    }

    /// The same for an item of a list.
    const fn item(self, index: usize) -> Self {
        match self {
            Self::Env(all) => Self::Variable(Variables { before: index, ..all }),
            other => other,
        }
    }
}

impl<'s> Speller<'s> {
    /// For parameters of these names; `dollar` is the one whose value is `$`.
    pub(crate) const fn new(
        dialect: Dialect,
        declared: &'s BTreeSet<String>,
        dollar: &'s str,
    ) -> Self {
        Self {
            dialect,
            declared,
            dollar,
            uses_dollar: false,
            clashes: Vec::new(),
            out: String::new(),
        }
    }

    /// Spells the references of an object.
    pub(crate) fn object(&mut self, object: &mut Value<'_>) {
        self.value(object, &Path::Root(""), Expands::Nothing);
    }

    /// A text outside of objects with its references spelled.
    pub(crate) fn spelled(&mut self, text: String) -> String {
        let spelled = self.text(&text, &Path::Root(""), None);
        spelled.map(str::to_owned).unwrap_or(text)
    }

    fn value(&mut self, value: &mut Value<'_>, path: &Path<'_>, expands: Expands<'_>) {
        match (&mut value.data, expands) {
            (Data::Sequence(_) | Data::Scalar(_), Expands::Variable(_))
            | (Data::Mapping(_) | Data::Scalar(_), Expands::Env(_)) => {}
            (Data::Scalar(Scalar::String(text)), expands) => {
                let variables = match expands {
                    Expands::Text(variables) => Some(variables),
                    _ => None,
                };
                if let Some(spelled) = self.text(text, path, variables) {
                    spelled.clone_into(text.to_mut());
                }
            }
            (Data::Scalar(_), _) => {}
            (Data::Sequence(items), expands) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(item, &Path::Index(path, index), expands.item(index));
                }
            }
            (Data::Mapping(_), expands) => self.mapping(value, path, expands),
        }
    }

    fn mapping(&mut self, value: &mut Value<'_>, path: &Path<'_>, expands: Expands<'_>) {
        let container = path.is_container().then(|| variables_of(value));
        let Data::Mapping(entries) = &mut value.data else {
            return;
        };
        for (key, value) in entries {
            let here = Path::Key(path, key);
            let spelled = match expands {
                Expands::Variable(_) => None,
                _ => self.text(key, &here, None).map(str::to_owned),
            };
            self.value(value, &here, expands.entry(key, container.as_ref()));
            if let Some(spelled) = spelled {
                *key = Cow::Owned(spelled);
            }
        }
    }

    /// The spelling of a text; `None` if it stays.
    fn text(
        &mut self,
        text: &str,
        path: &Path<'_>,
        variables: Option<Variables<'_>>,
    ) -> Option<&str> {
        let has_dollar = memchr::memchr(b'$', text.as_bytes()).is_some();
        let dollars = has_dollar.then_some((path, variables));
        let mut next = marks::split(text);
        if !has_dollar && next.is_none() {
            return None;
        }
        self.out.clear();
        let mut rest = text;
        while let Some((before, reference, after)) = next {
            self.literal(before, true, dollars);
            match reference {
                Reference::Text(name) => {
                    let clashes = variables.is_some_and(|variables| variables.is_before(name));
                    self.reference(name, clashes && self.dialect == Dialect::Proposal);
                }
                Reference::Raw(name) => {
                    let is_first = rest.len() == text.len() && before.is_empty();
                    self.reference(name, is_first && after.is_empty());
                }
            }
            rest = after;
            next = marks::split(rest);
        }
        self.literal(rest, false, dollars);
        Some(self.out.as_str()).filter(|out| *out != text)
    }

    /// Adds a reference. A raw one never means a variable of the container.
    fn reference(&mut self, name: &str, is_raw: bool) {
        let (open, close) = match (self.dialect, is_raw) {
            (Dialect::Proposal, true) => ("$((", "))"),
            (Dialect::Proposal, false) => ("$(", ")"),
            (Dialect::OpenShift, true) => ("${{", "}}"),
            (Dialect::OpenShift, false) => ("${", "}"),
        };
        self.out.extend([open, name, close]);
    }

    /// Adds a text that must not change. `dollars` is where it is, if it may have a `$`.
    fn literal(
        &mut self,
        literal: &str,
        is_before_reference: bool,
        dollars: Option<(&Path<'_>, Option<Variables<'_>>)>,
    ) {
        let Some((path, variables)) = dollars else {
            self.out.push_str(literal);
            return;
        };
        let split = match self.dialect {
            Dialect::Proposal if is_before_reference => literal.strip_suffix('$'),
            _ => None,
        };
        for part in parts(split.unwrap_or(literal), self.dialect) {
            match self.dialect {
                Dialect::Proposal => self.proposal(part, variables),
                Dialect::OpenShift => {
                    if let Some(name) = part.name().filter(|name| self.declared.contains(*name)) {
                        let clash = (path.to_string(), format!("${{{name}}}"));
                        self.clashes.push(clash);
                    }
                    self.out.push_str(part.spelling());
                }
            }
        }
        if split.is_some() {
            self.dollar("$");
        }
    }

    fn proposal(&mut self, part: Part<'_>, variables: Option<Variables<'_>>) {
        let spelling = part.spelling();
        match (part, variables) {
            (Part::Text(_), _) | (Part::Escaped { .. }, Some(_)) => self.out.push_str(spelling),
            (Part::String { name, .. } | Part::Raw { name, .. }, Some(variables)) => {
                if variables.expands(name) && !self.declared.contains(name) {
                    self.out.push_str(spelling);
                } else {
                    self.dollar(spelling);
                }
            }
            (Part::Foreign { name, .. }, _) if !self.declared.contains(name) => {
                self.out.push_str(spelling);
            }
            (_, None) => {
                self.out.push('$');
                self.out.push_str(spelling);
            }
            (Part::Foreign { name, is_escaped, .. }, Some(variables)) => {
                if is_escaped || variables.has(name) {
                    self.out.push_str(spelling);
                } else {
                    self.dollar(spelling);
                }
            }
        }
    }

    /// Adds a text whose first character, a `$`, is inserted by a parameter: where the kubelet
    /// expands variables, `$$` stays.
    fn dollar(&mut self, text: &str) {
        self.uses_dollar = true;
        self.reference(self.dollar, false);
        self.out.push_str(text.get(1..).unwrap_or_default());
    }
}

/// The variables of a container, and whether there are more.
fn variables_of(container: &Value<'_>) -> (Vec<String>, bool) {
    let items = |key| {
        let list = container.get(key).and_then(Value::items);
        list.into_iter().flatten()
    };
    let names = items("env").map(|one| one.str_at(&["name"]).unwrap_or_default().to_owned());
    (names.collect(), items("envFrom").next().is_some())
}
