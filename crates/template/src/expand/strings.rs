//! Puts parameter values in place of the references in a string.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use crate::declare::dialect::Dialect;
use crate::declare::foreign;
use crate::declare::parameter::ParameterType;
use crate::declare::reference::{Part, has_dollar, parts, references, replace, whole_raw};
use crate::expand::path::Path;
use crate::expand::spot::{Spot, Variables};
use crate::resolve::parameters::Parameters;
use crate::values::budget::{self, Budget};
use crate::values::text::is_json_number;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Data, Document, NodeId, Scalar, Value, View};

/// Replaces the references of one expansion.
pub(crate) struct Substitution<'s, 'd> {
    pub(crate) document: &'d Document,
    pub(crate) dialect: Dialect,
    pub(crate) parameters: &'s Parameters<'d>,
    /// Whether a reference to no declared parameter is an error anywhere.
    pub(crate) strict: bool,
    /// Where the object has references.
    pub(crate) dollars: Dollars,
    /// The limit for the bytes of the values, if there is one.
    pub(crate) budget: Option<&'s Budget<'s>>,
    pub(crate) diagnostics: &'s mut Diagnostics,
}

/// Whether a text has a `$` before this bracket or brace.
fn has_opening(text: &str, bracket: u8) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'$', bytes).any(|dollar| bytes.get(dollar + 1) == Some(&bracket))
}

/// Where an object may have a `$`. The other parts have nothing to replace or to report.
#[derive(Debug, Default)]
pub(crate) enum Dollars {
    /// Any part may have one, or something else to report.
    #[default]
    Anywhere,
    /// At these offsets of the document, in order.
    At {
        offsets: Vec<usize>,
        /// A place after one of them or the start, and the next one.
        gap: Cell<(usize, usize)>,
    },
}

impl Dollars {
    pub(super) fn of(object: &Value<'_>, document: &Document) -> Self {
        let node = object.origin.map(|origin| document.cursor(origin));
        // A number that JSON cannot hold is an error.
        let node = node.filter(|_| object.non_finite().is_none());
        node.map_or(Self::Anywhere, Self::in_node)
    }

    /// As [`of`](Self::of), for a node without numbers that JSON cannot hold.
    pub(super) fn in_node(node: Cursor<'_>) -> Self {
        let offsets = node.offsets_of(b'$');
        offsets.map_or(Self::Anywhere, |offsets| Self::At {
            offsets,
            gap: Cell::new((1, 0)),
        })
    }

    /// Whether there may be one in this part of the document.
    pub(super) fn may_be_in(&self, part: Range<usize>) -> bool {
        match self {
            Self::Anywhere => true,
            Self::At { offsets, gap } => {
                let (mut start, mut next) = gap.get();
                // Most parts are looked at in order.
                if !(start..=next).contains(&part.start) {
                    let first = offsets.partition_point(|&at| at < part.start);
                    let before = first.checked_sub(1).and_then(|before| offsets.get(before));
                    start = before.map_or(0, |before| before + 1);
                    next = offsets.get(first).copied().unwrap_or(usize::MAX);
                    gap.set((start, next));
                }
                next < part.end
            }
        }
    }
}

/// The result of replacing the references of a text.
pub(super) enum Replaced<'d> {
    Unchanged,
    Text(String),
    Data(Data<'d>),
    /// There is no value for the field.
    Nothing(Nothing),
}

/// The reason why a field has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nothing {
    /// `${{NAME}}` has the value `null`, which a list cannot contain.
    Null,
    /// The parameter has no value, and `omitEmpty`.
    Omitted,
}

impl<'s, 'd> Substitution<'s, 'd> {
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
        replace(text, self.dialect, |part| match part {
            Part::Text(_) => None,
            Part::Escaped { .. } => Some(Cow::Borrowed(part.unescaped())),
            Part::Foreign { .. } => self.braces(part, spot).map(Cow::Borrowed),
            Part::String { name, spelling } | Part::Raw { name, spelling } => {
                let value = parameters.get(name);
                if value.is_none() {
                    self.undeclared(name, spelling, spot);
                }
                value.map(|value| Cow::Borrowed(self.fitting(&value.text)))
            }
        })
    }

    /// The variables of a container.
    pub(super) const fn variables<'v>(&self, container: View<'v>) -> Variables<'v>
    where
        's: 'v,
    {
        Variables::of(container, self.dialect, self.parameters, self.budget)
    }

    /// Whether there is room and time for one more message.
    pub(super) fn may_report(&self) -> bool {
        let goes_on = |budget: &Budget<'_>| budget.goes_on() && budget.take(MESSAGE);
        self.budget.is_none_or(goes_on)
    }

    /// A text that is put in place of a reference: an empty one if it is too long for the budget.
    fn fitting<'t>(&self, text: &'t str) -> &'t str {
        let fits = budget::take(self.budget, text.len());
        if fits { text } else { "" }
    }

    /// Replaces the references in a string of an object.
    pub(super) fn string(&mut self, text: &str, spot: Spot<'_>) -> Replaced<'d> {
        match self.dialect {
            Dialect::Proposal => self.proposal(text, spot),
            Dialect::OpenShift => self.openshift(text, spot),
        }
    }

    /// The new spelling of a key, if it changes.
    pub(super) fn key(&mut self, key: &str, spot: Spot<'_>) -> Option<String> {
        for part in parts(key, self.dialect) {
            let Part::Raw { name, spelling } = part else {
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
                (Dialect::OpenShift, Some(value)) => match json_data(self.fitting(&value.text)) {
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

    fn openshift(&mut self, text: &str, spot: Spot<'_>) -> Replaced<'d> {
        if !has_opening(text, b'{') {
            self.proposals_references(text, spot);
            return Replaced::Unchanged;
        }
        let parameters = self.parameters;
        if let Some(name) = whole_raw(text) {
            let Some(value) = parameters.get(name) else {
                self.undeclared(name, text, spot);
                return Replaced::Unchanged;
            };
            if value.omits {
                return Replaced::Nothing(Nothing::Omitted);
            }
            if !budget::take(self.budget, value.text.len()) {
                return Replaced::Unchanged;
            }
            if let Some(structured) = &value.structured {
                return Replaced::Data(structured.data.clone());
            }
            return match json_data(&value.text) {
                Some(Data::Scalar(Scalar::Null)) => Replaced::Nothing(Nothing::Null),
                Some(data) => Replaced::Data(data),
                None => Replaced::Text(value.text.clone().into_owned()),
            };
        }
        self.flat(text, spot)
            .map_or(Replaced::Unchanged, Replaced::Text)
    }

    fn proposal(&mut self, text: &str, spot: Spot<'_>) -> Replaced<'d> {
        if !has_opening(text, b'(') && !has_opening(text, b'{') {
            return Replaced::Unchanged;
        }
        let parameters = self.parameters;
        let may_be_raw = text.starts_with("$((");
        let raw = may_be_raw.then(|| {
            let mut parts = parts(text, Dialect::Proposal);
            match (parts.next(), parts.next()) {
                (Some(Part::Raw { name, .. }), None) => Some(name),
                _ => None,
            }
        });
        let raw = raw.flatten();
        if raw
            .and_then(|name| parameters.get(name))
            .is_some_and(|value| value.omits)
        {
            return Replaced::Nothing(Nothing::Omitted);
        }
        if let Some(name) = raw
            && let Some(value) = parameters.get(name)
            && let Some(structured) = &value.structured
        {
            if !budget::take(self.budget, value.text.len()) {
                return Replaced::Unchanged;
            }
            return Replaced::Data(structured.data.clone());
        }
        // A number, a bool or a structure is meant, and a string is none of them.
        let needs_replacement = spot.expanding.is_none() && raw.is_some();
        let spot = Spot {
            needs_replacement,
            ..spot
        };
        let mut raw = Vec::new();
        let mut only_raw = true;
        let replaced = replace(text, Dialect::Proposal, |part| match part {
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
                Some(Cow::Borrowed(self.fitting(&value.text)))
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
        if !self.may_report() {
            return;
        }
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
        if !self.may_report() {
            return;
        }
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

    /// The text for `${NAME}` of a declared parameter in the proposal's dialect, where it may be
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
        if !spot.expanding.is_some_and(|one| one.has(name)) && self.may_report() {
            let diagnostic = foreign::diagnostic(self.dialect, name, spelling, true);
            let diagnostic = self.diagnostic(diagnostic, spot, spelling);
            self.diagnostics.push(diagnostic);
        }
        None
    }

    /// `$(NAME)` of a declared parameter in OpenShift's dialect. As `oc` leaves it, it stays. It is
    /// an error where it can never be valid, and in strict mode where no shell may read it.
    fn proposals_references(&mut self, text: &str, spot: Spot<'_>) {
        if memchr::memchr(b'(', text.as_bytes()).is_none() {
            return;
        }
        for (name, spelling) in references(text, Dialect::Proposal) {
            let by_kubelet = spot
                .expanding
                .is_some_and(|one| one.has(name) || one.variables.more());
            if by_kubelet || self.parameters.get(name).is_none() || !self.may_report() {
                continue;
            }
            let in_script = spot.expanding.is_some() || text.contains('\n');
            let must_replace = spot.needs_replacement || spot.path.needs_replacement();
            let is_error = must_replace || self.strict && !in_script;
            let diagnostic = foreign::diagnostic(self.dialect, name, spelling, is_error);
            let diagnostic = self.diagnostic(diagnostic, spot, spelling);
            self.diagnostics.push(diagnostic);
        }
    }

    /// A reference to a parameter that is not declared: it stays as it is.
    fn undeclared(&mut self, name: &str, spelling: &str, spot: Spot<'_>) {
        let by_kubelet = spot
            .expanding
            .is_some_and(|expanding| expanding.find(name).is_some() || expanding.variables.more());
        if by_kubelet || (self.dialect == Dialect::OpenShift && !self.strict) {
            return;
        }
        if !self.may_report() {
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

    pub(super) fn error(
        &mut self,
        spot: Spot<'_>,
        spelling: &str,
        message: String,
        hint: Option<String>,
    ) {
        if self.may_report() {
            let diagnostic =
                self.diagnostic(Diagnostic::error(message).maybe_hint(hint), spot, spelling);
            self.diagnostics.push(diagnostic);
        }
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

/// The bytes that a message takes of a budget.
const MESSAGE: usize = 512;

/// The place of `spelling` in a node or its key, else the place of the node.
#[must_use]
pub fn place_of(spelling: &str, node: Cursor<'_>) -> Place {
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
