//! The settings of a cluster for its front proxy and its clients, reread every ten seconds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use anyhow::Context;
use arc_swap::ArcSwapOption;
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, sleep};

use super::cluster::Cluster;
use super::front_proxy::FrontProxy;
use crate::reload::{self, Reload};
use crate::tls::{self, ClientCa};

/// The interval between reads of the settings.
const PERIOD: Duration = Duration::from_secs(10);

/// The delay before a retry while the settings cannot be read.
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
    /// The files with CAs and certificates that the server uses for something else.
    others: Vec<PathBuf>,
    /// Since when the settings cannot be used.
    failed: Mutex<Option<Instant>>,
}

impl Delegated {
    /// Reads the settings, and rereads them every ten seconds until the value is dropped. If the first
    /// read fails, there are no settings until a retry succeeds.
    pub(crate) async fn start(cluster: Arc<Cluster>, others: Vec<PathBuf>) -> Arc<Self> {
        let delegated = Arc::new(Self {
            cluster,
            settings: ArcSwapOption::empty(),
            others,
            failed: Mutex::default(),
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
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(()) => *failed = None,
            Err(error) => {
                failed.get_or_insert_with(Instant::now);
                tracing::error!("cannot use the cluster's settings for its front proxy: {error:#}");
            }
        }
    }

    fn take(&self, data: BTreeMap<String, String>) -> anyhow::Result<()> {
        // Unchanged CAs keep the results that connections have cached.
        if self.settings().is_some_and(|old| old.data == data) {
            return Ok(());
        }
        let front_proxy = FrontProxy::from_config_map(&data)?
            .context("requestheader-client-ca-file: the cluster has no front proxy")?;
        if front_proxy.allowed_names.is_empty() {
            let others = reload::read(&self.others)?;
            let others = others.iter().map(|other| other.bytes.as_slice());
            let clients = data.get("client-ca-file").map(String::as_bytes);
            let roots = self.cluster.roots.iter().cloned().map(CertificateDer::from);
            let others = others.chain(clients).flat_map(tls::certificates);
            let others: Vec<_> = others.chain(roots).collect();
            front_proxy.check(&others)?;
        }
        let client_ca = match data.get("client-ca-file").filter(|pem| !pem.is_empty()) {
            Some(pem) => {
                Some(Arc::new(ClientCa::from_pem(pem.as_bytes()).context("client-ca-file")?))
            }
            None => None,
        };
        let settings = Settings { data, front_proxy: Arc::new(front_proxy), client_ca };
        self.settings.store(Some(Arc::new(settings)));
        Ok(())
    }
}

impl Reload for Delegated {
    /// Only ends the old settings: they are read by a task of their own.
    fn reload(&self, grace: Duration) {
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = failed.is_some_and(|since| since.elapsed() >= grace);
        if is_over && self.settings.swap(None).is_some() {
            tracing::error!("the old settings of the cluster's front proxy count no more");
        }
    }

    fn state(&self) -> (&'static str, bool) {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        ("--auth front-proxy", failed.is_some())
    }
}

async fn follow(delegated: Weak<Delegated>) {
    loop {
        let is_failing = delegated.upgrade().is_none_or(|delegated| delegated.state().1);
        sleep(if is_failing { RETRY } else { PERIOD }).await;
        let Some(delegated) = delegated.upgrade() else {
            return;
        };
        delegated.read().await;
    }
}
