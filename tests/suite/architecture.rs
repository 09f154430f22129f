//! Holds the rooms within the crates: which may use which, that files of a room do not import one
//! another in circles, that only the command lines touch the machine, and that `ARCHITECTURE.md`
//! names what a crate consists of.

mod circles;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use paths::{UsedPath, paths};

/// The folders of each module that has several, from the bottom up. A folder uses those before it.
const ROOMS: &[(&str, &[&str])] = &[
    ("crates/yaml/src", &["source", "scalar", "read", "write", "edit"]),
    ("crates/yaml/src/scalar", &["decode", "write"]),
    (
        SERVER,
        &[
            "request",
            "codec",
            "validation",
            "patch",
            "templates",
            "http",
            "api",
            "deployments",
            "instances",
            "registry",
            "ui",
            "testing",
        ],
    ),
    ("crates/server-core/src", &["store", "flow_control", "telemetry", "auth", "aggregation"]),
    ("crates/server/src/ui", &["pages", "deployments"]),
    ("crates/function/src", &["plan", "input", "update", "ownership", "placing", "run"]),
    ("crates/workspace/src", &["expansion", "check"]),
    ("crates/cli/src", &["args", "output", "programs", "commands", "tips"]),
    ("crates/object-check/src", &["walk", "functions", "custom"]),
    ("crates/authoring/src", &["form", "lint", "merge"]),
    ("crates/template/src", &["values", "declare", "resolve", "expand", "show"]),
    (
        "crates/composition/src",
        &[
            "tables",
            "values",
            "resources",
            "fields",
            "patch",
            "engine",
            "read",
            "names",
            "builtin",
            "kustomization",
            "run",
        ],
    ),
    ("crates/export/src", &["fields", "read", "references", "parameters", "survey", "strip"]),
    (
        "crates/deployment-manager/src",
        &["imports", "schema", "jinja", "python", "expand", "objects"],
    ),
    (
        "crates/cli/src/commands",
        &["expansion", "process", "explain", "build", "edit", "export", "dm"],
    ),
];

/// What only the command lines may use.
const MACHINE: &[&[&str]] = &[
    &["std", "env"],
    &["std", "fs"],
    &["std", "io", "stdin"],
    &["std", "io", "stdout"],
    &["std", "io", "stderr"],
    &["std", "io", "Stdin"],
    &["std", "io", "Stdout"],
    &["std", "io", "Stderr"],
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("architecture/only_command_lines_touch_the_machine", sources),
        Trial::test("architecture/programs_start_in_one_place", programs),
        Trial::test("architecture/rooms_use_lower_rooms", rooms_use_lower_rooms),
        Trial::test("architecture/no_room_has_a_circle", no_circles),
        Trial::test("architecture/the_page_names_all_modules", page),
        Trial::test("architecture/circles_are_found", circles_are_found),
        Trial::test("architecture/breaches_are_found", breaches_are_found),
    ]
}

/// The most bytes of `ARCHITECTURE.md`.
const MAX_PAGE: usize = 9_000;

/// The server's sources.
const SERVER: &str = "crates/server/src";

/// The folders that may use files, the environment and the standard streams.
const COMMAND_LINES: &[&str] = &[
    "crates/cli/src",
    "crates/exec/src",
    SERVER,
    "crates/server-core/src",
    "crates/cluster/src",
    "crates/server-client/src",
    "crates/server-deployments/src",
];

/// The folders of sources, one of each crate.
pub(crate) fn crates() -> Result<Vec<String>, Failed> {
    let mut folders = vec!["src".to_owned()];
    for entry in fs::read_dir(crate::root().join("crates"))? {
        folders.push(format!("crates/{}/src", entry?.file_name().display()));
    }
    folders.sort();
    Ok(folders)
}

fn sources() -> Result<(), Failed> {
    let mut breaches = Vec::new();
    for folder in &crates()? {
        for file in read(folder)? {
            breaches.extend(check(&file.path, &file.text)?);
        }
    }
    match breaches.as_slice() {
        [] => Ok(()),
        breaches => Err(breaches.join("\n").into()),
    }
}

/// The files that start other programs, with the call that does it. Secrets of this program are removed
/// there from the environment; the sandbox becomes the program, with an environment of its own.
const STARTS: &[(&str, &str)] =
    &[("crates/exec/src/group.rs", ".spawn()"), ("crates/exec/src/sandbox.rs", ".exec()")];

/// Other programs are started in [`STARTS`] only.
fn programs() -> Result<(), Failed> {
    let calls = [".spawn()", ".output()", ".status()", ".exec()"];
    let mut found = Vec::new();
    for folder in &crates()? {
        for file in read(folder)? {
            let is_test = is_test_file(&module_path(&file.path));
            let uses = paths(&file.text)?
                .into_iter()
                .any(|path| !path.is_test && path.parts.join("::").contains("process::Command"));
            let text = file.text.replace("self.group.status()", "");
            let own = text.split("#[cfg(test)]\nmod tests {").next();
            for call in calls.iter().filter(|_| uses && !is_test) {
                if own.is_some_and(|own| own.contains(call)) {
                    found.push((file.path.display().to_string(), *call));
                }
            }
        }
    }
    let found: Vec<(&str, &str)> = found.iter().map(|(path, call)| (&**path, *call)).collect();
    if found == STARTS {
        return Ok(());
    }
    Err(format!("programs are started in {found:?}, not only in {STARTS:?}").into())
}

/// `ARCHITECTURE.md` is short, and its table of each crate names all files and folders at the top.
fn page() -> Result<(), Failed> {
    let text = fs::read_to_string(crate::root().join("ARCHITECTURE.md"))?;
    let mut missing = Vec::new();
    for folder in crates()? {
        let title = format!("| `{}`: ", folder.trim_end_matches("/src"));
        let table = text.split("\n\n").find(|table| table.starts_with(&title));
        for entry in fs::read_dir(crate::root().join(&folder))? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_everywhere = ["lib", "main", "testing", "tests"].contains(&&*name);
            let is_named = table.is_some_and(|table| table.contains(&format!("`{name}`")));
            if !is_everywhere && !is_named {
                missing.push(format!("`{name}` of {folder}"));
            }
        }
    }
    if text.len() > MAX_PAGE || !missing.is_empty() {
        let missing = missing.join(", ");
        return Err(format!("{} bytes; missing: {missing}", text.len()).into());
    }
    Ok(())
}

fn no_circles() -> Result<(), Failed> {
    let mut circles = Vec::new();
    for folder in &crates()? {
        circles.extend(circles::find(folder, &read(folder)?)?);
    }
    match circles.as_slice() {
        [] => Ok(()),
        circles => Err(circles.join("\n").into()),
    }
}

fn rooms_use_lower_rooms() -> Result<(), Failed> {
    let mut breaches = Vec::new();
    for folder in &crates()? {
        let files = read(folder)?;
        let arrows = circles::rooms(&files)?;
        for (module, folders) in folders_of(&files) {
            let name = [std::slice::from_ref(folder), module.as_slice()].concat().join("/");
            let Some((_, order)) = ROOMS.iter().find(|(room, _)| *room == name) else {
                breaches.push(format!("{name}: no order for {folders:?}"));
                continue;
            };
            let listed: BTreeSet<String> = order.iter().map(|&name| name.to_owned()).collect();
            if listed != folders {
                breaches.push(format!("{name}: {folders:?}, listed {listed:?}"));
            }
            let level = |name: &str| order.iter().position(|room| *room == name);
            for ((from, to), place) in arrows.get(&module).into_iter().flatten() {
                if level(from).zip(level(to)).is_some_and(|(from, to)| from < to) {
                    breaches.push(format!("{place}: `{from}` must not use `{to}`"));
                }
            }
        }
    }
    match breaches.as_slice() {
        [] => Ok(()),
        breaches => Err(breaches.join("\n").into()),
    }
}

/// The folders of each module that has several.
fn folders_of(files: &[SourceFile]) -> BTreeMap<Vec<String>, BTreeSet<String>> {
    let mut all: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let module = module_path(&file.path);
        if is_test_file(&module) {
            continue;
        }
        for length in 1..module.len() {
            if let Some([outer @ .., inner]) = module.get(..length) {
                all.entry(outer.to_vec()).or_default().insert(inner.clone());
            }
        }
    }
    all.retain(|_, folders| folders.len() > 1);
    all
}

/// A source file, with its path from the root of the repository.
struct SourceFile {
    path: PathBuf,
    text: String,
}

/// The sources in a folder of the repository.
fn read(folder: &str) -> Result<Vec<SourceFile>, Failed> {
    let mut paths = Vec::new();
    list(&crate::root().join(folder), &mut paths)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    if paths.is_empty() {
        return Err(format!("there are no sources in {folder}").into());
    }
    let mut files = Vec::new();
    for path in paths {
        files.push(SourceFile {
            text: fs::read_to_string(&path)?,
            path: path.strip_prefix(crate::root())?.to_owned(),
        });
    }
    Ok(files)
}

/// Adds all files in a folder.
pub(crate) fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failed> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The breaches in the source file `path`, as `path:line: breach`.
fn check(path: &Path, text: &str) -> Result<Vec<String>, Failed> {
    let mut breaches = Vec::new();
    let mut report = |line, what: String| {
        breaches.push(format!("{}:{line}: {what}", path.display()));
    };
    if !text.starts_with("//!") {
        report(1, "a file opens with `//!` and what it is for".to_owned());
    }
    let may_touch = COMMAND_LINES.iter().any(|folder| path.starts_with(folder));
    let is_test = may_touch || is_test_file(&module_path(path));
    for path in paths(text)? {
        if !is_test && !path.is_test && path.touches_machine() {
            report(path.line, format!("only a command line uses `{}`", path.parts.join("::")));
        }
    }
    Ok(breaches)
}

/// `a`, `b` for `src/a/b.rs`; `a` for `src/a/mod.rs`; nothing for `src/lib.rs`.
fn module_path(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let mut parts: Vec<String> = path
        .iter()
        .skip_while(|part| *part != "src")
        .skip(1)
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if parts.last().is_some_and(|part| part == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

fn is_test_file(module: &[String]) -> bool {
    module.iter().any(|name| name == "tests")
}

impl UsedPath {
    fn touches_machine(&self) -> bool {
        let mut parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        if parts.first() == Some(&"io") {
            parts.insert(0, "std");
        }
        MACHINE.iter().any(|machine| parts.starts_with(machine))
    }
}

/// A path, a text, and the breaches that the check must find.
const BREACHES: &[(&str, &str, &[&str])] = &[
    ("crates/krm/src/a.rs", "//! A.\nuse crate::files::Files;\nuse super::node;\n", &[]),
    (
        "crates/krm/src/a.rs",
        "use crate::files::Files;\n",
        &["1: a file opens with `//!` and what it is for"],
    ),
    (
        "crates/krm/src/a.rs",
        "//! A.\nuse std::{fmt, fs::File, io};\n",
        &["2: only a command line uses `std::fs::File`"],
    ),
    (
        "crates/krm/src/a.rs",
        "//! A.\nuse std::io;\nfn f() { io::stdout(); }\n",
        &["3: only a command line uses `io::stdout`"],
    ),
    ("crates/cli/src/lib.rs", "//! A.\nuse std::env;\nuse crate::function;\n", &[]),
    (
        "crates/krm/src/a.rs",
        "//! A. std::fs\n/* /* */ std::fs */\nconst A: &str = \"std::fs\"; const B: &str = r#\"\" std::fs\"#;\n\
         fn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' }\nuse std::fs;\n",
        &["5: only a command line uses `std::fs`"],
    ),
    (
        "crates/krm/src/a.rs",
        "//! A.\n#[cfg(test)]\nmod tests {\n    fn f() { std::fs::read(); }\n}\nuse std::fs;\n",
        &["6: only a command line uses `std::fs`"],
    ),
];

fn breaches_are_found() -> Result<(), Failed> {
    for (path, text, expected) in BREACHES {
        let expected: Vec<_> = expected.iter().map(|e| format!("{path}:{e}")).collect();
        let found = check(Path::new(path), text)?;
        if found != expected {
            return Err(format!("{text}\nexpected {expected:#?}\nfound {found:#?}").into());
        }
    }
    Ok(())
}

/// Tests the search for circles.
fn circles_are_found() -> Result<(), Failed> {
    let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.to_owned() };
    let find = |files: &[SourceFile]| circles::find("src", files);
    // A face uses its files, a file uses another, a folder is one room.
    let found = find(&[
        file("src/a/mod.rs", "mod b;\nmod c;\nuse b::B;\npub use c::C;\n"),
        file("src/a/b.rs", "use super::c::C;\nuse crate::d::D;\n"),
        file("src/a/c/mod.rs", "mod e;\nuse e::E;\n"),
        file("src/a/c/e.rs", "use crate::d;\n#[cfg(test)]\nmod tests { use crate::a::b::B; }\n"),
        file("src/d.rs", "fn d() {}\n"),
    ])?;
    if !found.is_empty() {
        return Err(format!("expected no circle, found {found:#?}").into());
    }
    let cases = [
        // Two files.
        ("fn c() { crate::a::b::b() }\n", "use super::c;\n", "mod b;\nmod c;\n"),
        // A file and the face of its room.
        ("pub struct C;\n", "use crate::a::C;\n", "pub use b::B;\npub use c::C;\n"),
    ];
    for (c, b, face) in cases {
        let found =
            find(&[file("src/a/mod.rs", face), file("src/a/b.rs", b), file("src/a/c.rs", c)])?;
        if found.len() != 1 {
            return Err(format!("{face}{b}{c}: expected one circle, found {found:#?}").into());
        }
    }
    Ok(())
}
