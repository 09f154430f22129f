//! Users, and the attributes of requests.

use std::collections::BTreeMap;

use crate::groups::{Group, Kind};
use crate::status::{Details, Status};

/// The user of a request without credentials.
pub const ANONYMOUS: &str = "system:anonymous";

/// The group of users with credentials.
pub const AUTHENTICATED: &str = "system:authenticated";

/// The group of users without credentials.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";

/// The beginning of the names of service accounts.
pub const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// The group of all service accounts, and the beginning of those of a namespace.
pub const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// The group that may do everything.
pub const MASTERS: &str = "system:masters";

/// The user of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, which is never empty.
    pub name: String,
    /// The unique identifier, which distinguishes users with the same name over time; may be empty.
    pub uid: String,
    /// The groups, which RBAC bindings may name.
    pub groups: Vec<String>,
    /// The extra fields for authorizers, by lower-case key.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Returns the user of requests without credentials.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    /// Returns `true` if the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    /// Adds the group `system:authenticated`, unless the user is anonymous.
    #[must_use]
    pub(crate) fn authenticated(mut self) -> Self {
        if self.name != ANONYMOUS && !self.is_in(AUTHENTICATED) && !self.is_in(UNAUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}

/// The attributes of a request for authorization: a verb on a resource or on another path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes<'a> {
    /// The verb, such as `list`; for a path, the HTTP method in lower case.
    pub verb: &'a str,
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The version of the group.
    pub version: &'a str,
    /// The plural name of the resource.
    pub resource: &'a str,
    /// The subresource; may be empty.
    pub subresource: &'a str,
    /// The namespace; empty for all.
    pub namespace: &'a str,
    /// The name of the object; empty for all.
    pub name: &'a str,
    /// The path of a non-resource request. All other fields except `verb` are then empty.
    pub path: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    /// Returns the attributes of a request for an object of ours.
    #[must_use]
    pub fn on(verb: &'a str, of: (Group, Kind), namespace: &'a str, name: &'a str) -> Self {
        Self {
            verb,
            group: of.0.name(),
            version: of.0.version(),
            resource: of.1.resource(),
            namespace,
            name,
            ..Self::default()
        }
    }

    /// Returns the attributes of a request for another path.
    #[must_use]
    pub fn on_path(verb: &'a str, path: &'a str) -> Self {
        Self { verb, path: Some(path), ..Self::default() }
    }

    /// Returns the attributes of the impersonation of a user or service account.
    #[must_use]
    pub fn impersonating(resource: &'a str, namespace: &'a str, name: &'a str) -> Self {
        let (verb, version) = ("impersonate", "v1");
        Self { verb, version, resource, namespace, name, ..Self::default() }
    }

    /// Returns 403 for `user`. `reason` may be empty.
    ///
    /// Source: `ForbiddenStatusError` of `k8s.io/apiserver`.
    pub fn forbidden(&self, user: &User, reason: &str) -> Box<Status> {
        let user = &user.name;
        let Self { verb, group, resource, name, .. } = self;
        let wanted = match (self.path, self.namespace) {
            (Some(path), _) => format!("User {user:?} cannot {verb} path {path:?}"),
            (None, namespace) => {
                let slash = if self.subresource.is_empty() { "" } else { "/" };
                let resource = format!("{resource}{slash}{}", self.subresource);
                let place = if namespace.is_empty() {
                    "at the cluster scope".to_owned()
                } else {
                    format!("in the namespace {namespace:?}")
                };
                format!(
                    "User {user:?} cannot {verb} resource {resource:?} in API group {group:?} {place}"
                )
            }
        };
        let wanted = wanted.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let colon = if reason.is_empty() { "" } else { ": " };
        if resource.is_empty() {
            let message = format!("forbidden: {wanted}{colon}{reason}");
            return Status::new(403, "Forbidden", message).with(Details::default());
        }
        let dot = if group.is_empty() { "" } else { "." };
        let object = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let message =
            format!("{resource}{dot}{group}{object} is forbidden: {wanted}{colon}{reason}");
        Status::new(403, "Forbidden", message).with(Details::of(group, resource, name))
    }
}

/// The decision of an authorizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The reason; may be empty.
    pub reason: String,
}

/// Returns 401 for missing or invalid credentials.
pub fn unauthorized() -> Box<Status> {
    Status::new(401, "Unauthorized", "Unauthorized")
}

/// Returns `true` for the path of a health check, which needs no authentication or authorization.
pub fn is_health(path: &str) -> bool {
    ["/healthz", "/livez", "/readyz"].iter().any(|probe| {
        path.strip_prefix(probe).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
