//! Compares data and messages, whose order the original leaves to its mappings.

use krm_template_deployment_manager::yaml;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Data, Scalar, Value};

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

/// The lines of an error about a schema, sorted, up to the resource. `u'x'` is `'x'`; of a line with
/// a mapping only the characters count.
pub(crate) fn invalid_lines(error: &str) -> Vec<String> {
    let text = error.split(" Resource: ").next().unwrap_or_default();
    let lines = text.trim_end().lines().map(|line| {
        let mut plain = String::new();
        for (at, c) in line.char_indices() {
            let before = line.get(..at).and_then(|before| before.chars().last());
            let is_prefix = c == 'u'
                && line.get(at + 1..).is_some_and(|rest| rest.starts_with(['\'', '"']))
                && !before.is_some_and(char::is_alphanumeric);
            if !is_prefix {
                plain.push(c);
            }
        }
        if plain.contains('{') {
            let mut characters: Vec<char> = plain.chars().collect();
            characters.sort_unstable();
            plain = characters.into_iter().collect();
        }
        plain
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}
