//! A resource request, with helpers for its handlers.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, USER_AGENT};
use jiff::Timestamp;
use tokio::time::Instant;

use super::request_head::Incoming;
use super::state::State;
use crate::codec::{Draft, Stored};
use crate::request::{Query, ResponseFormat, Scope, accept, list_options};
use krm_template_server_core::{
    Attributes, Group, Item, Kind, Result, Revision, Status, User, rfc3339, store::Error,
};

/// The message of a conflict with another writer.
///
/// Source: `OptimisticLockErrorMsg` of `k8s.io/apiserver/pkg/registry/generic/registry`.
const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// The maximum length of a field manager from the `User-Agent` header, in bytes.
const MAX_MANAGER: usize = 128;

/// The time that a request waits for a future revision.
///
/// Source: `blockTimeout` of `k8s.io/apiserver/pkg/storage/cacher`.
pub(crate) const FUTURE: Duration = Duration::from_secs(3);

/// The interval between checks of the store's revision.
const POLL: Duration = Duration::from_millis(50);

/// A request for a resource in one of the API groups.
pub(crate) struct Call<'a> {
    pub(crate) state: &'a State,
    pub(crate) user: &'a User,
    pub(crate) group: Group,
    /// The kind of the stored objects.
    pub(crate) kind: Kind,
    /// Whether the request is for the subresource `status`.
    pub(crate) is_status: bool,
    /// The namespace in the path; empty for all namespaces.
    pub(crate) namespace: &'a str,
    pub(crate) query: &'a Query,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Bytes,
    /// The time at which the request arrived.
    pub(crate) now: Timestamp,
}

impl<'a> Call<'a> {
    /// Creates a call about Templates in a namespace, without a body.
    pub(crate) fn new(
        state: &'a State,
        user: &'a User,
        incoming: &'a Incoming,
        (group, namespace): (Group, &'a str),
    ) -> Self {
        Self {
            state,
            user,
            group,
            kind: Kind::Template,
            is_status: false,
            namespace,
            query: &incoming.query,
            headers: &incoming.headers,
            body: Bytes::new(),
            now: incoming.at,
        }
    }
}

impl Call<'_> {
    /// Returns the value of a header; `None` if it is missing or not ASCII text.
    pub(crate) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn content_type(&self) -> Option<&str> {
        self.header(CONTENT_TYPE)
    }

    /// Negotiates the format and shape of the response.
    pub(crate) fn shown(&self, scope: Scope) -> Result<ResponseFormat> {
        accept::negotiate(self.header(ACCEPT), self.header(USER_AGENT), self.query, scope)
    }

    /// Works on a text of `bytes` bytes. See `Admission::work`.
    pub(crate) async fn work<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> T {
        self.state.admission.work(bytes, work).await
    }

    /// Returns the time of the request in RFC 3339 format, in whole seconds.
    pub(crate) fn time(&self) -> String {
        rfc3339(self.now)
    }

    /// Returns the field manager: the given one, or the `User-Agent` header up to the first `/`.
    pub(crate) fn manager(&self, given: Option<&str>) -> String {
        let agent = self.header(USER_AGENT).unwrap_or_default();
        let agent = agent.split('/').next().unwrap_or_default();
        let end = agent.floor_char_boundary(MAX_MANAGER);
        given.unwrap_or_else(|| agent.get(..end).unwrap_or("unknown")).to_owned()
    }

    /// Checks that the cluster in front of the server has the namespace, to create an object of a
    /// resource in it.
    pub(crate) async fn check_namespace(&self, resource: &str, name: &str) -> Result<()> {
        let Some(aggregation) = &self.state.aggregation else {
            return Ok(());
        };
        let namespaces = &aggregation.namespaces;
        let check = namespaces.check((self.group, resource), self.namespace, name);
        Box::pin(check).await
    }

    /// Waits until the store reaches a revision.
    ///
    /// # Errors
    ///
    /// 504 if the store does not reach it within [`FUTURE`].
    pub(crate) async fn reach(&self, wanted: Revision) -> Result<()> {
        let newest = self.newest(wanted).await?;
        if newest < wanted {
            return Err(list_options::in_the_future(wanted, newest));
        }
        Ok(())
    }

    /// Returns the newest revision, once the store reaches the wanted one or after [`FUTURE`].
    pub(crate) async fn newest(&self, wanted: Revision) -> Result<Revision> {
        let deadline = Instant::now() + FUTURE;
        loop {
            let newest = self.state.store.revision().await;
            let newest = newest.map_err(|error| self.refused("", &error))?;
            if newest >= wanted || Instant::now() >= deadline {
                return Ok(newest);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Returns the key prefix of the objects in the namespace.
    pub(crate) fn prefix(&self) -> String {
        let (group, resource) = (self.group.name(), self.kind.resource());
        match self.namespace {
            "" => format!("/{group}/{resource}/"),
            namespace => format!("/{group}/{resource}/{namespace}/"),
        }
    }

    /// Returns the key of an object.
    pub(crate) fn key(&self, name: &str) -> String {
        self.prefix() + name
    }

    /// Finds the stored object with a name.
    pub(crate) async fn find(&self, name: &str) -> Result<Option<Item>> {
        self.state.store.get(&self.key(name)).await.map_err(|error| self.refused(name, &error))
    }

    /// Finds the stored object with a name, or returns a 404 error.
    pub(crate) async fn found(&self, name: &str) -> Result<Item> {
        self.find(name).await?.ok_or_else(|| self.not_found(name))
    }

    /// Authorizes the creation of an object by a request that has another verb.
    ///
    /// Source: `createAuthorizerAttributes` of `k8s.io/apiserver/pkg/endpoints/handlers`.
    pub(crate) async fn may_create(&self, name: &str) -> Result<()> {
        let wanted = Attributes::on("create", (self.group, self.kind), self.namespace, name);
        self.state.authorize(self.user, &wanted).await
    }

    pub(crate) fn not_found(&self, name: &str) -> Box<Status> {
        Status::not_found(self.group.name(), self.kind.resource(), name)
    }

    /// Returns a 409 error with a reason.
    pub(crate) fn conflict(&self, name: &str, why: &str) -> Box<Status> {
        Status::conflict(self.group.name(), self.kind.resource(), name, why)
    }

    /// Returns a 409 error for an object that another client modified.
    pub(crate) fn modified(&self, name: &str) -> Box<Status> {
        self.conflict(name, MODIFIED)
    }

    /// Converts an error of the store to a [`Status`].
    pub(crate) fn refused(&self, name: &str, error: &Error) -> Box<Status> {
        match error {
            Error::Exists => Status::already_exists(self.group.name(), self.kind.resource(), name),
            Error::Missing => self.not_found(name),
            Error::Stale(_) => self.modified(name),
            Error::TooLarge => {
                let limit = self.state.limits.max_object_bytes;
                let message = format!("Request entity too large: limit is {limit}");
                Status::new(413, "RequestEntityTooLarge", message)
            }
            Error::Compacted(_) | Error::Future(_) => Status::internal(error.to_string()),
            Error::Damaged { key, .. } => damaged(key),
            Error::Unavailable(why) => {
                tracing::warn!(why, "the store is unavailable");
                Status::unavailable("the store is unavailable, please try again later")
            }
        }
    }

    /// Encodes an object for the store.
    ///
    /// # Errors
    ///
    /// 413 if the encoded object is too large.
    pub(crate) fn encoded(&self, draft: &Draft) -> Result<Stored> {
        let stored = Stored::encode(draft)?;
        self.check_length(draft.name(), stored.bytes().len())?;
        Ok(stored)
    }

    /// Checks the length of an object, or of a part, before more memory is used for it.
    ///
    /// # Errors
    ///
    /// 413 if it is too large for the store.
    pub(crate) fn check_length(&self, name: &str, bytes: usize) -> Result<()> {
        if bytes > self.state.limits.max_object_bytes {
            return Err(self.refused(name, &Error::TooLarge));
        }
        Ok(())
    }
}

/// Decodes an object from the store.
///
/// # Errors
///
/// 500 if it is damaged.
pub(crate) fn stored(item: &Item) -> Result<Stored> {
    Stored::decode(&item.value).map_err(|_| damaged(&item.key))
}

/// Returns the 500 error for a damaged object, with its name.
fn damaged(key: &str) -> Box<Status> {
    tracing::error!(key, "an object in the store is damaged");
    let (kind, name) = name_of(key);
    Status::internal(format!(
        "{kind} {name:?} is damaged in the store; restore it from a backup, or delete it"
    ))
}

/// The maximum number of damaged objects that a warning names.
const MAX_DAMAGED: usize = 10;

/// Returns the warning about the damaged objects that a list leaves out, if there are any.
pub(crate) fn left_out(keys: &[String]) -> Option<String> {
    let (count, s) = match keys.len() {
        0 => return None,
        1 => (1, " is"),
        count => (count, "s are"),
    };
    let kind = keys.first().map_or("", |key| name_of(key).0);
    let names: Vec<&str> = keys.iter().take(MAX_DAMAGED).map(|key| name_of(key).1).collect();
    let more = if count > MAX_DAMAGED { ", …" } else { "" };
    Some(format!("{count} {kind}{s} damaged in the store and left out: {}{more}", names.join(", ")))
}

/// Returns the kind of an object, and the namespace and name in its key.
fn name_of(key: &str) -> (&'static str, &str) {
    let mut kinds = Kind::ALL.into_iter();
    let found = kinds.find_map(|kind| {
        let (_, name) = key.split_once(&format!("/{}/", kind.resource()))?;
        Some((kind.name(), name))
    });
    found.unwrap_or(("object", key))
}
