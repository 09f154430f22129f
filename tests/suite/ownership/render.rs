//! `kpt fn render` by its contract: what kpt 1.0.0-beta.56 sends to a function, and what it does with
//! the answer.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use krm_template::function::{self, Environment};
use krm_yaml::diagnostic::Severity;
use krm_yaml::source::Source;

use super::judge::{Failure, Run};
use super::package::{
    Files, Function, Object, below, directory, documents, file, functions, indented, join,
    package_of, packages,
};

/// An object as kpt keeps it between functions.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Relative to the package at the top.
    pub(super) package: String,
    /// Relative to its package.
    pub(super) path: String,
    pub(super) index: usize,
    /// Its number in the list that was sent; none for a new one.
    pub(super) id: Option<usize>,
    /// The object without the annotations of kpt.
    pub(super) text: String,
}

/// A message of a function.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) severity: Severity,
    pub(super) text: String,
}

/// A package to render, and what is known besides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kpt<'k> {
    pub(super) files: &'k Files,
    /// Where the package at the top is on the machine.
    pub(super) root: &'k str,
    pub(super) seed: Option<&'static str>,
}

/// The reason why a render ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// A function fails, and no file is written.
    Refused(String),
    /// A function does what it must not.
    Wrong(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Wrong(failure)
    }
}

/// Decides whether a run of our function is right.
pub(super) type Judge = fn(&Run<'_>) -> Result<(), Failure>;

impl Kpt<'_> {
    /// The files after `kpt fn render PACKAGE`.
    pub(super) fn render(self, package: &str, judge: Judge) -> Result<Files, Stop> {
        let items = self.hydrate(package, judge)?;
        let packages = packages(self.files);
        let is_rendered =
            |path: &str| is_krm(path) && below(package_of(&packages, path), package).is_some();
        let mut files = self.files.clone();
        files.retain(|path, _| !is_rendered(path));
        let mut written: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        for item in items {
            let path = join(&item.package, &item.path);
            written.entry(path).or_default().push(item);
        }
        for (path, mut items) in written {
            items.sort_by_key(|item| item.index);
            let texts: Vec<String> = items.into_iter().map(|item| item.text).collect();
            files.insert(path, file(&texts));
        }
        Ok(files)
    }

    /// The items of a package and those below it, which are rendered first.
    fn hydrate(self, package: &str, judge: Judge) -> Result<Vec<Item>, Stop> {
        let packages = packages(self.files);
        let mut items = Vec::new();
        for sub in &packages {
            let is_child =
                !sub.is_empty() && sub != package && package_of(&packages, sub) == package;
            if is_child {
                items.extend(self.hydrate(sub, judge)?);
            }
        }
        let mut paths: Vec<&String> = self.files.keys().collect();
        paths.retain(|path| package_of(&packages, path) == package && is_krm(path));
        paths.sort_by_key(|path| path.split('/').collect::<Vec<_>>());
        for path in paths {
            let text = self.files.get(path).map_or("", String::as_str);
            let texts = documents(text).into_iter().enumerate();
            items.extend(texts.map(|(index, text)| Item {
                package: package.to_owned(),
                path: below(path, package).unwrap_or(path).to_owned(),
                index,
                id: None,
                text,
            }));
        }
        for function in functions(self.files, package) {
            self.check_config(package, &function)?;
            items = match &function {
                Function::Other(command) => later(command, items),
                _ => self.run(package, &function, items, judge)?,
            };
        }
        Ok(items)
    }

    /// kpt reads the functionConfigs first, as they are in the files.
    fn check_config(self, package: &str, function: &Function) -> Result<(), Stop> {
        let Some(path) = function.path() else {
            return Ok(());
        };
        let text = self.files.get(&join(package, path));
        match text.map(|text| documents(text).len()) {
            Some(1) => Ok(()),
            _ => Err(Stop::Refused("Kptfile is invalid".to_owned())),
        }
    }

    /// Runs our function on all items.
    fn run(
        self,
        package: &str,
        function: &Function,
        mut items: Vec<Item>,
        judge: Judge,
    ) -> Result<Vec<Item>, Stop> {
        for (at, item) in items.iter_mut().enumerate() {
            item.id = Some(at + 1);
        }
        let input = self.list(package, function, &items);
        let environment = Environment {
            seed: self.seed.map(|seed| seed.as_bytes().to_vec()),
            ..Environment::default()
        };
        let run = || function::run(&Source::new("stdin", input.as_str()), &environment);
        let output = catch_unwind(AssertUnwindSafe(run));
        let output = output.map_err(|_| Failure::new("a panic", input.as_str()))?;
        let messages: Vec<Message> = output
            .diagnostics
            .iter()
            .map(|diagnostic| {
                let object = diagnostic.object.as_ref().map(|object| object.name.as_str());
                let field = diagnostic.field.as_deref();
                let hints = diagnostic.hints.iter().map(String::as_str);
                let parts =
                    [Some(diagnostic.message.as_str()), object, field].into_iter().flatten();
                Message {
                    severity: diagnostic.severity,
                    text: parts.chain(hints).collect::<Vec<_>>().join(" | "),
                }
            })
            .collect();
        if output.diagnostics.has_errors() {
            let errors = messages.iter().filter(|m| m.severity == Severity::Error);
            let errors: Vec<&str> = errors.map(|message| message.text.as_str()).collect();
            return Err(Stop::Refused(errors.join("; ")));
        }
        let after = read_list(&output.text(), package, self.root);
        judge(&Run {
            files: self.files,
            package,
            function,
            before: &items,
            after: &after,
            messages: &messages,
        })?;
        Ok(after)
    }

    /// The ResourceList that kpt sends.
    fn list(self, package: &str, function: &Function, items: &[Item]) -> String {
        let mut list =
            String::from("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n");
        let mut config = String::new();
        for item in items {
            let text = self.annotated(item);
            if item.package == package && function.path() == Some(item.path.as_str()) {
                // Only a clean path is that of an item.
                let is_clean = *function == Function::Config(item.path.clone());
                config = if is_clean { text.clone() } else { item.text.clone() };
            }
            list.push_str(&indented(&text, "- ", "  "));
        }
        if let Function::Values(values, _) = function {
            config = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata: {{{values}}}\n"
            );
        }
        list.push_str("functionConfig:\n");
        list.push_str(&indented(&config, "  ", "  "));
        list
    }

    fn annotated(self, item: &Item) -> String {
        let id = item.id.unwrap_or_default();
        let package = join(self.root, &item.package);
        let annotations = [
            format!("config.kubernetes.io/index: '{}'", item.index),
            format!("config.kubernetes.io/path: '{}'", item.path),
            format!("internal.config.kubernetes.io/index: '{}'", item.index),
            format!("internal.config.kubernetes.io/package-path: '{package}'"),
            format!("internal.config.kubernetes.io/path: '{}'", item.path),
            "internal.config.kubernetes.io/seqindent: 'compact'".to_owned(),
            format!("internal.config.kubernetes.io/annotations-migration-resource-id: '{id}'"),
            format!("internal.config.kubernetes.io/id: '{id}'"),
            format!("config.k8s.io/id: '{id}'"),
        ];
        annotations.iter().fold(item.text.clone(), |text, annotation| {
            Object(&text).with(&["metadata:", "  annotations:"], &format!("    {annotation}"))
        })
    }
}

fn is_krm(path: &str) -> bool {
    Path::new(path).extension() == Some("yaml".as_ref())
        || path.rsplit('/').next() == Some("Kptfile")
}

fn is_kpts(annotation: &str) -> bool {
    let own = ["config.kubernetes.io/index", "config.kubernetes.io/path", "config.k8s.io/id"];
    own.contains(&annotation) || annotation.starts_with("internal.config.kubernetes.io/")
}

/// The items of the ResourceList that a function of `package` returns.
fn read_list(list: &str, package: &str, root: &str) -> Vec<Item> {
    let lines = list.lines().skip_while(|line| *line != "items:").skip(1);
    let mut texts: Vec<String> = Vec::new();
    for line in lines.take_while(|line| line.starts_with(['-', ' ', '#'])) {
        let line = match line.strip_prefix("- ") {
            Some(line) => {
                texts.push(String::new());
                line
            }
            None => line.strip_prefix("  ").unwrap_or(line),
        };
        if let Some(text) = texts.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    let items = texts.iter().map(|text| {
        let object = Object(text);
        let get = |key: &str| object.annotation(&format!("internal.config.kubernetes.io/{key}"));
        let legacy = |key: &str| object.annotation(&format!("config.kubernetes.io/{key}"));
        let of = get("package-path").and_then(|path| below(path, root)).unwrap_or(package);
        let path = get("path").or_else(|| legacy("path")).unwrap_or("without-a-path.yaml");
        let index = get("index").or_else(|| legacy("index"));
        Item {
            package: of.to_owned(),
            path: path.to_owned(),
            index: index.and_then(|index| index.parse().ok()).unwrap_or_default(),
            id: get("id").and_then(|id| id.parse().ok()),
            text: object.without_annotations(is_kpts),
        }
    });
    items.collect()
}

/// The program that stands for functions of others; the name of its file, and what it does with one
/// object. `later` does the same.
pub(super) const LATER: &str = r#"import re, sys
mode, what = sys.argv[1:3]
head, rest = sys.stdin.read().split('items:\n', 1)
items, tail = (rest.split('\nfunctionConfig:', 1) + [''])[:2]
out = []
for item in re.split(r'(?m)^(?=- )', items):
    if item.strip() and 'local-config' not in item and 'kind: Kptfile' not in item:
        if mode == 'namespace':
            item = re.sub(r'(?m)^    namespace: .*\n', '', item, count=1)
            item = re.sub(r'(?m)^(    name: .*\n)', r'\1    namespace: %s\n' % what, item, count=1)
        elif mode == 'prefix':
            item = re.sub(r'(?m)^    name: (?!%s)' % what, '    name: ' + what, item, count=1)
        elif '\n      stage: ' not in item:
            if '\n    labels:\n' in item:
                item = re.sub(r'(?m)^(    labels:\n)', r'\1      stage: %s\n' % what, item, count=1)
            else:
                item = re.sub(r'(?m)^(    name: .*\n)', r'\1    labels:\n      stage: %s\n' % what, item, count=1)
    out.append(item)
sys.stdout.write(head + 'items:\n' + ''.join(out) + ('\nfunctionConfig:' + tail if tail else ''))
"#;

fn later(command: &str, items: Vec<Item>) -> Vec<Item> {
    let mut words = command.split(' ').skip(2);
    let (mode, what) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let change = |mut item: Item| {
        if !Object(&item.text).is_local() {
            item.text = transformed(Object(&item.text), mode, what);
        }
        item
    };
    items.into_iter().map(change).collect()
}

/// kpt brings the fields into the order that they had: new ones come last.
fn transformed(object: Object<'_>, mode: &str, what: &str) -> String {
    let name = object.name();
    let in_metadata = |line: &str| line.starts_with("  namespace: ");
    match mode {
        "namespace" => {
            let line = format!("  namespace: {what}");
            let changed = object.with_line(|old| in_metadata(old).then(|| line.clone()));
            changed.unwrap_or_else(|| object.with(&["metadata:"], &line))
        }
        "prefix" if !name.starts_with(what) => object.renamed(&format!("{what}{name}")),
        "label" if object.label("stage").is_none() => {
            object.with(&["metadata:", "  labels:"], &format!("    stage: {what}"))
        }
        _ => object.0.to_owned(),
    }
}

/// Where a file of a function's package is written that names no folder.
pub(super) fn folder_of(function: &Function) -> &str {
    function.path().map_or("", directory)
}
