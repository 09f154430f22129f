//! `--source-map` lists exactly the printed objects, even if their names are generated.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::program;

const TEMPLATE: &str = "\
apiVersion: template.krm.dev/v1alpha1
kind: TemplateInstance
metadata: {name: all}
spec:
  templateRef: {name: jobs}
  instances: [{name: one}, {name: two}]
---
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata: {name: jobs}
parameters:
- {name: SUFFIX, generate: expression, from: '[a-z]{12}'}
objects:
- {apiVersion: batch/v1, kind: Job, metadata: {name: first-$(SUFFIX)}}
- {apiVersion: batch/v1, kind: Job, metadata: {name: second-$(SUFFIX)}}
";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("source_map/names_are_those_that_are_printed", names),
        Trial::test("source_map/files_are_those_that_are_written", files),
    ]
}

fn names() -> Result<(), Failed> {
    let (printed, map) = run(&["-o", "name"])?;
    let printed: Vec<&str> = printed.lines().collect();
    let names = texts(&map, "name");
    let mapped: Vec<String> = names.iter().map(|name| format!("job.batch/{name}")).collect();
    same(&printed, &mapped)?;
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    if distinct.len() == 4 {
        Ok(())
    } else {
        Err(format!("{names:?}: each instance has a value of its own").into())
    }
}

fn files() -> Result<(), Failed> {
    let (_, map) = run(&["--output-dir", "out"])?;
    let mut written = Vec::new();
    for entry in fs::read_dir(folder("--output-dir").join("out"))? {
        written.push(entry?.file_name().to_string_lossy().into_owned());
    }
    // The record of the files.
    written.retain(|name| !name.starts_with('.'));
    written.sort();
    let mut mapped = texts(&map, "output");
    mapped.sort();
    same(&written, &mapped)
}

fn same(expected: &[impl AsRef<str>], found: &[String]) -> Result<(), Failed> {
    let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
    if expected == found && expected.len() == 4 {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?}").into())
    }
}

/// A folder for a run with this option.
fn folder(option: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("source_map{option}"))
}

/// What is printed, and the map.
fn run(options: &[&str]) -> Result<(String, Value), Failed> {
    let folder = folder(options.first().unwrap_or(&""));
    // Files of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut command = program::command(&folder);
    let arguments = ["process", "-f", "-", "--source-map", "map.json"];
    command.args(arguments).args(options);
    let output = program::run(&mut command, TEMPLATE.as_bytes().to_vec())?;
    if output.exit != "0" {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("exit {}: {stderr}", output.exit).into());
    }
    let map = serde_json::from_slice(&fs::read(folder.join("map.json"))?)?;
    Ok((String::from_utf8(output.stdout)?, map))
}

/// A field of each object of a map.
fn texts(map: &Value, key: &str) -> Vec<String> {
    let objects = map["objects"].as_array().into_iter().flatten();
    let texts = objects.map(|object| object[key].as_str().unwrap_or_default().to_owned());
    texts.collect()
}
