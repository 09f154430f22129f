//! Where a functionConfig is kept, which tells it from others of the same kind and name.
//!
//! kpt sends the path of a functionConfig only if its `configPath` is written in the plain form. The
//! values under `configMap` come as a ConfigMap `function-input` without a path, and only the
//! values tell which function of the Kptfile runs.

use crate::input::items::Items;
use crate::input::kptfile::{self, PipelineFunction, is_kptfile};
use crate::input::objects::Objects;
use crate::input::paths;
use krm_core::annotations::{PATH, is_internal};
use krm_core::identity::{self, Head, Identity};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, Document, DuplicateKeys, Value};

/// The name of the ConfigMap in which kpt sends the values of a Kptfile.
pub(crate) const FUNCTION_INPUT: &str = "function-input";

/// Where the functionConfig is kept.
#[derive(Debug, Default)]
pub(crate) struct ConfigPlace {
    /// The full path of its file; none if it is not known.
    pub(crate) file: Option<String>,
    /// The name of its function, if its values are in the Kptfile.
    pub(crate) function: Option<String>,
    /// Whether it has no name, and another function of the Kptfile has values, too.
    pub(crate) is_unnamed_of_several: bool,
    /// Whether another function of the Kptfile runs after it.
    pub(crate) is_followed: bool,
}

/// Finds the place of the functionConfig, and notes it with the items. Nothing after an error.
pub(crate) fn find<O: Objects>(
    objects: &O,
    items: &mut Items,
    config: Cursor<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<ConfigPlace> {
    let mut finder = Finder { objects, items, config, functions: Vec::new() };
    finder.functions = finder.functions_of_package();
    let place = finder.place();
    diagnostics.take(place)
}

struct Finder<'f, O> {
    objects: &'f O,
    items: &'f mut Items,
    config: Cursor<'f>,
    /// The functions of the Kptfile of the current package.
    functions: Vec<PipelineFunction>,
}

impl<O: Objects> Finder<'_, O> {
    fn functions_of_package(&self) -> Vec<PipelineFunction> {
        let storage = &self.items.storage;
        let kptfile = paths::joined(&storage.current, "Kptfile");
        let mut items = self.items.list.iter().enumerate();
        let kptfile = items.find(|(_, item)| {
            item.identity.as_ref().is_some_and(is_kptfile)
                && item.file.and_then(|file| storage.full(file)) == kptfile
        });
        let node = kptfile.and_then(|(at, _)| self.objects.at(at).ok());
        node.map_or_else(Vec::new, |node| kptfile::functions(node.cursor()))
    }

    fn place(&mut self) -> krm_yaml::diagnostic::Result<ConfigPlace> {
        if let Some(file) = self.items.storage.config_file.clone() {
            // Without the directory of its package, the path may be that of the machine.
            let is_certain = self.items.storage.has_package_path;
            let has_copy = self.items.list.iter().any(|item| item.is_config && item.file.is_some());
            if is_certain || !has_copy || self.is_there(&file) {
                self.items.keep_config_in(&file);
                return Ok(self.in_file(file));
            }
        }
        let Some(config) = Head::of(self.config).identity_of_kind() else {
            return Ok(ConfigPlace::default());
        };
        if let Some(at) = self.copy(&config)?
            && let Some(path) = self.path(at)
        {
            self.items.set_config_file(at, path);
            let file = self.items.storage.config_file.clone();
            return Ok(file.map_or_else(ConfigPlace::default, |file| self.in_file(file)));
        }
        if config.kind == "ConfigMap" && config.name == FUNCTION_INPUT {
            return self.in_kptfile();
        }
        Ok(ConfigPlace::default())
    }

    /// Whether an item of the functionConfig's name is in this file.
    fn is_there(&self, full: &str) -> bool {
        let storage = &self.items.storage;
        let mut items = self.items.list.iter().filter(|item| item.is_config);
        items.any(|item| item.file.and_then(|file| storage.full(file)).as_deref() == Some(full))
    }

    fn path(&self, at: usize) -> Option<String> {
        let node = self.objects.at(at).ok()?;
        identity::reference(node.cursor().open().cursor()).path
    }

    /// The place in a file of its own.
    fn in_file(&self, file: String) -> ConfigPlace {
        let current = &self.items.storage.current;
        let is_it = |function: &PipelineFunction| {
            let path = function.config_path.as_deref();
            path.and_then(|path| paths::joined(current, path)).as_ref() == Some(&file)
        };
        let at = self.functions.iter().rposition(is_it);
        let is_followed = at.is_some_and(|at| at + 1 < self.functions.len());
        ConfigPlace { file: Some(file), is_followed, ..ConfigPlace::default() }
    }

    /// The item that is the functionConfig: of its identity, in the current package if there is one.
    fn copy(&self, config: &Identity) -> krm_yaml::diagnostic::Result<Option<usize>> {
        let storage = &self.items.storage;
        let all = self.items.list.iter().enumerate();
        let all = all.filter(|(_, item)| item.is_config && item.file.is_some());
        let all: Vec<_> = all.collect();
        let is_here =
            |item: &crate::input::items::Item| self.items.package(item) == storage.current;
        let here: Vec<_> = all.iter().filter(|(_, item)| is_here(item)).copied().collect();
        let mut found = if here.is_empty() { all } else { here };
        let paths = self.functions.iter().filter_map(|one| one.config_path.as_deref());
        let named: Vec<String> =
            paths.filter_map(|path| paths::joined(&storage.current, path)).collect();
        let is_named = |item: &crate::input::items::Item| {
            let full = item.file.and_then(|file| storage.full(file));
            full.is_some_and(|full| named.contains(&full))
        };
        if found.iter().any(|(_, item)| is_named(item)) {
            found.retain(|(_, item)| is_named(item));
        }
        if found.len() > 1 {
            let own = whole(self.config);
            let is_equal = |at: usize| {
                let node = self.objects.at(at).ok();
                node.is_some_and(|node| content(node.cursor()) == own)
            };
            if found.iter().any(|(at, _)| is_equal(*at)) {
                found.retain(|(at, _)| is_equal(*at));
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [(at, _)] => Ok(Some(*at)),
            several => {
                let count = several.len();
                let mut error = Diagnostic::error(format!(
                    "{count} items are `{config}`, and it is unclear which one is the functionConfig"
                ))
                .at(self.config.place())
                .hint("rename one of them, or write its `configPath` without `./` and `//`");
                for (at, _) in several {
                    if let Ok(node) = self.objects.at(*at) {
                        let file = self.items.shown_file(*at).unwrap_or_default();
                        let opened = node.cursor().open();
                        let node = opened.cursor();
                        let place = node.get("metadata").unwrap_or(node).place();
                        error = error.related(place, format!("one in {file}"));
                    }
                }
                Err(error.into())
            }
        }
    }

    /// The place of values under `configMap` in the Kptfile of the current package.
    fn in_kptfile(&self) -> krm_yaml::diagnostic::Result<ConfigPlace> {
        let data = self.config.get("data").map(kptfile::texts);
        let data = data.unwrap_or_default();
        let with_values = || self.functions.iter().filter(|one| one.values.is_some());
        let same = with_values().filter(|one| one.values.as_ref() == Some(&data));
        let same: Vec<_> = same.collect();
        let Some(first) = same.first() else {
            return Ok(ConfigPlace::default());
        };
        let of_program: Vec<_> = with_values().filter(|one| one.program == first.program).collect();
        let names = of_program.iter().filter_map(|one| one.name.as_deref());
        let names: std::collections::BTreeSet<&str> = names.collect();
        if of_program.len() > 1 && names.len() < of_program.len() {
            let count = of_program.len();
            return Err(Diagnostic::error(format!(
                "{count} functions in the Kptfile have values in configMap, and kpt does not say which one runs: give each a name"
            ))
            .at(self.config.place())
            .hint(format!("write `name: NAME` beside `configMap` of each function that runs {}", first.program))
            .into());
        }
        if same.len() > 1 && of_program.len() > 1 {
            return Err(Diagnostic::error(format!(
                "{} functions in the Kptfile have the same values in configMap, and kpt does not say which one runs",
                same.len()
            ))
            .at(self.config.place())
            .hint("remove one of them, or keep the values of each in a file, with `configPath`")
            .into());
        }
        let at = self.functions.iter().position(|one| std::ptr::eq(one, *first));
        Ok(ConfigPlace {
            file: paths::joined(&self.items.storage.current, "Kptfile"),
            function: first.name.clone(),
            is_unnamed_of_several: first.name.is_none() && with_values().count() > 1,
            is_followed: at.is_some_and(|at| at + 1 < self.functions.len()),
        })
    }
}

/// The data of the functionConfig, whose long lists were not read.
fn whole(config: Cursor<'_>) -> Option<Value<'static>> {
    let document = Document::parse(config.document().source()).ok()?;
    content(document.roots().next()?.get("functionConfig")?)
}

/// The data of an object without the annotations of an orchestrator.
fn content(object: Cursor<'_>) -> Option<Value<'static>> {
    let opened = object.open();
    let value = opened.cursor().value(DuplicateKeys::LastWins, &mut Diagnostics::new())?;
    let mut value = value.into_owned();
    let annotations =
        value.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
    if let Some(annotations) = annotations {
        let keys = annotations.entries().unwrap_or_default().iter();
        let keys = keys.map(|(key, _)| key.to_string());
        let internal: Vec<String> = keys
            .filter(|key| is_internal(key) || key.starts_with("internal.") || key == PATH)
            .collect();
        for key in internal {
            annotations.remove(&key);
        }
    }
    if let Some(metadata) = value.get_mut("metadata") {
        krm_core::annotations::remove_empty(metadata, "annotations");
    }
    Some(value)
}
