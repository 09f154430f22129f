//! What the program prints about a hostile file is not much larger than the file.

use std::path::Path;

use libtest_mimic::{Failed, Trial};

use crate::program;

pub(crate) fn trials() -> Vec<Trial> {
    let commands: [(&str, &[&str]); 3] =
        [("function", &[]), ("process", &["process", "-f", "-"]), ("validate", &["validate", "-"])];
    let commands = commands.into_iter();
    commands
        .map(|(name, arguments)| Trial::test(format!("bounds/{name}"), move || run(arguments)))
        .collect()
}

/// Texts that are wrong in many places, or in a long one.
fn texts() -> Vec<String> {
    let long = "x".repeat(100_000);
    let list = |count: usize, item: &str| vec![item; count].join(", ");
    let keys = |count: usize, key: &str| {
        let keys = (0..count).map(|at| format!("{key}{at}: $((A))"));
        keys.collect::<Vec<_>>().join(", ")
    };
    let object = "apiVersion: v1, kind: X, metadata: {name: x}";
    let bodies = [
        format!("objects: [{}]", list(20_000, "5")),
        format!("objects: [{{kind: X, metadata: {{name: {long}}}, {}}}]", keys(3_000, "a")),
        format!("objects: [{{{object}, {long}: {{{}}}}}]", keys(3_000, "replicas")),
        format!("objects: [{{{object}, a: [{}]}}]", list(9_000, "$((A))")),
        format!("parameters: [{{name: A, value: {long}, enum: [{long}]}}]\nobjects: []"),
        format!("parameters: [{}]\nobjects: []", list(9_000, "{name: A, value: a, type: int}")),
        format!("parameters: [{}]\nobjects: []", list(3_000, "{name: A, required: true}")),
        format!("parameters: [{{name: A, required: true, description: {long}}}]\nobjects: []"),
        format!("objects: []\nvalues: {{{}}}", keys(9_000, "v")),
        format!("labels: {{{}}}\nobjects: [{{{object}}}]", keys(3_000, "-")),
        format!("objects: {long}\n{}: 1", "x".repeat(900)),
        format!("objects: [{long}"),
        "objects: []\n".repeat(9_000),
    ];
    let head = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata: {name: t}\n";
    bodies.iter().map(|body| format!("{head}{body}\n")).collect()
}

fn run(arguments: &[&str]) -> Result<(), Failed> {
    for text in texts() {
        let input = if arguments.is_empty() {
            let text = text.trim_end().replace('\n', "\n  ");
            format!(
                "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n  {text}\n"
            )
        } else {
            text
        };
        let limit = 4 * input.len() + (1 << 20);
        let start: String = input.chars().take(200).collect();
        let mut command = program::command(Path::new("."));
        let output = program::run(command.args(arguments), input.into_bytes())?;
        let length = output.stdout.len() + output.stderr.len();
        if length > limit || !matches!(output.exit.as_str(), "0" | "1" | "2") {
            let exit = output.exit;
            return Err(format!("{length} bytes, exit status {exit}: {start}").into());
        }
    }
    Ok(())
}
