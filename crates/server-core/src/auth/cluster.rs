//! Authentication and authorization by a cluster.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use http::header::CONTENT_TYPE;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Collected, Limited};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::cache::Cache;
use super::request::{Attributes, Decision, User};

/// How long a response of the cluster is cached.
pub const LIFETIME: Duration = Duration::from_secs(10);

/// The maximum number of cached responses of each kind.
const CAPACITY: usize = 4_096;

/// The timeout of a request to the cluster.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of concurrent requests of each kind.
const AT_ONCE: usize = 32;

/// The path of the ConfigMap with the settings for extension API servers.
const SETTINGS: &str =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

const TOKEN_REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";

const ACCESS_REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// The maximum size of a response, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// The maximum length of a logged 403 message, in characters.
const MAX_REFUSAL: usize = 300;

/// The error if a client cannot be created.
const NO_CLIENT: &str = "cannot set up a client of the cluster";

/// Creates a client for the current context of the kubeconfig, or else for the cluster in which the
/// server runs. The client does not retry requests.
///
/// # Errors
/// If the kubeconfig cannot be used, or if there is none and the server does not run in a cluster.
pub async fn client(kubeconfig: Option<&Path>) -> anyhow::Result<Client> {
    let mut config = config(kubeconfig).await?;
    config.default_retry = false;
    Client::try_from(config).context(NO_CLIENT)
}

async fn config(kubeconfig: Option<&Path>) -> anyhow::Result<Config> {
    let mut config = match kubeconfig {
        Some(path) => {
            let about = || format!("cannot use the kubeconfig {}", path.display());
            let kubeconfig = Kubeconfig::read_from(path).with_context(about)?;
            let options = KubeConfigOptions::default();
            Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(about)?
        }
        None => {
            Config::incluster().context("the server does not run in a cluster: set --kubeconfig")?
        }
    };
    config.connect_timeout = Some(TIMEOUT);
    config.write_timeout = Some(TIMEOUT);
    Ok(config)
}

/// A cluster, and a cache of its responses.
pub struct Cluster {
    client: Client,
    /// The CAs of the cluster, in DER.
    pub(crate) roots: Vec<Vec<u8>>,
    timeout: Duration,
    tokens: Answers<Option<User>>,
    decisions: Answers<Decision>,
}

/// Cached responses of one kind, and the permits to ask for others.
struct Answers<T> {
    known: Cache<T>,
    asking: Semaphore,
}

impl<T: Clone> Answers<T> {
    const fn new() -> Self {
        Self { known: Cache::new(LIFETIME, CAPACITY), asking: Semaphore::const_new(AT_ONCE) }
    }

    /// Returns the known answer, or asks for it.
    async fn get(
        &self,
        key: [u8; 32],
        ask: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        let _permit = self.asking.acquire().await?;
        if let Some(known) = self.known.get(&key, Instant::now()) {
            return Ok(known);
        }
        let answer = ask.await?;
        self.known.put(key, answer.clone(), Instant::now());
        Ok(answer)
    }
}

impl Cluster {
    /// Uses the current context of the kubeconfig, or else the cluster in which the server runs.
    ///
    /// # Errors
    /// If the kubeconfig cannot be used, or if there is none and the server does not run in a
    /// cluster.
    pub async fn of(kubeconfig: Option<&Path>) -> anyhow::Result<Self> {
        let config = config(kubeconfig).await?;
        let roots = config.root_cert.clone().unwrap_or_default();
        let client = Client::try_from(config).context(NO_CLIENT)?;
        Ok(Self { roots, ..Self::new(client, TIMEOUT) })
    }

    /// Uses `client`, with `timeout` for each call.
    #[must_use]
    pub const fn new(client: Client, timeout: Duration) -> Self {
        Self {
            client,
            roots: Vec::new(),
            timeout,
            tokens: Answers::new(),
            decisions: Answers::new(),
        }
    }

    /// Returns the user of a bearer token by a `TokenReview`, or `None` if the token is not valid.
    ///
    /// # Errors
    /// If the review fails.
    pub async fn user(&self, token: &str) -> anyhow::Result<Option<User>> {
        let key = Sha256::digest(token.as_bytes()).into();
        match self.tokens.known.get(&key, Instant::now()) {
            Some(known) => Ok(known),
            None => self.within(self.tokens.get(key, self.review_token(token))).await,
        }
    }

    /// Decides by a `SubjectAccessReview` whether a user may send a request.
    ///
    /// # Errors
    /// If the review fails.
    pub async fn decide(&self, user: &User, wanted: &Attributes<'_>) -> anyhow::Result<Decision> {
        let spec = access_review(user, wanted);
        let key = Sha256::digest(serde_json::to_vec(&spec)?).into();
        match self.decisions.known.get(&key, Instant::now()) {
            Some(known) => Ok(known),
            None => self.within(self.decisions.get(key, self.review_access(spec))).await,
        }
    }

    /// Reads the settings for extension API servers, such as the CA of the front proxy.
    ///
    /// # Errors
    /// If the cluster does not answer, or does not have the ConfigMap.
    pub async fn settings(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let request = Request::get(SETTINGS).body(Vec::new())?;
        let get = self.ask::<ConfigMap>(request);
        let about = || format!("cannot read {SETTINGS}");
        Ok(self.within(get).await.with_context(about)?.data.unwrap_or_default())
    }

    async fn within<T>(
        &self,
        asking: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        timeout(self.timeout, asking).await.context("the cluster does not answer")?
    }

    /// Sends a request and parses the response.
    ///
    /// `Client::request` would log a response that it cannot parse, and a `TokenReview` has the
    /// token. For the same reason, the parse error is dropped.
    async fn ask<T: DeserializeOwned>(&self, request: Request<Vec<u8>>) -> anyhow::Result<T> {
        let response = self.client.send(request.map(Body::from)).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
        let Ok(body) = body.map(Collected::to_bytes) else {
            bail!("the response of the cluster is incomplete or too large");
        };
        if status.is_success() {
            let answer = serde_json::from_slice(&body).ok();
            return answer.context("the cluster's answer cannot be read");
        }
        if status == StatusCode::FORBIDDEN {
            let refusal: Value = serde_json::from_slice(&body).unwrap_or_default();
            let message = refusal.get("message").and_then(Value::as_str).unwrap_or_default();
            let message: String = message.chars().take(MAX_REFUSAL).collect();
            bail!("the cluster answers {status}: {message}");
        }
        bail!("the cluster answers {status}")
    }

    async fn review_token(&self, token: &str) -> anyhow::Result<Option<User>> {
        let spec = TokenReviewSpec { token: token.to_owned(), ..TokenReviewSpec::default() };
        let review = TokenReview { spec, ..TokenReview::default() };
        let answer: TokenReview = self.ask(post(TOKEN_REVIEWS, &review)?).await?;
        let status = answer.status.context("the TokenReview has no status")?;
        if !status.authenticated.unwrap_or_default() {
            return match status.error.filter(|error| !error.is_empty()) {
                Some(_) => bail!("the cluster could not review the token"),
                None => Ok(None),
            };
        }
        let user = status.user.unwrap_or_default();
        let name = user.username.filter(|name| !name.is_empty());
        Ok(Some(User {
            name: name.context("the TokenReview has no user name")?,
            uid: user.uid.unwrap_or_default(),
            groups: user.groups.unwrap_or_default(),
            extra: user.extra.unwrap_or_default(),
        }))
    }

    async fn review_access(&self, spec: SubjectAccessReviewSpec) -> anyhow::Result<Decision> {
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let answer: SubjectAccessReview = self.ask(post(ACCESS_REVIEWS, &review)?).await?;
        let status = answer.status.context("the SubjectAccessReview has no status")?;
        let allowed = status.allowed && !status.denied.unwrap_or_default();
        Ok(Decision { allowed, reason: status.reason.unwrap_or_default() })
    }
}

fn post(path: &str, object: &impl Serialize) -> anyhow::Result<Request<Vec<u8>>> {
    let request = Request::post(path).header(CONTENT_TYPE, "application/json");
    Ok(request.body(serde_json::to_vec(object)?)?)
}

fn access_review(user: &User, wanted: &Attributes<'_>) -> SubjectAccessReviewSpec {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let resource_attributes = wanted.path.is_none().then(|| ResourceAttributes {
        verb: text(wanted.verb),
        group: text(wanted.group),
        version: text(wanted.version),
        resource: text(wanted.resource),
        subresource: text(wanted.subresource),
        namespace: text(wanted.namespace),
        name: text(wanted.name),
        ..ResourceAttributes::default()
    });
    let non_resource_attributes =
        wanted.path.map(|path| NonResourceAttributes { path: text(path), verb: text(wanted.verb) });
    SubjectAccessReviewSpec {
        user: text(&user.name),
        uid: text(&user.uid),
        groups: (!user.groups.is_empty()).then(|| user.groups.clone()),
        extra: (!user.extra.is_empty()).then(|| user.extra.clone()),
        resource_attributes,
        non_resource_attributes,
    }
}
