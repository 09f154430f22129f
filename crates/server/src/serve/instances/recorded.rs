//! The stored Templates that an instance names: as recorded for its generation, and as they are now.
//!
//! Whoever may change a Template must not act with the permissions of those who installed it. So a
//! generation uses the Templates that were stored when its requester changed the `spec`:
//! `spec.templateVersion` is the version of the store at that time, and what was written later is
//! not taken. The first step records them. Later steps read the stored ones only to compare them.
#![cfg_attr(
    not(feature = "deployments"),
    expect(dead_code, reason = "without a cluster, nothing is recorded")
)]

use std::collections::BTreeMap;

use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::expansion::{self, Problem};
use super::record::{Context, Instance, Stop, unavailable};
use super::status::Status;
use crate::object::Stored;
use crate::process::Syntax;
use crate::process::instance::Named;
use crate::serve::state::State;
use krm_template_server_core::auth::User;
use krm_template_server_core::groups::Group;
use krm_template_server_core::store::{Error, Revision};

/// The resource in the keys of the store.
pub(super) const KEYS: &str = "instancetemplates";

/// The maximum length of the recorded Templates of an instance together, in bytes.
const MAX_RECORDED: usize = 16 << 20;

/// The type of the condition that tells of changed Templates.
const UPGRADE: &str = "UpgradeAvailable";

/// The first line of a record: whose it is, and which Template it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    /// The uid of the instance. A record of another one, or of another generation, counts for
    /// nothing.
    uid: String,
    generation: i64,
    /// The revision that wrote the Template.
    version: Revision,
    /// A hash of its contents, which no client sees.
    digest: String,
    group: String,
    is_yaml: bool,
}

/// A Template of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Template {
    head: Head,
    text: String,
}

impl Template {
    /// Copies a stored Template. Of its metadata, an expansion needs the name and the annotations.
    fn of(instance: &Instance, group: Group, stored: &Stored, version: Revision) -> Self {
        let draft = stored.draft(version);
        let mut metadata = draft.metadata.clone();
        metadata.retain(|key, _| matches!(key.as_str(), "name" | "annotations"));
        let mut text = format!(
            r#"{{"apiVersion":"{}","kind":"Template","metadata":{}"#,
            group.api_version(),
            Value::Object(metadata)
        );
        for (key, value) in draft.fields() {
            text.push_str(&format!(",{}:{value}", json!(key)));
        }
        text.push('}');
        Self {
            head: Head {
                uid: instance.uid.clone(),
                generation: instance.generation(),
                version,
                digest: STANDARD_NO_PAD.encode(Sha256::digest(&text)),
                group: group.name().to_owned(),
                is_yaml: draft.yaml().is_some(),
            },
            text: draft.yaml().map_or(text, str::to_owned),
        }
    }

    fn decode(bytes: &Bytes) -> Option<Self> {
        let (head, text) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
        Some(Self {
            head: serde_json::from_str(head).ok()?,
            text: text.to_owned(),
        })
    }

    fn encode(&self) -> Bytes {
        format!("{}\n{}", json!(self.head), self.text).into()
    }

    fn has_contents_of(&self, other: &Self) -> bool {
        let contents = |one: &Self| (one.head.group.clone(), one.head.digest.clone());
        contents(self) == contents(other)
    }

    fn named(&self) -> Named {
        Named {
            group: Group::named(&self.head.group).unwrap_or(Group::Krm),
            text: self.text.clone(),
            syntax: if self.head.is_yaml {
                Syntax::Yaml
            } else {
                Syntax::Json
            },
        }
    }
}

/// A Template that an instance names.
struct Reference {
    name: String,
    /// The record in the store, if any: its revision and its head.
    record: Option<(Revision, Option<Head>)>,
    /// The Template that the generation uses.
    taken: Option<Template>,
    /// The Template as it is now.
    stored: Result<Template, Problem>,
}

impl Reference {
    fn is_changed(&self) -> bool {
        let is_taken = |stored| {
            let taken = self.taken.as_ref();
            taken.is_some_and(|taken| taken.has_contents_of(stored))
        };
        self.stored.as_ref().is_ok_and(|stored| !is_taken(stored))
    }
}

/// The stored Templates that an instance names.
pub(super) struct Templates {
    all: Vec<Reference>,
    /// The keys of records that are not needed any more.
    surplus: Vec<(String, Revision)>,
}

impl Templates {
    /// Reads the Templates on behalf of a user, and what is recorded of them.
    pub(super) async fn read(
        state: &State,
        instance: &Instance,
        user: &User,
    ) -> Result<Self, Problem> {
        let needed = expansion::needed(state, instance).await?.templates;
        let prefix = format!("{}/", instance.beside(KEYS));
        let page = state.store.list(&prefix, None, 0, None).await;
        let page = page.map_err(|error| Problem::new("TemplateNotFound", error.to_string()))?;
        let records = page.items.into_iter().filter_map(|item| {
            let name = item.key.strip_prefix(&prefix)?.to_owned();
            Some((name, (item.revision, Template::decode(&item.value))))
        });
        let mut records: BTreeMap<String, _> = records.collect();
        let mut all = Vec::new();
        for name in needed {
            let stored = match expansion::stored(state, &instance.draft, user, &name).await {
                Ok((group, stored, version)) => Ok(Template::of(instance, group, &stored, version)),
                Err(problem) if problem.reason == "TemplateNotFound" => Err(problem),
                Err(problem) => return Err(problem),
            };
            let (revision, found) = records.remove(&name).unzip();
            let found = found.flatten();
            let record = revision.map(|at| (at, found.as_ref().map(|one| one.head.clone())));
            let known = found.filter(|Template { head, .. }| {
                (head.uid.as_str(), head.generation) == (&instance.uid, instance.generation())
            });
            let seen = stored.as_ref().ok().filter(|now| match &known {
                Some(known) => known.has_contents_of(now),
                None => instance.asked() >= now.head.version,
            });
            all.push(Reference {
                taken: seen.cloned().or(known),
                name,
                record,
                stored,
            });
        }
        let surplus = records.into_iter();
        let surplus = surplus.map(|(name, (revision, _))| (prefix.clone() + &name, revision));
        Ok(Self {
            all,
            surplus: surplus.collect(),
        })
    }

    /// Returns the Templates as they are now, which an update of the instance would take.
    pub(super) fn stored(&self) -> Result<BTreeMap<String, Named>, Problem> {
        let all = self.all.iter();
        all.map(|one| Ok((one.name.clone(), one.stored.clone()?.named())))
            .collect()
    }

    /// Returns the Templates of the generation.
    pub(super) fn taken(&self, instance: &Instance) -> Result<BTreeMap<String, Named>, Problem> {
        let named = |one: &Reference| {
            let name = &one.name;
            match (&one.taken, &one.stored) {
                (Some(taken), _) => Ok((name.clone(), taken.named())),
                (None, Ok(_)) => Err(Problem::new(
                    "TemplateChanged",
                    format!(
                        "it is not known that the requester has seen the Template {name:?} as it \
                         is now; {}",
                        hint(instance)
                    ),
                )),
                (None, Err(problem)) => Err(Problem::new(
                    problem.reason,
                    format!("{}; create it, then {}", problem.message, hint(instance)),
                )),
            }
        };
        let length = |one: &Reference| one.taken.as_ref().map_or(0, |taken| taken.text.len());
        let length: usize = self.all.iter().map(length).sum();
        if length > MAX_RECORDED {
            let message = format!(
                "the Templates have {length} bytes, more than {MAX_RECORDED}; split the instance"
            );
            return Err(Problem::new("Invalid", message));
        }
        self.all.iter().map(named).collect()
    }

    /// Returns the changed Templates: the group, the name, the revision from which on changes are
    /// new, and the current one.
    pub(super) fn changes(
        &self,
        instance: &Instance,
    ) -> Vec<(Option<Group>, &str, Revision, Revision)> {
        let changed = self.all.iter().filter(|one| one.is_changed());
        let changes = changed.filter_map(|one| {
            let now = &one.stored.as_ref().ok()?.head;
            let from = match &one.taken {
                Some(taken) if taken.head.group == now.group => taken.head.version,
                // All of another one is new.
                Some(_) => 0,
                None => instance.asked(),
            };
            Some((
                Group::named(&now.group),
                one.name.as_str(),
                from,
                now.version,
            ))
        });
        changes.collect()
    }

    /// Takes the Templates as they are now.
    pub(super) fn take(&mut self) {
        for one in self.all.iter_mut().filter(|one| one.is_changed()) {
            one.taken = one.stored.clone().ok();
        }
    }

    /// Records the Templates that are taken.
    pub(super) async fn record(&self, context: &Context, instance: &Instance) -> Result<(), Stop> {
        let store = &context.state.store;
        for one in &self.all {
            let Some(taken) = &one.taken else { continue };
            let written = match &one.record {
                Some((_, Some(head))) if *head == taken.head => continue,
                _ if !context.may_work() => return Err(Stop::Changed),
                Some((at, _)) => {
                    let key = format!("{}/{}", instance.beside(KEYS), one.name);
                    store.update(&key, taken.encode(), *at).await
                }
                None => {
                    let key = format!("{}/{}", instance.beside(KEYS), one.name);
                    store.create(&key, taken.encode()).await
                }
            };
            match written {
                Ok(_) => {}
                Err(Error::Stale(_) | Error::Missing | Error::Exists) => return Err(Stop::Changed),
                Err(error) => return Err(unavailable(&error)),
            }
        }
        for (key, revision) in &self.surplus {
            // The next step tries it again.
            let _ = store.delete(key, *revision).await;
        }
        Ok(())
    }

    /// Writes into the conditions whether an upgrade is available, and why it is not automatic.
    pub(super) fn note(&self, instance: &Instance, status: &mut Status, refused: Option<&Problem>) {
        let changed = self.all.iter().filter(|one| one.is_changed());
        let names: Vec<&str> = changed.map(|one| one.name.as_str()).collect();
        if self.all.is_empty() {
            status.unset(UPGRADE);
        } else if names.is_empty() {
            status.set(UPGRADE, false, "UpToDate", "");
        } else {
            let (reason, why) = refused.map_or(("TemplateChanged", ""), |problem| {
                (problem.reason, problem.message.as_str())
            });
            let what = format!("changed: Template {}; {}", names.join(", "), hint(instance));
            let message = if why.is_empty() {
                what
            } else {
                format!("{why}; {what}")
            };
            status.set(UPGRADE, true, reason, &message);
        }
    }
}

/// Returns what to do to take the Templates as they are now.
fn hint(instance: &Instance) -> String {
    format!(
        "to take it as it is now, run `krm-template-server upgrade {} --namespace {}`",
        instance.name(),
        instance.namespace()
    )
}
