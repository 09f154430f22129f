//! Every case in `tests/cases/<area>/` is a test: the program runs in a folder with the files of the
//! case, and its output is compared byte for byte.
//!
//! A case is a text file `<case>.txtar`, in the format of Go's [`txtar`]: the arguments, then each
//! file after a line with its name.
//! ```text
//! process -f template.yaml -p NAME=web
//! -- template.yaml --
//! kind: Template
//! -- stderr.txt --
//! error: `apiVersion` is missing
//! -- exit --
//! 1
//! ```
//! A case with a file that reads badly there (one that is binary, executable or very long, or that
//! has control characters, a byte order mark or no final newline) is a folder `<case>/` of files.
//!
//! | file | contents | if it is absent |
//! |---|---|---|
//! | `args` | arguments, one a line, taken as they are (no quotes, no variables); blank lines do not count | none but those at the top of a text file, which spaces separate |
//! | `input.yaml`, `input.json` or `stdin` | standard input | empty |
//! | `uses` | files of `tests/common/` that the case has too, as lines `NAME=FILE` | none |
//! | `env` | the environment besides `PATH`, as lines `NAME=VALUE` | nothing |
//! | `expected.yaml`, `expected.json` or `expected.txt` | standard output | must be empty |
//! | `expected.html` | the same, with the style and the script of a form named instead | must be empty |
//! | `stderr.txt` | standard error | must be empty |
//! | `exit` | the exit status | 0 |
//! | `feature` | a feature of the program, or `not` and a feature, one in a line: the programs that the case is for | all, but `tests/cases/deployment` and `tests/cases/form` need that feature |
//! | `folder` | the folder of the case in which the program runs | the case itself |
//! | `expected/…` | the files in the folder `out` at the end | it writes no files |
//!
//! Other files are the case's own. A case must expect something besides success. The program runs in
//! a copy, unless the case is a folder without `uses` and `expected/`.
//!
//! [`txtar`]: https://pkg.go.dev/golang.org/x/tools/txtar

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::diff::diff;
use crate::needs;
use crate::program::{self, Output};

const CASES: &str = "tests/cases";
const EXTENSION: &str = "txtar";
const INPUTS: [&str; 3] = ["input.yaml", "input.json", "stdin"];
const OUTPUTS: [&str; 4] = ["expected.yaml", "expected.json", "expected.txt", HTML];
const HTML: &str = "expected.html";
/// How a form begins.
const DOCTYPE: &[u8] = b"<!DOCTYPE html>";
const STDERR: &str = "stderr.txt";
const EXIT: &str = "exit";
const SUCCESS: &[u8] = b"0\n";
const FILES: &str = "expected/";
const USES: &str = "uses";
const FEATURE: &str = "feature";
/// Where the program runs.
const FOLDER: &str = "folder";
/// The areas whose cases need a feature.
const DEPLOYMENT: &str = "deployment";
const FORM: &str = "form";
/// Where files are that several cases use.
const COMMON: &str = "tests/common";
/// The folder whose files are compared with [`FILES`].
const OUT: &str = "out";

pub(crate) fn trials() -> Vec<Trial> {
    // A case for a program without a feature has nothing to run with it.
    let is_of_others =
        |case: &Case| case.missing().is_some_and(|reason| reason.starts_with("needs not "));
    all().into_iter().filter(|case| !is_of_others(case)).map(trial).collect()
}

fn trial(case: Case) -> Trial {
    let reason = case.missing();
    needs::ignored(Trial::test(case.name.clone(), move || check(&case)), reason)
}

/// The cases of all areas.
pub(crate) fn all() -> Vec<Case> {
    let areas = folders(&crate::root().join(CASES)).into_iter();
    let cases = areas.flat_map(|area| {
        let paths = entries(&area);
        // An area that became empty would pass in silence.
        assert!(!paths.is_empty(), "{} has no cases", area.display());
        paths
    });
    cases.map(Case::read).collect()
}

pub(crate) struct Case {
    /// `AREA/CASE`.
    pub(crate) name: String,
    /// The text file or the folder.
    path: PathBuf,
    /// The arguments at the top of a text file.
    words: String,
    pub(crate) files: Files,
}

/// Contents of files by their paths.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

impl Case {
    /// The case `AREA/CASE`.
    pub(crate) fn named(name: &str) -> Self {
        let path = crate::root().join(CASES).join(name);
        Self::read(if path.is_dir() { path } else { path.with_extension(EXTENSION) })
    }

    /// A case that cannot be read has no files, and fails.
    fn read(path: PathBuf) -> Self {
        let (words, files) = if path.is_dir() {
            (String::new(), tree(&path).unwrap_or_default())
        } else {
            let (words, parts) = split(&fs::read(&path).unwrap_or_default());
            let count = parts.len();
            let files: Files = parts.into_iter().collect();
            let path = path.display();
            assert_eq!(files.len(), count, "{path} has files of the same name");
            (words, files)
        };
        let name = path.with_extension("");
        let name = name.strip_prefix(crate::root().join(CASES));
        Self { name: name.unwrap_or(&path).to_string_lossy().into_owned(), path, words, files }
    }

    /// The files, with the name of the case before their paths.
    pub(crate) fn into_files(self) -> Files {
        let files = self.files.into_iter();
        let files = files.map(|(path, bytes)| (format!("{}/{path}", self.name), bytes));
        files.collect()
    }

    /// The contents of a file.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    pub(crate) fn arguments(&self) -> Result<Vec<String>, String> {
        let mut arguments: Vec<_> = self.words.split_whitespace().map(str::to_owned).collect();
        arguments.extend(self.lines("args")?);
        Ok(arguments)
    }

    /// The lines of a file, without blank ones.
    fn lines(&self, name: &str) -> Result<Vec<String>, String> {
        let bytes = self.get(name).unwrap_or_default();
        let text = str::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.map(str::to_owned).collect())
    }

    /// The folder to run the program in.
    fn place(&self) -> Result<PathBuf, String> {
        let writes = self.files.keys().any(|name| name.starts_with(FILES));
        if self.path.is_dir() && !writes && self.get(USES).is_none() {
            return Ok(self.path.clone());
        }
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(CASES).join(&self.name);
        // Files of an earlier run.
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir_all(&copy).map_err(|error| format!("{}: {error}", copy.display()))?;
        write(&copy, &self.files)?;
        for (name, common) in self.used()? {
            fs::copy(&common, copy.join(&name))
                .map_err(|error| format!("{USES}: {}: {error}", common.display()))?;
        }
        Ok(copy)
    }

    /// The files of `tests/common/` that the case uses, each with its name in the case.
    fn used(&self) -> Result<Vec<(String, PathBuf)>, String> {
        let common = crate::root().join(COMMON);
        let lines = self.lines(USES)?.into_iter();
        let used = lines.map(|line| match line.split_once('=') {
            Some((name, _)) if self.get(name).is_some() => {
                Err(format!("{USES}: the case has a file {name} of its own"))
            }
            Some((name, file)) => Ok((name.to_owned(), common.join(file))),
            None => Err(format!("{USES}: expected NAME=FILE, found {line}")),
        });
        used.collect()
    }

    /// The same case with the files that it uses among its own, and another name.
    pub(crate) fn whole(&self, name: String) -> Result<Self, String> {
        let mut files = self.files.clone();
        for (name, common) in self.used()? {
            let bytes = fs::read(&common).map_err(|error| format!("{USES}: {error}"))?;
            files.insert(name, bytes);
        }
        files.remove(USES);
        files.retain(|name, _| !is_expected(name));
        Ok(Self { path: PathBuf::from(&name), name, words: self.words.clone(), files })
    }

    /// The same case with other arguments, in a folder of its own.
    pub(crate) fn asking(&self, name: &str, arguments: &[String]) -> Result<Self, String> {
        let mut case = self.whole(format!("{name}/{}", self.name))?;
        case.files.insert("args".to_owned(), arguments.join("\n").into_bytes());
        case.words.clear();
        Ok(case)
    }

    /// A case of a text as in a file.
    pub(crate) fn of(name: &str, text: &str) -> Self {
        let (words, files) = split(text.as_bytes());
        Self {
            name: name.to_owned(),
            path: PathBuf::from(name),
            words,
            files: files.into_iter().collect(),
        }
    }

    /// The same case with other files.
    pub(crate) fn with(&self, files: Files) -> Self {
        Self { name: self.name.clone(), path: self.path.clone(), words: self.words.clone(), files }
    }

    /// Runs the program in a new folder. Returns its output, and the files there at the end.
    pub(crate) fn output(&self) -> Result<(Output, Files), String> {
        let place = self.place()?;
        let output = self.run(&place)?;
        Ok((output, tree(&place)?))
    }

    /// Whether the program has the features that the case needs.
    pub(crate) fn can_run(&self) -> bool {
        self.missing().is_none()
    }

    /// The reason why the case cannot run, if there is one.
    fn missing(&self) -> Option<String> {
        let (area, _) = self.name.split_once('/').unwrap_or_default();
        let feature = String::from_utf8_lossy(self.get(FEATURE).unwrap_or_default());
        match feature.trim() {
            "" if area == DEPLOYMENT => program::needs(program::DEPLOYMENT_MANAGER),
            "" if area == FORM => program::needs(program::FORM),
            "" => None,
            features => features.lines().find_map(program::needs),
        }
    }

    /// Runs the program in `place` with the arguments and input of the case.
    fn run(&self, place: &Path) -> Result<Output, String> {
        let folder = self.lines(FOLDER)?.concat();
        let mut command = program::command(&place.join(folder));
        command.args(self.arguments()?);
        for line in self.lines("env")? {
            let Some((name, value)) = line.split_once('=') else {
                return Err(format!("env: expected NAME=VALUE, found {line}"));
            };
            command.env(name, value);
        }
        let mut inputs = INPUTS.iter().filter_map(|name| self.get(name));
        let stdin = inputs.next().unwrap_or_default().to_owned();
        if inputs.next().is_some() {
            return Err(format!("only one of {} can be there", INPUTS.join(", ")));
        }
        program::run(&mut command, stdin)
    }

    /// The files to expect after a run in `place`.
    fn found(&self, output: Output, place: &Path) -> Result<Files, String> {
        let stdout = if output.stdout.starts_with(DOCTYPE) {
            without_assets(&output.stdout)?
        } else {
            output.stdout
        };
        let name = OUTPUTS.into_iter().find(|name| self.get(name).is_some());
        let name = name.unwrap_or_else(|| output_name(&stdout));
        let written = tree(&place.join(OUT))?.into_iter();
        let written = written.map(|(name, bytes)| {
            let bytes = without_salt(&name, &bytes);
            (format!("{FILES}{name}"), bytes)
        });
        let streams = [(name, stdout), (STDERR, output.stderr)].into_iter();
        let streams = streams.filter(|(_, bytes)| !bytes.is_empty());
        let exit = (EXIT, format!("{}\n", output.exit).into_bytes());
        let all = streams.chain([exit]).map(|(name, bytes)| (name.to_owned(), bytes));
        Ok(all.chain(written).collect())
    }

    /// Makes the case expect what was found.
    fn update(&self, mut found: Files) -> Result<(), Failed> {
        if found.len() > 1 && found.get(EXIT).is_some_and(|exit| exit == SUCCESS) {
            found.remove(EXIT);
        }
        if self.path.is_dir() {
            for name in self.files.keys().filter(|name| is_expected(name)) {
                fs::remove_file(self.path.join(name))?;
            }
            return Ok(write(&self.path, &found)?);
        }
        let (words, mut parts) = split(&fs::read(&self.path)?);
        parts.retain(|(name, _)| !is_expected(name));
        parts.extend(found);
        let mut text = words.clone().into_bytes();
        for (name, bytes) in &parts {
            text.extend(format!("-- {name} --\n").into_bytes());
            text.extend(bytes);
        }
        if split(&text) != (words, parts) {
            return Err("a text file cannot hold this: make the case a folder".into());
        }
        Ok(fs::write(&self.path, text)?)
    }
}

/// Whether `UPDATE=1` writes the file.
fn is_expected(name: &str) -> bool {
    OUTPUTS.contains(&name) || [STDERR, EXIT].contains(&name) || name.starts_with(FILES)
}

/// The top of a text file, and its files in their order.
fn split(text: &[u8]) -> (String, Vec<(String, Vec<u8>)>) {
    let mut words = Vec::new();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let name = str::from_utf8(line).ok();
        let name = name.and_then(|line| line.strip_prefix("-- ")?.strip_suffix(" --\n"));
        match (name, files.last_mut()) {
            (Some(name), _) => files.push((name.to_owned(), Vec::new())),
            (None, Some((_, bytes))) => bytes.extend(line),
            (None, None) => words.extend(line),
        }
    }
    (String::from_utf8_lossy(&words).into_owned(), files)
}

/// The files below a folder, with the files of a case in place of its text file.
pub(crate) fn files(folder: &Path) -> Files {
    let mut files = Files::new();
    for (path, bytes) in tree(folder).unwrap_or_default() {
        let path = format!("{}/{path}", folder.display());
        if path.ends_with(EXTENSION) {
            let parts = split(&bytes).1.into_iter();
            files.extend(parts.map(|(name, bytes)| (format!("{path}/{name}"), bytes)));
        } else {
            files.insert(path, bytes);
        }
    }
    files
}

/// The folders in `folder`, sorted.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut folders = entries(folder);
    folders.retain(|path| path.is_dir());
    folders
}

/// The files and folders in `folder`, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn check(case: &Case) -> Result<(), Failed> {
    let place = case.place()?;
    let found = case.found(case.run(&place)?, &place)?;
    if crate::update() {
        return case.update(found);
    }
    let files = case.files.iter().filter(|(name, _)| is_expected(name));
    let mut expected: BTreeMap<_, _> = files.collect();
    if expected.is_empty() {
        let names = OUTPUTS.join(", ");
        let message = format!("nothing is expected: write {names}, {STDERR} or {EXIT}");
        return Err(format!("{message}, or let UPDATE=1 do it").into());
    }
    let (exit, success) = (EXIT.to_owned(), SUCCESS.to_vec());
    expected.entry(&exit).or_insert(&success);
    let mut problems = Vec::new();
    let names: BTreeSet<_> = expected.keys().copied().chain(found.keys()).collect();
    for name in names {
        let (old, new) = (expected.get(name).copied(), found.get(name));
        let what = match (old, new) {
            (Some(_), None) => " is missing",
            (None, Some(_)) => " is not expected",
            _ => "",
        };
        let [old, new] = [old, new].map(|file| file.map(Vec::as_slice).unwrap_or_default());
        let diff = diff(old, new);
        if !what.is_empty() || diff.is_some() {
            let diff = diff.unwrap_or_default();
            problems.push(format!("{name}{what}:\n{diff}"));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let path = case.path.strip_prefix(crate::root()).unwrap_or(&case.path);
    let (path, problems) = (path.display(), problems.concat());
    Err(format!("{path}\n{problems}(UPDATE=1 accepts what was found)").into())
}

/// A form with the names of its style and its script in place of their texts and hashes, so that
/// a change of these changes no case.
fn without_assets(html: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = String::from_utf8_lossy(html).into_owned();
    let assets =
        [("controls.js", None), ("style.css", Some("style-src")), ("form.js", Some("script-src"))];
    for (name, directive) in assets {
        let path = crate::root().join("crates/authoring/src/form").join(name);
        let asset = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        if text.matches(&asset).count() != 1 {
            return Err(format!("the output does not contain {name} once"));
        }
        let Some(directive) = directive else {
            // It is part of the script.
            text = text.replace(&asset, "");
            continue;
        };
        text = text.replace(&asset, name);
        let start = format!("{directive} 'sha256-");
        let hash = text.split_once(&start).and_then(|(_, rest)| rest.split_once('\''));
        let Some((hash, _)) = hash else {
            return Err(format!("the output has no hash of {name}"));
        };
        text = text.replace(&format!("'sha256-{hash}'"), "'sha256-…'");
    }
    Ok(text.into_bytes())
}

/// A file that was written, without what is random: the salt, and digests with it.
fn without_salt(name: &str, bytes: &[u8]) -> Vec<u8> {
    const SALTED: &[u8] = b"# salted ";
    if name == ".krm-template.salt" {
        return b"random\n".to_vec();
    }
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| match line.strip_prefix(SALTED) {
        Some(entry) if name == ".krm-template.sha256" => {
            [SALTED, entry.get(64..).unwrap_or_default()].concat()
        }
        _ => line.to_vec(),
    });
    lines.flatten().collect()
}

/// The files below a folder, by their paths in it.
fn tree(folder: &Path) -> Result<Files, String> {
    let mut files = Files::new();
    for path in entries(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let below = tree(&path)?.into_iter();
            files.extend(below.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            files.insert(name.into_owned(), bytes);
        }
    }
    Ok(files)
}

fn write(folder: &Path, files: &Files) -> Result<(), String> {
    for (name, bytes) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
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
