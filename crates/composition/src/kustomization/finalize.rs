//! The end of the build of a Kustomization, once after all other steps.
//!
//! Source: kustomize 5.8, `makeCustomizedResMap` in `api/internal/target/kusttarget.go` and `Run` in
//! `api/krusty/kustomizer.go`.

use std::sync::Arc;

use crate::builtin::hash::HashConfig;
use crate::builtin::legacy_order::LegacyOrderConfig;
use crate::builtin::sort_order::SortOrderConfig;
use crate::engine::field_tables::Additions;
use crate::engine::step::{Context, Runner, Step, Transform};
use crate::engine::transformer::Transformer;
use crate::kustomization::check::Part;
use crate::kustomization::file::Kustomization;
use crate::kustomization::steps::TransformerBuilder;
use crate::kustomization::vars::Resolution;
use crate::resources::resource::Resource;
use crate::resources::trace::Tracing;
use krm_core::annotations;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{FieldPath, Value};

/// The words under `buildMetadata`.
const METADATA: [&str; 3] = ["managedByLabel", "originAnnotations", "transformerAnnotations"];
/// The label with the program that built an object.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The annotations of programs that read or write objects.
const INTERNAL: &[&str] = &[
    "config.kubernetes.io/index",
    "config.kubernetes.io/path",
    "config.k8s.io/id",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    ORIGIN,
    TRANSFORMATIONS,
];
/// The annotation with the origin of an object.
const ORIGIN: &str = "config.kubernetes.io/origin";
/// The annotation with the transformers that an object has passed.
const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// How a build ends.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// Whether the objects stay in their order, unless the Kustomization has `sortOptions`.
    pub keeps_order: bool,
    /// Whether all objects get the label with the name of this program, as with
    /// `buildMetadata: [managedByLabel]`.
    pub labels: bool,
    /// The value of that label; by default our name and version.
    pub manager: Option<String>,
    /// Whether the Kustomization is a transformer of a Composition, whose objects go on: those
    /// that are kept out of the cluster stay, and so do annotations of orchestrators.
    pub is_transformer: bool,
}

/// The steps after those of a Kustomization that is the root of a build.
pub(crate) fn steps(
    kustomization: &Kustomization,
    ending: &Ending,
    additions: &Arc<Additions>,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let metadata = metadata(kustomization, diagnostics);
    let step = |transformer: Transformer, transform: Box<dyn Transform>| Step {
        transformer,
        runner: Runner::Builtin(transform),
        additions: Arc::clone(additions),
        is_of_kustomization: true,
    };
    let own = |name: &str, transform: Box<dyn Transform>| {
        let draft = TransformerBuilder::new("Kustomization", &FieldPath::root().key(name));
        step(draft.finish(kustomization), transform)
    };
    let mut steps = vec![own("hashes", Box::new(HashConfig {})), own("vars", Box::new(Resolution))];
    if !ending.is_transformer {
        steps.push(own("local-config", Box::new(Local)));
    }
    match kustomization.value.get("sortOptions") {
        Some(options) => {
            let field = FieldPath::root().key("sortOptions");
            let mut draft = TransformerBuilder::new("SortOrderTransformer", &field);
            draft.put(&["sortOptions"], options, &field, kustomization);
            let transformer = draft.finish(kustomization);
            let read = transformer.read::<SortOrderConfig>();
            if let Some(read) = diagnostics.take(read) {
                steps.push(step(transformer, Box::new(read)));
            }
        }
        None if ending.keeps_order => {}
        None => steps.push(own("order", Box::new(LegacyOrderConfig {}))),
    }
    if ending.labels || metadata.contains(&"managedByLabel") {
        let own_name = || format!("krm-template-v{}", env!("CARGO_PKG_VERSION"));
        let manager = ending.manager.clone().unwrap_or_else(own_name);
        steps.push(own("managedByLabel", Box::new(ManagedBy(manager))));
    }
    if !ending.is_transformer {
        steps.push(own("annotations", Box::new(Annotations)));
    }
    steps
}

/// The step before those of a Kustomization that is the root of a build: notes the traces to keep.
pub(crate) fn start(kustomization: &Kustomization, additions: &Arc<Additions>) -> Step {
    let words = words(kustomization);
    let has = |name: &str| words.iter().any(|word| word.as_str() == Some(name));
    let start = Start(Tracing {
        origins: has("originAnnotations"),
        transformations: has("transformerAnnotations"),
        root: kustomization.directory.clone(),
        ..Tracing::default()
    });
    let draft = TransformerBuilder::new("Kustomization", &FieldPath::root().key("buildMetadata"));
    Step {
        transformer: draft.finish(kustomization),
        runner: Runner::Builtin(Box::new(start)),
        additions: Arc::clone(additions),
        is_of_kustomization: true,
    }
}

/// Notes the traces to keep.
#[derive(Debug)]
struct Start(Tracing);

impl Transform for Start {
    fn apply<'d>(&'d mut self, _: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        context.state.shared.tracing.clone_from(&self.0);
    }
}

/// The items under `buildMetadata`.
fn words(kustomization: &Kustomization) -> &[Value<'static>] {
    let words = kustomization.field("buildMetadata");
    words.and_then(Value::items).unwrap_or_default()
}

/// The words under `buildMetadata`; unknown ones get a warning.
fn metadata(kustomization: &Kustomization, diagnostics: &mut Diagnostics) -> Vec<&'static str> {
    let words = words(kustomization);
    let mut known = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let text = word.as_str().unwrap_or_default();
        if let Some(word) = METADATA.iter().find(|known| **known == text) {
            known.push(*word);
            continue;
        }
        let field = FieldPath::root().key("buildMetadata").index(index);
        let mut warning = Diagnostic::warning(format!("`{text}` has no effect"));
        warning.place = kustomization.place(word, &field, Part::Value);
        diagnostics.push(warning.field(field.to_string()));
    }
    known
}

/// Drops the objects that are kept out of the cluster.
#[derive(Debug)]
struct Local;

impl Transform for Local {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, _: &mut Context<'_>) {
        resources.retain(|resource| !resource.is_local());
    }
}

/// Labels the objects with the program that built them.
#[derive(Debug)]
struct ManagedBy(String);

impl Transform for ManagedBy {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, _: &mut Context<'_>) {
        for resource in resources {
            let metadata = resource.value_mut().mapping_at("metadata");
            if let Some(labels) = metadata.and_then(|metadata| metadata.mapping_at("labels")) {
                labels.insert(MANAGED_BY.into(), Value::from(self.0.clone()));
            }
        }
    }
}

/// Takes off the annotations of orchestrators, and adds the traces.
#[derive(Debug)]
struct Annotations;

impl Transform for Annotations {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let tracing = context.state.shared.tracing.clone();
        for resource in resources {
            if resource.has_annotation(|key| INTERNAL.contains(&key)) {
                annotations::remove(resource.value_mut(), INTERNAL);
            }
            let trace = resource.trace.take().unwrap_or_default();
            for (is_kept, key, text) in [
                (tracing.origins, ORIGIN, &trace.origin),
                (tracing.transformations, TRANSFORMATIONS, &trace.transformations),
            ] {
                if is_kept && !text.is_empty() {
                    annotations::annotate(resource.value_mut(), key, text);
                }
            }
        }
    }
}
