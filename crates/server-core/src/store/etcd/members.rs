//! The connection to one member of the cluster at a time.
//!
//! All requests use the same member. After a failure, the next member is tried: at once until all
//! have failed, and then with exponential backoff.

use std::path::PathBuf;
use std::sync::Mutex as Lock;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use etcd_client::{Certificate, Client, ConnectOptions, Identity, TlsOptions};
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until};

use crate::store::types::Error;

/// The pause after all members have failed once. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// etcd closes connections that ping more often than every 5 seconds.
const PING_INTERVAL: Duration = Duration::from_secs(6);
const PING_PATIENCE: Duration = Duration::from_secs(3);
/// The interval between checks of the TLS files.
const FILES_INTERVAL: Duration = Duration::from_secs(5);

/// The options of the connection to etcd.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct EtcdOptions {
    /// The URLs of the etcd members
    #[arg(
        long = "etcd-endpoints",
        value_name = "URL",
        value_delimiter = ',',
        required_if_eq("store", "etcd")
    )]
    pub endpoints: Vec<String>,

    /// The prefix of all keys in etcd
    #[arg(long = "etcd-prefix", value_name = "PREFIX", default_value = "/krm-template/v1")]
    pub prefix: String,

    /// The CA certificates for the etcd members, in PEM; reread when they change
    #[arg(long = "etcd-cafile", value_name = "FILE")]
    pub ca_file: Option<PathBuf>,

    /// The client certificate for etcd, in PEM; reread when it changes
    #[arg(long = "etcd-certfile", value_name = "FILE", requires = "key_file")]
    pub cert_file: Option<PathBuf>,

    /// The private key of the client certificate for etcd, in PEM; reread when it changes
    #[arg(long = "etcd-keyfile", value_name = "FILE", requires = "cert_file")]
    pub key_file: Option<PathBuf>,
}

/// The members of the cluster.
#[derive(Debug)]
pub(super) struct Members {
    options: EtcdOptions,
    state: Mutex<State>,
    /// The number of failures since the last success.
    failures: AtomicUsize,
    /// The number of connections so far.
    connections: watch::Sender<u64>,
    /// The time of the last response from a quorum.
    quorum: Lock<Option<Instant>>,
}

struct State {
    client: Option<Client>,
    /// The index of the current endpoint, modulo the number of endpoints.
    endpoint: usize,
    not_before: Instant,
    files: Vec<Option<SystemTime>>,
    files_seen: Instant,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// A connection and its number.
pub(super) struct Member {
    pub(super) client: Client,
    pub(super) connection: u64,
}

impl Members {
    /// Creates the members of the options, without sending a request.
    pub(super) async fn new(options: EtcdOptions) -> Result<Self, Error> {
        let wrong = |why: &str| Err(Error::Unavailable(format!("etcd: {why}")));
        if options.endpoints.is_empty() {
            return wrong("no endpoints");
        }
        if options.cert_file.is_some() != options.key_file.is_some() {
            return wrong("a client certificate needs its key, and the key its certificate");
        }
        let now = Instant::now();
        let state = State {
            client: None,
            endpoint: 0,
            not_before: now,
            files: Vec::new(),
            files_seen: now,
        };
        let state = Mutex::new(state);
        let connections = watch::Sender::new(0);
        let failures = AtomicUsize::new(0);
        let members = Self { options, state, failures, connections, quorum: Lock::new(None) };
        // Detects missing or invalid files.
        members.member().await.map_err(|why| Error::Unavailable(format!("etcd: {why}")))?;
        Ok(members)
    }

    /// Returns the current connection. Waits if all members have failed. The error names the
    /// invalid file or URL.
    pub(super) async fn member(&self) -> Result<Member, String> {
        let mut state = self.state.lock().await;
        if state.client.is_some() && state.files_seen.elapsed() >= FILES_INTERVAL {
            state.files_seen = Instant::now();
            if self.files().await != state.files {
                state.client = None;
            }
        }
        if let Some(client) = state.client.clone() {
            return Ok(Member { client, connection: *self.connections.borrow() });
        }
        sleep_until(state.not_before).await;
        state.files = self.files().await;
        state.files_seen = Instant::now();
        let place = state.endpoint % self.options.endpoints.len();
        let endpoint = self.options.endpoints.get(place).cloned().unwrap_or_default();
        let client = self.connect(&endpoint).await;
        let client = client.map_err(|why| format!("{endpoint}: {why}"))?;
        state.client = Some(client.clone());
        self.connections.send_modify(|connections| *connections += 1);
        Ok(Member { client, connection: *self.connections.borrow() })
    }

    /// Records a response from a quorum. Does not wait for a connection, which others may wait for.
    pub(super) fn succeeded(&self) {
        *self.quorum.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.failures.store(0, Ordering::Relaxed);
    }

    /// Records that a connection failed, so the next one goes to another member.
    pub(super) async fn failed(&self, connection: u64) {
        let mut state = self.state.lock().await;
        if state.client.is_none() || *self.connections.borrow() != connection {
            return;
        }
        state.client = None;
        state.endpoint = state.endpoint.wrapping_add(1);
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(rounds) = failures.checked_sub(self.options.endpoints.len()) {
            state.not_before = Instant::now() + pause(rounds);
        }
    }

    /// Returns the time since the last response from a quorum, or `None` if there was none.
    pub(super) fn since_last_quorum(&self) -> Option<Duration> {
        let quorum = self.quorum.lock().unwrap_or_else(PoisonError::into_inner);
        quorum.map(|quorum| quorum.elapsed())
    }

    /// Returns a receiver that is notified when the connection changes.
    pub(super) fn connections(&self) -> watch::Receiver<u64> {
        self.connections.subscribe()
    }

    async fn connect(&self, endpoint: &str) -> Result<Client, String> {
        let mut options = ConnectOptions::new()
            .with_connect_timeout(CONNECT_TIMEOUT)
            .with_keep_alive(PING_INTERVAL, PING_PATIENCE)
            .with_keep_alive_while_idle(true)
            .with_require_leader(true);
        let file = async |path: &PathBuf| {
            let text = tokio::fs::read(path).await;
            text.map_err(|error| format!("{}: {error}", path.display()))
        };
        let mut tls = TlsOptions::new();
        if let Some(path) = &self.options.ca_file {
            tls = tls.ca_certificate(Certificate::from_pem(file(path).await?));
        }
        if let (Some(cert), Some(key)) = (&self.options.cert_file, &self.options.key_file) {
            tls = tls.identity(Identity::from_pem(file(cert).await?, file(key).await?));
        }
        if endpoint.starts_with("https://") {
            options = options.with_tls(tls);
        }
        Client::connect([endpoint], Some(options)).await.map_err(|error| error.to_string())
    }

    /// Returns the modification times of the TLS files.
    async fn files(&self) -> Vec<Option<SystemTime>> {
        let options = &self.options;
        let mut times = Vec::new();
        for path in [&options.ca_file, &options.cert_file, &options.key_file].into_iter().flatten()
        {
            let metadata = tokio::fs::metadata(path).await;
            times.push(metadata.and_then(|metadata| metadata.modified()).ok());
        }
        times
    }
}

/// Returns an exponentially growing pause of at most 5 s, half of which is random.
pub(super) fn pause(rounds: usize) -> Duration {
    let doublings = u32::try_from(rounds).unwrap_or(u32::MAX).min(16);
    let longest = (FIRST_PAUSE * 2_u32.saturating_pow(doublings)).min(LAST_PAUSE);
    // Without randomness, the pauses are just spread less well.
    let random = getrandom::u32().unwrap_or(u32::MAX);
    longest / 2 + (longest / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}
