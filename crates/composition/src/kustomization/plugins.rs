//! The entries of `generators`, `transformers` and `validators`: objects that configure plugins.
//!
//! Source: kustomize 5.8, `configureExternalTransformers` in `api/internal/target/kusttarget.go`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::builtin::table;
use crate::engine::transformer::{Layer, Transformer, TransformerId};
use crate::read::model::{self, BUILTIN};
use crate::resources::resource::Resource;
use krm_core::scope::unless_default;
use krm_core::typed::AnyCase;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, Value};

/// The kinds that change nothing without `fieldSpecs`: for them kustomize has no defaults here.
const WITHOUT_DEFAULTS: [&str; 6] = [
    "AnnotationsTransformer",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "ReplicaCountTransformer",
    "SuffixTransformer",
];

/// The objects in an entry; none if it is a path.
pub(crate) fn inline(source: &Arc<Source>) -> Option<Arc<Document>> {
    let text = source.text();
    if !text.contains(['\n', '{']) && !text.contains(": ") {
        return None;
    }
    let document = Document::parse(source).ok()?;
    let is_inline = document.roots().any(Cursor::is_mapping);
    is_inline.then(|| Arc::new(document))
}

/// The transformer that an object configures, whose paths are relative to `directory`.
///
/// # Errors
/// If the object has been changed so that it has no text.
pub(crate) fn transformer(resource: &Resource<'_>, directory: &str) -> Result<Transformer> {
    let text = |keys: &[&str]| resource.str_at(keys).unwrap_or_default().to_owned();
    let api_version = match text(&["apiVersion"]).as_str() {
        "" => BUILTIN.to_owned(),
        written => written.to_owned(),
    };
    let (group, version) = model::split(&api_version);
    let id = TransformerId {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text(&["kind"]),
        namespace: unless_default(&text(&["metadata", "namespace"])).to_owned(),
        name: text(&["metadata", "name"]),
    };
    // A patched object has a text of its own.
    let node = resource.current(&format!("{} {}", id.kind, id.name))?;
    let layer = Layer {
        document: Arc::clone(node.document()),
        node: node.cursor().id(),
        at: FieldPath::root(),
    };
    Ok(Transformer {
        id,
        config: resource.value().clone().into_owned(),
        directory: directory.to_owned(),
        layers: vec![layer],
        written_as: Vec::new(),
        read_from: resource.place().map(|place| place.source.name().to_owned()),
    })
}

/// The configuration of a built-in plugin as kustomize reads it: in any case of the keys, without
/// those that it does not have, and without default fields.
pub(crate) fn as_read(mut transformer: Transformer, found: &mut Diagnostics) -> Transformer {
    let Some(builtin) = table::find(&transformer.id) else {
        return transformer;
    };
    let any_case = AnyCase::new(true);
    // Errors are reported when the mended configuration is read.
    drop((builtin.read)(&transformer, Some(&any_case)));
    for key in any_case.into_keys() {
        found.push(transformer.mend(&key));
    }
    if WITHOUT_DEFAULTS.contains(&transformer.id.kind.as_str())
        && transformer.config.get("fieldSpecs").is_none()
    {
        let none = Value::sequence(Vec::new());
        transformer.config.insert(Cow::Borrowed("fieldSpecs"), none);
    }
    transformer
}
