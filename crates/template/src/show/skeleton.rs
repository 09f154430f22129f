//! Values files to fill in, for `process`.
//!
//! Each parameter has comments. A required parameter has an empty value. Any other parameter is
//! commented out with its default, so that an unedited file changes nothing.

use std::fmt::Write as _;

use crate::declare::default_value::DefaultValue;
use crate::declare::model::Template;
use crate::declare::parameter::{Parameter, ParameterType};
use crate::values::env_file;
use crate::values::text::{is_int, is_json_number};
use krm_yaml::{Data, Scalar, Value};

/// The format of a values file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValuesFormat {
    /// Lines `NAME=VALUE`.
    Env,
    /// YAML lines `NAME: VALUE`.
    Yaml,
}

/// Tells editors where the schema of the values is, and users how to make it.
const MODELINE: &str = "yaml-language-server: $schema=values.schema.json\n\
    The schema, for editors: krm-template parameters TEMPLATE -o schema > values.schema.json";

/// Returns a values file to fill in for `template`. It contains no secrets.
pub fn skeleton(template: &Template, format: ValuesFormat) -> String {
    let mut out = String::new();
    let name = match template.name() {
        "" => "the Template".to_owned(),
        name => format!("the Template {name}"),
    };
    if format == ValuesFormat::Yaml {
        comment(&mut out, MODELINE);
    }
    comment(
        &mut out,
        &format!(
            "Values for {name}: krm-template process -f TEMPLATE --values THIS_FILE\n\
             Fill in the required values. The other lines show defaults: remove the # to change one."
        ),
    );
    let mut group = None;
    // Entries without comments follow each other without an empty line.
    let mut is_apart = true;
    for parameter in template.named_parameters() {
        if parameter.group != group {
            group.clone_from(&parameter.group);
            let heading = group.as_deref().unwrap_or("Others");
            out.push('\n');
            comment(&mut out, &format!("=== {heading} ==="));
            is_apart = true;
        }
        let entry = entry(template, parameter, format);
        let has_comment = entry.starts_with("# ");
        if is_apart || has_comment {
            out.push('\n');
        }
        is_apart = has_comment;
        out.push_str(&entry);
    }
    out
}

fn entry(template: &Template, parameter: &Parameter, format: ValuesFormat) -> String {
    let mut out = String::new();
    let default = template.default_value(parameter);
    for text in [parameter.display_name(), parameter.description()] {
        comment(&mut out, text.as_deref().unwrap_or_default());
    }
    comment(&mut out, &facts(parameter, &default).join("; "));
    let value = match &default {
        DefaultValue::Text(text) => Some(typed(parameter.kind, text)),
        DefaultValue::Structured(value) => Some(value.clone()),
        _ => None,
    };
    let Some(line) = line(&parameter.name, value.as_ref(), format) else {
        let say = "this format cannot express the value: use YAML instead";
        comment(&mut out, &format!("{}: {say}", parameter.name));
        return out;
    };
    let is_needed = parameter.needs_value(&default);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}{line}", if is_needed { "" } else { "#" });
    out
}

/// Returns the facts about a value for its comment.
fn facts(parameter: &Parameter, default: &DefaultValue<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    if parameter.required {
        let is_needed = parameter.needs_value(default);
        facts.push(if is_needed { "REQUIRED" } else { "not empty" }.to_owned());
    }
    if parameter.kind != ParameterType::String {
        facts.push(parameter.kind.name().to_owned());
    }
    facts.extend(parameter.conditions());
    match default {
        DefaultValue::Generated(from) => facts.push(format!("generated from {from} if left out")),
        DefaultValue::Computed(text) => facts.push(format!("{text} if left out")),
        DefaultValue::Hidden => facts.push("has a default that is not shown".to_owned()),
        DefaultValue::Nothing | DefaultValue::Text(_) | DefaultValue::Structured(_) => {}
    }
    facts
}

/// Converts a text to a YAML value of a parameter type.
fn typed(kind: ParameterType, text: &str) -> Value<'_> {
    match (kind, text) {
        (ParameterType::Bool, "true" | "false") => (text == "true").into(),
        (ParameterType::Int, _) if is_int(text) => Value::number(text),
        (ParameterType::Number, _) if is_json_number(text) => Value::number(text),
        _ => Value::string(text),
    }
}

/// Returns the line that sets a parameter; `None` if the format cannot express the value.
fn line(name: &str, value: Option<&Value<'_>>, format: ValuesFormat) -> Option<String> {
    let line = match format {
        ValuesFormat::Yaml => krm_yaml::to_line(name, value),
        ValuesFormat::Env => env_line(name, &text_of(value))?,
    };
    Some(line)
}

fn text_of(value: Option<&Value<'_>>) -> String {
    match value.map(|value| (value, &value.data)) {
        None => String::new(),
        Some((_, Data::Scalar(Scalar::String(text) | Scalar::Number(text)))) => text.to_string(),
        Some((value, _)) => value.to_json(),
    }
}

/// Returns `NAME=VALUE` in the first spelling that parses to the same value.
fn env_line(name: &str, text: &str) -> Option<String> {
    let escaped = text.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r");
    let spellings = [
        format!("{name}={text}"),
        format!("{name}=\"{escaped}\""),
        format!("{name}='{escaped}'"),
        format!("{name}=\"{}\"", escaped.replace('"', "\\\"")),
    ];
    spellings.into_iter().find(|line| {
        let read = env_file::parse(line).unwrap_or_default();
        matches!(read.as_slice(), [one] if one.name == name && one.value == text)
    })
}

/// Writes a text as comment lines; nothing if it is empty.
fn comment(out: &mut String, text: &str) {
    // All characters that any YAML parser treats as a line break.
    let breaks = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    for line in text.trim_end().split(breaks).filter(|_| !text.trim().is_empty()) {
        let line: String =
            line.chars().map(|c| if c.is_control() && c != '\t' { '·' } else { c }).collect();
        let _ = writeln!(out, "{}", format!("# {line}").trim_end());
    }
}
