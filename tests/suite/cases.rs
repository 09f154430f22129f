//! Every folder `tests/cases/<area>/<case>/` is a test: the program runs in it, and its output
//! is compared byte for byte.
//!
//! | file | contents | if it is absent |
//! |---|---|---|
//! | `args` | the arguments, one a line, taken as they are (no quotes, no variables); blank lines do not count | none |
//! | `input.yaml`, `input.json` or `stdin` | standard input | empty |
//! | `uses` | files of `tests/common/` that the case has too, as lines `NAME=FILE`; the program runs in a copy of the case | none |
//! | `env` | the environment besides `PATH`, as lines `NAME=VALUE` | nothing |
//! | `expected.yaml`, `expected.json` or `expected.txt` | standard output | must be empty |
//! | `expected.html` | the same, with the style and the script of a form named instead | must be empty |
//! | `stderr.txt` | standard error | must be empty |
//! | `exit` | the exit status | 0 |
//! | `feature` | a feature of the program, or `not` and a feature, one in a line: the programs that the case is for | all, but `tests/cases/deployment` and `tests/cases/form` need that feature |
//! | `expected/` | the folder `out` at the end; the program runs in a copy of the case | it writes no files |
//!
//! Other files are the case's own. At least one of the last four kinds must be there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::diff::diff;
use crate::needs;
use crate::program::{self, Output};

const INPUTS: [&str; 3] = ["input.yaml", "input.json", "stdin"];
const OUTPUTS: [&str; 4] = ["expected.yaml", "expected.json", "expected.txt", HTML];
const HTML: &str = "expected.html";
/// How a form begins.
const DOCTYPE: &[u8] = b"<!DOCTYPE html>";
const STDERR: &str = "stderr.txt";
const EXIT: &str = "exit";
const FILES: &str = "expected";
const USES: &str = "uses";
const FEATURE: &str = "feature";
/// The areas whose cases need a feature.
const DEPLOYMENT: &str = "deployment";
const FORM: &str = "form";
/// Where files are that several cases use.
const COMMON: &str = "tests/common";
/// The folder that is compared with [`FILES`].
const OUT: &str = "out";

pub(crate) fn trials() -> Vec<Trial> {
    let areas = folders(&crate::root().join("tests/cases"));
    let cases = areas.iter().flat_map(|area| {
        let cases = folders(area);
        // An area that became empty would pass in silence.
        assert!(!cases.is_empty(), "{} has no cases", area.display());
        cases
    });
    cases.map(trial).collect()
}

fn trial(folder: PathBuf) -> Trial {
    let area = folder.parent().and_then(Path::file_name);
    let parts = [area, folder.file_name()].map(|part| part.map(OsStr::to_string_lossy));
    let [area, case] = parts.map(Option::unwrap_or_default);
    let name = format!("{area}/{case}");
    let feature = fs::read_to_string(folder.join(FEATURE)).unwrap_or_default();
    let reason = match feature.trim() {
        "" if area == DEPLOYMENT => program::needs(program::DEPLOYMENT_MANAGER),
        "" if area == FORM => program::needs(program::FORM),
        "" => None,
        features => features.lines().find_map(program::needs),
    };
    needs::ignored(Trial::test(name, move || check(&folder)), reason)
}

/// The folders in `folder`, sorted.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut folders: Vec<_> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn check(folder: &Path) -> Result<(), Failed> {
    let writes = folder.join(FILES).is_dir();
    let place = if writes || folder.join(USES).exists() {
        copied(folder)?
    } else {
        folder.to_owned()
    };
    let mut output = run(folder, &place)?;
    if output.stdout.starts_with(DOCTYPE) {
        output.stdout = without_assets(&output.stdout)?;
    }
    let written = tree(&place.join(OUT))?;
    if crate::update() {
        return update(folder, &output, writes.then_some(&written));
    }
    let exit = read(folder, EXIT)?;
    let stderr = read(folder, STDERR)?;
    let stdout = one_of(folder, OUTPUTS)?;
    if exit.is_none() && stderr.is_none() && stdout.is_none() && !writes {
        let names = OUTPUTS.join(", ");
        let message = format!("nothing is expected: write {names}, {STDERR} or {EXIT}");
        return Err(format!("{message}, or let UPDATE=1 do it").into());
    }
    let (name, stdout) = stdout.unwrap_or(("nothing", Vec::new()));
    let expected_exit = match &exit {
        Some(exit) => String::from_utf8_lossy(exit).trim().to_owned(),
        None => "0".to_owned(),
    };
    let mut problems = Vec::new();
    if output.exit != expected_exit {
        problems.push(format!(
            "exit: expected {expected_exit}, found {}\n",
            output.exit
        ));
    }
    for (what, expected, actual) in [
        (format!("stdout, expected {name}"), stdout, &output.stdout),
        (
            STDERR.to_owned(),
            stderr.unwrap_or_default(),
            &output.stderr,
        ),
    ] {
        if let Some(diff) = diff(&expected, actual) {
            problems.push(format!("{what}:\n{diff}"));
        }
    }
    if writes {
        compare_trees(&tree(&folder.join(FILES))?, &written, &mut problems);
    }
    if problems.is_empty() {
        Ok(())
    } else {
        let problems = problems.concat();
        let name = folder.strip_prefix(crate::root()).unwrap_or(folder);
        Err(format!(
            "{}\n{problems}(UPDATE=1 accepts what was found)",
            name.display()
        )
        .into())
    }
}

/// A form with the names of its style and its script in place of their texts and hashes, so that
/// a change of these changes no case.
fn without_assets(html: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = String::from_utf8_lossy(html).into_owned();
    for (name, directive) in [("style.css", "style-src"), ("form.js", "script-src")] {
        let path = crate::root().join("crates/authoring/src/form").join(name);
        let asset = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        if text.matches(&asset).count() != 1 {
            return Err(format!("the output does not contain {name} once"));
        }
        text = text.replace(&asset, name);
        let start = format!("{directive} 'sha256-");
        let hash = text
            .split_once(&start)
            .and_then(|(_, rest)| rest.split_once('\''));
        let Some((hash, _)) = hash else {
            return Err(format!("the output has no hash of {name}"));
        };
        text = text.replace(&format!("'sha256-{hash}'"), "'sha256-…'");
    }
    Ok(text.into_bytes())
}

/// The files in a folder, by their paths in it.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(folder: &Path) -> Result<Tree, String> {
    let mut files = Tree::new();
    let entries = fs::read_dir(folder).into_iter().flatten();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        if path.is_dir() {
            let below = tree(&path)?.into_iter();
            files.extend(below.map(|(path, bytes)| (name.join(path), bytes)));
        } else {
            let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            files.insert(name, bytes);
        }
    }
    Ok(files)
}

/// A copy of the case, for the program to write into.
fn copied(folder: &Path) -> Result<PathBuf, String> {
    let name = folder.strip_prefix(crate::root()).unwrap_or(folder);
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Files of an earlier run.
    let _ = fs::remove_dir_all(&copy);
    write_tree(&copy, &tree(folder)?)?;
    for (name, common) in used(folder)? {
        fs::copy(&common, copy.join(&name))
            .map_err(|error| format!("{USES}: {}: {error}", common.display()))?;
    }
    Ok(copy)
}

/// The files of `tests/common/` that a case uses, each with its name in the case.
fn used(folder: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let common = crate::root().join(COMMON);
    let lines = lines(folder, USES)?.into_iter();
    let used = lines.map(|line| match line.split_once('=') {
        Some((name, _)) if folder.join(name).exists() => {
            Err(format!("{USES}: the case has a file {name} of its own"))
        }
        Some((name, file)) => Ok((name.to_owned(), common.join(file))),
        None => Err(format!("{USES}: expected NAME=FILE, found {line}")),
    });
    used.collect()
}

/// The lines of a file of the case, without blank ones.
fn lines(folder: &Path, name: &str) -> Result<Vec<String>, String> {
    let bytes = read(folder, name)?.unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(str::to_owned).collect())
}

fn write_tree(folder: &Path, tree: &Tree) -> Result<(), String> {
    for (path, bytes) in tree {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn compare_trees(expected: &Tree, found: &Tree, problems: &mut Vec<String>) {
    let mut paths: Vec<_> = expected.keys().chain(found.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        let file = path.display();
        match (expected.get(path), found.get(path)) {
            (Some(expected), Some(found)) => {
                let diff = diff(expected, found);
                problems.extend(diff.map(|diff| format!("{OUT}/{file}:\n{diff}")));
            }
            (Some(_), None) => problems.push(format!("{OUT}/{file} is missing\n")),
            _ => problems.push(format!("{OUT}/{file} is not expected\n")),
        }
    }
}

/// Runs the program in `place` with the arguments and input of the case `folder`.
fn run(folder: &Path, place: &Path) -> Result<Output, String> {
    let mut command = program::command(place);
    command.args(lines(folder, "args")?);
    for line in lines(folder, "env")? {
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!("env: expected NAME=VALUE, found {line}"));
        };
        command.env(name, value);
    }
    let stdin = one_of(folder, INPUTS)?.map(|(_, bytes)| bytes);
    program::run(&mut command, stdin.unwrap_or_default())
}

/// Makes `folder` expect `output`.
fn update(folder: &Path, output: &Output, written: Option<&Tree>) -> Result<(), Failed> {
    if let Some(written) = written {
        let files = folder.join(FILES);
        fs::remove_dir_all(&files)?;
        fs::create_dir_all(&files)?;
        write_tree(&files, written)?;
    }
    let name = match one_of(folder, OUTPUTS)? {
        Some((name, _)) => name,
        None => output_name(&output.stdout),
    };
    write(folder, name, &output.stdout)?;
    write(folder, STDERR, &output.stderr)?;
    let is_silent = output.stdout.is_empty() && output.stderr.is_empty();
    let exit = match output.exit.as_str() {
        "0" if !is_silent => String::new(),
        exit => format!("{exit}\n"),
    };
    Ok(write(folder, EXIT, exit.as_bytes())?)
}

fn output_name(stdout: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(stdout);
    if stdout.starts_with(DOCTYPE) {
        HTML
    } else if text.starts_with(['{', '[']) {
        "expected.json"
    } else if text.contains("apiVersion:") {
        "expected.yaml"
    } else {
        "expected.txt"
    }
}

/// Writes the file, or removes it if there is nothing to write.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path = folder.join(name);
    let result = if bytes.is_empty() {
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result,
        }
    } else {
        fs::write(&path, bytes)
    };
    result.map_err(|error| format!("{}: {error}", path.display()))
}

/// The one of `names` that is there.
fn one_of(
    folder: &Path,
    names: impl IntoIterator<Item = &'static str>,
) -> Result<Option<(&'static str, Vec<u8>)>, String> {
    let mut found = None;
    for name in names {
        if let Some(bytes) = read(folder, name)? {
            if let Some((other, _)) = found {
                return Err(format!("there are both {other} and {name}"));
            }
            found = Some((name, bytes));
        }
    }
    Ok(found)
}

fn read(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, String> {
    match fs::read(folder.join(name)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
