//! Finds the value that each parameter has in one expansion: given, default or generated.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::declare::dialect::Dialect;
use crate::declare::foreign;
use crate::declare::model::Template;
use crate::declare::parameter::{Parameter, ParameterType};
use crate::declare::reference::{Part, replace};
use crate::resolve::check::Check;
use crate::resolve::constant;
use crate::resolve::generation::Generated;
use crate::resolve::parameters::{Origin, ParameterValue, Parameters};
use crate::values::budget::{self, Budget};
use crate::values::given::{AssignedValue, Assignment};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity, Way};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, DuplicateKeys, Value};

/// Makes the value of a parameter that has none, from its expression.
pub(crate) type Generate<'g, 'd> =
    dyn FnMut(&'d Parameter, &str, &Parameters<'d>) -> Result<Generated> + 'g;

/// Finds the value of every parameter of `template`. Later values of `given`
/// override earlier ones. All errors go to `diagnostics`; after an error the result is incomplete.
pub(crate) fn resolve<'d>(
    template: &'d Template,
    given: &[Assignment],
    ignore_unknown: bool,
    budget: Option<&Budget<'_>>,
    generate: &mut Generate<'_, 'd>,
    diagnostics: &mut Diagnostics,
) -> Parameters<'d> {
    let mut resolver = Resolver {
        template,
        refers: template.defaults_refer(),
        given: given_by_index(template, given, ignore_unknown, budget, diagnostics),
        by_name: OnceCell::new(),
        // Empty entries are not parameters, but they count.
        hidden: BTreeSet::new(),
        texts: vec![None; template.parameters.last().map_or(0, |last| last.index + 1)],
        budget,
        diagnostics,
    };
    let mut effective = Parameters::default();
    let mut generated = Vec::new();
    for parameter in &template.parameters {
        if !budget::goes_on(budget) {
            return effective;
        }
        let text = resolver.text(parameter.index, &mut Vec::new());
        let is_given = resolver.given.contains_key(&parameter.index);
        if let (true, false, Some(from)) = (text.is_empty(), is_given, parameter.expression()) {
            generated.push((parameter, from));
            continue;
        }
        if text.is_empty() && is_given && parameter.expression().is_some() {
            resolver.not_generated(parameter);
        }
        let origin = resolver.origin(parameter);
        resolver.insert(&mut effective, parameter, text, origin);
    }
    for (parameter, from) in generated {
        if !budget::goes_on(budget) {
            return effective;
        }
        if let Some(diagnostic) = constant::check(template, parameter) {
            let is_error = diagnostic.severity == Severity::Error;
            resolver.diagnostics.push(diagnostic);
            if is_error {
                continue;
            }
        }
        match generate(parameter, from, &effective) {
            Ok(made) if !budget::take(budget, made.text.len()) => return effective,
            Ok(made) => {
                if let Some(warning) = made.warning {
                    resolver.diagnostics.push(warning);
                }
                resolver.insert(&mut effective, parameter, made.text.into(), Origin::Generated);
            }
            Err(diagnostic) => resolver.diagnostics.push(*diagnostic),
        }
    }
    effective
}

/// Pairs each parameter with the last value that is given for it.
fn given_by_index<'g>(
    template: &'g Template,
    given: &'g [Assignment],
    ignore_unknown: bool,
    budget: Option<&Budget<'_>>,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<usize, &'g Assignment> {
    let mut by_index = BTreeMap::new();
    if template.values.is_empty() && given.is_empty() {
        return by_index;
    }
    let by_name = index_by_name(template);
    for one in template.values.iter().chain(given) {
        match by_name.get(one.name.as_str()) {
            Some(_) if matches!(one.value, AssignedValue::Unknown(_)) => {
                let declared = template.parameters.iter();
                let meant = declared.filter(|parameter| parameter.name == one.name);
                by_index.extend(meant.map(|parameter| (parameter.index, one)));
            }
            Some(&index) => {
                by_index.insert(index, one);
            }
            None if !budget::goes_on(budget) => return by_index,
            None => diagnostics.push(unknown_parameter(template, one, ignore_unknown)),
        }
    }
    by_index
}

/// Where each name is declared, for the first time if it is more than once.
fn index_by_name(template: &Template) -> BTreeMap<&str, usize> {
    let parameters = template.parameters.iter().rev();
    parameters.map(|parameter| (parameter.name.as_str(), parameter.index)).collect()
}

fn unknown_parameter(template: &Template, given: &Assignment, ignore: bool) -> Diagnostic {
    let message = format!("the Template has no parameter `{}`", given.name);
    let known = template.parameters.iter().map(|parameter| parameter.name.as_str());
    let known = closest(&given.name, known);
    // A value given under a misspelt name may be a secret, too.
    let meant = template.parameters.iter().find(|parameter| Some(parameter.name.as_str()) == known);
    let is_secret = given.secret || meant.is_some_and(|parameter| !parameter.may_show());
    let slip = slip(given);
    let hint = match (slip, known) {
        (Some(hint), _) => hint.to_owned(),
        (None, Some(known)) => format!("did you mean `{known}`?"),
        _ if template.parameters.is_empty() => "it declares no parameters".to_owned(),
        _ => "declare it under `parameters`, or leave the value out".to_owned(),
    };
    let diagnostic = if ignore { Diagnostic::warning(message) } else { Diagnostic::error(message) };
    let mut diagnostic = diagnostic.rule("undeclared-parameter").conceal(is_secret);
    if !ignore && known.is_none() && slip.is_none() && !template.parameters.is_empty() {
        let advice = "to ignore it, use `--ignore-unknown-parameters`";
        diagnostic = diagnostic.advise(Way::Arguments, advice);
    }
    let diagnostic = match &given.name_place {
        Some(place) => diagnostic.at(place.clone()),
        None => diagnostic.hint(format!("it was given as `{}=…`", given.origin)),
    };
    if ignore { diagnostic } else { diagnostic.hint(hint) }
}

/// The hint for an option among values, or for the field of an object that has them.
fn slip(given: &Assignment) -> Option<&'static str> {
    let is_structured = matches!(given.value, AssignedValue::Structured(_));
    match given.name.as_str() {
        name if name.starts_with('-') => {
            Some("after `--`, write each value as `NAME=VALUE`, without an option")
        }
        "values" | "parameters" | "params" | "data" | "spec" if is_structured => Some(VALUES_FORM),
        "apiVersion" | "kind" if given.name_place.is_some() => Some(VALUES_FORM),
        _ => None,
    }
}

/// The forms of a file of values.
const VALUES_FORM: &str = "a file has its values at the top, as `NAME: value`, or begins with `apiVersion: template.krm.dev/v1alpha1` and `kind: ParameterValues`";

struct Resolver<'r, 'd> {
    template: &'d Template,
    /// Whether a default may refer to other parameters: only in our own API version.
    refers: bool,
    given: BTreeMap<usize, &'r Assignment>,
    /// Made when the first default refers to another parameter.
    by_name: OnceCell<BTreeMap<&'d str, usize>>,
    /// Those whose defaults contain a secret value.
    hidden: BTreeSet<usize>,
    /// Those that were found out, by index in the list as written.
    texts: Vec<Option<Cow<'d, str>>>,
    budget: Option<&'r Budget<'r>>,
    diagnostics: &'r mut Diagnostics,
}

impl<'d> Resolver<'_, 'd> {
    fn parameter(&self, index: usize) -> Option<&'d Parameter> {
        // They are in the order of the Template.
        let parameters = &self.template.parameters;
        let at = parameters.binary_search_by_key(&index, |parameter| parameter.index);
        parameters.get(at.ok()?)
    }

    /// The text of a parameter's value before it is checked; empty if it has none or is
    /// structured. `inside` are the parameters whose defaults are being put together.
    fn text(&mut self, index: usize, inside: &mut Vec<usize>) -> Cow<'d, str> {
        if let Some(Some(text)) = self.texts.get(index) {
            return text.clone();
        }
        let text = match self.given.get(&index).map(|given| &given.value) {
            Some(AssignedValue::Text(text) | AssignedValue::Unknown(text)) => text.clone().into(),
            Some(AssignedValue::Structured(value)) => value.to_json().into(),
            Some(AssignedValue::Bytes(bytes)) => self.bytes_text(index, bytes).into(),
            None => self.default_text(index, inside),
        };
        if let Some(known) = self.texts.get_mut(index) {
            *known = Some(text.clone());
        }
        text
    }

    /// The bytes of a file as text, in base64 if that is the type of the parameter.
    fn bytes_text(&mut self, index: usize, bytes: &[u8]) -> String {
        use base64::Engine as _;
        let Some(parameter) = self.parameter(index) else {
            return String::new();
        };
        if parameter.kind == ParameterType::Base64 {
            return base64::engine::general_purpose::STANDARD.encode(bytes);
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            return text.to_owned();
        }
        let mut diagnostic = Diagnostic::error(format!(
            "the value of parameter `{}` is not UTF-8 text",
            parameter.name
        ))
        .at(parameter.field("name").place())
        .field(format!("parameters[{index}].value"))
        .hint("declare it with `type: base64` to encode the bytes of the file");
        if let Some(given) = self.given.get(&index) {
            diagnostic = diagnostic.hint(format!("it was given by `{}`", given.origin));
        }
        self.diagnostics.push(diagnostic);
        // Not empty, so that the value does not count as missing.
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn origin(&self, parameter: &Parameter) -> Origin {
        match self.given.get(&parameter.index) {
            Some(given) => Origin::Given(match &given.place {
                Some(place) => place.to_text(),
                None => format!("{}=…", given.origin),
            }),
            None if parameter.value().is_some() => Origin::Default,
            None => Origin::Nowhere,
        }
    }

    fn place(&self, parameter: &Parameter, origin: &Origin) -> Option<Place> {
        match origin {
            Origin::Given(_) => self.given.get(&parameter.index)?.place.clone(),
            Origin::Default => parameter.value().map(Cursor::place),
            Origin::Generated => Some(parameter.field("from").place()),
            Origin::Nowhere => None,
        }
    }

    /// The default of a parameter, with references to other parameters replaced.
    fn default_text(&mut self, index: usize, inside: &mut Vec<usize>) -> Cow<'d, str> {
        let Some(default) = self.parameter(index).and_then(Parameter::value) else {
            return Cow::default();
        };
        let text = match default.text() {
            Ok(Some(text)) => text,
            Ok(None) => return Cow::default(),
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                return Cow::default();
            }
        };
        if !self.refers || !text.contains('$') {
            return text;
        }
        if !budget::goes_on(self.budget) {
            return Cow::default();
        }
        if let Some(start) = inside.iter().position(|&other| other == index) {
            self.cycle(inside.get(start..).unwrap_or_default(), index);
            return Cow::default();
        }
        inside.push(index);
        // One more byte than fits, so that a text which is too long is found below.
        let mut room = MAX_VALUE + 1;
        let replaced = replace(&text, Dialect::Proposal, |part| {
            if room == 0 {
                return Some(Cow::Borrowed(""));
            }
            let new = match part {
                Part::Text(_) => None,
                Part::Escaped { .. } => Some(Cow::Borrowed(part.unescaped())),
                Part::Foreign { .. } => self.braces(part, index, default).map(Cow::Borrowed),
                Part::String { name, .. } | Part::Raw { name, .. } => {
                    self.referred(name, index, inside)
                }
            };
            let length = new.as_deref().unwrap_or(part.spelling()).len();
            room = room.saturating_sub(length);
            if !budget::take(self.budget, length) {
                room = 0;
                return Some(Cow::Borrowed(""));
            }
            new
        });
        inside.pop();
        let text = replaced.map_or(text, Cow::Owned);
        if text.len() > MAX_VALUE {
            self.too_long(index);
            return Cow::default();
        }
        text
    }

    /// The value of the parameter `name`, to which the default of another one refers.
    fn referred(
        &mut self,
        name: &str,
        index: usize,
        inside: &mut Vec<usize>,
    ) -> Option<Cow<'d, str>> {
        let by_name = self.by_name.get_or_init(|| index_by_name(self.template));
        let other = by_name.get(name).copied()?;
        let text = self.text(other, inside);
        if self.hides(other) {
            self.hidden.insert(index);
        }
        Some(text)
    }

    /// The new text of `${NAME}` in a default: an error if it names a parameter and is not escaped.
    fn braces<'t>(&mut self, part: Part<'t>, index: usize, default: Cursor<'_>) -> Option<&'t str> {
        let Part::Foreign { name, spelling, is_escaped } = part else {
            return None;
        };
        let by_name = self.by_name.get_or_init(|| index_by_name(self.template));
        if !by_name.contains_key(name) {
            return None;
        }
        if is_escaped {
            return Some(part.unescaped());
        }
        let diagnostic = foreign::diagnostic(Dialect::Proposal, name, spelling, true);
        self.diagnostics
            .push(diagnostic.at(default.place()).field(format!("parameters[{index}].value")));
        None
    }

    /// Whether the value of a parameter must not be shown.
    fn hides(&self, index: usize) -> bool {
        self.hidden.contains(&index)
            || self.given.get(&index).is_some_and(|given| given.secret)
            || self.parameter(index).is_some_and(|parameter| !parameter.may_show())
    }

    /// Warns of an empty value that is given for a parameter whose value would be generated.
    fn not_generated(&mut self, parameter: &Parameter) {
        // An empty value of a required parameter is an error.
        if parameter.required {
            return;
        }
        let Some(given) = self.given.get(&parameter.index) else {
            return;
        };
        let message = format!(
            "the value given for parameter `{}` is empty: none is generated",
            parameter.name
        );
        let mut diagnostic =
            Diagnostic::warning(message).rule("given-value").hint("to generate a value, give none");
        match &given.place {
            Some(place) => diagnostic = diagnostic.at(place.clone()),
            None => diagnostic = diagnostic.hint(format!("it was given by `{}`", given.origin)),
        }
        self.diagnostics.push(diagnostic);
    }

    fn too_long(&mut self, index: usize) {
        let Some(parameter) = self.parameter(index) else {
            return;
        };
        let diagnostic = Diagnostic::error(format!(
            "the value of parameter `{}` is longer than {MAX_VALUE} bytes",
            parameter.name
        ))
        .at(parameter.value().unwrap_or(parameter.node()).place())
        .field(format!("parameters[{index}].value"));
        self.diagnostics.push(diagnostic);
    }

    fn cycle(&mut self, inside: &[usize], index: usize) {
        let names: Vec<&str> = inside
            .iter()
            .chain([&index])
            .filter_map(|&index| self.parameter(index))
            .map(|parameter| parameter.name.as_str())
            .collect();
        let Some(parameter) = self.parameter(index) else {
            return;
        };
        let diagnostic = Diagnostic::error(format!(
            "parameter values refer to one another in a cycle: {}",
            names.join(" → ")
        ))
        .at(parameter.value().unwrap_or(parameter.node()).place())
        .field(format!("parameters[{index}].value"))
        .hint("give one of them a fixed value");
        self.diagnostics.push(diagnostic);
    }

    /// Checks a value and adds it to the others. A later declaration of the same name wins.
    fn insert(
        &mut self,
        effective: &mut Parameters<'d>,
        parameter: &'d Parameter,
        text: Cow<'d, str>,
        origin: Origin,
    ) {
        let given = self.given.get(&parameter.index).copied();
        let place = self.place(parameter, &origin);
        if let Some(AssignedValue::Unknown(text)) = given.map(|given| &given.value) {
            let unknown = ParameterValue {
                text: Cow::Owned(text.clone()),
                structured: None,
                // Nothing tells its type.
                kind: ParameterType::String,
                omits: false,
                may_show: true,
                origin,
                place,
            };
            effective.values.insert(&parameter.name, unknown);
            return;
        }
        let may_show = !self.hides(parameter.index);
        let structured = match (given.map(|given| &given.value), parameter.value()) {
            (Some(AssignedValue::Structured(value)), _) => Some(value.clone()),
            (None, Some(default)) if default.is_mapping() || default.is_sequence() => {
                default.value(DuplicateKeys::Refuse, self.diagnostics).map(Value::without_origin)
            }
            _ => None,
        };
        let mut check = Check { parameter, given, may_show, diagnostics: self.diagnostics };
        let structured = check.structured(structured, &text);
        let text = match &structured {
            Some(value) => value.to_json().into(),
            None => text,
        };
        check.value(&text, structured.is_some());
        effective.values.insert(
            &parameter.name,
            ParameterValue {
                omits: parameter.omit_empty && text.is_empty(),
                text,
                structured,
                kind: parameter.kind,
                may_show,
                origin,
                place,
            },
        );
    }
}

/// The longest value that defaults referring to one another may make, in bytes.
const MAX_VALUE: usize = 1024 * 1024;
