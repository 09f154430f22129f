//! Authorization of requests: by roles in files, by a cluster, or none.

use std::sync::Arc;

use super::cluster::Cluster;
use super::rbac::{Policy, Rule};
use super::request::{Attributes, Decision, MASTERS, User};
use crate::reload::Watched;
use crate::status::Result;

/// The reason if the files with roles could not be used for too long.
const NO_ROLES: &str = "the files of --rbac cannot be read";

/// The authority that decides what a user may do.
pub enum Authorizer {
    /// No authority: every user may do everything.
    Everything,
    /// RBAC roles and bindings from files.
    Rbac(Arc<Watched<Policy>>),
    /// A cluster, which is asked with `SubjectAccessReview`s.
    Cluster(Arc<Cluster>),
}

/// The permissions of a user in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// The rules that apply to the user.
    pub rules: Vec<Rule>,
    /// Whether there may be more rules.
    pub is_incomplete: bool,
    /// The error; empty if there is none.
    pub error: String,
}

impl Authorizer {
    /// Checks that a user may send a request. Users of the group `system:masters` may do
    /// everything.
    ///
    /// Health checks need no authorization: see [`is_health`](super::is_health).
    ///
    /// # Errors
    /// 403 if the request is denied, or if the cluster cannot decide.
    pub async fn authorize(&self, user: &User, wanted: &Attributes<'_>) -> Result<()> {
        let Decision { allowed, reason } = self.decide(user, wanted).await;
        if allowed { Ok(()) } else { Err(wanted.forbidden(user, &reason)) }
    }

    /// Decides whether a user may send a request, like [`authorize`](Self::authorize).
    pub async fn decide(&self, user: &User, wanted: &Attributes<'_>) -> Decision {
        let (allowed, reason) = match self {
            Self::Everything => (true, String::new()),
            _ if user.is_in(MASTERS) => (true, String::new()),
            Self::Rbac(policy) => {
                let policy = policy.get().ok_or_else(|| NO_ROLES.to_owned());
                let decided = policy.and_then(|policy| policy.decide(user, wanted));
                (decided.is_ok(), decided.err().unwrap_or_default())
            }
            // Boxed: otherwise the futures of all requests would be as large as this one, and would be
            // copied.
            Self::Cluster(cluster) => match Box::pin(cluster.decide(user, wanted)).await {
                Ok(decision) => return decision,
                Err(error) => {
                    tracing::error!("cannot review access: {error:#}");
                    (false, "the cluster is unavailable".to_owned())
                }
            },
        };
        Decision { allowed, reason }
    }

    /// Returns the permissions of a user in a namespace.
    pub fn rules(&self, user: &User, namespace: &str) -> Rights {
        match self {
            Self::Everything => Rights { rules: everything(), ..Rights::default() },
            _ if user.is_in(MASTERS) => Rights { rules: everything(), ..Rights::default() },
            Self::Rbac(policy) => {
                let policy = policy.get();
                let (rules, error) = match &policy {
                    Some(policy) => policy.rules(user, namespace),
                    None => (Vec::new(), NO_ROLES.to_owned()),
                };
                let rules = rules.into_iter().cloned().collect();
                Rights { rules, is_incomplete: !error.is_empty(), error }
            }
            Self::Cluster(_) => Rights {
                is_incomplete: true,
                error: "webhook authorizer does not support user rule resolution".to_owned(),
                ..Rights::default()
            },
        }
    }

    /// Returns `true` if a cluster decides. The cluster then also serves the reviews of
    /// `kubectl auth`.
    pub const fn is_delegated(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }
}

/// Returns the rules of `cluster-admin`.
fn everything() -> Vec<Rule> {
    let all = || vec!["*".to_owned()];
    let resources = Rule { verbs: all(), api_groups: all(), resources: all(), ..Rule::default() };
    let paths = Rule { verbs: all(), non_resource_urls: all(), ..Rule::default() };
    vec![resources, paths]
}
