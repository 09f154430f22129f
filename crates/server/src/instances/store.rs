//! The records of an instance in the store: the object itself, and its plan.
//!
//! Each write expects the revision that was read, and the lease in its epoch: so a server that was
//! stopped and wakes up changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use krm_core::secrets::KnownSecrets;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::leader::Leader;
use crate::api::State;
use crate::codec::{Draft, Stored};
use crate::templates::instance::Generated;
use crate::validation::instance;
use krm_template_server_core::auth::request::{AUTHENTICATED, SERVICE_ACCOUNT, SERVICE_ACCOUNTS};
use krm_template_server_core::{
    Group, Item, Kind, Result as Answered, Revision, Status, User, store::Error,
};

/// The maximum number of attempts to write a status while clients write other parts.
const TRIES: usize = 10;

/// The extra fields that are new for each token, and that a cluster refuses to impersonate.
const OF_TOKENS: &str = "authentication.kubernetes.io/";

/// Why a step of an instance ends early.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// The instance has changed, or this server does not hold the lease any more.
    Changed,
    /// The store refuses a write.
    Store(Box<Status>),
}

/// The outcome of a step of an instance, which says what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing, until it changes or the resync.
    Done,
    /// Another step after this time.
    Again(Duration),
    /// The same step after a growing delay.
    Failed,
    /// It is gone.
    Gone,
}

/// The purpose of a step of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It has changed, or is looked at again.
    Change,
    /// Its objects may have become ready.
    Poll,
}

/// The context that all steps share.
#[derive(Clone)]
pub(super) struct Context {
    pub(super) state: Arc<State>,
    pub(super) leader: Leader,
    /// The epoch of the lease in which the step began.
    pub(super) epoch: u64,
    /// How long the permissions of a requester count, if it is given; zero for always.
    pub(super) max_age: Option<Duration>,
}

impl Context {
    /// Returns `true` while this server may work.
    pub(super) fn may_work(&self) -> bool {
        self.leader.epoch() == Some(self.epoch)
    }
}

/// Removes the extra fields of a user that are new for each token.
pub(super) fn without_tokens(mut user: User) -> User {
    user.extra.retain(|key, _| !key.starts_with(OF_TOKENS));
    user
}

/// An instance and its revision.
pub(super) struct Instance {
    pub(super) key: String,
    pub(super) revision: Revision,
    pub(super) draft: Draft,
    pub(super) uid: String,
}

impl Instance {
    /// Reads an instance. Returns `None` if it does not exist.
    pub(super) async fn read(context: &Context, key: &str) -> Result<Option<Self>, Stop> {
        let item = context.state.store.get(key).await;
        let Some(item) = item.map_err(|error| unavailable(&error))? else {
            return Ok(None);
        };
        Self::of(item).map(Some).map_err(Stop::Store)
    }

    /// Returns the instance that an item of the store has.
    pub(super) fn of(item: Item) -> Answered<Self> {
        let stored = Stored::decode(&item.value)?;
        Ok(Self {
            uid: stored.uid().to_owned(),
            draft: stored.draft(item.revision),
            key: item.key,
            revision: item.revision,
        })
    }

    pub(super) const fn group(&self) -> Group {
        self.draft.group
    }

    pub(super) fn name(&self) -> &str {
        self.draft.name()
    }

    pub(super) fn namespace(&self) -> &str {
        self.draft.namespace()
    }

    pub(super) fn generation(&self) -> i64 {
        let generation = self.draft.metadata.get("generation");
        generation.and_then(Value::as_i64).unwrap_or_default()
    }

    /// Returns the version of the store when the requester changed the `spec`; 0 if it is unknown,
    /// as after the instance was copied to another store.
    pub(super) fn template_version(&self) -> Revision {
        let spec = self.spec();
        let version = spec.get("templateVersion").and_then(Value::as_str);
        let version = version.and_then(|version| version.parse().ok());
        version.filter(|version| *version < self.revision).unwrap_or(0)
    }

    pub(super) fn spec(&self) -> Value {
        self.draft.value("spec")
    }

    /// Returns the instance as JSON.
    pub(super) fn text(&self) -> String {
        self.draft.to_value().to_string()
    }

    /// Returns the user whose permissions count.
    pub(super) fn requester(&self) -> Option<User> {
        let spec = self.spec();
        let account = spec.get("serviceAccountName").and_then(Value::as_str);
        if let Some(account) = account.filter(|name| !name.is_empty()) {
            let namespace = self.namespace();
            return Some(User {
                name: format!("{SERVICE_ACCOUNT}{namespace}:{account}"),
                groups: vec![
                    SERVICE_ACCOUNTS.to_owned(),
                    format!("{SERVICE_ACCOUNTS}:{namespace}"),
                    AUTHENTICATED.to_owned(),
                ],
                ..User::default()
            });
        }
        instance::user(spec.get("requester")?).map(without_tokens)
    }

    /// Returns `true` if the permissions are those of a user, not of a `ServiceAccount`.
    pub(super) fn is_of_user(&self) -> bool {
        let spec = self.spec();
        let account = spec.get("serviceAccountName").and_then(Value::as_str);
        account.is_none_or(str::is_empty)
    }

    /// Returns who asks for the objects, and for which `spec`.
    pub(super) fn asked(&self) -> String {
        let requester = self.spec().get("requester").map(Value::to_string);
        format!("{} {}", self.generation(), requester.unwrap_or_default())
    }

    /// Returns a time in the metadata, such as `creationTimestamp`, in seconds since 1970.
    pub(super) fn time(&self, key: &str) -> i64 {
        let time = self.draft.metadata.get(key);
        let time = time.and_then(Value::as_str).and_then(|text| text.parse().ok());
        time.map_or(0, Timestamp::as_second)
    }

    /// Writes the status. Other parts that clients have changed meanwhile are kept.
    pub(super) async fn save(&mut self, context: &Context, status: &Value) -> Result<(), Stop> {
        for _ in 0..TRIES {
            if !context.may_work() {
                return Err(Stop::Changed);
            }
            if self.draft.value("status") == *status {
                return Ok(());
            }
            let mut draft = self.draft.clone();
            draft.set("status", status);
            let stored = Stored::encode(&draft).map_err(Stop::Store)?;
            let store = &context.state.store;
            let bytes = stored.bytes().clone();
            match store.update(&self.key, bytes, self.revision).await {
                Ok(revision) => {
                    self.revision = revision;
                    self.draft = draft;
                    return Ok(());
                }
                Err(Error::Stale(item)) => {
                    let stored = Stored::decode(&item.value).map_err(Stop::Store)?;
                    let new = stored.draft(item.revision);
                    let is_same = stored.uid() == self.uid
                        && new.is_being_deleted() == self.draft.is_being_deleted()
                        && new.value("spec") == self.spec();
                    if !is_same {
                        return Err(Stop::Changed);
                    }
                    self.draft = new;
                    self.revision = item.revision;
                }
                Err(Error::Missing) => return Err(Stop::Changed),
                Err(error) => return Err(unavailable(&error)),
            }
        }
        Err(Stop::Changed)
    }

    /// Removes the finalizer, and with the last one the instance.
    pub(super) async fn release(&mut self, context: &Context) -> Result<(), Stop> {
        let own = instance::finalizer(self.group());
        let rest: Vec<&str> = self.draft.finalizers().filter(|one| *one != own).collect();
        let rest = json!(rest);
        let is_last = rest.as_array().is_some_and(Vec::is_empty);
        if !context.may_work() {
            return Err(Stop::Changed);
        }
        let store = &context.state.store;
        let written = if is_last {
            store.delete(&self.key, self.revision).await
        } else {
            let mut draft = self.draft.clone();
            draft.metadata.insert("finalizers".to_owned(), rest);
            let stored = Stored::encode(&draft).map_err(Stop::Store)?;
            let bytes = stored.bytes().clone();
            store.update(&self.key, bytes, self.revision).await
        };
        match written {
            Ok(_) | Err(Error::Missing) => Ok(()),
            Err(Error::Stale(_)) => Err(Stop::Changed),
            Err(error) => Err(unavailable(&error)),
        }
    }

    /// Returns the key of something stored beside the instance.
    pub(super) fn beside(&self, what: &str) -> String {
        beside(self.group(), what, self.namespace(), self.name())
    }
}

/// Returns the key of something stored beside an instance.
pub(super) fn beside(group: Group, what: &str, namespace: &str, name: &str) -> String {
    format!("/{}/{what}/{namespace}/{name}", group.name())
}

/// Returns the prefix of the keys of all instances of a group.
pub(super) fn prefix(group: Group) -> String {
    format!("/{}/{}/", group.name(), Kind::Instance.resource())
}

/// A stored Template as an instance uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Taken {
    /// The revision that wrote the Template.
    pub(super) version: Revision,
    pub(super) group: String,
    /// The parts on which an expansion depends, as JSON.
    pub(super) text: String,
}

/// The persistent state of the controller for one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The uid of the instance. A plan of another one counts for nothing.
    pub(super) uid: String,
    /// The generated values. They count until they are in their Secret, and only for `asked`.
    pub(super) generated: BTreeMap<String, Generated>,
    /// Who asked for them: [`Instance::asked`].
    #[serde(default)]
    pub(super) asked: String,
    /// The generation whose objects are applied.
    pub(super) generation: i64,
    /// The generation whose objects were all applied; 0 for none.
    pub(super) applied: i64,
    /// When the objects of this generation began to be applied, in seconds since 1970.
    pub(super) began: i64,
    /// When the requester of the generation `seen` was first seen, in seconds since 1970.
    #[serde(default)]
    pub(super) since: i64,
    /// The last generation that was seen; 0 for none.
    #[serde(default)]
    pub(super) seen: i64,
    /// Whether a file of this server had the requester then.
    #[serde(default)]
    pub(super) is_listed: Option<bool>,
    /// The version of each ConfigMap and Secret with values for this generation; `None` until they
    /// are read. Others may change them, so another version counts only when somebody asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) values: Option<BTreeMap<String, String>>,
    /// The revision that `status` and history count.
    pub(super) revision: u64,
    /// The stored Templates that the generation `templates_of` uses.
    #[serde(default)]
    pub(super) templates: BTreeMap<String, Taken>,
    #[serde(default)]
    pub(super) templates_of: i64,
    /// The key of the hashes that clients see of the objects.
    #[serde(default)]
    pub(super) key: String,
    /// In OpenShift's group, the objects that were planned before the first request. The uid of one
    /// that was not created is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) objects: Vec<serde_json::Value>,
}

impl Plan {
    /// Generates the key, if there is none yet.
    pub(super) fn generate_key(&mut self) {
        if self.key.is_empty() {
            self.key = [(); 3].map(|()| Uuid::new_v4().to_string()).concat();
        }
    }

    /// Begins a generation, or the same one with other objects.
    pub(super) fn begin(&mut self, generation: i64) {
        if self.generation != generation || self.applied != 0 {
            self.generation = generation;
            self.began = Timestamp::now().as_second();
            self.revision += 1;
        }
        self.applied = 0;
    }
}

/// A plan with its place in the store.
pub(super) struct Planned {
    key: String,
    revision: Option<Revision>,
    pub(super) plan: Plan,
    /// The values that no message may show, as far as they are known. They are not stored.
    pub(super) secrets: KnownSecrets,
}

impl Planned {
    /// Reads the plan of an instance, or begins one.
    pub(super) async fn read(state: &State, instance: &Instance) -> Result<Self, Stop> {
        let key = instance.beside("instanceplans");
        let item = state.store.get(&key).await;
        let item = item.map_err(|error| unavailable(&error))?;
        let new = || Plan { uid: instance.uid.clone(), ..Plan::default() };
        let plan = item
            .as_ref()
            .and_then(|item| serde_json::from_slice::<Plan>(&item.value).ok())
            .filter(|plan| plan.uid == instance.uid);
        let plan = plan.unwrap_or_else(new);
        let mut secrets = KnownSecrets::default();
        let generated = plan.generated.values();
        generated.for_each(|generated| secrets.add(&generated.value));
        Ok(Self { key, revision: item.map(|item| item.revision), plan, secrets })
    }

    /// Writes the plan if it has changed.
    pub(super) async fn save(&mut self, context: &Context, plan: Plan) -> Result<(), Stop> {
        if self.plan == plan && self.revision.is_some() {
            return Ok(());
        }
        if !context.may_work() {
            return Err(Stop::Changed);
        }
        let bytes = serde_json::to_vec(&plan);
        let bytes = bytes.map_err(|_| Stop::Store(Status::internal("a plan is not JSON")))?;
        let store = &context.state.store;
        let written = match self.revision {
            Some(revision) => store.update(&self.key, bytes.into(), revision).await,
            None => store.create(&self.key, bytes.into()).await,
        };
        match written {
            Ok(revision) => {
                self.revision = Some(revision);
                self.plan = plan;
                Ok(())
            }
            Err(Error::Stale(_) | Error::Missing | Error::Exists) => Err(Stop::Changed),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

pub(super) fn unavailable(error: &Error) -> Stop {
    Stop::Store(Status::unavailable(error.to_string()))
}
