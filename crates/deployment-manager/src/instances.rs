//! The types of a layout and their instances; manifests.

use std::collections::BTreeSet;

use krm_yaml::Value;

use crate::expansion::{Expansion, Layout, LayoutResource, mapping};
use crate::model::Request;
use crate::repr;

/// A resource of a layout, and its path there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeInstance {
    /// The name of the resource.
    pub name: String,
    /// The type of the resource.
    pub kind: String,
    /// The name of the deployment.
    pub deployment: String,
    /// The name of the manifest.
    pub manifest: String,
    /// The path in the layout, such as `$.resources[0].resources[2]`.
    pub path: String,
}

impl TypeInstance {
    /// `{name, type, deployment, manifest, path}`.
    pub fn to_value(&self) -> Value<'static> {
        let text = |text: &str| Some(Value::string(text.to_owned()));
        mapping([
            ("name", text(&self.name)),
            ("type", text(&self.kind)),
            ("deployment", text(&self.deployment)),
            ("manifest", text(&self.manifest)),
            ("path", text(&self.path)),
        ])
    }
}

/// All templates and resources of a layout, each before those that it created.
pub fn type_instances(layout: &Layout<'_>, deployment: &str, manifest: &str) -> Vec<TypeInstance> {
    let mut instances = Vec::new();
    below(&layout.resources, "$", &mut |resource, path| {
        instances.push(TypeInstance {
            name: repr::text(&resource.name),
            kind: repr::text(&resource.kind),
            deployment: deployment.to_owned(),
            manifest: manifest.to_owned(),
            path,
        });
    });
    instances
}

fn below(
    resources: &[LayoutResource<'_>],
    path: &str,
    see: &mut dyn FnMut(&LayoutResource<'_>, String),
) {
    for (index, resource) in resources.iter().enumerate() {
        let path = format!("{path}.resources[{index}]");
        see(resource, path.clone());
        below(&resource.resources, &path, see);
    }
}

/// The types of a layout, sorted.
pub fn types(layout: &Layout<'_>) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    below(&layout.resources, "$", &mut |resource, _| {
        types.insert(repr::text(&resource.kind));
    });
    types
}

/// `{name, deployment, inputConfig, expandedConfig, layout}`.
pub fn manifest<'r>(name: &str, request: &Request, expansion: Expansion<'r>) -> Value<'r> {
    let text = |text: &str| Some(Value::string(text.to_owned()));
    let imports = request.imports.iter().map(|import| {
        mapping([
            ("name", text(&import.name)),
            ("path", text(&import.path)),
            ("content", text(import.content.text())),
        ])
    });
    let input = mapping([
        ("name", text(request.config.source().name())),
        ("content", text(request.config.source().text())),
        ("imports", Some(Value::sequence(imports.collect()))),
    ]);
    let layout = expansion.layout.to_value();
    mapping([
        ("name", text(name)),
        ("deployment", text(&request.name)),
        ("inputConfig", Some(input)),
        ("expandedConfig", Some(expansion.into_config_value())),
        ("layout", Some(layout)),
    ])
}
