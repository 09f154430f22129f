//! The reference, completions, manual pages and version of the program, and its silence when the
//! reader of its output ends.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use krm_template::cli;
use libtest_mimic::{Failed, Trial};

use crate::cases::Case;
use crate::diff::diff;
use crate::needs;
use crate::program;
use crate::reference;

const REFERENCE: &str = "docs/reference.md";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        needs::ignored(
            Trial::test("manners/reference_is_current", reference_is_current),
            program::needs(program::DEPLOYMENT_MANAGER).or_else(|| program::needs(program::FORM)),
        ),
        Trial::test("manners/every_command_has_a_help_case", help_cases),
        Trial::test("manners/completions_know_every_command", completions),
        Trial::test("manners/bash_completes_options_and_values", bash),
        Trial::test("manners/every_command_has_a_manual_page", manual_pages),
        Trial::test("manners/the_version_names_a_commit_or_none", version),
        Trial::test("manners/a_broken_pipe_is_silent", broken_pipe),
        Trial::test("manners/a_full_disk_is_an_error", full_disk),
        needs::ignored(
            Trial::test("manners/a_terminal_obeys_no_text_of_others", terminal),
            (!has_script()).then(|| "needs the program script".to_owned()),
        ),
    ]
}

/// The commands that users see, from the rows of the reference.
fn commands() -> Vec<String> {
    let reference = reference::markdown(cli::command());
    let rows = reference.lines();
    let names = rows.filter_map(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0));
    let names = names.filter(|name| !name.starts_with('-'));
    names.map(str::to_owned).collect()
}

/// What the program prints; it must end well and without a word on standard error.
fn stdout(arguments: &[&str]) -> Result<String, Failed> {
    let output = program::run(program::command(crate::root()).args(arguments), Vec::new())?;
    if output.exit != "0" || !output.stderr.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{arguments:?}: exit {}: {stderr}", output.exit).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn reference_is_current() -> Result<(), Failed> {
    let path = crate::root().join(REFERENCE);
    let reference = reference::markdown(cli::command());
    if crate::update() {
        return Ok(fs::write(path, reference)?);
    }
    let found = fs::read(path).unwrap_or_default();
    match diff(&found, reference.as_bytes()) {
        None => Ok(()),
        Some(diff) => Err(format!("{REFERENCE}: {diff}(UPDATE=1 writes it anew)").into()),
    }
}

fn help_cases() -> Result<(), Failed> {
    for command in commands() {
        let case = Case::named(&format!("help/{}", command.replace(' ', "-")));
        if case.arguments()?.join(" ") != format!("{command} --help") {
            return Err(
                format!("case {} must be there and ask for `{command} --help`", case.name).into()
            );
        }
    }
    Ok(())
}

fn completions() -> Result<(), Failed> {
    // The placeholders of parameters and their values in the scripts of clap.
    let replaced = [
        ("bash", "prev}\" == \"=\"", "-p)\n                    COMPREPLY=($(compgen -f"),
        ("bash", "completion --parameters-of \"${COMP_WORDS[@]}\"", "krm__subcmd__template"),
        ("zsh", ":NAME=VALUE:_krm-template_parameters'", ":NAME=VALUE:_default'"),
        ("zsh", "_krm-template_parameters() {", "\0"),
        ("fish", "-f -a '(krm-template completion --parameters-of (commandline -opc)", "\0"),
    ];
    for (shell, new, old) in replaced {
        let script = stdout(&["completion", shell])?;
        if !script.contains(new) || script.contains(old) {
            return Err(format!("{shell} does not complete parameters: {new}").into());
        }
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&["completion", shell])?;
        for command in commands() {
            if !command.split(' ').all(|word| script.contains(word)) {
                return Err(format!("{shell} does not complete `{command}`").into());
            }
        }
    }
    Ok(())
}

/// Runs the completion script in bash, if bash is installed.
fn bash() -> Result<(), Failed> {
    const ASK: &str = r#"
        ask() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _krm__template "$1" "${@: -1}" "${@: -2:1}"
            echo "${COMPREPLY[*]}"
        }
        ask krm-template pro
        ask krm-template process --out
        ask krm-template process -o ""
        ask krm-template parameters -o s
        ask krm-template lint --disable unu
        ask krm-template process --output js
        ask krm-template process --output = js
        ask krm-template process --output =
        krm-template() { "$PROGRAM" "$@"; }
        ask krm-template process -f examples/web/template.yaml -p ""
        ask krm-template process --filename = examples/web/template.yaml --parameter RE
        ask krm-template explain deploy/web -fexamples/web/template.yaml -p N
        ask krm-template process -f examples/no-such-file.yaml -p ""
        ask krm-template process -p ""
        ask krm-template process -f tests/common/choices.yaml -p ""
        ask krm-template process -f tests/common/choices.yaml -p SIZE =
        ask krm-template process -f tests/common/choices.yaml -p SIZE = s
        ask krm-template process -f tests/common/choices.yaml DEBUG = t
        ask krm-template process -f tests/common/choices.yaml -p NAME = t
    "#;
    let script = stdout(&["completion", "bash"])?;
    let program = program::command(crate::root());
    let Ok(output) = Command::new("bash")
        .args(["--norc", "-c", &(script + ASK)])
        .env("PROGRAM", program.get_program())
        .current_dir(crate::root())
        .output()
    else {
        return Ok(());
    };
    let expected = "process\n--output --output-dir\nyaml json list resourcelist name template\nschema\nunused-parameter\njson\njson\nyaml json list resourcelist name template\nNAME= REPLICAS=\nREPLICAS=\nNAME=\n\n\n\
        DEBUG= DEBUG=false DEBUG=true NAME= SIZE= SIZE=large SIZE=small\nlarge small\nsmall\ntrue\n\n";
    match diff(&output.stdout, expected.as_bytes()) {
        None => Ok(()),
        Some(diff) => Err(diff.into()),
    }
}

fn manual_pages() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    stdout(&["man", "--output-dir", &folder.display().to_string()])?;
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder)? {
        found.push(entry?.file_name().to_string_lossy().into_owned());
    }
    found.sort();
    let mut expected: Vec<String> = commands()
        .iter()
        .map(|command| format!("krm-template-{}.1", command.replace(' ', "-")))
        .collect();
    expected.push("krm-template.1".to_owned());
    expected.sort();
    if found == expected {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?}").into())
    }
}

fn version() -> Result<(), Failed> {
    let plain = concat!("krm-template ", env!("CARGO_PKG_VERSION"));
    let short = stdout(&["-V"])?;
    let long = stdout(&["--version"])?;
    let rest = long.trim_end().strip_prefix(plain);
    let commit = rest.map(|rest| rest.trim_matches([' ', '(', ')']));
    let is_commit = |commit: &str| commit.chars().all(|digit| digit.is_ascii_hexdigit());
    if short.trim_end() == plain && commit.is_some_and(is_commit) {
        Ok(())
    } else {
        Err(format!("-V: {short}--version: {long}").into())
    }
}

/// Also for the output of the argument parser.
fn full_disk() -> Result<(), Failed> {
    for arguments in
        [&["--help"][..], &["help", "process"], &["--version"], &["completion", "bash"]]
    {
        let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
            return Ok(());
        };
        let output = Command::new(program::PATH).args(arguments).stdout(full).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let expected = "error: standard output cannot be written: no space left on the device\n";
        if output.status.code() != Some(1) || stderr != expected {
            return Err(format!("{arguments:?}: {}: {stderr}", output.status).into());
        }
    }
    Ok(())
}

/// The reader closes the pipe before the program writes.
fn broken_pipe() -> Result<(), Failed> {
    let template = fs::read(crate::root().join("examples/web/template.yaml"))?;
    let mut child = Command::new(program::PATH)
        .args(["process", "-f", "-", "NAME=x"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    drop(child.stdout.take());
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, &template)?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() && output.stderr.is_empty() {
        Ok(())
    } else {
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: {stderr}", output.status).into())
    }
}

/// Whether the program is there that gives another one a terminal.
fn has_script() -> bool {
    let version = Command::new("script").arg("--version").output();
    version.is_ok_and(|output| output.stdout.starts_with(b"script from util-linux"))
}

/// Names and values with control characters: on a terminal, in colours, and in a pipe.
fn terminal() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal");
    fs::create_dir_all(&folder)?;
    let template = r#"
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata: {name: t}
parameters:
- {name: A, value: "x\u202Ey\ez"}
objects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: $(A), "k\u202E\e[2J": b}}
"#;
    fs::write(folder.join("template.yaml"), template)?;
    fs::write(folder.join("old.yaml"), "a: \u{202e}\n")?;
    for arguments in [
        "process -f template.yaml",
        "process -f template.yaml -o json",
        "process -f template.yaml --dump-parameters",
        "process -f template.yaml --diff-against old.yaml",
        "process -f template.yaml -p 'B\u{1b}[2J\u{202e}=c'",
        "process -f 'none\u{1b}[2J\u{202e}.yaml'",
        "process '--none\u{1b}[2J\u{202e}'",
        "explain configmap/a -f template.yaml",
        "explain 'configmap/a.data.a' -f template.yaml",
        "explain 'configmap/b\u{1b}[2J\u{202e}' -f template.yaml",
        "parameters -f template.yaml",
        "validate template.yaml",
        "validate 'none\u{1b}[2J\u{202e}.yaml'",
    ] {
        for color in ["NO_COLOR=1", "CLICOLOR_FORCE=1"] {
            let line = format!("{color} {} {arguments}", program::PATH);
            let mut script = Command::new("script");
            script.args(["-qec", &line, "/dev/null"]).current_dir(&folder);
            let output = program::run(&mut script, Vec::new())?;
            let text = String::from_utf8(output.stdout)?;
            let is_hostile = |text: &str| text.contains(['\u{202e}', '\u{7}', '\u{9b}']);
            let escapes = text.matches("\u{1b}[").filter(|_| color == "NO_COLOR=1").count();
            if text.is_empty() || is_hostile(&text) || escapes > 0 || text.contains("\u{1b}[2J") {
                return Err(format!("{line}: {text:?}").into());
            }
        }
    }
    // Data in a pipe is as it is.
    let mut command = program::command(&folder);
    let output = program::run(command.args(["process", "-f", "template.yaml"]), Vec::new())?;
    let text = String::from_utf8(output.stdout)?;
    if text.contains("\\u202E") || text.contains('\u{202e}') { Ok(()) } else { Err(text.into()) }
}
