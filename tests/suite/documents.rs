//! The commands in the README, in `docs/` and in the examples' READMEs work: each block
//! after a line ```` ```sh ```` runs, in order, in a copy of the examples. From the
//! README and `docs/` that is the top of the repository, from an example its own folder.
//!
//! If a line `It prints:` and a block ```` ```text ```` follow, that is the expected output.
//!
//! Blocks that need kpt, kubectl, Docker or jq are left to `tests/clients/documents.py`, which runs all
//! the others too. So a block without a client must not need the results of one with a client.
//! `cargo run --release` is replaced by the program already built; other cargo commands are skipped.
//! Blocks of another language, as ```` ```console ````, are not run.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::cases::folders;
use crate::diff::diff;
use crate::markdown;
use crate::needs;
use crate::program;

/// The files that the commands use.
const COPIED: &[&str] = &["README.md", "action.yml", "docs", "examples", "functionconfig"];
/// The end of a line between a block and its output.
const PRINTS: &str = "It prints:";
const CLIENTS: &[&str] = &["kpt", "kubectl", "docker", "jq", "yq"];
/// A command that a program without the feature does not have.
const OF_FEATURE: &str = "krm-template dm";
/// This document must have commands.
const REQUIRED: &str = "README.md";
/// Two screens.
const README_LINES: usize = 120;
/// Of all pages: bytes, because a bound of lines makes long lines.
const DOCS_BYTES: u64 = 390_000;

pub(crate) fn trials() -> Vec<Trial> {
    let mut documents = vec![PathBuf::from(REQUIRED)];
    let texts = fs::read_dir(crate::root().join("docs")).into_iter().flatten();
    let texts = texts.flatten().map(|text| text.path());
    let examples = folders(&crate::root().join("examples"));
    let readmes = examples.iter().map(|example| example.join("README.md"));
    documents.extend(texts.chain(readmes).filter_map(|path| {
        let is_text = path.extension().is_some_and(|extension| extension == "md");
        let path = path.strip_prefix(crate::root()).ok()?;
        is_text.then(|| path.to_owned())
    }));
    documents.sort();
    let mut trials = vec![Trial::test("documents/are_short", are_short)];
    trials.extend(documents.into_iter().filter_map(trial));
    trials
}

/// Fails if the README has more lines than it may, or the pages of `docs/` more bytes.
fn are_short() -> Result<(), Failed> {
    let readme = fs::read_to_string(crate::root().join(REQUIRED))?;
    let readme = readme.lines().count();
    let mut pages = 0;
    for entry in fs::read_dir(crate::root().join("docs"))? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "md") {
            pages += entry.metadata()?.len();
        }
    }
    if readme > README_LINES || pages > DOCS_BYTES {
        return Err(format!("the README has {readme} lines, docs/ {pages} bytes").into());
    }
    Ok(())
}

/// The test of a document, if there is something to run.
fn trial(document: PathBuf) -> Option<Trial> {
    let name = format!("documents/{}", document.display());
    let text = fs::read_to_string(crate::root().join(&document)).unwrap_or_default();
    let mut blocks = blocks(&text);
    blocks.retain(|block| !needs_a_client(&block.script));
    if blocks.is_empty() && document != Path::new(REQUIRED) {
        return None;
    }
    let is_of_feature = |block: &Block| block.script.contains(OF_FEATURE);
    let reason =
        program::needs(program::DEPLOYMENT_MANAGER).filter(|_| blocks.iter().any(is_of_feature));
    let trial = Trial::test(name, move || check(&document, &blocks));
    Some(needs::ignored(trial, reason))
}

struct Block {
    /// The number of its first line.
    line: usize,
    script: String,
    /// The expected output in the document.
    printed: Option<String>,
}

/// The `sh` blocks.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for block in markdown::blocks(text) {
        match (block.language, blocks.last_mut()) {
            ("sh", _) => blocks.push(Block {
                line: block.line,
                script: translate(block.lines.into_iter()),
                printed: None,
            }),
            ("text", Some(last)) if block.before.ends_with(PRINTS) => {
                last.printed = Some(block.text());
            }
            _ => {}
        }
    }
    blocks
}

fn needs_a_client(script: &str) -> bool {
    let mut words = script.split_whitespace();
    words.any(|word| CLIENTS.contains(&word))
}

/// Replaces or removes the commands of cargo.
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

fn check(document: &Path, blocks: &[Block]) -> Result<(), Failed> {
    if blocks.is_empty() {
        // Without this check, a README without commands would pass.
        return Err(format!("{} has no sh block to run", document.display()).into());
    }
    let name = document.display().to_string().replace(['/', '.'], "-");
    let top = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents").join(name);
    if top.exists() {
        fs::remove_dir_all(&top)?;
    }
    fs::create_dir_all(&top)?;
    for name in COPIED {
        copy(&crate::root().join(name), &top.join(name))?;
    }
    let folder = if document.starts_with("examples") {
        top.join(document.parent().unwrap_or(Path::new("")))
    } else {
        top.clone()
    };
    for block in blocks {
        let mut command = Command::new("bash");
        command
            .args(["-e", "-o", "pipefail", "-c", &block.script])
            .current_dir(&folder)
            .env("PATH", path()?);
        let output = program::run(&mut command, Vec::new())?;
        let at = format!("{}:{}", document.display(), block.line);
        if output.exit != "0" {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let script = &block.script;
            return Err(format!("{at}: exit {} of\n{script}\n{said}", output.exit).into());
        }
        if let Some(printed) = &block.printed
            && let Some(diff) = diff(printed.as_bytes(), &output.stdout)
        {
            return Err(format!("{at}: prints otherwise:\n{diff}").into());
        }
    }
    Ok(fs::remove_dir_all(&top)?)
}

/// `PATH` with the program in front.
fn path() -> Result<OsString, Failed> {
    let folder = Path::new(program::PATH).parent().unwrap_or(Path::new(""));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path);
    let all = std::iter::once(folder.to_owned()).chain(others);
    Ok(std::env::join_paths(all)?)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
