//! Reads the answers of the runner.

use std::borrow::Cow;

use krm_yaml::{Data, Scalar, Value};

use crate::python::call::{Output, Returned};

/// The key of a number that JSON cannot hold, in a mapping of its own.
const NON_FINITE: &str = "\0";

pub(super) enum Answer {
    Returned(Returned),
    Failed(Failed),
}

/// The error of a template, in the parts that the runner sends.
#[derive(Debug, Default)]
pub(super) struct Failed {
    /// The forbidden operation, in our words.
    pub(super) error: Option<String>,
    /// An exception, in Python's words.
    pub(super) exception: Option<String>,
    /// The calls that led there, outermost first: the name of the import, and the line.
    pub(super) trace: Vec<(String, usize)>,
    /// The column in the last line.
    pub(super) column: Option<usize>,
    /// Whether the syntax is that of Python 2.
    pub(super) is_python2: bool,
    /// The module that was not found.
    pub(super) missing: Option<String>,
    /// The key that was not found.
    pub(super) key: Option<String>,
}

/// Reads the answer to a call with these properties; `None` if it does not follow the protocol.
pub(super) fn read(line: &str, properties: Option<&Value<'_>>) -> Option<Answer> {
    let mut answer = Value::from(serde_json::from_str::<serde_json::Value>(line).ok()?);
    if line.contains("\\u0000") {
        restore_non_finite(&mut answer);
    }
    if answer.get("error").or(answer.get("exception")).is_some() {
        return Some(Answer::Failed(failed(&answer)?));
    }
    let result = if let Some(data) = answer.remove("dict") {
        Output::Data(data)
    } else if let Some(text) = answer.str_at(&["text"]) {
        Output::Text(text.to_owned())
    } else {
        Output::Other(answer.str_at(&["type"])?.to_owned())
    };
    let properties = match properties {
        None => None,
        Some(before) => {
            let mut after = answer.remove("properties")?;
            keep_digits(before, &mut after);
            Some(after)
        }
    };
    Some(Answer::Returned(Returned { result, properties }))
}

fn failed(answer: &Value<'_>) -> Option<Failed> {
    let text = |key: &str| answer.str_at(&[key]).map(str::to_owned);
    let steps = answer.get("trace")?.items()?.iter();
    let trace = steps.map(|step| {
        let step = step.items()?;
        Some((step.first()?.as_str()?.to_owned(), number(step.get(1)?)?))
    });
    Some(Failed {
        error: text("error"),
        exception: text("exception"),
        trace: trace.collect::<Option<_>>()?,
        column: answer.get("column").and_then(number),
        is_python2: answer.get("python2").is_some(),
        missing: text("missing"),
        key: text("key"),
    })
}

fn number(value: &Value<'_>) -> Option<usize> {
    match &value.data {
        Data::Scalar(Scalar::Number(digits)) => digits.parse().ok(),
        _ => None,
    }
}

fn restore_non_finite(value: &mut Value<'static>) {
    if let Data::Mapping(entries) = &value.data
        && let [(key, number)] = entries.as_slice()
        && key == NON_FINITE
        && let Some(digits @ (".nan" | ".inf" | "-.inf")) = number.as_str()
    {
        *value = Value::number(digits.to_owned());
        return;
    }
    value.children_mut().for_each(restore_non_finite);
}

/// Gives fractions in `after` the digits of those in `before` with the same value: Python does not
/// keep them.
fn keep_digits(before: &Value<'_>, after: &mut Value<'static>) {
    match (&before.data, &mut after.data) {
        (Data::Scalar(Scalar::Number(old)), Data::Scalar(Scalar::Number(new))) => {
            let is_fraction = |digits: &str| digits.contains(['.', 'e', 'E']);
            let value = |digits: &str| digits.parse::<f64>().ok();
            if is_fraction(old) && is_fraction(new) && value(old) == value(new) {
                *new = Cow::Owned(old.to_string());
            }
        }
        (Data::Sequence(old), Data::Sequence(new)) => {
            for (old, new) in old.iter().zip(new) {
                keep_digits(old, new);
            }
        }
        (Data::Mapping(_), Data::Mapping(new)) => {
            for (key, new) in new {
                if let Some(old) = before.get(key) {
                    keep_digits(old, new);
                }
            }
        }
        _ => {}
    }
}
