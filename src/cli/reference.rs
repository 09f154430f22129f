//! The reference of the command line, as Markdown.

use std::fmt::Write as _;

use clap::{Arg, Command};

const HEAD: &str = "\
# Reference

The commands and options of krm-template. You can also give the global options `-q`, `-v` and `-h`
after a command. This file is generated from the program; a test checks that it is current.
";

/// A section for the program and for each of its commands.
pub(super) fn markdown(program: Command) -> String {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let mut out = HEAD.to_owned();
    section(&mut out, &program, |_| true);
    let own = |argument: &Arg| !argument.is_global_set() && argument.get_id() != "help";
    for command in visible(&program) {
        section(&mut out, command, own);
        for nested in visible(command) {
            section(&mut out, nested, own);
        }
    }
    out
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    let commands = command.get_subcommands();
    commands.filter(|command| !command.is_hide_set())
}

/// Writes the description of `command` and its `wanted` arguments.
fn section(out: &mut String, command: &Command, wanted: impl Fn(&Arg) -> bool) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    // Writing to a string cannot fail.
    let _ = write!(out, "\n## {name}\n\n{about}\n\n```text\n{usage}\n```\n");
    if command.has_subcommands() {
        out.push_str("\n| command | description |\n|---|---|\n");
        for one in visible(command) {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let name = one.get_name();
            let anchor = one.get_bin_name().unwrap_or(name).replace(' ', "-");
            let _ = writeln!(out, "| [`{name}`](#{anchor}) | {} |", cell(&about));
        }
    }
    let arguments = command.get_arguments();
    let arguments = arguments.filter(|argument| !argument.is_hide_set() && wanted(argument));
    for (index, argument) in arguments.enumerate() {
        if index == 0 {
            out.push_str("\n| option | description |\n|---|---|\n");
        }
        let _ = writeln!(out, "| {} | {} |", spelling(argument), meaning(argument));
    }
    let after = command.get_after_long_help().or(command.get_after_help());
    if let Some(after) = after {
        let _ = write!(out, "\n```text\n{after}\n```\n");
    }
}

/// The spelling of an option with its value: `-f`, `--filename FILE`.
fn spelling(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let takes_value = argument.get_action().takes_values();
    let value = if takes_value {
        cell(&names.join(" "))
    } else {
        String::new()
    };
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    match (short, long) {
        (None, None) => format!("`{value}`"),
        (short, long) => {
            let spellings = short.into_iter().chain(long);
            let spellings: Vec<_> = spellings
                .map(|one| format!("`{}`", format!("{one} {value}").trim()))
                .collect();
            spellings.join(", ")
        }
    }
}

/// The description of an argument, with its default and possible values.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    if argument.is_required_set() {
        add(&mut text, "Required");
    }
    if argument.get_action().takes_values() {
        let defaults = argument.get_default_values().iter();
        for default in defaults.map(|default| default.to_string_lossy()) {
            add(&mut text, &format!("Default: `{default}`"));
        }
        possible_values(&mut text, argument);
    }
    cell(&text)
}

/// Adds a sentence, and a full stop where one is missing.
fn add(text: &mut String, sentence: &str) {
    text.push_str(if text.ends_with('.') { " " } else { ". " });
    text.push_str(sentence);
}

/// Adds the possible values: each on its own line if it has a description.
fn possible_values(text: &mut String, argument: &Arg) {
    let mut names = Vec::new();
    if argument.is_hide_possible_values_set() {
        return;
    }
    let values = argument.get_possible_values();
    for value in values.iter().filter(|value| !value.is_hide_set()) {
        let name = format!("`{}`", value.get_name());
        match value.get_help() {
            Some(help) => {
                let _ = write!(text, "<br>{name}: {help}");
            }
            None => names.push(name),
        }
    }
    if !names.is_empty() {
        add(text, &format!("One of {}", names.join(", ")));
    }
}

fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|");
    text.replace("\n\n", "<br>").replace('\n', " ")
}
