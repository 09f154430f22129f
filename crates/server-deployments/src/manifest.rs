//! Manifests, as they are stored in JSON.

use std::collections::BTreeSet;

use krm_template_deployment_manager::expansion::Layout;
use krm_template_deployment_manager::instances::{TypeInstance, type_instances};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, DuplicateKeys, Value};

use krm_template_server_core::{Result, Status};

/// A configuration with its expansion.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The text of the configuration.
    pub configuration: String,
    /// The imported files, with their texts.
    pub imports: Vec<Import>,
    /// The resources that the configuration expands to, in the order of the layout.
    pub resources: Vec<Value<'static>>,
    /// The templates, with the resources that they created.
    pub layout: Layout<'static>,
}

/// A file that a configuration imports.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name that types refer to.
    pub name: String,
    /// The text of the file.
    pub content: String,
}

impl Manifest {
    /// Reads a manifest in JSON.
    ///
    /// # Errors
    ///
    /// 500 if it is not a manifest.
    pub fn read(json: &[u8]) -> Result<Self> {
        let unreadable = || Status::internal("a manifest of the store cannot be read");
        let value = document(json).and_then(|document| value(&document, None));
        let value = value.ok_or_else(unreadable)?;
        let text = |value: &Value<'_>, path: &[&str]| {
            let text = value.str_at(path);
            text.unwrap_or_default().to_owned()
        };
        let items = |path: &[&str]| value.at(path).and_then(Value::items).unwrap_or_default();
        let imports = items(&["inputConfig", "imports"]).iter();
        Ok(Self {
            configuration: text(&value, &["inputConfig", "content"]),
            imports: imports
                .map(|import| Import {
                    name: text(import, &["name"]),
                    content: text(import, &["content"]),
                })
                .collect(),
            resources: items(&["expandedConfig", "resources"]).to_vec(),
            layout: value.get("layout").map(Layout::of_value).unwrap_or_default(),
        })
    }

    /// Returns the import with a name, such as the type of a template.
    pub fn import(&self, name: &str) -> Option<&Import> {
        self.imports.iter().find(|import| import.name == name)
    }
}

/// Parses the layout of a manifest, which may be nested deeper than other parsers allow.
pub(super) fn layout(json: &[u8]) -> Option<Layout<'static>> {
    let layout = value(&document(json)?, Some("layout"))?;
    Some(Layout::of_value(&layout))
}

fn document(json: &[u8]) -> Option<Document> {
    let source = krm_yaml::decode("manifest", json.to_vec()).ok()?;
    Document::parse(&source).ok()
}

/// Returns the value of a document, or of one of its fields.
fn value(document: &Document, field: Option<&str>) -> Option<Value<'static>> {
    let mut node = document.roots().next()?;
    if let Some(field) = field {
        node = node.get(field)?;
    }
    let value = node.value(DuplicateKeys::Refuse, &mut Diagnostics::default())?;
    Some(value.into_owned())
}

/// Types or instances collected from manifests.
#[derive(Debug)]
pub(super) enum Collected {
    /// The names of all types.
    Types(BTreeSet<String>),
    /// The instances of a type, or of all types.
    Instances(Option<String>, Vec<TypeInstance>),
}

impl Collected {
    /// Adds the types or instances of a manifest in JSON.
    pub(super) fn add(&mut self, deployment: &str, manifest: &str, json: &[u8]) -> Result<()> {
        let found = instances(deployment, manifest, json)?;
        match self {
            Self::Types(types) => types.extend(found.into_iter().map(|one| one.kind)),
            Self::Instances(kind, all) => {
                let is_wanted =
                    |one: &TypeInstance| kind.as_ref().is_none_or(|kind| *kind == one.kind);
                all.extend(found.into_iter().filter(is_wanted));
            }
        }
        Ok(())
    }

    /// Returns the approximate size of the list in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Types(types) => types.iter().map(|kind| kind.len() + 3).sum(),
            Self::Instances(_, all) => all
                .iter()
                .map(|one| {
                    let texts = [&one.name, &one.kind, &one.deployment, &one.manifest, &one.path];
                    texts.iter().map(|text| text.len()).sum::<usize>() + 64
                })
                .sum(),
        }
    }

    /// Returns the list as JSON.
    pub(super) fn json(&self) -> String {
        let list = match self {
            Self::Types(types) => types.iter().map(|kind| Value::string(kind.clone())).collect(),
            Self::Instances(_, all) => all.iter().map(TypeInstance::to_value).collect(),
        };
        Value::sequence(list).to_json()
    }
}

/// Returns all instances in a manifest.
fn instances(deployment: &str, manifest: &str, json: &[u8]) -> Result<Vec<TypeInstance>> {
    let layout = layout(json).ok_or_else(|| {
        tracing::error!(deployment, manifest, "a manifest of the store cannot be read");
        Status::internal("a manifest of the store cannot be read")
    })?;
    Ok(type_instances(&layout, deployment, manifest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"{"layout": {"resources": [
        {"name": "web", "type": "site.jinja", "properties": {"a": 1}, "resources": [
            {"name": "svc", "type": "Service"}, {"name": "rc", "type": "Pod"}]},
        {"name": "db", "type": "Pod"}]}}"#;

    fn paths(mut collected: Collected) -> String {
        collected.add("web", "manifest-0001", MANIFEST.as_bytes()).unwrap();
        collected.json()
    }

    #[test]
    fn types_are_sorted_and_distinct() {
        assert_eq!(paths(Collected::Types(BTreeSet::new())), r#"["Pod","Service","site.jinja"]"#);
    }

    #[test]
    fn instances_have_the_path_in_the_layout() {
        assert_eq!(
            paths(Collected::Instances(Some("Pod".to_owned()), Vec::new())),
            r#"[{"name":"rc","type":"Pod","deployment":"web","manifest":"manifest-0001","path":"$.resources[0].resources[1]"},{"name":"db","type":"Pod","deployment":"web","manifest":"manifest-0001","path":"$.resources[1]"}]"#
        );
        let all = paths(Collected::Instances(None, Vec::new()));
        assert_eq!(all.matches("\"path\"").count(), 4, "{all}");
    }
}
