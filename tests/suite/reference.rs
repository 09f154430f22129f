//! The reference of the command line, as the Markdown of `docs/reference.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, Command};

const HEAD: &str = "\
# Reference

The commands and options of krm-template, in one line each. `krm-template COMMAND --help` describes a
command in full, with its arguments and examples, and `krm-template man --output-dir DIR` writes that
as manual pages. This page is generated from the program; a test checks that it is current.

| command | description |
|---|---|
";

const OPTIONS: &str = "
`-q`, `-v` and `-h` work with every command.

| option | of | description |
|---|---|---|
";

/// The commands of an option, by its long name, its spelling and its description.
type Options = BTreeMap<[String; 3], Vec<String>>;

/// A row for each command, and for each option of one or several commands.
pub(crate) fn markdown(program: Command) -> String {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let mut out = HEAD.to_owned();
    let mut options = Options::new();
    add(&mut options, &program, |_| true);
    let own = |argument: &Arg| !argument.is_global_set() && argument.get_id() != "help";
    for command in visible(&program) {
        for command in std::iter::once(command).chain(visible(command)) {
            let about = command.get_about().map(ToString::to_string);
            let about = cell(&about.unwrap_or_default());
            // Writing to a string cannot fail.
            let _ = writeln!(out, "| `{}` | {about} |", name(command));
            add(&mut options, command, own);
        }
    }
    out.push_str(OPTIONS);
    for ([_, spelling, help], commands) in options {
        let commands = commands.join(", ");
        let _ = writeln!(out, "| {spelling} | {commands} | {help} |");
    }
    out
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    let commands = command.get_subcommands();
    commands.filter(|command| !command.is_hide_set())
}

/// The name of a command after that of the program; that of the program itself.
fn name(command: &Command) -> &str {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    name.split_once(' ').map_or(name, |(_, name)| name)
}

/// Adds the `wanted` options of a command.
fn add(options: &mut Options, command: &Command, wanted: impl Fn(&Arg) -> bool) {
    let found = command.get_arguments().filter(|argument| {
        !argument.is_positional() && !argument.is_hide_set() && wanted(argument)
    });
    for argument in found {
        let help = argument.get_help().map(ToString::to_string);
        let key = argument.get_long().unwrap_or_default().to_lowercase();
        let row = [key, spelling(argument), cell(&help.unwrap_or_default())];
        let commands = options.entry(row).or_default();
        commands.push(format!("`{}`", name(command)));
    }
}

/// The spelling of an option with its value: `-f`, `--filename FILE`.
fn spelling(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let takes_value = argument.get_action().takes_values();
    let value = if takes_value { cell(&format!(" {}", names.join(" "))) } else { String::new() };
    let short = argument.get_short().map(|short| format!("`-{short}`"));
    let long = argument.get_long().map(|long| format!("`--{long}{value}`"));
    let spellings: Vec<String> = short.into_iter().chain(long).collect();
    spellings.join(", ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
