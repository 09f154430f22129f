//! `krm-template process`: expands the Template in a file.

mod arguments;
mod format;
mod output;
mod tables;

pub(crate) use self::arguments::Arguments;
use self::output::Output;
use crate::commands::expansion::{Expansion, Expansions};
use crate::output::mask::Secrets;
use crate::output::{diff, directory};
use krm_template_authoring::lint::Refusals;
use krm_template_engine::{Format, Mapping, SourceMap};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK, USAGE};
use krm_template_object_check::Checker;
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let misused = usage(arguments).map_or_else(Diagnostics::from, |()| arguments.expansion.check());
    if misused.has_errors() {
        console.report(&misused);
        return Ok(USAGE);
    }
    let mut diagnostics = Diagnostics::new();
    let checker = arguments.objects.checker(console, &mut diagnostics);
    let others = arguments.diff_against.as_slice();
    let made =
        arguments.expansion.read(others, console, &mut diagnostics, &|expansions, diagnostics| {
            process(arguments, checker.as_ref(), expansions, diagnostics)
        });
    if let Some(path) = &arguments.diff_against {
        let diff = made.and_then(|made| {
            diff::against(path, &made.output.finish(), &made.secrets, console, &mut diagnostics)
        });
        console.report(&diagnostics);
        return diff.map_or(Ok(USAGE), |diff| diff::show(&diff));
    }
    console.report(&diagnostics);
    let Some(made) = made else {
        return Ok(FAILED);
    };
    let mut found = Diagnostics::new();
    let prepared = arguments.directory.prepare(made.output.finish(), &mut found)?;
    console.report(&found);
    let Some(prepared) = prepared else {
        return Ok(FAILED);
    };
    // First, so that nothing is applied whose map is missing.
    if let (Some(path), Some(map)) = (&arguments.source_map, &made.source_map) {
        io::write(path, &(map.to_json(true)? + "\n"))?;
    }
    if let Some(summary) = prepared.finish()? {
        console.say(&summary);
    }
    for message in made.messages {
        console.say(message.trim_end());
    }
    if let Some(text) = checker.and_then(|checker| checker.not_checked()) {
        console.say(&text);
    }
    Ok(OK)
}

/// Reports invalid combinations of arguments that clap does not find.
fn usage(arguments: &Arguments) -> Result<()> {
    if arguments.template.is_some() {
        return Err(Diagnostic::error("`--template` takes a Go template, which is not supported")
            .hint("print JSON and select from it: `-o json | jq …`")
            .hint("to name the file with the Template, use `-f`")
            .into());
    }
    if arguments.source_map.as_deref() == Some("-") && arguments.directory.output_dir.is_none() {
        return Err(Diagnostic::error(
            "`--source-map -` writes to standard output, to which the objects are also written",
        )
        .hint("write the source map to a file, or the objects to a directory with `--output-dir`")
        .hint("to look at one object, use `krm-template explain`")
        .into());
    }
    let is_text = |format| matches!(format, Format::Yaml | Format::Json);
    if arguments.directory.output_dir.is_some() && !arguments.output.format().is_some_and(is_text) {
        return Err(Diagnostic::error("`--output-dir` writes only YAML or JSON")
            .hint("use `-o yaml` or `-o json`")
            .into());
    }
    if arguments.diff_against.is_some() && !arguments.output.format().is_some_and(is_text) {
        return Err(Diagnostic::error("`--diff-against` compares only YAML or JSON")
            .hint("use `-o yaml` or `-o json`")
            .into());
    }
    Ok(())
}

/// The output, with the messages about it.
struct Processed {
    output: Output,
    /// The messages of the Templates.
    messages: Vec<String>,
    /// The secrets to mask in a diff.
    secrets: Secrets,
    /// The source map, if requested.
    source_map: Option<SourceMap>,
}

/// Produces the output and collects the messages of the Templates.
fn process(
    arguments: &Arguments,
    checker: Option<&Checker>,
    expansions: &Expansions<'_>,
    diagnostics: &mut Diagnostics,
) -> Processed {
    let mut made = Processed {
        output: Output::new(arguments),
        messages: Vec::new(),
        secrets: Secrets::default(),
        source_map: arguments.source_map.as_ref().map(|_| SourceMap::default()),
    };
    if arguments.parameters {
        for template in expansions.templates() {
            made.output.declare(template);
        }
        return made;
    }
    let traces = arguments.diff_against.is_some() || arguments.source_map.is_some();
    expansions.each(diagnostics, |expansion, found| {
        let message = match checker {
            Some(checker) => {
                let before = expansion.options.inspect;
                let checking = Refusals { checker, before };
                made.output.add(&expansion.inspected_by(&checking), found)
            }
            None => made.output.add(&expansion, found),
        };
        made.messages.extend(message);
        if traces {
            made.trace(&expansion);
        }
    });
    expansions.check_objects(diagnostics);
    if !diagnostics.has_errors() {
        made.output.check(diagnostics);
    }
    made
}

impl Processed {
    /// Records the origin of the fields of the objects.
    fn trace(&mut self, expansion: &Expansion<'_>) {
        // The first expansion has reported everything.
        let ignored = &mut Diagnostics::new();
        let Some(trace) = expansion.trace(ignored) else {
            return;
        };
        for object in &trace.objects {
            self.secrets.add(object);
        }
        if let Some(map) = &mut self.source_map {
            let format = self.output.file_format();
            let path = |object: &Value<'_>| Some(directory::path(object, format?));
            let mapping = Mapping {
                instance: expansion.instance,
                set_by: &|cause| expansion.set_by(cause),
                output: &path,
            };
            map.add(&mapping, &trace);
        }
    }
}
