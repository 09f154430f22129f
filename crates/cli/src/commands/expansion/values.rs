//! The values that are given on the command line, by files and by the environment.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::commands::expansion::arguments::Arguments;
use crate::commands::expansion::inputs::Inputs;
use krm_template_engine::{
    self as template, AssignedValue, Assignment, Expander as _, Template, env_file,
};
use krm_template_exec::io;
use krm_template_function::plan::Instance;
use krm_template_workspace::expansion::Targets;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Cursor, Document};

/// All values for a target; later ones override earlier ones.
pub(super) fn given(
    arguments: &Arguments,
    inputs: &Inputs,
    targets: &Targets,
    instance: &Instance,
    diagnostics: &mut Diagnostics,
) -> Vec<Assignment> {
    let template = targets.template(instance);
    let name = template.map_or("", Template::name);
    let mut given = env_values(&inputs.env_files, diagnostics);
    for source in &inputs.parameter_files {
        if env_file::has_lines(source.text()) {
            let lines = lines_of(source, diagnostics);
            given.extend(lines.into_iter().map(|line| line_value(source, line)));
            continue;
        }
        // Nothing tells which of its values are secret.
        let document = Document::parse(source);
        let document = document.map_err(|error| Box::new(error.conceal(true)));
        let document = diagnostics.take(document);
        if let Some(root) = document.as_ref().and_then(|one| only_root(one, diagnostics)) {
            given.extend(template::values_of_file(root, name, diagnostics));
        }
    }
    if let Some(prefix) = &arguments.env {
        given.extend(environment(prefix, diagnostics));
    }
    let own = given.len();
    given.extend(instance.given.iter().cloned());
    let behind = given.len();
    given.extend(from_files(inputs, diagnostics));
    given.extend(from_arguments(arguments, template, diagnostics));
    // What one Template does not declare may be meant for another, unless its own instance says so.
    let declared = template.into_iter().flat_map(Template::parameters);
    let declared: BTreeSet<&str> = declared.map(|one| one.name.as_str()).collect();
    let mut index = 0;
    given.retain(|one| {
        let is_own = (own..behind).contains(&index);
        index += 1;
        is_own
            || declared.contains(one.name.as_str())
            || !targets.templates().any(|other| other.declares(&one.name))
    });
    given
}

/// The content of a file of values; nothing if it is empty, or several documents.
fn only_root<'d>(document: &'d Document, diagnostics: &mut Diagnostics) -> Option<Cursor<'d>> {
    let mut roots = document.roots();
    let first = roots.next()?;
    let Some(second) = roots.next() else {
        return Some(first);
    };
    diagnostics.push(
        Diagnostic::error("a parameter file must be a single document")
            .at(second.key_place())
            .related(first.key_place(), "the first document")
            .hint("put all values in one document, or give several files, each with its own `-P`"),
    );
    None
}

/// Values of `PREFIX_NAME`, in alphabetical order.
fn environment(prefix: &str, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let mut given = Vec::new();
    let mut is_used = false;
    for (variable, value) in io::environment() {
        let Some(name) = variable.strip_prefix(prefix).filter(|name| !name.is_empty()) else {
            continue;
        };
        is_used = true;
        match value.into_string() {
            Ok(value) => given.push(Assignment::text(name, value, format!("${variable}"))),
            Err(_) => diagnostics.push(
                Diagnostic::error(format!(
                    "the environment variable `{variable}` is not UTF-8 text"
                ))
                .hint(format!(
                    "write the bytes to a file and use `--parameter-from-file {name}=FILE`"
                )),
            ),
        }
    }
    if !is_used {
        diagnostics.push(
            Diagnostic::warning(format!("no environment variable starts with `{prefix}`")).hint(
                format!("to set the parameter `NAME`, export `{prefix}NAME`; variables that are not exported are not visible"),
            ),
        );
    }
    given
}

/// Values that are the bytes of files. These may be keys, and are not shown.
fn from_files(inputs: &Inputs, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let files = inputs.value_files.iter();
    let given: Vec<Assignment> = files
        .map(|(name, bytes)| Assignment {
            value: AssignedValue::Bytes(bytes.clone()),
            secret: true,
            ..Assignment::text(name, "", format!("--parameter-from-file {name}"))
        })
        .collect();
    warn_about_twice(&given, "the last file wins", diagnostics);
    given
}

/// Values that stand in the arguments.
fn from_arguments(
    arguments: &Arguments,
    template: Option<&Template>,
    diagnostics: &mut Diagnostics,
) -> Vec<Assignment> {
    let bare = arguments.values.iter().map(|argument| (argument, ""));
    let flagged = arguments.assignments.iter();
    let flagged = flagged.map(|argument| (argument, "-p "));
    let mut given = Vec::new();
    for (argument, flag) in bare.chain(flagged) {
        if let Some((name, value)) = diagnostics.take(assignment(argument)) {
            warn_about_commas(&name, &value, template, diagnostics);
            let origin = format!("{flag}{name}");
            given.push(Assignment::text(name, value, origin));
        }
    }
    let hint = "the last value wins; values with `-p` come after values without it";
    warn_about_twice(&given, hint, diagnostics);
    given
}

/// Reads the argument `NAME=VALUE`.
pub(super) fn assignment(argument: &str) -> Result<(String, String)> {
    env_file::parse_assignment(argument).map_err(|error| {
        let hint = file_hint(argument).or(error.hint);
        Diagnostic::error(error.message).maybe_hint(hint).into()
    })
}

/// The hint for a file where a value is needed.
pub(super) fn file_hint(argument: &str) -> Option<String> {
    let is_file =
        !argument.contains('=') && (is_named_like_file(argument) || io::is_there(argument));
    is_file.then(|| format!("to read values from a file, use `-P {argument}`"))
}

fn is_named_like_file(argument: &str) -> bool {
    let extension = Path::new(argument).extension();
    extension.is_some_and(|one| ["yaml", "yml", "json", "env"].iter().any(|known| one == *known))
}

/// Refuses a value where a file of values is needed.
pub(super) fn refuse_value(path: &str) -> Result<()> {
    if path.contains('=') && !io::is_there(path) {
        let name = path.split('=').next().unwrap_or_default();
        let problem = format!("`{name}=…` is a value, and `-P` needs a file of values");
        let hint = format!("to set a parameter, use `-p {name}=VALUE`");
        return Err(Diagnostic::error(problem).hint(hint).into());
    }
    Ok(())
}

fn warn_about_twice(given: &[Assignment], hint: &str, diagnostics: &mut Diagnostics) {
    let mut names = BTreeSet::new();
    for one in given {
        if !names.insert(one.name.as_str()) {
            let problem = format!("parameter `{}` is given more than once", one.name);
            diagnostics.push(Diagnostic::warning(problem).hint(hint));
        }
    }
}

/// `-p A=1,B=2` gives one value, as with `oc`, and was probably meant to give two.
fn warn_about_commas(
    name: &str,
    value: &str,
    template: Option<&Template>,
    diagnostics: &mut Diagnostics,
) {
    if !value.contains(',') {
        return;
    }
    let parts = value.split(',').skip(1).filter_map(|part| part.split_once('='));
    let mut parameters = template.into_iter().flat_map(Template::parameters);
    let other = parameters.find(|parameter| parts.clone().any(|(part, _)| part == parameter.name));
    if let Some(other) = other {
        diagnostics.push(
            Diagnostic::warning(format!(
                "the value of parameter `{name}` contains `,{}=`",
                other.name
            ))
            .hint("give each parameter its own `-p`"),
        );
    }
}

/// The values of `oc`'s files: the first file that has a name wins.
fn env_values(sources: &[Arc<Source>], diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let mut given: Vec<Assignment> = Vec::new();
    for source in sources {
        let assignments = lines_of(source, diagnostics);
        let known: BTreeSet<String> = given.iter().map(|one| one.name.clone()).collect();
        for assignment in assignments {
            if known.contains(&assignment.name) {
                diagnostics.push(
                    Diagnostic::warning(format!(
                        "parameter `{}` is already set in an earlier file, whose value wins",
                        assignment.name
                    ))
                    .at(place(source, assignment.name_range)),
                );
                continue;
            }
            given.push(line_value(source, assignment));
        }
    }
    given
}

/// The lines of a file; none if one of them is wrong.
fn lines_of(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Vec<env_file::Assignment> {
    env_file::parse(source.text()).unwrap_or_else(|errors| {
        for error in errors {
            diagnostics.push(
                Diagnostic::error(error.message)
                    .at(place(source, error.range))
                    .conceal(true)
                    .maybe_hint(error.hint),
            );
        }
        Vec::new()
    })
}

fn line_value(source: &Arc<Source>, line: env_file::Assignment) -> Assignment {
    Assignment {
        place: Some(place(source, line.range)),
        name_place: Some(place(source, line.name_range)),
        ..Assignment::text(line.name, line.value, source.name())
    }
}

fn place(source: &Arc<Source>, range: Range<usize>) -> Place {
    Place { source: Arc::clone(source), range }
}
