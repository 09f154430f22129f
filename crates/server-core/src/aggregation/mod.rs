//! The namespaces of the cluster around a server behind a kube-apiserver, and its registration there.
//!
//! | file | purpose |
//! |---|---|
//! | `namespaces` | which namespaces exist, and which are being deleted |
//! | `api_service` | whether kube-apiserver passes requests on to this server |

mod api_service;
mod namespaces;

use std::path::Path;
use std::sync::Arc;

pub use api_service::ApiService;
pub use namespaces::Namespaces;

use crate::auth::cluster;

/// The knowledge of a cluster, which is kept current.
pub struct Aggregation {
    /// The namespaces of the cluster.
    pub namespaces: Arc<Namespaces>,
    /// The registration of this server.
    pub api_service: Arc<ApiService>,
}

impl Aggregation {
    /// Begins to follow the cluster of the kubeconfig, or else the cluster in which the server runs.
    ///
    /// # Errors
    /// The same as [`cluster::client`].
    pub async fn start(kubeconfig: Option<&Path>) -> anyhow::Result<Self> {
        let client = cluster::client(kubeconfig).await?;
        let own = kubeconfig.is_none();
        let own = own.then(|| client.default_namespace().to_owned());
        Ok(Self {
            api_service: ApiService::start(client.clone(), own).await,
            namespaces: Namespaces::start(client),
        })
    }
}
