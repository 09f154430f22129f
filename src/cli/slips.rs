//! Tips for arguments that the program does not have: words of other programs.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use krm_template_exec::io;

/// Options of other programs, and ours for the same.
const OPTIONS: &[(&[&str], &str)] = &[
    (
        &["--set", "--set-string", "--var", "--arg"],
        "to set a parameter, use '-p NAME=VALUE'",
    ),
    (
        &["--set-file"],
        "to set a parameter to the contents of a file, use '--parameter-from-file NAME=FILE'",
    ),
    (
        &["--var-file", "--values-file", "--env-file"],
        "to read values from a file, use '--values FILE'",
    ),
    (
        &["--format"],
        "to choose the output format, use '-o FORMAT'",
    ),
];

/// Commands of other programs, and ours for the same.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &[
            "template", "render", "expand", "generate", "apply", "create",
        ],
        "to expand a Template, run 'krm-template process -f template.yaml'",
    ),
    (
        &["kustomize", "compose"],
        "to build a Composition, run 'krm-template build DIR'",
    ),
    (
        &["check", "verify", "test"],
        "to find mistakes, run 'krm-template validate FILE'",
    ),
    (
        &["list", "show"],
        "to list parameters, run 'krm-template parameters template.yaml'",
    ),
    (
        &["diff"],
        "to show changes, run 'krm-template process --diff-against FILE|DIR'",
    ),
    (
        &["fn", "function", "run"],
        "to run it as a function, give no arguments: 'krm-template < resource-list.yaml'",
    ),
    (
        &["serve", "server"],
        "to serve Templates over HTTP, run the program 'krm-template-server', or its image",
    ),
];

/// A tip for an error of clap, where clap itself has none.
pub(super) fn tip(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(" ")),
        _ => None,
    };
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        // A word of another program says more than a similar spelling.
        return known(COMMANDS, &text(ContextKind::InvalidSubcommand)?);
    }
    let command = command(error);
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand)?;
            match word.as_str() {
                "version" => Some("to print the version, use '--version'".to_owned()),
                _ if io::is_there(&word) => Some(format!(
                    "to expand the Template in this file, run 'krm-template process -f {word}'"
                )),
                #[cfg(not(feature = "deployment-manager"))]
                "deployment" | "dm" => Some(
                    "this program was built without the feature 'deployment-manager'".to_owned(),
                ),
                #[cfg(not(feature = "form"))]
                "form" => Some("this program was built without the feature 'form'".to_owned()),
                _ => known(COMMANDS, &word),
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let argument = text(ContextKind::InvalidArg)?;
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
            let word = text(ContextKind::InvalidArg)?;
            unknown_argument(&command, &word, takes_files(error))
        }
        _ => None,
    }
}

/// A tip for an argument that a command does not have.
fn unknown_argument(command: &str, word: &str, takes_files: bool) -> Option<String> {
    if !word.starts_with('-') {
        let has_one = matches!(command, "parameters" | "form");
        return (takes_files && !has_one).then(|| format!("to name a file, use '-f {word}'"));
    }
    let is_value = matches!(
        word,
        "-p" | "--parameter" | "--param" | "-P" | "--parameter-file"
    );
    let is_file = matches!(word, "-f" | "--file" | "--filename");
    match command {
        "" if is_file => Some("to expand a Template, run 'krm-template process -f FILE'".to_owned()),
        "" if is_value => {
            Some("to set parameters, run 'krm-template process -f FILE -p NAME=VALUE'".to_owned())
        }
        "build" if is_file => Some(
            "give the directory or the file as an argument: 'krm-template build DIR|FILE'".to_owned(),
        ),
        "build" if is_value => Some(
            "to set a value, add an override under `transformerOverrides`, or set it under `values` of the Template"
                .to_owned(),
        ),
        "validate" if is_value => Some(
            "validate needs no values; to check a values file, name it: 'krm-template validate template.yaml values.yaml'"
                .to_owned(),
        ),
        "process" | "explain" if word == "--file" => Some("to name a file, use '-f'".to_owned()),
        "process" => known(OPTIONS, word),
        "explain" if word != "--format" => known(OPTIONS, word),
        _ => None,
    }
}

/// The tip for a word in a table.
fn known(table: &[(&[&str], &str)], word: &str) -> Option<String> {
    let row = table.iter().find(|(words, _)| words.contains(&word));
    row.map(|(_, tip)| (*tip).to_owned())
}

/// The command that was called, from its usage; empty if there was none.
fn command(error: &clap::Error) -> String {
    let words = usage(error).unwrap_or_default();
    let mut words = words.split_whitespace();
    words.find(|word| *word == "krm-template");
    let next = words
        .next()
        .filter(|word| !word.starts_with(['[', '<', '-']));
    next.unwrap_or_default().to_owned()
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
