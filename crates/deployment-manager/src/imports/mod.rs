//! Collects the imports of a configuration from files, as gcloud does.

mod glob;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Source;
use krm_yaml::{Data, Document, Scalar, Value};

use crate::model::{Config, Import, Imports};
use crate::template::is_template;
use crate::yaml::{self, Located, is_falsy, kind_of};
use krm_core::files::{Entry, Files, join};

/// How many files a configuration may import.
pub const MAX_IMPORTS: usize = 1_000;

/// How many bytes an imported file may have.
pub const MAX_FILE: usize = 1 << 20;

/// How many bytes all imported files may have together.
pub const MAX_FILES: usize = 16 << 20;

/// Collects all imports of a configuration, also indirect ones. All are read from its `directory` as
/// the root. `given` are imports that win over those of files, and the contents of addresses; the
/// directory of each is the root of what it imports.
///
/// # Errors
/// With all imports that cannot be read.
pub fn collect(
    config: &Config,
    directory: &str,
    files: &dyn Files,
    given: Vec<Import>,
) -> Result<Imports, Diagnostics> {
    let mut collector = Collector {
        files,
        given: given.iter().map(|import| (import.name.clone(), import.clone())).collect(),
        found: Imports::default(),
        waiting: VecDeque::new(),
        errors: Diagnostics::new(),
        bytes: 0,
    };
    for import in given {
        let (name, path) = (import.name.clone(), import.content.name().to_owned());
        collector.add(import);
        let root = join(&path, "..");
        collector.schema(&name, &path, &root, NOWHERE);
    }
    // Errors in the texts are reported when they are expanded.
    if let Ok(document) = config.document() {
        collector.list(document, directory, directory);
    }
    while let Some((source, directory, root)) = collector.waiting.pop_front() {
        if let Ok(document) = Document::parse(&source) {
            collector.list(&Arc::new(document), &directory, &root);
        }
    }
    if collector.errors.has_errors() {
        return Err(collector.errors);
    }
    Ok(collector.found)
}

/// The place of an import that no file names.
const NOWHERE: Located<'static> = Located { value: &NOTHING, document: None };

const NOTHING: Value<'static> = Value { origin: None, data: Data::Scalar(Scalar::Null) };

struct Collector<'f> {
    files: &'f dyn Files,
    given: BTreeMap<String, Import>,
    found: Imports,
    /// Schemas whose imports are not collected yet, with their directories and roots.
    waiting: VecDeque<(Arc<Source>, String, String)>,
    errors: Diagnostics,
    bytes: usize,
}

impl Collector<'_> {
    /// Adds the imports of a configuration or a schema.
    fn list(&mut self, document: &Arc<Document>, directory: &str, root: &str) {
        let mut roots = document.roots();
        if roots.next().and_then(|root| root.get("imports")).is_none() {
            return;
        }
        let Ok(value) = yaml::value(document, &mut Diagnostics::new()) else {
            return;
        };
        let Some(imports) = value.get("imports").filter(|imports| !is_falsy(imports)) else {
            return;
        };
        let at = |value| Located { value, document: Some(document) };
        let Some(items) = imports.items() else {
            let found = kind_of(imports);
            let error = Diagnostic::error(format!("`imports` is a list, found {found}"))
                .hint("write `- path: FILE` for each file");
            return self.fail(error, at(imports));
        };
        for item in items {
            self.item(document.source(), (directory, root), at(item));
        }
    }

    fn fail(&mut self, error: Diagnostic, at: Located<'_>) {
        self.errors.push(match at.place() {
            Some(place) if error.place.is_none() => error.at(place),
            _ => error,
        });
    }

    fn item(&mut self, source: &Arc<Source>, (directory, root): (&str, &str), item: Located<'_>) {
        let file = source.name();
        let path = item.value.get("path").filter(|path| !is_falsy(path));
        let Some(path) = path.and_then(Value::as_str) else {
            let error = Diagnostic::error("an import has no `path`").hint("write `- path: FILE`");
            return self.fail(error, item);
        };
        let name = item.value.str_at(&["name"]);
        if self.given.contains_key(name.unwrap_or(path)) {
            return;
        }
        if path.contains("://") {
            return match self.given.get(path).cloned() {
                Some(given) => self.add(Import { name: name.unwrap_or(path).to_owned(), ..given }),
                None => self.fail(address(path), item),
            };
        }
        let full = join(directory, path);
        let is_file = self.files.entry(&full) == Some(Entry::File);
        if is_file || !glob::is_pattern(path) {
            return self.file(name.unwrap_or(path), &full, root, item);
        }
        let Some(matches) = glob::matches(self.files, &full) else {
            let limit = glob::MAX_MATCHES;
            let error = Diagnostic::error(format!("`{path}` matches more than {limit} files"));
            return self.fail(error.hint("name the folder of the files in the pattern"), item);
        };
        if let Some(name) = name.filter(|_| matches.len() > 1) {
            let message = format!("`{path}` matches several files, and only one can be `{name}`");
            let error = Diagnostic::error(message);
            return self.fail(error.hint("remove `name`, or name one file"), item);
        }
        if matches.is_empty() {
            let error = Diagnostic::error(format!("`{path}` matches no file"));
            let error = error.hint(format!("a pattern is relative to the folder of {file}"));
            return self.fail(error, item);
        }
        for full in matches {
            // One error is enough for all of them.
            if let Err(error) = self.files.check(&full, root) {
                return self.fail(*error, item);
            }
            let own = glob::relative(directory, &full);
            self.file(name.unwrap_or(own), &full, root, item);
        }
    }

    /// Imports a file; a template with its schema.
    fn file(&mut self, name: &str, path: &str, root: &str, item: Located<'_>) {
        if self.import(name, path, root, item).is_some() {
            self.schema(name, path, root, item);
        }
    }

    /// Imports the schema of a template, if there is one.
    fn schema(&mut self, name: &str, path: &str, root: &str, item: Located<'_>) {
        let (name, schema) = (format!("{name}.schema"), format!("{path}.schema"));
        if is_template(path)
            && !self.given.contains_key(&name)
            && self.files.entry(&schema) == Some(Entry::File)
            && let Some(content) = self.import(&name, &schema, root, item)
        {
            self.waiting.push_back((content, join(&schema, ".."), root.to_owned()));
        }
    }

    /// Imports a file, if its name is new.
    fn import(
        &mut self,
        name: &str,
        path: &str,
        root: &str,
        item: Located<'_>,
    ) -> Option<Arc<Source>> {
        if !self.accepts(name, path, item) {
            return None;
        }
        match self.read(path, root) {
            Ok(content) => {
                let (name, path) = (name.to_owned(), path.to_owned());
                self.add(Import { name, path, content: Arc::clone(&content) });
                Some(content)
            }
            Err(error) => {
                self.fail(*error, item);
                None
            }
        }
    }

    /// Whether the name is new. The same file may be imported again.
    fn accepts(&mut self, name: &str, path: &str, item: Located<'_>) -> bool {
        let Some(known) = self.found.get(name) else {
            if self.found.len() < MAX_IMPORTS {
                return true;
            }
            let message = format!("more than {MAX_IMPORTS} files are imported");
            self.fail(Diagnostic::error(message), item);
            return false;
        };
        if known.path != path {
            let message = format!("`{}` and `{path}` are both imported as `{name}`", known.path);
            self.fail(Diagnostic::error(message).hint("give one of them another `name`"), item);
        }
        false
    }

    fn add(&mut self, import: Import) {
        self.found.insert(import);
    }

    fn read(&mut self, path: &str, root: &str) -> krm_yaml::diagnostic::Result<Arc<Source>> {
        let source = self.files.source(path, root)?;
        let length = source.text().len();
        self.bytes += length;
        if length > MAX_FILE {
            let most = MAX_FILE >> 20;
            let message = format!("`{path}` is {length} bytes long, more than {most} MiB");
            return Err(Diagnostic::error(message).into());
        }
        if self.bytes > MAX_FILES {
            let most = MAX_FILES >> 20;
            let message = format!("the imported files are larger than {most} MiB together");
            return Err(Diagnostic::error(message).into());
        }
        Ok(source)
    }
}

/// The error for an address that is not given.
fn address(path: &str) -> Diagnostic {
    Diagnostic::error(format!("{path} is an address; nothing is fetched"))
        .hint(format!("download it, and add `--import {path}=FILE`"))
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILE, MAX_IMPORTS, collect};
    use crate::model::Config;
    use krm_core::files::InMemory;
    use krm_yaml::source::Source;

    /// The number of imports, or the first error.
    fn collected(config: &str, files: &InMemory) -> Result<usize, String> {
        let config = Config::new(Source::new("config.yaml", config));
        match collect(&config, ".", files, Vec::new()) {
            Ok(imports) => Ok(imports.len()),
            Err(errors) => Err(errors.iter().next().unwrap().message.clone()),
        }
    }

    fn many(count: usize) -> InMemory {
        InMemory::new((0..count).map(|index| (format!("t/{index}.txt"), Vec::new())))
    }

    #[test]
    fn imports_are_limited() {
        let config = "imports:\n- path: t/*.txt\n";
        assert_eq!(collected(config, &many(MAX_IMPORTS)), Ok(MAX_IMPORTS));
        assert_eq!(
            collected(config, &many(MAX_IMPORTS + 1)),
            Err("more than 1000 files are imported".to_owned())
        );
    }

    #[test]
    fn imported_files_are_limited() {
        let files = |size| InMemory::new([("a.txt".to_owned(), vec![b'x'; size])]);
        let config = "imports:\n- path: a.txt\n";
        assert_eq!(collected(config, &files(MAX_FILE)), Ok(1));
        let error = collected(config, &files(MAX_FILE + 1)).unwrap_err();
        assert!(error.ends_with("more than 1 MiB"), "{error}");
        let all = (0..17).map(|index| (format!("t/{index}.txt"), vec![b'x'; MAX_FILE]));
        let error = collected("imports:\n- path: t/*\n", &InMemory::new(all)).unwrap_err();
        assert_eq!(error, "the imported files are larger than 16 MiB together");
    }
}
