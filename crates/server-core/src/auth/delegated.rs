//! The settings of a cluster for its front proxy and its clients, reread every minute.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context;
use arc_swap::ArcSwapOption;
use tokio::time::sleep;

use super::cluster::Cluster;
use super::front_proxy::FrontProxy;
use crate::tls::ClientCa;

/// The interval between reads of the settings.
const PERIOD: Duration = Duration::from_mins(1);

/// The delay before a retry while there are no settings.
const RETRY: Duration = Duration::from_secs(2);

/// The settings of a cluster.
#[derive(Debug)]
pub(crate) struct Settings {
    data: BTreeMap<String, String>,
    pub(crate) front_proxy: Arc<FrontProxy>,
    /// The certificate authorities of clients that connect directly.
    pub(crate) client_ca: Option<Arc<ClientCa>>,
}

/// The newest settings of a cluster.
pub(crate) struct Delegated {
    cluster: Arc<Cluster>,
    settings: ArcSwapOption<Settings>,
}

impl Delegated {
    /// Reads the settings, and rereads them every minute until the value is dropped. If the first
    /// read fails, there are no settings until a retry succeeds.
    pub(crate) async fn start(cluster: Arc<Cluster>) -> Arc<Self> {
        let delegated = Arc::new(Self {
            cluster,
            settings: ArcSwapOption::empty(),
        });
        delegated.read().await;
        tokio::spawn(follow(Arc::downgrade(&delegated)));
        delegated
    }

    /// Returns the newest settings, or `None` if none have been read yet.
    pub(crate) fn settings(&self) -> Option<Arc<Settings>> {
        self.settings.load_full()
    }

    async fn read(&self) {
        let result = match self.cluster.settings().await {
            Ok(data) => self.take(data),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            tracing::error!("cannot use the cluster's settings for its front proxy: {error:#}");
        }
    }

    fn take(&self, data: BTreeMap<String, String>) -> anyhow::Result<()> {
        // Unchanged CAs keep the results that connections have cached.
        if self.settings().is_some_and(|old| old.data == data) {
            return Ok(());
        }
        let front_proxy = FrontProxy::from_config_map(&data)?
            .context("requestheader-client-ca-file: the cluster has no front proxy")?;
        let client_ca = match data.get("client-ca-file").filter(|pem| !pem.is_empty()) {
            Some(pem) => Some(Arc::new(
                ClientCa::from_pem(pem.as_bytes()).context("client-ca-file")?,
            )),
            None => None,
        };
        let settings = Settings {
            data,
            front_proxy: Arc::new(front_proxy),
            client_ca,
        };
        self.settings.store(Some(Arc::new(settings)));
        Ok(())
    }
}

async fn follow(delegated: Weak<Delegated>) {
    loop {
        let is_empty = delegated
            .upgrade()
            .is_none_or(|delegated| delegated.settings().is_none());
        sleep(if is_empty { RETRY } else { PERIOD }).await;
        let Some(delegated) = delegated.upgrade() else {
            return;
        };
        delegated.read().await;
    }
}
