//! The files that tests read: the repository's own and the shared folder's.

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostics;
use crate::source::Source;
use crate::write::edited::Edited;
use crate::write::rewrite::{Placement, Rewrite};
use crate::{Document, DuplicateKeys};

/// Every file under these folders of the repository or the shared folder, with the files of a case
/// in place of its text file.
fn files(folders: &[PathBuf]) -> Vec<(PathBuf, String)> {
    let mut folders = folders.to_vec();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap();
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = read(&path) {
                if path.extension().is_some_and(|end| end == "txtar") {
                    files.extend(split(&path, &text));
                } else {
                    files.push((path, text));
                }
            }
        }
    }
    files.sort();
    files
}

/// The files of a case: each follows a line `-- NAME --`.
fn split(path: &Path, text: &str) -> Vec<(PathBuf, String)> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let name = line.strip_prefix("-- ");
        if let Some(name) = name.and_then(|name| name.strip_suffix(" --\n")) {
            files.push((path.join(name), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        }
    }
    files
}

pub(super) fn repository() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = files(
        &["examples", "functionconfig", "tests/cases", "tests/common"]
            .map(|folder| root.join(folder)),
    );
    assert!(files.len() > 1_000, "only {} files", files.len());
    files
}

/// The shared folder. Tests that ask for it run with `--include-ignored`.
pub(super) fn shared_folder() -> PathBuf {
    let root = std::env::var_os("KRM_TEMPLATE_SHARED");
    PathBuf::from(root.expect("KRM_TEMPLATE_SHARED is not set"))
}

/// Files of the shared folder, and YAML that its JSON files hold as strings. No text twice.
pub(super) fn shared() -> Vec<(PathBuf, String)> {
    let root = shared_folder();
    let folders = ["corpus", "yaml/tricky", "yaml/test-suite"];
    let mut all = files(&folders.map(|folder| root.join(folder)));
    let mut inside = Vec::new();
    for (path, text) in &all {
        if let Ok(value) = serde_json::from_str(text) {
            strings(&value, &mut |string| {
                if string.contains('\n') {
                    inside.push((path.clone(), string.to_owned()));
                }
            });
        }
    }
    all.append(&mut inside);
    all.sort_by(|(_, a), (_, b)| a.cmp(b));
    all.dedup_by(|(_, a), (_, b)| a == b);
    assert!(all.len() > 5_000, "only {} texts", all.len());
    all
}

fn strings(value: &serde_json::Value, found: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(string) => found(string),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        serde_json::Value::Object(map) => map.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn read(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

/// The text with all that is in it read and written again, unchanged.
pub(super) fn printed(text: &str) -> Result<String, String> {
    let source = Source::new("test", text);
    let document = Document::parse(&source).map_err(|error| error.message.clone())?;
    let mut edits = Vec::new();
    for root in document.roots() {
        // Values that Kubernetes does not hold cannot be written, and so are not touched.
        let Some(value) = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()) else {
            continue;
        };
        let changes = Rewrite::edits(root, &value, Placement::InPlace);
        edits.extend(changes.map_err(|error| error.message.clone())?);
    }
    let edited = Edited::new(&document, edits).map_err(|error| error.message.clone())?;
    Ok(edited.to_string())
}

/// Fails if `docs/yaml.md` has no such line.
#[track_caller]
pub(super) fn documented(line: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/yaml.md");
    let text = read(&path).unwrap();
    assert!(text.lines().any(|other| other == line), "not in docs/yaml.md:\n{line}");
}
