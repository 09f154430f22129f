//! The values that are given on the command line, by files and by the environment.

use std::ops::Range;
use std::sync::Arc;

use crate::cli::expansion::Arguments;
use crate::cli::expansion::inputs::Inputs;
use crate::cli::expansion::targets::{Target, Targets};
use crate::cli::io;
use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::source::{Place, Source};
use crate::template::{self, Given, GivenValue, Template, env_file};
use crate::yaml::Document;

/// All values for a target, the strongest last.
pub(super) fn given(
    arguments: &Arguments,
    inputs: &Inputs,
    targets: &Targets<'_>,
    target: &Target,
    diagnostics: &mut Diagnostics,
) -> Vec<Given> {
    let template = targets.templates.get(target.template);
    let name = template.map_or("", Template::name);
    let mut given = env_values(&inputs.env_files, diagnostics);
    for source in &inputs.parameter_files {
        let document = diagnostics.take(Document::parse(source));
        for root in document.iter().flat_map(Document::roots).take(1) {
            given.extend(template::values_of_file(root, name, diagnostics));
        }
    }
    if let Some(prefix) = &arguments.env {
        given.extend(environment(prefix, diagnostics));
    }
    let own = given.len();
    given.extend(target.given.iter().cloned());
    let behind = given.len();
    given.extend(from_files(inputs, diagnostics));
    given.extend(from_arguments(arguments, template, diagnostics));
    // What one Template does not declare may be meant for another, unless its own instance says so.
    let mut index = 0;
    given.retain(|one| {
        let is_own = (own..behind).contains(&index);
        index += 1;
        is_own
            || declares(template, one)
            || !targets
                .templates
                .iter()
                .any(|other| declares(Some(other), one))
    });
    given
}

fn declares(template: Option<&Template<'_>>, given: &Given) -> bool {
    let mut parameters = template.into_iter().flat_map(Template::parameters);
    parameters.any(|parameter| parameter.name == given.name)
}

/// Values of `PREFIX_NAME`, in alphabetical order.
fn environment(prefix: &str, diagnostics: &mut Diagnostics) -> Vec<Given> {
    let mut given = Vec::new();
    for (variable, value) in io::environment() {
        let Some(name) = variable
            .strip_prefix(prefix)
            .filter(|name| !name.is_empty())
        else {
            continue;
        };
        match value.into_string() {
            Ok(value) => given.push(Given::text(name, value, format!("${variable}"))),
            Err(_) => diagnostics.push(
                Diagnostic::error(format!(
                    "the environment variable `{variable}` is not UTF-8 text"
                ))
                .hint(format!(
                    "put the bytes in a file and give it by `--parameter-from-file {name}=FILE`"
                )),
            ),
        }
    }
    given
}

/// Values that are the bytes of files. These may be keys, and are not shown.
fn from_files(inputs: &Inputs, diagnostics: &mut Diagnostics) -> Vec<Given> {
    let files = inputs.value_files.iter();
    let given: Vec<Given> = files
        .map(|(name, bytes)| Given {
            value: GivenValue::Bytes(bytes.clone()),
            secret: true,
            ..Given::text(name, "", format!("--parameter-from-file {name}"))
        })
        .collect();
    warn_about_twice(&given, "the last file counts", diagnostics);
    given
}

/// Values that stand in the arguments.
fn from_arguments(
    arguments: &Arguments,
    template: Option<&Template<'_>>,
    diagnostics: &mut Diagnostics,
) -> Vec<Given> {
    let bare = arguments.values.iter().map(|argument| (argument, ""));
    let flagged = arguments.assignments.iter();
    let flagged = flagged.map(|argument| (argument, "-p "));
    let mut given = Vec::new();
    for (argument, flag) in bare.chain(flagged) {
        if let Some((name, value)) = diagnostics.take(assignment(argument)) {
            warn_about_commas(&name, &value, template, diagnostics);
            let origin = format!("{flag}{name}");
            given.push(Given::text(name, value, origin));
        }
    }
    let hint = "the last value counts; those without `-p` stand before those with it";
    warn_about_twice(&given, hint, diagnostics);
    given
}

/// Reads `NAME=VALUE`.
pub(super) fn assignment(argument: &str) -> Result<(String, String)> {
    env_file::parse_assignment(argument).map_err(|error| {
        Diagnostic::error(error.message)
            .maybe_hint(error.hint)
            .into()
    })
}

fn warn_about_twice(given: &[Given], hint: &str, diagnostics: &mut Diagnostics) {
    for (index, one) in given.iter().enumerate() {
        if given.iter().take(index).any(|other| other.name == one.name) {
            let problem = format!("parameter `{}` is given more than once", one.name);
            diagnostics.push(Diagnostic::warning(problem).hint(hint));
        }
    }
}

/// `-p A=1,B=2` gives one value, as with `oc`, and was probably meant to give two.
fn warn_about_commas(
    name: &str,
    value: &str,
    template: Option<&Template<'_>>,
    diagnostics: &mut Diagnostics,
) {
    let parts = value
        .split(',')
        .skip(1)
        .filter_map(|part| part.split_once('='));
    let mut parameters = template.into_iter().flat_map(Template::parameters);
    let other = parameters.find(|parameter| parts.clone().any(|(part, _)| part == parameter.name));
    if let Some(other) = other {
        diagnostics.push(
            Diagnostic::warning(format!(
                "`,{}=` is part of the value of parameter `{name}`",
                other.name
            ))
            .hint("give each parameter with a `-p` of its own"),
        );
    }
}

/// The values of `oc`'s files: the first file that has a name wins.
fn env_values(sources: &[Arc<Source>], diagnostics: &mut Diagnostics) -> Vec<Given> {
    let mut given: Vec<Given> = Vec::new();
    for source in sources {
        let place = |range: Range<usize>| Place {
            source: Arc::clone(source),
            range,
        };
        let assignments = match env_file::parse(source.text()) {
            Ok(assignments) => assignments,
            Err(errors) => {
                for error in errors {
                    diagnostics.push(
                        Diagnostic::error(error.message)
                            .at(place(error.range))
                            .maybe_hint(error.hint),
                    );
                }
                continue;
            }
        };
        let known = given.len();
        for assignment in assignments {
            let earlier = given
                .iter()
                .take(known)
                .any(|one| one.name == assignment.name);
            if earlier {
                diagnostics.push(
                    Diagnostic::warning(format!(
                        "parameter `{}` is in an earlier file already, whose value counts",
                        assignment.name
                    ))
                    .at(place(assignment.name_range)),
                );
                continue;
            }
            given.push(Given {
                place: Some(place(assignment.range)),
                name_place: Some(place(assignment.name_range)),
                ..Given::text(assignment.name, assignment.value, source.name())
            });
        }
    }
    given
}
