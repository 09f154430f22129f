//! The stored Templates that an instance names: as its generation uses them, and as they are now.
//!
//! Whoever may change a Template must not act with the permissions of those who installed it. So a
//! generation uses the Templates that were stored when its requester changed the `spec`:
//! `spec.templateVersion` is the version of the store at that time, and what was written later is
//! not taken. The first step records them in the plan. Later steps only compare them.

use std::collections::BTreeMap;

use serde_json::json;

use super::authors;
use super::expansion::{self, Problem, VALUES_CHANGED};
use super::status::{Status, UPGRADE};
use super::store::{Context, Instance, Plan, Taken};
use crate::api::State;
use crate::codec::Stored;
use krm_template_server_core::{Attributes, Group, Kind, Revision, User};

/// The maximum length of the recorded Templates of an instance as JSON, in bytes: stores take values
/// of little more.
const MAX_RECORDED: usize = 960 << 10;

/// A stored Template that an instance names.
struct Template {
    name: String,
    /// The Template that the generation uses.
    taken: Option<Taken>,
    /// The Template as it is now.
    stored: Result<Taken, Problem>,
}

impl Template {
    /// Returns the Template as it is now, if the generation uses another one.
    fn changed(&self) -> Option<&Taken> {
        let text = self.taken.as_ref().map(|taken| &taken.text);
        let now = self.stored.as_ref().ok();
        now.filter(|now| text != Some(&now.text))
    }
}

/// Returns what an expansion needs of a stored Template.
fn copy(group: Group, stored: &Stored, version: Revision) -> Taken {
    let draft = stored.draft(version);
    let mut metadata = draft.metadata.clone();
    metadata.retain(|key, _| matches!(key.as_str(), "name" | "annotations"));
    let head = json!({"apiVersion": group.api_version(), "kind": "Template", "metadata": metadata});
    let mut text = head.to_string();
    text.pop();
    for (key, value) in draft.fields() {
        text.extend([",", &json!(key).to_string(), ":", value]);
    }
    text.push('}');
    Taken { version, group: group.name().to_owned(), text }
}

/// The stored Templates that an instance names.
pub(super) struct Templates(Vec<Template>);

impl Templates {
    /// Reads the Templates on behalf of a user, and what a plan has of them.
    pub(super) async fn read(
        state: &State,
        instance: &Instance,
        user: &User,
        plan: &Plan,
    ) -> Result<Self, Problem> {
        let is_current = plan.templates_of == instance.generation();
        let mut all = Vec::new();
        for name in expansion::needed(state, instance).await?.templates {
            let stored = match expansion::stored(state, &instance.draft, user, &name).await {
                Ok((group, stored, version)) => Ok(copy(group, &stored, version)),
                Err(problem) if problem.reason == "TemplateNotFound" => Err(problem),
                Err(problem) => return Err(problem),
            };
            let mut recorded = plan.templates.get(&name).filter(|_| is_current);
            if let (Err(_), Some(taken)) = (&stored, recorded) {
                let group = Group::named(&taken.group).unwrap_or(instance.group());
                let of = (group, Kind::Template);
                let wanted = Attributes::on("get", of, instance.namespace(), &name);
                // Of two groups, the user may read the other one.
                if state.authorize(user, &wanted).await.is_err() {
                    recorded = None;
                }
            }
            let seen = stored.as_ref().ok().filter(|now| match recorded {
                Some(recorded) => recorded.text == now.text,
                None => instance.template_version() >= now.version,
            });
            all.push(Template { taken: seen.or(recorded).cloned(), name, stored });
        }
        Ok(Self(all))
    }

    /// Returns the Templates of the generation, or as they are now, only to look at them.
    pub(super) async fn shown(
        state: &State,
        instance: &Instance,
        user: &User,
        plan: &Plan,
        is_kept: bool,
    ) -> Result<BTreeMap<String, Taken>, Problem> {
        let all = Self::read(state, instance, user, plan).await?;
        if is_kept { all.taken(instance) } else { all.stored() }
    }

    /// Returns the Templates as they are now, which an update of the instance would take.
    pub(super) fn stored(&self) -> Result<BTreeMap<String, Taken>, Problem> {
        let named = |one: &Template| Ok((one.name.clone(), one.stored.clone()?));
        self.0.iter().map(named).collect()
    }

    /// Returns the Templates of the generation.
    pub(super) fn taken(&self, instance: &Instance) -> Result<BTreeMap<String, Taken>, Problem> {
        let mut all = BTreeMap::new();
        for one in &self.0 {
            let (name, command) = (&one.name, command(instance));
            let taken = match (&one.taken, &one.stored) {
                (Some(taken), _) => taken.clone(),
                (None, Ok(_)) => {
                    let message = format!(
                        "the Template {name:?} may be newer than the request to install it; to \
                         install it as it is now, run {command}"
                    );
                    return Err(Problem::new("TemplateChanged", message));
                }
                (None, Err(Problem { reason, message })) => {
                    let message = format!("{message}; once it exists, run {command}");
                    return Err(Problem::new(reason, message));
                }
            };
            all.insert(name.clone(), taken);
        }
        let length = json!(all).to_string().len();
        if length > MAX_RECORDED {
            let message = format!("the Templates have {length} bytes, more than {MAX_RECORDED}");
            return Err(Problem::new("Invalid", message));
        }
        Ok(all)
    }

    /// Returns `true` if the instance does not use all Templates as they are now.
    pub(super) fn is_changed(&self) -> bool {
        self.0.iter().any(|one| one.changed().is_some())
    }

    /// Returns the users who have changed the Templates. They choose where the values of the
    /// instance go, and so must be allowed to read it.
    pub(super) async fn authors(
        &self,
        context: &Context,
        instance: &Instance,
    ) -> Result<Vec<User>, Problem> {
        let (of, namespace) = ((instance.group(), Kind::Instance), instance.namespace());
        let mut users = Vec::new();
        for one in &self.0 {
            let Some(now) = one.changed() else { continue };
            let from = match &one.taken {
                Some(taken) if taken.group == now.group => taken.version,
                // All of another one is new.
                Some(_) => 0,
                None => instance.template_version(),
            };
            let at = (now.group.as_str(), namespace, one.name.as_str());
            let Some(user) = authors::since(context, at, from, now.version).await else {
                let name = &one.name;
                let message = format!("it is not known who has changed the Template {name:?}");
                return Err(Problem::new("AuthorUnknown", message));
            };
            let wanted = Attributes::on("get", of, namespace, instance.name());
            let allowed = context.state.authorize(&user, &wanted).await;
            allowed.map_err(|status| Problem::new("Forbidden", status.message))?;
            users.push(user);
        }
        Ok(users)
    }

    /// Takes the Templates as they are now.
    pub(super) fn take(&mut self) {
        for one in self.0.iter_mut().filter(|one| one.stored.is_ok()) {
            one.taken = one.stored.clone().ok();
        }
    }

    /// Writes into the conditions whether an upgrade is available, and why it is not automatic.
    pub(super) fn note(&self, instance: &Instance, status: &mut Status, refused: Option<Problem>) {
        let changed = self.0.iter().filter(|one| one.changed().is_some());
        let names: Vec<&str> = changed.map(|one| one.name.as_str()).collect();
        if !names.is_empty() {
            let what = format!(
                "the Template {} has changed; to install it as it is now, run {}",
                names.join(", "),
                command(instance)
            );
            let (reason, message) = match refused {
                Some(problem) => (problem.reason, format!("{}; {what}", problem.message)),
                None => ("TemplateChanged", what),
            };
            status.set(UPGRADE, true, reason, &message);
        } else if status.condition(UPGRADE).reason == VALUES_CHANGED {
            // The expansion finds out whether they still are others.
        } else if !self.0.is_empty() || !status.condition(UPGRADE).status.is_empty() {
            status.set(UPGRADE, false, "UpToDate", "");
        }
    }
}

/// Returns the command that takes the Templates as they are now.
fn command(instance: &Instance) -> String {
    let (name, namespace) = (instance.name(), instance.namespace());
    format!("`krm-template-server upgrade {name} --namespace {namespace}`")
}
