//! Writes Kustomizations as Compositions.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::made;
use crate::tests::shared;
use krm_core::files::{InMemory, join};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};

/// How a field becomes transformers.
enum Shape {
    /// The value is this field of one, inside of others.
    Whole(&'static [&'static str]),
    /// Each item is this field of one.
    Each(&'static str),
    /// Each item is made one.
    Item(fn(&Json, kustomization: &Json) -> Json),
}

use Shape::{Each, Item, Whole};

/// The fields that are transformers here, in kustomize's order.
const TRANSFORMERS: &[(&str, &str, Shape)] = &[
    ("patchesStrategicMerge", "PatchStrategicMergeTransformer", Whole(&["paths"])),
    ("patches", "PatchTransformer", Item(as_it_is)),
    ("namespace", "NamespaceTransformer", Whole(&["metadata", "namespace"])),
    ("namePrefix", "PrefixTransformer", Whole(&["prefix"])),
    ("nameSuffix", "SuffixTransformer", Whole(&["suffix"])),
    ("labels", "LabelTransformer", Item(labels)),
    ("commonLabels", "LabelTransformer", Whole(&["labels"])),
    ("commonAnnotations", "AnnotationsTransformer", Whole(&["annotations"])),
    ("patchesJson6902", "PatchJson6902Transformer", Item(json_patch)),
    ("replicas", "ReplicaCountTransformer", Each("replica")),
    ("images", "ImageTagTransformer", Each("imageTag")),
    ("replacements", "ReplacementTransformer", Whole(&["replacements"])),
];

const GENERATORS: &[(&str, &str, Shape)] = &[
    ("configMapGenerator", "ConfigMapGenerator", Item(with_options)),
    ("secretGenerator", "SecretGenerator", Item(with_options)),
];

/// The other fields that are understood here.
const OTHER_FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "generatorOptions",
    "generators",
    "transformers",
];

/// The built-in kinds that are not run in process.
const KUSTOMIZED: &[&str] = &["HelmChartInflationGenerator"];

/// The files of a case, in which Compositions take the place of Kustomizations.
pub(super) struct Translation {
    files: BTreeMap<String, String>,
}

impl Translation {
    pub(super) fn new(files: impl Iterator<Item = (String, String)>) -> Self {
        Self { files: files.collect() }
    }

    pub(super) fn files(&self) -> InMemory {
        let files = self.files.iter();
        InMemory::new(files.map(|(path, text)| (path.clone(), text.clone().into_bytes())))
    }

    /// Writes a Composition with these transformers.
    pub(super) fn write(&mut self, directory: &str, transformers: &Json) {
        let composition = json!({
            "apiVersion": "kustomize.config.k8s.io/v1alpha1",
            "kind": "Composition",
            "transformers": transformers,
        });
        let path = join(directory, "composition.yaml");
        self.files.insert(path, composition.to_string());
    }

    /// Writes the Kustomization of a directory as a Composition, and all that it names.
    pub(super) fn directory(&mut self, directory: &str) -> Result<(), String> {
        let path = join(directory, "kustomization.yaml");
        let Some(text) = self.files.remove(&path) else {
            let done = join(directory, "composition.yaml");
            let is_done = self.files.contains_key(&done);
            return is_done.then_some(()).ok_or("a Kustomization".to_owned());
        };
        let kustomization = objects(&text).into_iter().next().unwrap_or(json!({}));
        for (key, _) in kustomization.as_object().unwrap() {
            let mut fields = TRANSFORMERS.iter().chain(GENERATORS);
            let is_known = fields.any(|(field, ..)| field.eq_ignore_ascii_case(key));
            if !is_known && !OTHER_FIELDS.contains(&key.as_str()) {
                return Err(key.clone());
            }
        }
        let mut paths = Vec::new();
        for path in texts(&kustomization, "resources").chain(texts(&kustomization, "bases")) {
            let path = match directory {
                // In kustomize's memory, what is above the root is the root.
                "." => path.trim_start_matches("../"),
                _ => path,
            };
            self.resource(&join(directory, path))?;
            paths.push(path);
        }
        let mut all = Vec::new();
        if !paths.is_empty() {
            all.push(json!({"kind": "ResourceAccumulator", "paths": paths}));
        }
        all.extend(of_fields(GENERATORS, &kustomization));
        all.extend(self.plugins(directory, &kustomization, "generators")?);
        all.extend(of_fields(TRANSFORMERS, &kustomization));
        all.extend(self.plugins(directory, &kustomization, "transformers")?);
        self.write(directory, &all.into());
        Ok(())
    }

    /// Sees to it that a path leads to a file or a Composition.
    fn resource(&mut self, path: &str) -> Result<(), String> {
        if self.files.contains_key(path) {
            return Ok(());
        }
        self.directory(path)
    }

    /// The transformers that stand in a field, or in files or directories that it names.
    fn plugins(
        &mut self,
        directory: &str,
        kustomization: &Json,
        field: &str,
    ) -> Result<Vec<Json>, String> {
        let mut plugins = Vec::new();
        for text in texts(kustomization, field) {
            let path = join(directory, text);
            if text.contains('\n') {
                plugins.extend(objects(text));
            } else if let Some(text) = self.files.get(&path) {
                plugins.extend(objects(text));
            } else {
                self.directory(&path)?;
                plugins.extend(objects(&made(&self.files(), &path).unwrap()));
            }
        }
        for plugin in &plugins {
            let kind = plugin["kind"].as_str().unwrap();
            if plugin["apiVersion"] != "builtin" {
                return Err("plugins".to_owned());
            }
            if KUSTOMIZED.contains(&kind) {
                return Err(kind.to_owned());
            }
        }
        Ok(plugins)
    }
}

/// The documents of a stream that hold something. As for kustomize, the last of equal keys counts.
pub(super) fn objects(text: &str) -> Vec<Json> {
    let document = Document::parse(&Source::new("objects", text)).unwrap();
    let objects = document.roots().filter(|root| !root.is_null()).map(|root| {
        let value = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
        serde_json::from_str(&value.unwrap().to_json()).unwrap()
    });
    objects.collect()
}

fn texts<'j>(kustomization: &'j Json, field: &str) -> impl Iterator<Item = &'j str> {
    let list = kustomization.get(field).and_then(Json::as_array);
    list.into_iter().flatten().filter_map(Json::as_str)
}

/// The transformers that fields of a Kustomization are.
fn of_fields(table: &[(&str, &str, Shape)], kustomization: &Json) -> Vec<Json> {
    let mut all = Vec::new();
    for (field, kind, shape) in table {
        let entries = kustomization.as_object().into_iter().flatten();
        let mut found = entries.filter(|(key, _)| key.eq_ignore_ascii_case(field));
        let Some((_, value)) = found.next() else {
            continue;
        };
        let items = || value.as_array().unwrap().iter();
        let made: Vec<Json> = match shape {
            Whole(keys) => {
                let keys = keys.iter().rev();
                vec![keys.fold(value.clone(), |inner, key| json!({*key: inner}))]
            }
            Each(key) => items().map(|item| json!({*key: item})).collect(),
            Item(make) => items().map(|item| make(item, kustomization)).collect(),
        };
        for (index, mut one) in made.into_iter().enumerate() {
            one["kind"] = (*kind).into();
            one["metadata"]["name"] = format!("{field}-{index}").to_lowercase().into();
            all.push(one);
        }
    }
    all
}

fn as_it_is(item: &Json, _: &Json) -> Json {
    item.clone()
}

/// The operations of a JSON patch have another name.
fn json_patch(item: &Json, _: &Json) -> Json {
    let mut patch = item.clone();
    if let Some(operations) = patch.as_object_mut().unwrap().remove("patch") {
        patch["jsonOp"] = operations;
    }
    patch
}

/// The options of all generators are behind its own.
fn with_options(item: &Json, kustomization: &Json) -> Json {
    let mut generator = item.clone();
    let common = kustomization.get("generatorOptions");
    for (key, value) in common.and_then(Json::as_object).into_iter().flatten() {
        let own = &mut generator["options"][key];
        match value.as_object() {
            Some(entries) => {
                for (key, value) in entries {
                    if own.get(key).is_none() {
                        own[key] = value.clone();
                    }
                }
            }
            None if own.is_null() || own == &json!(false) => *own = value.clone(),
            None => {}
        }
    }
    generator
}

/// Labels go where kustomize's tables say.
fn labels(item: &Json, _: &Json) -> Json {
    let asks = |flag: &str| item[flag] == json!(true);
    let table = |name: &str| {
        let text = shared(&format!("corpus/kustomize/fieldspecs/{name}.yaml"));
        let table = objects(&text).remove(0);
        let list = match &table {
            Json::Object(entries) => entries.values().next().unwrap(),
            list => list,
        };
        list.as_array().unwrap().clone()
    };
    let mut fields = vec![json!({"path": "metadata/labels", "create": true})];
    fields.extend(item["fields"].as_array().into_iter().flatten().cloned());
    if asks("includeSelectors") {
        fields.extend(table("commonlabels"));
    }
    if asks("includeSelectors") || asks("includeTemplates") {
        fields.extend(table("metadatalabels"));
    }
    if asks("includeSelectors") || asks("includeVolumeClaimTemplates") {
        fields.extend(table("volumeclaimmetadatalabels"));
    }
    json!({"labels": item["pairs"], "fieldSpecs": fields})
}
