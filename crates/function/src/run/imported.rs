//! The files that a `DeploymentConfiguration` in a Composition imports.

use std::borrow::Cow;

use krm_core::files::{Entry, Files, join};
use krm_template_composition::Transformer;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::{FieldPath, Value};

/// How many files are read.
const MAX_FILES: usize = 1_000;

/// The transformer with the texts of its files in place of their paths; none if it names no files.
pub(crate) fn with_texts(
    transformer: &Transformer,
    files: &dyn Files,
) -> Result<Option<Transformer>> {
    let imports = transformer.config.at(&["spec", "imports"]);
    let imports = imports.and_then(Value::items).unwrap_or_default();
    if !imports.iter().any(is_path) {
        return Ok(None);
    }
    let mut list = Vec::new();
    for (index, import) in imports.iter().enumerate() {
        match import.str_at(&["path"]).filter(|_| is_path(import)) {
            None => list.push(import.clone()),
            Some(path) => {
                let mut reader = Reader {
                    transformer,
                    files,
                    field: FieldPath::root().key("spec").key("imports").index(index).key("path"),
                    list: &mut list,
                };
                reader.path(path, import.str_at(&["name"]))?;
            }
        }
    }
    let mut changed = transformer.clone();
    if let Some(imports) = changed.config.get_mut("spec").and_then(|spec| spec.get_mut("imports")) {
        *imports = Value::sequence(list);
    }
    Ok(Some(changed))
}

/// Whether an import is only a path.
fn is_path(import: &Value<'_>) -> bool {
    let has = |key| import.get(key).is_some();
    has("path") && !has("content") && !has("configMap")
}

struct Reader<'r> {
    transformer: &'r Transformer,
    files: &'r dyn Files,
    field: FieldPath,
    list: &'r mut Vec<Value<'static>>,
}

impl Reader<'_> {
    /// Reads a file, or all files of a directory.
    fn path(&mut self, path: &str, name: Option<&str>) -> Result<()> {
        let full = self.transformer.resolve(&self.field, path);
        let root = self.transformer.directory_of(&self.field);
        let may_be_read = self.files.check(&full, root);
        may_be_read.map_err(|error| self.placed(*error))?;
        if self.files.entry(&full) != Some(Entry::Directory) {
            self.file(name.unwrap_or(path), &full)?;
            let schema = format!("{full}.schema");
            if self.files.entry(&schema) == Some(Entry::File) {
                self.file(&format!("{}.schema", name.unwrap_or(path)), &schema)?;
            }
            return Ok(());
        }
        let mut directories = vec![(String::new(), full)];
        while let Some((before, directory)) = directories.pop() {
            for name in self.files.list(&directory) {
                let inside = join(&directory, &name);
                let name = format!("{before}{name}");
                match self.files.entry(&inside) {
                    Some(Entry::Directory) => directories.push((format!("{name}/"), inside)),
                    _ => self.file(&name, &inside)?,
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &str, path: &str) -> Result<()> {
        if self.list.len() >= MAX_FILES {
            let problem = format!("more than {MAX_FILES} files are imported");
            return Err(self.transformer.error(&self.field, problem).into());
        }
        let root = self.transformer.directory_of(&self.field);
        let source = self.files.source(path, root).map_err(|error| self.placed(*error))?;
        let text = |text: &str| Value::string(text.to_owned());
        self.list.push(Value::mapping(vec![
            (Cow::Borrowed("name"), text(name)),
            (Cow::Borrowed("path"), text(path)),
            (Cow::Borrowed("content"), text(source.text())),
        ]));
        Ok(())
    }

    fn placed(&self, mut error: Diagnostic) -> Box<Diagnostic> {
        if error.place.is_none() {
            error.place = self.transformer.place_of(&self.field);
        }
        error.into()
    }
}
