//! The README's commands do what they say: each `sh` block after a line `<!-- test -->` runs in the
//! repository and must succeed.
//!
//! `cargo run --release` stands for the program already built; other cargo commands are left out.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::program;

const MARK: &str = "<!-- test -->";

pub(crate) fn trials() -> Vec<Trial> {
    let Ok(readme) = fs::read_to_string(crate::root().join("README.md")) else {
        return Vec::new();
    };
    let mut blocks = blocks(&readme);
    if blocks.is_empty() {
        // A README that lost its marks would pass in silence.
        let message = format!("README.md has no sh block after a line {MARK}");
        blocks.push((0, Err(message)));
    }
    let trials = blocks
        .into_iter()
        .map(|(line, script)| Trial::test(format!("readme/line-{line}"), move || check(&script?)));
    trials.collect()
}

/// The marked blocks, each with the number of its first line.
fn blocks(readme: &str) -> Vec<(usize, Result<String, String>)> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(readme.lines());
    while let Some((number, line)) = lines.next() {
        if line.trim() != MARK {
            continue;
        }
        let fence = lines.find(|(_, line)| !line.trim().is_empty());
        let script = if fence.is_some_and(|(_, line)| line.trim() == "```sh") {
            let script = lines.by_ref().map(|(_, line)| line);
            Ok(translate(script.take_while(|line| line.trim() != "```")))
        } else {
            Err(format!("README.md:{number}: no sh block follows {MARK}"))
        };
        blocks.push((number + 2, script));
    }
    blocks
}

/// Replaces what cargo would do.
fn translate<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let mut script = Vec::new();
    let mut skips = false;
    for line in lines {
        let command = line.trim_start();
        let goes_on = line.ends_with('\\');
        if skips {
            skips = goes_on;
        } else if let Some(rest) = command.strip_prefix("cargo run --release") {
            let rest = rest.strip_prefix(" -- ").unwrap_or(rest);
            script.push(format!("krm-template {}", rest.trim_start()));
        } else if command.starts_with("cargo ") {
            skips = goes_on;
        } else {
            script.push(line.to_owned());
        }
    }
    script.join("\n")
}

fn check(script: &str) -> Result<(), Failed> {
    let folder = Path::new(program::PATH).parent();
    let mut path = vec![folder.unwrap_or(Path::new("")).to_owned()];
    path.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let mut command = Command::new("bash");
    command
        .args(["-e", "-o", "pipefail", "-c", script])
        .current_dir(crate::root())
        .env("PATH", std::env::join_paths(path)?);
    let output = program::run(&mut command, Vec::new())?;
    if output.exit == "0" {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("exit {} of\n{script}\n{stderr}", output.exit).into())
}
