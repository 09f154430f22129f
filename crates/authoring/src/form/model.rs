//! The fields of a Template's form.

use std::collections::BTreeMap;

use crate::form::lines;
use krm_template_engine::{DefaultValue, Parameter, ParameterType, Template};

/// The maximum number of values that are shown as buttons. More are shown as a list.
const MAX_BUTTONS: usize = 4;

/// The form of a Template.
#[derive(Debug)]
pub struct Form {
    /// The groups in the order of their first occurrence.
    pub groups: Vec<Group>,
}

/// The fields of the parameters with the same `group`.
#[derive(Debug)]
pub struct Group {
    /// The name; empty for parameters without a group.
    pub name: String,
    /// The fields that need a value, then the others, in the order of the Template.
    pub fields: Vec<Field>,
}

/// The field of one parameter.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the parameter, and they are independent"
)]
pub struct Field {
    /// The name of the parameter.
    pub name: String,
    /// Its position in the list of the Template.
    pub index: usize,
    /// The parameter's `displayName`, shown instead of its name.
    pub label: Option<String>,
    /// The description of the parameter.
    pub description: Option<String>,
    /// The type of its value.
    pub kind: ParameterType,
    /// The control for entering the value.
    pub control: Control,
    /// The default, if it may be shown.
    pub default: Option<String>,
    /// The meaning of an empty field.
    pub lacking: Lacking,
    /// Whether a value must not be empty.
    pub required: bool,
    /// Whether fields are left out that refer to it only, if it is empty.
    pub omit_empty: bool,
    /// Whether a value must not be shown.
    pub secret: bool,
    /// Whether what is typed is masked: a secret, a value that is generated if there is none, or
    /// one whose parameter is named like a secret.
    pub is_masked: bool,
    /// Whether messages and outputs hide the value: it is secret, or looks secret.
    pub is_hidden: bool,
    /// A regular expression that must match somewhere in the value.
    pub pattern: Option<String>,
    /// The minimum and maximum of a number.
    pub range: [Option<String>; 2],
    /// The minimum and maximum length in characters.
    pub lengths: [Option<usize>; 2],
    /// Ranges and lengths in words.
    pub bounds: Vec<String>,
}

/// The control for entering the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// A field for text on one line. It becomes one of several lines if its value has some.
    Line,
    /// A field for text that may have several lines.
    Lines,
    /// A button for each value.
    Buttons(Vec<Choice>),
    /// A list to select one value from.
    List(Vec<Choice>),
}

/// A value that buttons and lists offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The value; empty for none.
    pub value: String,
    /// The text shown for the value.
    pub label: String,
}

/// The meaning of an empty field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// The value is the empty text.
    Empty,
    /// The parameter has no value.
    Nothing,
    /// A value is generated from this expression.
    Generated(String),
    /// The value is this text with its references to other parameters replaced.
    Computed(String),
    /// The default, which is not shown.
    Hidden,
}

impl Form {
    /// Creates the form of a Template. It contains no secrets.
    #[must_use]
    pub fn of(template: &Template) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut positions = BTreeMap::new();
        for parameter in template.named_parameters() {
            let name = parameter.group.as_deref().unwrap_or_default();
            let position = *positions.entry(name).or_insert(groups.len());
            if position == groups.len() {
                groups.push(Group { name: name.to_owned(), fields: Vec::new() });
            }
            if let Some(group) = groups.get_mut(position) {
                group.fields.push(Field::of(template, parameter));
            }
        }
        for group in &mut groups {
            group.fields.sort_by_key(|field| !field.needs_value());
        }
        Self { groups }
    }

    /// Returns the fields of all groups, in the order of the form.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.groups.iter().flat_map(|group| &group.fields)
    }

    /// Returns the field of a parameter.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields().find(|field| field.name == name)
    }
}

impl Field {
    fn of(template: &Template, parameter: &Parameter) -> Self {
        let text = |text: std::borrow::Cow<'_, str>| text.trim().to_owned();
        let filled = |text: &String| !text.is_empty();
        let (default, lacking) = default(template.default_value(parameter));
        let mut field = Self {
            name: parameter.name.clone(),
            index: parameter.index,
            label: parameter.display_name().map(text).filter(filled),
            description: parameter.description().map(text).filter(filled),
            kind: parameter.kind,
            control: Control::Line,
            default,
            lacking,
            required: parameter.required,
            omit_empty: parameter.omit_empty,
            secret: parameter.secret,
            is_masked: false,
            is_hidden: !parameter.may_show(),
            pattern: parameter.pattern.clone(),
            range: [parameter.minimum.clone(), parameter.maximum.clone()],
            lengths: [parameter.min_length, parameter.max_length],
            bounds: parameter.bounds(),
        };
        field.control = match (parameter.kind, field.values(parameter)) {
            (_, Some(choices)) if choices.len() <= MAX_BUTTONS => Control::Buttons(choices),
            (_, Some(choices)) => Control::List(choices),
            (ParameterType::Array | ParameterType::Map | ParameterType::Base64, _) => {
                Control::Lines
            }
            (ParameterType::String, _) if lines::are_likely_in(parameter) => Control::Lines,
            _ => Control::Line,
        };
        let is_text = matches!(field.kind, ParameterType::String | ParameterType::Base64);
        let is_typed = matches!(field.control, Control::Line | Control::Lines);
        let is_generated = matches!(field.lacking, Lacking::Generated(_));
        field.is_masked = is_typed
            && is_text
            && (field.secret || is_generated || parameter.is_named_like_secret());
        field.is_hidden |= field.is_masked;
        field
    }

    /// Returns `true` if the user must enter a value.
    pub fn needs_value(&self) -> bool {
        self.required && self.lacking == Lacking::Nothing
    }

    /// Returns `true` if a text in the field gives a value: it differs from the default or, without
    /// a default, is not empty.
    pub fn gives(&self, text: &str) -> bool {
        match &self.default {
            Some(default) => text != default.replace("\r\n", "\n").replace('\r', "\n"),
            None => !text.is_empty(),
        }
    }

    /// Returns the values to choose from, if the parameter allows only some.
    fn values(&self, parameter: &Parameter) -> Option<Vec<Choice>> {
        let mut values: Vec<String> = Vec::new();
        if !self.kind.is_structured() {
            values.extend(parameter.allowed.iter().cloned());
        }
        if values.is_empty() && self.kind == ParameterType::Bool {
            values = ["true", "false"].map(str::to_owned).to_vec();
        }
        if values.is_empty() {
            return None;
        }
        // Show a default that is not allowed, so that its error can be shown.
        if let Some(default) = &self.default
            && !values.contains(default)
        {
            values.insert(0, default.clone());
        }
        let none = match &self.lacking {
            _ if self.default.is_some() => None,
            Lacking::Nothing if self.required => None,
            Lacking::Empty | Lacking::Nothing => Some("not set"),
            Lacking::Generated(_) => Some("generated"),
            Lacking::Computed(_) | Lacking::Hidden => Some("the default"),
        };
        let mut choices: Vec<Choice> = Vec::new();
        for value in values {
            let label = if value.is_empty() { "empty" } else { &value }.to_owned();
            if choices.iter().all(|known| known.value != value) {
                choices.push(Choice { value, label });
            }
        }
        if let Some(label) = none
            && choices.iter().all(|known| !known.value.is_empty())
        {
            let label = label.to_owned();
            let value = String::new();
            choices.push(Choice { value, label });
        }
        Some(choices)
    }
}

/// Returns the initial text of a field, and the meaning of an empty field.
fn default(default: DefaultValue<'_>) -> (Option<String>, Lacking) {
    match default {
        DefaultValue::Nothing => (None, Lacking::Nothing),
        DefaultValue::Text(text) if can_be_shown(&text) => (Some(text.into()), Lacking::Empty),
        DefaultValue::Text(_) | DefaultValue::Hidden => (None, Lacking::Hidden),
        DefaultValue::Structured(value) => (Some(written(&value)), Lacking::Empty),
        DefaultValue::Computed(text) => (None, Lacking::Computed(text.into())),
        DefaultValue::Generated(from) => (None, Lacking::Generated(from.to_owned())),
    }
}

/// Returns a list or mapping as YAML.
fn written(value: &krm_yaml::Value<'_>) -> String {
    let text = krm_yaml::to_string(value);
    text.trim_end().to_owned()
}

/// Returns `true` if an HTML control can hold a text.
fn can_be_shown(text: &str) -> bool {
    let is_break = |character| matches!(character, '\n' | '\r' | '\t');
    !text.contains(|character: char| character.is_control() && !is_break(character))
}
