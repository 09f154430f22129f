//! The validation errors of OpenShift's API, with its messages. Values of objects and parameters
//! are omitted.
//!
//! Source: `ValidateProcessedTemplate` of openshift-apiserver, and `Processor` of library-go's
//! `pkg/template/templateprocessing`.

use std::borrow::Cow;

use krm_template_engine::Assignment;
use krm_template_engine::generate::{self, Problem};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::shorten::{MAX_QUOTED, start};
use krm_yaml::{Cursor, Kind, Scalar};

use super::causes::Reporter;
use krm_template_server_core::Cause;

/// Returns the errors in the names of parameters. If there are any, nothing else is validated.
pub(super) fn names(root: Cursor<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, parameter) in parameters(root).enumerate() {
        let name = text(parameter, "name");
        let field = || format!("parameters[{index}].name");
        if name.is_empty() {
            causes.push(Cause::new("FieldValueRequired", &field(), "Required value"));
        } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            let name = start(&name, MAX_QUOTED);
            let message = format!("Invalid value: {name:?}: does not match ^[a-zA-Z0-9_]+$");
            causes.push(Cause::new("FieldValueInvalid", &field(), message));
        }
    }
    causes
}

/// Returns the errors of parameters without a value, neither in the Template nor `given`.
/// `diagnostics` come from reading the Template.
pub(super) fn values(
    root: Cursor<'_>,
    given: &[Assignment],
    diagnostics: &Diagnostics,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, parameter) in parameters(root).enumerate() {
        let name = text(parameter, "name");
        let is_given = given.iter().any(|one| one.name == name);
        if !is_given && text(parameter, "value").is_empty() {
            causes.extend(value(index, parameter, diagnostics));
        }
    }
    causes
}

fn value(index: usize, parameter: Cursor<'_>, diagnostics: &Diagnostics) -> Option<Cause> {
    let field = || format!("template.parameters[{index}]");
    let invalid = |message: String| Some(Cause::new("FieldValueInvalid", &field(), message));
    let name = text(parameter, "name");
    let generator = text(parameter, "generate");
    if !generator.is_empty() && generator != "expression" {
        let generator = start(&generator, MAX_QUOTED);
        return invalid(format!(
            "Invalid value: {generator:?}: Unknown generator name '{generator}' for parameter {name}"
        ));
    }
    if generator == "expression" {
        let from = format!("parameters[{index}].from");
        let is_about = |one: &&Diagnostic| {
            one.severity == Severity::Error && one.field.as_deref() == Some(&from)
        };
        if let Some(error) = diagnostics.iter().find(is_about) {
            return invalid(format!(
                "Invalid value: {}",
                expression(&text(parameter, "from"), &error.message)
            ));
        }
        if !text(parameter, "from").is_empty() {
            return None;
        }
    }
    let is_required = parameter.get("required").is_some_and(is_true);
    is_required.then(|| {
        let field = field();
        let message =
            format!("Required value: {field}: parameter {name} is required and must be specified");
        Cause::new("FieldValueRequired", &field, message)
    })
}

/// Returns the message of OpenShift's API for an invalid expression, or our `message` if it has none.
fn expression<'m>(from: &str, message: &'m str) -> Cow<'m, str> {
    let error = generate::check(from).err();
    let part = error.as_ref().and_then(|error| from.get(error.range.clone())).unwrap_or_default();
    let part = start(part, MAX_QUOTED);
    match error.map(|error| error.problem) {
        Some(Problem::Length) => format!("range must be within [1-255] characters ({part})").into(),
        Some(Problem::Reversed) => format!("invalid range specified: {part}").into(),
        _ => message.into(),
    }
}

/// Returns the errors of an expansion. Errors about invalid objects have OpenShift's messages.
pub(super) fn objects(
    root: Cursor<'_>,
    reporter: &Reporter<'_>,
    diagnostics: &Diagnostics,
) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for error in diagnostics.iter().filter(|one| one.severity == Severity::Error) {
        let index = error.field.as_deref().and_then(index_of);
        let object = index.and_then(|index| Some((index, problem(root, index)?)));
        let cause = match object {
            Some((index, problem)) => {
                let message = format!("Invalid value: unable to handle object: {problem}");
                Cause::new("FieldValueInvalid", &format!("item[{index}].objects"), message)
            }
            None => reporter.cause(error),
        };
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    causes
}

/// Returns the error for labels on a list of objects.
pub(super) fn label_of_list(index: usize) -> Cause {
    Cause::new(
        "FieldValueInvalid",
        &format!("item[{index}].labels"),
        "Invalid value: label could not be applied: object does not implement the Object interfaces",
    )
}

/// Returns the index in a path such as `objects[2].kind`.
pub(super) fn index_of(field: &str) -> Option<usize> {
    field.strip_prefix("objects[")?.split_once(']')?.0.parse().ok()
}

/// Returns the error of the object at `index`, or `None` if it is valid.
fn problem(root: Cursor<'_>, index: usize) -> Option<String> {
    let object = root.get("objects")?.children().nth(index)?;
    let found = match object.kind() {
        Kind::Mapping => {
            let kind = object.get("kind").and_then(|kind| kind.scalar().ok()?);
            let has_kind = matches!(kind, Some(Scalar::String(text)) if !text.is_empty());
            return (!has_kind).then(|| "Object 'Kind' is missing".to_owned());
        }
        Kind::Sequence => "array",
        _ => match object.scalar().ok()?? {
            Scalar::String(_) => "string",
            Scalar::Number(_) => "number",
            Scalar::Bool(_) => "bool",
            Scalar::Null => "null",
        },
    };
    Some(format!("expected object, got {found}"))
}

fn parameters(root: Cursor<'_>) -> impl Iterator<Item = Cursor<'_>> {
    let list = root.get("parameters").filter(|list| list.is_sequence());
    list.into_iter().flat_map(Cursor::children)
}

/// Returns the text of a field. Empty if it is missing or null.
fn text<'d>(node: Cursor<'d>, key: &str) -> Cow<'d, str> {
    node.text_at([key]).unwrap_or_default()
}

fn is_true(node: Cursor<'_>) -> bool {
    matches!(node.scalar(), Ok(Some(Scalar::Bool(true))))
}
