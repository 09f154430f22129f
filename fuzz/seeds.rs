//! The inputs of each property: files of the tests and examples, and those that failed once. The
//! tests try all of them, and fuzzing begins with them.

#![expect(clippy::disallowed_methods, reason = "tests read files and the environment")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders with inputs.
const FOLDERS: [&str; 5] =
    ["examples", "functionconfig", "tests/cases", "tests/clients", "tests/common"];

/// The contents of files, by their paths from the root of the repository.
type Files = BTreeMap<String, Vec<u8>>;

/// Calls `check` with each input of a target of `fuzz/run`. A folder that `FUZZ_SEEDS` names gets
/// the inputs instead.
pub(crate) fn each(target: &str, check: impl Fn(&[u8])) {
    let inputs = inputs(target);
    assert!(!inputs.is_empty(), "{target} has no seeds");
    let Some(folder) = std::env::var_os("FUZZ_SEEDS") else {
        for (name, bytes) in &inputs {
            let _named = Named(name);
            check(bytes);
        }
        return;
    };
    let folder = Path::new(&folder).join(target);
    fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in inputs {
        fs::write(folder.join(name.replace('/', "+")), bytes).unwrap();
    }
}

/// Names the input that a panic is about.
struct Named<'n>(&'n str);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the input is {}", self.0);
        }
    }
}

fn inputs(target: &str) -> Files {
    let mut all = Files::new();
    for folder in FOLDERS {
        read(&root().join(folder), &mut all);
    }
    let mut inputs = match target {
        "composition" => compositions(&all),
        "merge" => merges(&all),
        _ => {
            all.retain(|path, _| is_input(target, path));
            all
        }
    };
    for seeds in ["fuzz/seeds", "crates/yaml/fuzz/seeds"] {
        read(&root().join(seeds).join(target), &mut inputs);
    }
    inputs
}

/// Whether a file alone is an input.
fn is_input(target: &str, path: &str) -> bool {
    let name = name(path);
    let ending = ending(name);
    match target {
        "function" => ["input.yaml", "input.json", "resource-list.yaml"].contains(&name),
        "template" => {
            path.starts_with("tests/common/")
                || name == "template.json"
                || name.contains("template") && ending == "yaml"
        }
        "object" => ["template.yaml", "template.json"].contains(&name),
        "jinja" => ending == "jinja",
        "print" | "paths" | "edit" => ["yaml", "json"].contains(&ending),
        _ => false,
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn ending(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// Each Composition with the files beside it in one, as the property reads them.
fn compositions(all: &Files) -> Files {
    let mut inputs = Files::new();
    for (path, composition) in all {
        let Some(folder) = path.strip_suffix("composition.yaml") else {
            continue;
        };
        let mut input = [composition.as_slice(), b"\0"].concat();
        for (other, content) in all {
            let name = name(other);
            if other.starts_with(folder)
                && ending(name) == "yaml"
                && name != "composition.yaml"
                && !name.starts_with("expected")
            {
                input.extend([content.as_slice(), b"---\n"].concat());
            }
        }
        inputs.insert(path.clone(), input);
    }
    inputs
}

/// The first Template of each case of `merge` with each of the others.
fn merges(all: &Files) -> Files {
    let mut inputs = Files::new();
    for (path, first) in all {
        let Some(folder) = path.strip_suffix("/a.yaml") else {
            continue;
        };
        for other in 'b'..='z' {
            let other = format!("{folder}/{other}.yaml");
            if let Some(content) = all.get(&other) {
                let input = [first.as_slice(), b"\0", content].concat();
                inputs.insert(other, input);
            }
        }
    }
    inputs
}

/// Reads a file, or all files in a folder. The sections of a case in one file are its files.
fn read(path: &Path, files: &mut Files) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            read(&entry.unwrap().path(), files);
        }
        return;
    }
    let Ok(content) = fs::read(path) else { return };
    let name = path.strip_prefix(root()).unwrap().display().to_string();
    let Some(case) = name.strip_suffix(".txtar") else {
        files.insert(name, content);
        return;
    };
    let text = String::from_utf8(content).unwrap();
    for section in format!("\n{text}").split("\n-- ").skip(1) {
        if let Some((file, content)) = section.split_once(" --\n") {
            let content = content.strip_suffix('\n').unwrap_or(content);
            files.insert(format!("{case}/{file}"), format!("{content}\n").into());
        }
    }
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = package.ancestors();
    let root = folders.find(|folder| folder.join("Cargo.lock").exists());
    root.unwrap().to_owned()
}
