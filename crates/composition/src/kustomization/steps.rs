//! A Kustomization as a list of steps, in the order of kustomize.
//!
//! Source: kustomize 5.8, `accumulateTarget` in `api/internal/target/kusttarget.go`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::builtin::table;
use crate::engine::field_tables::Additions;
use crate::engine::step::{Context, Nested, Runner, Step, Transform};
use crate::engine::transformer::{Layer, Transformer, TransformerId};
use crate::kustomization::check::Part;
use crate::kustomization::file::Kustomization;
use crate::kustomization::label_field::LabelField;
use crate::kustomization::vars::VarsField;
use crate::read::configurations;
use crate::read::model::{self, BUILTIN, Named};
use crate::resources::resource::Resource;
use krm_core::files::Files;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::{FieldPath, Value};
use serde::de::DeserializeOwned;

/// How a field becomes transformers.
#[derive(Clone, Copy)]
enum Shape {
    /// The whole field is under these keys of one transformer.
    Whole(&'static [&'static str]),
    /// Each item is under this key of a transformer.
    Each(&'static str),
    /// Each item is a transformer.
    Items,
    /// Each item is a generator, with `generatorOptions`.
    Generators,
    /// Each item is a Helm chart, with `helmGlobals`.
    Charts,
    /// As these, with the fields of older versions of kustomize.
    OldCharts,
    /// Each item is an entry of `labels`.
    Labels,
    /// Each item is a JSON patch.
    JsonPatches,
}

use Shape::{Charts, Each, Generators, Items, JsonPatches, Labels, OldCharts, Whole};

/// A field: its name, the kind of its transformers, and how it becomes them.
type Row = (&'static str, &'static str, Shape);

/// The fields with objects.
const RESOURCES: &[Row] = &[
    ("resources", "ResourceAccumulator", Whole(&["paths"])),
    ("bases", "ResourceAccumulator", Whole(&["paths"])),
];
const GENERATORS: &[Row] = &[
    ("configMapGenerator", "ConfigMapGenerator", Generators),
    ("secretGenerator", "SecretGenerator", Generators),
    ("helmCharts", "HelmChartInflationGenerator", Charts),
    ("helmChartInflationGenerator", "HelmChartInflationGenerator", OldCharts),
];
/// The fields of `helmChartInflationGenerator` that kustomize still reads, as `helmCharts` has them.
const CHART_FIELDS: &[(&str, &str)] = &[
    ("chartName", "name"),
    ("chartVersion", "version"),
    ("chartRepoUrl", "repo"),
    ("chartHome", "chartHome"),
    ("helmHome", "configHome"),
    ("releaseName", "releaseName"),
    ("values", "valuesFile"),
    ("valuesLocal", "valuesInline"),
    ("valuesMerge", "valuesMerge"),
];
const TRANSFORMERS: &[Row] = &[
    ("patchesStrategicMerge", "PatchStrategicMergeTransformer", Whole(&["paths"])),
    ("patches", "PatchTransformer", Items),
    ("namespace", "NamespaceTransformer", Whole(&["metadata", "namespace"])),
    ("namePrefix", "PrefixTransformer", Whole(&["prefix"])),
    ("nameSuffix", "SuffixTransformer", Whole(&["suffix"])),
    ("labels", "LabelTransformer", Labels),
    ("commonLabels", "LabelTransformer", Whole(&["labels"])),
    ("commonAnnotations", "AnnotationsTransformer", Whole(&["annotations"])),
    ("patchesJson6902", "PatchJson6902Transformer", JsonPatches),
    ("replicas", "ReplicaCountTransformer", Each("replica")),
    ("images", "ImageTagTransformer", Each("imageTag")),
    ("imageTags", "ImageTagTransformer", Each("imageTag")),
    ("replacements", "ReplacementTransformer", Whole(&["replacements"])),
];

/// The steps of a Kustomization or Component, without those that end a build.
pub(crate) fn steps(
    kustomization: &Kustomization,
    files: &dyn Files,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let mut steps = Steps {
        additions: Arc::new(additions(kustomization, files, diagnostics)),
        kustomization,
        list: Vec::new(),
        diagnostics,
    };
    steps.rows(RESOURCES);
    steps.rows(GENERATORS);
    steps.plugins("generators", "Generators", Nested::Generators);
    steps.components();
    steps.rows(TRANSFORMERS);
    steps.plugins("transformers", "Transformers", Nested::Transformers);
    steps.plugins("validators", "Validators", Nested::Validators);
    steps.vars();
    if steps.list.is_empty() {
        // The first step has what is added to the tables.
        steps.no_op("Kustomization", "resources");
    }
    steps.list
}

/// The entries that the Kustomization adds to the tables.
fn additions(
    kustomization: &Kustomization,
    files: &dyn Files,
    diagnostics: &mut Diagnostics,
) -> Additions {
    let value = &kustomization.value;
    let paths = |key: &str| -> Vec<Named> {
        let items = value.get(key).and_then(Value::items).unwrap_or_default();
        let named = items.iter().enumerate();
        let named = named.filter_map(|(index, item)| {
            kustomization.named(item, &FieldPath::root().key(key).index(index))
        });
        named.collect()
    };
    let field = FieldPath::root().key("openapi");
    let part = |key: &str| {
        let part = value.at(&["openapi", key])?;
        kustomization.named(part, &field.clone().key(key))
    };
    let version = part("version").map(|named| (named.path, named.place));
    let names_built_in = version.is_some();
    let openapi = model::schema_file(part("path"), version, diagnostics);
    let added = model::Added {
        configurations: paths("configurations"),
        crds: paths("crds"),
        openapi,
        names_built_in,
    };
    configurations::additions(&added, files, &kustomization.directory, diagnostics)
}

impl Kustomization {
    /// A file that a part of it names.
    fn named(&self, part: &Value<'_>, field: &FieldPath) -> Option<Named> {
        let path = part.as_str().filter(|path| !path.is_empty())?;
        Some(Named {
            path: path.to_owned(),
            place: self.place(part, field, Part::Value)?,
            field: field.to_string(),
        })
    }
}

/// Collects steps.
struct Steps<'s> {
    kustomization: &'s Kustomization,
    additions: Arc<Additions>,
    list: Vec<Step>,
    diagnostics: &'s mut Diagnostics,
}

impl Steps<'_> {
    /// Adds the transformers of these fields.
    fn rows(&mut self, rows: &[Row]) {
        for (field, kind, shape) in rows {
            let Some(value) = self.kustomization.field(field) else {
                continue;
            };
            let path = FieldPath::root().key(*field);
            if let Whole(keys) = shape {
                let mut draft = TransformerBuilder::new(kind, &path);
                draft.put(keys, value, &path, self.kustomization);
                self.builtin(draft);
                continue;
            }
            for (index, item) in value.items().unwrap_or_default().iter().enumerate() {
                let path = path.clone().index(index);
                self.item(TransformerBuilder::new(kind, &path), *shape, item, &path);
            }
            if matches!(shape, Labels) {
                self.no_common_labels(kind);
            }
        }
    }

    /// Adds the transformer of an item.
    fn item(
        &mut self,
        mut draft: TransformerBuilder,
        shape: Shape,
        item: &Value<'static>,
        path: &FieldPath,
    ) {
        let all = self.kustomization;
        match shape {
            Whole(_) | Items => draft.spread(item, path, all),
            Each(key) => draft.put(&[key], item, path, all),
            Generators => {
                draft.spread(item, path, all);
                draft.add_options(all);
            }
            Charts => {
                draft.spread(item, path, all);
                draft.add_defaults("helmGlobals", all);
            }
            OldCharts => {
                for (old, new) in CHART_FIELDS {
                    draft.rename(old, new, item, path, all);
                }
                draft.add_defaults("helmGlobals", all);
            }
            Labels => {
                draft.spread(item, path, all);
                draft.rename("pairs", "labels", item, path, all);
                self.with::<LabelField>(draft);
                return;
            }
            JsonPatches => {
                draft.spread(item, path, all);
                draft.rename("patch", "jsonOp", item, path, all);
            }
        }
        self.builtin(draft);
    }

    /// Adds the transformer of `commonLabels` that kustomize has beside `labels`: annotations name
    /// it.
    fn no_common_labels(&mut self, kind: &str) {
        let field = "commonLabels";
        if self.kustomization.field(field).is_none() {
            self.no_op(kind, field);
        }
    }

    /// Adds a step that changes nothing.
    fn no_op(&mut self, kind: &str, field: &str) {
        let path = FieldPath::root().key(field);
        let mut draft = TransformerBuilder::new(kind, &path);
        draft.written_as.push((FieldPath::root(), path));
        let transformer = draft.finish(self.kustomization);
        self.push(transformer, Ok(Runner::Builtin(Box::new(Nothing))));
    }

    /// Adds a built-in transformer.
    fn builtin(&mut self, draft: TransformerBuilder) {
        let transformer = draft.finish(self.kustomization);
        let Some(builtin) = table::find(&transformer.id) else {
            return;
        };
        let read = (builtin.read)(&transformer, None);
        self.push(transformer, read.map(Runner::Builtin));
    }

    /// Adds a transformer of this type.
    fn with<T: Transform + DeserializeOwned + 'static>(&mut self, draft: TransformerBuilder) {
        let transformer = draft.finish(self.kustomization);
        let read = transformer.read::<T>();
        self.push(transformer, read.map(|read| Runner::Builtin(Box::new(read))));
    }

    fn push(&mut self, transformer: Transformer, runner: Result<Runner>) {
        if let Some(runner) = self.diagnostics.take(runner) {
            self.list.push(Step {
                transformer,
                runner,
                additions: Arc::clone(&self.additions),
                is_of_kustomization: true,
            });
        }
    }

    /// Adds the step for a list of plugins.
    fn plugins(&mut self, field: &'static str, kind: &str, nested: Nested) {
        let Some(value) = self.kustomization.field(field) else {
            return;
        };
        let path = FieldPath::root().key(field);
        let mut draft = TransformerBuilder::new(kind, &path);
        draft.put(&["paths"], value, &path, self.kustomization);
        let transformer = draft.finish(self.kustomization);
        self.push(transformer, Ok(Runner::Nested(nested, Vec::new())));
    }

    /// Adds a step for each component.
    fn components(&mut self) {
        let field = "components";
        let components = self.kustomization.value.get(field).and_then(Value::items);
        for (index, item) in components.unwrap_or_default().iter().enumerate() {
            let path = FieldPath::root().key(field).index(index);
            let mut draft = TransformerBuilder::new("Component", &path);
            draft.put(&["path"], item, &path, self.kustomization);
            let transformer = draft.finish(self.kustomization);
            self.push(transformer, Ok(Runner::Nested(Nested::Component, Vec::new())));
        }
    }

    /// Adds the step that collects variables.
    fn vars(&mut self) {
        let field = "vars";
        if let Some(value) = self.kustomization.field(field) {
            let path = FieldPath::root().key(field);
            let mut draft = TransformerBuilder::new("Variables", &path);
            draft.put(&[field], value, &path, self.kustomization);
            self.with::<VarsField>(draft);
        }
    }
}

/// A transformer that changes nothing.
#[derive(Debug)]
struct Nothing;

impl Transform for Nothing {
    fn apply<'d>(&'d mut self, _: &mut Vec<Resource<'d>>, _: &mut Context<'_>) {}
}

/// A transformer that is being made of a part of a Kustomization.
pub(crate) struct TransformerBuilder {
    id: TransformerId,
    config: Value<'static>,
    layers: Vec<Layer>,
    /// Fields of the transformer, with those of the Kustomization that hold them.
    written_as: Vec<(FieldPath, FieldPath)>,
}

impl TransformerBuilder {
    /// A transformer of a kind, named after a field.
    pub(crate) fn new(kind: &str, name: &FieldPath) -> Self {
        let id = TransformerId {
            group: String::new(),
            version: BUILTIN.to_owned(),
            kind: kind.to_owned(),
            namespace: String::new(),
            name: name.to_string(),
        };
        let metadata = Value::mapping(vec![("name".into(), Value::from(id.name.clone()))]);
        let config = Value::mapping(vec![
            ("apiVersion".into(), Value::from(BUILTIN)),
            ("kind".into(), Value::from(id.kind.clone())),
            ("metadata".into(), metadata),
        ]);
        Self { id, config, layers: Vec::new(), written_as: Vec::new() }
    }

    /// The transformer; without parts, its place is that of the Kustomization.
    pub(crate) fn finish(mut self, all: &Kustomization) -> Transformer {
        if self.layers.is_empty() {
            self.layers.push(Layer {
                document: Arc::clone(&all.document),
                node: all.root,
                at: FieldPath::root(),
            });
        }
        let directory = all.transformer.as_ref().zip(self.written_as.first());
        let directory = directory.map(|(one, (_, path))| one.directory_of(path));
        Transformer {
            id: self.id,
            config: self.config,
            directory: directory.unwrap_or(&all.directory).to_owned(),
            layers: self.layers,
            written_as: self.written_as,
            read_from: None,
        }
    }

    /// Notes that a part is a field of the transformer.
    fn note(&mut self, at: FieldPath, part: &Value<'_>, path: FieldPath, all: &Kustomization) {
        if let Some(transformer) = &all.transformer {
            for layer in &transformer.layers {
                self.layers.extend(layer.moved(&path, &at));
            }
        } else if let Some(node) = part.origin {
            self.layers.push(Layer { document: Arc::clone(&all.document), node, at: at.clone() });
        }
        self.written_as.push((at, path));
    }

    /// Puts a part under keys.
    pub(crate) fn put(
        &mut self,
        keys: &[&'static str],
        part: &Value<'static>,
        path: &FieldPath,
        all: &Kustomization,
    ) {
        let at = keys.iter().fold(FieldPath::root(), |at, key| at.key(*key));
        self.note(at, part, path.clone(), all);
        let mut inner = &mut self.config;
        if let Some((last, before)) = keys.split_last() {
            for key in before {
                if inner.get(key).is_none() {
                    inner.insert(Cow::Borrowed(*key), Value::mapping(Vec::new()));
                }
                let Some(next) = inner.get_mut(key) else {
                    return;
                };
                inner = next;
            }
            inner.insert(Cow::Borrowed(*last), part.clone());
        }
    }

    /// Puts the entries of a part at the top.
    fn spread(&mut self, part: &Value<'static>, path: &FieldPath, all: &Kustomization) {
        self.note(FieldPath::root(), part, path.clone(), all);
        for (key, value) in part.entries().unwrap_or_default() {
            self.config.insert(key.clone(), value.clone());
        }
    }

    /// Gives an entry of an item the name that it has in the transformer.
    fn rename(
        &mut self,
        from: &'static str,
        to: &'static str,
        item: &Value<'static>,
        path: &FieldPath,
        all: &Kustomization,
    ) {
        if let Some(part) = item.get(from) {
            self.config.remove(from);
            self.put(&[to], part, &path.clone().key(from), all);
        }
    }

    /// Adds `generatorOptions`: the labels and annotations that the generator does not have, and
    /// what it does not ask for.
    fn add_options(&mut self, all: &Kustomization) {
        let Some(common) = all.value.get("generatorOptions") else {
            return;
        };
        let own = self.config.remove("options");
        let mut options = own.unwrap_or_else(|| Value::mapping(Vec::new()));
        for (key, value) in common.entries().unwrap_or_default() {
            match (value.entries(), options.get_mut(key)) {
                (Some(entries), Some(own)) => {
                    for (key, value) in entries {
                        if own.get(key).is_none() {
                            own.insert(key.clone(), value.clone());
                        }
                    }
                }
                (None, Some(own)) if own == &Value::from(true) => {}
                (_, _) => options.insert(key.clone(), value.clone()),
            }
        }
        self.config.insert(Cow::Borrowed("options"), options);
    }

    /// Adds entries of a field that the transformer does not have.
    fn add_defaults(&mut self, field: &str, all: &Kustomization) {
        let entries = all.value.get(field).and_then(Value::entries);
        for (key, value) in entries.unwrap_or_default() {
            if self.config.get(key).is_none() {
                self.config.insert(key.clone(), value.clone());
            }
        }
    }
}
