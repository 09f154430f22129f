//! Authentication of requests: finds the user by the configured methods.

use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::cluster::Cluster;
use super::delegated::Delegated;
use super::front_proxy::FrontProxy;
use super::request::{Attributes, User, unauthorized};
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
    /// Whether every user is `system:anonymous`.
    pub(crate) anonymous: bool,
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
}

impl Authenticator {
    /// Returns the user of a request.
    ///
    /// # Errors
    /// 401 if no method knows the user; 403 if the request impersonates another user.
    pub async fn authenticate(&self, headers: &HeaderMap, peer: &Peer) -> Result<User> {
        let user = match self.user(headers, peer).await {
            Some(user) => user.authenticated(),
            None => return Err(unauthorized()),
        };
        refuse_impersonation(&user, headers)?;
        Ok(user)
    }

    /// Returns `true` if users can authenticate with a bearer token.
    #[must_use]
    pub fn takes_tokens(&self) -> bool {
        !self.anonymous && (!self.tokens.is_empty() || self.token_review.is_some())
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

    async fn user(&self, headers: &HeaderMap, peer: &Peer) -> Option<User> {
        if self.anonymous {
            return Some(User::anonymous());
        }
        if let Some(user) = self.by_certificate(headers, peer) {
            return Some(user);
        }
        let token = bearer_token(headers)?;
        for tokens in &self.tokens {
            if let Some(user) = tokens.get().user(token) {
                return Some(user.clone());
            }
        }
        match self.token_review.as_ref()?.user(token).await {
            Ok(user) => user,
            Err(error) => {
                tracing::error!("cannot review a token: {error:#}");
                None
            }
        }
    }

    fn by_certificate(&self, headers: &HeaderMap, peer: &Peer) -> Option<User> {
        let settings = self
            .delegated
            .as_ref()
            .and_then(|delegated| delegated.settings());
        let of_files = self
            .front_proxies
            .iter()
            .find_map(|proxy| proxy.get().user(headers, peer));
        let of_cluster = || {
            settings
                .as_ref()
                .and_then(|settings| settings.front_proxy.user(headers, peer))
        };
        if let Some(user) = of_files.or_else(of_cluster) {
            return Some(user);
        }
        let of_files = self.client_cas.iter().find_map(|ca| peer.names(&ca.get()));
        let of_cluster = || peer.names(settings.as_ref()?.client_ca.as_ref()?);
        of_files.or_else(of_cluster).map(|names| client(&names))
    }
}

fn client(names: &Names) -> User {
    User {
        name: names.common_name.clone(),
        groups: names.organizations.clone(),
        ..User::default()
    }
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
    if !headers
        .keys()
        .any(|name| name.as_str().starts_with(IMPERSONATE))
    {
        return Ok(());
    }
    let name = headers
        .get("impersonate-user")
        .and_then(|value| value.to_str().ok());
    let wanted = Attributes {
        verb: "impersonate",
        resource: "users",
        name: name.unwrap_or_default(),
        ..Attributes::default()
    };
    Err(wanted.forbidden(user, "this server does not support impersonation"))
}
