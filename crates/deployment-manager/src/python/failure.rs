//! Turns failures of Python templates into diagnostics.

use std::sync::Arc;

use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::source::{Place, Source};
use krm_yaml::suggest::closest;

use crate::model::Import;
use crate::python::answer::Failed;
use crate::python::call::Call;
use crate::python::request::modules;
use crate::variables;

/// Modules that an interpreter may lack, with the packages that contain them.
const PACKAGES: [(&str, &str); 2] = [("six", "six"), ("yaml", "pyyaml")];

/// The error for a Python template where Python is not allowed.
pub(super) fn not_allowed(template: &Import, ways_out: &[&str]) -> Box<Diagnostic> {
    let problem = format!("`{}` is a Python template; Python is not run", template.name);
    let error = Diagnostic::error(problem).at(start(&template.content));
    let hinted = ways_out.iter().fold(error, |error, way| error.hint(*way));
    hinted.into()
}

/// The error for an interpreter that did not answer.
pub(super) fn of_interpreter(mut error: Diagnostic, template: &Import) -> Box<Diagnostic> {
    error.place.get_or_insert_with(|| start(&template.content));
    error.into()
}

/// The error for an answer that does not follow the protocol.
pub(super) fn unreadable(template: &Import) -> Box<Diagnostic> {
    let problem = format!("the answer of Python to `{}` cannot be read", template.name);
    Diagnostic::error(problem).at(start(&template.content)).into()
}

/// The error for a template that failed, at the line that failed.
pub(super) fn of_template(failed: &Failed, call: Call<'_>) -> Box<Diagnostic> {
    let (problem, rest) = match (&failed.exception, &failed.error) {
        (Some(words), _) => {
            let (first, rest) = words.split_once('\n').unwrap_or((words, ""));
            (format!("`{}` failed: {first}", call.template.name), rest)
        }
        (None, words) => (words.clone().unwrap_or_default(), ""),
    };
    let mut calls = failed.trace.iter().filter_map(|(file, line)| {
        let source = &call.imports.get(file)?.content;
        Some((source, *line))
    });
    let place = match calls.next_back() {
        Some((source, number)) => line(source, number, failed.column),
        None => start(&call.template.content),
    };
    let mut wrong = Diagnostic::error(problem).at(place);
    for (source, number) in calls.rev() {
        wrong = wrong.related(line(source, number, None), "called here");
    }
    if !rest.is_empty() {
        wrong = wrong.hint(format!("Python adds:\n{rest}"));
    }
    with_hints(wrong, failed, call).into()
}

fn with_hints(wrong: Diagnostic, failed: &Failed, call: Call<'_>) -> Diagnostic {
    if failed.is_python2 {
        return wrong.hint("this is Python 2; 2to3 rewrites it");
    }
    if let Some(module) = &failed.missing {
        return wrong.hint(of_missing(module, call));
    }
    let Some(key) = &failed.key else {
        return wrong;
    };
    if variables::NAMES.contains(&key.as_str()) && !call.env.contains_key(key) {
        return variables::not_given(wrong, key);
    }
    let properties = call.properties.and_then(|properties| properties.entries());
    let names = properties.unwrap_or_default().iter();
    let meant = closest(key, names.map(|(name, _)| name.as_ref())).filter(|name| name != key);
    wrong.maybe_hint(meant.map(|meant| format!("did you mean `{meant}`?")))
}

/// The hint for a module that was not found.
fn of_missing(module: &str, call: Call<'_>) -> String {
    let top = module.split('.').next().unwrap_or(module);
    if let Some((_, package)) = PACKAGES.iter().find(|(name, _)| *name == top) {
        return format!("install it: `python3 -m pip install {package}`");
    }
    let known = modules(call.imports);
    match closest(module, known.keys().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!(
            "a module of your own is an import: add `{}.py` to `imports`",
            module.replace('.', "/")
        ),
    }
}

/// The beginning of a file.
fn start(source: &Arc<Source>) -> Place {
    line(source, 1, None)
}

/// A line of a file without its indentation, or its text from a column on. Both count from 1.
fn line(source: &Arc<Source>, number: usize, column: Option<usize>) -> Place {
    let mut start = 0;
    let mut found = "";
    for text in source.text().split_inclusive('\n').take(number) {
        start += found.len();
        found = text;
    }
    let skipped = match column {
        Some(column) => found.chars().take(column - 1).map(char::len_utf8).sum(),
        None => found.len() - found.trim_start().len(),
    };
    let end = found.trim_end().len();
    let skipped = if skipped < end { skipped } else { 0 };
    Place { source: Arc::clone(source), range: start + skipped..start + end }
}
