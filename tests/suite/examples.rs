//! Every `examples/<name>/resource-list.yaml` goes through the program as a function; the output
//! is compared with `expected.yaml` beside it, if there is one.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};

use crate::cases::folders;
use crate::diff::diff;
use crate::program;

const INPUT: &str = "resource-list.yaml";
const EXPECTED: &str = "expected.yaml";
/// An example that must have one.
const REQUIRED: &str = "mongodb";

pub(crate) fn trials() -> Vec<Trial> {
    let examples = crate::root().join("examples");
    let required = examples.join(REQUIRED);
    let mut folders = folders(&examples);
    folders.retain(|folder| folder.join(INPUT).is_file() || *folder == required);
    if !folders.contains(&required) {
        folders.push(required);
    }
    let trials = folders.into_iter().map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Trial::test(format!("examples/{name}"), move || check(&folder))
    });
    trials.collect()
}

fn check(folder: &Path) -> Result<(), Failed> {
    let input = folder.join(INPUT);
    let stdin = fs::read(&input).map_err(|error| format!("{}: {error}", input.display()))?;
    let output = program::run(&mut program::command(folder), stdin)?;
    if output.exit != "0" {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("exit {}\n{stderr}", output.exit).into());
    }
    let path = folder.join(EXPECTED);
    if !path.exists() {
        return Ok(());
    }
    if crate::update() {
        return Ok(fs::write(path, output.stdout)?);
    }
    match diff(&fs::read(path)?, &output.stdout) {
        None => Ok(()),
        Some(diff) => Err(format!("{EXPECTED}:\n{diff}(UPDATE=1 accepts what was found)").into()),
    }
}
