//! The Template object as it is written: its parameters, objects, labels and message.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Diagnostics, ObjectReference};
use crate::krm::identity;
use crate::source::Place;
use crate::suggest::closest;
use crate::template::dialect::{Dialect, OPENSHIFT_GROUP, OWN_GROUP};
use crate::template::generate;
use crate::template::values::{self, Given};
use crate::yaml::{Cursor, Kind, Scalar};

/// A Template that was read and found well-formed.
#[derive(Debug)]
pub struct Template<'d> {
    pub(crate) node: Cursor<'d>,
    pub(crate) reference: ObjectReference,
    pub(crate) dialect: Dialect,
    /// In the order they are declared.
    pub(crate) parameters: Vec<Parameter<'d>>,
    pub(crate) objects: Option<Cursor<'d>>,
    pub(crate) labels: Option<Cursor<'d>>,
    pub(crate) message: Option<Cursor<'d>>,
    /// The map `values`, which a strategic-merge patch merges where it replaces `parameters`.
    pub(crate) values: Vec<Given>,
}

/// The type a parameter's value must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParameterType {
    /// Any text.
    #[default]
    String,
    /// An optional sign and digits.
    Int,
    /// A JSON number.
    Number,
    /// `true` or `false`.
    Bool,
    /// RFC 4648 base64 with padding.
    Base64,
    /// A list, put in whole by a raw reference.
    Array,
    /// A mapping, put in whole by a raw reference.
    Map,
}

impl ParameterType {
    /// The names a Template may use, aliases behind the first.
    const NAMES: &[(&str, Self)] = &[
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
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find_map(|(name, kind)| (*kind == self).then_some(*name))
            .unwrap_or("string")
    }

    /// Whether values are lists or mappings.
    #[must_use]
    pub const fn is_structured(self) -> bool {
        matches!(self, Self::Array | Self::Map)
    }
}

/// A parameter as its Template declares it.
#[derive(Debug)]
pub struct Parameter<'d> {
    /// Its name.
    pub name: Cow<'d, str>,
    /// The name people read.
    pub display_name: Option<Cow<'d, str>>,
    /// What it is for.
    pub description: Option<Cow<'d, str>>,
    /// The default, unless it is null or left out.
    pub(crate) value: Option<Cursor<'d>>,
    /// Whether a value must be there and not empty.
    pub required: bool,
    /// The type of its value.
    pub kind: ParameterType,
    /// The expression its value is generated from if none is there.
    pub(crate) from: Option<(Cow<'d, str>, Cursor<'d>)>,
    /// The only values it may have.
    pub(crate) allowed: Vec<Cow<'d, str>>,
    /// A regular expression that must match somewhere in its value, as in a JSON Schema.
    pub(crate) pattern: Option<Cow<'d, str>>,
    /// Least and greatest value of a number.
    pub(crate) minimum: Option<Cow<'d, str>>,
    pub(crate) maximum: Option<Cow<'d, str>>,
    /// Least and greatest number of characters.
    pub(crate) min_length: Option<usize>,
    pub(crate) max_length: Option<usize>,
    /// Whether its value must not be shown.
    pub secret: bool,
    pub(crate) node: Cursor<'d>,
    /// Its position in the Template's list.
    pub(crate) index: usize,
}

impl Parameter<'_> {
    /// Whether a message may show the value: not that of a secret, nor one that looks like one.
    pub(crate) fn may_show(&self) -> bool {
        !self.secret && self.kind != ParameterType::Base64 && self.from.is_none()
    }
}

const TEMPLATE_FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "parameters",
    "objects",
    "labels",
    "objectLabels",
    "message",
    "values",
];
const PARAMETER_FIELDS: &[&str] = &[
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
    "secret",
    "group",
];

/// Whether `kind: Template` of this API version is one that is understood.
pub(crate) fn is_template_version(api_version: &str) -> bool {
    matches!(
        identity::group(api_version),
        "" | OWN_GROUP | OPENSHIFT_GROUP
    )
}

impl<'d> Template<'d> {
    /// Reads the Template under a node. All errors and warnings go to `diagnostics`; after an
    /// error there is no Template.
    #[must_use]
    pub fn read(node: Cursor<'d>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let mut found = Diagnostics::new();
        let template = Self::read_fields(node, &mut found);
        found.attribute_to(&identity::reference(node));
        let failed = found.has_errors();
        diagnostics.append(found);
        template.filter(|_| !failed)
    }

    fn read_fields(node: Cursor<'d>, found: &mut Diagnostics) -> Option<Self> {
        if !node.is_mapping() {
            found.push(Diagnostic::error("expected a Template, found no mapping").at(node.place()));
            return None;
        }
        let kind = node.text_at(["kind"]).unwrap_or_default();
        if kind != "Template" {
            let place = node
                .get("kind")
                .map_or_else(|| node.key_place(), Cursor::place);
            let what = if kind.is_empty() {
                "no `kind`".to_owned()
            } else {
                format!("`kind: {kind}`")
            };
            found.push(
                Diagnostic::error(format!("expected `kind: Template`, found {what}"))
                    .at(place)
                    .field("kind"),
            );
            return None;
        }
        let api_version = node.text_at(["apiVersion"]).unwrap_or_default();
        if api_version.is_empty() || !is_template_version(&api_version) {
            let place = node
                .get("apiVersion")
                .map_or_else(|| node.key_place(), Cursor::place);
            let what = if api_version.is_empty() {
                "has no `apiVersion`".to_owned()
            } else {
                format!("has the unknown `apiVersion: {api_version}`")
            };
            found.push(
                Diagnostic::error(format!("the Template {what}"))
                    .at(place)
                    .field("apiVersion")
                    .hint("use `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`"),
            );
        }
        let mut parameters = read_parameters(node, found);
        let names: Vec<&str> = parameters
            .iter()
            .map(|parameter| parameter.name.as_ref())
            .collect();
        let dialect = Dialect::of(node, &names, found);
        check_keys(node, dialect, found);
        check_duplicates(&parameters, dialect, found);
        check_names(&parameters, dialect, found);
        let template = Self {
            node,
            reference: identity::reference(node),
            dialect,
            objects: read_objects(node, found),
            labels: read_labels(node, found),
            message: read_message(node, found),
            values: read_values(node, found),
            parameters: std::mem::take(&mut parameters),
        };
        unknown_fields(node, TEMPLATE_FIELDS, "", "a Template", found);
        Some(template)
    }

    /// Its `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.reference.name
    }

    /// The syntax and rules it is written in.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Its parameters, in the order they are declared.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter<'d>] {
        &self.parameters
    }

    /// The Template itself, for a report.
    pub(crate) const fn reference(&self) -> &ObjectReference {
        &self.reference
    }

    /// Where an annotation of the Template is.
    pub(crate) fn annotation_place(&self, key: &str) -> Option<Place> {
        Some(self.node.at(["metadata", "annotations", key])?.place())
    }

    /// The value of an annotation of the Template.
    pub(crate) fn annotation(&self, key: &str) -> Option<Cow<'d, str>> {
        self.node.text_at(["metadata", "annotations", key])
    }
}

fn read_objects<'d>(node: Cursor<'d>, found: &mut Diagnostics) -> Option<Cursor<'d>> {
    match node.get("objects") {
        None => {
            found.push(
                Diagnostic::error("the Template has no `objects`")
                    .at(node.get("kind").unwrap_or(node).place())
                    .field("objects")
                    .maybe_hint(misspelt(node, "objects"))
                    .hint(
                        "list the objects to make under `objects:`; an empty list is `objects: []`",
                    ),
            );
            None
        }
        Some(objects) if objects.is_null() => None,
        Some(objects) if objects.is_sequence() => Some(objects),
        Some(objects) => {
            found.push(
                Diagnostic::error("`objects` must be a list")
                    .at(objects.place())
                    .field("objects")
                    .hint("begin each object with `- `"),
            );
            None
        }
    }
}

/// A key of the mapping that is probably meant to be `name`.
fn misspelt(node: Cursor<'_>, name: &str) -> Option<String> {
    let keys: Vec<Cow<'_, str>> = node
        .children()
        .filter_map(|entry| entry.key().ok())
        .collect();
    closest(name, keys.iter().map(AsRef::as_ref))
        .map(|key| format!("did you mean `{name}` where `{key}` stands?"))
}

fn read_labels<'d>(node: Cursor<'d>, found: &mut Diagnostics) -> Option<Cursor<'d>> {
    let labels = node.get("labels").filter(|labels| !labels.is_null());
    let object_labels = node.get("objectLabels").filter(|labels| !labels.is_null());
    if let (Some(labels), Some(object_labels)) = (labels, object_labels) {
        found.push(
            Diagnostic::error("`labels` and `objectLabels` are the same field, and both are there")
                .at(object_labels.key_place())
                .related(labels.key_place(), "the other one")
                .field("objectLabels")
                .hint("put all labels under `labels`"),
        );
    }
    let labels = labels.or(object_labels)?;
    if labels.is_mapping() {
        for label in labels.children() {
            if !matches!(label.scalar(), Ok(Some(Scalar::String(_)))) {
                let key = label.key().unwrap_or_default();
                found.push(
                    Diagnostic::error(format!("label `{key}` must be a string"))
                        .at(label.place())
                        .field(format!("labels.{key}"))
                        .hint(format!("put it in quotes: `\"{}\"`", label.raw())),
                );
            }
        }
        return Some(labels);
    }
    found.push(
        Diagnostic::error("`labels` must be a mapping")
            .at(labels.place())
            .field("labels"),
    );
    None
}

fn read_values(node: Cursor<'_>, found: &mut Diagnostics) -> Vec<Given> {
    match node.get("values").filter(|values| !values.is_null()) {
        None => Vec::new(),
        Some(values) if values.is_mapping() => values::from_mapping(values, found),
        Some(values) => {
            found.push(
                Diagnostic::error("`values` must be a mapping from parameter names to values")
                    .at(values.place())
                    .field("values")
                    .hint("write each value as `NAME: value`"),
            );
            Vec::new()
        }
    }
}

fn read_message<'d>(node: Cursor<'d>, found: &mut Diagnostics) -> Option<Cursor<'d>> {
    let message = node.get("message").filter(|message| !message.is_null())?;
    if matches!(message.scalar(), Ok(Some(Scalar::String(_)))) {
        return Some(message);
    }
    found.push(
        Diagnostic::error("`message` must be a string")
            .at(message.place())
            .field("message"),
    );
    None
}

fn read_parameters<'d>(node: Cursor<'d>, found: &mut Diagnostics) -> Vec<Parameter<'d>> {
    let Some(list) = node.get("parameters").filter(|list| !list.is_null()) else {
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
    let api_version = node.text_at(["apiVersion"]).unwrap_or_default();
    let lenient = identity::group(&api_version) == OPENSHIFT_GROUP;
    list.children()
        .enumerate()
        .filter(|(_, parameter)| !parameter.is_null())
        .filter_map(|(index, parameter)| read_parameter(index, parameter, lenient, found))
        .collect()
}

fn read_parameter<'d>(
    index: usize,
    node: Cursor<'d>,
    lenient: bool,
    found: &mut Diagnostics,
) -> Option<Parameter<'d>> {
    let path = format!("parameters[{index}]");
    if !node.is_mapping() {
        found.push(
            Diagnostic::error("a parameter must be a mapping")
                .at(node.place())
                .field(path)
                .hint("write it as `- name: NAME`"),
        );
        return None;
    }
    unknown_fields(
        node,
        PARAMETER_FIELDS,
        &format!("{path}."),
        "a parameter",
        found,
    );
    let mut fields = Fields {
        node,
        path: &path,
        lenient,
        found,
    };
    let name = fields.name()?;
    let kind = fields.kind();
    let from = fields.from();
    let parameter = Parameter {
        display_name: fields.text("displayName"),
        description: fields.text("description"),
        required: fields.flag("required"),
        secret: fields.flag("secret"),
        allowed: fields.list("enum"),
        pattern: fields.text("pattern"),
        minimum: fields.number("minimum"),
        maximum: fields.number("maximum"),
        min_length: fields.length("minLength"),
        max_length: fields.length("maxLength"),
        value: node.get("value").filter(|value| !value.is_null()),
        name,
        kind,
        from,
        node,
        index,
    };
    check_default(&parameter, found);
    Some(parameter)
}

/// A default that is not a string: taken by its text, but kustomize re-types it before a function
/// sees it.
fn check_default(parameter: &Parameter<'_>, found: &mut Diagnostics) {
    let Some(value) = parameter.value else { return };
    let field = format!("parameters[{}].value", parameter.index);
    if matches!(value.kind(), Kind::Mapping | Kind::Sequence) {
        if !parameter.kind.is_structured() {
            found.push(
                Diagnostic::error(format!(
                    "parameter `{}` has a structured value but the type {}",
                    parameter.name,
                    parameter.kind.name()
                ))
                .at(value.key_place())
                .field(field)
                .hint(if value.is_sequence() {
                    "declare it with `type: array`"
                } else {
                    "declare it with `type: map`"
                }),
            );
        }
        return;
    }
    if !matches!(value.scalar(), Ok(Some(Scalar::String(_)))) {
        let may_show = parameter.may_show();
        let quoted = if may_show {
            format!(", `\"{}\"`", value.raw())
        } else {
            String::new()
        };
        found.push(
            Diagnostic::warning(format!("the value of parameter `{}` is not a string", parameter.name))
                .at(value.place())
                .conceal(!may_show)
                .field(field)
                .hint(format!("put it in quotes{quoted}: kustomize changes unquoted values before a function sees them")),
        );
    }
}

/// Reads the fields of one parameter and says what is wrong with each.
struct Fields<'f, 'd> {
    node: Cursor<'d>,
    path: &'f str,
    /// Whether what `oc` takes is no error.
    lenient: bool,
    found: &'f mut Diagnostics,
}

impl<'d> Fields<'_, 'd> {
    fn get(&self, key: &str) -> Option<Cursor<'d>> {
        self.node.get(key).filter(|field| !field.is_null())
    }

    fn wrong(&mut self, key: &str, expected: &str, hint: Option<String>) {
        let place = self.node.get(key).unwrap_or(self.node).place();
        self.found.push(
            Diagnostic::error(format!("`{key}` of a parameter must be {expected}"))
                .at(place)
                .field(format!("{}.{key}", self.path))
                .maybe_hint(hint),
        );
    }

    fn text(&mut self, key: &str) -> Option<Cow<'d, str>> {
        let field = self.get(key)?;
        match field.scalar() {
            Ok(Some(Scalar::String(text))) => Some(text),
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
    fn name(&mut self) -> Option<Cow<'d, str>> {
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
                    .at(field.place())
                    .field(format!("{}.name", self.path))
                    .hint(format!("put it in quotes: `\"{name}\"`")),
            );
        }
        Some(name)
    }

    /// `oc` takes a parameter without a name, to which nothing can refer.
    fn nameless(&mut self, place: Place) {
        let message = "the parameter has no `name`";
        let diagnostic = if self.lenient {
            Diagnostic::warning(message)
        } else {
            Diagnostic::error(message)
        };
        self.found
            .push(diagnostic.at(place).field(format!("{}.name", self.path)));
    }

    fn flag(&mut self, key: &str) -> bool {
        let Some(field) = self.get(key) else {
            return false;
        };
        if let Ok(Some(Scalar::Bool(flag))) = field.scalar() {
            return flag;
        }
        let hint = match field.raw() {
            r#""true""# | "'true'" => Some("write it without quotes: `true`".to_owned()),
            _ => None,
        };
        self.wrong(key, "`true` or `false`", hint);
        false
    }

    fn number(&mut self, key: &str) -> Option<Cow<'d, str>> {
        let field = self.get(key)?;
        if let Ok(Some(Scalar::Number(digits))) = field.scalar() {
            Some(digits)
        } else {
            self.wrong(key, "a number", None);
            None
        }
    }

    fn length(&mut self, key: &str) -> Option<usize> {
        let digits = self.number(key)?;
        let length = digits.parse().ok();
        if length.is_none() {
            self.wrong(key, "a number of characters", None);
        }
        length
    }

    fn list(&mut self, key: &str) -> Vec<Cow<'d, str>> {
        let Some(field) = self.get(key) else {
            return Vec::new();
        };
        if !field.is_sequence() {
            self.wrong(key, "a list", None);
            return Vec::new();
        }
        field
            .children()
            .filter_map(|item| item.text().ok().flatten())
            .collect()
    }

    fn kind(&mut self) -> ParameterType {
        let key = if self.get("type").is_some() {
            "type"
        } else {
            "parameterType"
        };
        let Some(name) = self.text(key) else {
            return ParameterType::String;
        };
        let names = ParameterType::NAMES;
        if let Some((_, kind)) = names.iter().find(|(known, _)| *known == name) {
            return *kind;
        }
        let known = closest(&name, names.iter().map(|(name, _)| *name));
        let hint = known.map_or_else(
            || "known types are string, int, number, bool, base64, array and map".to_owned(),
            |known| format!("did you mean `{known}`?"),
        );
        let place = self.node.get(key).unwrap_or(self.node).place();
        self.found.push(
            Diagnostic::error(format!("`{name}` is not a parameter type"))
                .at(place)
                .field(format!("{}.{key}", self.path))
                .hint(hint),
        );
        ParameterType::String
    }

    /// The expression of `generate: expression`.
    fn from(&mut self) -> Option<(Cow<'d, str>, Cursor<'d>)> {
        let generator = self.text("generate")?;
        if generator.is_empty() {
            return None;
        }
        if generator != "expression" {
            let place = self.node.get("generate").unwrap_or(self.node).place();
            self.found.push(
                Diagnostic::error(format!("`{generator}` is not a generator"))
                    .at(place)
                    .field(format!("{}.generate", self.path))
                    .hint("the only one is `expression`"),
            );
            return None;
        }
        let field = self.node.get("from").unwrap_or(self.node);
        let from = self.text("from").unwrap_or_default();
        if let Err(error) = generate::check(&from) {
            self.found.push(
                Diagnostic::error(error.message)
                    .at(field.place())
                    .field(format!("{}.from", self.path))
                    .maybe_hint(error.hint),
            );
        }
        Some((from, field))
    }
}

fn unknown_fields(
    node: Cursor<'_>,
    known: &[&str],
    path: &str,
    what: &str,
    found: &mut Diagnostics,
) {
    for entry in node.children() {
        let Ok(key) = entry.key() else { continue };
        if known.contains(&key.as_ref()) || key == "<<" {
            continue;
        }
        let hint =
            closest(&key, known.iter().copied()).map(|known| format!("did you mean `{known}`?"));
        found.push(
            Diagnostic::warning(format!("`{key}` is not a field of {what}"))
                .at(entry.key_place())
                .field(format!("{path}{key}"))
                .maybe_hint(hint),
        );
    }
}

/// Keys that the Template or one of its parameters has twice. Those of the objects are found when
/// the objects are read.
fn check_keys(node: Cursor<'_>, dialect: Dialect, found: &mut Diagnostics) {
    let duplicates = dialect.duplicate_keys();
    let metadata = node.get("metadata");
    let annotations = node.at(["metadata", "annotations"]);
    let labels = [node.get("labels"), node.get("objectLabels")];
    let parameters = node
        .get("parameters")
        .into_iter()
        .flat_map(Cursor::children);
    let mappings = [Some(node), metadata, annotations]
        .into_iter()
        .chain(labels)
        .flatten()
        .chain(parameters);
    for mapping in mappings.filter(|mapping| mapping.is_mapping()) {
        mapping.check_keys(duplicates, found);
    }
}

fn check_duplicates(parameters: &[Parameter<'_>], dialect: Dialect, found: &mut Diagnostics) {
    let mut seen = std::collections::BTreeMap::new();
    for parameter in parameters {
        let Some(first) = seen.insert(parameter.name.as_ref(), parameter) else {
            continue;
        };
        let name = |node: Cursor<'_>| node.get("name").unwrap_or(node).place();
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
                .at(name(parameter.node))
                .related(name(first.node), "first here")
                .field(format!("parameters[{}].name", parameter.index))
                .hint(hint),
        );
    }
}

fn check_names(parameters: &[Parameter<'_>], dialect: Dialect, found: &mut Diagnostics) {
    for parameter in parameters {
        let name = parameter.name.as_ref();
        let legal = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
        let place = parameter.node.get("name").unwrap_or(parameter.node).place();
        let field = format!("parameters[{}].name", parameter.index);
        let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let diagnostic = if !legal && dialect == Dialect::Proposal {
            Diagnostic::error(format!("`{name}` is not a parameter name"))
                .hint("use letters, digits, `_`, `.` and `-`")
        } else if dialect == Dialect::OpenShift && (!legal || name.contains(['-', '.'])) {
            Diagnostic::warning(format!("parameter `{name}` cannot be referred to"))
                .hint("a reference `${NAME}` holds letters, digits and `_` only")
        } else if dialect == Dialect::Proposal && !starts {
            Diagnostic::warning(format!("parameter `{name}` cannot be referred to"))
                .hint("the name in a reference begins with a letter or `_`")
        } else {
            continue;
        };
        found.push(diagnostic.at(place).field(field));
    }
}
