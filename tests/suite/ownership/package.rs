//! kpt packages as data: the text of each file by its path, and edits of single lines.
//!
//! All objects are written in block style with two spaces, so that a line can be found and changed
//! without a parser: what is tested must not be judged by its own reader.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The text of each file by its path, relative to the package at the top.
pub(super) type Files = BTreeMap<String, String>;

/// The annotations that say who created an object.
pub(super) const INSTANCE: &str = "template.krm.dev/instance";
pub(super) const ORIGIN: &str = "template.krm.dev/origin";
/// The label of each created object with the functionConfig and the object that create it: `f1.o2`.
pub(super) const STAMP: &str = "made-by";
/// The label with the namespace and the name that expansion gives it.
pub(super) const NAMED: &str = "named";

/// The directory of a path; empty at the top.
pub(super) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(super) fn join(directory: &str, path: &str) -> String {
    match (directory, path) {
        ("", path) => path.to_owned(),
        (directory, "") => directory.to_owned(),
        _ => format!("{directory}/{path}"),
    }
}

/// The path below `folder`, if it is there.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() || path == folder {
        return Some(path.strip_prefix(folder).unwrap_or(path));
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// The folders that have a Kptfile, each before those below it.
pub(super) fn packages(files: &Files) -> BTreeSet<String> {
    let paths = files.keys();
    let kptfiles = paths.filter(|path| path.rsplit('/').next() == Some("Kptfile"));
    kptfiles.map(|path| directory(path).to_owned()).collect()
}

/// The package that a file belongs to.
pub(super) fn package_of<'p>(packages: &BTreeSet<String>, path: &'p str) -> &'p str {
    let mut folder = directory(path);
    while !folder.is_empty() && !packages.contains(folder) {
        folder = directory(folder);
    }
    folder
}

/// The objects of a file.
pub(super) fn documents(text: &str) -> Vec<String> {
    text.split("---\n").map(str::to_owned).collect()
}

pub(super) fn file(documents: &[String]) -> String {
    documents.join("---\n")
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines below the one that reads `header`.
fn section(lines: &[&str], within: Range<usize>, header: &str) -> Option<Range<usize>> {
    let all = lines.get(within.clone())?;
    let start = all.iter().position(|line| *line == header)? + 1;
    let rest = all.get(start..)?.iter();
    let length = rest.take_while(|line| depth(line) > depth(header)).count();
    Some(within.start + start..within.start + start + length)
}

/// The key and the value of a line, without quotes and comment.
pub(super) fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().trim_start_matches("- ").split_once(": ")?;
    let value = value.split(" #").next().unwrap_or(value);
    Some((key, value.trim().trim_matches(['\'', '"'])))
}

/// One object, or another YAML document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'t>(pub(super) &'t str);

impl<'t> Object<'t> {
    fn lines(self) -> Vec<&'t str> {
        self.0.lines().collect()
    }

    /// The value of `key` in the lines at a path of headers.
    pub(super) fn get(self, headers: &[&str], key: &str) -> Option<&'t str> {
        let lines = self.lines();
        let mut within = 0..lines.len();
        for header in headers {
            within = section(&lines, within, header)?;
        }
        let width = 2 * headers.len();
        let mut entries = lines.get(within)?.iter().filter(|l| depth(l) == width);
        entries
            .find_map(|line| entry(line).filter(|(found, _)| *found == key))
            .map(|(_, value)| value)
    }

    pub(super) fn kind(self) -> &'t str {
        self.get(&[], "kind").unwrap_or_default()
    }

    pub(super) fn name(self) -> &'t str {
        self.get(&["metadata:"], "name").unwrap_or_default()
    }

    pub(super) fn annotation(self, key: &str) -> Option<&'t str> {
        self.get(&["metadata:", "  annotations:"], key)
    }

    pub(super) fn label(self, key: &str) -> Option<&'t str> {
        self.get(&["metadata:", "  labels:"], key)
    }

    pub(super) fn stamp(self) -> Option<&'t str> {
        self.label(STAMP)
    }

    pub(super) fn named(self) -> &'t str {
        self.label(NAMED).unwrap_or_default()
    }

    pub(super) fn is_marked(self) -> bool {
        self.annotation(INSTANCE).is_some()
    }

    pub(super) fn is_local(self) -> bool {
        self.annotation("config.kubernetes.io/local-config").is_some() || self.kind() == "Kptfile"
    }

    /// Whether it is a functionConfig or a Template.
    pub(super) fn is_ours(self) -> bool {
        ["Template", "TemplateInstance"].contains(&self.kind())
    }

    /// The generated value in a created object.
    pub(super) fn password(self) -> Option<&'t str> {
        if self.is_ours() {
            return None;
        }
        let mut lines = self.0.lines();
        while let Some(line) = lines.next() {
            match entry(line) {
                Some(("password", value)) => return Some(value),
                Some(("name", "PASSWORD")) => return Some(entry(lines.next()?)?.1),
                _ => {}
            }
        }
        None
    }

    /// What was written by hand and stays whatever the Template says.
    pub(super) fn hands(self) -> BTreeSet<&'t str> {
        let is_word = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
        let words = self.0.split(is_word);
        words.filter(|word| word.starts_with("hand-")).collect()
    }

    /// The object with a line at the end of the lines at a path of headers, which are added.
    pub(super) fn with(self, headers: &[&str], line: &str) -> String {
        let mut lines = self.lines();
        let mut within = 0..lines.len();
        let mut added = Vec::new();
        for header in headers {
            match section(&lines, within.clone(), header) {
                Some(found) if added.is_empty() => within = found,
                _ => added.push(*header),
            }
        }
        added.push(line);
        lines.splice(within.end..within.end, added);
        text(&lines)
    }

    /// The object without the annotations whose key is chosen.
    pub(super) fn without_annotations(self, is_dropped: impl Fn(&str) -> bool) -> String {
        let mut lines = self.lines();
        let metadata = section(&lines, 0..lines.len(), "metadata:").unwrap_or_default();
        let Some(found) = section(&lines, metadata, "  annotations:") else {
            return self.0.to_owned();
        };
        let is_kept = |line: &&str| !entry(line).is_some_and(|(key, _)| is_dropped(key));
        let kept: Vec<&str> = lines.drain(found.clone()).filter(is_kept).collect();
        let at = if kept.is_empty() { found.start - 1 } else { found.start };
        lines.splice(at..found.start, kept);
        text(&lines)
    }

    /// The object with `change` applied to the first line that it returns something for.
    pub(super) fn with_line(self, change: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut lines = self.lines();
        let mut changed =
            lines.iter().enumerate().filter_map(|(at, line)| Some((at, change(line)?)));
        let (at, line) = changed.next()?;
        lines.splice(at..=at, [line.as_str()]);
        Some(text(&lines))
    }

    pub(super) fn renamed(self, name: &str) -> String {
        let renamed =
            self.with_line(|line| line.starts_with("  name: ").then(|| format!("  name: {name}")));
        renamed.unwrap_or_else(|| self.0.to_owned())
    }
}

pub(super) fn text(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// A function of a Kptfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// Ours, with a functionConfig in a file, as it is written.
    Config(String),
    /// Ours, with values in the Kptfile as flow mapping, and its name.
    Values(String, Option<String>),
    /// Another program, with its arguments.
    Other(String),
}

impl Function {
    /// Reads the line of a Kptfile.
    fn read(line: &str) -> Option<Self> {
        let line = line.strip_prefix("  - {exec: ")?.strip_suffix('}')?;
        let Some(rest) = line.strip_prefix("krm-template, ") else {
            return Some(Self::Other(line.to_owned()));
        };
        if let Some(path) = rest.strip_prefix("configPath: ") {
            return Some(Self::Config(path.to_owned()));
        }
        let (values, name) = rest.strip_prefix("configMap: {")?.split_once('}')?;
        let name = name.strip_prefix(", name: ").map(str::to_owned);
        Some(Self::Values(values.to_owned(), name))
    }

    pub(super) fn line(&self) -> String {
        match self {
            Self::Config(path) => format!("  - {{exec: krm-template, configPath: {path}}}"),
            Self::Values(values, None) => {
                format!("  - {{exec: krm-template, configMap: {{{values}}}}}")
            }
            Self::Values(values, Some(name)) => {
                format!("  - {{exec: krm-template, configMap: {{{values}}}, name: {name}}}")
            }
            Self::Other(command) => format!("  - {{exec: {command}}}"),
        }
    }

    /// The path of the functionConfig in the package.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::Config(path) => Some(path.strip_prefix("./").unwrap_or(path)),
            _ => None,
        }
    }

    /// One of the values in the Kptfile.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let Self::Values(values, _) = self else {
            return None;
        };
        let mut entries = values.split(", ").filter_map(entry);
        entries.find_map(|(found, value)| (found == key).then_some(value))
    }
}

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: package\n  annotations:\n    \
                       config.kubernetes.io/local-config: \"true\"\n";

/// The text of a Kptfile.
pub(super) fn kptfile(functions: &[Function]) -> String {
    let lines: Vec<String> = functions.iter().map(Function::line).collect();
    if lines.is_empty() {
        return KPTFILE.to_owned();
    }
    format!("{KPTFILE}pipeline:\n  mutators:\n{}\n", lines.join("\n"))
}

/// The functions of a package.
pub(super) fn functions(files: &Files, package: &str) -> Vec<Function> {
    let text = files.get(&join(package, "Kptfile"));
    let lines = text.into_iter().flat_map(|text| text.lines());
    lines.filter_map(Function::read).collect()
}

/// One object that a functionConfig creates, as the labels of the object say it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Creation {
    pub(super) stamp: String,
    pub(super) named: String,
    pub(super) kind: String,
    pub(super) has_password: bool,
}

/// The objects that a functionConfig or a Template creates. `values` overrides its parameters.
pub(super) fn creations(template: &str, values: &Function) -> Vec<Creation> {
    let lines: Vec<&str> = template.lines().collect();
    let own = |name: &str| {
        let at = lines.iter().position(|line| entry(line) == Some(("name", name)))?;
        lines.get(at + 1).and_then(|line| entry(line)).map(|(_, value)| value)
    };
    let resolve = |text: &str| {
        let mut text = text.to_owned();
        for name in ["NAME", "WHO"] {
            let value = values.value(name).or_else(|| own(name)).unwrap_or_default();
            text = text.replace(&format!("$({name})"), value);
        }
        text
    };
    let mut made: Vec<Creation> = Vec::new();
    let mut kind = "";
    for line in &lines {
        match entry(line) {
            Some(("kind", found)) => kind = found,
            Some((STAMP, stamp)) => made.push(Creation {
                stamp: resolve(stamp),
                named: String::new(),
                kind: kind.to_owned(),
                has_password: false,
            }),
            Some((NAMED, named)) => {
                if let Some(last) = made.last_mut() {
                    last.named = resolve(named);
                }
            }
            Some((_, "$(PASSWORD)")) => {
                if let Some(last) = made.last_mut() {
                    last.has_password = true;
                }
            }
            _ => {}
        }
    }
    made
}

/// What a function of `package` creates, from the files as they are.
pub(super) fn created_by(files: &Files, package: &str, function: &Function) -> Vec<Creation> {
    match function {
        Function::Other(_) => Vec::new(),
        Function::Config(_) => {
            let path = function.path().map(|path| join(package, path));
            let config = path.and_then(|path| files.get(&path));
            config.map(|text| creations(text, function)).unwrap_or_default()
        }
        Function::Values(..) => {
            let site = files.get(&join(package, "site.yaml"));
            site.map(|text| creations(text, function)).unwrap_or_default()
        }
    }
}

/// A text with `first` before its first line, and `rest` before the others.
pub(super) fn indented(text: &str, first: &str, rest: &str) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| [if at == 0 { first } else { rest }, line, "\n"].concat()).collect()
}
