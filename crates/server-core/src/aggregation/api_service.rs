//! The registration of the server with kube-apiserver.
//!
//! If a CustomResourceDefinition has the group, kube-apiserver replaces the registration by its own,
//! and the server gets no more requests, without any error.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::{Api, Client};
use tokio::time::{sleep, timeout};

use crate::auth::cluster::TIMEOUT;

/// The name of the registration.
const NAME: &str = "v1alpha1.template.krm.dev";

/// The interval between checks.
const PERIOD: Duration = Duration::from_secs(30);

/// The registration of the server, and whether it is its own.
pub struct ApiService {
    registered: Api<APIService>,
    /// The namespace of the server, if it runs in the cluster.
    own: Option<String>,
    problem: ArcSwapOption<String>,
}

impl ApiService {
    /// Checks the registration now, and again every 30 seconds.
    pub(super) async fn start(client: Client, own: Option<String>) -> Arc<Self> {
        let service =
            Arc::new(Self { registered: Api::all(client), own, problem: ArcSwapOption::empty() });
        service.check().await;
        let followed = Arc::clone(&service);
        tokio::spawn(async move {
            loop {
                sleep(PERIOD).await;
                followed.check().await;
            }
        });
        service
    }

    /// Returns the reason if kube-apiserver does not pass requests on to this server.
    ///
    /// # Errors
    /// The reason. If the registration cannot be read, there is none.
    pub fn ready(&self) -> Result<(), String> {
        let problem = self.problem.load_full();
        problem.map_or(Ok(()), |problem| Err((*problem).clone()))
    }

    async fn check(&self) {
        let found = match timeout(TIMEOUT, self.registered.get_opt(NAME)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                return tracing::warn!("cannot read the APIService {NAME}: {error}");
            }
            Err(_) => return tracing::warn!("cannot read the APIService {NAME}: no answer"),
        };
        let problem = problem(found.as_ref(), self.own.as_deref());
        let before = self.problem.load_full();
        match (&problem, before) {
            (Some(problem), before) if before.as_deref() != Some(problem) => {
                tracing::error!("{problem}");
            }
            (None, Some(_)) => tracing::info!("the APIService {NAME} names this server again"),
            _ => {}
        }
        self.problem.store(problem.map(Arc::new));
    }
}

/// Returns the reason if a registration is not that of a server in a namespace.
fn problem(found: Option<&APIService>, own: Option<&str>) -> Option<String> {
    let Some(found) = found else {
        return Some(format!(
            "the APIService {NAME} does not exist, so kube-apiserver passes no requests on: apply \
             the manifest api-service-krm.yaml"
        ));
    };
    let service = found.spec.as_ref().and_then(|spec| spec.service.as_ref());
    let Some(service) = service else {
        return Some(format!(
            "the APIService {NAME} belongs to CustomResourceDefinitions, so kube-apiserver passes no \
             requests on: delete the CustomResourceDefinitions of the group template.krm.dev and the \
             APIService, then apply the manifest api-service-krm.yaml"
        ));
    };
    let namespace = service.namespace.as_deref().unwrap_or_default();
    let is_other = own.is_some_and(|own| own != namespace);
    is_other.then(|| {
        let name = service.name.as_deref().unwrap_or_default();
        format!(
            "the APIService {NAME} names the Service {name} of the namespace {namespace}, which is \
             not that of this server"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(spec: &str) -> APIService {
        serde_json::from_str(&format!("{{\"spec\":{spec}}}")).unwrap()
    }

    #[test]
    fn a_registration_that_is_not_its_own_is_a_problem() {
        let group =
            r#""group":"template.krm.dev","groupPriorityMinimum":1000,"versionPriority":15"#;
        let local = registered(&format!("{{{group}}}"));
        let service = r#""service":{"name":"s","namespace":"krm-template"}"#;
        let own = registered(&format!("{{{group},{service}}}"));
        for (found, namespace, words) in [
            (None, None, Some("does not exist")),
            (Some(&local), None, Some("CustomResourceDefinitions")),
            (Some(&own), None, None),
            (Some(&own), Some("krm-template"), None),
            (Some(&own), Some("other"), Some("the Service s of the namespace krm-template")),
        ] {
            let problem = problem(found, namespace);
            match words {
                Some(words) => assert!(problem.unwrap().contains(words)),
                None => assert_eq!(problem, None),
            }
        }
    }
}
