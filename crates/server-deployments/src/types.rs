//! The types of a namespace and their instances, from the latest manifests.

use std::collections::BTreeSet;

use krm_template_deployment_manager::instances::{TypeInstance, type_instances};
use krm_yaml::Value;

use super::manifest::layout;
use krm_template_server_core::status::{Result, Status};

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
