//! Puts parameter values in place of the references in an object.

use std::borrow::Cow;

use crate::template::declare::dialect::Dialect;
use crate::template::declare::foreign::{self, Usage};
use crate::template::declare::parameter::ParameterType;
use crate::template::declare::reference::{
    Part, parts, references, replace, whole_raw, with_values,
};
use crate::template::expand::path::Path;
use crate::template::resolve::parameters::Parameters;
use crate::template::values::text::is_json_number;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::scalar::is_non_finite;
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Data, Document, NodeId, Scalar, Value};

/// The variables of a container, which the kubelet puts in for `$(NAME)` in its command, its
/// arguments and, if declared earlier, in the values of its variables.
struct Variables {
    list: Vec<Variable>,
    /// Whether there are more that only the cluster knows.
    more: bool,
}

struct Variable {
    name: String,
    /// Where the name is written.
    node: Option<NodeId>,
}

/// Which variables the kubelet expands in a string.
#[derive(Clone, Copy)]
struct Expanding<'e> {
    variables: &'e Variables,
    /// Only those before this one.
    before: usize,
}

impl<'e> Expanding<'e> {
    /// Whether the container has a variable of this name, wherever in its list.
    fn has(self, name: &str) -> bool {
        let mut list = self.variables.list.iter();
        list.any(|variable| variable.name == name)
    }

    fn find(self, name: &str) -> Option<&'e Variable> {
        self.variables
            .list
            .iter()
            .take(self.before)
            .find(|variable| variable.name == name)
    }
}

/// The position of a string in its object.
#[derive(Clone, Copy)]
struct Spot<'c> {
    path: &'c Path<'c>,
    /// The nearest node of the document around it.
    node: Option<NodeId>,
    expanding: Option<Expanding<'c>>,
    /// Whether a reference that nothing replaces could never be valid.
    needs_replacement: bool,
}

impl<'c> Spot<'c> {
    const fn new(path: &'c Path<'c>, node: Option<NodeId>) -> Self {
        Self {
            path,
            node,
            expanding: None,
            needs_replacement: false,
        }
    }
}

/// What references become in one expansion.
pub(crate) struct Substitution<'s, 'd> {
    pub(crate) document: &'d Document,
    pub(crate) dialect: Dialect,
    pub(crate) parameters: &'s Parameters<'d>,
    /// What the Template refers to.
    pub(crate) usage: &'s Usage<'s>,
    /// Whether a reference to no declared parameter is an error anywhere.
    pub(crate) strict: bool,
    pub(crate) diagnostics: &'s mut Diagnostics,
}

/// Whether there can be references in a text.
fn has_dollar(text: &str) -> bool {
    memchr::memchr(b'$', text.as_bytes()).is_some()
}

/// What became of a text.
enum Replaced<'d> {
    /// It has no references.
    Unchanged,
    Text(String),
    Data(Data<'d>),
    /// `${{NAME}}` of the value `null`.
    Nothing,
}

impl<'d> Substitution<'_, 'd> {
    /// Replaces the references in an object.
    pub(crate) fn object(&mut self, object: &mut Value<'d>, path: &str) {
        let path = Path::Root(path);
        let spot = Spot::new(&path, object.origin);
        if self.value(object, spot) {
            self.error(spot, "", "an object must not be null".to_owned(), None);
        }
    }

    /// Replaces the references in a text outside of objects: a label or the message.
    pub(crate) fn text(&mut self, text: &str, node: Option<NodeId>, path: &Path<'_>) -> String {
        self.flat(text, Spot::new(path, node))
            .unwrap_or_else(|| text.to_owned())
    }

    /// As [`text`](Self::text); `None` if there are no references.
    fn flat(&mut self, text: &str, spot: Spot<'_>) -> Option<String> {
        if !has_dollar(text) {
            return None;
        }
        if self.dialect == Dialect::OpenShift {
            self.proposals_references(text, spot);
        }
        let parameters = self.parameters;
        replace(&parts(text, self.dialect), |part| match part {
            Part::Text(_) => None,
            Part::Escaped { .. } => Some(Cow::Borrowed(part.unescaped())),
            Part::Foreign { .. } => self.braces(part, spot).map(Cow::Borrowed),
            Part::String { name, spelling } | Part::Raw { name, spelling } => {
                let value = parameters.get(name);
                if value.is_none() {
                    self.undeclared(name, spelling, spot);
                }
                value.map(|value| Cow::Borrowed(value.text.as_ref()))
            }
        })
    }

    /// Replaces the references in a value. Returns whether it became nothing.
    fn value(&mut self, value: &mut Value<'d>, spot: Spot<'_>) -> bool {
        if self.is_plain(value) {
            return false;
        }
        let spot = Spot {
            node: value.origin.or(spot.node),
            ..spot
        };
        match &mut value.data {
            Data::Scalar(Scalar::String(text)) if has_dollar(text) => {
                let replaced = match self.dialect {
                    Dialect::Proposal => self.proposal(text, spot),
                    Dialect::OpenShift => self.openshift(text, spot),
                };
                match replaced {
                    Replaced::Unchanged => {}
                    Replaced::Text(text) => {
                        value.set(Data::Scalar(Scalar::String(Cow::Owned(text))));
                    }
                    Replaced::Data(data) => value.set(data),
                    Replaced::Nothing => return true,
                }
            }
            Data::Scalar(Scalar::Number(digits)) if is_non_finite(digits) => {
                let message =
                    format!("`{digits}` is not a number in JSON, the format that clusters read");
                let hint = format!("if it is a string, put it in quotes: `\"{digits}\"`");
                self.error(spot, digits, message, Some(hint));
            }
            Data::Scalar(_) => {}
            Data::Sequence(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let path = Path::Index(spot.path, index);
                    let inner = Spot {
                        path: &path,
                        ..spot
                    };
                    if self.value(item, inner) {
                        let inner = Spot {
                            node: item.origin.or(spot.node),
                            ..inner
                        };
                        self.error(
                            inner,
                            "",
                            "a list cannot contain the value `null`".to_owned(),
                            Some("give the parameter another value, or use the reference in a mapping, where null removes the key".to_owned()),
                        );
                    }
                }
            }
            Data::Mapping(_) => self.mapping(value, spot),
        }
        false
    }

    /// Whether there is nothing to replace or to report in a value, by the text that it was read
    /// from.
    fn is_plain(&self, value: &Value<'d>) -> bool {
        let node = value.origin.map(|origin| self.document.cursor(origin));
        node.is_some_and(|node| !node.may_contain(b'$')) && value.non_finite().is_none()
    }

    fn mapping(&mut self, value: &mut Value<'d>, spot: Spot<'_>) {
        let variables = spot.path.is_container().then(|| self.variables(value));
        let Data::Mapping(entries) = &mut value.data else {
            return;
        };
        let mut nothing = Vec::new();
        let replaced_keys = self.keys(entries, spot);
        for (index, (key, inner)) in entries.iter_mut().enumerate() {
            let node = inner.origin.or(spot.node);
            let path = Path::Key(spot.path, key);
            let expanding = match (&variables, key.as_ref()) {
                (Some(variables), "command" | "args") => Some(Expanding {
                    variables,
                    before: usize::MAX,
                }),
                (Some(variables), "env") => {
                    self.env(inner, Spot::new(&path, node), variables);
                    continue;
                }
                (Some(_), _) => None,
                (None, _) => spot.expanding,
            };
            if self.value(
                inner,
                Spot {
                    expanding,
                    ..Spot::new(&path, node)
                },
            ) {
                nothing.push(index);
            }
        }
        if !replaced_keys.is_empty() {
            self.collisions(entries, &replaced_keys, &mut nothing, spot);
        }
        nothing.sort_unstable();
        nothing.dedup();
        for index in nothing.into_iter().rev() {
            entries.remove(index);
        }
    }

    /// Replaces the references in the keys of a mapping. Returns which of them changed.
    fn keys(&mut self, entries: &mut [(Cow<'d, str>, Value<'d>)], spot: Spot<'_>) -> Vec<usize> {
        let mut replaced = Vec::new();
        for (index, (key, value)) in entries.iter_mut().enumerate() {
            if !has_dollar(key) {
                continue;
            }
            let path = Path::Key(spot.path, key);
            let here = Spot {
                needs_replacement: path.needs_replaced_key(),
                ..Spot::new(&path, value.origin.or(spot.node))
            };
            if let Some(new) = self.key(key, here) {
                *key = Cow::Owned(new);
                replaced.push(index);
            }
        }
        replaced
    }

    /// The `env` of a container: in each value the kubelet expands the variables before it.
    fn env(&mut self, list: &mut Value<'d>, spot: Spot<'_>, variables: &Variables) {
        let Data::Sequence(items) = &mut list.data else {
            self.value(list, spot);
            return;
        };
        for (index, item) in items.iter_mut().enumerate() {
            let path = Path::Index(spot.path, index);
            let here = Spot::new(&path, item.origin.or(spot.node));
            let Data::Mapping(entries) = &mut item.data else {
                self.value(item, here);
                continue;
            };
            let replaced_keys = self.keys(entries, here);
            let mut collided = Vec::new();
            self.collisions(entries, &replaced_keys, &mut collided, here);
            for index in collided.into_iter().rev() {
                entries.remove(index);
            }
            entries.retain_mut(|(key, value)| {
                let path = Path::Key(here.path, key);
                let expanding = (key == "value").then_some(Expanding {
                    variables,
                    before: index,
                });
                let node = value.origin.or(here.node);
                !self.value(
                    value,
                    Spot {
                        expanding,
                        ..Spot::new(&path, node)
                    },
                )
            });
        }
    }

    /// The variables of a container, their names with references replaced.
    fn variables(&self, container: &Value<'d>) -> Variables {
        let items = container
            .get("env")
            .and_then(Value::items)
            .unwrap_or_default();
        let value_of = |name: &str| Some(self.parameters.get(name)?.text.as_ref());
        let name_of = |item: &Value<'d>| {
            let name = item.str_at(&["name"]).unwrap_or_default();
            with_values(name, self.dialect, value_of)
        };
        let list = items
            .iter()
            .map(|item| Variable {
                name: name_of(item),
                node: item.get("name").and_then(|name| name.origin),
            })
            .collect();
        let more = container
            .get("envFrom")
            .and_then(Value::items)
            .is_some_and(|from| !from.is_empty());
        Variables { list, more }
    }

    /// The new spelling of a key, if it changes.
    fn key(&mut self, key: &str, spot: Spot<'_>) -> Option<String> {
        let parts = parts(key, self.dialect);
        for part in &parts {
            let Part::Raw { name, spelling } = *part else {
                continue;
            };
            match (self.dialect, self.parameters.get(name)) {
                (Dialect::Proposal, _) => {
                    let hint = format!("write `$({name})`: a key is always a string");
                    self.error(
                        spot,
                        spelling,
                        format!("raw reference `{spelling}` in a mapping key"),
                        Some(hint),
                    );
                    return None;
                }
                (Dialect::OpenShift, Some(value)) => match json_data(&value.text) {
                    Some(Data::Scalar(Scalar::String(text))) => return Some(text.into_owned()),
                    Some(_) => {
                        let message = format!(
                            "`{spelling}` as a mapping key must be a string, and the value of `{name}` is not"
                        );
                        self.error(
                            spot,
                            spelling,
                            message,
                            Some(format!("write `${{{name}}}`")),
                        );
                        return None;
                    }
                    None => {}
                },
                (Dialect::OpenShift, None) => {}
            }
        }
        self.flat(key, spot)
    }

    /// Two keys that became equal.
    fn collisions(
        &mut self,
        entries: &[(Cow<'d, str>, Value<'d>)],
        replaced: &[usize],
        nothing: &mut Vec<usize>,
        spot: Spot<'_>,
    ) {
        for &index in replaced {
            let Some((key, value)) = entries.get(index) else {
                continue;
            };
            for (other_index, (other, other_value)) in entries.iter().enumerate() {
                if other_index == index
                    || other != key
                    || nothing.contains(&index)
                    || nothing.contains(&other_index)
                {
                    continue;
                }
                let both = replaced.contains(&other_index);
                if self.dialect == Dialect::OpenShift && !both {
                    // As `oc`: the replaced key beats the literal one.
                    nothing.push(other_index);
                    continue;
                }
                if both && other_index > index {
                    continue;
                }
                let path = Path::Key(spot.path, key);
                let mut diagnostic = Diagnostic::error(format!(
                    "duplicate mapping key `{key}` after references are replaced"
                ))
                .rule("duplicate-key")
                .field(path.to_string());
                if let Some(node) = value.origin.or(spot.node) {
                    diagnostic = diagnostic.at(self.document.cursor(node).key_place());
                }
                if let Some(node) = other_value.origin {
                    diagnostic =
                        diagnostic.related(self.document.cursor(node).key_place(), "the other one");
                }
                self.diagnostics
                    .push(diagnostic.hint("rename one of the two"));
            }
        }
    }

    fn openshift(&mut self, text: &str, spot: Spot<'_>) -> Replaced<'d> {
        if !text.contains("${") {
            self.proposals_references(text, spot);
            return Replaced::Unchanged;
        }
        let parameters = self.parameters;
        if let Some(name) = whole_raw(text) {
            let Some(value) = parameters.get(name) else {
                self.undeclared(name, text, spot);
                return Replaced::Unchanged;
            };
            if let Some(structured) = &value.structured {
                return Replaced::Data(structured.data.clone());
            }
            return match json_data(&value.text) {
                Some(Data::Scalar(Scalar::Null)) => Replaced::Nothing,
                Some(data) => Replaced::Data(data),
                None => Replaced::Text(value.text.clone().into_owned()),
            };
        }
        self.flat(text, spot)
            .map_or(Replaced::Unchanged, Replaced::Text)
    }

    fn proposal(&mut self, text: &str, spot: Spot<'_>) -> Replaced<'d> {
        if !text.contains("$(") && !text.contains("${") {
            return Replaced::Unchanged;
        }
        let parts = parts(text, Dialect::Proposal);
        let parameters = self.parameters;
        if let [Part::Raw { name, .. }] = parts.as_slice()
            && let Some(structured) = parameters
                .get(name)
                .and_then(|value| value.structured.as_ref())
        {
            return Replaced::Data(structured.data.clone());
        }
        // A number, a bool or a structure is meant, and a string is none of them.
        let needs_replacement =
            spot.expanding.is_none() && matches!(parts.as_slice(), [Part::Raw { .. }]);
        let spot = Spot {
            needs_replacement,
            ..spot
        };
        let mut raw = Vec::new();
        let mut only_raw = true;
        let replaced = replace(&parts, |part| match part {
            Part::Text(_) => None,
            // The kubelet removes the first `$`.
            Part::Escaped { .. } if spot.expanding.is_some() => None,
            Part::Escaped { .. } => Some(Cow::Borrowed(part.unescaped())),
            Part::Foreign { .. } => self.braces(part, spot).map(Cow::Borrowed),
            Part::String { name, spelling } | Part::Raw { name, spelling } => {
                let Some(value) = parameters.get(name) else {
                    self.undeclared(name, spelling, spot);
                    only_raw = false;
                    return None;
                };
                if matches!(part, Part::Raw { .. }) {
                    raw.push((name, spelling));
                } else {
                    only_raw = false;
                    self.conflict(name, spelling, spot);
                }
                Some(Cow::Borrowed(value.text.as_ref()))
            }
        });
        match replaced {
            None => Replaced::Unchanged,
            Some(text) if raw.is_empty() || !only_raw => Replaced::Text(text),
            Some(text) => self.typed(text, &raw, spot),
        }
    }

    /// The text of a string with raw references only, typed by the JSON scalar grammar.
    fn typed(&mut self, text: String, raw: &[(&str, &str)], spot: Spot<'_>) -> Replaced<'d> {
        let scalar = match text.as_str() {
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            "null" => Scalar::Null,
            number if is_json_number(number) => Scalar::Number(Cow::Owned(text)),
            _ => {
                self.untyped(&text, raw, spot);
                return Replaced::Text(text);
            }
        };
        Replaced::Data(Data::Scalar(scalar))
    }

    /// A raw reference whose text is not a JSON scalar: it stays a string, which may surprise.
    fn untyped(&mut self, text: &str, raw: &[(&str, &str)], spot: Spot<'_>) {
        let kind = |name: &str| self.parameters.get(name).map(|value| value.kind);
        let is_empty = |name: &str| {
            let value = self.parameters.get(name);
            value.is_some_and(|value| value.text.is_empty())
        };
        let typed = |name: &str| kind(name) != Some(ParameterType::String);
        let empty = raw.iter().find(|(name, _)| is_empty(name) && typed(name));
        if let Some((name, spelling)) = empty {
            let message =
                format!("raw reference `{spelling}` to the empty value of parameter `{name}`");
            let hint = format!("give `{name}` a value, or make it required");
            self.error(spot, spelling, message, Some(hint));
            return;
        }
        let Some(&(name, spelling)) = raw.first() else {
            return;
        };
        if text.is_empty() {
            let diagnostic = Diagnostic::warning(format!(
                "raw reference `{spelling}` to the empty value of parameter `{name}`"
            ));
            let diagnostic = diagnostic.hint("the field becomes the empty string `\"\"`");
            let diagnostic = self.diagnostic(diagnostic, spot, spelling);
            self.diagnostics.push(diagnostic);
            return;
        }
        if raw
            .iter()
            .any(|(name, _)| matches!(kind(name), Some(ParameterType::Int | ParameterType::Number)))
        {
            let secret = raw.iter().any(|(name, _)| {
                let value = self.parameters.get(name);
                value.is_some_and(|value| !value.may_show)
            });
            let shown = if secret {
                "the value".to_owned()
            } else {
                format!("`{text}`")
            };
            let mut diagnostic = Diagnostic::warning(format!(
                "{shown} is not a JSON number: the field becomes a string"
            ))
            .rule("raw-number");
            let octal = text.strip_prefix('0').filter(|digits| {
                !secret && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            });
            if let Some(number) = octal.and_then(|digits| i64::from_str_radix(digits, 8).ok()) {
                diagnostic = diagnostic.hint(format!("for file mode {text} write {number}"));
            }
            let diagnostic = self.diagnostic(diagnostic, spot, spelling);
            self.diagnostics.push(diagnostic);
        }
    }

    /// `$(NAME)` that names both a parameter and a variable which the kubelet expands there.
    fn conflict(&mut self, name: &str, spelling: &str, spot: Spot<'_>) {
        let Some(variable) = spot.expanding.and_then(|expanding| expanding.find(name)) else {
            return;
        };
        let mut diagnostic = self.diagnostic(
            Diagnostic::error(format!(
                "`{spelling}` names both a parameter and an environment variable of this container"
            ))
            .rule("env-conflict"),
            spot,
            spelling,
        );
        if let Some(node) = variable.node {
            diagnostic = diagnostic.related(self.document.cursor(node).place(), "the variable");
        }
        self.diagnostics.push(
            diagnostic
                .hint(format!("for the variable, write `${spelling}`"))
                .hint("for the parameter, rename the variable or the parameter"),
        );
    }

    /// What `${NAME}` of a declared parameter becomes in the proposal's dialect, where it may be
    /// meant for a shell: there it is written `$${NAME}`, if not for a variable of the container.
    fn braces<'t>(&mut self, part: Part<'t>, spot: Spot<'_>) -> Option<&'t str> {
        let Part::Foreign {
            name,
            spelling,
            is_escaped,
        } = part
        else {
            return None;
        };
        self.parameters.get(name)?;
        if is_escaped {
            // The kubelet removes the first `$`.
            let by_kubelet = spot.expanding.is_some();
            return (!by_kubelet).then(|| part.unescaped());
        }
        if !spot.expanding.is_some_and(|one| one.has(name)) {
            let diagnostic = foreign::diagnostic(self.dialect, name, spelling, true);
            let diagnostic = self.diagnostic(diagnostic, spot, spelling);
            self.diagnostics.push(diagnostic);
        }
        None
    }

    /// `$(NAME)` of a declared parameter in OpenShift's dialect. As `oc` leaves it, it stays. It is
    /// an error where it can mean nothing else than the parameter.
    fn proposals_references(&mut self, text: &str, spot: Spot<'_>) {
        if !text.contains("$(") {
            return;
        }
        for (name, spelling) in references(text, Dialect::Proposal) {
            let by_kubelet = spot
                .expanding
                .is_some_and(|one| one.has(name) || one.variables.more);
            if by_kubelet || self.parameters.get(name).is_none() {
                continue;
            }
            let in_script = spot.expanding.is_some() || text.contains('\n');
            let is_error = spot.path.needs_replacement() || !(in_script || self.usage.has(name));
            let diagnostic = foreign::diagnostic(self.dialect, name, spelling, is_error);
            let diagnostic = self.diagnostic(diagnostic, spot, spelling);
            self.diagnostics.push(diagnostic);
        }
    }

    /// A reference to a parameter that is not declared: it stays as it is.
    fn undeclared(&mut self, name: &str, spelling: &str, spot: Spot<'_>) {
        let by_kubelet = spot
            .expanding
            .is_some_and(|expanding| expanding.find(name).is_some() || expanding.variables.more);
        if by_kubelet || (self.dialect == Dialect::OpenShift && !self.strict) {
            return;
        }
        let known = closest(name, self.parameters.names());
        let hint = match known {
            Some(known) => format!("did you mean `{}`?", spelling.replace(name, known)),
            None => format!("declare it under `parameters`, as `- name: {name}`"),
        };
        let message = format!("parameter `{name}` is not declared");
        let must_replace = self.dialect == Dialect::Proposal
            && (spot.needs_replacement || spot.path.needs_replacement());
        let error = self.strict || must_replace;
        let diagnostic = if error {
            Diagnostic::error(message)
        } else {
            Diagnostic::warning(message)
        };
        let diagnostic = diagnostic.rule("undeclared-parameter");
        let mut diagnostic = self.diagnostic(diagnostic, spot, spelling).hint(hint);
        if !error && known.is_none() {
            diagnostic.hints.clear();
            diagnostic = diagnostic.hint(format!(
                "`{spelling}` stays as it is; to keep it without this warning, write `$${}`",
                spelling.get(1..).unwrap_or_default()
            ));
        }
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, spot: Spot<'_>, spelling: &str, message: String, hint: Option<String>) {
        let diagnostic =
            self.diagnostic(Diagnostic::error(message).maybe_hint(hint), spot, spelling);
        self.diagnostics.push(diagnostic);
    }

    /// Adds field and place: that of `spelling` if it is found in the node's text.
    fn diagnostic(&self, diagnostic: Diagnostic, spot: Spot<'_>, spelling: &str) -> Diagnostic {
        let diagnostic = diagnostic.field(spot.path.to_string());
        match spot.node {
            Some(node) => diagnostic.at(place_of(spelling, self.document.cursor(node))),
            None => diagnostic,
        }
    }
}

/// The place of `spelling` in a node or its key, else the place of the node.
pub(crate) fn place_of(spelling: &str, node: Cursor<'_>) -> Place {
    let whole = node.place();
    if spelling.is_empty() {
        return whole;
    }
    for place in [&whole, &node.key_place()] {
        let text = place.source.text();
        let text = text.get(place.range.clone()).unwrap_or_default();
        if let Some(at) = text.find(spelling) {
            let start = place.range.start + at;
            return Place {
                source: place.source.clone(),
                range: start..start + spelling.len(),
            };
        }
    }
    whole
}

/// The data of a text by the JSON grammar, numbers with their digits; `None` if it is not
/// JSON, or a number that Go's decoder does not accept.
fn json_data(text: &str) -> Option<Data<'static>> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    if !fits_go(&value) {
        return None;
    }
    // serde_json would respell `1e3` as `1e+3`.
    let digits = text.trim_ascii();
    if value.is_number() {
        return Some(Value::number(digits.to_owned()).data);
    }
    Some(Value::from(value).data)
}

/// Whether Go's decoder accepts all numbers of a JSON value: those that fit a 64-bit float.
fn fits_go(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => {
            number.to_string().parse::<f64>().is_ok_and(f64::is_finite)
        }
        serde_json::Value::Array(items) => items.iter().all(fits_go),
        serde_json::Value::Object(entries) => entries.values().all(fits_go),
        _ => true,
    }
}
