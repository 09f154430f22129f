//! Who sends a request.

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

/// What impersonation headers begin with.
const IMPERSONATE: &str = "impersonate-";

/// Asks all ways to authenticate, in the order of kube-apiserver: the front proxy's headers,
/// client certificates, tokens of a file, tokens of a cluster. The first that knows the user wins.
#[derive(Default)]
pub struct Authenticator {
    /// Everybody is `system:anonymous`.
    pub(crate) anonymous: bool,
    /// Proxies of files.
    pub(crate) front_proxies: Vec<Arc<Watched<FrontProxy>>>,
    /// The proxy and clients of a cluster.
    pub(crate) delegated: Option<Arc<Delegated>>,
    /// What vouches for clients.
    pub(crate) client_cas: Vec<Arc<Watched<Arc<ClientCa>>>>,
    /// Files of tokens.
    pub(crate) tokens: Vec<Arc<Watched<Tokens>>>,
    /// The cluster that reviews tokens.
    pub(crate) token_review: Option<Arc<Cluster>>,
}

impl Authenticator {
    /// The sender of a request.
    ///
    /// # Errors
    /// 401 if no way to authenticate knows the sender; 403 if they want to act as another user.
    pub async fn authenticate(&self, headers: &HeaderMap, peer: &Peer) -> Result<User> {
        let user = match self.user(headers, peer).await {
            Some(user) => user.authenticated(),
            None => return Err(unauthorized()),
        };
        refuse_impersonation(&user, headers)?;
        Ok(user)
    }

    /// Whether a user can show who they are by a token.
    #[must_use]
    pub fn takes_tokens(&self) -> bool {
        !self.anonymous && (!self.tokens.is_empty() || self.token_review.is_some())
    }

    /// Whether everything is there that is needed to know a user: the error says what is not.
    ///
    /// # Errors
    /// If the settings of the cluster's front proxy could not be read yet.
    pub fn ready(&self) -> std::result::Result<(), &'static str> {
        match &self.delegated {
            Some(delegated) if delegated.settings().is_none() => {
                Err("the cluster's settings for its front proxy were not read yet")
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

/// The token of `Authorization: Bearer TOKEN`; the word's case does not matter.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(' ')?;
    let token = token.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Refuses a request on behalf of another user: to serve it as the sender's own would give it
/// rights that it does not expect.
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
