//! `krm-template completion`: completion scripts for shells.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::{Args, Command};
use clap_complete::Shell;

use krm_template_engine::{Parameter, ParameterType, Template, env_file};
use krm_template_exec::io;
use krm_template_exec::status::OK;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, SharedNode};

/// The hidden option with which scripts ask for the names of parameters. The words of the command
/// line follow.
pub(crate) const NAMES: &str = "--parameters-of";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell to print the script for
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  # in ~/.bashrc
  source <(krm-template completion bash)

  # in ~/.zshrc, below `compinit`
  source <(krm-template completion zsh)

  # once
  krm-template completion fish > ~/.config/fish/completions/krm-template.fish";

pub(crate) fn run(arguments: &Arguments, mut program: Command) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    let name = program.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut program, name.as_str(), &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = mended(&script, &name);
    let script = match arguments.shell {
        Shell::Bash => bash(&script),
        Shell::Zsh => zsh(&script),
        Shell::Fish => fish(&script),
        _ => script,
    };
    io::print([script.as_str()])?;
    Ok(OK)
}

/// Prints `NAME=` for each parameter of the Templates that a command line names, and `NAME=VALUE`
/// for each value that it allows. Ignores files that cannot be read, because completion prints no
/// messages.
pub(crate) fn names(words: &[String]) -> anyhow::Result<u8> {
    let mut names = BTreeSet::new();
    for path in files(words) {
        let Ok(source) = io::read(&path) else {
            continue;
        };
        let Ok(document) = Document::parse(&source) else {
            continue;
        };
        for root in SharedNode::roots(&Arc::new(document)) {
            if root.cursor().text_at(["kind"]).as_deref() != Some("Template") {
                continue;
            }
            let template = Template::read(&root, &mut Diagnostics::new());
            for parameter in template.iter().flat_map(Template::parameters) {
                let name = format!("{}=", parameter.name);
                // A shell would expand what looks like a command.
                if env_file::parse_assignment(&name).is_ok() {
                    let values = values(parameter);
                    names.extend(values.map(|value| format!("{name}{value}")));
                    names.insert(name);
                }
            }
        }
    }
    let lines: Vec<String> = names.into_iter().map(|name| name + "\n").collect();
    io::print(lines.iter().map(String::as_str))?;
    Ok(OK)
}

/// The values that a parameter allows, if they are words that no shell expands.
fn values(parameter: &Parameter) -> impl Iterator<Item = &str> {
    let bools: &[&str] = match parameter.kind {
        ParameterType::Bool if parameter.allowed.is_empty() => &["false", "true"],
        _ => &[],
    };
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-.:/@%+,".contains(one);
    let allowed = parameter.allowed.iter().map(String::as_str);
    let values = allowed.chain(bools.iter().copied());
    values.filter(move |value| !value.is_empty() && value.chars().all(is_plain))
}

/// The files that `-f` and `--filename` name. Bash makes three words of `--filename=FILE`.
fn files(words: &[String]) -> Vec<String> {
    let mut files = Vec::new();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let file = if matches!(word, "-f" | "--filename") {
            words.next_if_eq(&"=");
            words.next()
        } else {
            let joined = word.strip_prefix("--filename=");
            let short = word.strip_prefix("-f").filter(|_| !word.starts_with("--"));
            joined.or(short)
        };
        let file = file.map(|file| file.trim_matches(['"', '\'']));
        files.extend(file.filter(|file| !matches!(*file, "" | "-")).map(in_home));
    }
    files
}

/// Expands `~/`, which the shell has not expanded yet.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line reads the environment, for all the others"
)]
fn in_home(path: &str) -> String {
    match (path.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    }
}

/// Completes parameters for `-p` instead of files, and values after `=`, where bash breaks words.
fn bash(script: &str) -> String {
    let names = format!(
        r#"COMPREPLY=($(compgen -W "$("$1" completion {NAMES} "${{COMP_WORDS[@]}}" 2>/dev/null)" -- "${{cur}}"))
                    compopt -o nospace 2>/dev/null"#
    );
    let mut script = script.to_owned();
    for option in ["--parameter", "-p"] {
        let start = format!(" {option})\n                    ");
        script = script.replace(
            &format!(r#"{start}COMPREPLY=($(compgen -f "${{cur}}"))"#),
            &format!("{start}{names}"),
        );
    }
    script.replacen(
        "    prev=\"$3\"\n",
        r#"    prev="$3"
    local name=""
    if [[ "${cur}" == "=" ]]; then
        cur=""
        name="$3"
    elif [[ "${prev}" == "=" && COMP_CWORD -ge 2 ]]; then
        name="${COMP_WORDS[COMP_CWORD-2]}"
    fi
    if [[ "${name}" == --* ]]; then
        prev="${name}"
    elif [[ -n "${name}" ]]; then
        local line words=""
        while read -r line; do
            [[ "${line}" == "${name}="* ]] && words+=" ${line#*=}"
        done < <("$1" completion @NAMES@ "${COMP_WORDS[@]}" 2>/dev/null)
        COMPREPLY=($(compgen -W "${words}" -- "${cur}"))
        return 0
    fi
"#
        .replace("@NAMES@", NAMES)
        .as_str(),
        1,
    )
}

/// Completes parameters for `-p` instead of files.
fn zsh(script: &str) -> String {
    let function = format!(
        r#"(( $+functions[_krm-template_parameters] )) ||
_krm-template_parameters() {{
    local -a names
    names=(${{(f)"$(krm-template completion {NAMES} "${{words[@]}}" 2>/dev/null)"}})
    compadd -S '' -a names
}}
"#
    );
    let last = "\nif [ \"$funcstack[1]\"";
    script.replace(":NAME=VALUE:_default'", ":NAME=VALUE:_krm-template_parameters'").replacen(
        last,
        &format!("\n{function}{last}"),
        1,
    )
}

/// Completes parameters for `-p` instead of files.
fn fish(script: &str) -> String {
    let names =
        format!(" -f -a '(krm-template completion {NAMES} (commandline -opc) 2>/dev/null)'");
    let lines = script.lines().map(|line| {
        let is_meant = line.contains(" -s p -l parameter ");
        format!("{line}{}\n", if is_meant { names.as_str() } else { "" })
    });
    lines.collect()
}

/// Fixes the script for bash, which spells a name with a hyphen in two ways and so completes no
/// options of subcommands: <https://github.com/clap-rs/clap/issues/6421>.
fn mended(script: &str, name: &str) -> String {
    script.replace(&name.replace('-', "__subcmd__"), &name.replace('-', "__"))
}
