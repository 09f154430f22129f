//! The value every parameter has in one expansion: given, default or generated; then checked.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::template::declare::dialect::Dialect;
use crate::template::declare::foreign;
use crate::template::declare::model::Template;
use crate::template::declare::parameter::{Parameter, ParameterType};
use crate::template::declare::reference::{Part, parts};
use crate::template::resolve::constant;
use crate::template::values::given::{Given, GivenValue};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity, Way};
use krm_yaml::source::{Place, Source};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Data, Document, DuplicateKeys, Value};

/// The effective value of a parameter.
#[derive(Debug)]
pub struct Effective<'d> {
    /// What a string reference puts in: for a list or mapping, its JSON.
    pub text: Cow<'d, str>,
    /// What a raw reference to a list or mapping puts in.
    pub structured: Option<Value<'d>>,
    /// The type it was checked against.
    pub kind: ParameterType,
    /// Whether a message may show it.
    pub may_show: bool,
    /// Where it comes from.
    pub origin: Origin,
    /// Where it stands in a file, or the expression that it was generated from.
    pub place: Option<Place>,
}

/// Where the value of a parameter comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was given: the file and line, or the argument.
    Given(String),
    /// It is the default.
    Default,
    /// It was generated.
    Generated,
    /// There is none.
    Nowhere,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Given(origin) => origin,
            Self::Default => "default",
            Self::Generated => "generated",
            Self::Nowhere => "no value",
        })
    }
}

/// The effective values of a Template's parameters, by name.
#[derive(Debug, Default)]
pub struct Parameters<'d> {
    values: BTreeMap<Cow<'d, str>, Effective<'d>>,
}

impl<'d> Parameters<'d> {
    /// The value of the parameter with this name, if one is declared.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Effective<'d>> {
        self.values.get(name)
    }

    /// Whether a text may be shown: it holds no value that must not be.
    #[must_use]
    pub fn may_show(&self, text: &str) -> bool {
        self.values.values().all(|value| {
            value.may_show || value.text.is_empty() || !text.contains(value.text.as_ref())
        })
    }

    /// The names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(AsRef::as_ref)
    }
}

/// Makes the value of a parameter that has none, from its expression.
pub(crate) type Generate<'g, 'd> =
    dyn FnMut(&Parameter<'d>, &str, &Parameters<'d>) -> Result<String> + 'g;

/// Finds the value of every parameter of `template`. `given` stands in order of precedence, the
/// strongest last. All errors go to `diagnostics`; the result is of use only if there were none.
pub(crate) fn resolve<'d>(
    template: &Template<'d>,
    given: &[Given],
    ignore_unknown: bool,
    generate: &mut Generate<'_, 'd>,
    diagnostics: &mut Diagnostics,
) -> Parameters<'d> {
    let mut resolver = Resolver {
        template,
        refers: template.defaults_refer(),
        given: given_by_index(template, given, ignore_unknown, diagnostics),
        by_name: OnceCell::new(),
        // Empty entries are no parameters, but they count.
        hidden: BTreeSet::new(),
        texts: vec![State::Unknown; template.parameters.last().map_or(0, |last| last.index + 1)],
        diagnostics,
    };
    let mut effective = Parameters::default();
    let mut generated = Vec::new();
    for parameter in &template.parameters {
        let text = resolver.text(parameter.index, &mut Vec::new());
        let is_given = resolver.given.contains_key(&parameter.index);
        if let (true, false, Some((from, _))) = (text.is_empty(), is_given, &parameter.from) {
            generated.push((parameter, from.clone()));
            continue;
        }
        let origin = resolver.origin(parameter);
        resolver.insert(&mut effective, parameter, text, origin);
    }
    for (parameter, from) in generated {
        if let Some(diagnostic) = constant::check(template, parameter) {
            let is_error = diagnostic.severity == Severity::Error;
            resolver.diagnostics.push(diagnostic);
            if is_error {
                continue;
            }
        }
        match generate(parameter, &from, &effective) {
            Ok(text) => resolver.insert(&mut effective, parameter, text, Origin::Generated),
            Err(diagnostic) => resolver.diagnostics.push(*diagnostic),
        }
    }
    effective
}

/// Pairs given values with the parameters they are for, the strongest for each.
fn given_by_index<'g>(
    template: &'g Template<'_>,
    given: &'g [Given],
    ignore_unknown: bool,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<usize, &'g Given> {
    let mut by_index = BTreeMap::new();
    let by_name = index_by_name(template);
    for one in template.values.iter().chain(given) {
        match by_name.get(one.name.as_str()) {
            Some(_) if matches!(one.value, GivenValue::Unknown(_)) => {
                let declared = template.parameters.iter();
                let meant = declared.filter(|parameter| parameter.name == one.name);
                by_index.extend(meant.map(|parameter| (parameter.index, one)));
            }
            Some(&index) => {
                by_index.insert(index, one);
            }
            None => diagnostics.push(unknown_parameter(template, one, ignore_unknown)),
        }
    }
    by_index
}

/// Where each name is declared, for the first time if it is more than once.
fn index_by_name<'t>(template: &'t Template<'_>) -> BTreeMap<&'t str, usize> {
    let parameters = template.parameters.iter().rev();
    parameters
        .map(|parameter| (parameter.name.as_ref(), parameter.index))
        .collect()
}

fn unknown_parameter(template: &Template<'_>, given: &Given, ignore: bool) -> Diagnostic {
    let message = format!("the Template has no parameter `{}`", given.name);
    let known = template
        .parameters
        .iter()
        .map(|parameter| parameter.name.as_ref());
    let known = closest(&given.name, known);
    // What is given under a misspelt name may be a secret all the same.
    let meant = template
        .parameters
        .iter()
        .find(|parameter| Some(parameter.name.as_ref()) == known);
    let is_secret = given.secret || meant.is_some_and(|parameter| !parameter.may_show());
    let hint = match known {
        Some(known) => format!("did you mean `{known}`?"),
        None if template.parameters.is_empty() => "it declares no parameters".to_owned(),
        None => "declare it under `parameters`, or leave the value out".to_owned(),
    };
    let diagnostic = if ignore {
        Diagnostic::warning(message)
    } else {
        Diagnostic::error(message)
    };
    let mut diagnostic = diagnostic.rule("undeclared-parameter").conceal(is_secret);
    if !ignore && known.is_none() && !template.parameters.is_empty() {
        let advice = "`--ignore-unknown-parameters` goes on without it";
        diagnostic = diagnostic.advise(Way::Arguments, advice);
    }
    let diagnostic = match &given.name_place {
        Some(place) => diagnostic.at(place.clone()),
        None => diagnostic.hint(format!("it was given as `{}=…`", given.origin)),
    };
    if ignore {
        diagnostic
    } else {
        diagnostic.hint(hint)
    }
}

#[derive(Clone)]
enum State {
    Unknown,
    Known(String),
}

struct Resolver<'r, 'd> {
    template: &'r Template<'d>,
    /// Whether a default may refer to other parameters: only in our own API version.
    refers: bool,
    given: BTreeMap<usize, &'r Given>,
    /// Made when the first default refers to another parameter.
    by_name: OnceCell<BTreeMap<&'r str, usize>>,
    /// Those whose defaults take in a value that must not be shown.
    hidden: BTreeSet<usize>,
    /// By index in the list as written.
    texts: Vec<State>,
    diagnostics: &'r mut Diagnostics,
}

impl<'d> Resolver<'_, 'd> {
    fn parameter(&self, index: usize) -> Option<&Parameter<'d>> {
        // They stand in the order they are written in.
        let parameters = &self.template.parameters;
        let at = parameters.binary_search_by_key(&index, |parameter| parameter.index);
        parameters.get(at.ok()?)
    }

    /// The text of a parameter's value before it is checked; empty if it has none or is
    /// structured. `inside` are the parameters whose defaults are being put together.
    fn text(&mut self, index: usize, inside: &mut Vec<usize>) -> String {
        if let Some(State::Known(text)) = self.texts.get(index) {
            return text.clone();
        }
        let text = match self.given.get(&index).map(|given| &given.value) {
            Some(GivenValue::Text(text) | GivenValue::Unknown(text)) => text.clone(),
            Some(GivenValue::Structured(value)) => value.to_json(),
            Some(GivenValue::Bytes(bytes)) => self.bytes_text(index, bytes),
            None => self.default_text(index, inside),
        };
        if let Some(state) = self.texts.get_mut(index) {
            *state = State::Known(text.clone());
        }
        text
    }

    /// The bytes of a file as text: encoded where the type says so.
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
        .at(parameter.node.get("name").unwrap_or(parameter.node).place())
        .field(format!("parameters[{index}].value"))
        .hint("declare it with `type: base64`, and the bytes of the file are encoded");
        if let Some(given) = self.given.get(&index) {
            diagnostic = diagnostic.hint(format!("it was given by `{}`", given.origin));
        }
        self.diagnostics.push(diagnostic);
        // Not empty: a value that is there is not missing.
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn origin(&self, parameter: &Parameter<'_>) -> Origin {
        match self.given.get(&parameter.index) {
            Some(given) => Origin::Given(match &given.place {
                Some(place) => place.to_text(),
                None => format!("{}=…", given.origin),
            }),
            None if parameter.value.is_some() => Origin::Default,
            None => Origin::Nowhere,
        }
    }

    fn place(&self, parameter: &Parameter<'_>, origin: &Origin) -> Option<Place> {
        match origin {
            Origin::Given(_) => self.given.get(&parameter.index)?.place.clone(),
            Origin::Default => parameter.value.map(Cursor::place),
            Origin::Generated => parameter.from.as_ref().map(|(_, node)| node.place()),
            Origin::Nowhere => None,
        }
    }

    fn default_text(&mut self, index: usize, inside: &mut Vec<usize>) -> String {
        let Some(parameter) = self.parameter(index) else {
            return String::new();
        };
        let Some(default) = parameter.value else {
            return String::new();
        };
        let text = match default.text() {
            Ok(Some(text)) => text,
            Ok(None) => return String::new(),
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                return String::new();
            }
        };
        if !self.refers || !text.contains('$') {
            return text.into_owned();
        }
        if let Some(start) = inside.iter().position(|&other| other == index) {
            self.cycle(inside.get(start..).unwrap_or_default(), index);
            return String::new();
        }
        inside.push(index);
        let mut out = String::new();
        for part in parts(&text, Dialect::Proposal) {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Escaped { spelling } => out.push_str(spelling.get(1..).unwrap_or_default()),
                Part::Foreign { .. } => out.push_str(self.braces(part, index, default)),
                Part::String { name, spelling } | Part::Raw { name, spelling } => {
                    let by_name = self.by_name.get_or_init(|| index_by_name(self.template));
                    match by_name.get(name).copied() {
                        Some(other) => {
                            out.push_str(&self.text(other, inside));
                            if self.hides(other) {
                                self.hidden.insert(index);
                            }
                        }
                        None => out.push_str(spelling),
                    }
                }
            }
            if out.len() > MAX_VALUE {
                break;
            }
        }
        inside.pop();
        if out.len() > MAX_VALUE {
            self.too_long(index);
            return String::new();
        }
        out
    }

    /// What `${NAME}` becomes in a default: an error if it names a parameter and is not escaped.
    fn braces<'t>(&mut self, part: Part<'t>, index: usize, default: Cursor<'_>) -> &'t str {
        let spelling = part.spelling();
        let Part::Foreign {
            name, is_escaped, ..
        } = part
        else {
            return spelling;
        };
        let by_name = self.by_name.get_or_init(|| index_by_name(self.template));
        if !by_name.contains_key(name) {
            return spelling;
        }
        if is_escaped {
            return spelling.get(1..).unwrap_or_default();
        }
        let diagnostic = foreign::diagnostic(Dialect::Proposal, name, spelling, true);
        self.diagnostics.push(
            diagnostic
                .at(default.place())
                .field(format!("parameters[{index}].value")),
        );
        spelling
    }

    /// Whether the value of a parameter must not be shown.
    fn hides(&self, index: usize) -> bool {
        self.hidden.contains(&index)
            || self.given.get(&index).is_some_and(|given| given.secret)
            || self
                .parameter(index)
                .is_some_and(|parameter| !parameter.may_show())
    }

    fn too_long(&mut self, index: usize) {
        let Some(parameter) = self.parameter(index) else {
            return;
        };
        let diagnostic = Diagnostic::error(format!(
            "the value of parameter `{}` is longer than {MAX_VALUE} bytes",
            parameter.name
        ))
        .at(parameter.value.unwrap_or(parameter.node).place())
        .field(format!("parameters[{index}].value"));
        self.diagnostics.push(diagnostic);
    }

    fn cycle(&mut self, inside: &[usize], index: usize) {
        let names: Vec<&str> = inside
            .iter()
            .chain([&index])
            .filter_map(|&index| self.parameter(index))
            .map(|parameter| parameter.name.as_ref())
            .collect();
        let Some(parameter) = self.parameter(index) else {
            return;
        };
        let diagnostic = Diagnostic::error(format!(
            "parameter values refer to one another in a circle: {}",
            names.join(" → ")
        ))
        .at(parameter.value.unwrap_or(parameter.node).place())
        .field(format!("parameters[{index}].value"))
        .hint("give one of them a value of its own");
        self.diagnostics.push(diagnostic);
    }

    /// Checks a value and adds it to the others. A later declaration of the same name wins.
    fn insert(
        &mut self,
        effective: &mut Parameters<'d>,
        parameter: &Parameter<'d>,
        text: String,
        origin: Origin,
    ) {
        let given = self.given.get(&parameter.index).copied();
        let place = self.place(parameter, &origin);
        if let Some(GivenValue::Unknown(text)) = given.map(|given| &given.value) {
            let unknown = Effective {
                text: Cow::Owned(text.clone()),
                structured: None,
                // What it is a value of cannot be seen in it.
                kind: ParameterType::String,
                may_show: true,
                origin,
                place,
            };
            effective.values.insert(parameter.name.clone(), unknown);
            return;
        }
        let may_show = !self.hides(parameter.index);
        let structured = match (given.map(|given| &given.value), parameter.value) {
            (Some(GivenValue::Structured(value)), _) => Some(value.clone()),
            (None, Some(default)) if default.is_mapping() || default.is_sequence() => default
                .value(DuplicateKeys::Refuse, self.diagnostics)
                .map(Value::without_origin),
            _ => None,
        };
        let mut check = Check {
            parameter,
            given,
            may_show,
            diagnostics: self.diagnostics,
        };
        let structured = check.structured(structured, &text);
        let text = match &structured {
            Some(value) => value.to_json(),
            None => text,
        };
        check.value(&text, structured.is_some());
        effective.values.insert(
            parameter.name.clone(),
            Effective {
                text: Cow::Owned(text),
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

/// Checks one value against its parameter.
struct Check<'c, 'd> {
    parameter: &'c Parameter<'d>,
    given: Option<&'c Given>,
    may_show: bool,
    diagnostics: &'c mut Diagnostics,
}

impl<'d> Check<'_, 'd> {
    /// Where the value comes from.
    fn place(&self) -> Option<Place> {
        match self.given {
            Some(given) => given.place.clone(),
            None => Some(self.parameter.value.unwrap_or(self.parameter.node).place()),
        }
    }

    fn error(&mut self, message: String, hint: Option<String>) {
        let mut diagnostic = Diagnostic::error(message)
            .maybe_hint(hint)
            .conceal(!self.may_show);
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
    fn structured(&mut self, value: Option<Value<'d>>, text: &str) -> Option<Value<'d>> {
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
        let message = format!(
            "the value of parameter `{name}` is not of the type {}",
            kind.name()
        );
        self.error(message, Some(hint.to_owned()));
        None
    }

    fn value(&mut self, text: &str, structured: bool) {
        if text.is_empty() {
            if self.parameter.required {
                self.missing();
            }
            return;
        }
        if structured || self.parameter.kind.is_structured() {
            return;
        }
        self.kind(text);
        self.allowed(text);
        self.pattern(text);
        self.length(text);
        self.range(text);
    }

    fn missing(&mut self) {
        let parameter = self.parameter;
        let shown = match &parameter.display_name {
            Some(shown) => format!(" ({shown})"),
            None => String::new(),
        };
        let message = format!(
            "parameter `{}`{shown} is required and has no value",
            parameter.name
        );
        let mut diagnostic = Diagnostic::error(message)
            .rule("given-value")
            .at(parameter.node.get("name").unwrap_or(parameter.node).place())
            .field(format!("parameters[{}].value", parameter.index));
        if let Some(description) = &parameter.description {
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
        if self.may_show && text.len() <= 80 {
            format!(", found `{text}`")
        } else {
            String::new()
        }
    }

    fn kind(&mut self, text: &str) {
        let (fits, expected) = match self.parameter.kind {
            ParameterType::Int => (is_int(text), "an int"),
            ParameterType::Number => (is_json_number(text), "a number"),
            ParameterType::Bool => (matches!(text, "true" | "false"), "a bool"),
            ParameterType::Base64 => (is_base64(text), "base64"),
            _ => return,
        };
        if fits {
            return;
        }
        let hint = match self.parameter.kind {
            ParameterType::Bool => Some("write `true` or `false`".to_owned()),
            ParameterType::Base64 => Some("encode it as RFC 4648 says, with padding".to_owned()),
            ParameterType::Int => Some("write digits, with an optional sign".to_owned()),
            _ => Some("write it as JSON does: `3`, `-0.5`, `1e6`".to_owned()),
        };
        let message = format!(
            "parameter `{}` must be {expected}{}",
            self.parameter.name,
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
        match regex_lite::Regex::new(pattern) {
            Ok(regex) if regex.is_match(text) => {}
            Ok(_) => {
                let message = format!(
                    "parameter `{name}` must match `{pattern}`{}",
                    self.found(text)
                );
                self.error(message, None);
            }
            Err(error) => {
                let place = self
                    .parameter
                    .node
                    .get("pattern")
                    .unwrap_or(self.parameter.node)
                    .place();
                self.diagnostics.push(
                    Diagnostic::error(format!(
                        "the pattern of parameter `{name}` is no regular expression: {error}"
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
        let bound = |bound: &Option<Cow<'_, str>>| {
            bound.as_ref().and_then(|bound| bound.parse::<f64>().ok())
        };
        let name = &self.parameter.name;
        let message = match (
            bound(&self.parameter.minimum),
            bound(&self.parameter.maximum),
        ) {
            (Some(least), _) if number < least => format!(
                "parameter `{name}` must be at least {least}{}",
                self.found(text)
            ),
            (_, Some(most)) if number > most => format!(
                "parameter `{name}` must be at most {most}{}",
                self.found(text)
            ),
            _ => return,
        };
        self.error(message, None);
    }
}

/// What to say of a list or mapping with a number that YAML has and JSON has not.
pub(crate) fn no_json_number(name: &str, digits: Option<&str>) -> (String, &'static str) {
    let found = digits.map_or_else(String::new, |digits| format!(", found `{digits}`"));
    (
        format!("the value of parameter `{name}` must have numbers that JSON has{found}"),
        "put it in quotes if it is a string",
    )
}

/// Reads the text of an array or map parameter.
pub(crate) fn read_text(text: &str) -> Option<Value<'static>> {
    let source = Source::new("value", text);
    let document = Document::parse(&source).ok()?;
    let root = document.roots().next()?;
    let mut ignored = Diagnostics::new();
    Some(
        root.value(DuplicateKeys::Refuse, &mut ignored)?
            .without_origin()
            .into_owned(),
    )
}

/// Whether a text is digits with an optional sign.
pub(crate) fn is_int(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a number by the JSON grammar, of any size.
pub(crate) fn is_json_number(text: &str) -> bool {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && serde_json::from_str::<serde_json::Number>(text).is_ok()
        && !text.ends_with(|last: char| last.is_ascii_whitespace())
}

fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::{is_base64, is_int, is_json_number};

    #[test]
    fn types_by_their_grammar() {
        for text in ["0", "-7", "+7", "007", "123456789012345678901234567890"] {
            assert!(is_int(text), "{text}");
        }
        for text in ["", "-", "1.0", "1e3", "0x1F", "1_000", " 1", "１"] {
            assert!(!is_int(text), "{text}");
        }
        for text in [
            "0",
            "-0",
            "1.50",
            "1e3",
            "1E+3",
            "123456789012345678901234567890",
        ] {
            assert!(is_json_number(text), "{text}");
        }
        for text in [
            "", "+1", "007", ".5", "1.", "0x1F", " 7", "7 ", "NaN", "true",
        ] {
            assert!(!is_json_number(text), "{text}");
        }
        for text in ["aGk=", "aGkh", "+/==", ""] {
            assert_eq!(is_base64(text), text != "+/==", "{text}");
        }
        assert!(!is_base64("aGk"), "padding is needed");
    }
}
