//! A parameter as its Template declares it.

use std::borrow::Cow;

use crate::declare::dialect::Dialect;
use crate::declare::fields::report_fields;
use crate::values::generate;
use crate::values::given::{is_respelled_alike, unquoted};
use crate::values::text::{is_base64, is_int, is_json_number, no_json_number};
use krm_core::fields;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, DuplicateKeys, Kind, NodeId, Scalar, SharedNode, Value};

/// The type a parameter's value must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParameterType {
    /// Any text, which is the default.
    #[default]
    String,
    /// An optional sign and digits.
    Int,
    /// A number as JSON writes it: no `+`, `.5` or `0x`.
    Number,
    /// `true` or `false`, in lower case.
    Bool,
    /// RFC 4648 base64 with padding.
    Base64,
    /// A list, put in whole by a raw reference.
    Array,
    /// A mapping, put in whole by a raw reference.
    Map,
}

impl ParameterType {
    /// The names a Template may use, aliases last.
    pub const NAMES: &[(&str, Self)] = &[
        ("string", Self::String),
        ("int", Self::Int),
        ("integer", Self::Int),
        ("number", Self::Number),
        ("bool", Self::Bool),
        ("boolean", Self::Bool),
        ("base64", Self::Base64),
        ("array", Self::Array),
        ("map", Self::Map),
        ("object", Self::Map),
    ];

    /// The name used in messages.
    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find_map(|(name, kind)| (*kind == self).then_some(*name))
            .unwrap_or("string")
    }

    /// The name in a sentence: `an int`.
    pub fn with_article(self) -> String {
        match self {
            Self::Base64 => "base64".to_owned(),
            Self::Int | Self::Array => format!("an {}", self.name()),
            _ => format!("a {}", self.name()),
        }
    }

    /// Whether a text is a value of the type; a list or mapping is not read.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Int => is_int(text),
            Self::Number => is_json_number(text),
            Self::Bool => matches!(text, "true" | "false"),
            Self::Base64 => is_base64(text),
            Self::String | Self::Array | Self::Map => true,
        }
    }

    /// Whether values are lists or mappings.
    pub const fn is_structured(self) -> bool {
        matches!(self, Self::Array | Self::Map)
    }
}

/// A parameter as its Template declares it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its declaration")]
pub struct Parameter {
    /// The name by which references find it.
    pub name: String,
    /// The default, unless it is null or left out.
    value: Option<NodeId>,
    /// Whether a value must be there and not empty.
    pub required: bool,
    /// The type of its value.
    pub kind: ParameterType,
    /// The expression that generates its value if it has none.
    pub from: Option<String>,
    /// The only values it may have.
    pub allowed: Vec<String>,
    /// A regular expression that must match somewhere in its value, as in a JSON Schema.
    pub pattern: Option<String>,
    /// The least value of a number.
    pub minimum: Option<String>,
    /// The greatest value of a number.
    pub maximum: Option<String>,
    /// The least number of characters.
    pub min_length: Option<usize>,
    /// The greatest number of characters.
    pub max_length: Option<usize>,
    /// Whether a field is left out that is only a raw reference to it, if it has no value.
    pub omit_empty: bool,
    /// Whether its value must not be shown.
    pub secret: bool,
    /// The heading under which forms show it.
    pub group: Option<String>,
    /// Whether no message may show its value.
    conceals_value: bool,
    node: SharedNode,
    /// Its position in the Template's list.
    pub index: usize,
}

impl Parameter {
    /// The node that it was read from.
    pub fn node(&self) -> Cursor<'_> {
        self.node.cursor()
    }

    /// Its default, unless it is null or left out.
    pub fn value(&self) -> Option<Cursor<'_>> {
        Some(self.node.document().cursor(self.value?))
    }

    /// The field `key`; without it, the whole parameter.
    pub fn field(&self, key: &str) -> Cursor<'_> {
        let node = self.node();
        node.get(key).unwrap_or(node)
    }

    /// The name that forms and tables show, if there is one.
    pub fn display_name(&self) -> Option<Cow<'_, str>> {
        self.string("displayName")
    }

    /// The field `description`, in the author's words.
    pub fn description(&self) -> Option<Cow<'_, str>> {
        self.string("description")
    }

    /// A field that was found to be a string when it was read.
    fn string(&self, key: &str) -> Option<Cow<'_, str>> {
        match self.node().get(key)?.scalar() {
            Ok(Some(Scalar::String(text))) => Some(text),
            _ => None,
        }
    }

    /// The expression its value is generated from.
    pub fn expression(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// Its default as text: as it is written, a list or mapping as JSON.
    pub fn default_text(&self) -> Option<Cow<'_, str>> {
        let value = self.value()?;
        if value.is_mapping() || value.is_sequence() {
            let value = value.value(DuplicateKeys::LastWins, &mut Diagnostics::new())?;
            return Some(Cow::Owned(value.to_json()));
        }
        value.text().ok()?
    }

    /// Whether a message may show the value: not that of a secret, nor one that looks like one.
    pub fn may_show(&self) -> bool {
        !self.conceals_value
            && !self.secret
            && self.kind != ParameterType::Base64
            && self.from.is_none()
    }

    /// Whether its name says that the value is a secret: `DB_PASSWORD`, but not `SECRET_NAME`.
    pub fn is_named_like_secret(&self) -> bool {
        let name = self.name.to_uppercase();
        SECRET_WORDS.iter().any(|word| name.contains(word))
            && !ABOUT_SECRETS.iter().any(|end| name.ends_with(end))
    }
}

/// Parts of the names of secret parameters, in upper case.
const SECRET_WORDS: [&str; 5] = ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN"];

/// Ends of names whose values only lead to a secret or describe it, in upper case.
const ABOUT_SECRETS: [&str; 8] =
    ["NAME", "KEY_REF", "URL", "FILE", "PATH", "LENGTH", "TTL", "TOKENS"];

/// The fields of a parameter that are known.
pub const PARAMETER_FIELDS: [&str; 18] = [
    "name",
    "displayName",
    "description",
    "value",
    "required",
    "type",
    "parameterType",
    "generate",
    "from",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "omitEmpty",
    "secret",
    "group",
];

/// The names of all parameters, from which the dialect is detected before they are read.
pub(crate) fn names(node: Cursor<'_>) -> Vec<Cow<'_, str>> {
    let list = node.get("parameters").filter(|list| list.is_sequence());
    let parameters = list.into_iter().flat_map(Cursor::children);
    parameters.filter_map(|parameter| parameter.text_at(["name"])).collect()
}

/// The rules by which parameters are read.
#[derive(Clone, Copy)]
pub(crate) struct ParameterStyle {
    pub(crate) dialect: Dialect,
    /// Whether to accept what `oc` accepts.
    pub(crate) lenient: bool,
    /// Whether no message may show a value.
    pub(crate) conceals_values: bool,
    /// Whether to read only what OpenShift's API has: not our own fields, and no generator of a
    /// parameter with a value.
    pub(crate) is_upstream: bool,
}

/// The fields of a parameter in OpenShift's API.
const UPSTREAM_FIELDS: [&str; 7] =
    ["name", "displayName", "description", "value", "required", "generate", "from"];

/// Reads the list `parameters`. Reports duplicates and all that is malformed.
pub(crate) fn read_parameters(
    template: &SharedNode,
    style: ParameterStyle,
    found: &mut Diagnostics,
) -> Vec<Parameter> {
    let list = template.cursor().get("parameters");
    let Some(list) = list.filter(|list| !list.is_null()) else {
        return Vec::new();
    };
    if !list.is_sequence() {
        found.push(
            Diagnostic::error("`parameters` must be a list")
                .at(list.place())
                .field("parameters")
                .hint("begin each parameter with `- name: NAME`"),
        );
        return Vec::new();
    }
    let mut parameters = Vec::with_capacity(list.children().count());
    for (index, parameter) in list.children().enumerate() {
        if !parameter.is_null() {
            let parameter = template.with(parameter.id());
            parameters.extend(read_parameter(index, &parameter, style, found));
        }
    }
    parameters
}

fn read_parameter(
    index: usize,
    shared: &SharedNode,
    style: ParameterStyle,
    found: &mut Diagnostics,
) -> Option<Parameter> {
    let node = shared.cursor();
    if !node.is_mapping() {
        found.push(
            Diagnostic::error("a parameter must be a mapping")
                .at(node.place())
                .field(format!("parameters[{index}]"))
                .maybe_hint(node.space_hint())
                .hint("write it as `- name: NAME`"),
        );
        return None;
    }
    let (mut entries, unknown) = fields::sorted(node, &PARAMETER_FIELDS);
    if style.is_upstream {
        leave_upstream_fields(&mut entries);
    }
    report_fields(
        node,
        unknown,
        &PARAMETER_FIELDS,
        format_args!("parameters[{index}]."),
        "a parameter",
        Some(style.dialect),
        found,
    );
    let mut fields = Fields { node, entries, index, lenient: style.lenient, found };
    let name = fields.name()?;
    let kind = fields.kind();
    let from = fields.from();
    // These two are read where they are shown.
    fields.text("displayName");
    fields.text("description");
    let parameter = Parameter {
        required: fields.flag("required"),
        omit_empty: fields.flag("omitEmpty"),
        secret: fields.flag("secret"),
        group: fields.text("group").map(Cow::into_owned),
        allowed: fields.list("enum"),
        pattern: fields.text("pattern").map(Cow::into_owned),
        minimum: fields.number("minimum"),
        maximum: fields.number("maximum"),
        min_length: fields.length("minLength"),
        max_length: fields.length("maxLength"),
        value: fields.get("value").map(Cursor::id),
        name,
        conceals_value: style.conceals_values,
        kind,
        from,
        node: shared.clone(),
        index,
    };
    check_default(&parameter, found);
    Some(parameter)
}

/// Takes away the fields that OpenShift's API does not have, and the generator if it is not used.
fn leave_upstream_fields(entries: &mut [Option<Cursor<'_>>; PARAMETER_FIELDS.len()]) {
    let mut has_value = false;
    for (entry, name) in entries.iter_mut().zip(PARAMETER_FIELDS) {
        // `value` comes before `generate` and `from`.
        if name == "value" {
            let text = entry.and_then(|value| value.text().ok()?);
            has_value = text.is_some_and(|text| !text.is_empty());
        }
        if !UPSTREAM_FIELDS.contains(&name) || has_value && matches!(name, "generate" | "from") {
            *entry = None;
        }
    }
}

/// A default that is not a string: taken by its text, but kustomize re-types it before a function
/// sees it.
fn check_default(parameter: &Parameter, found: &mut Diagnostics) {
    let Some(value) = parameter.value() else {
        return;
    };
    let field = || format!("parameters[{}].value", parameter.index);
    if matches!(value.kind(), Kind::Mapping | Kind::Sequence) {
        if !parameter.kind.is_structured() {
            found.push(
                Diagnostic::error(format!(
                    "parameter `{}` has a structured value but the type {}",
                    parameter.name,
                    parameter.kind.name()
                ))
                .at(value.key_place())
                .field(field())
                .hint(if value.is_sequence() {
                    "declare it with `type: array`"
                } else {
                    "declare it with `type: map`"
                }),
            );
            return;
        }
        let data = value.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
        if let Some(digits) = data.as_ref().and_then(Value::non_finite) {
            let may_show = parameter.may_show();
            let (message, hint) =
                no_json_number(&parameter.name, Some(digits).filter(|_| may_show));
            found.push(
                Diagnostic::error(message)
                    .at(value.place())
                    .conceal(!may_show)
                    .field(field())
                    .hint(hint),
            );
        }
        return;
    }
    let is_typed =
        matches!(parameter.kind, ParameterType::Int | ParameterType::Number | ParameterType::Bool);
    if is_typed && is_respelled_alike(&value.text().ok().flatten().unwrap_or_default()) {
        return;
    }
    if let Some(warning) = unquoted(&parameter.name, value) {
        found.push(warning.conceal(!parameter.may_show()).field(field()));
    }
}

/// Types of other tools, and ours for the same.
const TYPES: &[(&str, &str)] = &[
    ("str", "string"),
    ("text", "string"),
    ("float", "number"),
    ("double", "number"),
    ("list", "array"),
    ("dict", "map"),
];

/// Reads the fields of one parameter and reports problems.
struct Fields<'f, 'd> {
    node: Cursor<'d>,
    /// The entries of [`PARAMETER_FIELDS`], found in one walk.
    entries: [Option<Cursor<'d>>; PARAMETER_FIELDS.len()],
    /// The position of the parameter.
    index: usize,
    /// Whether to accept what `oc` accepts.
    lenient: bool,
    found: &'f mut Diagnostics,
}

impl<'d> Fields<'_, 'd> {
    fn get(&self, key: &str) -> Option<Cursor<'d>> {
        self.entry(key).filter(|field| !field.is_null())
    }

    /// A field that may be null.
    fn entry(&self, key: &str) -> Option<Cursor<'d>> {
        let index = PARAMETER_FIELDS.iter().position(|name| *name == key)?;
        self.entries.get(index).copied().flatten()
    }

    fn path(&self, key: &str) -> String {
        format!("parameters[{}].{key}", self.index)
    }

    fn wrong(&mut self, key: &str, expected: &str, hint: Option<String>) {
        let place = self.entry(key).unwrap_or(self.node).place();
        self.found.push(
            Diagnostic::error(format!("`{key}` of a parameter must be {expected}"))
                .at(place)
                .field(self.path(key))
                .maybe_hint(hint),
        );
    }

    fn text(&mut self, key: &str) -> Option<Cow<'d, str>> {
        let field = self.entry(key)?;
        match field.scalar() {
            Ok(Some(Scalar::String(text))) => Some(text),
            Ok(Some(Scalar::Null)) => None,
            Ok(Some(_)) => {
                self.wrong(
                    key,
                    "a string",
                    Some(format!("put it in quotes: `\"{}\"`", field.raw())),
                );
                None
            }
            Ok(None) => {
                self.wrong(key, "a string", None);
                None
            }
            Err(diagnostic) => {
                self.found.push(*diagnostic);
                None
            }
        }
    }

    /// The name: by its source text, so that a parameter may be called `N`, which is a bool
    /// otherwise.
    fn name(&mut self) -> Option<String> {
        let Some(field) = self.get("name") else {
            self.nameless(self.node.key_place());
            return None;
        };
        let Some(name) = self.found.take(field.text())? else {
            self.wrong("name", "a string", None);
            return None;
        };
        if name.is_empty() {
            self.nameless(field.place());
            return None;
        }
        if !matches!(field.scalar(), Ok(Some(Scalar::String(_)))) {
            self.found.push(
                Diagnostic::warning(format!("the parameter name `{name}` is not a string"))
                    .rule("unquoted-value")
                    .at(field.place())
                    .field(self.path("name"))
                    .hint(format!("put it in quotes: `\"{name}\"`")),
            );
        }
        Some(name.into_owned())
    }

    /// `oc` accepts a parameter without a name, to which nothing can refer.
    fn nameless(&mut self, place: Place) {
        let message = "the parameter has no `name`";
        let diagnostic =
            if self.lenient { Diagnostic::warning(message) } else { Diagnostic::error(message) };
        self.found.push(diagnostic.at(place).field(self.path("name")));
    }

    fn flag(&mut self, key: &str) -> bool {
        let Some(field) = self.entry(key) else {
            return false;
        };
        match field.scalar() {
            Ok(Some(Scalar::Bool(flag))) => return flag,
            Ok(Some(Scalar::Null)) => return false,
            _ => {}
        }
        let hint = match field.raw() {
            r#""true""# | "'true'" => Some("write it without quotes: `true`".to_owned()),
            _ => None,
        };
        self.wrong(key, "`true` or `false`", hint);
        false
    }

    fn number(&mut self, key: &str) -> Option<String> {
        match self.entry(key)?.scalar() {
            Ok(Some(Scalar::Number(digits))) => return Some(digits.into_owned()),
            Ok(Some(Scalar::Null)) => {}
            Ok(Some(Scalar::String(text))) if is_json_number(&text) => {
                self.wrong(key, "a number", Some(format!("write it without quotes: `{text}`")));
            }
            _ => self.wrong(key, "a number", Some(format!("write it as `{key}: 1`"))),
        }
        None
    }

    fn length(&mut self, key: &str) -> Option<usize> {
        let digits = self.number(key)?;
        let length = digits.parse().ok();
        if length.is_none() {
            self.wrong(key, "a number of characters", Some(format!("write it as `{key}: 1`")));
        }
        length
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let Some(field) = self.get(key) else {
            return Vec::new();
        };
        let texts = field.children().filter(|_| field.is_sequence());
        let texts = texts.map(|item| Some(item.text().ok()??.into_owned()));
        let texts: Option<Vec<String>> = texts.collect();
        if !field.is_sequence() || texts.is_none() {
            let hint = "write each value on its own line, as `- VALUE`".to_owned();
            self.wrong(key, "a list of strings", Some(hint));
        }
        texts.unwrap_or_default()
    }

    fn kind(&mut self) -> ParameterType {
        let key = if self.get("type").is_some() { "type" } else { "parameterType" };
        let Some(name) = self.text(key) else {
            return ParameterType::String;
        };
        let names = ParameterType::NAMES;
        if let Some((_, kind)) = names.iter().find(|(known, _)| *known == name) {
            return *kind;
        }
        let elsewhere = TYPES.iter().find(|(other, _)| *other == name);
        let known = elsewhere
            .map(|(_, meant)| *meant)
            .or_else(|| closest(&name, names.iter().map(|(name, _)| *name)));
        let hint = known.map_or_else(
            || "known types are string, int, number, bool, base64, array and map".to_owned(),
            |known| format!("did you mean `{known}`?"),
        );
        let place = self.entry(key).unwrap_or(self.node).place();
        self.found.push(
            Diagnostic::error(format!("`{name}` is not a parameter type"))
                .at(place)
                .field(self.path(key))
                .hint(hint),
        );
        ParameterType::String
    }

    /// The expression of `generate: expression`.
    fn from(&mut self) -> Option<String> {
        let generator = self.text("generate").unwrap_or_default();
        if generator.is_empty() {
            if let Some(from) = self.entry("from").filter(|from| !from.is_null()) {
                self.found.push(
                    Diagnostic::warning("`from` has no effect without `generate`")
                        .rule("generated-value")
                        .at(from.key_place())
                        .field(self.path("from"))
                        .hint("to generate the value, add `generate: expression`"),
                );
            }
            return None;
        }
        if generator != "expression" {
            let place = self.entry("generate").unwrap_or(self.node).place();
            self.found.push(
                Diagnostic::error(format!("`{generator}` is not a generator"))
                    .at(place)
                    .field(self.path("generate"))
                    .hint("the only one is `expression`"),
            );
            return None;
        }
        let field = self.entry("from").unwrap_or(self.node);
        let from = self.text("from").unwrap_or_default();
        if let Err(error) = generate::check(&from) {
            self.found.push(
                Diagnostic::error(error.message)
                    .at(field.place())
                    .field(self.path("from"))
                    .maybe_hint(error.hint),
            );
        }
        Some(from.into_owned())
    }
}

pub(crate) fn check_duplicates(
    parameters: &[Parameter],
    dialect: Dialect,
    found: &mut Diagnostics,
) {
    let mut seen = std::collections::BTreeMap::new();
    for parameter in parameters {
        let Some(first) = seen.insert(parameter.name.as_str(), parameter) else {
            continue;
        };
        let message = format!("parameter `{}` is declared twice", parameter.name);
        let (diagnostic, hint) = match dialect {
            Dialect::Proposal => (Diagnostic::error(message), "remove one of the two"),
            Dialect::OpenShift => (
                Diagnostic::warning(message),
                "a given value goes to the first, references use the last: remove one of the two",
            ),
        };
        found.push(
            diagnostic
                .rule("duplicate-parameter")
                .at(parameter.field("name").place())
                .related(first.field("name").place(), "first here")
                .field(format!("parameters[{}].name", parameter.index))
                .hint(hint),
        );
    }
}

/// Whether a name is fine in both dialects.
fn is_common_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

pub(crate) fn check_names(parameters: &[Parameter], dialect: Dialect, found: &mut Diagnostics) {
    for parameter in parameters {
        let name = parameter.name.as_str();
        if is_common_name(name) {
            continue;
        }
        let legal = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
        let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let diagnostic = if !legal && dialect == Dialect::Proposal {
            Diagnostic::error(format!("`{name}` is not a parameter name"))
                .hint("use letters, digits, `_`, `.` and `-`")
        } else if dialect == Dialect::OpenShift && (!legal || name.contains(['-', '.'])) {
            Diagnostic::warning(format!("parameter `{name}` cannot be referred to"))
                .hint("a name in `${NAME}` may only have letters, digits and `_`")
        } else if dialect == Dialect::Proposal && !starts {
            Diagnostic::warning(format!("parameter `{name}` cannot be referred to"))
                .hint("a name in a reference must begin with a letter or `_`")
        } else {
            continue;
        };
        found.push(
            diagnostic
                .rule("parameter-name")
                .at(parameter.field("name").place())
                .field(format!("parameters[{}].name", parameter.index)),
        );
    }
}
