//! The kinds of Config Connector for the types of Google.

/// Ends of types after the service, and the kinds.
const KINDS: &[(&str, &str, &str)] = &[
    ("compute", "instance", "ComputeInstance"),
    ("compute", "firewall", "ComputeFirewall"),
    ("compute", "network", "ComputeNetwork"),
    ("compute", "subnetwork", "ComputeSubnetwork"),
    ("compute", "route", "ComputeRoute"),
    ("compute", "router", "ComputeRouter"),
    ("compute", "disk", "ComputeDisk"),
    ("compute", "image", "ComputeImage"),
    ("compute", "address", "ComputeAddress"),
    ("compute", "globalAddress", "ComputeAddress"),
    ("compute", "instanceTemplate", "ComputeInstanceTemplate"),
    ("compute", "instanceGroupManager", "ComputeInstanceGroupManager"),
    ("compute", "regionInstanceGroupManager", "ComputeInstanceGroupManager"),
    ("compute", "targetPool", "ComputeTargetPool"),
    ("compute", "forwardingRule", "ComputeForwardingRule"),
    ("compute", "globalForwardingRule", "ComputeForwardingRule"),
    ("compute", "healthCheck", "ComputeHealthCheck"),
    ("compute", "httpHealthCheck", "ComputeHTTPHealthCheck"),
    ("compute", "httpsHealthCheck", "ComputeHTTPSHealthCheck"),
    ("compute", "backendService", "ComputeBackendService"),
    ("compute", "regionBackendService", "ComputeBackendService"),
    ("compute", "urlMap", "ComputeURLMap"),
    ("compute", "targetHttpProxy", "ComputeTargetHTTPProxy"),
    ("compute", "targetHttpsProxy", "ComputeTargetHTTPSProxy"),
    ("compute", "targetSslProxy", "ComputeTargetSSLProxy"),
    ("compute", "targetTcpProxy", "ComputeTargetTCPProxy"),
    ("storage", "bucket", "StorageBucket"),
    ("pubsub", "topic", "PubSubTopic"),
    ("pubsub", "subscription", "PubSubSubscription"),
    ("sqladmin", "instance", "SQLInstance"),
    ("sqladmin", "database", "SQLDatabase"),
    ("sqladmin", "user", "SQLUser"),
    ("container", "cluster", "ContainerCluster"),
    ("dns", "managedZone", "DNSManagedZone"),
    ("dns", "resourceRecordSet", "DNSRecordSet"),
    ("iam", "serviceAccount", "IAMServiceAccount"),
];

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
    let found = KINDS.iter().find(|(of, singular, _)| *of == service && is_meant(singular));
    found.map(|(_, _, kind)| *kind)
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
