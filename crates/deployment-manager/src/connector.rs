//! The kinds of Config Connector for the types of Google.

use krm_core::kinds::rows;

/// The kind for a type such as `compute.v1.instance` or
/// `gcp-types/compute-v1:instances`.
pub fn config_connector_kind(kind: &str) -> Option<&'static str> {
    let (service, resource) = match kind.strip_prefix("gcp-types/") {
        Some(rest) => {
            let (provider, collection) = rest.split_once(':')?;
            let service = provider.split('-').next()?;
            (service, collection.rsplit('.').next()?)
        }
        None => (kind.split('.').next()?, kind.rsplit('.').next()?),
    };
    let is_meant = |singular: &str| {
        let plural = resource.strip_prefix(singular);
        resource == format!("{}ies", singular.trim_end_matches('y'))
            || plural.is_some_and(|rest| matches!(rest, "" | "s" | "es"))
    };
    rows("connector").find_map(|row| match *row {
        [of, singular, kind] if of == service && is_meant(singular) => Some(kind),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::config_connector_kind;

    #[test]
    fn both_spellings_of_a_type_have_a_kind() {
        for (kind, expected) in [
            ("compute.v1.instance", Some("ComputeInstance")),
            ("compute.beta.instanceTemplate", Some("ComputeInstanceTemplate")),
            ("gcp-types/compute-v1:instances", Some("ComputeInstance")),
            ("gcp-types/compute-v1:addresses", Some("ComputeAddress")),
            ("gcp-types/iam-v1:projects.serviceAccounts", Some("IAMServiceAccount")),
            ("gcp-types/pubsub-v1:projects.topics", Some("PubSubTopic")),
            ("storage.v1.bucket", Some("StorageBucket")),
            ("sqladmin.v1beta4.instance", Some("SQLInstance")),
            ("gcp-types/storage-v1:objects", None),
            ("vm.jinja", None),
        ] {
            assert_eq!(config_connector_kind(kind), expected, "{kind}");
        }
    }
}
