//! Holds the layers and the rooms: which module may use which, that files of a room do not import
//! one another in circles, and that only `cli` touches the machine.

mod circles;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use paths::{UsedPath, paths};

/// From the bottom up. A module uses those of lower layers, never those of its own.
const LAYERS: &[&[&str]] = &[
    &["files", "threads"],
    &["krm"],
    &["template", "composition", "deployment_manager", "report"],
    &["plan", "export", "merge", "lint", "schema", "form"],
    &["function"],
    &["cli", "testing"],
];

/// The folders of each module that has several, from the bottom up. A folder uses those before it.
const ROOMS: &[(&str, &[&str])] = &[
    (
        "crates/yaml/src",
        &["source", "scalar", "read", "write", "edit"],
    ),
    ("crates/yaml/src/scalar", &["decode", "write"]),
    (
        SERVER,
        &[
            "store",
            "wire",
            "ops",
            "object",
            "patch",
            "process",
            "pages",
            "auth",
            "apply",
            "deployments",
            "serve",
            "client",
            "testing",
        ],
    ),
    ("crates/server/src/serve", &["openapi", "deployments", "ui"]),
    (
        "src/template",
        &["values", "declare", "resolve", "expand", "show"],
    ),
    (
        "src/composition",
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
            "run",
        ],
    ),
    ("src/export", &["fields", "strip", "parameters"]),
    (
        "src/deployment_manager",
        &["imports", "schema", "jinja", "python", "expand", "objects"],
    ),
    ("src/deployment_manager/jinja", &["filters", "rewrite"]),
    (
        "src/cli",
        &[
            "expansion",
            "process",
            "explain",
            "build",
            "export",
            "validate",
            "deployment",
        ],
    ),
];

/// What only `cli` may use.
const MACHINE: &[&[&str]] = &[
    &["clap"],
    &["walkdir"],
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
        Trial::test("architecture/sources_keep_the_layers", sources),
        Trial::test("architecture/rooms_use_lower_rooms", rooms_use_lower_rooms),
        Trial::test("architecture/no_room_has_a_circle", no_circles),
        Trial::test("architecture/circles_are_found", circles_are_found),
        Trial::test("architecture/breaches_are_found", breaches_are_found),
    ]
}

/// The sources of the crates, by the folder they are in.
const CRATES: &[&str] = &["src", "crates/yaml/src", SERVER];

/// The server's own, which may use files, the environment and clap.
const SERVER: &str = "crates/server/src";

fn sources() -> Result<(), Failed> {
    let mut breaches = Vec::new();
    for folder in CRATES {
        for file in read(folder)? {
            breaches.extend(check(&file.path, &file.text)?);
        }
    }
    match breaches.as_slice() {
        [] => Ok(()),
        breaches => Err(breaches.join("\n").into()),
    }
}

fn no_circles() -> Result<(), Failed> {
    let mut circles = Vec::new();
    for folder in CRATES {
        circles.extend(circles::find(folder, &read(folder)?)?);
    }
    match circles.as_slice() {
        [] => Ok(()),
        circles => Err(circles.join("\n").into()),
    }
}

fn rooms_use_lower_rooms() -> Result<(), Failed> {
    let mut breaches = Vec::new();
    for folder in CRATES {
        let files = read(folder)?;
        let arrows = circles::rooms(&files)?;
        for (module, folders) in folders_of(&files) {
            if module.is_empty() && *folder == "src" {
                // Those are the layers.
                continue;
            }
            let name = [&[(*folder).to_owned()], module.as_slice()]
                .concat()
                .join("/");
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
                if level(from)
                    .zip(level(to))
                    .is_some_and(|(from, to)| from < to)
                {
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

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failed> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
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
    let is_engine = path.starts_with("src");
    let is_server = path.starts_with(SERVER);
    let module = module_path(path);
    let top = module.first().map_or("lib", String::as_str);
    if is_engine && !["lib", "main"].contains(&top) && layer(top).is_none() {
        report(
            1,
            format!("module `{top}` has no layer; give it one in {}", file!()),
        );
    }
    for path in paths(text)? {
        if is_engine
            && let Some(used) = path.top_module(&module)
            && !may_use(top, used)
        {
            report(path.line, format!("`{top}` must not use `{used}`"));
        }
        let may_touch = is_engine && top == "cli" || is_server;
        if !may_touch && !path.is_test && !is_test_file(&module) && path.touches_machine() {
            report(
                path.line,
                format!("only `cli` uses `{}`", path.parts.join("::")),
            );
        }
    }
    Ok(breaches)
}

/// `krm`, `names` for `src/krm/names.rs`; `krm` for `src/krm/mod.rs`; nothing for `src/lib.rs`.
fn module_path(path: &Path) -> Vec<String> {
    let folder = CRATES.iter().find(|folder| path.starts_with(folder));
    let path = folder.and_then(|folder| path.strip_prefix(folder).ok());
    let path = path.unwrap_or(Path::new("")).with_extension("");
    let mut parts: Vec<String> = path
        .iter()
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

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn may_use(module: &str, used: &str) -> bool {
    match module {
        // Declares and re-exports all of them.
        "lib" => true,
        "main" => used == "cli",
        _ => module == used || layer(used) < layer(module),
    }
}

impl UsedPath {
    /// The module of the engine that the path leads to from inside `module`.
    fn top_module(&self, module: &[String]) -> Option<&str> {
        let used = match self.parts.first()?.as_str() {
            "crate" | "krm_template" => self.parts.get(1),
            // In a test module written in place `super` is the module of the file.
            "super" if !self.is_test => {
                let up = self.parts.iter().take_while(|part| *part == "super");
                let up = up.count();
                self.parts.get(up).filter(|_| up >= module.len())
            }
            _ => None,
        };
        // Items at the crate's root belong to no layer.
        used.map(String::as_str)
            .filter(|used| layer(used).is_some())
    }

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
    (
        "src/krm/names.rs",
        "//! A.\nuse crate::files::Files;\nuse super::node;\n",
        &[],
    ),
    (
        "src/krm/names.rs",
        "use crate::files::Files;\n",
        &["1: a file opens with `//!` and what it is for"],
    ),
    (
        "src/krm/names.rs",
        "//! A.\nuse crate::report::Item;\n",
        &["2: `krm` must not use `report`"],
    ),
    (
        "src/krm/names.rs",
        "//! A.\nuse crate::{\n    files::{self, Result},\n    template::model::{A, B},\n};\n",
        &[
            "4: `krm` must not use `template`",
            "4: `krm` must not use `template`",
        ],
    ),
    (
        "src/krm/mod.rs",
        "//! A.\nuse super::report;\n",
        &["2: `krm` must not use `report`"],
    ),
    (
        "src/krm/a/b.rs",
        "//! A.\nuse super::super::super::cli;\n",
        &["2: `krm` must not use `cli`"],
    ),
    (
        "src/template/a.rs",
        "//! A.\nfn f() { crate::composition::g() }\n",
        &["2: `template` must not use `composition`"],
    ),
    (
        "src/report/mod.rs",
        "//! A.\nuse crate::krm::Item;\nuse crate::template::T;\n",
        &["3: `report` must not use `template`"],
    ),
    (
        "src/main.rs",
        "//! A.\nuse krm_template::{cli, function};\n",
        &["2: `main` must not use `function`"],
    ),
    (
        "src/odd.rs",
        "//! A.\n",
        &["1: module `odd` has no layer; give it one in tests/suite/architecture.rs"],
    ),
    (
        "src/krm/a.rs",
        "//! A.\nuse std::{fmt, fs::File, io};\n",
        &["2: only `cli` uses `std::fs::File`"],
    ),
    (
        "src/krm/a.rs",
        "//! A.\nuse std::io;\nfn f() { io::stdout(); }\n",
        &["3: only `cli` uses `io::stdout`"],
    ),
    (
        "src/main.rs",
        "//! A.\nuse clap::Parser;\n",
        &["2: only `cli` uses `clap::Parser`"],
    ),
    (
        "src/cli/mod.rs",
        "//! A.\nuse clap::Parser;\nuse std::env;\nuse crate::function;\n",
        &[],
    ),
    (
        "src/krm/a.rs",
        "//! A. crate::cli\n/* /* */ crate::cli */\nconst A: &str = \"crate::cli\"; const B: &str = r#\"\" crate::cli\"#;\n\
         fn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' }\nuse std::fs;\n",
        &["5: only `cli` uses `std::fs`"],
    ),
    (
        "src/krm/a.rs",
        "//! A.\n#[cfg(test)]\nmod tests {\n    use super::cli;\n    fn f() { std::fs::read(); }\n    use crate::cli;\n}\nuse std::fs;\n",
        &[
            "6: `krm` must not use `cli`",
            "8: only `cli` uses `std::fs`",
        ],
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
    let file = |path: &str, text: &str| SourceFile {
        path: path.into(),
        text: text.to_owned(),
    };
    let find = |files: &[SourceFile]| circles::find("src", files);
    // A face uses its files, a file uses another, a folder is one room.
    let found = find(&[
        file("src/a/mod.rs", "mod b;\nmod c;\nuse b::B;\npub use c::C;\n"),
        file("src/a/b.rs", "use super::c::C;\nuse crate::d::D;\n"),
        file("src/a/c/mod.rs", "mod e;\nuse e::E;\n"),
        file(
            "src/a/c/e.rs",
            "use crate::d;\n#[cfg(test)]\nmod tests { use crate::a::b::B; }\n",
        ),
        file("src/d.rs", "fn d() {}\n"),
    ])?;
    if !found.is_empty() {
        return Err(format!("expected no circle, found {found:#?}").into());
    }
    let cases = [
        // Two files.
        (
            "fn c() { crate::a::b::b() }\n",
            "use super::c;\n",
            "mod b;\nmod c;\n",
        ),
        // A file and the face of its room.
        (
            "pub struct C;\n",
            "use crate::a::C;\n",
            "pub use b::B;\npub use c::C;\n",
        ),
    ];
    for (c, b, face) in cases {
        let found = find(&[
            file("src/a/mod.rs", face),
            file("src/a/b.rs", b),
            file("src/a/c.rs", c),
        ])?;
        if found.len() != 1 {
            return Err(format!("{face}{b}{c}: expected one circle, found {found:#?}").into());
        }
    }
    Ok(())
}
