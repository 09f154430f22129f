//! Errors of minijinja as diagnostics in the template.

use std::error::Error as _;
use std::ops::Range;
use std::sync::Arc;

use krm_yaml::Value;
use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::source::{Place, Source};
use krm_yaml::suggest::closest;
use minijinja::{Error, ErrorKind};

use super::environment::{Refusal, Sources};
use super::values::NotGiven;
use crate::model::Import;
use crate::variables;

/// The filters that `did you mean` knows.
const FILTERS: &str = "abs attr batch capitalize count d default dictsort e escape first float format groupby \
    indent int items join last length list lower map max min reject replace reverse round \
    safe select slice sort string sum title tojson trim unique upper";

/// The tests that `did you mean` knows.
const TESTS: &str = "boolean defined divisibleby eq even false float in integer lower mapping none number odd \
    sequence string true undefined";

/// The functions that `did you mean` knows.
const FUNCTIONS: &str = "dict joiner range";

/// The message about random values.
const NO_RANDOM: &str =
    "random values are not supported: an expansion always gives the same result";

/// The names that a template can use.
pub(super) struct Known<'k> {
    pub sources: &'k Sources,
    /// The template that was rendered.
    pub template: &'k Import,
    /// The resource, whose fields are variables.
    pub resource: &'k Value<'k>,
}

/// The message and the hints.
struct Explained {
    message: String,
    hint: Option<String>,
    /// The words in the template that the message may be about; the best one first.
    words: Vec<String>,
}

impl Explained {
    fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, words: Vec::new() }
    }

    /// An unknown name, with the known one that is probably meant.
    fn unknown<'n>(kind: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> Self {
        Self {
            message: format!("unknown {kind} `{name}`"),
            hint: did_you_mean(name, known),
            words: vec![name.to_owned()],
        }
    }
}

fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    closest(name, known).map(|known| format!("did you mean `{known}`?"))
}

/// An error with its place in the template, and those that caused it.
pub(super) fn diagnostic(error: &Error, known: &Known<'_>) -> Box<Diagnostic> {
    // The innermost error has the reason, and those around it show how the template got there.
    let mut first = error;
    let mut causes = Vec::new();
    while let Some(next) = first.source().and_then(|source| source.downcast_ref()) {
        causes.push(first);
        first = next;
    }
    let missing = not_given(first, known);
    let explained = missing.map_or_else(
        || explain(first, known),
        |name| Explained {
            words: vec![name.to_owned()],
            ..Explained::plain(NotGiven(name).to_string())
        },
    );
    let mut diagnostic = Diagnostic::error(explained.message)
        .at(place(first, &explained.words, known))
        .maybe_hint(explained.hint);
    if let Some(name) = missing {
        diagnostic = variables::not_given(diagnostic, name);
    }
    for cause in causes.into_iter().rev() {
        let label = match cause.kind() {
            ErrorKind::BadInclude => "included here",
            ErrorKind::EvalBlock => "in this block",
            _ => "on the way from here",
        };
        diagnostic = diagnostic.related(place(cause, &[], known), label);
    }
    Box::new(diagnostic)
}

/// The variable of `env` that an error is about because it is not given.
fn not_given(error: &Error, known: &Known<'_>) -> Option<&'static str> {
    if let Some(source) = error.source() {
        return Some(source.downcast_ref::<NotGiven>()?.0);
    }
    // An operator refuses its value, without a name.
    error.detail().filter(|text| text.contains("plain object"))?;
    let place = place(error, &[], known);
    let line = place.source.text().get(place.range).unwrap_or_default();
    let is_there = |name: &str| find(line, name).is_some();
    variables::NAMES.into_iter().find(|name| is_there(name))
}

/// An error in the words of users.
fn explain(error: &Error, known: &Known<'_>) -> Explained {
    let detail = error.detail().unwrap_or_default();
    let name = |before: &str| {
        let name = detail.strip_prefix(before)?.strip_suffix(" is unknown")?;
        Some(name.to_owned())
    };
    match error.kind() {
        ErrorKind::UnknownFilter => {
            let name = name("filter ").unwrap_or_default();
            if name == "random" {
                return random(&name);
            }
            Explained::unknown("filter", &name, FILTERS.split(' '))
        }
        ErrorKind::UnknownTest => {
            let name = name("test ").unwrap_or_default();
            Explained::unknown("test", &name, TESTS.split(' '))
        }
        ErrorKind::UnknownFunction => {
            let name = name("").unwrap_or_default();
            if name == "lipsum" {
                return random(&name);
            }
            Explained::unknown("function", &name, FUNCTIONS.split(' '))
        }
        ErrorKind::UnknownMethod if !detail.contains(" is undefined") => no_method(detail),
        ErrorKind::TemplateNotFound => not_found(detail, known),
        ErrorKind::OutOfFuel => Explained {
            hint: Some("look for a loop that does not end, or for very long texts".to_owned()),
            ..Explained::plain("the template runs too long")
        },
        ErrorKind::WriteFailure => {
            Explained::plain("the template makes a text of more than 16 MiB")
        }
        ErrorKind::SyntaxError => {
            match error.source().and_then(|source| source.downcast_ref::<Refusal>()) {
                Some(Refusal { refused, .. }) => Explained {
                    hint: refused.hint.clone(),
                    ..Explained::plain(refused.message.clone())
                },
                None => syntax(detail),
            }
        }
        _ if detail.contains(" is undefined") => undefined(detail, known),
        kind if detail.is_empty() => Explained::plain(kind.to_string()),
        _ => Explained::plain(detail),
    }
}

fn random(name: &str) -> Explained {
    Explained {
        hint: Some("give the value as a property".to_owned()),
        words: vec![name.to_owned()],
        ..Explained::plain(NO_RANDOM)
    }
}

/// A method that a kind of value does not have.
fn no_method(detail: &str) -> Explained {
    let Some((kind, name)) = detail.split_once(" has no method named ") else {
        return Explained::plain(detail);
    };
    let kind = match kind {
        "sequence" => "list",
        "map" => "mapping",
        kind => kind,
    };
    Explained {
        words: vec![name.to_owned()],
        ..Explained::plain(format!("a {kind} has no method `{name}`"))
    }
}

fn not_found(detail: &str, known: &Known<'_>) -> Explained {
    let Some(name) = detail.split(['"', '\'']).nth(1) else {
        return Explained::plain(detail);
    };
    Explained {
        message: format!("`{name}` is not among the imports"),
        hint: did_you_mean(name, known.sources.keys().map(String::as_str))
            .or_else(|| Some("add it to `imports`".to_owned())),
        words: vec![name.to_owned()],
    }
}

/// A template that minijinja cannot read.
fn syntax(detail: &str) -> Explained {
    if let Some(end) = detail.strip_prefix("unknown statement end") {
        return Explained {
            hint: Some("close the innermost block first, or remove it".to_owned()),
            words: vec![format!("end{end}")],
            ..Explained::plain(format!("`end{end}` closes no open `{end}`"))
        };
    }
    let hint = if detail.starts_with("unexpected end of input") {
        Some("close each `{% for %}` with `{% endfor %}`, each `{% if %}` with `{% endif %}`")
    } else if detail.ends_with("expected end of variable block") {
        Some("is `}}` missing before it?")
    } else if detail.ends_with("expected end of block") {
        Some("is `%}` missing before it?")
    } else {
        None
    };
    Explained { hint: hint.map(str::to_owned), ..Explained::plain(detail) }
}

/// An undefined value, as the first part of its path that is missing.
fn undefined(detail: &str, known: &Known<'_>) -> Explained {
    let path = detail.split(" is undefined").next().unwrap_or_default();
    let path = path.rsplit('`').nth(1).or_else(|| path.strip_prefix('`')).unwrap_or_default();
    let plain = || Explained {
        words: vec![path.to_owned(), path.replace('\'', "\"")],
        ..Explained::plain(format!("`{path}` is undefined"))
    };
    let parts = parts(path);
    let Some((root, rest)) = parts.split_first() else {
        return Explained::plain(detail);
    };
    let Some(mut value) = known.resource.get(root) else {
        let fields = known.resource.entries().unwrap_or_default();
        let variables = fields.iter().map(|(name, _)| name.as_ref());
        return Explained {
            hint: did_you_mean(root, variables.chain(["env", "imports"])),
            words: vec![path.to_owned(), (*root).to_owned()],
            ..plain()
        };
    };
    let mut parent = (*root).to_owned();
    for part in rest {
        let Some(entries) = value.entries() else {
            return plain();
        };
        let Some(next) = value.get(part) else {
            return Explained {
                message: format!("`{parent}` has no `{part}`"),
                hint: did_you_mean(part, entries.iter().map(|(name, _)| name.as_ref())),
                words: vec![(*part).to_owned()],
            };
        };
        parent = format!("{parent}.{part}");
        value = next;
    }
    plain()
}

/// The names in a path, as `properties.a['b']`.
fn parts(path: &str) -> Vec<&str> {
    path.split(['.', '[', ']', '\'', '"']).filter(|part| !part.is_empty()).collect()
}

/// The place of an error: a word on its line, or the line.
fn place(error: &Error, words: &[String], known: &Known<'_>) -> Place {
    if let Some(refusal) = error.source().and_then(|source| source.downcast_ref::<Refusal>()) {
        return refusal.place();
    }
    let source = error.name().and_then(|name| known.sources.get(name));
    let source = Arc::clone(source.unwrap_or(&known.template.content));
    let line = error.line().map_or(0..0, |line| line_of(&source, line));
    let text = source.text().get(line.clone()).unwrap_or_default();
    let range = words.iter().find_map(|word| find(text, word)).map(|at| {
        let start = line.start + at.start;
        start..line.start + at.end
    });
    Place { range: range.unwrap_or(line), source }
}

/// Where a whole word is in a line.
fn find(line: &str, word: &str) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).map(|(at, _)| at..at + word.len()).find(|at| {
        let before = line.get(..at.start).and_then(|text| text.chars().next_back());
        let after = line.get(at.end..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// The extent of a line, without the spaces around it.
fn line_of(source: &Source, line: usize) -> Range<usize> {
    let mut start = 0;
    for (index, text) in source.text().split_inclusive('\n').enumerate() {
        if index + 1 == line {
            let inner = text.trim_start();
            let from = start + text.len() - inner.len();
            return from..from + inner.trim_end().len();
        }
        start += text.len();
    }
    start..start
}
