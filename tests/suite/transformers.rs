//! `docs/transformers.md` has a section for each built-in transformer, with an example in it. A
//! block after a line `` `NAME`: `` is a file, and one after `It prints:` the output of
//! `krm-template build` for the files so far. `UPDATE=1` writes the output.
//!
//! `tests/clients/transformers.py` has kustomize build the same, and runs the examples that say
//! `With helm, it prints:`.

use std::fs;
use std::path::Path;

use krm_template::composition::builtin_kinds;
use libtest_mimic::{Failed, Trial};

use crate::diff::diff;
use crate::markdown::blocks;
use crate::program;

const DOCS: &str = "docs/transformers.md";
/// What lists them, with links to their sections.
const LIST: &str = "docs/composition.md";
const PRINTS: &str = "It prints:";
const PRINTS_WITH_HELM: &str = "With helm, it prints:";

pub(crate) fn trials() -> Vec<Trial> {
    let docs = fs::read_to_string(crate::root().join(DOCS)).unwrap_or_default();
    let sections: Vec<String> = docs.split("\n## ").skip(1).map(str::to_owned).collect();
    let mut trials = Vec::new();
    for kind in builtin_kinds() {
        let section = sections.iter().find(|section| title(section) == kind);
        let section = section.cloned();
        trials.push(Trial::test(format!("transformers/{kind}"), move || {
            is_described(kind, section.as_deref())
        }));
    }
    if crate::update() {
        // One after the other, for they stand in one file.
        trials.push(Trial::test("transformers/update", move || {
            update(&sections)
        }));
        return trials;
    }
    for section in sections {
        let name = format!("transformers/examples_of_{}", title(&section));
        trials.push(Trial::test(name, move || examples_hold(&section)));
    }
    trials
}

fn is_described(kind: &str, section: Option<&str>) -> Result<(), Failed> {
    let section = section.ok_or_else(|| format!("{DOCS} has no section `{kind}`"))?;
    if examples(section).is_empty() && !section.contains(PRINTS_WITH_HELM) {
        return Err(format!("the section `{kind}` of {DOCS} has no example").into());
    }
    let link = format!("[`{kind}`](transformers.md#{})", kind.to_lowercase());
    if !fs::read_to_string(crate::root().join(LIST))?.contains(&link) {
        return Err(format!("{LIST} does not have {link}").into());
    }
    Ok(())
}

/// Files, and their output in the document.
struct Example {
    files: Vec<(String, String)>,
    printed: String,
}

fn examples(section: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut files: Vec<(String, String)> = Vec::new();
    for block in blocks(section) {
        let file = block.before.strip_prefix('`');
        if let Some(name) = file.and_then(|name| name.strip_suffix("`:")) {
            files.retain(|(known, _)| known != name);
            files.push((name.to_owned(), block.text()));
        } else if block.before == PRINTS {
            examples.push(Example {
                files: files.clone(),
                printed: block.text(),
            });
        }
    }
    examples
}

fn examples_hold(section: &str) -> Result<(), Failed> {
    for example in examples(section) {
        let found = example.build(title(section))?;
        if let Some(diff) = diff(example.printed.as_bytes(), found.as_bytes()) {
            return Err(format!("{diff}(UPDATE=1 accepts what was found)").into());
        }
    }
    Ok(())
}

fn update(sections: &[String]) -> Result<(), Failed> {
    let path = crate::root().join(DOCS);
    let mut docs = fs::read_to_string(&path)?;
    for section in sections {
        let mut updated = section.clone();
        for example in examples(section) {
            let block = |printed: &str| format!("{PRINTS}\n```yaml\n{printed}```\n");
            let found = example.build(title(section))?;
            updated = updated.replacen(&block(&example.printed), &block(&found), 1);
        }
        docs = docs.replacen(section, &updated, 1);
    }
    Ok(fs::write(path, docs)?)
}

fn title(section: &str) -> &str {
    section.lines().next().unwrap_or_default()
}

impl Example {
    /// The output of the program for the files.
    fn build(&self, name: &str) -> Result<String, Failed> {
        let top = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = top.join("transformers").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        for (name, text) in &self.files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(&folder))?;
            fs::write(file, text)?;
        }
        let mut command = program::command(&folder);
        let output = program::run(command.arg("build"), Vec::new())?;
        if output.exit != "0" || !output.stderr.is_empty() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("exit {}\n{stderr}", output.exit).into());
        }
        fs::remove_dir_all(&folder)?;
        Ok(String::from_utf8(output.stdout)?)
    }
}
