//! Checks the value of a parameter against what the Template declares.

use crate::declare::parameter::{Parameter, ParameterType};
use crate::values::given::{AssignedValue, Assignment};
use crate::values::pattern::{self, Unmatched};
use crate::values::text::{is_base64_by_chance, no_json_number, read_text};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, Value};

/// The most allowed values in a message; more would be cut from it.
const MAX_NAMED: usize = 1_000;

/// Checks one value against its parameter.
pub(crate) struct Check<'c> {
    pub(crate) parameter: &'c Parameter,
    pub(crate) given: Option<&'c Assignment>,
    pub(crate) may_show: bool,
    pub(crate) diagnostics: &'c mut Diagnostics,
}

impl Check<'_> {
    /// The place of the value.
    fn place(&self) -> Option<Place> {
        match self.given {
            Some(given) => given.place.clone(),
            None => Some(self.parameter.value().unwrap_or(self.parameter.node()).place()),
        }
    }

    fn error(&mut self, message: String, hint: Option<String>) {
        self.report(Diagnostic::error(message).maybe_hint(hint));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let mut diagnostic = diagnostic.conceal(!self.may_show);
        diagnostic.place = self.place();
        match self.given {
            None => {
                diagnostic =
                    diagnostic.field(format!("parameters[{}].value", self.parameter.index));
            }
            Some(given) if given.place.is_none() => {
                diagnostic = diagnostic.hint(format!("it was given by `{}`", given.origin));
            }
            Some(_) => {}
        }
        self.diagnostics.push(diagnostic);
    }

    /// A list or mapping for a parameter of such a type, read from its text if need be.
    pub(crate) fn structured<'v>(
        &mut self,
        value: Option<Value<'v>>,
        text: &str,
    ) -> Option<Value<'v>> {
        let name = &self.parameter.name;
        let kind = self.parameter.kind;
        let value = match value {
            None if kind.is_structured() && !text.is_empty() => read_text(text),
            None => return None,
            value => value,
        };
        let fits = match value.as_ref().map(|value| &value.data) {
            Some(Data::Sequence(_)) => kind == ParameterType::Array,
            Some(Data::Mapping(_)) => kind == ParameterType::Map,
            _ => false,
        };
        if fits {
            if let Some(digits) = value.as_ref().and_then(Value::non_finite) {
                let (message, hint) = no_json_number(name, Some(digits).filter(|_| self.may_show));
                self.error(message, Some(hint.to_owned()));
                return None;
            }
            return value;
        }
        let hint = match value.as_ref().map(|value| &value.data) {
            Some(Data::Sequence(_)) => "a list needs `type: array` in the Template",
            Some(Data::Mapping(_)) => "a mapping needs `type: map` in the Template",
            _ if kind == ParameterType::Array => "write it as `[a, b]`",
            _ => "write it as `{key: value}`",
        };
        let message = format!("the value of parameter `{name}` is not of the type {}", kind.name());
        self.error(message, Some(hint.to_owned()));
        None
    }

    pub(crate) fn value(&mut self, text: &str, structured: bool) {
        if text.is_empty() {
            if self.parameter.required {
                self.missing();
            }
            return;
        }
        if structured || self.parameter.kind.is_structured() {
            return;
        }
        self.placeholder(text);
        self.kind(text);
        self.allowed(text);
        self.pattern(text);
        self.length(text);
        self.range(text);
    }

    /// Warns of a value such as `<NAME>`, which was to be replaced by the value.
    fn placeholder(&mut self, text: &str) {
        let name = &self.parameter.name;
        let is_unknown = |given: &Assignment| matches!(given.value, AssignedValue::Unknown(_));
        let brackets: &[(&str, &str)] = match self.given {
            Some(given) if is_unknown(given) => return,
            Some(_) => &[("<", ">"), ("$(", ")"), ("${", "}"), ("{{", "}}"), ("$", "")],
            // Another rule checks references in defaults.
            None => &[("<", ">")],
        };
        let is_placeholder = brackets.iter().any(|(open, close)| {
            let inner = text.strip_prefix(open);
            inner.and_then(|inner| inner.strip_suffix(close)).map(str::trim) == Some(name)
        });
        if is_placeholder {
            let message = format!("the value of parameter `{name}` is the placeholder `{text}`");
            self.report(Diagnostic::warning(message).hint("replace it with a value"));
        }
    }

    fn missing(&mut self) {
        let parameter = self.parameter;
        let shown = match parameter.display_name() {
            Some(shown) => format!(" ({shown})"),
            None => String::new(),
        };
        let message = format!("parameter `{}`{shown} is required and has no value", parameter.name);
        let mut diagnostic = Diagnostic::error(message)
            .rule("given-value")
            .at(parameter.field("name").place())
            .field(format!("parameters[{}].value", parameter.index));
        if let Some(description) = parameter.description() {
            diagnostic = diagnostic.hint(description.trim().to_owned());
        }
        let name = &parameter.name;
        diagnostic = match self.given {
            Some(given) => diagnostic.hint(format!("the value given by `{}` is empty", given.origin)),
            None => diagnostic
                .advise(Way::Arguments, format!("give it as `-p {name}=…`"))
                .advise(
                    Way::Objects,
                    format!("give it as `{name}: …` under `values` of the Template, `parameters` of the TemplateInstance or `data` of the ConfigMap"),
                ),
        };
        self.diagnostics.push(diagnostic);
    }

    /// The end of a message that shows the value, unless it is secret or long.
    fn found(&self, text: &str) -> String {
        if self.may_show && text.len() <= 80 { format!(", found `{text}`") } else { String::new() }
    }

    fn kind(&mut self, text: &str) {
        let kind = self.parameter.kind;
        if kind.fits(text) {
            let is_own =
                self.given.is_some_and(|given| matches!(given.value, AssignedValue::Bytes(_)));
            if kind == ParameterType::Base64 && !is_own && is_base64_by_chance(text) {
                let message = format!(
                    "the value of parameter `{}` is base64 of bytes that are not text",
                    self.parameter.name
                );
                self.report(
                    Diagnostic::warning(message)
                        .hint("if it is the text itself, encode it: `printf %s TEXT | base64`"),
                );
            }
            return;
        }
        let hint = match kind {
            ParameterType::Bool => Some("write `true` or `false`".to_owned()),
            ParameterType::Base64 => Some("encode it as RFC 4648 says, with padding".to_owned()),
            ParameterType::Int => Some("write digits, with an optional sign".to_owned()),
            _ => Some("write it as JSON does: `3`, `-0.5`, `1e6`".to_owned()),
        };
        let message = format!(
            "parameter `{}` must be {}{}",
            self.parameter.name,
            kind.with_article(),
            self.found(text)
        );
        self.error(message, hint);
    }

    fn allowed(&mut self, text: &str) {
        let allowed = &self.parameter.allowed;
        if allowed.is_empty() || allowed.iter().any(|one| one == text) {
            return;
        }
        let list = allowed
            .iter()
            .take(MAX_NAMED)
            .map(|one| format!("`{one}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let hint = closest(text, allowed.iter().map(AsRef::as_ref))
            .map(|one| format!("did you mean `{one}`?"));
        let message = format!(
            "parameter `{}` must be one of {list}{}",
            self.parameter.name,
            self.found(text)
        );
        self.error(message, hint);
    }

    fn pattern(&mut self, text: &str) {
        let Some(pattern) = &self.parameter.pattern else {
            return;
        };
        let name = &self.parameter.name;
        match pattern::matches(pattern, text) {
            Ok(true) => {}
            Ok(false) => {
                let message =
                    format!("parameter `{name}` must match `{pattern}`{}", self.found(text));
                self.error(message, None);
            }
            Err(Unmatched::Long) => {
                let message = format!(
                    "the value of parameter `{name}` is too long for its pattern `{pattern}`"
                );
                let hint = "give a shorter value, or write the pattern with smaller repetitions";
                self.error(message, Some(hint.to_owned()));
            }
            Err(Unmatched::Wrong(error)) => {
                let place = self.parameter.field("pattern").place();
                self.diagnostics.push(
                    Diagnostic::error(format!(
                        "the pattern of parameter `{name}` is not a regular expression: {error}"
                    ))
                    .rule("parameter-limits")
                    .at(place)
                    .field(format!("parameters[{}].pattern", self.parameter.index)),
                );
            }
        }
    }

    fn length(&mut self, text: &str) {
        let count = text.chars().count();
        let name = &self.parameter.name;
        let message = match (self.parameter.min_length, self.parameter.max_length) {
            (Some(least), _) if count < least => {
                format!("parameter `{name}` must have at least {least} characters, found {count}")
            }
            (_, Some(most)) if count > most => {
                format!("parameter `{name}` must have at most {most} characters, found {count}")
            }
            _ => return,
        };
        self.error(message, None);
    }

    fn range(&mut self, text: &str) {
        let Ok(number) = text.parse::<f64>() else {
            return;
        };
        let bound = |bound: &Option<String>| bound.as_ref()?.parse::<f64>().ok();
        let name = &self.parameter.name;
        let message = match (bound(&self.parameter.minimum), bound(&self.parameter.maximum)) {
            (Some(least), _) if number < least => {
                format!("parameter `{name}` must be at least {least}{}", self.found(text))
            }
            (_, Some(most)) if number > most => {
                format!("parameter `{name}` must be at most {most}{}", self.found(text))
            }
            _ => return,
        };
        self.error(message, None);
    }
}
