//! `docs/transformers.md` has a section for each built-in transformer, with parts of its example in
//! `examples/transformers`. An example has `composition.yaml`, `expected.yaml`, and for most kinds
//! `resources.yaml`, which the transformers change. `UPDATE=1` writes `expected.yaml`.
//!
//! `tests/clients/transformers.py` builds the same with kustomize, and the example that needs helm.

use std::fs;
use std::path::PathBuf;

use krm_template::composition::builtin_kinds;
use libtest_mimic::{Failed, Trial};

use crate::diff::diff;
use crate::markdown::{Block, blocks};
use crate::program;

const DOCS: &str = "docs/transformers.md";
const EXAMPLES: &str = "examples/transformers";
/// Its example is built in `tests/clients/transformers.py`.
const WITH_HELM: &str = "HelmChartInflationGenerator";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kind in builtin_kinds() {
        let described = format!("transformers/{kind}");
        trials.push(Trial::test(described, move || is_described(kind)));
        if kind != WITH_HELM {
            let example = format!("transformers/example_of_{kind}");
            trials.push(Trial::test(example, move || example_holds(kind)));
        }
    }
    trials
}

fn folder(kind: &str) -> PathBuf {
    crate::root().join(EXAMPLES).join(kind)
}

fn example_holds(kind: &str) -> Result<(), Failed> {
    let folder = folder(kind);
    let mut command = program::command(&folder);
    let output = program::run(command.arg("build"), Vec::new())?;
    if output.exit != "0" || !output.stderr.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("exit {}\n{stderr}", output.exit).into());
    }
    let path = folder.join("expected.yaml");
    if crate::update() {
        return Ok(fs::write(path, output.stdout)?);
    }
    match diff(&fs::read(path)?, &output.stdout) {
        None => Ok(()),
        Some(diff) => Err(format!("{diff}(UPDATE=1 accepts what was found)").into()),
    }
}

fn is_described(kind: &str) -> Result<(), Failed> {
    let docs = fs::read_to_string(crate::root().join(DOCS))?;
    let (list, _) = docs.split_once("\n## ").ok_or("it has no sections")?;
    let link = format!("[`{kind}`](#{})", kind.to_lowercase());
    if !list.contains(&link) {
        return Err(format!("the list of {DOCS} does not have {link}").into());
    }
    let section = docs
        .split("\n## ")
        .find_map(|section| section.strip_prefix(&format!("{kind}\n")))
        .ok_or_else(|| format!("{DOCS} has no section `{kind}`"))?;
    let link = format!("[Example](../{EXAMPLES}/{kind})");
    if !section.contains(&link) {
        return Err(format!("the section has no {link}").into());
    }
    let blocks = blocks(section);
    blocks.iter().try_for_each(|block| {
        is_excerpt(block, kind).map_err(|error| {
            let why = error.message().unwrap_or_default();
            format!("line {} of the section: {why}", block.line).into()
        })
    })
}

/// Fails unless the block has lines of the example: of the file that the line before it names, or
/// of `resources.yaml` on the old side of a diff and of `expected.yaml` on the new one.
fn is_excerpt(block: &Block<'_>, kind: &str) -> Result<(), Failed> {
    let read = |name: &str| fs::read_to_string(folder(kind).join(name));
    if block.language == "diff" {
        let side = |other: char| {
            let lines = block.lines.iter().filter(move |line| !line.starts_with(other));
            lines.filter_map(|line| line.get(1..))
        };
        in_order(side('+'), &read("resources.yaml")?)?;
        return in_order(side('-'), &read("expected.yaml")?);
    }
    let name = match block.before {
        "It prints:" => "expected.yaml",
        before => before
            .strip_prefix('`')
            .and_then(|name| name.strip_suffix("`:"))
            .unwrap_or("composition.yaml"),
    };
    if read(name)?.contains(&block.text()) {
        Ok(())
    } else {
        Err(format!("{name} has no such lines").into())
    }
}

/// Fails unless the text has all the lines in this order.
fn in_order<'l>(lines: impl Iterator<Item = &'l str>, text: &str) -> Result<(), Failed> {
    let mut rest = text.lines();
    for line in lines {
        if !rest.any(|other| other == line) {
            return Err(format!("`{line}` is not there, or earlier").into());
        }
    }
    Ok(())
}
