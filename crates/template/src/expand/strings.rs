//! Puts parameter values in place of the references in a string.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use crate::declare::dialect::Dialect;
use crate::declare::foreign;
use crate::declare::nearly;
use crate::declare::parameter::ParameterType;
use crate::declare::reference::{Part, has_dollar, parts, references, replace_parts, whole_raw};
use crate::expand::path::Path;
use crate::expand::spot::{Spot, Variables};
use crate::resolve::parameters::Parameters;
use crate::values::budget::{self, Budget};
use crate::values::text::is_json_number;
use krm_core::field_types::{self, Type};
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
    /// The messages about text that is allowed.
    pub(crate) advice: Advice<'d>,
    /// Where the object has references.
    pub(crate) dollars: Dollars,
    /// The limit for the bytes of the values, if there is one.
    pub(crate) budget: Option<&'s Budget<'s>>,
    pub(crate) diagnostics: &'s mut Diagnostics,
}

/// The messages about text that is allowed, but hardly meant.
#[derive(Clone, Copy, Default)]
pub(crate) struct Advice<'d> {
    pub(crate) purpose: Purpose,
    /// Whether there are two braces without a `$` before them.
    pub(crate) has_braces: bool,
    /// The object, which has the kind that decides the types of fields.
    pub(crate) object: Option<Cursor<'d>>,
}

/// The purpose of an expansion, which decides the severity of messages about text that is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To look at values.
    #[default]
    Looking,
    /// To create objects: they are warnings.
    Creating,
    /// To check a Template: they are errors where Kubernetes rejects the text, and types of fields
    /// have rules of their own.
    Checking,
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
    pub(super) fn of(object: &Value<'_>, document: &Document, has_braces: bool) -> Self {
        let node = object.origin.map(|origin| document.cursor(origin));
        // A number that JSON cannot hold is an error.
        let node = node.filter(|_| object.non_finite().is_none());
        node.map_or(Self::Anywhere, |node| Self::in_node(node, has_braces))
    }

    /// As [`of`](Self::of), for a node without numbers that JSON cannot hold.
    pub(super) fn in_node(node: Cursor<'_>, has_braces: bool) -> Self {
        let mut offsets = node.offsets_of(b'$');
        if let Some(offsets) = offsets.as_mut().filter(|_| has_braces) {
            let text = node.document().slice(node.start()..node.end());
            offsets.extend(braces(text).map(|at| node.start() + at));
            offsets.sort_unstable();
        }
        offsets.map_or(Self::Anywhere, |offsets| Self::At { offsets, gap: Cell::new((1, 0)) })
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

/// Where a text has `{{` without a `$` before it.
fn braces(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_reference = |at: usize| at > 0 && bytes.get(at - 1) == Some(&b'$');
    memchr::memmem::find_iter(bytes, "{{").filter(move |at| !is_reference(*at))
}

/// Whether a text has `{{` without a `$` before it.
pub(crate) fn has_braces(text: &str) -> bool {
    braces(text).next().is_some()
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
        self.flat(text, Spot::new(path, node)).unwrap_or_else(|| text.to_owned())
    }

    /// As [`text`](Self::text); `None` if there are no references.
    fn flat(&mut self, text: &str, spot: Spot<'_>) -> Option<String> {
        if !has_dollar(text) {
            if self.advice.has_braces {
                self.nearly(text, spot);
            }
            return None;
        }
        if self.dialect == Dialect::OpenShift {
            self.proposals_references(text, spot);
        }
        let parameters = self.parameters;
        let mut parts = parts(text, self.dialect);
        let replaced = replace_parts(text, &mut parts, |part| match part {
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
        });
        if parts.has_more() || self.advice.has_braces {
            self.nearly(text, spot);
        }
        replaced
    }

    /// Whether there may be something to replace or to report in a text.
    pub(super) fn is_of_interest(&self, text: &str) -> bool {
        has_dollar(text) || self.advice.has_braces && text.contains("{{")
    }

    /// As [`text`](Self::text), but reports only texts that look like a reference.
    pub(super) fn advise(&mut self, text: &str, node: NodeId, path: &Path<'_>) {
        if has_dollar(text) || text.contains("{{") {
            let spot = Spot { is_text: true, ..Spot::new(path, Some(node)) };
            self.nearly(text, spot);
        }
    }

    /// Reports the texts that look like a reference to a parameter and are none, where nothing else
    /// may read them. They stay as they are.
    fn nearly(&mut self, text: &str, spot: Spot<'_>) {
        if self.advice.purpose == Purpose::Looking || text.contains('\n') {
            return;
        }
        let parameters = self.parameters;
        let declared = |name: &str| parameters.declared(name);
        for one in nearly::find(text, self.dialect, declared) {
            let is_variable =
                spot.expanding.is_some_and(|those| those.has(one.name) || those.variables.more());
            let is_meant = one.is_meant(text, spot.path.is_in_command(), spot.path.is_annotation());
            if !is_meant || is_variable && one.syntax == nearly::Syntax::Shell {
                continue;
            }
            if !self.may_report() {
                return;
            }
            let is_rejected = spot.needs_replacement || spot.path.needs_replacement();
            let is_error = self.strict || is_rejected && self.advice.purpose == Purpose::Checking;
            let may_be_raw = !spot.is_text && !is_rejected && spot.expanding.is_none();
            let is_raw = may_be_raw && one.is_raw(text);
            let diagnostic = one.diagnostic(is_raw, self.dialect, is_error);
            let diagnostic = self.diagnostic(diagnostic, spot, one.spelling);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports a number or a bool that a string reference makes a string, where Kubernetes needs
    /// the number or the bool.
    fn quoted(&mut self, text: &str, value: &str, spot: Spot<'_>) {
        let may_be = matches!(value.as_bytes().first(), Some(b'0'..=b'9' | b'-' | b't' | b'f'));
        if !may_be || spot.expanding.is_some() || self.advice.purpose != Purpose::Creating {
            return;
        }
        let mut parts = parts(text, self.dialect);
        let (Some(Part::String { name, spelling }), None) = (parts.next(), parts.next()) else {
            return;
        };
        let Some((object, key)) = self.advice.object.zip(spot.path.last_key()) else {
            return;
        };
        let head = |key| object.text_at([key]).unwrap_or_default();
        let (api_version, kind) = (head("apiVersion"), head("kind"));
        let expected = field_types::of_field(&api_version, &kind, &spot.path.keys());
        let is_bool = matches!(value, "true" | "false");
        let is_meant = |expected: &Type| match expected {
            Type::String => false,
            Type::Bool => is_bool,
            Type::Number => is_json_number(value),
            Type::Port | Type::Share => expected.rejects(value),
        };
        let Some(expected) = expected.filter(is_meant) else {
            return;
        };
        if !self.may_report() {
            return;
        }
        let may_show = self.parameters.get(name).is_some_and(|one| one.may_show);
        let shown = if may_show { format!("the string `{value}`") } else { "a string".to_owned() };
        let raw = self.dialect.raw_reference(name);
        let diagnostic = Diagnostic::warning(format!(
            "`{key}` must be {}, found {shown}",
            expected.with_article()
        ))
        .rule(if is_bool { "bool-expected" } else { "number-expected" })
        .hint(format!("`{raw}` inserts the value as a number or a bool"));
        let diagnostic = self.diagnostic(diagnostic, spot, spelling);
        self.diagnostics.push(diagnostic);
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
                        self.error(spot, spelling, message, Some(format!("write `${{{name}}}`")));
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
            self.nearly(text, spot);
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
        let Some(replaced) = self.flat(text, spot) else {
            return Replaced::Unchanged;
        };
        self.quoted(text, &replaced, spot);
        Replaced::Text(replaced)
    }

    fn proposal(&mut self, text: &str, spot: Spot<'_>) -> Replaced<'d> {
        if !has_opening(text, b'(') && !has_opening(text, b'{') {
            self.nearly(text, spot);
            return Replaced::Unchanged;
        }
        let parameters = self.parameters;
        let may_be_raw = text.starts_with("$((");
        let raw = may_be_raw.then(|| only_raw(text)).flatten();
        let whole = raw.and_then(|name| parameters.get(name));
        if whole.is_some_and(|value| value.omits) {
            return Replaced::Nothing(Nothing::Omitted);
        }
        if let Some(value) = whole
            && let Some(structured) = &value.structured
        {
            if !budget::take(self.budget, value.text.len()) {
                return Replaced::Unchanged;
            }
            return Replaced::Data(structured.data.clone());
        }
        // A number, a bool or a structure is meant, and a string is none of them.
        let needs_replacement = spot.expanding.is_none() && raw.is_some();
        let spot = Spot { needs_replacement, ..spot };
        let mut raw = Vec::new();
        let mut only_raw = true;
        let mut all = parts(text, Dialect::Proposal);
        let replaced = replace_parts(text, &mut all, |part| match part {
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
        if all.has_more() || self.advice.has_braces {
            self.nearly(text, spot);
        }
        match replaced {
            None => Replaced::Unchanged,
            Some(new) if raw.is_empty() => {
                self.quoted(text, &new, spot);
                Replaced::Text(new)
            }
            Some(text) if !only_raw => Replaced::Text(text),
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
            let shown = if secret { "the value".to_owned() } else { format!("`{text}`") };
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
                .hint("rename the variable or the parameter")
                .hint(self.for_the_variable(name)),
        );
    }

    /// The hint how `$(NAME)` gets to Kubernetes, which expands it.
    fn for_the_variable(&self, name: &str) -> String {
        let mut dollar = "DOLLAR".to_owned();
        while self.parameters.get(&dollar).is_some_and(|value| value.text != "$") {
            dollar.push_str("_SIGN");
        }
        format!(
            "for the variable, declare a parameter `{dollar}` with the value `$`, and write `$({dollar})({name})`"
        )
    }

    /// The text for `${NAME}` of a declared parameter in the proposal's dialect, where it may be
    /// meant for a shell: there it is written `$${NAME}`, if not for a variable of the container.
    fn braces<'t>(&mut self, part: Part<'t>, spot: Spot<'_>) -> Option<&'t str> {
        let Part::Foreign { name, spelling, is_escaped } = part else {
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
            let by_kubelet =
                spot.expanding.is_some_and(|one| one.has(name) || one.variables.more());
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
        let diagnostic =
            if error { Diagnostic::error(message) } else { Diagnostic::warning(message) };
        let diagnostic = diagnostic.rule("undeclared-parameter");
        let mut diagnostic = self.diagnostic(diagnostic, spot, spelling).hint(hint);
        if !error && known.is_none() {
            diagnostic.hints.clear();
            let is_raw = spelling.starts_with("$((");
            diagnostic = diagnostic.hint(if spot.expanding.is_some() && !is_raw {
                format!("`{spelling}` stays as it is; {}", self.for_the_variable(name))
            } else {
                format!(
                    "`{spelling}` stays as it is; if that is what you want, write `$${}`",
                    spelling.get(1..).unwrap_or_default()
                )
            });
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

/// The name in a text that is `$((NAME))` and nothing else.
fn only_raw(text: &str) -> Option<&str> {
    let mut parts = parts(text, Dialect::Proposal);
    match (parts.next(), parts.next()) {
        (Some(Part::Raw { name, .. }), None) => Some(name),
        _ => None,
    }
}

/// The bytes that a message takes of a budget.
const MESSAGE: usize = 512;

/// The place of `spelling` in a node or its key, else the place of the node.
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
            return Place { source: place.source.clone(), range: start..start + spelling.len() };
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
