//! Compares data and the places of errors, whose order the original leaves to its mappings.

use krm_template_deployment_manager::yaml;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Source;
use krm_yaml::{Data, FieldPath, Scalar, Value};

/// Whether the order of lists and lines counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// It counts.
    Kept,
    /// It is that of the mappings of Python 2: lists and lines are sorted.
    OfPython2,
}

/// Reads an expected text.
pub(crate) fn read(text: &str) -> Result<Value<'static>, String> {
    let source = Source::new("expected.yaml", text);
    let parsed = yaml::read(&source, &mut Diagnostics::new());
    let parsed = parsed.map_err(|errors| format!("expected.yaml: {errors:?}"))?;
    Ok(parsed.value)
}

/// The data as lines: keys are sorted, numbers are spelled in one way.
pub(crate) fn canonical(value: &Value<'_>, order: Order) -> String {
    match &value.data {
        Data::Scalar(Scalar::Number(digits)) => {
            let number: f64 = digits.parse().unwrap_or(f64::NAN);
            format!("number {number}\n")
        }
        Data::Scalar(Scalar::String(text)) if order == Order::OfPython2 && text.contains('\n') => {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            format!("lines {lines:?}\n")
        }
        Data::Scalar(scalar) => format!("{scalar:?}\n"),
        Data::Sequence(items) => {
            let mut items: Vec<String> = items.iter().map(|item| canonical(item, order)).collect();
            if order == Order::OfPython2 {
                items.sort();
            }
            nested("-", &items)
        }
        Data::Mapping(entries) => {
            let entries = entries.iter();
            let mut entries: Vec<String> = entries
                .map(|(key, value)| nested(&format!("{key:?}:"), &[canonical(value, order)]))
                .collect();
            entries.sort();
            nested("{}", &entries)
        }
    }
}

fn nested(title: &str, parts: &[String]) -> String {
    let mut text = format!("{title}\n");
    for line in parts.iter().flat_map(|part| part.lines()) {
        text.push_str("  ");
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The first lines that differ, with some before.
pub(crate) fn first_difference(found: &str, expected: &str) -> String {
    let pairs = found.lines().zip(expected.lines());
    let same = pairs.take_while(|(found, expected)| found == expected).count();
    let part = |text: &str| {
        let lines = text.lines().skip(same.saturating_sub(3)).take(6);
        lines.collect::<Vec<_>>().join("\n")
    };
    format!("line {same}: found\n{}\nexpected\n{}", part(found), part(expected))
}

/// Compares errors with the text of the original: those about a schema are as many, at the same
/// places; others are about the same import. The original stops at the first resource.
pub(crate) fn same_error(errors: &Diagnostics, expected: &str) -> Result<(), String> {
    let errors = errors.errors();
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    let title = expected.lines().next().unwrap_or_default();
    let same = if title.starts_with("Invalid ") {
        let text = expected.split(" Resource: ").next().unwrap_or_default();
        let lines = text.trim_end().lines().skip(1).filter(|line| !line.starts_with("Perhaps"));
        let mut wanted: Vec<String> = lines.map(place_of_line).collect();
        let found = messages.iter().take(wanted.len());
        let mut found: Vec<String> = found.map(|one| place_of_message(one)).collect();
        wanted.sort();
        found.sort();
        wanted == found
    } else if let Some(import) = title.strip_prefix("Exception in ") {
        let is_of_import = |message: &&str| message.contains(import);
        let is_there = |error: &Diagnostic| {
            let places = error.place.iter().chain(error.related.iter().map(|(place, _)| place));
            places.clone().any(|place| place.source.name().ends_with(import))
        };
        errors.iter().any(is_there) || messages.iter().any(is_of_import)
    } else {
        !messages.is_empty()
    };
    if same { Ok(()) } else { Err(format!("found\n{messages:#?}\nexpected\n{expected}")) }
}

/// The path in a line of the original: `['a', 0]` at its end is `a[0]`.
fn place_of_line(line: &str) -> String {
    let path = line.rsplit_once(" at [").and_then(|(_, path)| path.strip_suffix(']'));
    let steps = path.unwrap_or_default().split(", ").filter(|step| !step.is_empty());
    let path = steps.fold(FieldPath::root(), |path, step| match step.parse() {
        Ok(index) => path.index(index),
        Err(_) => path.key(step.trim_start_matches('u').trim_matches(['\'', '"'])),
    });
    path.to_string()
}

/// The path in a message about a property or a part of a schema.
fn place_of_message(message: &str) -> String {
    let after = message.strip_prefix("property `");
    let after = after.or_else(|| message.split_once(" is invalid: `").map(|(_, after)| after));
    after.and_then(|after| after.split('`').next()).unwrap_or_default().to_owned()
}
