//! `kind: Kustomization`: passes the resources through a Kustomization, which kustomize builds.
//!
//! Kustomize drops kpt's own objects and the annotations by which orchestrators track the others,
//! sorts fields, and loses comments. So the former are kept back, and its output is edited into the
//! resources.

use std::borrow::Cow;

use crate::builtin::kustomize::bases::Bases;
use crate::builtin::kustomize::kustomized::{self, Paths, Relocated};
use crate::engine::step::{Context, Transform};
use crate::engine::transformer::Transformer;
use crate::read::locate::{Found, find};
use crate::read::model::GROUP;
use crate::resources::follow;
use crate::resources::resource::Resource;
use krm_core::annotations::{annotate, is_internal, is_local};
use krm_yaml::diagnostic::Result;
use krm_yaml::{Data, FieldPath, Value};

/// The file that the resources are in.
const RESOURCES: &str = "krm-template-resources.yaml";
/// The annotation with the number of a resource; kustomize would drop the one that functions use.
const NUMBER: &str = "template.krm.dev/number";

/// Fields with paths, from `api/types/kustomization.go` of kustomize 5.8.
const PATHS: Paths = &[
    &["resources", "*"],
    &["bases", "*"],
    &["components", "*"],
    &["crds", "*"],
    &["configurations", "*"],
    &["generators", "*"],
    &["transformers", "*"],
    &["validators", "*"],
    &["openapi", "path"],
    &["patches", "*", "path"],
    &["patchesStrategicMerge", "*"],
    &["patchesJson6902", "*", "path"],
    &["replacements", "*", "path"],
    &["configMapGenerator", "*", "files", "*"],
    &["configMapGenerator", "*", "envs", "*"],
    &["configMapGenerator", "*", "env"],
    &["secretGenerator", "*", "files", "*"],
    &["secretGenerator", "*", "envs", "*"],
    &["secretGenerator", "*", "env"],
    &["helmCharts", "*", "valuesFile"],
    &["helmCharts", "*", "additionalValuesFiles", "*"],
    &["helmGlobals", "chartHome"],
    &["helmGlobals", "configHome"],
];

/// Reads only `resources` of a Kustomization.
pub(crate) fn read(transformer: &Transformer) -> Result<Box<dyn Transform>> {
    let resources = transformer.config.get("resources");
    match resources.filter(|resources| resources.items().is_none() && !resources.is_null()) {
        None => Ok(Box::new(Kustomization)),
        Some(_) => Err(transformer
            .error(&FieldPath::root().key("resources"), "expected a list")
            .into()),
    }
}

/// The Kustomization, whose fields only kustomize validates.
#[derive(Debug)]
struct Kustomization;

impl Transform for Kustomization {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let (held, sent): (Vec<_>, Vec<_>) = std::mem::take(resources)
            .into_iter()
            .enumerate()
            .partition(|(_, resource)| is_local(resource.value().get("metadata")));
        let (places, sent): (Vec<usize>, Vec<Resource<'d>>) = sent.into_iter().unzip();
        let mut kustomization = kustomization(!sent.is_empty(), context);
        let made = compositions(&mut kustomization, !sent.is_empty(), context);
        if context.diagnostics.has_errors() {
            return;
        }
        let mut files = vec![
            (RESOURCES, texts(&sent)),
            (kustomized::KUSTOMIZATION, kustomization.config.to_json()),
        ];
        files.extend(
            made.iter()
                .map(|(name, text)| (name.as_str(), text.clone())),
        );
        let Some(mut back) = kustomized::build(&files, &kustomization, false, context) else {
            return;
        };
        let pairs = follow::pairs(&sent, &mut back, NUMBER);
        let mut made: Vec<(Option<usize>, Resource<'d>)> = Vec::with_capacity(back.len());
        for (object, pair) in back.into_iter().zip(pairs) {
            let before = pair.and_then(|pair| Some((*places.get(pair)?, sent.get(pair)?)));
            made.push(match before {
                Some((place, before)) => (Some(place), edited(before, object)),
                None => (None, object),
            });
        }
        // Each after the resource that it followed.
        for (place, resource) in held {
            let before = made
                .iter()
                .rposition(|(other, _)| other.is_some_and(|other| other < place));
            let at = before.map_or(0, |before| before + 1);
            made.insert(at, (Some(place), resource));
        }
        resources.extend(made.into_iter().map(|(_, resource)| resource));
    }
}

/// Replaces Compositions among the resources of the Kustomization by files. Returns their names and
/// texts. `has_resources` tells whether other resources come first.
fn compositions(
    kustomization: &mut Relocated,
    has_resources: bool,
    context: &mut Context<'_>,
) -> Vec<(String, String)> {
    let mut bases = Bases::default();
    let mut made = Vec::new();
    for list in ["resources", "bases", "components"] {
        let field = FieldPath::root().key(list);
        let own = context.transformer.config.get(list).and_then(Value::items);
        let own: Vec<Option<String>> = own
            .unwrap_or_default()
            .iter()
            .map(|path| path.as_str().map(str::to_owned))
            .collect();
        let first = usize::from(has_resources && list == "resources");
        for (index, path) in own.into_iter().enumerate() {
            let Some(path) = path.filter(|path| !path.contains(['\n', ':'])) else {
                continue;
            };
            let field = field.clone().index(index);
            let there = context.transformer.resolve(&field, &path);
            let root = context.transformer.directory_of(&field).to_owned();
            if let Some((name, text)) = bases.made(&there, &root, &field, context) {
                let items = kustomization
                    .config
                    .get_mut(list)
                    .and_then(Value::items_mut);
                if let Some(item) = items.and_then(|items| items.get_mut(first + index)) {
                    *item = name.clone().into();
                }
                made.push((name, text));
            } else if matches!(find(context.files, &there), Ok(Found::Kustomization)) {
                bases.add(&there, &field, context);
            }
        }
    }
    kustomization.bases = bases.list;
    made
}

/// The resources as text for kustomize.
fn texts(resources: &[Resource<'_>]) -> String {
    let mut texts = Vec::with_capacity(resources.len());
    for mut resource in follow::numbered(resources, NUMBER) {
        let metadata = resource.value_mut().get_mut("metadata");
        let annotations = metadata.and_then(|metadata| metadata.get_mut("annotations"));
        if let Some(annotations) = annotations
            && let Data::Mapping(entries) = &mut annotations.data
        {
            entries.retain(|(key, _)| !is_internal(key));
        }
        texts.push(resource.value().to_json());
    }
    texts.join("\n---\n")
}

/// The Kustomization, with the resources before its own.
fn kustomization(has_resources: bool, context: &mut Context<'_>) -> Relocated {
    let mut relocated = kustomized::relocated(PATHS, context);
    let config = &mut relocated.config;
    config.remove("metadata");
    if context.transformer.id.group != GROUP {
        config.insert("apiVersion".into(), format!("{GROUP}/v1beta1").into());
    }
    let own = config.remove("resources");
    let mut all: Vec<Value<'static>> = Vec::new();
    all.extend(has_resources.then(|| Value::from(RESOURCES)));
    all.extend(own.iter().filter_map(Value::items).flatten().cloned());
    config.insert("resources".into(), Value::sequence(all));
    if config.get("sortOptions").is_none() {
        let (key, order) = kustomized::sorted();
        config.insert(key, order);
    }
    relocated
}

/// A resource changed to the object that kustomize returned, with its text.
fn edited<'d>(before: &Resource<'d>, mut object: Resource<'d>) -> Resource<'d> {
    let annotations = before.value().at(&["metadata", "annotations"]);
    for (key, value) in annotations.and_then(Value::entries).unwrap_or_default() {
        if let Some(text) = value.as_str().filter(|_| is_internal(key)) {
            annotate(object.value_mut(), Cow::Owned(key.to_string()), text);
        }
    }
    let mut now = before.clone();
    if before.identity() != object.identity() {
        now.remember();
    }
    let value = now.value_mut();
    *value = object.into_value();
    value.adopt(before.value(), &krm_core::item_keys::ITEM_KEYS);
    now
}
