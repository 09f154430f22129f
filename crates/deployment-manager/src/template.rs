//! The configuration of a template that is expanded on its own.

use std::borrow::Cow;
use std::sync::Arc;

use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

use crate::expansion::mapping;
use crate::yaml;
use krm_core::files::{Entry, Files, join};

/// Whether a path is that of a template.
pub fn is_template(path: &str) -> bool {
    [".jinja", ".py"].iter().any(|ending| path.ends_with(ending))
}

/// A configuration with one resource, of the template at `path`, and its outputs.
///
/// # Errors
/// If it is not a template, or its schema cannot be read.
pub fn config(
    path: &str,
    properties: Value<'static>,
    files: &dyn Files,
) -> Result<Arc<Source>, Diagnostics> {
    if !is_template(path) {
        return Err(no_template(path).into());
    }
    let base = path.rsplit('/').next().unwrap_or(path);
    let name = resource_name(base);
    let text = |text: &str| Some(Value::string(text.to_owned()));
    let has_properties = properties.entries().is_some_and(|entries| !entries.is_empty());
    let resource = mapping([
        ("type", text(base)),
        ("name", text(&name)),
        ("properties", Some(properties).filter(|_| has_properties)),
    ]);
    let import = mapping([("path", text(base))]);
    let config = mapping([
        ("imports", Some(Value::sequence(vec![import]))),
        ("resources", Some(Value::sequence(vec![resource]))),
        ("outputs", outputs(path, &name, files)?),
    ]);
    Ok(Source::new(format!("configuration of `{base}`"), krm_yaml::to_string(&config)))
}

/// The error for a file that is not a template.
pub fn no_template(path: &str) -> Diagnostic {
    let message = format!("`{path}` is not a template: Jinja ends in `.jinja`, Python in `.py`");
    Diagnostic::error(message).hint("for a configuration, leave out `--template`")
}

/// The name of the resource of a template file: `My_vm.jinja` is `my-vm-jinja`.
fn resource_name(base: &str) -> String {
    let name = base.replace(['.', '_'], "-");
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => name,
    }
}

/// An output for each one that the template's schema declares.
fn outputs(
    path: &str,
    name: &str,
    files: &dyn Files,
) -> Result<Option<Value<'static>>, Diagnostics> {
    let schema = format!("{path}.schema");
    if files.entry(&schema) != Some(Entry::File) {
        return Ok(None);
    }
    let source = files.source(&schema, &join(&schema, ".."))?;
    let parsed = yaml::read(&source, &mut Diagnostics::new())?;
    let Some(outputs) = parsed.value.get("outputs").and_then(Value::entries) else {
        return Ok(None);
    };
    let outputs = outputs.iter().map(|(key, _)| {
        let value = format!("$(ref.{name}.{key})");
        Value::mapping(vec![
            (Cow::Borrowed("name"), Value::string(key.to_string())),
            (Cow::Borrowed("value"), Value::string(value)),
        ])
    });
    Ok(Some(Value::sequence(outputs.collect())))
}

#[cfg(test)]
mod tests {
    use super::config;
    use krm_core::files::InMemory;
    use krm_yaml::Value;

    #[test]
    fn a_template_alone_is_a_configuration_with_its_outputs() {
        let schema = "outputs:\n  ip:\n    type: string\n";
        let files =
            InMemory::new([("t/My_vm.jinja.schema".to_owned(), schema.as_bytes().to_vec())]);
        let properties = Value::mapping(vec![("zone".into(), Value::from("a"))]);
        let source = config("t/My_vm.jinja", properties, &files).unwrap();
        assert_eq!(
            source.text(),
            "imports:\n- path: My_vm.jinja\nresources:\n- type: My_vm.jinja\n  name: my-vm-jinja\n  \
             properties:\n    zone: a\noutputs:\n- name: ip\n  value: $(ref.my-vm-jinja.ip)\n"
        );
    }

    #[test]
    fn other_files_are_not_templates() {
        let error = config("a.yaml", Value::mapping(Vec::new()), &InMemory::default());
        let message = error.unwrap_err().iter().next().unwrap().message.clone();
        assert!(message.starts_with("`a.yaml` is not a template"));
    }
}
