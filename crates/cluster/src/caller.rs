//! Impersonation: requests on behalf of the caller.
//!
//! Source: `impersonation` of `k8s.io/apiserver`, `transport` of `k8s.io/client-go`.

use http::header::{HeaderName, HeaderValue};

use super::failure::Refusal;
use krm_template_server_core::auth::request::{AUTHENTICATED, SERVICE_ACCOUNT, SERVICE_ACCOUNTS};
use krm_template_server_core::{Status, User};

/// The beginning of names that belong to Kubernetes.
const SYSTEM: &str = "system:";

/// The namespace of the accounts that run the cluster.
const KUBE_SYSTEM: &str = "kube-system";

/// The headers that impersonate a user.
#[derive(Clone, Debug)]
pub(super) struct Caller(Vec<(HeaderName, HeaderValue)>);

impl Caller {
    /// Creates the headers. Refuses a user that they cannot name exactly, because the cluster would
    /// read another name, and users that run the cluster. `own` is the name of the server's account.
    pub(super) fn of(user: &User, own: Option<&str>) -> Result<Self, Refusal> {
        refuse_powerful(user, own)?;
        let mut headers = vec![(HeaderName::from_static("impersonate-user"), value(&user.name)?)];
        if !user.uid.is_empty() {
            headers.push((HeaderName::from_static("impersonate-uid"), value(&user.uid)?));
        }
        for group in groups(user) {
            headers.push((HeaderName::from_static("impersonate-group"), value(group)?));
        }
        for (key, values) in &user.extra {
            let name = format!("impersonate-extra-{}", escaped(key));
            let name = HeaderName::try_from(name).map_err(|_| unnamed())?;
            for one in values {
                headers.push((name.clone(), value(one)?));
            }
        }
        Ok(Self(headers))
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.0
    }
}

/// Refuses the account of the server, and users with names of Kubernetes, except service accounts of
/// applications: whoever can choose a name must not get their rights.
fn refuse_powerful(user: &User, own: Option<&str>) -> Result<(), Refusal> {
    let name = user.name.as_str();
    let is_application = name
        .strip_prefix(SERVICE_ACCOUNT)
        .and_then(|account| account.split_once(':'))
        .is_some_and(|(namespace, _)| namespace != KUBE_SYSTEM);
    let what = if own == Some(name) {
        format!("its own account {name:?}")
    } else if name.starts_with(SYSTEM) && !is_application {
        format!("the user {name:?}")
    } else if let Some(group) = user.groups.iter().find(|group| is_powerful(group)) {
        format!("members of {group:?}")
    } else {
        return Ok(());
    };
    let message = format!(
        "the server does not impersonate {what}: use an account of your own, with the rights that \
         the deployment needs"
    );
    Err(Status::new(403, "Forbidden", message).into())
}

/// Returns `true` for a group with rights of Kubernetes. All authenticated users, and all service
/// accounts of an application, are in the others.
fn is_powerful(group: &str) -> bool {
    let below = |parent: &str| {
        group == parent || group.strip_prefix(parent).is_some_and(|rest| rest.starts_with(':'))
    };
    let is_common = below(AUTHENTICATED) || below(SERVICE_ACCOUNTS);
    let of_kube_system = group.strip_prefix(SERVICE_ACCOUNTS) == Some(":kube-system");
    group.starts_with(SYSTEM) && (!is_common || of_kube_system)
}

/// Returns the groups that the cluster does not add itself. Each needs permission to impersonate.
fn groups(user: &User) -> Vec<&str> {
    let groups = user.groups.iter().map(String::as_str);
    let groups: Vec<&str> =
        groups.filter(|group| !group.is_empty() && *group != AUTHENTICATED).collect();
    // It adds the groups of a service account only if the request names no group.
    let account = user.name.strip_prefix(SERVICE_ACCOUNT);
    let own = account
        .and_then(|account| account.split_once(':'))
        .map(|(namespace, _)| format!("{SERVICE_ACCOUNTS}:{namespace}"));
    let is_added = |group: &&str| {
        own.as_deref() == Some(*group) || own.is_some() && *group == SERVICE_ACCOUNTS
    };
    if groups.iter().all(is_added) {
        return Vec::new();
    }
    groups
}

/// Returns a header value. Refuses spaces at either end: servers trim them, which would name
/// another user.
fn value(text: &str) -> Result<HeaderValue, Refusal> {
    if text.is_empty() || text.trim() != text {
        return Err(unnamed());
    }
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| unnamed())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Percent-encodes the characters of a key that a header name cannot contain.
fn escaped(key: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte);
    key.bytes()
        .map(|byte| match byte {
            byte if is_plain(byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02x}"),
        })
        .collect()
}

fn unnamed() -> Refusal {
    let why = "the name, uid, groups or extra fields of the user are not valid header values, so the \
               server cannot impersonate the user";
    Status::new(403, "Forbidden", why).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, groups: &[&str]) -> User {
        User {
            name: name.to_owned(),
            groups: groups.iter().copied().map(str::to_owned).collect(),
            ..User::default()
        }
    }

    #[track_caller]
    fn check(user: &User, expected: &[(&str, &str)]) {
        let caller = Caller::of(user, None).unwrap();
        let found: Vec<(&str, &str)> = caller
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), std::str::from_utf8(value.as_bytes()).unwrap()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_user_is_named_with_uid_groups_and_extra_fields() {
        let mut anna = user("änna b", &["devs", "system:authenticated", "ops"]);
        "7".clone_into(&mut anna.uid);
        anna.extra.insert("example.org/scope%s".to_owned(), vec!["a".to_owned(), "b".to_owned()]);
        check(
            &anna,
            &[
                ("impersonate-user", "änna b"),
                ("impersonate-uid", "7"),
                ("impersonate-group", "devs"),
                ("impersonate-group", "ops"),
                ("impersonate-extra-example.org%2fscope%25s", "a"),
                ("impersonate-extra-example.org%2fscope%25s", "b"),
            ],
        );
    }

    #[test]
    fn groups_that_the_cluster_adds_to_service_accounts_are_left_out() {
        let name = "system:serviceaccount:shop:robot";
        let own = ["system:serviceaccounts", "system:serviceaccounts:shop"];
        check(&user(name, &own), &[("impersonate-user", name)]);
        check(
            &user(name, &[own[0], own[1], "ops"]),
            &[
                ("impersonate-user", name),
                ("impersonate-group", own[0]),
                ("impersonate-group", own[1]),
                ("impersonate-group", "ops"),
            ],
        );
        let other = ["system:serviceaccounts:other"];
        check(&user(name, &other), &[("impersonate-user", name), ("impersonate-group", other[0])]);
    }

    #[test]
    fn users_that_run_the_cluster_are_refused() {
        let own = Some("system:serviceaccount:krm-template:krm-template-server");
        let app = "system:serviceaccount:shop:robot";
        let cases: &[(&str, &[&str], bool)] = &[
            ("anna", &["editors", "system:authenticated"], true),
            ("anna", &["system:authenticated:oauth"], true),
            (app, &["system:serviceaccounts", "system:serviceaccounts:shop"], true),
            ("anna", &["editors", "system:masters"], false),
            ("anna", &["system:nodes"], false),
            ("anna", &["system:authenticatedx"], false),
            ("anna", &["system:serviceaccounts:kube-system"], false),
            ("system:admin", &[], false),
            ("system:anonymous", &[], false),
            ("system:node:a", &[], false),
            ("system:kube-scheduler", &[], false),
            ("system:serviceaccount:kube-system:default", &[], false),
            ("system:serviceaccount:kube-system", &[], false),
            ("system:serviceaccount:krm-template:krm-template-server", &[], false),
        ];
        for (name, groups, is_allowed) in cases {
            let caller = Caller::of(&user(name, groups), own);
            assert_eq!(caller.is_ok(), *is_allowed, "{name} {groups:?}");
        }
        let refused = Caller::of(&user("server", &[]), Some("server")).unwrap_err();
        assert_eq!(refused.code, 403);
    }

    #[test]
    fn names_that_a_header_would_change_are_refused() {
        for name in ["", " admin", "admin ", "admin\t", "a\nb", "a\0", "\u{7f}", "admin\u{a0}"] {
            assert_eq!(Caller::of(&user(name, &[]), None).unwrap_err().code, 403, "{name:?}");
        }
        let error = Caller::of(&user("anna", &["ops "]), None).unwrap_err();
        assert_eq!(error.code, 403);
    }
}
