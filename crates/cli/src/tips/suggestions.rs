//! Tips for arguments that the program does not have: words of other programs.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use krm_template_exec::io;
use krm_yaml::suggest::closest;

/// Ways to name a file of values.
const VALUE_FILES: &str =
    "-P --parameter-file --param-file --values --values-file --var-file --env-file";

/// Ways to set a value.
const VALUES: &str = "-p --parameter --param --set --value --set-string --set-json --set-file --var --arg --data-value";

const FILES: &str = "-f --file --filename";

const SET: &str = "to set parameters, run 'krm-template process -f FILE -p NAME=VALUE'";
const OVERRIDE: &str = "to set a value, add an override under `transformerOverrides`, or set it under `values` of the Template";
const BUILD: &str = "to build a Composition, run 'krm-template build DIR'";
const FORMAT: &str = "to choose the output format, use '-o FORMAT'";

/// Options that a command does not have, unknown commands, and ours for the same: the
/// commands with `|` between them, of which an empty name is the program without one and `*` is all; the
/// words; and the tip.
#[rustfmt::skip]
const SLIPS: &[(&str, &str, &str)] = &[
    ("build", VALUES, OVERRIDE),
    ("build", VALUE_FILES, OVERRIDE),
    ("build", FILES, "give the directory or the file as an argument: 'krm-template build DIR|FILE'"),
    ("build", "-k --kustomize", "give the directory as an argument: 'krm-template build DIR'"),
    ("build", "-n --namespace", "to set the namespace, add a NamespaceTransformer to the Composition"),
    ("build", "-l --labels", "to add labels, add a LabelTransformer to the Composition"),
    ("validate", VALUES, "validate needs no values; to check a values file, name it: 'krm-template validate template.yaml values.yaml'"),
    ("validate", VALUE_FILES, "to check a values file, use '-P FILE'"),
    ("process|explain", "--set-file", "to set a parameter to the contents of a file, use '--parameter-from-file NAME=FILE'"),
    ("process|explain", VALUES, "to set a parameter, use '-p NAME=VALUE'"),
    ("process|explain", VALUE_FILES, "to read values from a file, use '--values FILE'"),
    ("process|explain", FILES, "to name a file, use '-f'"),
    ("process", "--format", FORMAT),
    ("process", "--dry-run", "process changes nothing; to compare its output with files, use '--diff-against FILE|DIR'"),
    ("dm expand", VALUES, "to set a property of a template, use '--properties KEY:VALUE'"),
    ("dm expand", VALUE_FILES, "to read properties of a template from a file, use '--properties-file FILE'"),
    ("dm", "apply create update preview deployments deploy", "to expand a configuration, run 'krm-template dm expand CONFIG'"),
    ("", FILES, "to expand a Template, run 'krm-template process -f FILE'"),
    ("*", VALUES, SET),
    ("*", VALUE_FILES, SET),
    ("*", "-k --kustomize", BUILD),
    ("", "template render expand generate compile hydrate", "to expand a Template, run 'krm-template process -f template.yaml'"),
    ("", "apply create install upgrade deploy", "to apply the objects of a Template, run 'krm-template process -f template.yaml | kubectl apply -f -'"),
    ("", "delete uninstall destroy", "to delete the objects of a Template, run 'krm-template process -f template.yaml | kubectl delete -f -'"),
    ("", "new init import convert", "to make a Template from objects, run 'krm-template export -f FILE|DIR'"),
    ("", "kustomize compose", BUILD),
    ("", "check verify test vet", "to find mistakes, run 'krm-template validate FILE'"),
    ("", "list show describe inspect values variables", "to list parameters, run 'krm-template parameters template.yaml'"),
    ("", "diff", "to show changes, run 'krm-template process --diff-against FILE|DIR'"),
    ("", "fn function run eval", "to run it as a function, give no arguments: 'krm-template < resource-list.yaml', or 'kpt fn eval DIR --exec krm-template'"),
    ("", "serve server", "to serve Templates over HTTP, run the program 'krm-template-server', or its image"),
    ("", "version", "to print the version, use '--version'"),
    #[cfg(not(feature = "deployment-manager"))]
    ("", "deployment dm", "this program was built without the feature 'deployment-manager'"),
    #[cfg(not(feature = "form"))]
    ("", "form", "this program was built without the feature 'form'"),
];

/// Replaces what clap advises by a better tip, or by none if it is far from what was given.
pub(crate) fn advise(error: &mut clap::Error, mut program: clap::Command) {
    // Defines the arguments that are defined only if their command is given.
    program.build();
    let tip = tip(error, &program);
    let given = text(error, ContextKind::InvalidSubcommand)
        .or_else(|| text(error, ContextKind::InvalidArg))
        .unwrap_or_default();
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg] {
        let meant = text(error, kind).unwrap_or_default();
        if tip.is_some() || closest(&given, meant.split(' ')).is_none() {
            error.remove(kind);
        }
    }
    // No file is named like an option: "to pass '--set' as a value" helps nobody.
    error.remove(ContextKind::Suggested);
    if let Some(tip) = tip {
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(" ")),
        _ => None,
    }
}

/// A tip for an error of clap.
fn tip(error: &clap::Error, program: &clap::Command) -> Option<String> {
    let command = command(error);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(error, ContextKind::InvalidSubcommand)?;
            known(&command, &word).or_else(|| {
                (command.is_empty() && io::is_there(&word)).then(|| {
                    format!(
                        "to expand the Template in this file, run 'krm-template process -f {word}'"
                    )
                })
            })
        }
        ErrorKind::MissingRequiredArgument => {
            let argument = text(error, ContextKind::InvalidArg)?;
            if argument.contains("--filename") {
                let file = given_file().unwrap_or_else(|| "template.yaml".to_owned());
                return Some(format!("name the file with the Template: '-f {file}'"));
            }
            match command.as_str() {
                "parameters" | "form" => Some(format!(
                    "name the file with the Template: 'krm-template {command} template.yaml'"
                )),
                "validate" => {
                    Some("name a file or a directory: 'krm-template validate .'".to_owned())
                }
                "completion" => Some("name the shell: 'krm-template completion bash'".to_owned()),
                _ => None,
            }
        }
        ErrorKind::UnknownArgument => {
            let word = text(error, ContextKind::InvalidArg)?;
            if word.starts_with('-') {
                return before_command(&command, &word, program).or_else(|| known(&command, &word));
            }
            let has_one = matches!(command.as_str(), "parameters" | "form");
            let is_file = takes_files(error) && !has_one;
            is_file.then(|| format!("to name a file, use '-f {word}'"))
        }
        _ => None,
    }
}

/// The tip for an option that is given before its command.
fn before_command(command: &str, option: &str, program: &clap::Command) -> Option<String> {
    let mut words = command.split_whitespace();
    let outer = words.try_fold(program, |outer, word| outer.find_subcommand(word))?;
    let arguments = std::env::args_os().skip(1);
    let mut inner = arguments.filter_map(|word| outer.find_subcommand(word));
    let inner = inner.find(|inner| has_option(inner, option))?;
    let words = ["krm-template", command, inner.get_name(), option, "…"];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let usage = words.join(" ");
    Some(format!("write options of a command after it: '{usage}'"))
}

fn has_option(command: &clap::Command, option: &str) -> bool {
    command.get_arguments().any(|one| {
        let short = one.get_short().map(|short| format!("-{short}"));
        let long = one.get_long().map(|long| format!("--{long}"));
        [short, long].into_iter().flatten().any(|name| name == option)
    })
}

/// The tip for a word that a command does not have.
fn known(command: &str, word: &str) -> Option<String> {
    let mut rows = SLIPS.iter().filter(|(_, words, _)| words.split(' ').any(|one| one == word));
    let row = rows
        .find(|(commands, ..)| *commands == "*" || commands.split('|').any(|one| one == command));
    row.map(|(.., tip)| (*tip).to_owned())
}

/// The command that was called, from its usage; empty if there was none.
fn command(error: &clap::Error) -> String {
    let usage = usage(error).unwrap_or_default();
    // `Usage:` and the name of the program come first.
    let words = usage.split_whitespace().skip(2);
    let words: Vec<&str> = words.take_while(|word| !word.starts_with(['[', '<', '-'])).collect();
    words.join(" ")
}

fn usage(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => Some(usage.to_string()),
        _ => None,
    }
}

/// Whether the arguments are those of a command that takes files by `-f` only.
fn takes_files(error: &clap::Error) -> bool {
    usage(error).is_some_and(|usage| usage.contains("--filename"))
}

/// The first argument that is the name of a file.
fn given_file() -> Option<String> {
    let arguments = std::env::args_os().skip(2);
    let mut arguments = arguments.filter_map(|argument| argument.into_string().ok());
    arguments.find(|argument| !argument.starts_with('-') && io::is_there(argument))
}
