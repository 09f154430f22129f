//! Authentication of requests: finds the user by the configured methods.

use std::net::SocketAddr;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio::time::Instant;

use super::cluster::Cluster;
use super::delegated::{Delegated, Settings};
use super::front_proxy::FrontProxy;
use super::request::{Attributes, User, unauthorized};
use super::sessions::Sessions;
use super::site::{Hosts, RequestOrigin};
use super::throttle::Throttle;
use super::tokens::Tokens;
use crate::reload::Watched;
use crate::status::Result;
use crate::tls::{ClientCa, Names, Peer};

/// The prefix of impersonation headers.
const IMPERSONATE: &str = "impersonate-";

/// The authentication methods. The first one that knows the user wins.
///
/// Like kube-apiserver, it tries front proxy headers, client certificates, token files and token
/// reviews in this order.
#[derive(Default)]
pub struct Authenticator {
    /// The hosts of a server on which every user is `system:anonymous`.
    pub(crate) anonymous: Option<Hosts>,
    /// The front proxies that the arguments describe.
    pub(crate) front_proxies: Vec<Arc<Watched<FrontProxy>>>,
    /// The front proxy and the client CA of a cluster.
    pub(crate) delegated: Option<Arc<Delegated>>,
    /// The certificate authorities that sign client certificates.
    pub(crate) client_cas: Vec<Arc<Watched<Arc<ClientCa>>>>,
    /// The token files, which are reread when they change.
    pub(crate) tokens: Vec<Arc<Watched<Tokens>>>,
    /// The cluster that reviews tokens.
    pub(crate) token_review: Option<Arc<Cluster>>,
    /// The logins in browsers.
    pub sessions: Sessions,
    /// The delays of answers to wrong tokens.
    pub(crate) throttle: Throttle,
}

impl Authenticator {
    /// Returns the user of a request.
    ///
    /// # Errors
    /// 401 if no method knows the user; 403 if the request impersonates another user, or if the
    /// page of another site may have sent it with the credentials of a browser.
    pub async fn authenticate(&self, headers: &HeaderMap, peer: &Peer) -> Result<User> {
        let user = match self.user(headers, peer).await? {
            Some(user) => user.authenticated(),
            None => return Err(unauthorized()),
        };
        refuse_impersonation(&user, headers)?;
        Ok(user)
    }

    /// Returns `true` if users can authenticate with a bearer token.
    pub fn takes_tokens(&self) -> bool {
        self.anonymous.is_none() && (!self.tokens.is_empty() || self.token_review.is_some())
    }

    /// Returns `true` if a file of this server has a user of an earlier request, with all groups of
    /// then.
    pub fn lists(&self, user: &User) -> bool {
        self.tokens.iter().any(|tokens| tokens.get().is_some_and(|tokens| tokens.has(user)))
    }

    /// Returns `true` if files of this server have all users.
    pub fn lists_all(&self) -> bool {
        let has_others = !self.front_proxies.is_empty()
            || self.delegated.is_some()
            || !self.client_cas.is_empty()
            || self.token_review.is_some();
        !self.tokens.is_empty() && !has_others
    }

    /// Checks that requests can be authenticated.
    ///
    /// # Errors
    /// If the cluster's settings for its front proxy have not been read yet.
    pub fn ready(&self) -> std::result::Result<(), &'static str> {
        match &self.delegated {
            Some(delegated) if delegated.settings().is_none() => {
                Err("the cluster's settings for its front proxy are not read yet")
            }
            _ => Ok(()),
        }
    }

    /// Sets the address on which the server listens, if the system has chosen its port.
    pub const fn listens_on(&mut self, listen: SocketAddr) {
        if let Some(hosts) = &mut self.anonymous {
            hosts.listens_on(listen);
        }
    }

    /// Waits if this peer has sent many wrong tokens, of which the current request has one.
    pub async fn slow_down(&self, peer: &Peer) {
        let delay = self.throttle.delay(peer.address().ip(), Instant::now());
        tokio::time::sleep(delay).await;
    }

    async fn user(&self, headers: &HeaderMap, peer: &Peer) -> Result<Option<User>> {
        if let Some(hosts) = &self.anonymous {
            hosts.check(headers, peer)?;
            return Ok(Some(User::anonymous()));
        }
        let settings = self.delegated.as_ref().and_then(|delegated| delegated.settings());
        let settings = settings.as_deref();
        if let Some(user) = self.by_front_proxy(settings, headers, peer) {
            return Ok(Some(user));
        }
        match self.by_certificate(settings, peer) {
            Some(_) if RequestOrigin::of(headers, peer) == RequestOrigin::Cross => {
                Err(RequestOrigin::forbidden())
            }
            Some(user) => Ok(Some(user)),
            None => Ok(self.by_token(headers).await),
        }
    }

    async fn by_token(&self, headers: &HeaderMap) -> Option<User> {
        let token = bearer_token(headers)?;
        for tokens in &self.tokens {
            if let Some(user) = tokens.get().and_then(|tokens| tokens.user(token).cloned()) {
                return Some(user);
            }
        }
        // Boxed, because the future is large.
        match Box::pin(self.token_review.as_ref()?.user(token)).await {
            Ok(user) => user,
            Err(error) => {
                tracing::error!("cannot review a token: {error:#}");
                None
            }
        }
    }

    fn by_front_proxy(
        &self,
        settings: Option<&Settings>,
        headers: &HeaderMap,
        peer: &Peer,
    ) -> Option<User> {
        let of_files = self.front_proxies.iter().find_map(|proxy| proxy.get()?.user(headers, peer));
        of_files.or_else(|| settings?.front_proxy.user(headers, peer))
    }

    fn by_certificate(&self, settings: Option<&Settings>, peer: &Peer) -> Option<User> {
        let of_files = self.client_cas.iter().find_map(|ca| peer.names(&*ca.get()?));
        let of_cluster = || peer.names(settings?.client_ca.as_ref()?);
        of_files.or_else(of_cluster).map(|names| client(&names))
    }
}

fn client(names: &Names) -> User {
    User { name: names.common_name.clone(), groups: names.organizations.clone(), ..User::default() }
}

/// Returns the token of `Authorization: Bearer TOKEN`. The scheme is case-insensitive.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(' ')?;
    let token = token.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Rejects impersonation. Ignoring the headers would run the request with the permissions of its
/// sender.
fn refuse_impersonation(user: &User, headers: &HeaderMap) -> Result<()> {
    if !headers.keys().any(|name| name.as_str().starts_with(IMPERSONATE)) {
        return Ok(());
    }
    let name = headers.get("impersonate-user").and_then(|value| value.to_str().ok());
    let wanted = Attributes::impersonating("users", "", name.unwrap_or_default());
    Err(wanted.forbidden(user, "this server does not support impersonation"))
}
